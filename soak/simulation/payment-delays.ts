/**
 * Checks the times of payment operations. Faults delay an operation, so no fixed limit would fit: each fault
 * may cost one attempt, and each attempt without an outcome a pause. The attempts are therefore compared with
 * the faults of the seed, and the time of an operation with its attempts.
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

/** A lease ends after 30 s. The pauses after the first four attempts are shorter, the later ones take 60 s. */
const leaseMs = 30_000;
const shortPauses = 4;
const longPauseMs = 60_000;
/** A process searches every 2 s. A search fails if its connection is cut, so more than one may be needed. */
const searchesMs = 10_000;

/** Returns a text for each operation that took longer than its attempts explain, and for needless attempts. */
export async function findLatePayments(db: Database, faultCount: number): Promise<string[]> {
  const operations = await loadSettledOperations(db);
  const repeated = operations.reduce((sum, { attempts }) => sum + attempts - 1, 0);
  const late = operations.filter(({ attempts, waitedMs }) => waitedMs > getLongestWaitMs(attempts));
  return [
    ...(repeated > faultCount
      ? [`Payment operations were repeated ${repeated} times, but there were only ${faultCount} faults.`]
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
 * order is left out: it waits on purpose, for up to 15 minutes. Operations of a payment run one after the
 * other.
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
