/** Reads events and their webhook deliveries for the API. The bodies of requests and answers are not read. */
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { WebhookAttemptTable } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { eventTypes, catalogReadSubjectTypes } from "./event-types.ts";
import { heldAtSql } from "./delivery-order.ts";
import {
  type DeliveryStatus,
  getEventRetentionStart,
  getEventPayloadExpiryTime,
  type DeliveryReplayReason,
  findReplayRefusalCode,
} from "./delivery-rules.ts";

export type DeliveryAttemptView = Selectable<WebhookAttemptTable>;

export interface DeliveryView {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly eventId: string;
  readonly endpointId: string;
  readonly status: DeliveryStatus;
  readonly attemptCount: number;
  /** Time of the next attempt; null if no attempt is planned or an attempt is in progress. */
  readonly nextAttemptAt: Date | null;
  readonly lastAttempt: DeliveryAttemptView | null;
  readonly replayOf: string | null;
  readonly replayReason: DeliveryReplayReason | null;
  readonly replayNote: string | null;
  /**
   * True if the delivery may be replayed: the delivery has ended, its event is still stored, and the limit of
   * replays is not reached.
   */
  readonly isReplayable: boolean;
  readonly payloadExpiresAt: Date;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** An event with its deliveries to one installation. */
export interface EventWithDeliveries {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly subject: { readonly type: string; readonly id: string; readonly version: number };
  readonly deliveries: readonly DeliveryView[];
}

export interface InstallationEventLog {
  /** The newest events of an installation and older events with an unsuccessful delivery, newest first. */
  readonly events: readonly EventWithDeliveries[];
  /** True if the installation has more stored events than this event log contains. */
  readonly isTruncated: boolean;
}

const newestMax = 100;
const olderMax = 100;
const subjects = [...new Set(Object.values(eventTypes).map(({ subject }) => subject))];

/**
 * Finds the events that each installation may read: the newest events, and older events with an unsuccessful
 * delivery. The keys of the result are installation ids.
 */
export async function findEventsReadableByInstallations(
  reader: DatabaseOrTransaction,
  installationIds: readonly string[],
  now: Date,
): Promise<Map<string, InstallationEventLog>> {
  const rows = await listEvents(reader, installationIds, now);
  const shown = rows.filter(({ isIncluded }) => isIncluded);
  const deliveries = Map.groupBy(await deliveriesOf(reader, shown, now), createInstallationAndEventIdKey);
  const groups = Map.groupBy(rows, ({ installationId }) => installationId);
  return new Map(
    installationIds.map((id): [string, InstallationEventLog] => {
      const listed = groups.get(id) ?? [];
      const events = listed
        .filter(({ isIncluded }) => isIncluded)
        .map((row) => toEvent(row, deliveries.get(createInstallationAndEventIdKey(row)) ?? []));
      return [id, { events, isTruncated: events.length < listed.length }];
    }),
  );
}

export interface InstallationIdAndEventId {
  readonly installationId: string;
  readonly eventId: string;
}

/**
 * Finds events by pairs of an installation id and an event id, each event with its deliveries to this
 * installation. `createInstallationAndEventIdKey` creates the keys of the result.
 */
export async function findEventsByInstallationAndEventIds(
  reader: DatabaseOrTransaction,
  pairs: readonly InstallationIdAndEventId[],
  now: Date,
): Promise<ReadonlyMap<string, EventWithDeliveries>> {
  const ids = [...new Set(pairs.map(({ eventId }) => eventId))];
  const columns = ["id", "type", "occurredAt", "subjectType", "subjectId", "subjectVersion"] as const;
  const rows = await reader
    .selectFrom("event")
    .select(columns)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.id, row]));
  const deliveries = Map.groupBy(await deliveriesOf(reader, pairs, now), createInstallationAndEventIdKey);
  return new Map(
    pairs.flatMap((pair): [string, EventWithDeliveries][] => {
      const row = found.get(pair.eventId);
      return row === undefined
        ? []
        : [
            [
              createInstallationAndEventIdKey(pair),
              toEvent(row, deliveries.get(createInstallationAndEventIdKey(pair)) ?? []),
            ],
          ];
    }),
  );
}

