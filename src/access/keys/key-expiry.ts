/** Keys that end soon: their installations are told seven days before and one day before, each once. A key that lives for less is not announced. */
import { type RawBuilder, sql } from "kysely";
import type { Reader, Transaction } from "#database/transaction.ts";
import type { AccessHappening } from "#access/access-happening.ts";
import type { Access } from "./api-keys.ts";

const hourMs = 3_600_000;

/** Still to be told, by the clock. */
function isDue(now: Date): RawBuilder<boolean> {
  const [inOneDay, inSevenDays] = [24, 168].map((hours) => new Date(now.getTime() + hours * hourMs));
  return sql<boolean>`revoked_at is null and expires_at > ${now} and (
    expiry_notices < 2 and expires_at <= ${inOneDay} and created_at <= expires_at - interval '24 hours'
    or expiry_notices < 1 and expires_at <= ${inSevenDays} and created_at <= expires_at - interval '168 hours')`;
}

export interface KeysDue {
  readonly now: Date;
  /** Those behind this id. */
  readonly after: string;
  readonly rowsMax: number;
}

export function findExpiringKeys(reader: Reader, { now, after, rowsMax }: KeysDue): Promise<{ id: string }[]> {
  return reader.selectFrom("apiKey").select("id").where(isDue(now)).where("id", ">", after).orderBy("id").limit(rowsMax).execute();
}

/** Nothing where somebody else has done it meanwhile. */
export async function noteExpiry(transaction: Transaction, { now }: Pick<Access, "now">, apiKeyId: string): Promise<AccessHappening[]> {
  const inOneDay = new Date(now.getTime() + 24 * hourMs);
  const noted = await transaction
    .updateTable("apiKey")
    .set((key) => ({ expiryNotices: sql<number>`case when expires_at <= ${inOneDay} then 2 else 1 end`, version: key("version", "+", 1) }))
    .where("id", "=", apiKeyId)
    .where(isDue(now))
    .returning(["merchantId", "installationId", "version"])
    .executeTakeFirst();
  if (noted === undefined) return [];
  const { version, ...owner } = noted;
  return [{ type: "api_key.expiring", id: apiKeyId, ...owner, previous: { version: version - 1 } }];
}
