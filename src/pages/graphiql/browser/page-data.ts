/** The data that the server writes into GraphiQL's page as JSON. */

export interface GraphiqlExample {
  readonly title: string;
  readonly query: string;
  readonly variables?: string;
}

export interface GraphiqlExampleGroup {
  readonly title: string;
  /** The roles of internal tokens that may run all example queries of the group. */
  readonly roles: readonly string[];
  readonly examples: readonly GraphiqlExample[];
}

/**
 * The data that the pages of GraphiQL and the type map need for the token dialog and for requests: the URL of
 * the GraphQL endpoint, the URL paths of other pages, and the demo's tokens.
 */
export interface GraphiqlTokenDialogData {
  readonly endpoint: string;
  /** The URL path of the documentation. The next field, `console`, is the URL path of the merchants' console. */
  readonly docs: string;
  readonly console: string;
  /** The internal tokens of the demo by role; undefined if there is no demo or the page must not show them. */
  readonly demoTokens?: Readonly<Record<string, string>>;
}

export interface GraphiqlPageData extends GraphiqlTokenDialogData {
  /** The URL path of the script that contains the component GraphiQL. */
  readonly component: string;
  /**
   * The URL paths of the editor's web workers (background scripts), by the label with which the editor
   * requests them.
   */
  readonly workers: Readonly<Record<string, string>>;
  /** The URL path of the JavaScript module with the explanations of error codes. */
  readonly errorGuide: string;
  /** The URL path of the type map. */
  readonly map: string;
  readonly groups: readonly GraphiqlExampleGroup[];
  /** Example queries that GraphiQL opens as tabs when it is first used. */
  readonly opened: readonly GraphiqlExample[];
}

export function readEmbeddedPageData(): unknown {
  return JSON.parse(document.getElementById("page-data")?.textContent ?? "{}");
}
