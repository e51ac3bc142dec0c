/**
 * Where reports and public reads are read: a replica if DATABASE_READ_URL names one, else the primary; and
 * the counting of searches.
 */
import type { LogEvent } from "kysely";
import { createSearchCounts } from "#commerce/search/search-counts.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { createReadOnly, reportMsMax } from "#database/read-only.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices, Replica } from "#graph/context.ts";
import { shopLimits, type StatementLimits } from "#database/statement-pool.ts";
import { createReads } from "#graph/loaders.ts";
import type { Settings } from "./settings.ts";

export interface ReportServices {
  readonly services: Pick<GraphServices, "readOnly" | "searchCounts">;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface ReportServicesOptions {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly replica: Replica | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Few: on the replica reports wait for each other, and nobody for them. */
const runningMax = 4;

/** Beside the shop, two of three connections are always its own. The embedded database has one. */
const besideShop = ({ engine }: OpenDatabase, connections: number): number =>
  engine === "pglite" ? 1 : Math.max(1, Math.min(runningMax, Math.floor(connections / 3)));

export function createReportServices({
  settings,
  database,
  replica,
  clock,
  log,
}: ReportServicesOptions): ReportServices {
  const readOnly =
    replica === undefined
      ? createReadOnly(database.db, { runningMax: besideShop(database, settings.databasePool) })
      : createReadOnly(replica.ofAnalysts.db, { runningMax });
  const searchCounts = createSearchCounts({ db: database.db, clock, log });
  return { services: { readOnly, searchCounts }, start: searchCounts.start, stop: searchCounts.stop };
}

/**
 * The replica of DATABASE_READ_URL: for reports and whatever else analysts ask, and for what is public.
 * Neither takes the other's connections.
 */
export interface OpenReplica extends Replica {
  readonly close: () => Promise<void>;
}

interface ReplicaOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly onStatement: ((event: LogEvent) => void) | undefined;
}

/** Reports are read four at a time (`runningMax`): the other half is for what analysts ask meanwhile. */
const analystConnections = 8;
/** A second longer than the database takes to end a report by itself. */
const analystMs = reportMsMax + 1_000;

/** Undefined: there is none. Nothing is connected to before it is asked. */
export async function openReplica({
  settings,
  clock,
  onStatement,
}: ReplicaOptions): Promise<OpenReplica | undefined> {
  const { databaseReadUrl: url, databasePrepared: prepared, databasePool } = settings;
  if (url === undefined) return undefined;
  const open = (poolSize: number, limits: StatementLimits): ReturnType<typeof openDatabase> =>
    openDatabase({ url, poolSize, prepared, limits, onStatement });
  const analysts = await open(analystConnections, { aloneMs: reportMsMax, inTransactionMs: analystMs });
  const everybody = await open(databasePool, shopLimits);
  return {
    ofAnalysts: { db: analysts.db, reads: createReads(analysts.db, clock) },
    ofThePublic: { db: everybody.db, reads: createReads(everybody.db, clock) },
    close: async () => {
      await Promise.all([analysts.close(), everybody.close()]);
    },
  };
}
