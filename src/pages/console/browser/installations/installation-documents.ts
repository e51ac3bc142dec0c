/**
 * GraphQL documents and result types of the pages about app installations: the installations, their readiness
 * checks, and OAuth grants.
 */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export type ConsoleInstallationStatus = "ACTIVE" | "SUSPENDED" | "UNINSTALLED";

export interface InstallationSummary {
  readonly id: string;
  readonly status: ConsoleInstallationStatus;
  readonly scopes: readonly string[];
  readonly installedAt: string;
  readonly app: { readonly id: string; readonly name: string; readonly publisher: string | null };
}

const nameFields = "id status scopes installedAt app { id name publisher }";

export const installationsDocument = createConsoleGraphqlDocument<{
  installations: GraphqlConnection<InstallationSummary>;
}>(`
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
  readonly installationId: string;
  readonly status: string;
  readonly evaluatedAt: string;
  readonly checks: readonly ConsoleReadinessCheck[];
}

const readinessFields =
  "installationId status evaluatedAt checks { code status severity message remedy since }";

export interface InstallationWithReadiness extends InstallationSummary {
  readonly readiness: ConsoleInstallationReadiness;
}

interface ReadyPage {
  readonly installations: GraphqlConnection<InstallationWithReadiness>;
}

export const readinessDocument = createConsoleGraphqlDocument<
  ReadyPage,
  { first: number; after: string | null }
>(`
  query ConsoleReadiness($first: Int!, $after: String) {
    installations(first: $first, after: $after) {
      edges { node { ${nameFields} readiness { ${readinessFields} } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export const installationDocument = createConsoleGraphqlDocument<
  { installation: InstallationWithReadiness | null },
  { id: string }
>(`
  query ConsoleInstallation($id: ID!) {
    installation(id: $id) { ${nameFields} readiness { ${readinessFields} } }
  }
`);

export const setScopesDocument = createConsoleGraphqlDocument<
  { installationScopesSet: { id: string } },
  GraphqlVariablesWithIdempotencyKey & { input: { installationId: string; scopes: readonly string[] } }
>(`
  mutation ConsoleScopesSet($idempotencyKey: String!, $input: InstallationScopesSetInput!) {
    installationScopesSet(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

type Transition = GraphqlVariablesWithIdempotencyKey & { input: { installationId: string } };

export const suspendDocument = createConsoleGraphqlDocument<
  { installationSuspend: { id: string } },
  Transition
>(`
  mutation ConsoleInstallationSuspend($idempotencyKey: String!, $input: InstallationTransitionInput!) {
    installationSuspend(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const resumeDocument = createConsoleGraphqlDocument<
  { installationResume: { id: string } },
  Transition
>(`
  mutation ConsoleInstallationResume($idempotencyKey: String!, $input: InstallationTransitionInput!) {
    installationResume(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export const uninstallDocument = createConsoleGraphqlDocument<
  { installationUninstall: { id: string } },
  Transition
>(`
  mutation ConsoleInstallationUninstall($idempotencyKey: String!, $input: InstallationTransitionInput!) {
    installationUninstall(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export interface InstallableAppsQueryResult {
  readonly merchant: { readonly id: string } | null;
  readonly apps: GraphqlConnection<InstallationSummary["app"]>;
  readonly installations: GraphqlConnection<Pick<InstallationSummary, "status" | "app">>;
}

/**
 * Reads all apps of the platform and the merchant's installations, so that the dialog can offer only apps
 * that are not installed yet.
 */
export const installableAppsDocument = createConsoleGraphqlDocument<InstallableAppsQueryResult>(`
  query ConsoleInstallableApps {
    merchant { id }
    apps(first: 100) {
      edges { node { id name publisher } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
    installations(first: 100) {
      edges { node { status app { id name publisher } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

interface InstallInput {
  readonly merchantId: string;
  readonly appId: string;
  readonly scopes: readonly string[];
}

export const installDocument = createConsoleGraphqlDocument<
  { installationCreate: { id: string } },
  GraphqlVariablesWithIdempotencyKey & { input: InstallInput }
>(`
  mutation ConsoleInstallationCreate($idempotencyKey: String!, $input: InstallationCreateInput!) {
    installationCreate(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);

export interface ConsoleOauthGrant {
  readonly id: string;
  readonly clientId: string;
  readonly installation: { readonly app: { readonly name: string } };
  /** The staff member who allowed the access to the OAuth client. */
  readonly staff: { readonly id: string; readonly name: string } | null;
  readonly scopes: readonly string[];
  readonly issuedAt: string;
  readonly expiresAt: string;
  readonly revokedAt: string | null;
  readonly lastUsedAt: string | null;
}

export const grantsDocument = createConsoleGraphqlDocument<
  { oauthGrants: GraphqlConnection<ConsoleOauthGrant> },
  { installationId: string; last: number; before: string | null }
>(`
  query ConsoleGrants($installationId: ID!, $last: Int!, $before: String) {
    oauthGrants(installationId: $installationId, last: $last, before: $before) {
      edges { node {
        id clientId scopes issuedAt expiresAt revokedAt lastUsedAt
        installation { app { name } }
        staff { id name }
      } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export const revokeGrantDocument = createConsoleGraphqlDocument<
  { oauthGrantRevoke: { id: string } },
  GraphqlVariablesWithIdempotencyKey & { input: { grantId: string } }
>(`
  mutation ConsoleGrantRevoke($idempotencyKey: String!, $input: OAuthGrantRevokeInput!) {
    oauthGrantRevoke(idempotencyKey: $idempotencyKey, input: $input) { id }
  }
`);
