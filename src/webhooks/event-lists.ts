/** Selects events and deliveries of all endpoints of a merchant for lists, and reads events by id. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { DatabaseTables } from "#database/tables.ts";
import type { DatabaseReader } from "#database/transaction.ts";
import { getLowestIdAtTime, toDatabaseSafeId } from "#foundation/ids.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";

interface ListPeriod {
  /** Only entries that were created at this time or later are selected. */
  readonly createdFrom?: Date | null | undefined;
  /** Only entries that were created before this time are selected. */
  readonly createdTo?: Date | null | undefined;
}

export interface EventFilter extends ListPeriod {
  /** The merchant whose events are selected; null selects the events of all merchants. */
  readonly merchantId: string | null;
  readonly type?: string | null | undefined;
  /** The id of the object that the events are about. */
  readonly subjectId?: string | null | undefined;
}

/** Selects the ids of the events that match a filter. The caller orders, pages or counts the query. */
export function buildEventIdSqlQuery(
  reader: DatabaseReader,
  { merchantId, type, subjectId, createdFrom, createdTo }: EventFilter,
): SelectQueryBuilder<DatabaseTables, "event", { id: string }> {
  let list = reader.selectFrom("event").select("event.id");
  if (merchantId !== null) list = list.where("event.merchantId", "=", merchantId);
  if (typeof type === "string") list = list.where("event.type", "=", type);
  if (typeof subjectId === "string") list = list.where("event.subjectId", "=", toDatabaseSafeId(subjectId));
  if (createdFrom instanceof Date) list = list.where("event.id", ">=", lowestEventId(createdFrom));
  if (createdTo instanceof Date) list = list.where("event.id", "<", lowestEventId(createdTo));
  return list;
}

const lowestEventId = (at: Date): string => getLowestIdAtTime("event", at.getTime());
const lowestDeliveryId = (at: Date): string => getLowestIdAtTime("webhookDelivery", at.getTime());

export interface MerchantDeliveryFilter extends ListPeriod {
  /** The merchant whose deliveries are selected; null selects the deliveries of all merchants. */
  readonly merchantId: string | null;
  readonly status: DeliveryStatus | null;
}

/**
 * Selects the ids of the deliveries that match a filter, for all endpoints together. The caller adds the
 * order and limit, or counts the rows.
 */
export function buildMerchantDeliveryIdSqlQuery(
  reader: DatabaseReader,
  { merchantId, status, createdFrom, createdTo }: MerchantDeliveryFilter,
): SelectQueryBuilder<DatabaseTables, "webhookDelivery", { id: string }> {
  let list = reader.selectFrom("webhookDelivery").select("webhookDelivery.id");
  if (merchantId !== null) list = list.where("webhookDelivery.merchantId", "=", merchantId);
  if (status !== null) list = list.where("webhookDelivery.status", "=", status);
  if (createdFrom instanceof Date)
    list = list.where("webhookDelivery.id", ">=", lowestDeliveryId(createdFrom));
  if (createdTo instanceof Date) list = list.where("webhookDelivery.id", "<", lowestDeliveryId(createdTo));
  return list;
}

/** An event in a list, without its deliveries. */
export interface EventSummary {
  readonly id: string;
  readonly merchantId: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
}

/** Reads events by id, in the order of the ids. Ids that do not exist are left out. */
export async function findEventSummaries(
  reader: DatabaseReader,
  ids: readonly string[],
): Promise<EventSummary[]> {
  const rows = await reader
    .selectFrom("event")
    .select(["id", "merchantId", "type", "occurredAt", "subjectType", "subjectId", "subjectVersion"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    if (row === undefined) return [];
    const { subjectType, subjectId, subjectVersion, ...event } = row;
    return [{ ...event, subject: { type: subjectType, id: subjectId, version: subjectVersion } }];
  });
}

export interface WebhookEventBody {
  readonly id: string;
  readonly body: string;
}

/** Reads the bodies of events with the whole object, by event id. */
export async function findWebhookEventBodies(
  reader: DatabaseReader,
  ids: readonly string[],
): Promise<Map<string, WebhookEventBody>> {
  const rows = await reader
    .selectFrom("event")
    .select(["id", "snapshot as body"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
