/**
 * Changes of credentials: the events that report them, the notices that make every process drop what it
 * cached of them, and the end of OAuth grants. Notices are sent in the transaction of the change and arrive
 * after its commit.
 */
import { sql } from "kysely";
import { noticeChannel } from "#database/notices.ts";
import { afterCommit, type Transaction } from "#database/transaction.ts";
import { appendAuditEntries, type AuditEntry } from "./audit.ts";

/** One credential, or all of an installation, of a merchant, of an OAuth client or of a person. */
export type InvalidatedCredentials =
  | { readonly credentialId: string }
  | { readonly installationId: string }
  | { readonly merchantId: string }
  | { readonly clientId: string }
  | { readonly staffId: string };

/** The caches of this process: notified directly, without PostgreSQL; PGlite has no other processes. */
const caches = new Set<(ownerId: string) => void>();

/** Returns a function that ends the subscription. */
export function onCredentialsInvalidated(drop: (ownerId: string) => void): () => void {
  caches.add(drop);
  return () => void caches.delete(drop);
}

export async function invalidateCredentials(
  transaction: Transaction,
  dropped: InvalidatedCredentials,
): Promise<void> {
  const [kind, ownerId] = nameOf(dropped);
  await sql`select pg_notify(${noticeChannel}, ${`${kind}:${ownerId}`})`.execute(transaction);
  afterCommit(transaction, () => {
    for (const drop of caches) drop(ownerId);
  });
}

function nameOf(dropped: InvalidatedCredentials): [kind: string, ownerId: string] {
  if ("credentialId" in dropped) return ["credential", dropped.credentialId];
  if ("installationId" in dropped) return ["installation", dropped.installationId];
  if ("merchantId" in dropped) return ["merchant", dropped.merchantId];
  return "clientId" in dropped ? ["client", dropped.clientId] : ["staff", dropped.staffId];
}

const form = /^(?:credential|installation|merchant|client|staff):(.+)$/;

/** The owner that a notice names; `undefined` for notices of another kind. */
export function parseInvalidationNotice(payload: string): string | undefined {
  return form.exec(payload)?.[1];
}

/** An event of an installation or of one of its API keys. Commands return it; their caller publishes it. */
export interface AccessEvent {
  readonly type:
    | "installation.scopes_changed"
    | "installation.suspended"
    | "installation.resumed"
    | "installation.uninstalled"
    | "api_key.created"
    | "api_key.rotated"
    | "api_key.revoked"
    | "api_key.expiring";
  /** Of the installation or the key. */
  readonly id: string;
  readonly merchantId: string;
  /** The event goes to this installation only. */
  readonly installationId: string;
  /** The changed fields before the change; `null` if the subject is new. */
  readonly previous: Readonly<Record<string, unknown>> | null;
}

export interface RevokedGrant {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly clientId: string;
}

/**
 * One grant, for which the caller writes the audit entry; or all grants of an owner, with the reason for the
 * audit entries written here.
 */
type GrantSelection =
  | { readonly column: "id"; readonly value: string }
  | {
      readonly column: "installationId" | "staffId" | "clientId";
      readonly value: string;
      readonly why: "uninstalled" | "person_disabled" | "password_changed" | "client_disabled";
    };

/**
 * Revokes a grant, or all grants of an installation, a person or a client. From the commit on their tokens
 * are refused, and nothing renews them. Returns the grants that were not revoked before. No events are
 * published: those of the installation say what it may still do.
 */
export async function revokeGrants(
  transaction: Transaction,
  { now }: { readonly now: Date },
  selection: GrantSelection,
): Promise<readonly RevokedGrant[]> {
  const { column, value } = selection;
  // Always in one order, so that two transactions that revoke the same grants do not deadlock.
  const meant = await transaction
    .selectFrom("oauthGrant")
    .select("id")
    .where(column, "=", value)
    .where("revokedAt", "is", null)
    .orderBy("id")
    .forUpdate()
    .execute();
  if (meant.length === 0) return [];
  const ids = meant.map(({ id }) => id);
  const ended = await transaction
    .updateTable("oauthGrant")
    .set((grant) => ({ revokedAt: now, version: grant("version", "+", 1) }))
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .returning(["id", "merchantId", "installationId", "clientId"])
    .execute();
  // One notice for all grants.
  await invalidateCredentials(transaction, ownerOf(column, value));
  // Their codes and refresh tokens.
  await sql`delete from oauth_item where grant_id = any(${ids}::text[])`.execute(transaction);
  if (selection.column !== "id")
    await appendAuditEntries(
      transaction,
      ...ended.map((grant) => auditOf(grant, { now, reason: selection.why })),
    );
  return ended;
}

/** The entry of the change that caused it names the actor. */
function auditOf(
  { id, merchantId, clientId, installationId }: RevokedGrant,
  { now, reason }: { readonly now: Date; readonly reason: string },
): AuditEntry {
  const details = { clientId, installationId, reason };
  return {
    actor: "system",
    actorId: null,
    merchantId,
    now,
    action: "oauthGrantRevoke",
    targetId: id,
    requestId: null,
    details,
  };
}

function ownerOf(column: GrantSelection["column"], value: string): InvalidatedCredentials {
  if (column === "id") return { credentialId: value };
  if (column === "installationId") return { installationId: value };
  return column === "staffId" ? { staffId: value } : { clientId: value };
}
