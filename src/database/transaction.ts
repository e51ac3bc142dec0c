/** One transaction: all of its work is committed, or none. */
import type { RawBuilder, Transaction as KyselyTransaction } from "kysely";
import type { Database } from "./connect.ts";
import { runInsideTransaction } from "./guard.ts";
import { isGivenUp } from "./sql-state.ts";
import type { Tables } from "./tables.ts";

export type Transaction = KyselyTransaction<Tables>;

/** What only reads takes either; what writes takes a Transaction, so that a write outside of one does not compile. */
export type Reader = Database | Transaction;

const afterCommits = new WeakMap<Transaction, (() => void)[]>();

/** Calls back once this transaction is committed, and never if it is not. What is called is told, and cannot fail what has happened. */
export function afterCommit(transaction: Transaction, callback: () => void): void {
  const callbacks = afterCommits.get(transaction);
  if (callbacks === undefined) afterCommits.set(transaction, [callback]);
  else callbacks.push(callback);
}

/** Runs the whole work again when PostgreSQL gave up on it because of others (serialization failure, deadlock), three times at most. */
export function inTransaction<Result>(db: Database, work: (transaction: Transaction) => Promise<Result>): Promise<Result> {
  return untilDone(async () => {
    let callbacks: readonly (() => void)[] = [];
    const result = await db.transaction().execute(async (transaction) => {
      const done = await runInsideTransaction(() => work(transaction));
      callbacks = afterCommits.get(transaction) ?? [];
      return done;
    });
    for (const callback of callbacks) callback();
    return result;
  });
}

/** A single statement is a transaction by itself, and is run again like one. Gives its rows. */
export async function runStatement<Row>(db: Database, statement: RawBuilder<Row>): Promise<readonly Row[]> {
  const { rows } = await untilDone(() => statement.execute(db));
  return rows;
}

const attemptsMax = 3;

async function untilDone<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= attemptsMax || !isGivenUp(error)) throw error;
    }
  }
}
