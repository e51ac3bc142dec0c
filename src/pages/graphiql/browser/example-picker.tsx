/**
 * The dialog in which the reader chooses an example query. It shows the examples that the role of the current
 * token may run.
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { GraphiqlExample, GraphiqlExampleGroup } from "./page-data.ts";

interface ExamplePickerProps {
  readonly groups: readonly GraphiqlExampleGroup[];
  /** The role of the current token; undefined if the reader has not entered a token. */
  readonly role: string | undefined;
  readonly onPick: (example: GraphiqlExample) => void;
  readonly onClose: () => void;
  /** The function that closes this dialog and opens the dialog that asks for a token. */
  readonly onEnterToken: () => void;
}

export function ExampleQueryPicker(props: ExamplePickerProps): JSX.Element {
  const { groups, role, onPick, onClose, onEnterToken } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} id="example-picker" aria-labelledby="picker-title" onClose={onClose}>
      <div class="picker-head">
        <h1 id="picker-title">Examples</h1>
        <button type="button" class="second" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      {role === undefined ? (
        <div class="empty">
          <p>
            Every query needs a token, so no example runs without one. With a token, this list shows the
            examples that its role may run.
          </p>
          <div class="choices">
            <button type="button" onClick={onEnterToken}>
              Enter a token
            </button>
          </div>
        </div>
      ) : (
        <RunnableExamples
          role={role}
          groups={groups.filter(({ roles }) => roles.includes(role))}
          onPick={onPick}
        />
      )}
    </dialog>
  );
}

interface RunnableExamplesProps extends Pick<ExamplePickerProps, "groups" | "onPick"> {
  readonly role: string;
}

function RunnableExamples({ role, groups, onPick }: RunnableExamplesProps): JSX.Element {
  const [words, setWords] = useState("");
  const shown = groups
    .map(({ title, examples }) => ({
      title,
      examples: examples.filter((example) => hasWords(example, words)),
    }))
    .filter(({ examples }) => examples.length > 0);
  return (
    <>
      <label for="picker-search">Find an example</label>
      <input
        id="picker-search"
        type="search"
        autocomplete="off"
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <p class="soft" aria-live="polite">
        {shown.length === 0
          ? "No example matches these words."
          : `These examples run with your token’s role, ${role}. Each opens in a new tab, with its variables.`}
      </p>
      {shown.map(({ title, examples }) => (
        <section key={title}>
          <h2>{title}</h2>
          <ul class="examples">
            {examples.map((example) => (
              <li key={example.title}>
                <button type="button" class="example" onClick={() => onPick(example)}>
                  <strong>{example.title}</strong> <span class="soft">{sentenceOf(example)}</span>
                </button>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function hasWords({ title, query }: GraphiqlExample, words: string): boolean {
  const text = `${title} ${query}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Returns the first sentence of the comment with which an example query begins. */
function sentenceOf({ query }: GraphiqlExample): string {
  const comment =
    /^(?:#.*\n)*/.exec(query)?.[0].replaceAll(/^#\s?/gm, "").replaceAll(/\s+/g, " ").trim() ?? "";
  return /^.*?[.:](?=\s|$)/.exec(comment)?.[0].replace(/:$/, ".") ?? comment;
}
