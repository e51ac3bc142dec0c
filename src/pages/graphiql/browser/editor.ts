/** Loads and renders GraphiQL's component, and opens an example in a new tab of it. */
import type { GraphiqlFetcher } from "./fetcher.ts";
import type { GraphiqlExample, GraphiqlPageData } from "./page-data.ts";

interface Tab {
  readonly query: string | null;
  readonly variables: string | null;
}

interface TextModel {
  readonly uri: { readonly path: string };
  readonly setValue: (text: string) => void;
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

export async function renderGraphiqlEditor(
  place: Element,
  data: GraphiqlPageData,
  fetcher: GraphiqlFetcher,
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
    // Stored data that cannot be parsed was not written by GraphiQL, which then starts with its default
    // tabs.
    return undefined;
  }
}

/**
 * Opens an example in a new tab. GraphiQL has no function for this, so this function presses the "New tab"
 * button and fills the editors. Waits until the editors exist.
 */
export async function openExampleInNewTab({ query, variables = "" }: GraphiqlExample): Promise<void> {
  while (modelsOf("operation.graphql").length === 0 || modelsOf("variables.json").length === 0)
    await new Promise((resolve) => setTimeout(resolve, 50));
  document.querySelector<HTMLButtonElement>('button[aria-label="New tab"]')?.click();
  for (const model of modelsOf("operation.graphql")) model.setValue(query);
  for (const model of modelsOf("variables.json")) model.setValue(variables);
  shared.monaco?.editor.getEditors()[0]?.focus();
}

const modelsOf = (name: string): readonly TextModel[] =>
  shared.monaco?.editor.getModels().filter(({ uri }) => uri.path.endsWith(name)) ?? [];
