/** GraphiQL's component: how it is loaded and drawn, and how something is put into a new tab of it. */
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

/** What the component's script and its editor, Monaco, leave in the window. */
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
  // The editor is asked for by name below: only then does it show itself.
  shared.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_moduleId, label) => data.workers[label] };
  await import(/* @vite-ignore */ data.component);
  const tab = openTab();
  shared.YogaGraphiQL.renderYogaGraphiQL(place, {
    fetcher,
    title: "GraphiQL",
    logo: "<span></span>",
    defaultTabs: data.opened.map(({ query, variables = null }) => ({ query, variables })),
    shouldPersistHeaders: false,
    // Else each key stroke goes into the address, with whatever was typed.
    onEditQuery: () => undefined,
    ...(tab?.query ? { query: tab.query, variables: tab.variables ?? undefined } : {}),
  });
}

/**
 * A page that is loaded again opens the tab that was open: GraphiQL looks for the tab whose content it kept
 * as the last query, keeps that only once something was typed, and else opens an empty one.
 */
function openTab(): Tab | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem("graphiql:tabState") ?? "null") as {
      tabs?: Tab[];
      activeTabIndex?: number;
    } | null;
    return kept?.tabs?.[kept.activeTabIndex ?? 0];
  } catch {
    // What cannot be read was not written by GraphiQL, which then begins anew.
    return undefined;
  }
}

/** GraphiQL has no call for it: its own button is pressed, and its editors are filled, once they are there. */
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
