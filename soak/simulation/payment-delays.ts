/**
 * Checks how often payment operations were repeated, and how long they took. Each repetition needs a fault,
 * so there may not be more repetitions than the faults explain. Each repetition may add one pause, so the
 * allowed time grows with the attempts.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";

interface SettledOperation {
  readonly id: string;
  readonly kind: string;
  readonly attempts: number;
  /** Milliseconds from the moment at which the operation could begin until its outcome was saved. */
  readonly waitedMs: number;
}

/**
 * A lease ends after 30 s. The pauses after the first four attempts are shorter, the later ones take 60 s.
 * The times are not imported from the service, because planted faults change them there.
 */
const leaseMs = 30_000;
const shortPauses = 4;
const longPauseMs = 60_000;
/**
 * A process without work searches every 30 s, and later if its search fails because the connection is cut. A
 * process with work searches every 2 s.
 */
const searchesMs = 40_000;
/** The largest number of operations that a process runs at the same time, and that its end can interrupt. */
const operationsPerProcess = 5;

/** The faults of a seed because of which an attempt may have no outcome. */
export interface FaultsOfPayments {
  readonly kills: number;
  readonly cuts: number;
  /** The number of requests to the payment provider that were lost, or whose answer was. */
  readonly lostPayments: number;
}

/** Returns a text for each operation that took too long, and one if there were too many repetitions. */
export async function findLatePayments(
  db: Database,
  { kills, cuts, lostPayments }: FaultsOfPayments,
): Promise<string[]> {
  const operations = await loadSettledOperations(db);
  const repetitions = operations.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  const repetitionsMax = kills * operationsPerProcess + cuts + lostPayments;
  const late = operations.filter(({ attempts, waitedMs }) => waitedMs > getLongestWaitMs(attempts));
  return [
    ...(repetitions > repetitionsMax
      ? [`Payment operations were repeated ${repetitions} times; the faults explain ${repetitionsMax} times.`]
      : []),
    ...late.map(
      ({ id, kind, attempts, waitedMs }) =>
        `The ${kind} ${id} had an outcome only after ${waitedMs} ms and ${attempts} attempts.`,
    ),
  ];
}

/**
 * Returns the longest time in which an operation must have an outcome. An attempt without one is followed by
 * a pause, or by the end of its lease if its process was killed. Then a process searches for the operation.
 */
function getLongestWaitMs(attempts: number): number {
  const pauses = attempts - 1;
  const short = Math.min(pauses, shortPauses);
  return short * leaseMs + (pauses - short) * longPauseMs + searchesMs;
}

/**
 * Loads the attempted operations for which a buyer or the merchant waits. The void of a payment without an
 * order is left out: the pauses after its attempts take 1 to 15 minutes. Operations of a payment run one
 * after the other.
 */
async function loadSettledOperations(db: Database): Promise<readonly SettledOperation[]> {
  const { rows } = await sql<SettledOperation>`
    select o.id, o.kind, o.attempts,
      (1000 * extract(epoch from o.settled_at - greatest(o.created_at, (
        select max(e.settled_at) from payment_operation e
        where e.payment_id = o.payment_id and (e.created_at, e.id) < (o.created_at, o.id)))))::integer as waited_ms
    from payment_operation o join payment p on p.id = o.payment_id
    where o.settled_at is not null and o.attempts > 0 and (o.kind <> 'void' or p.order_id is not null)
    order by o.id`.execute(db);
  return rows;
}
