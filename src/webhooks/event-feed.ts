/**
 * Reads the event feed: all events in the order of their positions. The dispatcher gives an event its
 * position after the event was committed (`dispatch/fan-out.ts`). A reader that sends the cursor of each page
 * with the next request gets every event once, and events about the same subject in the order of the
 * changes.
 */
import { createHash } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { createRequestBodyErrorDetail } from "#foundation/faults.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import { eventRetentionDays } from "./delivery-rules.ts";
import type { EventSummary } from "./event-lists.ts";

export interface EventFeedReadOptions {
  /** The merchant whose events are read; null reads the events of all merchants. */
  readonly merchantId: string | null;
  /** The event types to read; null if all types are read. */
  readonly types: readonly string[] | null;
  /** The cursor of the previous page, after which this page begins; null begins with the oldest stored event. */
  readonly after: string | null;
  /** The maximum number of events that the page contains. */
  readonly limit: number;
}

/** One page of the event feed. */
export interface EventFeedPage {
  readonly events: readonly EventSummary[];
  /** The cursor with which the caller reads the next page of the event feed. */
  readonly cursor: string;
  /**
   * The last position of the event feed that this page covers. No later page contains events up to this
   * position.
   */
  readonly position: number;
  /** True if the feed may already have further events after this page. */
  readonly hasMore: boolean;
}

/**
 * The maximum number of events that one page examines to find events of the wanted types. It keeps pages of
 * rare event types fast. A page that reaches this number ends even if it is not full, and its cursor
 * continues after the last examined event.
 */
const checkedEventsMax = 5_000;

/**
 * The content of a cursor of the event feed: the position of an event, the event's time, and a hash of its
 * id.
 */
interface FeedPlace {
  readonly position: number;
  readonly atMs: number;
  readonly idHash: string;
}

interface FeedRow {
  readonly lastPosition: number;
  readonly deletedPosition: number;
  /** The id of the event at the cursor's position; null if no event has this position. */
  readonly knownId: string | null;
  readonly checked: number;
  readonly checkedPosition: number | null;
  readonly id: string | null;
  readonly merchantId: string;
  readonly type: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly occurredAt: Date;
  readonly position: number;
}

/**
 * Reads a page of the event feed. One statement both checks that no event after the cursor was deleted, and
 * reads the events. If events are deleted at the same time, the reader therefore gets an error instead of
 * missing them unnoticed.
 */
export async function readEventFeed(
  reader: DatabaseOrTransaction,
  read: EventFeedReadOptions,
): Promise<EventFeedPage> {
  const { merchantId, types, after, limit } = read;
  const start = after === null ? null : parseCursor(after);
  const from = start === null ? sql`f.deleted_position` : sql`${start.position}::bigint`;
  const checkedMax = types === null ? limit + 1 : checkedEventsMax;
  const isOfMerchant = merchantId === null ? sql`true` : sql`e.merchant_id = ${merchantId}`;
  const isOfType: RawBuilder<unknown> = types === null ? sql`true` : sql`type = any(${types}::text[])`;
  const { rows } = await sql<FeedRow>`
    with checked as materialized (
      select e.id, e.type, e.position from event_feed f cross join lateral (
        select e.id, e.type, e.position from event e where e.position > ${from} and ${isOfMerchant}
        order by e.position limit ${checkedMax}
      ) e
    ), chosen as (
      select id, position from checked where ${isOfType} order by position limit ${limit}
    )
    select f.last_position, f.deleted_position, k.id as known_id,
      (select count(*)::integer from checked) as checked, (select max(position) from checked) as checked_position,
      e.id, e.merchant_id, e.type, e.subject_type, e.subject_id, e.subject_version, e.occurred_at, e.position
    from event_feed f
      left join event k on k.position = ${start?.position ?? 0}::bigint
      left join (select e.* from chosen c join event e on e.id = c.id) e on true
    order by e.position`.execute(reader);
  const [first] = rows;
  if (first === undefined) throw new Error("The table event_feed has no row.");
  if (start !== null) requireValidPlace(start, first);
  const events = rows.flatMap((row) => (row.id === null ? [] : [{ ...row, id: row.id }]));
  const end = getPageEnd(first, {
    lastRead: events.at(-1)?.position,
    isFull: events.length >= limit,
    checkedMax,
  });
  return {
    events: events.map(toSummary),
    cursor: await createCursor(reader, end.position),
    ...end,
  };
}

/**
 * Returns the cursor at the current end of the event feed. A reader that begins with this cursor gets only
 * events that are added later.
 */
