/**
 * Expiry notices of API keys: the events `api_key.expiring`. One event is published seven days before a key
 * expires, and another one day before. The first one is left out for keys that are created less than seven
 * days before their expiry, the second for keys that are created less than one day before.
 */
import { type Expression, type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { InstallationOrApiKeyEvent } from "#access/credential-changes.ts";

const hourMs = 3_600_000;

/**
 * Returns the SQL expression for the new value of `expiry_notices` (the number of sent expiry notices) of an
 * API key that is being rotated. A notice whose time has already passed for the new expiry counts as sent,
 * because the event of the rotation already contains the new expiry.
 */
export function expiryNoticeCountAfterRotationSql(expiresAt: Date, now: Date): Expression<number> {
  const hoursLeft = (expiresAt.getTime() - now.getTime()) / hourMs;
  return sql<number>`greatest(expiry_notices, ${hoursLeft <= 24 ? 2 : hoursLeft <= 168 ? 1 : 0}::integer)`;
}

/** Returns the SQL condition for API keys with an expiry notice that is due and has not been sent. */
function isDue(now: Date): RawBuilder<boolean> {
  const [inOneDay, inSevenDays] = [24, 168].map((hours) => new Date(now.getTime() + hours * hourMs));
  return sql<boolean>`revoked_at is null and expires_at > ${now} and (
    expiry_notices < 2 and expires_at <= ${inOneDay} and created_at <= expires_at - interval '24 hours'
    or expiry_notices < 1 and expires_at <= ${inSevenDays}
    and created_at <= expires_at - interval '168 hours')`;
}

interface ExpiringKeysQuery {
  readonly now: Date;
  /** The id of the last API key of the previous batch. Only API keys with a greater id are returned. */
  readonly after: string;
  readonly rowsMax: number;
}

export function findExpiringApiKeys(
  reader: DatabaseOrTransaction,
  { now, after, rowsMax }: ExpiringKeysQuery,
): Promise<{ id: string }[]> {
  return reader
    .selectFrom("apiKey")
    .select("id")
    .where(isDue(now))
    .where("id", ">", after)
    .orderBy("id")
    .limit(rowsMax)
    .execute();
}

/**
 * Marks the expiry notice of a key as sent, and returns its event. Returns an empty list if the notice is not
 * due any more, for example because another process has sent it.
 */
export async function recordApiKeyExpiryNotice(
  transaction: Transaction,
  { now }: { readonly now: Date },
  apiKeyId: string,
): Promise<InstallationOrApiKeyEvent[]> {
  const inOneDay = new Date(now.getTime() + 24 * hourMs);
  const marked = await transaction
    .updateTable("apiKey")
    .set((key) => ({
      expiryNotices: sql<number>`case when expires_at <= ${inOneDay} then 2 else 1 end`,
      version: key("version", "+", 1),
    }))
    .where("id", "=", apiKeyId)
    .where(isDue(now))
    .returning(["merchantId", "installationId", "version"])
    .executeTakeFirst();
  if (marked === undefined) return [];
  const { version, ...owner } = marked;
  return [{ type: "api_key.expiring", id: apiKeyId, ...owner, previous: { version: version - 1 } }];
}
