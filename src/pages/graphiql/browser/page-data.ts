/** The data that the server writes into GraphiQL's page as JSON. */

export interface GraphiqlExample {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

export interface GraphiqlExampleGroup {
  readonly title: string;
  /** Roles whose tokens can run the group's examples. */
  readonly roles: readonly string[];
  readonly examples: readonly GraphiqlExample[];
}

export interface GraphiqlPageData {
  readonly endpoint: string;
  /** URL path of the script with GraphiQL's component. */
  readonly component: string;
  /** URL paths of the editor's workers, by the label that the editor uses for them. */
  readonly workers: Readonly<Record<string, string>>;
  readonly groups: readonly GraphiqlExampleGroup[];
  /** Examples that open as tabs at first. */
  readonly opened: readonly GraphiqlExample[];
}

export function readPageData(): unknown {
  return JSON.parse(document.getElementById("page-data")?.textContent ?? "{}");
}
