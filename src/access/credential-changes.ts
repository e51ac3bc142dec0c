/**
 * Changes of credentials: the events that report them, the notices (NOTIFY) that make every process remove
 * the changed credentials from its cache, and the revocation of OAuth grants. Notices are sent in the
 * transaction of the change and arrive after its commit.
 */
import { sql } from "kysely";
import { noticeChannel } from "#database/notices.ts";
import { afterCommit, type Transaction } from "#database/transaction.ts";
import { appendAuditEntries, type AuditEntry } from "./audit.ts";

/**
 * The credentials whose cached rows become invalid: one credential, or all credentials of an installation, a
 * merchant, an OAuth client or a staff account.
 */
export type InvalidatedCredentials =
  | { readonly credentialId: string }
  | { readonly installationId: string }
  | { readonly merchantId: string }
  | { readonly clientId: string }
  | { readonly staffId: string };

/**
 * Functions that invalidate the credential caches of this process. They are called directly, because no
 * notices arrive on PGlite.
 */
const caches = new Set<(ownerId: string) => void>();

/**
 * Calls the listener with the owner's id whenever credentials change in this process. Returns a function that
 * removes the listener.
 */
export function onCredentialsInvalidated(invalidate: (ownerId: string) => void): () => void {
  caches.add(invalidate);
  return () => void caches.delete(invalidate);
}

export async function invalidateCredentials(
  transaction: Transaction,
  selection: InvalidatedCredentials,
): Promise<void> {
  const [kind, ownerId] = toNoticeParts(selection);
  await sql`select pg_notify(${noticeChannel}, ${`${kind}:${ownerId}`})`.execute(transaction);
  afterCommit(transaction, () => {
    for (const invalidate of caches) invalidate(ownerId);
  });
}

function toNoticeParts(selection: InvalidatedCredentials): [kind: string, ownerId: string] {
  if ("credentialId" in selection) return ["credential", selection.credentialId];
  if ("installationId" in selection) return ["installation", selection.installationId];
  if ("merchantId" in selection) return ["merchant", selection.merchantId];
  return "clientId" in selection ? ["client", selection.clientId] : ["staff", selection.staffId];
}

const form = /^(?:credential|installation|merchant|client|staff):(.+)$/;

/** Returns the owner's id from a notice about changed credentials; undefined for other notices. */
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
  /** Id of the installation or of the API key. */
  readonly id: string;
  readonly merchantId: string;
  /** The event goes to this installation only. */
  readonly installationId: string;
  /** Values of the changed fields before the change; null if the installation or key is new. */
  readonly previous: Readonly<Record<string, unknown>> | null;
}

export interface RevokedGrant {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly clientId: string;
}

/**
 * Selects the grants to revoke: either one grant, whose audit entry the caller writes, or all grants of an
 * owner, with the reason for the audit entries that `revokeGrants` writes.
 */
type GrantSelection =
  | { readonly column: "id"; readonly value: string }
  | {
      readonly column: "installationId" | "staffId" | "clientId";
      readonly value: string;
      readonly reason: "uninstalled" | "person_disabled" | "password_changed" | "client_disabled";
    };

/**
 * Revokes one grant, or all grants of an installation, a staff account or a client. From the commit on, their
 * access tokens are refused and their refresh tokens are gone. Returns the grants that were not revoked
 * before. Publishes no events: there are event types for installations and API keys only.
 */
export async function revokeGrants(
  transaction: Transaction,
  { now }: { readonly now: Date },
  selection: GrantSelection,
): Promise<readonly RevokedGrant[]> {
  const { column, value } = selection;
  // Rows are locked in the order of their ids, so two transactions that revoke the same grants cannot
  // deadlock.
  const found = await transaction
    .selectFrom("oauthGrant")
    .select("id")
    .where(column, "=", value)
    .where("revokedAt", "is", null)
    .orderBy("id")
    .forUpdate()
    .execute();
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  const revoked = await transaction
    .updateTable("oauthGrant")
    .set((grant) => ({ revokedAt: now, version: grant("version", "+", 1) }))
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .returning(["id", "merchantId", "installationId", "clientId"])
    .execute();
  // One notice for all grants.
  await invalidateCredentials(transaction, toInvalidatedCredentials(column, value));
  // Deletes the authorization codes and refresh tokens of the grants.
  await sql`delete from oauth_item where grant_id = any(${ids}::text[])`.execute(transaction);
  if (selection.column !== "id")
    await appendAuditEntries(
      transaction,
      ...revoked.map((grant) => toAuditEntry(grant, { now, reason: selection.reason })),
    );
  return revoked;
}

/**
 * Builds the audit entry of a grant that is revoked because of another change. The entry's actor is `system`;
 * the audit entry of the other change names the caller.
 */
function toAuditEntry(
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

function toInvalidatedCredentials(column: GrantSelection["column"], value: string): InvalidatedCredentials {
  if (column === "id") return { credentialId: value };
  if (column === "installationId") return { installationId: value };
  return column === "staffId" ? { staffId: value } : { clientId: value };
}
