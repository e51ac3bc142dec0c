/**
 * Creates and drops the partitions of the table `api_request`, which is partitioned by day (UTC). The
 * functions of migration 0045 do the work, because the database role of a process may not own the table. Rows
 * of a day without a partition are stored in the partition `api_request_default`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { idPrefixes } from "#foundation/ids.ts";
import type { Database } from "./connect.ts";
import { getSqlState } from "./database-errors.ts";

/** The table that is partitioned by day. The kind of its ids is "request". */
const partitionedTable = "api_request";

/**
 * The SQLSTATEs of an error after which the change of partitions is tried again: PostgreSQL did not get a
 * lock in time (55P03) or found a deadlock (40P01), or a row was inserted into the default partition at the
 * same moment (23514).
 */
const retriedStates = new Set(["55P03", "40P01", "23514"]);
const triesMax = 3;
const retryDelayMs = 500;

/**
 * Creates the partitions for the day of `now` and the three following days, unless they exist. Returns the
 * number of created partitions. If another process creates or drops partitions at the same time, creates
 * none.
 */
export function createDayPartitions(db: Database, now: Date): Promise<number> {
  return retryLocked(async () => {
    const { rows } = await sql<{ count: number }>`
      select create_day_partitions(${partitionedTable}, ${idPrefixes.request}, ${now}::timestamptz)
        as count`.execute(db);
    return rows[0]?.count ?? 0;
  });
}

/**
 * Drops the partitions of all days before the day of `before`, and returns their names. If a statement uses
 * the table for so long that PostgreSQL does not get the lock, leaves the remaining partitions; statements
 * that come later wait for at most 0.2 s.
 */
export async function dropDayPartitions(db: Database, before: Date): Promise<readonly string[]> {
  const dropped: string[] = [];
  try {
    for (;;) {
      const name = await retryLocked(async () => {
        const { rows } = await sql<{ name: string | null }>`
          select drop_day_partition(${partitionedTable}, ${before}::timestamptz) as name`.execute(db);
        return rows[0]?.name ?? null;
      });
      if (name === null) return dropped;
      dropped.push(name);
    }
  } catch (error) {
    if (!isRetried(error)) throw error;
    return dropped;
  }
}

const isRetried = (error: unknown): boolean => retriedStates.has(getSqlState(error) ?? "");

async function retryLocked<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1)
    try {
      return await change();
    } catch (error) {
      if (tries === triesMax || !isRetried(error)) throw error;
      await sleep(retryDelayMs);
    }
}

const dayMs = 86_400_000;

/** Returns the start of the day (UTC) to which the time belongs. */
export const getStartOfUtcDay = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);
