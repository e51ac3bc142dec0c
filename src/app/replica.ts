/** The replica of DATABASE_READ_URL: for reports and whatever else analysts ask, and for what is public. Neither takes the other's connections. */
import type { LogEvent } from "kysely";
import { openDatabase } from "#database/connect.ts";
import { reportMsMax } from "#database/read-only.ts";
import { shopLimits, type StatementLimits } from "#database/statement-pool.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Replica } from "#graph/context.ts";
import { createReads } from "#graph/reads.ts";
import type { Settings } from "./settings.ts";

export interface OpenReplica extends Replica {
  readonly close: () => Promise<void>;
}

export interface ReplicaOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly onStatement: ((event: LogEvent) => void) | undefined;
}

/** Reports are read four at a time (reporting.ts): the other half is for what analysts ask meanwhile. */
const analystConnections = 8;
/** A second longer than the database takes to end a report by itself. */
const analystMs = reportMsMax + 1_000;

/** Undefined: there is none. Nothing is connected to before it is asked. */
export async function openReplica({ settings, clock, onStatement }: ReplicaOptions): Promise<OpenReplica | undefined> {
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
