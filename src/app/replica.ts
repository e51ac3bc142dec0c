/**
 * Opens the read replica of the database (setting DATABASE_READ_URL) for reports and for reads without a
 * credential, and creates the services that run reports and count searches. Without a replica, reports run on
 * the primary database.
 */
import type { LogEvent } from "kysely";
import { createSearchQueryCounter } from "#commerce/search/search-counts.ts";
import { type Database, type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { createReportQueryRunner, type ReportQueryRunner, reportTimeoutMs } from "#database/read-only.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphqlServices, ReplicaReadSources } from "#graph/context.ts";
import { requestStatementLimits, type SqlStatementTimeouts } from "#database/statement-pool.ts";
import {
  createCartOrderAndProductReadCoalescers,
  type KnownCartsAndOrders,
} from "#graph/shared-aggregate-reads.ts";
import { createCanceledStatementLogger, createPoolerLimitationLogger } from "./open-resources.ts";
import { createReplicaLagMonitor, type ReplicaLagMonitor } from "./replica-lag.ts";
import type { ServiceSettings } from "./settings.ts";

export interface ReportRunnerAndSearchCounter {
  readonly services: Pick<GraphqlServices, "readOnly" | "searchCounts">;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface ReportRunnerAndSearchCounterOptions {
  readonly settings: ServiceSettings;
  readonly database: OpenedDatabase;
  readonly replica: ReplicaReadSources | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** The maximum number of reports that run concurrently on the replica; further reports wait. */
const runningMax = 4;

/**
 * Returns the maximum number of reports that run at the same time on the primary database: a third of its
 * connections (at least 1, at most 4), so that the other connections are always free for requests. For the
 * embedded database, which has a single connection, returns 1.
 */
const reportsOnPrimary = ({ engine }: OpenedDatabase, connections: number): number =>
  engine === "pglite" ? 1 : Math.max(1, Math.min(runningMax, Math.floor(connections / 3)));

export function createReportRunnerAndSearchCounter({
  settings,
  database,
  replica,
  clock,
  log,
}: ReportRunnerAndSearchCounterOptions): ReportRunnerAndSearchCounter {
  const onPrimary = createReportQueryRunner(database.db, {
    runningMax: reportsOnPrimary(database, settings.databasePool),
  });
  const readOnly = replica === undefined ? onPrimary : createReplicaReportRunner(replica, onPrimary);
  const searchCounts = createSearchQueryCounter({ db: database.db, clock, log });
  return { services: { readOnly, searchCounts }, start: searchCounts.start, stop: searchCounts.stop };
}

/** Creates the function that runs reports on the replica, or on the primary while the replica is behind. */
function createReplicaReportRunner(
  { forAnalysts, isBehind }: ReplicaReadSources,
  onPrimary: ReportQueryRunner,
): ReportQueryRunner {
  const onReplica = createReportQueryRunner(forAnalysts.db, { runningMax });
  return (read) => (isBehind() ? onPrimary(read) : onReplica(read));
}

/**
 * The read replica of the database (DATABASE_READ_URL), with one connection pool for analysts, including
 * reports, and another for reads without a credential.
 */
export interface OpenedDatabaseReplica extends ReplicaReadSources {
  readonly lag: ReplicaLagMonitor;
  readonly close: () => Promise<void>;
}

interface ReplicaOptions {
  readonly settings: ServiceSettings;
  readonly primary: Database;
  readonly log: Log;
  readonly clock: Clock;
  /** The carts and orders that this process has read last; undefined if the process keeps none. */
  readonly known: KnownCartsAndOrders | undefined;
  readonly onStatement?: ((event: LogEvent) => void) | undefined;
}

/**
 * The number of replica connections for analysts: four for reports, which equals the maximum number of
 * concurrent reports, and four for other queries.
 */
const analystConnections = 8;
/**
 * The time limit in milliseconds for a database transaction of an analyst: one second longer than the time
 * limit of a report.
 */
const analystMs = reportTimeoutMs + 1_000;

/**
 * Opens the read replica; returns undefined if DATABASE_READ_URL is not set. The connection is made by the
 * first query.
 */
export async function openDatabaseReplica({
  settings,
  primary,
  clock,
  known,
  log,
  onStatement,
}: ReplicaOptions): Promise<OpenedDatabaseReplica | undefined> {
  const {
    databaseReadUrl: url,
    databasePrepared: prepared,
    databaseComments: comments,
    databasePool,
  } = settings;
  if (url === undefined) return undefined;
  const logging = {
    onStatement,
    onPoolerLimitation: createPoolerLimitationLogger(log, "DATABASE_READ_URL"),
    onCanceledStatement: createCanceledStatementLogger(log),
  };
  const open = (poolSize: number, limits: SqlStatementTimeouts): ReturnType<typeof openDatabase> =>
    openDatabase({ url, poolSize, prepared, comments, limits, ...logging });
  const analystReads = await open(analystConnections, {
    outsideTransactionMs: reportTimeoutMs,
    inTransactionMs: analystMs,
  });
  const publicReads = await open(databasePool, requestStatementLimits);
  const lag = createReplicaLagMonitor({
    primary,
    replica: publicReads.db,
    lagSecondsMax: settings.databaseReadLagSecondsMax,
    log,
  });
  return {
    lag,
    isBehind: lag.isBehind,
    forAnalysts: {
      db: analystReads.db,
      reads: createCartOrderAndProductReadCoalescers(analystReads.db, clock, known),
    },
    forPublicReads: {
      db: publicReads.db,
      reads: createCartOrderAndProductReadCoalescers(publicReads.db, clock, known),
    },
    close: async () => {
      await lag.stop();
      await Promise.all([analystReads.close(), publicReads.close()]);
    },
  };
}
