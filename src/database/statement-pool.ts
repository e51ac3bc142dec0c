/**
 * The connection pool that Kysely uses. Statements are prepared once per connection, under a name that is
 * computed from their text. If a statement is not answered in time, the server is asked to cancel it, and its
 * connection is closed. A connection to a server that accepts no changes is closed too. Behind a transaction
 * pooler that does not support named statements or settings of a session, the pool continues without them. If
 * comments are switched on, a statement of a request is sent unnamed, with the id of the request.
 */
import type { PostgresPool, PostgresPoolClient } from "kysely";
import type pg from "pg";
import { cancelRunningStatement } from "./cancel-statement.ts";
import {
  createQueryTimeoutError,
  isLostPreparedStatementError,
  isReadOnlyServerError,
  isRefusedStartupParameterError,
  isStalePreparedStatementError,
  isStatementCanceledByServer,
} from "./database-errors.ts";
import { isRowOfOtherMerchantError } from "./row-security.ts";
import {
  createSqlStatementSender,
  getSocketOfPgClient,
  type SqlStatementSenderOptions,
} from "./statement-sender.ts";

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
export const getPostgresTimeoutOptions = (
  limits: SqlStatementTimeouts | undefined,
): Pick<pg.PoolConfig, "statement_timeout" | "idle_in_transaction_session_timeout"> =>
  limits === undefined
    ? {}
    : { statement_timeout: limits.inTransactionMs - 250, idle_in_transaction_session_timeout: 30_000 };

export interface PreparedStatementConnectionPoolOptions extends SqlStatementSenderOptions {
  /** Time limits of SQL statements; undefined for no limits. */
  readonly limits: SqlStatementTimeouts | undefined;
  /** Called for each statement that this process or the server has canceled because of its time limit. */
  readonly onCanceledStatement?: ((statement: TimedOutSqlStatement) => void) | undefined;
  /**
   * Called for each statement that PostgreSQL refused because it wrote a row of another merchant than that of
   * its transaction.
   */
  readonly onRefusedRow?: ((statement: RefusedSqlStatement) => void) | undefined;
}

export interface RefusedSqlStatement {
  readonly text: string;
  /** The message of PostgreSQL, which names the table. */
  readonly reason: string;
}

export interface TimedOutSqlStatement {
  readonly text: string;
  /** Milliseconds from sending the statement to its cancellation. */
  readonly ms: number;
}

/** The state of one connection of the pool. */
interface ConnectionState {
  /** The error of the statement that was not answered in time; undefined if there is none. */
  unanswered: Error | undefined;
  isServerReadOnly: boolean;
  /** Number of statements that are not answered yet. */
  running: number;
  /**
   * True from sending BEGIN to the end of the transaction. Statements that are sent together with BEGIN
   * already belong to the transaction, although BEGIN is not answered yet.
   */
  isBeginSent: boolean;
}

export function createPreparedStatementConnectionPool(
  pool: pg.Pool,
  options: PreparedStatementConnectionPoolOptions,
): PostgresPool {
  const { send, continueUnnamed, renewNames } = createSqlStatementSender(options);
  const wrappers = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  const noteError = (state: ConnectionState, error: unknown): void => {
    // After a failover, the connection may still lead to the former primary. The next caller gets a new
    // connection, which leads to the present primary.
    if (isReadOnlyServerError(error)) state.isServerReadOnly = true;
    // A failed statement of a transaction is not sent again at this point, because its transaction has
    // failed too. Instead, `runInTransaction` runs the whole transaction again.
    if (isStalePreparedStatementError(error)) renewNames();
  };

  const wrap = (client: pg.PoolClient): PostgresPoolClient => {
    const state: ConnectionState = {
      unanswered: undefined,
      isServerReadOnly: false,
      running: 0,
      isBeginSent: false,
    };
    return {
      get processID() {
        return "processID" in client ? client.processID : undefined;
      },
      release: (destroy?: boolean) =>
        client.release(destroy === true || state.unanswered !== undefined || state.isServerReadOnly),
      // If a statement was not answered in time, all further statements of the connection fail at once. Even
      // a ROLLBACK would wait until the unanswered statement ends.
      query: async (text: string, values: unknown[] = []) => {
        if (state.unanswered !== undefined) throw state.unanswered;
        const isInside = noteTransactionBoundary(state, client, text);
        const isAlone = state.running === 0 && !isInside;
        const reportCanceled = createCancelReporter(text, options);
        const timer = startStatementTimer(client, getLimitMs(options, isInside), (error) => {
          state.unanswered ??= error;
          reportCanceled();
        });
        state.running += 1;
        try {
          const result = await send(client, text, values);
          // A canceled COMMIT succeeds although no standby has received the transaction, so its outcome counts
          // as unknown.
          if (state.unanswered !== undefined) throw state.unanswered;
          return result;
        } catch (error) {
          if (state.unanswered !== undefined) throw state.unanswered;
          if (isStatementCanceledByServer(error)) reportCanceled();
          if (isRowOfOtherMerchantError(error)) options.onRefusedRow?.({ text, reason: error.message });
          if (isLostPreparedStatementError(error)) {
            continueUnnamed();
            if (isAlone) return await send(client, text, values);
          }
          noteError(state, error);
          throw error;
        } finally {
          state.running -= 1;
          timer.stop();
        }
      },
    } as unknown as PostgresPoolClient;
  };

  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await connectWithAllowedSettings(pool, options.onPoolerLimitation);
      const wrapper = wrappers.get(client) ?? wrap(client);
      wrappers.set(client, wrapper);
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

/** Returns the function that reports that a statement was canceled; the statement is sent at the same time. */
function createCancelReporter(
  text: string,
  { onCanceledStatement }: PreparedStatementConnectionPoolOptions,
): () => void {
  const sentAt = performance.now();
  return () => onCanceledStatement?.({ text, ms: Math.round(performance.now() - sentAt) });
}

const beginPattern = /^(?:begin|start transaction)/;

/** Notes whether the statement begins or ends a transaction. Returns whether the statement belongs to one. */
function noteTransactionBoundary(state: ConnectionState, client: pg.PoolClient, text: string): boolean {
  if (beginPattern.test(text)) state.isBeginSent = true;
  const isInside = state.isBeginSent || isInTransaction(client);
  if (text === "commit" || text === "rollback") state.isBeginSent = false;
  return isInside;
}

const getLimitMs = (
  { limits }: PreparedStatementConnectionPoolOptions,
  isInside: boolean,
): number | undefined => (isInside ? limits?.inTransactionMs : limits?.outsideTransactionMs);

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
    timer = setTimeout(() => getSocketOfPgClient(client).destroy(), cancelMsMax);
  }, limitMs);
  return { stop: () => clearTimeout(timer) };
}
