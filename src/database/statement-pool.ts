/**
 * The pool as Kysely uses it. Statements are prepared once per connection, under a name made from their text.
 * One that is not answered in time takes its connection with it: pg would hand that to the next caller with
 * the statement still running.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { isPlanStale, isUnanswered } from "./database-errors.ts";

export interface StatementLimits {
  readonly aloneMs: number;
  /** Inside a transaction, where imports write many rows at once. */
  readonly inTransactionMs: number;
}

/** Of all that people wait for; reports have their own (read-only.ts). */
export const shopLimits: StatementLimits = { aloneMs: 2_500, inTransactionMs: 10_000 };

export interface StatementOptions {
  readonly prepared: boolean;
  /** Without them a statement may take as long as it wants. */
  readonly limits: StatementLimits | undefined;
}

/**
 * Beyond this many texts the next ones run unnamed: a prepared statement costs the server memory for as long
 * as the connection lives.
 */
const namesMax = 1000;

/**
 * What a statement begins with whose text is another one for each way of asking: those take no more than
 * their share of names.
 */
export const manyFormsMark = "/* one of many forms */";

/** A long one costs the server up to a megabyte on each connection. */
const manyFormsNamesMax = 24;

export function statementPool(pool: pg.Pool, { prepared, limits }: StatementOptions): PostgresPool {
  const names = prepared ? createNames() : unnamed;
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  const query = (client: pg.PoolClient, text: string, values: unknown[] = []): Promise<pg.QueryResult> => {
    const name = values.length > 0 ? names.of(text) : undefined;
    holdBack(client);
    return client.query({
      text,
      values,
      ...(name === undefined ? {} : { name }),
      ...limitOf(client, limits),
    });
  };

  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let unanswered: unknown;
    return {
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) => client.release(destroy === true || unanswered !== undefined),
      // The rollback that follows would wait behind the statement that is not answered.
      query: async (text: string, values?: unknown[]) => {
        if (unanswered !== undefined) throw unanswered;
        try {
          return await query(client, text, values);
        } catch (error) {
          if (isUnanswered(error)) unanswered = error;
          // Not asked again here: what it was a part of may be over. A transaction is run again by who began
          // it.
          if (isPlanStale(error)) names.renew();
          throw error;
        }
      },
    } as unknown as PostgresPoolClient;
  };

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await pool.connect();
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = wrap(client);
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
  };
}

interface Names {
  readonly of: (text: string) => string | undefined;
  /** From now on all are called otherwise, so that they are prepared anew on every connection. */
  readonly renew: () => void;
}

const unnamed: Names = { of: () => undefined, renew: () => undefined };

function createNames(): Names {
  const names = new Map<string, string>();
  let manyFormsNames = 0;
  let generation = 0;
  const of = (text: string): string | undefined => {
    let name = names.get(text);
    const isOneOfMany = text.startsWith(manyFormsMark);
    if (name === undefined && names.size < namesMax && (!isOneOfMany || manyFormsNames < manyFormsNamesMax)) {
      if (isOneOfMany) manyFormsNames += 1;
      name = `q${generation === 0 ? "" : `${generation}_`}${createHash("sha1").update(text).digest("hex").slice(0, 20)}`;
      names.set(text, name);
    }
    return name;
  };
  return {
    of,
    renew: () => {
      names.clear();
      manyFormsNames = 0;
      generation += 1;
    },
  };
}

/** What is asked in one turn is written at once: a system call for each statement costs more than making it. */
function holdBack(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** pg takes this per statement too, which its types do not say. */
function limitOf(client: pg.PoolClient, limits: StatementLimits | undefined): { query_timeout?: number } {
  if (limits === undefined) return {};
  const status = client.getTransactionStatus();
  return { query_timeout: status === "T" || status === "E" ? limits.inTransactionMs : limits.aloneMs };
}
