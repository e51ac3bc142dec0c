/** Loads and renders GraphiQL's component, and opens an example in a new tab of it. */
import type { GraphiqlFetcher } from "./fetcher.ts";
import type { GraphiqlExample, GraphiqlPageData } from "./page-data.ts";
import type { LoadedSchema } from "./result/schema-types.ts";

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

/** Global variables that the component's script and its editor, Monaco, set in the window. */
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
  /** Called when GraphiQL has loaded the schema. */
  readonly onSchema: (schema: LoadedSchema) => void;
}

export async function renderGraphiqlEditor(
  place: Element,
  data: GraphiqlPageData,
  { fetcher, onSchema }: EditorListeners,
): Promise<void> {
  // With `globalAPI` Monaco sets `window.monaco`, which `openExampleInNewTab` uses.
  shared.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_moduleId, label) => data.workers[label] };
  await import(/* @vite-ignore */ data.component);
  const tab = openTab();
  shared.YogaGraphiQL.renderYogaGraphiQL(place, {
    fetcher,
    title: "GraphiQL",
    logo: "<span></span>",
    defaultTabs: data.opened.map(({ query, variables = null }) => ({ query, variables })),
    shouldPersistHeaders: false,
    // GraphiQL uses the light or dark theme of the operating system, as the rest of the page does.
    forcedTheme: "system",
    onSchemaChange: onSchema,
    // Without this handler GraphiQL writes every key stroke into the URL, including typed secrets.
    onEditQuery: () => undefined,
    ...(tab?.query ? { query: tab.query, variables: tab.variables ?? undefined } : {}),
  });
}

/**
 * Returns the tab that was open when the page was last used. GraphiQL itself finds this tab only if its text
 * was changed, and otherwise opens an empty tab.
 */
function openTab(): Tab | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem("graphiql:tabState") ?? "null") as {
      tabs?: Tab[];
      activeTabIndex?: number;
    } | null;
    return kept?.tabs?.[kept.activeTabIndex ?? 0];
  } catch {
    // If the stored data cannot be parsed, GraphiQL has not written it. GraphiQL then starts with its default
    // tabs.
    return undefined;
  }
}

/**
 * Opens an example in a new tab. GraphiQL has no function for this, so this function presses the "New tab"
 * button and fills the editors. Waits until the editors exist.
 */
export async function openExampleInNewTab({ query, variables = "" }: GraphiqlExample): Promise<void> {
  const operation = await waitFor(() => modelNamed("operation.graphql"));
  const variablesModel = await waitFor(() => modelNamed("variables.json"));
  document.querySelector<HTMLButtonElement>('button[aria-label="New tab"]')?.click();
  operation.setValue(query);
  variablesModel.setValue(variables);
  shared.monaco?.editor.getEditors()[0]?.focus();
}

/** Calls the listener with the text of the answer in the open tab, now and when the text changes. */
export async function watchAnswer(listener: (text: string) => void): Promise<void> {
  const model = await waitFor(() => modelNamed("response.json"));
  const notify = (): void => listener(model.getValue());
  model.onDidChangeContent(notify);
  notify();
}

/** Adds an element to the part of GraphiQL that shows the answer, and returns the element. */
export async function addToAnswerPane(): Promise<HTMLElement> {
  const pane = await waitFor(() => document.querySelector(".graphiql-response") ?? undefined);
  const element = document.createElement("div");
  element.className = "answer-panel";
  pane.append(element);
  return element;
}

const modelNamed = (name: string): TextModel | undefined =>
  shared.monaco?.editor.getModels().find(({ uri }) => uri.path.endsWith(name));

/**
 * Waits until a part of GraphiQL appears. The parts appear some time after GraphiQL is rendered, and no event
 * announces them.
 */
export async function waitFor<Value>(find: () => Value | undefined): Promise<Value> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
