/** One transaction: all of its work is committed, or none. */
import type { Transaction as KyselyTransaction } from "kysely";
import type { Database } from "./connect.ts";
import { runInsideTransaction } from "./guard.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/** What only reads takes either; what writes takes a Transaction, so that a write outside of one does not compile. */
export type Reader = Database | Transaction;

const attemptsMax = 3;
const retryable = new Set(["40001", "40P01"]);

/** Runs the whole work again when PostgreSQL gave up on it because of others (serialization failure, deadlock), three times at most. */
export async function inTransaction<Result>(db: Database, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await db.transaction().execute((transaction) => runInsideTransaction(() => work(transaction)));
    } catch (error) {
      if (attempt >= attemptsMax || !isGivenUp(error)) throw error;
    }
  }
}

/** Also where the graph has made a failure of it, which keeps what it came from. */
function isGivenUp(error: unknown): boolean {
  if (retryable.has(sqlState(error) ?? "")) return true;
  return error instanceof Error && error.cause !== undefined && isGivenUp(error.cause);
}

/** The five characters of SQLSTATE, where the error is the database's. */
export function sqlState(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" && error.code.length === 5 ? error.code : undefined;
}

export const uniqueViolation = "23505";

/** The constraint or unique index that the database says was broken. */
export function brokenConstraint(error: unknown): string | undefined {
  return error instanceof Error && "constraint" in error && typeof error.constraint === "string" ? error.constraint : undefined;
}
