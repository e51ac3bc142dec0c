/** GraphQL documents and result types of the request log. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";

interface AppName {
  readonly id: string;
  readonly app: { readonly name: string };
}

export interface ConsoleApiRequest {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly operation: string;
  readonly status: number;
  readonly errorCode: string | null;
  readonly docUrl: string | null;
  readonly durationMs: number;
  /** The id of the API key or OAuth grant with which the request was sent. */
  readonly credentialId: string;
  /** The API key with which the request was sent; null if the request was sent with an OAuth access token. */
  readonly apiKey: { readonly name: string; readonly prefix: string; readonly lastFour: string } | null;
  readonly installation: AppName;
}

const fields = `
  id at method operation status errorCode docUrl durationMs credentialId
  apiKey { name prefix lastFour }
  installation { id app { name } }
`;

/** The filter of the request log. If a field is null, the requests are not filtered by it. */
export interface ApiRequestLogFilter {
  readonly installationId: string | null;
  readonly credentialId: string | null;
  readonly operation: string | null;
  /** The lowest HTTP status of the listed requests (included). The field `statusTo` is the highest. */
  readonly statusFrom: number | null;
  readonly statusTo: number | null;
}

export interface ApiRequestListQueryResult {
  readonly apiRequests: GraphqlConnection<ConsoleApiRequest>;
}

interface RequestsVariables extends ApiRequestLogFilter {
  readonly first: number;
  readonly after: string | null;
}

export const requestsDocument = createConsoleGraphqlDocument<ApiRequestListQueryResult, RequestsVariables>(`
  query ConsoleRequests($installationId: ID, $credentialId: ID, $operation: String, $statusFrom: Int,
    $statusTo: Int, $first: Int!, $after: String) {
    apiRequests(installationId: $installationId, credentialId: $credentialId, operation: $operation,
      statusFrom: $statusFrom, statusTo: $statusTo, first: $first, after: $after) {
      edges { node { ${fields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export const requestDocument = createConsoleGraphqlDocument<
  { apiRequest: ConsoleApiRequest | null },
  { id: string }
>(`
  query ConsoleRequest($id: ID!) {
    apiRequest(id: $id) { ${fields} }
  }
`);

export interface ApiRequestSenderFilterChoices {
  readonly installations: GraphqlConnection<AppName>;
  readonly apiKeys: GraphqlConnection<{
    readonly id: string;
    readonly name: string;
    readonly lastFour: string;
    readonly installation: AppName;
  }>;
  readonly oauthGrants: GraphqlConnection<{ readonly id: string; readonly installation: AppName }>;
}

const pageInfo = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

/**
 * Reads the apps, API keys and OAuth grants by which the request log can be filtered: all apps, the newest
 * 100 keys and the newest 100 grants.
 */
export const requestSendersDocument = createConsoleGraphqlDocument<ApiRequestSenderFilterChoices>(`
  query ConsoleRequestSenders {
    installations(first: 100) { edges { node { id app { name } } } ${pageInfo} }
    apiKeys(last: 100) { edges { node { id name lastFour installation { id app { name } } } } ${pageInfo} }
    oauthGrants(last: 100) { edges { node { id installation { id app { name } } } } ${pageInfo} }
  }
`);
