/** What the server writes into the page for its script, as JSON. */

export interface Example {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

export interface ExampleGroup {
  readonly title: string;
  /** Whose tokens can run them. */
  readonly roles: readonly string[];
  readonly examples: readonly Example[];
}

export interface GraphiqlData {
  readonly endpoint: string;
  /** The script that brings GraphiQL. */
  readonly component: string;
  /** The editor's workers, by what the editor calls them. */
  readonly workers: Readonly<Record<string, string>>;
  readonly groups: readonly ExampleGroup[];
  /** What opens as tabs at first. */
  readonly opened: readonly Example[];
}

export function readPageData(): unknown {
  return JSON.parse(document.getElementById("page-data")?.textContent ?? "{}");
}
