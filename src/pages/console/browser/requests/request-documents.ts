/** What the list of recent requests asks of the graph. */
import { type Connection, graph } from "#pages/console/browser/graph/documents.ts";

export interface ApiRequest {
  readonly requestId: string;
  readonly at: string;
  readonly method: string;
  readonly operation: string | null;
  readonly status: number;
  readonly errorCode: string | null;
  readonly docUrl: string | null;
  readonly durationMs: number;
}

interface RequestsAnswer {
  readonly installation: { readonly recentRequests: Connection<ApiRequest> } | null;
}

interface RequestsAsked {
  readonly installationId: string;
  readonly first: number;
  readonly after: string | null;
  readonly onlyFailed: boolean;
}

export const requestsDocument = graph<RequestsAnswer, RequestsAsked>(`
  query ConsoleRequests($installationId: ID!, $first: Int!, $after: String, $onlyFailed: Boolean!) {
    installation(id: $installationId) {
      recentRequests(first: $first, after: $after, onlyFailed: $onlyFailed) {
        edges { node { requestId at method operation status errorCode docUrl durationMs } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`);
