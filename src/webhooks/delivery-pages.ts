/**
 * Queries about the webhook deliveries of one endpoint: one page of the deliveries, the number of deliveries,
 * and their stored bodies.
 */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { KeysetPageRequest } from "#database/sql-fragments.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";

export interface EndpointDeliveryFilter {
  /** The merchant that must own the endpoint; null if the endpoint may belong to any merchant. */
  readonly merchantId: string | null;
  readonly endpointId: string;
  readonly status: DeliveryStatus | null;
}

/**
 * Returns an SQL query for the ids of the deliveries that match a filter. The caller uses it to count the
 * deliveries.
 */
export function buildEndpointDeliveryIdSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, endpointId, status }: EndpointDeliveryFilter,
): SelectQueryBuilder<Tables, "webhookDelivery", { id: string }> {
  return reader
    .selectFrom("webhookDelivery")
    .select("id")
    .where("endpointId", "=", endpointId)
    .$if(merchantId !== null, (query) => query.where(isOwned({ merchantId, endpointId })))
    .$if(status !== null, (query) => query.where("status", "=", status ?? "pending"));
}

/** All delivery statuses, as the keys of an object, so that the compiler reports a missing status. */
const everyStatus: Readonly<Record<DeliveryStatus, true>> = {
  pending: true,
  sending: true,
  succeeded: true,
  retrying: true,
  exhausted: true,
  skipped: true,
  canceled: true,
};

/**
 * Returns one page of the deliveries that match a filter, in the order of their ids. For each status, the
 * database reads at most one page from an index, so the cost does not depend on the number of deliveries.
 */
export async function findWebhookDeliveriesPage(
  reader: DatabaseOrTransaction,
  { merchantId, endpointId, status }: EndpointDeliveryFilter,
  { after, before, limit, isInverted }: KeysetPageRequest,
): Promise<{ readonly id: string }[]> {
  const statuses = status === null ? Object.keys(everyStatus) : [status];
  const order = sql.raw(isInverted ? "desc" : "asc");
  const isBefore = before === undefined ? sql`true` : sql`d.id collate "C" < ${before}`;
  const { rows } = await sql<{ id: string }>`
    select found.id from unnest(${statuses}::text[]) as asked(status) cross join lateral (
      select d.id from webhook_delivery d
      where d.endpoint_id = ${endpointId} and d.status = asked.status and d.id collate "C" > ${after ?? ""}
      and ${isBefore}
      order by d.id collate "C" ${order} limit ${limit}
    ) found
    where ${isOwned({ merchantId, endpointId })} order by found.id collate "C" ${order}
    limit ${limit}`.execute(reader);
  return rows;
}

/**
 * Returns an SQL condition that is true if the merchant owns the endpoint. PostgreSQL evaluates the condition
 * once per query, not once per delivery.
 */
const isOwned = ({
  merchantId,
  endpointId,
}: Pick<EndpointDeliveryFilter, "merchantId" | "endpointId">): RawBuilder<boolean> =>
  merchantId === null
    ? sql`true`
    : sql`exists (select from webhook_endpoint w where w.id = ${endpointId}
      and w.merchant_id = ${merchantId})`;

export interface DeliveryIdAndBody {
  readonly id: string;
  readonly body: string;
}

/**
 * Finds the stored bodies of deliveries. Returns the thin body if the endpoint currently has the payload mode
 * `thin`, otherwise the body with the whole object.
 */
export async function findStoredDeliveryBodies(
  reader: DatabaseOrTransaction,
  deliveryIds: readonly string[],
): Promise<Map<string, DeliveryIdAndBody>> {
  const { rows } = await sql<DeliveryIdAndBody>`
    select d.id, case w.payload_mode when 'thin' then e.thin else e.snapshot end as body
    from webhook_delivery d join event e on e.id = d.event_id join webhook_endpoint w on w.id = d.endpoint_id
    where d.id = any(${deliveryIds}::text[])`.execute(reader);
  return new Map(rows.map((row) => [row.id, row]));
}
