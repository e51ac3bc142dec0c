/**
 * Creates the deliveries of new events: one for each endpoint that subscribes to the event and may read it.
 * The column `fanned_out_at` of each event records whether its deliveries exist, so that events of
 * transactions that commit late are not missed.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { catalogReadSubjectTypes } from "#webhooks/event-types.ts";

export const fanOutEventsMax = 200;
/** The largest number of rows per insert. A PostgreSQL statement can have 65,535 parameters; a row has 13. */
const rowsMax = 1_000;

export interface FanOutResult {
  readonly events: number;
  /** Endpoints with new due deliveries. */
  readonly endpointIds: readonly string[];
  /** W3C trace contexts of the requests that caused the events. Requests that were not traced have none. */
  readonly causes: readonly string[];
}

/** Creates the deliveries of one batch of new events, oldest first, in one transaction. */
export function fanOutEvents(db: Database, now: Date): Promise<FanOutResult> {
  return inTransaction(db, async (transaction) => {
    const taken = await takeEvents(transaction, now);
    const events = new Set(taken.map(({ eventId }) => eventId)).size;
    const matches = taken.filter((match): match is Match => match.endpointId !== null);
    const causes = [...new Set(taken.flatMap(({ traceparent }) => traceparent ?? []))];
    return { events, causes, endpointIds: await insertDeliveries(transaction, { matches, now }) };
  });
}

interface Match {
  readonly eventId: string;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly isAwaited: boolean;
  readonly traceparent: string | null;
}

/**
 * A new event with an endpoint that receives the event. The endpoint id is null if no endpoint receives the
 * event.
 */
type Taken =
  | Match
  | { readonly eventId: string; readonly endpointId: null; readonly traceparent: string | null };

/**
 * Marks the oldest new events as fanned out and matches them with endpoints. Events about carts, orders and
 * their parts go to installations that may read them. Events about one installation go only to that
 * installation, even after it is uninstalled. Events about an endpoint do not go to that endpoint. Endpoints
 * are not locked: a delivery to an endpoint that is disabled at the same moment is ended later by
 * `endUndeliverableDeliveries` in `sweeps.ts`.
 */
async function takeEvents(transaction: Transaction, now: Date): Promise<readonly Taken[]> {
  const { rows } = await sql<Taken>`
    with taken as (
      select id, merchant_id, installation_id, type, subject_type, subject_id, traceparent from event
      where fanned_out_at is null
      order by id limit ${fanOutEventsMax} for update skip locked
    ), fanned_out as (
      update event e set fanned_out_at = ${now}::timestamptz from taken where e.id = taken.id
    )
    select e.id as event_id, e.traceparent, w.id as endpoint_id, w.merchant_id, w.installation_id,
      w.status = 'enabled' and (w.installation_status = 'active'
      or e.subject_type = 'installation') as is_awaited
    from taken e left join lateral (
      select w.id, w.merchant_id, w.installation_id, w.status, i.status as installation_status
      from webhook_endpoint w
      join installation i on i.id = w.installation_id and (i.status <> 'uninstalled'
      or e.subject_type = 'installation')
        and (not e.subject_type = any(${catalogReadSubjectTypes}::text[]) or 'catalog:read' = any(i.scopes))
      where w.merchant_id = e.merchant_id and w.status <> 'deleted' and w.id <> e.subject_id
        and (e.installation_id is null or e.installation_id = w.installation_id)
        and w.event_types && array['*', split_part(e.type, '.', 1) || '.*', e.type]
    ) w on true
    order by e.id, w.id`.execute(transaction);
  return rows;
}

async function insertDeliveries(
  transaction: Transaction,
  { matches, now }: { readonly matches: readonly Match[]; readonly now: Date },
): Promise<string[]> {
  if (matches.length === 0) return [];
  const rows = matches.map(({ isAwaited, eventId, endpointId, merchantId, installationId }) => ({
    eventId,
    endpointId,
    merchantId,
    installationId,
    id: createId("webhookDelivery", now.getTime()),
    status: isAwaited ? ("pending" as const) : ("skipped" as const),
    nextAttemptAt: isAwaited ? now : null,
    finishedAt: isAwaited ? null : now,
    replayOf: null,
    replayReason: null,
    replayNote: null,
    lease: null,
    createdAt: now,
  }));
  for (let start = 0; start < rows.length; start += rowsMax) {
    await transaction
      .insertInto("webhookDelivery")
      .values(rows.slice(start, start + rowsMax))
      .onConflict((conflict) => conflict.columns(["eventId", "endpointId", "replayNo"]).doNothing())
      .execute();
  }
  return [...new Set(matches.filter(({ isAwaited }) => isAwaited).map(({ endpointId }) => endpointId))];
}