export const createInstallationAndEventIdKey = ({
  installationId,
  eventId,
}: InstallationIdAndEventId): string => `${installationId} ${eventId}`;

/** Finds deliveries by id. Ids that do not exist are left out of the result. */
export async function findDeliveries(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, DeliveryView>> {
  const deliveries = await selectDeliveries(reader, sql`d.id = any(${ids}::text[])`, now);
  return new Map(deliveries.map((delivery) => [delivery.id, delivery]));
}

/** Finds the deliveries of the given events, to all installations, oldest first. */
export const findDeliveriesOfEvents = (
  reader: DatabaseOrTransaction,
  eventIds: readonly string[],
  now: Date,
): Promise<DeliveryView[]> => selectDeliveries(reader, sql`d.event_id = any(${eventIds}::text[])`, now);

/**
 * Finds the attempts of several deliveries. The attempts of one delivery follow each other, the first attempt
 * first.
 */
export function findDeliveryAttempts(
  reader: DatabaseOrTransaction,
  deliveryIds: readonly string[],
): Promise<DeliveryAttemptView[]> {
  return reader
    .selectFrom("webhookAttempt")
    .selectAll()
    .where(sql<boolean>`delivery_id = any(${deliveryIds}::text[])`)
    .orderBy("deliveryId")
    .orderBy("number")
    .execute();
}

/** Returns the id of the merchant that owns the endpoint, also if the endpoint has been deleted. */
export async function findMerchantIdOfEndpoint(
  reader: DatabaseOrTransaction,
  endpointId: string,
): Promise<string | undefined> {
  const row = await reader
    .selectFrom("webhookEndpoint")
    .select("merchantId")
    .where("id", "=", endpointId)
    .executeTakeFirst();
  return row?.merchantId;
}

interface EventRow {
  readonly id: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectVersion: number;
}

interface ListedRow extends EventRow, InstallationIdAndEventId {
  readonly isIncluded: boolean;
}

const isSeen = (kind: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`(a.sees_catalog or not ${kind} = any(${catalogReadSubjectTypes}::text[]))`;

/**
 * Lists the events of the event log of an installation. If there are more events than the log may contain,
 * the result has at least one event too many, so that the caller sees that the log is incomplete. The events
 * of each subject type (for example `order`) are read from one range of an index. The statement is therefore
 * fast for any number of subject types that the installation may read.
 */
async function listEvents(
  reader: DatabaseOrTransaction,
  installationIds: readonly string[],
  now: Date,
): Promise<ListedRow[]> {
  const first = getLowestIdAtTime("event", getEventRetentionStart(now).getTime() + 1);
  const looked = newestMax + olderMax + 1;
  const { rows } = await sql<ListedRow>`
    with asked as (
      select id, merchant_id, 'catalog:read' = any(scopes) as sees_catalog from installation
      where id = any(${installationIds}::text[])
    ), newest as (
      select a.id as installation_id, n.id, row_number() over (partition by a.id order by n.id desc) as place
      from asked a cross join lateral (
        select o.id from unnest(${subjects}::text[]) as kind(name) cross join lateral (
          select e.id from event e where e.merchant_id = a.merchant_id and e.subject_type = kind.name
          and e.id collate "C" >= ${first} and e.installation_id is null
          order by e.id collate "C" desc limit ${looked}
        ) o where ${isSeen(sql`kind.name`)}
        union all (
          select e.id from event e where e.installation_id = a.id and e.id >= ${first}
          and ${isSeen(sql`e.subject_type`)}
          order by e.id desc limit ${looked}
        )
        order by 1 desc limit ${looked}
      ) n
    ), older as (
      select a.id as installation_id, o.event_id as id
      from asked a cross join lateral (
        select distinct lost.event_id from (values ('exhausted'), ('retrying'), ('skipped')) as asked(status)
        cross join lateral (
          select distinct d.event_id from webhook_delivery d join event e on e.id = d.event_id
          where d.installation_id = a.id and d.status = asked.status
          and d.status in ('exhausted', 'retrying', 'skipped') and d.event_id >= ${first}
            and d.event_id < (select min(n.id) from newest n where n.installation_id = a.id
            and n.place <= ${newestMax})
            and ${isSeen(sql`e.subject_type`)}
          order by d.event_id desc limit ${olderMax}
        ) lost
        order by lost.event_id desc limit ${olderMax}
      ) o
    ), listed as (
      select installation_id, id, bool_or(is_included) as is_included from (
        select installation_id, id, place <= ${newestMax} as is_included from newest union all
        select installation_id, id, true from older
      ) both_of group by installation_id, id
    )
    select l.installation_id, l.is_included, e.id, e.id as event_id, e.type, e.occurred_at, e.subject_type,
    e.subject_id, e.subject_version
    from listed l join event e on e.id = l.id
    order by l.installation_id, e.id desc`.execute(reader);
  return rows;
}

const toEvent = (
  { id, type, occurredAt, ...row }: EventRow,
  deliveries: readonly DeliveryView[],
): EventWithDeliveries => ({
  id,
  type,
  occurredAt,
  subject: { type: row.subjectType, id: row.subjectId, version: row.subjectVersion },
  deliveries,
});

async function deliveriesOf(
  reader: DatabaseOrTransaction,
  pairs: readonly InstallationIdAndEventId[],
  now: Date,
): Promise<DeliveryView[]> {
  if (pairs.length === 0) return [];
  const eventIds = pairs.map(({ eventId }) => eventId);
  const installationIds = pairs.map(({ installationId }) => installationId);
  const isPair = sql`(d.event_id, d.installation_id) in (select *
    from unnest(${eventIds}::text[], ${installationIds}::text[]))`;
  return selectDeliveries(reader, sql`d.event_id = any(${eventIds}::text[]) and ${isPair}`, now);
}

interface DeliveryRow extends Omit<DeliveryView, "lastAttempt" | "isReplayable" | "payloadExpiresAt"> {
  readonly occurredAt: Date;
  readonly replays: number;
  readonly attemptId: string | null;
  readonly number: number;
  readonly startedAt: Date;
  readonly durationMs: number;
  readonly httpStatus: number | null;
  readonly errorCode: DeliveryAttemptView["errorCode"];
}

/** Loads deliveries with their last attempt, oldest first. */
async function selectDeliveries(
  reader: DatabaseOrTransaction,
  which: RawBuilder<unknown>,
  now: Date,
): Promise<DeliveryView[]> {
  const { rows } = await sql<DeliveryRow>`
    select d.id, d.merchant_id, d.installation_id, d.event_id, d.endpoint_id, d.status, d.attempt_count,
      case when d.status <> 'sending' then nullif(d.next_attempt_at, ${heldAtSql}) end as next_attempt_at,
      d.replay_of, d.replay_reason, d.replay_note, d.created_at, d.finished_at, e.occurred_at,
      (select count(*) from webhook_delivery r where r.replay_of =
      coalesce(d.replay_of, d.id))::integer as replays,
      a.id as attempt_id, a.number, a.started_at, a.duration_ms, a.http_status, a.error_code
    from webhook_delivery d join event e on e.id = d.event_id
    left join lateral (select * from webhook_attempt where delivery_id = d.id order by number desc limit 1) a
    on true
    where ${which} order by d.id`.execute(reader);
  return rows.map((row) => toDelivery(row, now));
}

function toDelivery(row: DeliveryRow, now: Date): DeliveryView {
  const {
    occurredAt,
    replays,
    attemptId,
    number,
    startedAt,
    durationMs,
    httpStatus,
    errorCode,
    ...delivery
  } = row;
  const attempt = { deliveryId: delivery.id, number, startedAt, durationMs, httpStatus, errorCode };
  return {
    ...delivery,
    lastAttempt: attemptId === null ? null : { id: attemptId, ...attempt },
    isReplayable:
      findReplayRefusalCode({ status: delivery.status, occurredAt, replays }, { isForced: true, now }) ===
      null,
    payloadExpiresAt: getEventPayloadExpiryTime(occurredAt),
  };
}
