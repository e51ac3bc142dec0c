/** Opens the database and the rate limiter that the settings describe. */
import type { LogEvent } from "kysely";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { isDatabaseUnreachableError } from "#database/database-errors.ts";
import { migrate, requireMigratedDatabase } from "#database/migrate.ts";
import {
  type RefusedSqlStatement,
  type TimedOutSqlStatement,
  requestStatementLimits,
} from "#database/statement-pool.ts";
import type { TransactionPoolerLimitation } from "#database/statement-sender.ts";
import { getStatementVerbAndTable } from "#database/traced-dialect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import { getCurrentRequestIdAndRoute } from "#foundation/request-origin.ts";
import { createMemoryRateLimiter, type RateLimiter } from "#http/rate-limiter.ts";
import { createVerifiedEncryptionKeyring } from "./encryption-canaries.ts";
import { getRateLimitQuotaFactors, type ServiceSettings } from "./settings.ts";

export interface OpenServiceResourcesOptions {
  readonly settings: ServiceSettings;
  readonly log: Log;
  readonly onStatement?: (event: LogEvent) => void;
  /** The rate limiter to use; if left out, the rate limiter that the settings describe is created. */
  readonly limiter?: RateLimiter | undefined;
}

export async function createConfiguredRateLimiter(
  { settings, log, limiter }: OpenServiceResourcesOptions,
  clock: Clock,
): Promise<RateLimiter> {
  if (limiter !== undefined) return limiter;
  const { redisUrl } = settings;
  const scale = getRateLimitQuotaFactors(settings);
  if (redisUrl === undefined) return createMemoryRateLimiter(scale, () => clock.now().getTime());
  const { createRedisRateLimiter } = await import("#http/redis-limiter.ts");
  return createRedisRateLimiter(redisUrl, scale, log);
}

const poolerWarnings: Readonly<Record<TransactionPoolerLimitation, string>> = {
  unnamed_statements:
    "names a transaction pooler that does not support named statements, so statements are sent without names " +
    "from now on. Set DATABASE_PREPARED=0 to send them without names from the start.",
  no_server_timeouts:
    "names a pooler that does not accept the time limits of the service for its sessions. Set " +
    "statement_timeout and idle_in_transaction_session_timeout for the database role instead.",
};

/**
 * Creates the function that logs which features a connection pooler (for example PgBouncer) lacks. `setting`
 * is the name of the setting that contains the URL of the pooler.
 */
export const createPoolerLimitationLogger =
  (log: Log, setting: string) =>
  (limitation: TransactionPoolerLimitation): void =>
    log.warn({ event: "pooler_found" }, `${setting} ${poolerWarnings[limitation]}`);

/**
 * Creates the function that logs which statement was canceled after its time limit, and the request that ran
 * it. The log line contains the verb and the first table of the statement, because some texts have thousands
 * of characters.
 */
export const createCanceledStatementLogger =
  (log: Log) =>
  ({ text, ms }: TimedOutSqlStatement): void =>
    log.warn(
      { event: "statement_canceled", ...describeStatementAndRequest(text), ms },
      "An SQL statement was canceled because of its time limit.",
    );

/**
 * Creates the function that logs which statement PostgreSQL refused because it wrote a row of another
 * merchant than that of its transaction. Such a statement is an error of the service: its own condition is
 * missing.
 */
const createRefusedRowLogger =
  (log: Log) =>
  ({ text, reason }: RefusedSqlStatement): void =>
    log.error(
      { event: "foreign_row_refused", ...describeStatementAndRequest(text), reason },
      "PostgreSQL refused to write a row of another merchant than that of the transaction.",
    );

/** Creates a function that logs a crash of the embedded database and ends the process. */
const createEmbeddedDatabaseCrashHandler =
  (log: Log) =>
  (explanation: string): never => {
    log.fatal({ event: "embedded_database_crashed" }, explanation);
    process.exit(1);
  };

/** Returns the verb and the first table of a statement, and the request that runs it, for a log line. */
function describeStatementAndRequest(text: string): Readonly<Record<string, string | null | undefined>> {
  const { requestId, operationId, route } = getCurrentRequestIdAndRoute() ?? {};
  return { requestId, operationId, route, statement: getStatementVerbAndTable(text) };
}

export async function openConfiguredDatabase({
  settings,
  log,
  onStatement,
}: OpenServiceResourcesOptions): Promise<OpenedDatabase> {
  const database = await openDatabase({
    url: settings.databaseUrl,
    directUrl: settings.databaseDirectUrl,
    ownerUrl: settings.databaseOwnerUrl,
    poolSize: settings.databasePool,
    prepared: settings.databasePrepared,
    limits: requestStatementLimits,
    comments: settings.databaseComments,
    onCanceledStatement: createCanceledStatementLogger(log),
    onRefusedRow: createRefusedRowLogger(log),
    onPoolerLimitation: createPoolerLimitationLogger(log, "DATABASE_URL"),
    folder: settings.databaseUrl === undefined ? settings.dataDir : undefined,
    onEmbeddedDatabaseCrash: createEmbeddedDatabaseCrashHandler(log),
    onStatement,
  });
  try {
    const limits = { onRetry: (reason: string) => log.warn({ event: "migration_waits" }, reason) };
    await (settings.migrate ? migrate(database, undefined, limits) : requireMigratedDatabase(database));
    await retryConnection(() => createVerifiedEncryptionKeyring(database.db, settings));
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Maximum number of attempts to open the first connection of the database pool. */
const connectAttemptsMax = 4;

/**
 * Runs the first queries of the connection pool, and repeats them if the database seems to be unreachable. On
 * a busy machine, a starting process can be too slow to read the database's answer before the timeout of a
 * new connection.
 */
async function retryConnection(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt >= connectAttemptsMax || !isDatabaseUnreachableError(error)) throw error;
    }
  }
}
