/**
 * The connection pool that Kysely uses. Statements are prepared once per connection, under a name that is
 * computed from their text. If a statement is not answered in time, its connection is closed, because pg
 * would otherwise give the connection to the next caller while the statement still runs. A connection to a
 * server that accepts no changes is closed too.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { isQueryTimeout, isReadOnlyServerError, isStalePreparedStatementError } from "./database-errors.ts";

export interface SqlStatementTimeouts {
  /** Time limit in milliseconds of an SQL statement outside of a transaction. */
  readonly outsideTransactionMs: number;
  /**
   * Time limit in milliseconds of a statement inside a transaction. The limit is longer, because an import
   * writes many rows with one statement.
   */
  readonly inTransactionMs: number;
}

/** Time limits of the SQL statements of requests. Reports have limits of their own (read-only.ts). */
export const requestStatementLimits: SqlStatementTimeouts = {
  outsideTransactionMs: 2_500,
  inTransactionMs: 10_000,
};

export interface PreparedStatementConnectionPoolOptions {
  readonly prepared: boolean;
  /** Time limits of SQL statements; undefined for no limits. */
  readonly limits: SqlStatementTimeouts | undefined;
}

/**
 * Maximum number of prepared statements per connection. Further statements run without being prepared,
 * because each prepared statement occupies memory of the server.
 */
const namesMax = 1000;

/**
 * The SQL comment with which a statement begins if its text has many forms. Only a limited number of such
 * statements is prepared on each connection.
 */
export const manyFormsMark = "/* one of many forms */";

/**
 * Maximum number of prepared statements per connection that begin with the comment `manyFormsMark`. One long
 * prepared statement can need up to one megabyte of memory on each connection.
 */
const manyFormsNamesMax = 24;

export function createPreparedStatementConnectionPool(
  pool: pg.Pool,
  { prepared, limits }: PreparedStatementConnectionPoolOptions,
): PostgresPool {
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
    let isServerReadOnly = false;
    return {
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) =>
        client.release(destroy === true || unanswered !== undefined || isServerReadOnly),
      // If a statement was not answered in time, all further statements of the connection fail at once. Even
      // a ROLLBACK would wait until the unanswered statement ends.
      query: async (text: string, values?: unknown[]) => {
        if (unanswered !== undefined) throw unanswered;
        try {
          return await query(client, text, values);
        } catch (error) {
          if (isQueryTimeout(error)) unanswered = error;
          // After a failover, the connection may still lead to the former primary. The next caller gets a new
          // connection, which leads to the present primary.
          if (isReadOnlyServerError(error)) isServerReadOnly = true;
          // The failed statement is not sent again at this point, because its transaction may have ended.
          // Instead, `runInTransaction` runs the whole transaction again.
          if (isStalePreparedStatementError(error)) names.renew();
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
  /** Changes the names of all prepared statements, so that every connection prepares its statements again. */
  readonly renew: () => void;
}

const unnamed: Names = { of: () => undefined, renew: () => undefined };

function createNames(): Names {
  const names = new Map<string, string>();
  let manyFormsNames = 0;
  let generation = 0;
  const of = (text: string): string | undefined => {
    let name = names.get(text);
    const hasManyForms = text.startsWith(manyFormsMark);
    if (
      name === undefined &&
      names.size < namesMax &&
      (!hasManyForms || manyFormsNames < manyFormsNamesMax)
    ) {
      if (hasManyForms) manyFormsNames += 1;
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
      manyFormsNames = 0;
      generation += 1;
    },
  };
}

/**
 * Sends all statements of one event loop turn to the socket with one system call. A system call for each
 * statement would take longer than building the statement.
 */
function sendInOneWrite(client: pg.PoolClient): void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/**
 * Returns pg's option for the time limit of a statement. pg supports this option per statement, although its
 * types lack it.
 */
function statementTimeout(
  client: pg.PoolClient,
  limits: SqlStatementTimeouts | undefined,
): { query_timeout?: number } {
  if (limits === undefined) return {};
  const status = client.getTransactionStatus();
  return {
    query_timeout: status === "T" || status === "E" ? limits.inTransactionMs : limits.outsideTransactionMs,
  };
}
