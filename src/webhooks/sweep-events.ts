/** What happened long ago is forgotten, with all that was sent of it; what still waits to be sent ends there. */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { keptSince } from "./replay-rules.ts";

const sweptAtOnce = 200;

const dayMs = 86_400_000;

/** Gives how many. Some at a time, so that nobody waits for it; `signal` ends it in between. */
export async function sweepEvents(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  await db
    .deleteFrom("webhookEndpointHour")
    .where("hour", "<", new Date(now.getTime() - 2 * dayMs))
    .execute();
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from event where id in (
        select id from event where occurred_at <= ${keptSince(now)}::timestamptz order by occurred_at limit ${sweptAtOnce} for update skip locked
      )`.execute(db);
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}
