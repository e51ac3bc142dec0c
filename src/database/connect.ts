/**
 * Opens the database: PostgreSQL where a URL is given, else the embedded PGlite. What stands above sees one
 * Kysely either way, and never which of the two it is.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { CamelCasePlugin, Kysely, type LogEvent, PostgresDialect } from "kysely";
import { Client, type CustomTypesConfig, Pool, type QueryResult, types } from "pg";
import { guardDialect, pipelinedDialect } from "./transaction-dialect.ts";
import { lockFolder, unusable } from "./folder-lock.ts";
import { alone, type Hearing, listen, type Listening } from "./notices.ts";
import { type StatementLimits, statementPool } from "./statement-pool.ts";
import type { Tables } from "./tables.ts";
import { tracedDialect } from "./traced-dialect.ts";

export type Database = Kysely<Tables>;

export interface DatabaseOptions {
  /** PostgreSQL; without it the embedded database. */
  readonly url?: string | undefined;
  /** For migrations and LISTEN, which cannot go through a transaction pooler. */
  readonly directUrl?: string | undefined;
  readonly poolSize?: number;
  readonly prepared?: boolean;
  /** How long PostgreSQL may take to answer a statement; without it, as long as it wants. */
  readonly limits?: StatementLimits | undefined;
  /** Where the embedded database lies; without it, it lives in memory. */
  readonly folder?: string | undefined;
  /** A dump of an embedded database, which a new one starts from. */
  readonly image?: Blob | undefined;
  /** Told of every statement, for tests that count them. */
  readonly onStatement?: ((event: LogEvent) => void) | undefined;
}

export interface OpenDatabase {
  readonly engine: "pglite" | "postgres";
  readonly db: Database;
  /** Runs a script of several statements on one connection of its own and gives the rows of each. */
  script<Result>(work: (run: RunScript) => Promise<Result>): Promise<Result>;
  /**
   * Hears what other processes on this database tell. The embedded one has no others, so that nothing is ever
   * missed.
   */
  listen(channel: string, hearing: Hearing): Listening;
  /** Undefined: the embedded one has one connection, which goes round. */
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

export type RunScript = (sql: string) => Promise<Record<string, unknown>[][]>;

const connectTimeoutMs = 2500;
/**
 * Of what is run once, at a start: nobody waits for an answer, and a machine that starts many things at once
 * is slow.
 */
const scriptConnectTimeoutMs = 15_000;

export async function openDatabase(options: DatabaseOptions): Promise<OpenDatabase> {
  return options.url === undefined ? openEmbedded(options) : openPostgres(options, options.url);
}

async function openEmbedded({ folder, image, onStatement }: DatabaseOptions): Promise<OpenDatabase> {
  const release = folder === undefined ? (): void => undefined : takeFolder(folder);
  try {
    // Loaded by whoever has no PostgreSQL alone.
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
      ...logOf(onStatement),
    });
    // Kysely closes only what it has used.
    const close = async (): Promise<void> => {
      await db.destroy();
      if (!pglite.closed) await pglite.close();
      release();
    };
    const run: RunScript = async (text) => (await pglite.exec(text)).map((result) => result.rows);
    return {
      engine: "pglite",
      db,
      script: (work) => work(run),
      listen: () => alone,
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
    throw unusable(folder, error);
  }
}

async function openPostgres(options: DatabaseOptions, url: string): Promise<OpenDatabase> {
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
  // A connection that breaks while idle is replaced at its next use; without a listener it would end the
  // process.
  pool.on("error", () => undefined);
  // One that breaks while it is in use: whoever uses it is told by its statement.
  pool.on("connect", (client) => client.on("error", () => undefined));
  const dialect = new PostgresDialect({
    pool: statementPool(pool, { prepared: options.prepared !== false, limits: options.limits }),
  });
  const db = new Kysely<Tables>({
    dialect: guardDialect(tracedDialect(pipelinedDialect(dialect, { isPipelined: true }))),
    plugins: [camelCase()],
    ...logOf(options.onStatement),
  });
  const direct = { ...connection, connectionString: options.directUrl ?? url };
  const script: OpenDatabase["script"] = async (work) => {
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
  const hear: OpenDatabase["listen"] = (channel, hearing) =>
    listen({ connection: direct, channel, db }, hearing);
  const state = (): PoolState => ({
    max: pool.options.max,
    total: pool.totalCount,
    idle: pool.idleCount,
    waiting: pool.waitingCount,
  });
  return { engine: "postgres", db, script, listen: hear, pool: state, close: () => db.destroy() };
}

const camelCase = (): CamelCasePlugin => new CamelCasePlugin({ maintainNestedObjectKeys: true });

const logOf = (onStatement: DatabaseOptions["onStatement"]): { log?: (event: LogEvent) => void } =>
  onStatement === undefined ? {} : { log: onStatement };

/** bigint as a number: no column may leave the safe range (amounts are checked, counters never get there). */
const typeParser: CustomTypesConfig["getTypeParser"] = (oid, format) =>
  oid === types.builtins.INT8 ? Number : types.getTypeParser(oid, format);
