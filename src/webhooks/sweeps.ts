/**
 * Two periodic background jobs. `deleteExpiredEvents` deletes old events with their deliveries.
 * `endUndeliverableWebhookDeliveries` ends deliveries that must no longer be sent.
 */
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runSqlStatementWithRetries } from "#database/transaction.ts";
import { getEventRetentionStart } from "./delivery-rules.ts";
import { catalogReadSubjectTypes } from "./event-types.ts";

const eventsPerBatch = 200;

const dayMs = 86_400_000;

/**
 * Deletes the events whose retention period has ended, and records the highest deleted position of the event
 * feed. Works in batches, so that other statements do not wait long. An event without a position is new and
 * is not deleted. Returns the number of deleted events. If the signal is aborted, stops before the next
 * batch.
 */
export async function deleteExpiredEvents(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  await db
    .deleteFrom("webhookEndpointHour")
    .where("hour", "<", new Date(now.getTime() - 2 * dayMs))
    .execute();
  for (let total = 0; ;) {
    const statement = sql<{ deleted: number }>`
      with old as (
        select id, position from event
        where occurred_at <= ${getEventRetentionStart(now)}::timestamptz and position is not null
        order by occurred_at limit ${eventsPerBatch} for update skip locked
      ), gone as (
        delete from event e using old where e.id = old.id
      ), feed as (
        update event_feed set deleted_position = greatest(deleted_position, (select max(position) from old))
        where exists (select from old)
      )
      select count(*)::integer as deleted from old`;
    const [{ deleted } = { deleted: 0 }] = await runSqlStatementWithRetries(db, statement);
    total += deleted;
    if (deleted < eventsPerBatch || signal?.aborted === true) return total;
  }
}

/** The largest number of deliveries that one statement ends. */
const deliveriesPerBatch = 500;

/**
 * Ends deliveries to endpoints that are disabled or deleted, or that may no longer read the event. If the
 * endpoint is only disabled, deliveries with an attempt are not ended but wait. The commands that disable or
 * delete an endpoint end its deliveries too. This job ends those that the commands missed: deliveries that
 * were created at the same moment, or that were in progress in a process that stopped. Returns the number of
 * changed deliveries. If the signal is aborted, stops before the next batch.
 */
export async function endUndeliverableWebhookDeliveries(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  const endpointIds = await findClosedEndpoints(db);
  if (endpointIds.length === 0) return 0;
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      with stray as (
        select d.id, case
          when w.status = 'deleted' or (i.status = 'uninstalled' and e.subject_type <> 'installation')
          or (not 'catalog:read' = any(i.scopes) and e.subject_type = any(${catalogReadSubjectTypes}::text[]))
            then 'canceled'
          when d.attempt_count > 0 then 'retrying' else 'skipped' end as becomes
        from webhook_delivery d join webhook_endpoint w on w.id = d.endpoint_id join installation i
        on i.id = d.installation_id join event e on e.id = d.event_id
        where d.endpoint_id = any(${endpointIds}::text[]) and d.next_attempt_at is not null
          and (d.status <> 'sending' or d.next_attempt_at <= ${now}::timestamptz)
          and (w.status = 'deleted' or (i.status = 'uninstalled' and e.subject_type <> 'installation')
          or (w.status <> 'enabled' and d.status <> 'retrying')
            or (not 'catalog:read' = any(i.scopes) and e.subject_type =
            any(${catalogReadSubjectTypes}::text[])))
        order by d.id limit ${deliveriesPerBatch} for update of d skip locked
      )
      update webhook_delivery d set status = s.becomes, lease = null,
        next_attempt_at = case when s.becomes = 'retrying' then d.next_attempt_at end,
        finished_at = case when s.becomes <> 'retrying' then ${now}::timestamptz end
      from stray s where d.id = s.id`.execute(db);
    const closed = Number(numAffectedRows);
    total += closed;
    if (closed < deliveriesPerBatch || signal?.aborted === true) return total;
  }
}

/**
 * Finds the endpoints with waiting deliveries that may not receive some or all of their events. For example,
 * the endpoint is disabled, or the installation has lost the scope `catalog:read`.
 */
async function findClosedEndpoints(db: Database): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select w.id from webhook_endpoint w join installation i on i.id = w.installation_id
    where (w.status <> 'enabled' or i.status = 'uninstalled' or not 'catalog:read' = any(i.scopes))
      and exists (select from webhook_delivery d where d.endpoint_id = w.id
      and d.next_attempt_at is not null)`.execute(db);
  return rows.map(({ id }) => id);
}
