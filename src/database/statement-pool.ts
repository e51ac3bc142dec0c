/**
 * The connection pool that Kysely uses. Statements are prepared once per connection, under a name derived
 * from their text. If a statement is not answered in time, its connection is closed, because pg would give
 * the connection to the next caller while the statement still runs.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { isPlanStale, isQueryTimeout } from "./database-errors.ts";

export interface StatementLimits {
  /** Limit in milliseconds of a statement outside a transaction. */
  readonly aloneMs: number;
  /** Limit in milliseconds inside a transaction, in which an import may write many rows at once. */
  readonly inTransactionMs: number;
}

/** Limits of statements for which a caller waits; reports have their own limits (read-only.ts). */
export const requestLimits: StatementLimits = { aloneMs: 2_500, inTransactionMs: 10_000 };

export interface StatementOptions {
  readonly prepared: boolean;
  /** Time limits of statements; undefined for no limits. */
  readonly limits: StatementLimits | undefined;
}

/**
 * Maximum number of prepared statements per connection; further statements run unprepared, because each
 * prepared statement occupies memory of the server.
 */
const namesMax = 1000;

/** Comment at the start of statements that exist in many variants. Only a few of these variants are prepared. */
export const manyVariantsMark = "/* one of many forms */";

/**
 * Maximum number of prepared statements with this comment. A long statement occupies up to a megabyte on each
 * connection.
 */
const manyVariantsNamesMax = 24;

export function createStatementPool(pool: pg.Pool, { prepared, limits }: StatementOptions): PostgresPool {
  const names = prepared ? createNames() : unnamed;
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  const query = (client: pg.PoolClient, text: string, values: unknown[] = []): Promise<pg.QueryResult> => {
    const name = values.length > 0 ? names.of(text) : undefined;
    sendInOneWrite(client);
    return client.query({
      text,
      values,
      ...(name === undefined ? {} : { name }),
      ...statementTimeout(client, limits),
    });
  };

  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let unanswered: unknown;
    return {
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) => client.release(destroy === true || unanswered !== undefined),
      // After an unanswered statement, further statements fail at once. A ROLLBACK would wait for that statement.
      query: async (text: string, values?: unknown[]) => {
        if (unanswered !== undefined) throw unanswered;
        try {
          return await query(client, text, values);
        } catch (error) {
          if (isQueryTimeout(error)) unanswered = error;
          // The statement is not sent again here, because its transaction may have ended. `inTransaction` runs
          // the transaction again.
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
  /** Changes all names, so that statements are prepared again on every connection. */
  readonly renew: () => void;
}

const unnamed: Names = { of: () => undefined, renew: () => undefined };

function createNames(): Names {
  const names = new Map<string, string>();
  let manyVariantsNames = 0;
  let generation = 0;
  const of = (text: string): string | undefined => {
    let name = names.get(text);
    const hasManyVariants = text.startsWith(manyVariantsMark);
    if (
      name === undefined &&
      names.size < namesMax &&
      (!hasManyVariants || manyVariantsNames < manyVariantsNamesMax)
    ) {
      if (hasManyVariants) manyVariantsNames += 1;
      const hash = createHash("sha1").update(text).digest("hex").slice(0, 20);
      name = `q${generation === 0 ? "" : `${generation}_`}${hash}`;
      names.set(text, name);
    }
    return name;
  };
  return {
    of,
    renew: () => {
      names.clear();
      manyVariantsNames = 0;
      generation += 1;
    },
  };
}

/**
 * Sends all statements of one event loop turn with one system call. A system call takes longer than building
 * a statement.
 */
function sendInOneWrite(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Returns the time limit of a statement. pg supports the option per statement, although its types lack it. */
function statementTimeout(
  client: pg.PoolClient,
  limits: StatementLimits | undefined,
): { query_timeout?: number } {
  if (limits === undefined) return {};
  const status = client.getTransactionStatus();
  return { query_timeout: status === "T" || status === "E" ? limits.inTransactionMs : limits.aloneMs };
}
