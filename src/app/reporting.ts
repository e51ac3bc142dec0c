/** What reports need while the service runs: where they are read, and the counting of what is searched for. */
import { createSearchCounts } from "#commerce/search/search-counts.ts";
import type { OpenDatabase } from "#database/connect.ts";
import { createReadOnly } from "#database/read-only.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import type { GraphServices, Replica } from "#graph/context.ts";
import type { Settings } from "./settings.ts";

export interface Reporting {
  readonly services: Pick<GraphServices, "readOnly" | "searchCounts">;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface ReportingOptions {
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

export function createReporting({ settings, database, replica, clock, log }: ReportingOptions): Reporting {
  const readOnly =
    replica === undefined
      ? createReadOnly(database.db, { runningMax: besideShop(database, settings.databasePool) })
      : createReadOnly(replica.ofAnalysts.db, { runningMax });
  const searchCounts = createSearchCounts({ db: database.db, clock, log });
  return { services: { readOnly, searchCounts }, start: searchCounts.start, stop: searchCounts.stop };
}
