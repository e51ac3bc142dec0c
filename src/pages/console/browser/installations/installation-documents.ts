/**
 * GraphQL documents and result types of the installation pages: installations, readiness, grants and recent
 * requests.
 */
import { type Connection, graphDocument } from "#pages/console/browser/graph/documents.ts";
import type { IdempotencyVariables } from "#pages/console/browser/graph/hooks.ts";

export type InstallationStatus = "ACTIVE" | "SUSPENDED" | "UNINSTALLED";

export interface InstallationName {
  readonly id: string;
  readonly status: InstallationStatus;
  readonly scopes: readonly string[];
  readonly installedAt: string;
  readonly app: { readonly id: string; readonly name: string; readonly publisher: string | null };
}

const nameFields = "id status scopes installedAt app { id name publisher }";

export const installationsDocument = graphDocument<{ installations: Connection<InstallationName> }>(`
  query ConsoleInstallations {
    installations(first: 100) {
      edges { node { ${nameFields} } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface ConsoleReadinessCheck {
  readonly code: string;
  readonly status: "PASS" | "WARN" | "FAIL" | "SKIPPED";
  readonly severity: "BLOCKING" | "ADVISORY";
  readonly message: string;
  readonly remedy: string | null;
  readonly since: string | null;
}

export interface ConsoleInstallationReadiness {
  readonly status: string;
  readonly evaluatedAt: string;
  readonly checks: readonly ConsoleReadinessCheck[];
}

const readinessFields = "status evaluatedAt checks { code status severity message remedy since }";

export interface InstallationWithReadiness extends InstallationName {
  readonly readiness: ConsoleInstallationReadiness;
}

interface ReadyPage {
  readonly installations: Connection<InstallationWithReadiness>;
}

export const readinessDocument = graphDocument<ReadyPage, { first: number; after: string | null }>(`
  query ConsoleReadiness($first: Int!, $after: String) {
    installations(first: $first, after: $after) {
      edges { node { ${nameFields} readiness { ${readinessFields} } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export const installationDocument = graphDocument<
  { installation: InstallationWithReadiness | null },
  { id: string }
>(`
  query ConsoleInstallation($id: ID!) {
    installation(id: $id) { ${nameFields} readiness { ${readinessFields} } }
  }
`);

export const setScopesDocument = graphDocument<
  { installationScopesSet: { id: string } },
  IdempotencyVariables & { input: { installationId: string; scopes: readonly string[] } }
>(`
  mutation ConsoleScopesSet($idempotencyKey: String!, $input: InstallationScopesSetInput!) {
    installationScopesSet(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

type Transition = IdempotencyVariables & { input: { installationId: string } };

export const suspendDocument = graphDocument<{ installationSuspend: { id: string } }, Transition>(`
  mutation ConsoleInstallationSuspend($idempotencyKey: String!, $input: InstallationTransitionInput!) {
    installationSuspend(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const resumeDocument = graphDocument<{ installationResume: { id: string } }, Transition>(`
  mutation ConsoleInstallationResume($idempotencyKey: String!, $input: InstallationTransitionInput!) {
    installationResume(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export interface Grant {
  readonly id: string;
  readonly clientId: string;
  readonly scopes: readonly string[];
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export const grantsDocument = graphDocument<
  { oauthGrants: Connection<Grant> },
  { installationId: string; last: number; before: string | null }
>(`
  query ConsoleGrants($installationId: ID!, $last: Int!, $before: String) {
    oauthGrants(installationId: $installationId, last: $last, before: $before) {
      edges { node { id clientId scopes issuedAt expiresAt revokedAt lastUsedAt } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export const revokeGrantDocument = graphDocument<
  { oauthGrantRevoke: { id: string } },
  IdempotencyVariables & { input: { grantId: string } }
>(`
  mutation ConsoleGrantRevoke($idempotencyKey: String!, $input: OAuthGrantRevokeInput!) {
    oauthGrantRevoke(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

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

export const requestsDocument = graphDocument<RequestsAnswer, RequestsAsked>(`
  query ConsoleRequests($installationId: ID!, $first: Int!, $after: String, $onlyFailed: Boolean!) {
    installation(id: $installationId) {
      recentRequests(first: $first, after: $after, onlyFailed: $onlyFailed) {
        edges { node { requestId at method operation status errorCode docUrl durationMs } }
        pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      }
    }
  }
`);
