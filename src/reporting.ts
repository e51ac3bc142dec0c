/** What reports need while the service runs: where they are read, and the counting of what is searched for. */
import type { LogEvent } from "kysely";
import { createSearchCounts } from "#commerce/search/search-counts.ts";
import { type OpenDatabase, openDatabase } from "#database/connect.ts";
import { createReadOnly, reportMsMax } from "#database/read-only.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices } from "#graph/context.ts";
import type { Settings } from "./settings.ts";

export interface Reporting {
  readonly services: Pick<GraphServices, "readOnly" | "searchCounts">;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface ReportingOptions {
  readonly settings: Settings;
  readonly database: OpenDatabase;
  readonly clock: Clock;
  readonly log: Log;
  readonly onStatement: ((event: LogEvent) => void) | undefined;
}

/** Few: on the replica reports wait for each other, and nobody for them. */
const replicaConnections = 4;

/** Beside the shop, two of three connections are always its own. */
const besideShop = (connections: number): number => Math.max(1, Math.min(replicaConnections, Math.floor(connections / 3)));

export async function createReporting({ settings, database, clock, log, onStatement }: ReportingOptions): Promise<Reporting> {
  const { databaseReadUrl: url, databasePrepared: prepared, databasePool } = settings;
  // A second longer than the statements may take, so that the database is the one that ends them.
  const limits = { aloneMs: reportMsMax + 1_000, inTransactionMs: reportMsMax + 1_000 };
  const replica = url === undefined ? undefined : await openDatabase({ url, poolSize: replicaConnections, prepared, limits, onStatement });
  // The embedded database has one connection.
  const shared = database.engine === "pglite" ? 1 : besideShop(databasePool);
  const readOnly =
    replica === undefined ? createReadOnly(database.db, { runningMax: shared }) : createReadOnly(replica.db, { runningMax: replicaConnections });
  const searchCounts = createSearchCounts({ db: database.db, clock, log });
  return {
    services: { readOnly, searchCounts },
    start: searchCounts.start,
    stop: async () => {
      await searchCounts.stop();
      await replica?.close();
    },
  };
}
