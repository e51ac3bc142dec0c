/**
 * Selects events and webhook deliveries of a merchant for lists, for all endpoints of the merchant. Also
 * reads events by id.
 */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { getLowestIdAtTime, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { DeliveryStatus } from "./delivery-rules.ts";

interface ListPeriod {
  /** The earliest creation time of the selected rows (included). */
  readonly createdFrom?: Date | null | undefined;
  /** The time before which the selected rows were created (excluded). */
  readonly createdTo?: Date | null | undefined;
}

export interface EventFilter extends ListPeriod {
  /** The merchant whose events are selected; null selects the events of all merchants. */
  readonly merchantId: string | null;
  readonly type?: string | null | undefined;
  /** The id of the object (the subject) that the selected events are about. */
  readonly subjectId?: string | null | undefined;
}

/**
 * Returns an SQL query for the ids of the events that match a filter. The caller sorts, pages or counts the
 * rows.
 */
export function buildEventIdSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, type, subjectId, createdFrom, createdTo }: EventFilter,
): SelectQueryBuilder<Tables, "event", { id: string }> {
  let list = reader.selectFrom("event").select("event.id");
  if (merchantId !== null) list = list.where("event.merchantId", "=", merchantId);
  if (typeof type === "string") list = list.where("event.type", "=", type);
  if (typeof subjectId === "string")
    list = list.where("event.subjectId", "=", blankIdWithForbiddenCharacters(subjectId));
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
 * Returns an SQL query for the ids of the deliveries that match a filter, for all endpoints together. The
 * caller adds the order and limit, or counts the rows.
 */
export function buildMerchantDeliveryIdSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, status, createdFrom, createdTo }: MerchantDeliveryFilter,
): SelectQueryBuilder<Tables, "webhookDelivery", { id: string }> {
  let list = reader.selectFrom("webhookDelivery").select("webhookDelivery.id");
  if (merchantId !== null) list = list.where("webhookDelivery.merchantId", "=", merchantId);
  if (status !== null) list = list.where("webhookDelivery.status", "=", status);
  if (createdFrom instanceof Date)
    list = list.where("webhookDelivery.id", ">=", lowestDeliveryId(createdFrom));
  if (createdTo instanceof Date) list = list.where("webhookDelivery.id", "<", lowestDeliveryId(createdTo));
  return list;
}

/** An event as it appears in a list, without its deliveries. */
export interface EventSummary {
  readonly id: string;
  readonly merchantId: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
}

/** Reads events by id. The result is in the order of the ids; ids that do not exist are left out. */
export async function findEventSummaries(
  reader: DatabaseOrTransaction,
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

export interface EventIdAndBody {
  readonly id: string;
  readonly body: string;
}

/**
 * Reads the bodies of events, which contain the whole object (snapshots). The keys of the result are event
 * ids.
 */
export async function findWebhookEventBodies(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, EventIdAndBody>> {
  const rows = await reader
    .selectFrom("event")
    .select(["id", "snapshot as body"])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}
