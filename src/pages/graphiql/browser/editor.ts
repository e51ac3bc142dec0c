/**
 * Loads the React component GraphiQL (an editor for GraphQL queries), renders it, and opens an example in a
 * new tab of the editor.
 */
import type { GraphiqlFetcher } from "./fetcher.ts";
import type { GraphiqlExample, GraphiqlPageData } from "./page-data.ts";
import type { LoadedGraphqlSchema } from "./result/schema-types.ts";

interface Tab {
  readonly query: string | null;
  readonly variables: string | null;
}

interface TextModel {
  readonly uri: { readonly path: string };
  readonly getValue: () => string;
  readonly setValue: (text: string) => void;
  readonly onDidChangeContent: (listener: () => void) => void;
}

/** The global variables of the browser window that GraphiQL and its text editor Monaco use. */
interface ComponentWindow {
  readonly YogaGraphiQL: { readonly renderYogaGraphiQL: (place: Element, options: object) => void };
  readonly monaco?: {
    readonly editor: {
      readonly getModels: () => readonly TextModel[];
      readonly getEditors: () => readonly { focus(): void }[];
    };
  };
  MonacoEnvironment: {
    readonly globalAPI: boolean;
    readonly getWorkerUrl: (moduleId: string, label: string) => string | undefined;
  };
}

const shared = window as unknown as ComponentWindow;

interface EditorListeners {
  readonly fetcher: GraphiqlFetcher;
  /** The callback after GraphiQL has loaded the schema. */
  readonly onSchema: (schema: LoadedGraphqlSchema) => void;
}

export async function renderGraphiqlEditor(
  place: Element,
  data: GraphiqlPageData,
  { fetcher, onSchema }: EditorListeners,
): Promise<void> {
  // With the option `globalAPI`, the text editor Monaco sets `window.monaco`, which `openExampleInNewEditorTab`
  // needs.
  shared.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_moduleId, label) => data.workers[label] };
  await import(/* @vite-ignore */ data.component);
  const tab = openTab();
  shared.YogaGraphiQL.renderYogaGraphiQL(place, {
    fetcher,
    title: "GraphiQL",
    logo: "<span></span>",
    defaultTabs: data.opened.map(({ query, variables = null }) => ({ query, variables })),
    shouldPersistHeaders: false,
    // GraphiQL uses the light or dark theme of the operating system, like the rest of the page.
    forcedTheme: "system",
    onSchemaChange: onSchema,
    // The empty handler stops GraphiQL from writing the query into the page's URL after every key stroke,
    // because the query could contain secrets.
    onEditQuery: () => undefined,
    ...(tab?.query ? { query: tab.query, variables: tab.variables ?? undefined } : {}),
  });
}

/**
 * Returns the tab of the editor that was open when the page was last used. GraphiQL itself finds this tab
 * only if its text was changed; otherwise GraphiQL would open an empty tab.
 */
function openTab(): Tab | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem("graphiql:tabState") ?? "null") as {
      tabs?: Tab[];
      activeTabIndex?: number;
    } | null;
    return kept?.tabs?.[kept.activeTabIndex ?? 0];
  } catch {
    // Stored data with a syntax error is ignored, because GraphiQL has not written it. GraphiQL then starts
    // with its default tabs.
    return undefined;
  }
}

/**
 * Opens an example in a new tab of the editor. GraphiQL has no function for this, so the "New tab" button is
 * pressed and the text fields are filled in. Waits until the text fields exist.
 */
export async function openExampleInNewEditorTab({ query, variables = "" }: GraphiqlExample): Promise<void> {
  const operation = await waitForElement(() => modelNamed("operation.graphql"));
  const variablesModel = await waitForElement(() => modelNamed("variables.json"));
  document.querySelector<HTMLButtonElement>('button[aria-label="New tab"]')?.click();
  operation.setValue(query);
  variablesModel.setValue(variables);
  shared.monaco?.editor.getEditors()[0]?.focus();
}

/**
 * Calls the listener with the text of the answer in the open tab: once immediately, and again whenever the
 * text changes.
 */
export async function watchGraphiqlAnswer(listener: (text: string) => void): Promise<void> {
  const model = await waitForElement(() => modelNamed("response.json"));
  const notify = (): void => listener(model.getValue());
  model.onDidChangeContent(notify);
  notify();
}

/** Adds an element to the part of GraphiQL that shows the answer, and returns the element. */
export async function addElementToAnswerPane(): Promise<HTMLElement> {
  const pane = await waitForElement(() => document.querySelector(".graphiql-response") ?? undefined);
  const element = document.createElement("div");
  element.className = "answer-panel";
  pane.append(element);
  return element;
}

const modelNamed = (name: string): TextModel | undefined =>
  shared.monaco?.editor.getModels().find(({ uri }) => uri.path.endsWith(name));

/**
 * Waits until `find` returns a value, for example an HTML element of GraphiQL. GraphiQL creates its elements
 * some time after rendering, without an event.
 */
export async function waitForElement<Value>(find: () => Value | undefined): Promise<Value> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
