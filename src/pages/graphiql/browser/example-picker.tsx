/** The example queries by who runs them: those that the token in use may run come first, the others say whose token they need. */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Example, ExampleGroup } from "./page-data.ts";

const oneOf = new Intl.ListFormat("en", { type: "disjunction" });

interface Picker {
  readonly groups: readonly ExampleGroup[];
  /** Of the token in use; undefined while there is none. */
  readonly role: string | undefined;
  readonly onPick: (example: Example) => void;
  readonly onClose: () => void;
}

export function ExamplePicker({ groups, role, onPick, onClose }: Picker): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const shown = sorted(groups, role)
    .map(({ title, roles, examples }) => ({ title, roles, examples: examples.filter((example) => hasWords(example, words)) }))
    .filter(({ examples }) => examples.length > 0);
  return (
    <dialog ref={dialog} id="example-picker" aria-labelledby="picker-title" onClose={onClose}>
      <div class="picker-head">
        <h1 id="picker-title">Examples</h1>
        <button type="button" class="second" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </div>
      <label for="picker-search">Find an example</label>
      <input id="picker-search" type="search" autocomplete="off" onInput={({ currentTarget }) => setWords(currentTarget.value)} />
      <p class="soft" aria-live="polite">
        {shown.length === 0 ? "No example has these words." : "Each opens in a tab of its own, with its variables."}
      </p>
      {shown.map((group) => (
        <Group key={group.title} group={group} isOpen={role === undefined || group.roles.includes(role)} onPick={onPick} />
      ))}
    </dialog>
  );
}

interface GroupShown {
  readonly group: ExampleGroup;
  readonly isOpen: boolean;
  readonly onPick: (example: Example) => void;
}

function Group({ group, isOpen, onPick }: GroupShown): JSX.Element {
  return (
    <section>
      <h2>{group.title}</h2>
      {isOpen ? null : <p class="soft">Needs a token of the role {oneOf.format(group.roles)}.</p>}
      <ul class="examples">
        {group.examples.map((example) => (
          <li key={example.title}>
            <button type="button" class="example" onClick={() => onPick(example)}>
              <strong>{example.title}</strong> <span class="soft">{sentenceOf(example)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const sorted = (groups: readonly ExampleGroup[], role: string | undefined): readonly ExampleGroup[] =>
  role === undefined ? groups : groups.toSorted((one, other) => Number(other.roles.includes(role)) - Number(one.roles.includes(role)));

function hasWords({ title, query }: Example, words: string): boolean {
  const text = `${title} ${query}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The comment that an example begins with, up to its first full stop. */
function sentenceOf({ query }: Example): string {
  const comment = /^(?:#.*\n)*/.exec(query)?.[0].replaceAll(/^#\s?/gm, "").replaceAll(/\s+/g, " ").trim() ?? "";
  return /^.*?[.:](?=\s|$)/.exec(comment)?.[0].replace(/:$/, ".") ?? comment;
}
