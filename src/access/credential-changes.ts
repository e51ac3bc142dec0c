/**
 * Changes of credentials: the events that report a change, the notices (NOTIFY) after which every process
 * removes changed credentials from its cache, and the revocation of OAuth grants. A notice is sent in the
 * transaction of the change and arrives after the commit.
 */
import { sql } from "kysely";
import { noticeChannel } from "#database/notices.ts";
import { runAfterCommit, type Transaction } from "#database/transaction.ts";
import { appendAuditEntries, type NewAuditEntry } from "./audit.ts";

/**
 * Selects the credentials to remove from the credential caches: a single credential, or all credentials of an
 * installation, a merchant, an OAuth client or a staff account.
 */
export type CachedCredentialsToInvalidate =
  | { readonly credentialId: string }
  | { readonly installationId: string }
  | { readonly merchantId: string }
  | { readonly clientId: string }
  | { readonly staffId: string };

/**
 * Functions that remove changed credentials from the caches of this process. They are called directly after a
 * change, so that this process does not depend on its own notice (NOTIFY). With PGlite, the caches are in use
 * even before the process has begun to listen for notices.
 */
const caches = new Set<(ownerId: string) => void>();

/**
 * Registers a function that is called whenever credentials change in this process, with the id of the changed
 * credential, installation, merchant, OAuth client or staff account. Returns the function that removes the
 * registration.
 */
export function addCredentialInvalidationListener(invalidate: (ownerId: string) => void): () => void {
  caches.add(invalidate);
  return () => void caches.delete(invalidate);
}

export async function invalidateCachedCredentials(
  transaction: Transaction,
  selection: CachedCredentialsToInvalidate,
): Promise<void> {
  const [kind, ownerId] = toNoticeParts(selection);
  await sql`select pg_notify(${noticeChannel}, ${`${kind}:${ownerId}`})`.execute(transaction);
  runAfterCommit(transaction, () => {
    for (const invalidate of caches) invalidate(ownerId);
  });
}

function toNoticeParts(selection: CachedCredentialsToInvalidate): [kind: string, ownerId: string] {
  if ("credentialId" in selection) return ["credential", selection.credentialId];
  if ("installationId" in selection) return ["installation", selection.installationId];
  if ("merchantId" in selection) return ["merchant", selection.merchantId];
  return "clientId" in selection ? ["client", selection.clientId] : ["staff", selection.staffId];
}

const form = /^(?:credential|installation|merchant|client|staff):(.+)$/;

/**
 * Returns the owner's id from a notice about changed credentials; undefined for other notices. The owner is a
 * credential, an installation, a merchant, an OAuth client or a staff account.
 */
export function parseCredentialInvalidationNotice(payload: string): string | undefined {
  return form.exec(payload)?.[1];
}

/**
 * An event of an installation or of one of its API keys. Commands return their events, and the callers of the
 * commands publish them.
 */
export interface InstallationOrApiKeyEvent {
  readonly type:
    | "installation.scopes_changed"
    | "installation.suspended"
    | "installation.resumed"
    | "installation.uninstalled"
    | "api_key.created"
    | "api_key.rotated"
    | "api_key.revoked"
    | "api_key.expiring";
  /** Id of the installation or API key that the event is about. */
  readonly id: string;
  readonly merchantId: string;
  /** Id of the app installation that receives the event; no other installation receives it. */
  readonly installationId: string;
  /** The changed fields with their values before the change; null if the installation or API key is new. */
  readonly previous: Readonly<Record<string, unknown>> | null;
}

export interface RevokedOauthGrant {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly clientId: string;
}

/**
 * Selects the OAuth grants to revoke: either a single grant, or all grants of an owner (for example of an
 * installation). For a single grant, the caller writes the audit entry. For all grants of an owner,
 * `revokeOauthGrants` writes the audit entries, with the given reason.
 */
type GrantSelection =
  | { readonly column: "id"; readonly value: string }
  | {
      readonly column: "installationId" | "staffId" | "clientId";
      readonly value: string;
      readonly reason: "uninstalled" | "person_disabled" | "password_changed" | "client_disabled";
    };

/**
 * Revokes a single grant, or all grants of an installation, a staff account or a client. From the commit on,
 * access tokens of these grants are refused, and their refresh tokens are deleted. Returns the grants that
 * were not revoked before. Publishes no events, because only installations and API keys have event types.
 */
export async function revokeOauthGrants(
  transaction: Transaction,
  { now }: { readonly now: Date },
  selection: GrantSelection,
): Promise<readonly RevokedOauthGrant[]> {
  const { column, value } = selection;
  // Locks the rows of the grants in the order of their ids, which prevents deadlocks between transactions
  // that revoke the same grants.
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
  // Sends one notice of changed credentials (NOTIFY) for all revoked grants together.
  await invalidateCachedCredentials(transaction, toInvalidatedCredentials(column, value));
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
 * Builds the audit entry of a grant that is revoked because of another change. The actor of this entry is
 * `system`. The audit entry of the other change names the actor that caused both changes.
 */
function toAuditEntry(
  { id, merchantId, clientId, installationId }: RevokedOauthGrant,
  { now, reason }: { readonly now: Date; readonly reason: string },
): NewAuditEntry {
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

function toInvalidatedCredentials(
  column: GrantSelection["column"],
  value: string,
): CachedCredentialsToInvalidate {
  if (column === "id") return { credentialId: value };
  if (column === "installationId") return { installationId: value };
  return column === "staffId" ? { staffId: value } : { clientId: value };
}
