/** Where something is due, and when the next retry is: what there is to do between one look and the next. */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runStatement } from "#database/transaction.ts";
import { subjectsOfCatalog } from "#webhooks/event-types.ts";

/** Endpoints that have something due and may be sent it: all, or those among the ones that are named. */
export async function findDueEndpoints(db: Database, now: Date, among?: readonly string[]): Promise<readonly string[]> {
  const at = sql`${now}::timestamptz`;
  const named = sql`select id from unnest(${among ?? []}::text[]) as named (id)`;
  const statement = sql<{ id: string }>`
    with recursive waiting (id) as (${among === undefined ? allWaiting : named}), due as materialized (
      select id from waiting where exists (select 1 from webhook_delivery d where d.endpoint_id = waiting.id and d.next_attempt_at <= ${at})
    )
    select w.id from due join webhook_endpoint w on w.id = due.id and w.status = 'enabled'
      join webhook_endpoint_health h on h.endpoint_id = w.id and (h.probe_at is null or h.probe_at <= ${at})
      join installation i on i.id = w.installation_id
    where i.status = 'active' and 'catalog:read' = any(i.scopes) or exists (
      select 1 from webhook_delivery d join event e on e.id = d.event_id where d.endpoint_id = w.id and d.next_attempt_at <= ${at}
        and (i.status = 'active' and not e.subject_type = any(${subjectsOfCatalog}::text[]) or e.subject_type = 'installation'))`;
  return (await runStatement(db, statement)).map(({ id }) => id);
}

/** From one endpoint to the next over the index, so that what waits behind the first delivery of each is not read. */
const allWaiting: RawBuilder<unknown> = sql`
  (select endpoint_id from webhook_delivery where next_attempt_at is not null order by endpoint_id limit 1)
  union all
  select (select d.endpoint_id from webhook_delivery d where d.next_attempt_at is not null and d.endpoint_id > waiting.id order by d.endpoint_id limit 1)
  from waiting where waiting.id is not null`;

/** When the next retry comes due, if that is so soon. Of a breaker that is open only its probe counts. */
export async function nextRetryAt(db: Database, { now, withinMs }: { readonly now: Date; readonly withinMs: number }): Promise<Date | null> {
  const until = new Date(now.getTime() + withinMs);
  const statement = sql<{ at: Date | null }>`
    select min(greatest(d.next_attempt_at, h.probe_at)) as at from webhook_delivery d
      join webhook_endpoint w on w.id = d.endpoint_id and w.status = 'enabled' join webhook_endpoint_health h on h.endpoint_id = w.id
    where d.status = 'retrying' and d.next_attempt_at > ${now}::timestamptz and d.next_attempt_at <= ${until}::timestamptz`;
  return (await runStatement(db, statement))[0]?.at ?? null;
}
