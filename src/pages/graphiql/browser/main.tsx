/**
 * Starts the page of GraphiQL: the editor, the token button, the dialog with examples, the answer as a table,
 * and the cost of the query.
 */
import { type JSX, render } from "preact";
import { useState } from "preact/hooks";
import "./graphiql.css";
import { addTypeMapLinkToDocsPanel } from "./docs-link.ts";
import {
  addElementToAnswerPane,
  openExampleInNewEditorTab,
  renderGraphiqlEditor,
  waitForElement,
  watchGraphiqlAnswer,
} from "./editor.ts";
import { ExampleQueryPicker } from "./example-picker.tsx";
import { createGraphiqlFetcher, type GraphqlOperationMeasurements } from "./fetcher.ts";
import { type GraphiqlPageData, readEmbeddedPageData } from "./page-data.ts";
import { GraphiqlResultPanel } from "./result/result-panel.tsx";
import type { LoadedGraphqlSchema } from "./result/schema-types.ts";
import { GraphiqlStatusLine } from "./status-line.tsx";
import { GraphiqlTabBar } from "./tab-row.tsx";
import { GraphiqlTokenButton, GraphiqlTokenDialog, useRerenderOnTokenChange } from "./token-dialog.tsx";
import { GraphiqlTokenManager } from "./token-keeper.ts";

interface ToolsProps {
  readonly keeper: GraphiqlTokenManager;
  readonly data: GraphiqlPageData;
  readonly onPick: () => void;
}

function Tools({ keeper, data, onPick }: ToolsProps): JSX.Element {
  useRerenderOnTokenChange(keeper);
  const [isPicking, setPicking] = useState(false);
  return (
    <>
      <button type="button" class="tool" aria-haspopup="dialog" onClick={() => setPicking(true)}>
        Examples…
      </button>
      <GraphiqlTokenButton keeper={keeper} />
      <GraphiqlTokenDialog keeper={keeper} data={data} />
      {isPicking ? (
        <ExampleQueryPicker
          groups={data.groups}
          role={keeper.holder?.role}
          onClose={() => setPicking(false)}
          onEnterToken={() => {
            setPicking(false);
            keeper.change();
          }}
          onPick={(example) => {
            setPicking(false);
            onPick();
            void openExampleInNewEditorTab(example);
          }}
        />
      ) : null}
    </>
  );
}

/** The parts of GraphiQL's page. A phone shows one part at a time, a wide window all parts. */
const panes = { query: "Query", variables: "Variables", result: "Result" } as const;
type Pane = keyof typeof panes;

/**
 * Renders a tab for each part of GraphiQL's page (query, variables, result). A phone shows only the part of
 * the chosen tab. Returns a function that chooses the tab.
 */
function renderPaneTabs(place: Element, editor: HTMLElement): (pane: Pane) => void {
  const choose = (pane: Pane): void => {
    editor.dataset["pane"] = pane;
    render(
      <GraphiqlTabBar label="Parts of the editor" tabs={panes} chosen={pane} onChoose={choose} />,
      place,
    );
  };
  choose("query");
  return choose;
}

/** Replaces the page's loading text with an error message if GraphiQL cannot be loaded. */
function showMissing(place: Element): void {
  place.replaceChildren();
  render(
    <p class="waiting fault" role="alert">
      GraphiQL could not be loaded. Check your connection and load the page again.
    </p>,
    place,
  );
}

/**
 * Renders GraphiQL, and adds explanations of errors, answers as tables, and links to the type map (a picture
 * of the schema).
 */
async function showEditor(editor: HTMLElement, data: GraphiqlPageData, parts: EditorParts): Promise<void> {
  let schema: LoadedGraphqlSchema | undefined;
  let answer = "";
  let panel: HTMLElement | undefined;
  const draw = (): void => {
    if (panel !== undefined)
      render(<GraphiqlResultPanel text={answer} schema={schema} links={data} host={editor} />, panel);
  };
  const { keeper, onRun, onMeasured } = parts;
  await renderGraphiqlEditor(editor, data, {
    fetcher: createGraphiqlFetcher(keeper, { onRun, onMeasured }),
    onSchema: (loaded) => {
      schema = loaded;
      draw();
    },
  });
  panel = await addElementToAnswerPane();
  await watchGraphiqlAnswer((text) => {
    answer = text;
    draw();
  });
  const docs = await waitForElement(() => editor.querySelector(".graphiql-plugin") ?? undefined);
  addTypeMapLinkToDocsPanel(docs, { map: data.map, schema: () => schema });
}

interface EditorParts {
  readonly keeper: GraphiqlTokenManager;
  readonly onRun: () => void;
  readonly onMeasured: (run: GraphqlOperationMeasurements) => void;
}

async function begin(): Promise<void> {
  const [tools, tabs, editor, foot] = ["tools", "panes", "editor", "foot"].map((id) =>
    document.getElementById(id),
  );
  if (!tools || !tabs || !editor || !foot) return;
  const data = readEmbeddedPageData() as GraphiqlPageData;
  const keeper = new GraphiqlTokenManager(data.endpoint);
  const choosePane = renderPaneTabs(tabs, editor);
  const showCost = (run?: GraphqlOperationMeasurements): void =>
    render(<GraphiqlStatusLine run={run} />, foot);
  render(<Tools keeper={keeper} data={data} onPick={() => choosePane("query")} />, tools);
  showCost();
  const shown = showEditor(editor, data, {
    keeper,
    onRun: () => choosePane("result"),
    onMeasured: showCost,
  }).catch(() => showMissing(editor));
  await Promise.all([keeper.begin(), shown]);
}

void begin();