export async function getEventFeedEndCursor(reader: DatabaseOrTransaction): Promise<string> {
  const { rows } = await sql<{ lastPosition: number }>`select last_position from event_feed`.execute(reader);
  return createCursor(reader, rows[0]?.lastPosition ?? 0);
}

/** The key under which `findEventFeedEndPositions` returns the last position of all merchants together. */
export const allMerchantsKey = "";

/** Returns the position of the last event of each merchant in the event feed; 0 if the merchant has no events. */
export async function findEventFeedEndPositions(
  reader: DatabaseOrTransaction,
  merchantIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; position: number }>`
    select m.id, coalesce(case when m.id = ${allMerchantsKey} then (select last_position from event_feed)
      else (select max(position) from event e where e.merchant_id = m.id) end, 0) as position
    from unnest(${merchantIds}::text[]) as m (id)`.execute(reader);
  return new Map(rows.map(({ id, position }) => [id, position]));
}

function toSummary({ id, merchantId, type, occurredAt, ...row }: FeedRow & { id: string }): EventSummary {
  const subject = { type: row.subjectType, id: row.subjectId, version: row.subjectVersion };
  return { id, merchantId, type, occurredAt, subject };
}

interface ReadPage {
  readonly lastRead: number | undefined;
  readonly isFull: boolean;
  readonly checkedMax: number;
}

/**
 * Returns the position of the event feed at which the page ends, and whether there may be further events. The
 * next page begins after this position.
 */
function getPageEnd(
  { checked, checkedPosition, lastPosition }: FeedRow,
  { lastRead, isFull, checkedMax }: ReadPage,
): Pick<EventFeedPage, "position" | "hasMore"> {
  if (isFull && lastRead !== undefined)
    return { position: lastRead, hasMore: checkedPosition !== null && checkedPosition > lastRead };
  if (checked >= checkedMax && checkedPosition !== null) return { position: checkedPosition, hasMore: true };
  return { position: lastPosition, hasMore: false };
}

/**
 * Creates the cursor of a position in the event feed. The cursor contains a hash of the id of the event at
 * this position. If the database is restored from a backup without this event, the position may later belong
 * to another event; the hash then shows that the cursor is no longer valid.
 */
async function createCursor(reader: DatabaseOrTransaction, position: number): Promise<string> {
  const { rows } = await sql<{ id: string; occurredAt: Date }>`
    select id, occurred_at from event where position = ${position}::bigint`.execute(reader);
  const [event] = rows;
  const atMs = event?.occurredAt.getTime() ?? 0;
  const text = [position, atMs, event === undefined ? "" : hashId(event.id)].join(":");
  return Buffer.from(text).toString("base64url");
}

const hashId = (id: string): string => createHash("sha256").update(id).digest("hex").slice(0, 12);

const cursorPattern = /^(?<position>\d{1,15}):(?<atMs>\d{1,15}):(?<idHash>[0-9a-f]{12}|)$/;

function parseCursor(cursor: string): FeedPlace {
  const text = Buffer.from(cursor, "base64url").toString();
  const { position, atMs, idHash } = cursorPattern.exec(text)?.groups ?? {};
  if (position === undefined || idHash === undefined)
    throw cursorFailure("invalid_format", '"after" must be a cursor of the event feed.');
  return { position: Number(position), atMs: Number(atMs), idHash };
}

/**
 * Checks the cursor of a reader of the event feed. Refuses a cursor after which some events have already been
 * deleted, and a cursor that this database has never issued.
 */
function requireValidPlace({ position, atMs, idHash }: FeedPlace, feed: FeedRow): void {
  if (position < feed.deletedPosition) throw expiredFailure(atMs);
  const isKnown = feed.knownId === null ? position === feed.deletedPosition : hashId(feed.knownId) === idHash;
  if (position <= feed.lastPosition && isKnown) return;
  throw cursorFailure(
    "unknown",
    '"after" is a cursor that this database has not given, for example because the database was restored ' +
      'from a backup. Read the feed again without "after", and ignore events that were processed before.',
  );
}

function expiredFailure(atMs: number): Failure {
  const since = atMs === 0 ? "the first event" : new Date(atMs).toISOString();
  return cursorFailure(
    "expired",
    `"after" is a cursor from ${since}. Events after it have been deleted, because events are stored for ` +
      `${eventRetentionDays} days, so the feed cannot continue without a gap. Read the feed again without ` +
      '"after": it begins with the oldest stored event. Load the present state of objects that may have ' +
      "changed between that time and the oldest stored event.",
  );
}

const cursorFailure = (code: string, message: string): Failure =>
  createFailure("invalid_field", {
    message,
    details: [createRequestBodyErrorDetail("/after", code, message)],
  });
