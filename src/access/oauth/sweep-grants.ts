/** Grants that have been over for so long that nobody asks after them. What was done with them stays in the audit log. */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";

/** For so long after its end a grant can still be read. */
const keptMs = 90 * 86_400_000;
const sweptAtOnce = 500;

/** How many that were. */
export async function sweepGrants(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from oauth_grant where id in (
        select id from oauth_grant where least(revoked_at, expires_at) <= ${before}
        order by least(revoked_at, expires_at) limit ${sweptAtOnce})`.execute(db);
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}
