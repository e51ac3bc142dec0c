/**
 * Gives new events their positions in the event feed, and creates their deliveries: one for each endpoint
 * that subscribes to the event and may read it. Only one process at a time does this, because it must lock
 * the row `event_feed`. Every event without a position counts as new, so that events of transactions that
 * commit late are not missed.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { heldAtSql, releaseFirstHeldDeliveryPerSubject } from "#webhooks/delivery-order.ts";
import { passesFieldFiltersSql } from "#webhooks/endpoints/field-filters.ts";
import { catalogReadSubjectTypes } from "#webhooks/event-types.ts";

export const fanOutEventsMax = 200;
/** The largest number of deliveries that one statement inserts, so that its parameter has at most 1 MB. */
const rowsMax = 2_000;

export interface EventFanOutResult {
  readonly events: number;
  /** Ids of the endpoints for which due deliveries were created. */
  readonly endpointIds: readonly string[];
  /** W3C trace contexts of the requests that caused the events. Requests that were not traced have none. */
  readonly causes: readonly string[];
}

/**
 * Takes one batch of new events, gives each event its position in the event feed, and creates the deliveries
 * of the events, all in one transaction.
 */
export function fanOutEventsToWebhookDeliveries(db: Database, now: Date): Promise<EventFanOutResult> {
  return runInTransaction(db, async (transaction) => {
    if (!(await lockFeedIfEventsWait(transaction))) return { events: 0, causes: [], endpointIds: [] };
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
  /**
   * The subject of the event, if the endpoint must receive the events about one subject in order; null if the
   * endpoint receives its events in any order.
   */
  readonly orderedSubjectId: string | null;
  readonly orderedPosition: number | null;
  readonly traceparent: string | null;
}

/**
 * A new event, paired with one endpoint that receives the event. For an event that no endpoint receives,
 * there is one entry whose endpoint id is null.
 */
type Taken =
  | Match
  | { readonly eventId: string; readonly endpointId: null; readonly traceparent: string | null };

/**
 * Locks the event feed until the end of the transaction and returns true, if there are new events. Otherwise
 * takes no lock and returns false. Only a statement after this one may read the new events, because only it
 * sees all positions that another process gave while it held the lock.
 */
async function lockFeedIfEventsWait(transaction: Transaction): Promise<boolean> {
  const { rows } = await sql`
    select 1 from event_feed where exists (select from event where position is null) for update`.execute(
    transaction,
  );
  return rows.length > 0;
}

/**
 * Gives the next positions of the event feed to a batch of new events, in the order of their insertion. Also
 * finds the endpoints that receive the events. Events about the same subject get their positions in the order
 * of the changes. Earlier events about a subject were committed before a later event is inserted, and the
 * statement waits for locked events instead of skipping them. Events about carts, orders and their parts go
 * to the installations that may read them. Events about one installation go only to that installation, even
 * after it is uninstalled. Events about an endpoint go to the other endpoints, but not to that endpoint.
 * Endpoints are not locked. If an endpoint is disabled at the same moment,
 * `endUndeliverableWebhookDeliveries` in `sweeps.ts` later ends the deliveries to it.
 */
async function takeEvents(transaction: Transaction, now: Date): Promise<readonly Taken[]> {
  const { rows } = await sql<Taken>`
    with taken as (
      select id, insert_number, merchant_id, installation_id, type, subject_type, subject_id, traceparent, snapshot,
        fanned_out_at is null as is_awaited
      from event where position is null
      order by insert_number nulls first, id limit ${fanOutEventsMax} for update
    ), placed as (
      select *, row_number() over (order by insert_number nulls first, id) as place from taken
    ), positioned as (
      update event e set position = f.last_position + p.place,
        fanned_out_at = coalesce(e.fanned_out_at, ${now}::timestamptz)
      from placed p, event_feed f where e.id = p.id
    ), counted as (
      update event_feed set last_position = last_position + (select count(*) from taken)
    )
    select e.id as event_id, case when e.is_awaited then e.traceparent end as traceparent,
      w.id as endpoint_id, w.merchant_id, w.installation_id,
      w.status = 'enabled' and (w.installation_status = 'active'
      or e.subject_type = 'installation') as is_awaited,
      case when w.delivery_order = 'subject' then e.subject_id end as ordered_subject_id,
      case when w.delivery_order = 'subject' then e.place + f.last_position end as ordered_position
    from placed e cross join event_feed f left join lateral (
      select w.id, w.merchant_id, w.installation_id, w.status, w.delivery_order, i.status as installation_status
      from webhook_endpoint w
      join installation i on i.id = w.installation_id and (i.status <> 'uninstalled'
      or e.subject_type = 'installation')
        and (not e.subject_type = any(${catalogReadSubjectTypes}::text[]) or 'catalog:read' = any(i.scopes))
      where e.is_awaited and w.merchant_id = e.merchant_id and w.status <> 'deleted' and w.id <> e.subject_id
        and (e.installation_id is null or e.installation_id = w.installation_id)
        and w.event_types && array['*', split_part(e.type, '.', 1) || '.*', e.type]
        and ${passesFieldFiltersSql}
    ) w on true
    order by e.place, w.id`.execute(transaction);
  return rows;
}

async function insertDeliveries(
  transaction: Transaction,
  { matches, now }: { readonly matches: readonly Match[]; readonly now: Date },
): Promise<string[]> {
  if (matches.length === 0) return [];
  for (let start = 0; start < matches.length; start += rowsMax) {
    const rows = matches.slice(start, start + rowsMax).map((match) => ({
      id: createId("webhookDelivery", now.getTime()),
      merchant_id: match.merchantId,
      installation_id: match.installationId,
      event_id: match.eventId,
      endpoint_id: match.endpointId,
      is_awaited: match.isAwaited,
      ordered_subject_id: match.orderedSubjectId,
      ordered_position: match.orderedPosition,
    }));
    await insertRows(transaction, JSON.stringify(rows), now);
  }
  const ordered = matches.flatMap(({ endpointId, orderedSubjectId: subjectId, isAwaited }) =>
    subjectId === null || !isAwaited ? [] : [{ endpointId, subjectId }],
  );
  await releaseFirstHeldDeliveryPerSubject(transaction, ordered, now);
  return [...new Set(matches.filter(({ isAwaited }) => isAwaited).map(({ endpointId }) => endpointId))];
}

/** Inserts the deliveries of a JSON array. The text of the statement does not depend on their number. */
async function insertRows(transaction: Transaction, rows: string, now: Date): Promise<void> {
  const at = sql`${now}::timestamptz`;
  await sql`
    insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, status,
      next_attempt_at, finished_at, created_at, ordered_subject_id, ordered_position)
    select m.id, m.merchant_id, m.installation_id, m.event_id, m.endpoint_id,
      case when m.is_awaited then 'pending' else 'skipped' end,
      case when not m.is_awaited then null when m.ordered_subject_id is null then ${at} else ${heldAtSql} end,
      case when m.is_awaited then null else ${at} end, ${at}, m.ordered_subject_id, m.ordered_position
    from json_to_recordset(${rows}::json) as m (id text, merchant_id text, installation_id text, event_id text,
      endpoint_id text, is_awaited boolean, ordered_subject_id text, ordered_position bigint)
    on conflict (event_id, endpoint_id, replay_no) do nothing`.execute(transaction);
}
