/** Ends grants: one, or all of an installation, a person or a client. From the commit on their tokens are refused, and nothing renews them. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import type { Access } from "#access/keys/api-keys.ts";
import { appendAudit, type AuditEntry } from "#access/audit.ts";
import { type Dropped, dropCredentials } from "#access/credential-notices.ts";

export interface GrantEnded {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly clientId: string;
}

/** One, whose end the caller writes down; or all of an owner, whose ends are written down here: why, for the merchant to read. */
export type GrantsMeant =
  | { readonly column: "id"; readonly value: string }
  | {
      readonly column: "installationId" | "staffId" | "clientId";
      readonly value: string;
      readonly why: "uninstalled" | "person_disabled" | "password_changed" | "client_disabled";
    };

/** Gives those that were not revoked before. No events are told of them: the installation's own say what it may still do. */
export async function revokeGrants(transaction: Transaction, { now }: Pick<Access, "now">, meaning: GrantsMeant): Promise<readonly GrantEnded[]> {
  const { column, value } = meaning;
  // In one order, so that of two who end some of the same at once neither waits for the other for ever.
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
  // One word for all of them, however many.
  await dropCredentials(transaction, ownerOf(column, value));
  // Their codes and refresh tokens.
  await sql`delete from oauth_item where grant_id = any(${ids}::text[])`.execute(transaction);
  if (meaning.column !== "id") await appendAudit(transaction, ...ended.map((grant) => auditOf(grant, { now, reason: meaning.why })));
  return ended;
}

/** Who did it stands in the entry of what it came of. */
function auditOf(
  { id, merchantId, clientId, installationId }: GrantEnded,
  { now, reason }: { readonly now: Date; readonly reason: string },
): AuditEntry {
  const details = { clientId, installationId, reason };
  return { actor: "system", actorId: null, merchantId, now, action: "oauthGrantRevoke", targetId: id, requestId: null, details };
}

function ownerOf(column: GrantsMeant["column"], value: string): Dropped {
  if (column === "id") return { credentialId: value };
  if (column === "installationId") return { installationId: value };
  return column === "staffId" ? { staffId: value } : { clientId: value };
}
