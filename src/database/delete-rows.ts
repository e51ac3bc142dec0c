/** Deletes the rows of a table that are no longer needed, in batches, so that no statement takes long. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "./connect.ts";

/** The largest number of rows that one statement deletes. */
const rowsPerStatement = 1_000;

export interface RowsToDelete {
  /** The name of the table, in snake case. */
  readonly table: string;
  /** Condition of the rows to delete. */
  readonly where: RawBuilder<unknown>;
  /** The order in which the rows are deleted. An index in this order finds each batch without a scan. */
  readonly orderBy: RawBuilder<unknown>;
}

/**
 * Deletes rows in batches until a batch is not full, and returns their number. If `signal` is aborted, stops
 * before the next batch.
 *
 * The places of the rows (`ctid`) are collected in an array, so that they are selected once. If the planner
 * expects an empty table, because the last ANALYZE found it empty, it would join the table with a subquery
 * after `in` in a nested loop, and select the batch again for each row of the table: with 20 000 rows that
 * stay, a batch of 1 000 took 9 s instead of 6 ms. A row that another transaction changes meanwhile gets
 * another place and is left for the next call. The condition is checked again, because PostgreSQL before
 * 15.15 and the other releases of November 2025 does not compare the place of a changed row again.
 */
export async function deleteRowsInBatches(
  db: Database,
  { table, where, orderBy }: RowsToDelete,
  signal?: AbortSignal,
): Promise<number> {
  const target = sql.table(table);
  const statement = sql`
    delete from ${target} where ctid = any(array(
      select ctid from ${target} where ${where} order by ${orderBy} limit ${rowsPerStatement})) and ${where}`;
  for (let total = 0; ;) {
    const { numAffectedRows } = await statement.execute(db);
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < rowsPerStatement || signal?.aborted === true) return total;
  }
}
