/**
 * Opens the database: PostgreSQL if a URL is given, otherwise the embedded PGlite. Higher layers use one
 * Kysely interface for both.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CamelCasePlugin, Kysely, type LogEvent, PostgresDialect } from "kysely";
import { Client, type CustomTypesConfig, Pool, type QueryResult, types } from "pg";
import { guardDialect, pipelinedDialect } from "./transaction-dialect.ts";
import { lockFolder, toFolderError } from "./folder-lock.ts";
import {
  listenerWithoutOthers,
  type NoticeHandlers,
  listenForNotices,
  type NoticeListener,
} from "./notices.ts";
import { type StatementLimits, createStatementPool } from "./statement-pool.ts";
import type { Tables } from "./tables.ts";
import { tracedDialect } from "./traced-dialect.ts";

export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  /** The URL of PostgreSQL; undefined for the embedded database. */
  readonly url?: string | undefined;
  /** The URL for migrations and LISTEN, which do not work through a transaction pooler. */
  readonly directUrl?: string | undefined;
  readonly poolSize?: number;
  readonly prepared?: boolean;
  /** Time limits of statements; undefined for no limits. */
  readonly limits?: StatementLimits | undefined;
  /** The folder of the embedded database; undefined to keep it in memory. */
  readonly folder?: string | undefined;
  /** A dump from which a new embedded database starts. */
  readonly image?: Blob | undefined;
  /** Called for every statement, for tests that count statements. */
  readonly onStatement?: ((event: LogEvent) => void) | undefined;
}

export interface OpenedDatabase {
  readonly engine: "pglite" | "postgres";
  readonly db: Database;
  /** Runs scripts of several statements on a separate connection; returns the rows of each statement. */
  script<Result>(work: (run: RunSqlScript) => Promise<Result>): Promise<Result>;
  /**
   * Receives notices of other processes on the database. The embedded database has only one process, so it
   * misses no notice.
   */
  listen(channel: string, handlers: NoticeHandlers): NoticeListener;
  /** The state of the connection pool; undefined for the embedded database, which has one connection. */
  pool(): PoolState | undefined;
  close(): Promise<void>;
}

export interface PoolState {
  readonly max: number;
  readonly total: number;
  readonly idle: number;
  /** Statements that wait for a connection. */
  readonly waiting: number;
}

export type RunSqlScript = (sql: string) => Promise<Record<string, unknown>[][]>;

const connectTimeoutMs = 2500;
/** Connect timeout of scripts. Scripts run at start, when the machine may be busy and no caller waits. */
const scriptConnectTimeoutMs = 15_000;

export async function openDatabase(options: DatabaseOptions): Promise<OpenedDatabase> {
  return options.url === undefined ? openEmbedded(options) : openPostgres(options, options.url);
}

async function openEmbedded({ folder, image, onStatement }: DatabaseOptions): Promise<OpenedDatabase> {
  const release = folder === undefined ? (): void => undefined : takeFolder(folder);
  try {
    // PGlite is loaded only if no PostgreSQL is configured.
    const { openPGlite, SerialPGliteDialect } = await import("./pglite.ts");
    const pglite = await openPGlite({
      image,
      dataDir: folder === undefined ? undefined : join(folder, "database"),
    });
    const db = new Kysely<Tables>({
      dialect: guardDialect(
        tracedDialect(pipelinedDialect(new SerialPGliteDialect({ pglite }), { isPipelined: false })),
      ),
      plugins: [camelCase()],
      ...logOption(onStatement),
    });
    // Kysely closes the database only if it has used it.
    const close = async (): Promise<void> => {
      await db.destroy();
      if (!pglite.closed) await pglite.close();
      release();
    };
    const run: RunSqlScript = async (text) => (await pglite.exec(text)).map((result) => result.rows);
    return {
      engine: "pglite",
      db,
      script: (work) => work(run),
      listen: () => listenerWithoutOthers,
      pool: () => undefined,
      close,
    };
  } catch (error) {
    release();
    throw error;
  }
}

function takeFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return lockFolder(folder);
  } catch (error) {
    throw toFolderError(folder, error);
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
    pipeline: true,
    application_name: "commerce-gateway",
  });
  // A connection that breaks while idle is replaced at its next use. Without this listener, the error would
  // end the process.
  pool.on("error", () => undefined);
  // A connection that breaks while it is in use makes its statement fail; the event itself can be ignored.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const dialect = new PostgresDialect({
    pool: createStatementPool(pool, { prepared: options.prepared !== false, limits: options.limits }),
  });
  const db = new Kysely<Tables>({
    dialect: guardDialect(tracedDialect(pipelinedDialect(dialect, { isPipelined: true }))),
    plugins: [camelCase()],
    ...logOption(options.onStatement),
  });
  const direct = { ...connection, connectionString: options.directUrl ?? url };
  const script: OpenedDatabase["script"] = async (work) => {
    const client = new Client({ ...direct, connectionTimeoutMillis: scriptConnectTimeoutMs });
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
  const receive: OpenedDatabase["listen"] = (channel, handlers) =>
    listenForNotices({ connection: direct, channel, db }, handlers);
  const state = (): PoolState => ({
    max: pool.options.max,
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  });
  return { engine: "postgres", db, script, listen: receive, pool: state, close: () => db.destroy() };
}

const camelCase = (): CamelCasePlugin => new CamelCasePlugin({ maintainNestedObjectKeys: true });

const logOption = (onStatement: DatabaseOptions["onStatement"]): { log?: (event: LogEvent) => void } =>
  onStatement === undefined ? {} : { log: onStatement };

/**
 * Parses bigint as a number. All values are safe integers, because amounts are checked and counters stay far
 * below the limit.
 */
const typeParser: CustomTypesConfig["getTypeParser"] = (oid, format) =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
