/**
 * Opens the database: PostgreSQL if a URL is given, otherwise the embedded PGlite. All other code uses both
 * through the same Kysely interface.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CamelCasePlugin, Kysely, type LogEvent, PostgresDialect } from "kysely";
import { Client, type ClientConfig, type CustomTypesConfig, Pool, type QueryResult, types } from "pg";
import { createNestedConnectionGuardDialect, createPipelinedKyselyDialect } from "./transaction-dialect.ts";
import { toDataFolderUnusableError, waitForDataFolderLock } from "./folder-lock.ts";
import {
  type InterProcessNoticeHandlers,
  listenForInterProcessNotices,
  type InterProcessNoticeListener,
} from "./notices.ts";
import {
  type RefusedSqlStatement,
  type TimedOutSqlStatement,
  type SqlStatementTimeouts,
  createPreparedStatementConnectionPool,
  getPostgresTimeoutOptions,
} from "./statement-pool.ts";
import type { PGliteFilesystem } from "./pglite.ts";
import type { TransactionPoolerLimitation } from "./statement-sender.ts";
import type { Tables } from "./tables.ts";
import { createTracedKyselyDialect } from "./traced-dialect.ts";

export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  /** The URL of the PostgreSQL database; undefined for the embedded database. */
  readonly url?: string | undefined;
  /**
   * The URL of the PostgreSQL server itself, without a transaction pooler in between. Used for migrations and
   * LISTEN, which do not work through a transaction pooler. Defaults to `url`.
   */
  readonly directUrl?: string | undefined;
  /** The URL of the database role that owns the tables. Used only for migrations. Defaults to `directUrl`. */
  readonly ownerUrl?: string | undefined;
  readonly poolSize?: number;
  /**
   * False to send SQL statements without names, for a transaction pooler that does not support named
   * statements. True if left out: the pool then finds out itself whether names are possible.
   */
  readonly prepared?: boolean;
  /** Time limits of SQL statements; undefined for no limits. */
  readonly limits?: SqlStatementTimeouts | undefined;
  /**
   * True to append a comment with the id of the request to each statement of a request. These statements have
   * no names. The embedded database writes no comments.
   */
  readonly comments?: boolean | undefined;
  /** Called for each statement that was canceled because of its time limit. */
  readonly onCanceledStatement?: ((statement: TimedOutSqlStatement) => void) | undefined;
  /** Called for each statement that wrote a row of another merchant than that of its transaction. */
  readonly onRefusedRow?: ((statement: RefusedSqlStatement) => void) | undefined;
  /** Called once for each feature that a transaction pooler in front of PostgreSQL does not support. */
  readonly onPoolerLimitation?: ((limitation: TransactionPoolerLimitation) => void) | undefined;
  /** The folder in which the embedded database stores its data; undefined to keep the data in memory. */
  readonly folder?: string | undefined;
  /**
   * Called again and again while another process uses the folder, for some seconds at most. If the function
   * returns false, opening no longer waits for the end of that process and fails at once.
   */
  readonly isWaitForFolderUseful?: (() => boolean) | undefined;
  /** The file system in which the embedded database stores its data, instead of a folder. For tests. */
  readonly filesystem?: PGliteFilesystem | undefined;
  /**
   * Called with an explanation for the operator when the embedded database has crashed. Must end the process.
   * By default, the explanation is written to standard error, and the process ends with exit code 1.
   */
  readonly onEmbeddedDatabaseCrash?: ((explanation: string) => never) | undefined;
  /** Called for every SQL statement. Tests use this function to count statements. */
  readonly onStatement?: ((event: LogEvent) => void) | undefined;
}

export interface OpenedDatabase {
  readonly engine: "pglite" | "postgres";
  readonly db: Database;
  /**
   * Runs SQL scripts on a separate connection. A script has one or more statements; its result has the rows
   * of each statement.
   */
  script: SqlScriptConnectionProvider;
  /** Runs SQL scripts like `script`, but with the database role that owns the tables. */
  ownerScript: SqlScriptConnectionProvider;
  /**
   * Listens for notices on a channel. With the embedded database there is only one process, so no notice can
   * be missed.
   */
  listen(channel: string, handlers: InterProcessNoticeHandlers): InterProcessNoticeListener;
  /**
   * Returns the state of the connection pool; undefined for the embedded database, which has a single
   * connection.
   */
  pool(): DatabaseConnectionPoolCounts | undefined;
  close(): Promise<void>;
}

export interface DatabaseConnectionPoolCounts {
  readonly max: number;
  readonly total: number;
  readonly idle: number;
  /** Number of callers that wait for a database connection to run a statement. */
  readonly waiting: number;
}

export type SqlScriptConnectionProvider = <Result>(
  work: (run: SqlScriptRunner) => Promise<Result>,
) => Promise<Result>;

export type SqlScriptRunner = (sql: string) => Promise<Record<string, unknown>[][]>;

/** The folder of the embedded database inside DATA_DIR. */
export const embeddedDatabaseFolder = "database";

const connectTimeoutMs = 2500;
/**
 * Time limit in milliseconds for connecting to the database before an SQL script runs. Scripts run when the
 * process starts, while the machine may be busy and no caller waits, so this limit is longer than that of
 * requests.
 */
const scriptConnectTimeoutMs = 15_000;

