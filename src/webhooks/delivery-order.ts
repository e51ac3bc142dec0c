/**
 * The order of deliveries about the same subject, for endpoints with the delivery order `subject`. Only the
 * first unfinished delivery of a subject may be sent. The others are held: the time of their next attempt is
 * `infinity`. A trigger of the table `webhook_delivery` releases the next delivery when one has ended.
 */
import { type RawBuilder, sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";

export type DeliveryOrderMode = "any" | "subject";

/** The value of `next_attempt_at` in the row of a held delivery, which waits for an earlier delivery. */
export const heldAtSql: RawBuilder<Date> = sql<Date>`'infinity'::timestamptz`;

/**
 * A pair of a webhook endpoint and a subject (the object that events are about), for which a transaction has
 * inserted new deliveries. All of the new deliveries are held.
 */
export interface EndpointIdAndSubjectId {
  readonly endpointId: string;
  readonly subjectId: string;
}

/**
 * Releases each new delivery to an endpoint if no earlier delivery about the same subject to this endpoint is
 * unfinished. The first statement locks the unfinished deliveries. A concurrent transaction that ends one of
 * them has then either committed, so that the second statement sees the end; or the concurrent transaction
 * waits for the lock, then sees the new deliveries and releases the next one. Therefore no delivery stays
 * held forever.
 */
export async function releaseFirstHeldDeliveryPerSubject(
  transaction: Transaction,
  subjects: readonly EndpointIdAndSubjectId[],
  now: Date,
): Promise<void> {
  if (subjects.length === 0) return;
  const endpointIds = subjects.map(({ endpointId }) => endpointId);
  const subjectIds = subjects.map(({ subjectId }) => subjectId);
  const named = sql`unnest(${endpointIds}::text[], ${subjectIds}::text[]) as s (endpoint_id, subject_id)`;
  await sql`
    select d.id from webhook_delivery d join ${named}
      on d.endpoint_id = s.endpoint_id and d.ordered_subject_id = s.subject_id
    where d.next_attempt_at is not null order by d.id for update of d`.execute(transaction);
  await sql`
    update webhook_delivery d set next_attempt_at = ${now}::timestamptz
    from (select distinct endpoint_id, subject_id from ${named}) s
      cross join lateral (
        select f.id from webhook_delivery f
        where f.endpoint_id = s.endpoint_id and f.ordered_subject_id = s.subject_id
          and f.next_attempt_at is not null
        order by f.ordered_position limit 1
      ) first
    where d.id = first.id and d.next_attempt_at = ${heldAtSql}`.execute(transaction);
}

/** Lets all unfinished deliveries of an endpoint be sent in any order, and releases those that are held. */
export async function allowEndpointDeliveriesInAnyOrder(
  transaction: Transaction,
  endpointId: string,
  now: Date,
): Promise<void> {
  await sql`
    update webhook_delivery set ordered_subject_id = null, ordered_position = null,
      next_attempt_at = case when next_attempt_at = ${heldAtSql} then ${now}::timestamptz else next_attempt_at end
    where endpoint_id = ${endpointId} and ordered_subject_id is not null and next_attempt_at is not null`.execute(
    transaction,
  );
}
