/** What the server writes into the page for its script, as JSON. */

export interface GraphiqlExample {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

export interface GraphiqlExampleGroup {
  readonly title: string;
  /** Whose tokens can run them. */
  readonly roles: readonly string[];
  readonly examples: readonly GraphiqlExample[];
}

export interface GraphiqlPageData {
  readonly endpoint: string;
  /** The script that brings GraphiQL. */
  readonly component: string;
  /** The editor's workers, by what the editor calls them. */
  readonly workers: Readonly<Record<string, string>>;
  readonly groups: readonly GraphiqlExampleGroup[];
  /** What opens as tabs at first. */
  readonly opened: readonly GraphiqlExample[];
}

export function readPageData(): unknown {
  return JSON.parse(document.getElementById("page-data")?.textContent ?? "{}");
}
