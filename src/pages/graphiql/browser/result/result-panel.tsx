/** The panel above GraphiQL's answer: explains the errors of the answer, and shows its lists as tables. */
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { GraphiqlTabBar } from "#pages/graphiql/browser/tab-row.tsx";
import { readErrorsOfGraphqlAnswer } from "./answer-errors.ts";
import { findListsInGraphqlAnswer } from "./answer-lists.ts";
import { GraphqlAnswerListTable } from "./answer-table.tsx";
import { GraphqlAnswerErrorList, type ErrorDocumentationUrls } from "./error-list.tsx";
import { type LoadedGraphqlSchema, getItemTypeNameOfAnswerList } from "./schema-types.ts";

export interface ResultPanelUrlPaths extends ErrorDocumentationUrls {
  /** The URL path of the type map. */
  readonly map: string;
}

interface ResultPanelProps {
  /** The text that GraphiQL shows as the answer: JSON, or empty before the first answer. */
  readonly text: string;
  readonly schema: LoadedGraphqlSchema | undefined;
  readonly links: ResultPanelUrlPaths;
  /**
   * The HTML element whose attribute `data-view` contains the chosen view (for example table); the style
   * sheet uses it.
   */
  readonly host: HTMLElement;
}

const views = { json: "JSON", table: "Table" } as const;

export function GraphiqlResultPanel({ text, schema, links, host }: ResultPanelProps): JSX.Element | null {
  const [view, setView] = useState<keyof typeof views>("json");
  const answer = useMemo(() => parseAnswerText(text), [text]);
  const errors = useMemo(() => readErrorsOfGraphqlAnswer(answer), [answer]);
  const lists = useMemo(() => (view === "table" ? findListsInGraphqlAnswer(answer) : []), [answer, view]);
  useLayoutEffect(() => {
    host.dataset["view"] = answer === undefined ? "json" : view;
  }, [host, answer, view]);
  if (text === "") return <p class="soft first-hint">The answer appears here, as JSON and as a table.</p>;
  if (answer === undefined) return null;
  return (
    <>
      <GraphiqlTabBar label="View of the answer" tabs={views} chosen={view} onChoose={setView} />
      {errors.length === 0 ? null : <GraphqlAnswerErrorList errors={errors} {...links} />}
      {view === "table" ? (
        <div class="list-view">
          <GraphqlAnswerListTable
            lists={lists}
            typeOf={({ path }) => {
              const name = schema === undefined ? undefined : getItemTypeNameOfAnswerList(schema, path);
              return name === undefined ? undefined : { name, url: `${links.map}?type=${name}` };
            }}
          />
        </div>
      ) : null}
    </>
  );
}

/**
 * Parses the text that GraphiQL shows as the answer. Returns undefined for texts other than JSON, for example
 * before the first answer.
 */
function parseAnswerText(text: string): unknown {
  if (!text.startsWith("{")) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
