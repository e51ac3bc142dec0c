/** GraphQL documents and result types of the audit log, and of the actors by which it can be filtered. */
import {
  type GraphqlConnection,
  createConsoleGraphqlDocument,
} from "#pages/console/browser/graph/documents.ts";

export type ConsoleAuditActorKind =
  | "API_KEY"
  | "OAUTH_CLIENT"
  | "BUYER"
  | "STAFF"
  | "OPERATOR"
  | "COMMAND"
  | "SYSTEM";

interface AppOfCredential {
  readonly installation: { readonly id: string; readonly app: { readonly name: string } };
}

interface StaffName {
  readonly id: string;
  readonly name: string;
}

export interface AuditLogApiKey extends AppOfCredential {
  readonly id: string;
  readonly name: string;
  readonly lastFour: string;
}

export interface AuditLogEntry {
  readonly id: string;
  readonly at: string;
  readonly actor: ConsoleAuditActorKind;
  readonly actorId: string | null;
  readonly action: string;
  readonly targetType: string | null;
  readonly targetId: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly apiKey: AuditLogApiKey | null;
  readonly oauthGrant: (AppOfCredential & { readonly staff: StaffName | null }) | null;
  readonly staff: StaffName | null;
  readonly internalToken: { readonly id: string; readonly name: string } | null;
}

/** The filter of the audit log. If a field is null, the entries are not filtered by it. */
export interface AuditLogFilter {
  readonly actor: ConsoleAuditActorKind | null;
  readonly actorId: string | null;
  readonly action: string | null;
  readonly targetId: string | null;
  /** The period of the shown audit entries, in RFC 3339: `from` is included, `to` is not. */
  readonly from: string | null;
  readonly to: string | null;
}

interface AuditVariables extends AuditLogFilter {
  readonly first: number;
  readonly after: string | null;
}

export const auditDocument = createConsoleGraphqlDocument<
  { auditEntries: GraphqlConnection<AuditLogEntry> },
  AuditVariables
>(`
  query ConsoleAudit($actor: AuditActor, $actorId: ID, $action: String, $targetId: ID, $from: DateTime,
    $to: DateTime, $first: Int!, $after: String) {
    auditEntries(actor: $actor, actorId: $actorId, action: $action, targetId: $targetId, from: $from, to: $to,
      first: $first, after: $after) {
      edges { node {
        id at actor actorId action targetType targetId requestId details
        apiKey { id name lastFour installation { id app { name } } }
        oauthGrant { installation { id app { name } } staff { id name } }
        staff { id name }
        internalToken { id name }
      } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);

export interface AuditLogStaffMember extends StaffName {
  readonly email: string;
}

interface AuditActors {
  readonly staffAccounts: GraphqlConnection<AuditLogStaffMember>;
  readonly apiKeys: GraphqlConnection<AuditLogApiKey>;
}

/**
 * Reads the actors by which staff can filter the audit log: the first 100 staff accounts and the newest 100
 * API keys.
 */
export const auditActorsDocument = createConsoleGraphqlDocument<AuditActors>(`
  query ConsoleAuditActors {
    staffAccounts(first: 100) {
      edges { node { id name email } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
    apiKeys(last: 100) {
      edges { node { id name lastFour installation { id app { name } } } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    }
  }
`);
