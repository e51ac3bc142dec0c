/**
 * The connection pool that Kysely uses. Statements are prepared once per connection, under a name that is
 * computed from their text. If a statement is not answered in time, the server is asked to cancel it, and its
 * connection is closed. A connection to a server that accepts no changes is closed too. Behind a transaction
 * pooler that does not support named statements or settings of a session, the pool continues without them.
 */
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { cancelRunningStatement } from "./cancel-statement.ts";
import {
  createQueryTimeoutError,
  isLostPreparedStatementError,
  isReadOnlyServerError,
  isRefusedStartupParameterError,
  isStalePreparedStatementError,
} from "./database-errors.ts";

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

/**
 * Milliseconds for which the answer to a canceled statement is awaited. Then the connection is closed without
 * an answer, for example because the server has stopped.
 */
const cancelMsMax = 300;

/**
 * Returns pg's options for the time limits that the database server enforces. They are needed if this process
 * cannot cancel a statement, because it was killed or the network broke. The limit of a statement is just
 * below the longest limit of this process. A transaction does nothing but send statements. If no statement of
 * a transaction has run for 30 seconds, its process hangs, and the server ends the transaction.
 */
export const getServerTimeouts = (
  limits: SqlStatementTimeouts | undefined,
): Pick<pg.PoolConfig, "statement_timeout" | "idle_in_transaction_session_timeout"> =>
  limits === undefined
    ? {}
    : { statement_timeout: limits.inTransactionMs - 250, idle_in_transaction_session_timeout: 30_000 };

export interface PreparedStatementConnectionPoolOptions {
  readonly prepared: boolean;
  /** Time limits of SQL statements; undefined for no limits. */
  readonly limits: SqlStatementTimeouts | undefined;
  /**
   * Called once if the connections go through a transaction pooler that refuses named statements or the
   * server's time limits. The argument says what the pool does without from now on.
   */
  readonly onPoolerLimitation?: ((limitation: PoolerLimitation) => void) | undefined;
}

export type PoolerLimitation = "unnamed_statements" | "no_server_timeouts";

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
  { prepared, limits, onPoolerLimitation }: PreparedStatementConnectionPoolOptions,
): PostgresPool {
  let names = prepared ? createNames() : unnamed;
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  const send = (client: pg.PoolClient, text: string, values: unknown[]): Promise<pg.QueryResult> => {
    const name = values.length > 0 ? names.of(text) : undefined;
    sendInOneWrite(client);
    return client.query({ text, values, ...(name === undefined ? {} : { name }) });
  };

  const continueUnnamed = (): void => {
    if (names !== unnamed) onPoolerLimitation?.("unnamed_statements");
    names = unnamed;
  };

  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    let unanswered: Error | undefined;
    let isServerReadOnly = false;
    let running = 0;
    // True from sending BEGIN to the end of the transaction. Statements that are sent together with BEGIN
    // already belong to the transaction, although BEGIN is not answered yet.
    let isBeginSent = false;
    return {
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) =>
        client.release(destroy === true || unanswered !== undefined || isServerReadOnly),
      // Sends a statement. All statements fail at once after a statement of this connection was not answered
      // in time. Even a ROLLBACK would wait until the unanswered statement ends.
      query: async (text: string, values: unknown[] = []) => {
        if (unanswered !== undefined) throw unanswered;
        if (beginPattern.test(text)) isBeginSent = true;
        const isInside = isBeginSent || isInTransaction(client);
        if (text === "commit" || text === "rollback") isBeginSent = false;
        const limitMs = isInside ? limits?.inTransactionMs : limits?.outsideTransactionMs;
        const timer = startStatementTimer(client, limitMs, (error) => (unanswered ??= error));
        const isAlone = running === 0 && !isInside;
        running += 1;
        try {
          const result = await send(client, text, values);
          // A canceled COMMIT succeeds although no standby has received the transaction, so its outcome counts
          // as unknown.
          if (unanswered !== undefined) throw unanswered;
          return result;
        } catch (error) {
          if (unanswered !== undefined) throw unanswered;
          if (isLostPreparedStatementError(error)) {
            continueUnnamed();
            if (isAlone) return await send(client, text, values);
          }
          // After a failover, the connection may still lead to the former primary. The next caller gets a new
          // connection, which leads to the present primary.
          if (isReadOnlyServerError(error)) isServerReadOnly = true;
          // A failed statement of a transaction is not sent again at this point, because its transaction has
          // failed too. Instead, `runInTransaction` runs the whole transaction again.
          if (isStalePreparedStatementError(error)) names.renew();
          throw error;
        } finally {
          running -= 1;
          timer.stop();
        }
      },
    } as unknown as PostgresPoolClient;
  };

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await connectWithAllowedSettings(pool, onPoolerLimitation);
      let wrapper = wrappers.get(client);
      if (wrapper === undefined) {
        wrapper = wrap(client);
        wrappers.set(client, wrapper);
      }
      return wrapper;
    },
  };
}

/**
 * Opens a connection. If a pooler refuses the time limits of the server, opens this connection and all later
 * ones without them.
 */
async function connectWithAllowedSettings(
  pool: pg.Pool,
  onPoolerLimitation: PreparedStatementConnectionPoolOptions["onPoolerLimitation"],
): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    if (!isRefusedStartupParameterError(error)) throw error;
    if (pool.options.statement_timeout !== false) onPoolerLimitation?.("no_server_timeouts");
    pool.options.statement_timeout = false;
    pool.options.idle_in_transaction_session_timeout = undefined;
    return pool.connect();
  }
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
  const stream = getSocket(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}

const getSocket = (client: pg.PoolClient): Socket =>
  (client as unknown as { readonly connection: { readonly stream: Socket } }).connection.stream;

const beginPattern = /^(?:begin|start transaction)/;

function isInTransaction(client: pg.PoolClient): boolean {
  const status = client.getTransactionStatus();
  return status === "T" || status === "E";
}

/**
 * Starts the time limit of a statement. When the limit is reached, calls `onTimeout` and cancels the
 * statement; if the server does not answer soon, the connection is closed, so that the statement fails.
 */
function startStatementTimer(
  client: pg.PoolClient,
  limitMs: number | undefined,
  onTimeout: (error: Error) => void,
): { readonly stop: () => void } {
  if (limitMs === undefined) return { stop: () => undefined };
  let timer = setTimeout(() => {
    onTimeout(createQueryTimeoutError());
    cancelRunningStatement(client);
    timer = setTimeout(() => getSocket(client).destroy(), cancelMsMax);
  }, limitMs);
  return { stop: () => clearTimeout(timer) };
}
