/**
 * Measures by how many seconds the read replica is behind the primary database. Once a second, reads the
 * current position in the write-ahead log (WAL) of both servers. The lag is the age of the oldest position of
 * the primary that the replica has not replayed yet. The clocks of the two servers are not compared. The lag
 * is also right if nothing is written to the primary, or if the replica has lost its connection to the
 * primary.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Log } from "#foundation/log.ts";

export interface ReplicaLagMonitor {
  /** Returns the lag in seconds; 0 if the replica has replayed everything or its lag cannot be measured. */
  readonly lagSeconds: () => number;
  /** Returns true if the lag is longer than the setting DATABASE_READ_LAG_MAX. */
  readonly isBehind: () => boolean;
  /** Measures the lag once. */
  readonly measure: () => Promise<void>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface ReplicaLagMonitorOptions {
  readonly primary: Database;
  readonly replica: Database;
  readonly lagSecondsMax: number;
  readonly log: Log;
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly nowMs?: () => number;
}

interface PrimaryPosition {
  /** The position of the primary in the WAL: the number of bytes that were ever written to the WAL. */
  readonly position: number;
  readonly atMs: number;
}

const intervalMs = 1_000;
/** Maximum number of remembered positions of the primary. If there are more, every second position is dropped. */
const positionsMax = 600;

export function createReplicaLagMonitor({
  primary,
  replica,
  lagSecondsMax,
  log,
  nowMs = () => performance.now(),
}: ReplicaLagMonitorOptions): ReplicaLagMonitor {
  /** The positions of the primary that the replica had not replayed at the last measurement, oldest first. */
  let missing: readonly PrimaryPosition[] = [];
  let wasBehind = false;
  let isMeasurable = true;
  let timer: NodeJS.Timeout | undefined;
  let measuring: Promise<void> = Promise.resolve();

  const lagSeconds = (): number => {
    const [oldest] = missing;
    return oldest === undefined || !isMeasurable ? 0 : (nowMs() - oldest.atMs) / 1000;
  };
  const isBehind = (): boolean => lagSeconds() > lagSecondsMax;
  const reportChange = (): void => {
    if (isBehind() === wasBehind) return;
    wasBehind = !wasBehind;
    if (wasBehind)
      log.warn({ event: "replica_behind" }, `The replica is more than ${lagSecondsMax} s behind. ${effect}`);
    else log.info({ event: "replica_caught_up" }, "The replica has caught up, and is read again.");
  };
  const notePrimary = (position: number, atMs: number): void => {
    // After a restore of the primary, its WAL can begin at an earlier position. The remembered positions are
    // then dropped.
    if (position < (missing.at(-1)?.position ?? 0)) missing = [];
    if (missing.length > positionsMax) missing = missing.filter((_, index) => index % 2 === 0);
    missing = [...missing, { position, atMs }];
  };
  const noteReplica = ({ isStandby, position }: ReplicaState): void => {
    if (isStandby !== isMeasurable && !isStandby) log.warn({ event: "replica_lag_unknown" }, notMeasurable);
    isMeasurable = isStandby;
    missing = missing.filter((primaryPosition) => primaryPosition.position > (position ?? 0));
  };
  const measure = async (): Promise<void> => {
    const atMs = nowMs();
    // If the primary or the replica does not answer, its last known position is used.
    const position = await readPrimaryPosition(primary).catch(() => undefined);
    if (position !== undefined) notePrimary(position, atMs);
    const state = await readReplicaState(replica).catch(() => undefined);
    if (state !== undefined) noteReplica(state);
    reportChange();
  };
  const run = (): void => {
    measuring = measure().finally(() => {
      if (timer !== undefined) timer = setTimeout(run, intervalMs);
    });
  };
  return {
    lagSeconds,
    isBehind,
    measure,
    start: () => {
      timer = setTimeout(run, 0);
    },
    stop: async () => {
      clearTimeout(timer);
      timer = undefined;
      await measuring;
    },
  };
}

const effect = "Public reads and analysts use the primary database until the replica has caught up.";
const notMeasurable =
  "DATABASE_READ_URL does not name a streaming replica, so its lag is unknown, and it is always read.";

async function readPrimaryPosition(primary: Database): Promise<number> {
  const { rows } = await sql<{ position: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::bigint as position`.execute(primary);
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no WAL position.");
  return row.position;
}

interface ReplicaState {
  readonly isStandby: boolean;
  /** The WAL position up to which the replica has replayed; null if the server is not a standby. */
  readonly position: number | null;
}

async function readReplicaState(replica: Database): Promise<ReplicaState> {
  const { rows } = await sql<ReplicaState>`select pg_is_in_recovery() as "isStandby",
    pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint as position`.execute(replica);
  return rows[0] ?? { isStandby: false, position: null };
}