export async function openDatabase(options: DatabaseOptions): Promise<OpenedDatabase> {
  return options.url === undefined ? openEmbedded(options) : openPostgres(options, options.url);
}

async function openEmbedded(options: DatabaseOptions): Promise<OpenedDatabase> {
  const {
    folder,
    filesystem,
    isWaitForFolderUseful,
    onEmbeddedDatabaseCrash: onCrash,
    onStatement,
  } = options;
  const release =
    folder === undefined ? (): void => undefined : await createAndLockFolder(folder, isWaitForFolderUseful);
  try {
    // The module `pglite.ts` is imported only here and only when needed, so that processes that use
    // PostgreSQL do not load PGlite.
    const { listenForPGliteNotices, openPGlite, SingleConnectionPGliteDialect } = await import("./pglite.ts");
    const pglite = await openPGlite({
      filesystem,
      onCrash,
      dataDir: folder === undefined ? undefined : join(folder, embeddedDatabaseFolder),
    });
    const db = new Kysely<Tables>({
      dialect: createNestedConnectionGuardDialect(
        createTracedKyselyDialect(
          createPipelinedKyselyDialect(new SingleConnectionPGliteDialect({ pglite }), { isPipelined: false }),
        ),
      ),
      plugins: [camelCase()],
      ...logOption(onStatement),
    });
    // Kysely closes PGlite only if at least one statement has been run. Otherwise `close` must close PGlite
    // itself.
    const close = async (): Promise<void> => {
      await db.destroy();
      if (!pglite.closed) await pglite.close();
      release();
    };
    const run: SqlScriptRunner = async (text) => (await pglite.exec(text)).map((result) => result.rows);
    const script: SqlScriptConnectionProvider = (work) => work(run);
    return {
      engine: "pglite",
      db,
      script,
      ownerScript: script,
      listen: (channel, { onNotice }) => listenForPGliteNotices({ pglite, db, channel }, onNotice),
      pool: () => undefined,
      close,
    };
  } catch (error) {
    release();
    throw error;
  }
}

async function createAndLockFolder(folder: string, isWaitUseful?: () => boolean): Promise<() => void> {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return await waitForDataFolderLock(folder, isWaitUseful);
  } catch (error) {
    throw toDataFolderUnusableError(folder, error);
  }
}

async function openPostgres(options: DatabaseOptions, url: string): Promise<OpenedDatabase> {
  const connection = {
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser: typeParser },
  };
  const pool = new Pool({
    ...connection,
    connectionString: url,
    max: options.poolSize ?? 10,
    // One connection stays open, so that the regular statements of an idle process need no new connection.
    min: 1,
    pipeline: true,
    application_name: "commerce-gateway",
    ...getPostgresTimeoutOptions(options.limits),
  });
  // The pool replaces a connection that breaks while it is idle. Without this listener, the error event would
  // end the process.
  pool.on("error", () => undefined);
  // A connection that breaks while it is in use makes its statement fail, so its error event needs no
  // handling. Without this listener, the event would end the process.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const dialect = new PostgresDialect({
    pool: createPreparedStatementConnectionPool(pool, {
      prepared: options.prepared !== false,
      limits: options.limits,
      onPoolerLimitation: options.onPoolerLimitation,
      comments: options.comments,
      onCanceledStatement: options.onCanceledStatement,
      onRefusedRow: options.onRefusedRow,
    }),
  });
  const db = new Kysely<Tables>({
    dialect: createNestedConnectionGuardDialect(
      createTracedKyselyDialect(createPipelinedKyselyDialect(dialect, { isPipelined: true })),
    ),
    plugins: [camelCase()],
    ...logOption(options.onStatement),
  });
  const direct = { ...connection, connectionString: options.directUrl ?? url };
  const script = createSqlScriptFunction(direct);
  const ownerScript = createSqlScriptFunction({
    ...direct,
    connectionString: options.ownerUrl ?? direct.connectionString,
  });
  const receive: OpenedDatabase["listen"] = (channel, handlers) =>
    listenForInterProcessNotices({ connection: direct, channel, db }, handlers);
  const state = (): DatabaseConnectionPoolCounts => ({
    max: pool.options.max,
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  });
  return {
    engine: "postgres",
    db,
    script,
    ownerScript,
    listen: receive,
    pool: state,
    close: () => db.destroy(),
  };
}

/** Creates the function that runs SQL scripts on a new connection. */
const createSqlScriptFunction =
  (connection: ClientConfig): SqlScriptConnectionProvider =>
  async (work) => {
    const client = new Client({ ...connection, connectionTimeoutMillis: scriptConnectTimeoutMs });
    await client.connect();
    try {
      return await work(async (text) => {
        const results: unknown = await client.query(text);
        return (Array.isArray(results) ? results : [results]).map(
          (result: QueryResult<Record<string, unknown>>) => result.rows,
        );
      });
    } finally {
      await client.end();
    }
  };

const camelCase = (): CamelCasePlugin => new CamelCasePlugin({ maintainNestedObjectKeys: true });

const logOption = (onStatement: DatabaseOptions["onStatement"]): { log?: (event: LogEvent) => void } =>
  onStatement === undefined ? {} : { log: onStatement };

/**
 * Parses bigint values as numbers. All of them are safe integers, because amounts are checked when they are
 * written and counters never become that large.
 */
const typeParser: CustomTypesConfig["getTypeParser"] = (oid, format) =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
