/** GraphQL documents and result types of the API key pages. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export interface ConsoleApiKey {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly lastFour: string;
  readonly mode: "LIVE" | "TEST";
  readonly scopes: readonly string[];
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
  readonly rotatesTo: string | null;
}

const fields = "id name prefix lastFour mode scopes createdAt expiresAt revokedAt lastUsedAt rotatesTo";

interface KeyPage {
  readonly apiKeys: GraphqlConnection<ConsoleApiKey>;
}

export const keysDocument = createConsoleGraphqlDocument<
  KeyPage,
  { installationId: string; last: number; before: string | null }
>(`
  query ConsoleKeys($installationId: ID!, $last: Int!, $before: String) {
    apiKeys(installationId: $installationId, last: $last, before: $before) {
      edges { node { ${fields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

interface KeyInput {
  readonly installationId: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: string | null;
}

export const createKeyDocument = createConsoleGraphqlDocument<
  { apiKeyCreate: { value: string; apiKey: ConsoleApiKey } },
  GraphqlVariablesWithIdempotencyKey & { input: KeyInput }
>(`
  mutation ConsoleKeyCreate($idempotencyKey: String!, $input: ApiKeyCreateInput!) {
    apiKeyCreate(idempotencyKey: $idempotencyKey, input: $input) { value apiKey { ${fields} } }
  }
`);

export const rotateKeyDocument = createConsoleGraphqlDocument<
  { apiKeyRotate: { value: string; apiKey: ConsoleApiKey; rotated: ConsoleApiKey } },
  GraphqlVariablesWithIdempotencyKey & {
    input: { apiKeyId: string; overlapHours: number; expiresAt: string | null };
  }
>(`
  mutation ConsoleKeyRotate($idempotencyKey: String!, $input: ApiKeyRotateInput!) {
    apiKeyRotate(idempotencyKey: $idempotencyKey, input: $input) { value apiKey { ${fields} } rotated {
    ${fields} } }
  }
`);

export const revokeKeyDocument = createConsoleGraphqlDocument<
  { apiKeyRevoke: ConsoleApiKey },
  GraphqlVariablesWithIdempotencyKey & { input: { apiKeyId: string } }
>(`
  mutation ConsoleKeyRevoke($idempotencyKey: String!, $input: ApiKeyRevokeInput!) {
    apiKeyRevoke(idempotencyKey: $idempotencyKey, input: $input) { ${fields} }
  }
`);
