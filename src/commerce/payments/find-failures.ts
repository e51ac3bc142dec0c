/** Why payments came to nothing, for who tells the buyer. */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";

/** Of each session's last payment, where that failed; by session. */
export async function findPaymentFailures(reader: Reader, sessionIds: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ sessionId: string; failureCode: string | null }>`
    select distinct on (session_id) session_id, failure_code from payment where session_id = any(${sessionIds}::text[])
    order by session_id, created_at desc, id desc`.execute(reader);
  return new Map(rows.flatMap(({ sessionId, failureCode }) => (failureCode === null ? [] : [[sessionId, failureCode] as const])));
}
