/** GraphiQL's page: the editor, the token button, the example picker, and the cost of the last run. */
import { type JSX, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import "./graphiql.css";
import { renderGraphiqlEditor, openExampleInNewTab } from "./editor.ts";
import { createGraphiqlFetcher, type RunMeasurement } from "./fetcher.ts";
import {
  type GraphiqlExample,
  type GraphiqlExampleGroup,
  type GraphiqlPageData,
  readPageData,
} from "./page-data.ts";
import { TokenButton, TokenDialog, useTokenKeeper } from "./token-dialog.tsx";
import { TokenKeeper } from "./token-keeper.ts";

interface Tools {
  readonly keeper: TokenKeeper;
  readonly data: GraphiqlPageData;
}

function Tools({ keeper, data }: Tools): JSX.Element {
  useTokenKeeper(keeper);
  const [isPicking, setPicking] = useState(false);
  return (
    <>
      <button type="button" class="tool" aria-haspopup="dialog" onClick={() => setPicking(true)}>
        Examples…
      </button>
      <TokenButton keeper={keeper} />
      <TokenDialog keeper={keeper} />
      {isPicking ? (
        <ExamplePicker
          groups={data.groups}
          role={keeper.holder?.role}
          onClose={() => setPicking(false)}
          onPick={(example) => {
            setPicking(false);
            void openExampleInNewTab(example);
          }}
        />
      ) : null}
    </>
  );
}

/** Replaces the loading text with an error message. */
function showMissing(place: Element): void {
  place.replaceChildren();
  render(
    <p class="waiting fault" role="alert">
      GraphiQL could not be loaded. Check your connection and load the page again.
    </p>,
    place,
  );
}

async function begin(): Promise<void> {
  const [tools, foot, place] = ["tools", "foot", "editor"].map((id) => document.getElementById(id));
  if (!tools || !foot || !place) return;
  const data = readPageData() as GraphiqlPageData;
  const keeper = new TokenKeeper(data.endpoint);
  const show = (run?: RunMeasurement): void => render(<StatusLine run={run} />, foot);
  render(<Tools keeper={keeper} data={data} />, tools);
  show();
  const editor = renderGraphiqlEditor(place, data, createGraphiqlFetcher(keeper, show)).catch(() =>
    showMissing(place),
  );
  await Promise.all([keeper.begin(), editor]);
}

/**
 * Formats numbers of the status line, which shows the cost (`extensions.cost`), duration and size of the last
 * run.
 */
const whole = new Intl.NumberFormat("en");
const fraction = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** The status line. Screen readers announce its changes. */
function StatusLine({ run }: { readonly run: RunMeasurement | undefined }): JSX.Element {
  const isOver = run?.cost !== undefined && run.cost.requested > run.cost.limit;
  return (
    <p id="status" class={isOver ? "status fault" : "status"} aria-live="polite" aria-atomic="true">
      {run === undefined ? "Run an operation to see its cost here." : textOf(run, isOver)}
    </p>
  );
}

function textOf(run: RunMeasurement, isOver: boolean): string {
  const { cost, durationMs, bytes, errorCount } = run;
  const measured = [durationOf(durationMs), sizeOf(bytes)];
  if (cost === undefined) return [`${errorsOf(errorCount)}, nothing was run`, ...measured].join(" · ");
  const figures = `${whole.format(cost.requested)} of ${whole.format(cost.limit)}`;
  if (isOver)
    return [`Too costly: ${figures}. It was not run; ask for fewer items or fields`, ...measured].join(" · ");
  return [`Cost ${figures}`, ...measured, ...(errorCount === 0 ? [] : [errorsOf(errorCount)])].join(" · ");
}

const errorsOf = (count: number): string => (count === 1 ? "1 error" : `${count} errors`);

const durationOf = (ms: number): string =>
  ms < 1000 ? `${Math.round(ms)} ms` : `${fraction.format(ms / 1000)} s`;

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000
    ? `${fraction.format(bytes / 1000)} kB`
    : `${fraction.format(bytes / 1_000_000)} MB`;
}

/** Shows the examples that the current token may run first; other groups name the roles that they need. */
const oneOf = new Intl.ListFormat("en", { type: "disjunction" });

interface Picker {
  readonly groups: readonly GraphiqlExampleGroup[];
  /** The role of the current token; undefined if there is none. */
  readonly role: string | undefined;
  readonly onPick: (example: GraphiqlExample) => void;
  readonly onClose: () => void;
}

function ExamplePicker({ groups, role, onPick, onClose }: Picker): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const shown = sorted(groups, role)
    .map(({ title, roles, examples }) => ({
      title,
      roles,
      examples: examples.filter((example) => hasWords(example, words)),
    }))
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
      <input
        id="picker-search"
        type="search"
        autocomplete="off"
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      <p class="soft" aria-live="polite">
        {shown.length === 0
          ? "No example matches these words."
          : "Each example opens in a new tab, with its variables."}
      </p>
      {shown.map((group) => (
        <Group
          key={group.title}
          group={group}
          isOpen={role === undefined || group.roles.includes(role)}
          onPick={onPick}
        />
      ))}
    </dialog>
  );
}

interface GroupShown {
  readonly group: GraphiqlExampleGroup;
  readonly isOpen: boolean;
  readonly onPick: (example: GraphiqlExample) => void;
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

const sorted = (
  groups: readonly GraphiqlExampleGroup[],
  role: string | undefined,
): readonly GraphiqlExampleGroup[] =>
  role === undefined
    ? groups
    : groups.toSorted((one, other) => Number(other.roles.includes(role)) - Number(one.roles.includes(role)));

function hasWords({ title, query }: GraphiqlExample, words: string): boolean {
  const text = `${title} ${query}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Returns the first sentence of the comment at the start of an example. */
function sentenceOf({ query }: GraphiqlExample): string {
  const comment =
    /^(?:#.*\n)*/.exec(query)?.[0].replaceAll(/^#\s?/gm, "").replaceAll(/\s+/g, " ").trim() ?? "";
  return /^.*?[.:](?=\s|$)/.exec(comment)?.[0].replace(/:$/, ".") ?? comment;
}

void begin();
