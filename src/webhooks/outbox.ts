/**
 * The transactional outbox. Events are inserted in the transaction that changes their subject, so that either
 * both are committed or neither is. Each event is rendered once, at the end of the transaction, into two
 * stored bodies: a snapshot with the whole object, and a thin body with only the object's id.
 */
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import { bufferInsertUntilNextStatement, buildInsertSqlQuery } from "#database/prepared-template.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { getCurrentRecordedSpan } from "#foundation/tracing.ts";
import { type EventType, eventTypes, type EventSubjectType } from "./event-types.ts";

export interface DomainEvent {
  readonly type: EventType;
  /** The id of the event's subject, which is the changed object. */
  readonly id: string;
  /** The changed fields of the subject with their values before the change; null if there are none. */
  readonly previous?: Readonly<Record<string, unknown>> | null;
  /**
   * The state of the subject before the change. A caller gives either `before` or `previous`. With `before`,
   * the outbox renders the states before and after the change, and publishes the fields that differ.
   */
  readonly before?: object;
  /**
   * The state of the subject after the change, if the caller has already loaded it. If this field is left
   * out, the function that renders the event loads the subject.
   */
  readonly object?: object;
  /**
   * The id of the only installation that may receive the event; null if all installations of the merchant
   * may.
   */
  readonly installationId?: string | null;
}

/** Collects the events of one database transaction. */
export interface EventOutbox {
  append(event: DomainEvent): void;
  /**
   * Adds events that summarize several changes of the transaction. The outbox calls `createEvents` at the
   * end, when the transaction has made all its changes.
   */
  appendLast(createEvents: () => readonly DomainEvent[]): void;
}

/** The operation and the actor that caused an event. */
export interface EventCause {
  /** The id of the REST operation; null for GraphQL and for background jobs. */
  readonly operationId: string | null;
  readonly actor: "api_key" | "oauth_client" | "buyer" | "staff" | "system";
  readonly requestId: string | null;
}

export interface MerchantTimeAndCauseOfEvent {
  readonly merchantId: string;
  readonly now: Date;
  readonly cause: EventCause;
}

type Document = Readonly<Record<string, unknown>>;

export interface EventSubject {
  readonly type: EventSubjectType;
  readonly id: string;
  readonly merchantId: string;
  readonly object: object | undefined;
  /**
   * An object that identifies the batch of the subject. It is the same object for all subjects that are
   * rendered in one batch and share their SQL queries.
   */
  readonly batch: object;
}

/**
 * Renders the object that an event is about, in its state at the end of the transaction. If a REST operation
 * also returns objects of this type, the rendered object has the same fields as over REST.
 */
export type EventSubjectRenderer = (transaction: Transaction, subject: EventSubject) => Promise<Document>;

const eventBytesMax = 65_536;
/** The largest number of subjects that are rendered in one batch, and of events that one statement inserts. */
const chunkMax = 500;

/**
 * Runs `work`, which adds events to the given outbox. After `work` has ended, inserts these events into the
 * database.
 */
export async function runFunctionAndInsertOutboxEvents<Result>(
  transaction: Transaction,
  { render, ...context }: MerchantTimeAndCauseOfEvent & { readonly render: EventSubjectRenderer },
  work: (outbox: EventOutbox) => Promise<Result>,
): Promise<Result> {
  const events: DomainEvent[] = [];
  const last: (() => readonly DomainEvent[])[] = [];
  const result = await work({
    append: (event) => void events.push(event),
    appendLast: (createEvents) => void last.push(createEvents),
  });
  events.push(...last.flatMap((createEvents) => createEvents()));
  if (events.length === 0) return result;
  const rows = await toEventRows(transaction, events, { render, ...context, fannedOutAt: null });
  for (const chunk of chunksOf(rows)) await bufferInsertUntilNextStatement(transaction, "event", chunk);
  return result;
}

interface EventInsertContext extends MerchantTimeAndCauseOfEvent {
  readonly render: EventSubjectRenderer;
  /**
   * The time at which the deliveries of the event were created; null if the dispatcher must still create
   * them.
   */
  readonly fannedOutAt: Date | null;
}

/**
 * Inserts the events immediately, with the current state of their subjects. Returns the event ids in the
 * order of the events.
 */
export async function insertEvents(
  transaction: Transaction,
  events: readonly DomainEvent[],
  context: EventInsertContext,
): Promise<readonly string[]> {
  const rows = await toEventRows(transaction, events, context);
  for (const chunk of chunksOf(rows))
    await transaction.executeQuery(buildInsertSqlQuery(transaction, "event", chunk));
  return rows.map(({ id }) => id);
}

function chunksOf(rows: readonly EventRow[]): readonly (readonly EventRow[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkMax) }, (_, index) =>
    rows.slice(index * chunkMax, (index + 1) * chunkMax),
  );
}

async function toEventRows(
  transaction: Transaction,
  events: readonly DomainEvent[],
  { render, merchantId, ...context }: EventInsertContext,
): Promise<readonly EventRow[]> {
  const mode = await loadMerchantMode(transaction, merchantId);
  const objects = await renderSubjects(transaction, events, { render, merchantId, at: "object" });
  // The list is reversed, because `renderSubjects` renders the last event of each object in the list. The
  // earliest event of an object has its state before all changes.
  const changed = events.filter(({ before }) => before !== undefined).toReversed();
  const befores = await renderSubjects(transaction, changed, { render, merchantId, at: "before" });
  // Ids that are created in the same millisecond are in random order. They are sorted, so that later events
  // get higher ids.
  const ids = events.map(() => createId("event", context.now.getTime())).toSorted();
  const traceparent = getCurrentRecordedSpan()?.traceparent;
  return events.map((event, index) => {
    const object = objects.get(event.id) ?? {};
    const before = befores.get(event.id);
    const previous = before === undefined ? event.previous : previousValues(before, object);
    return toRow(
      { ...event, previous: previous ?? null },
      { ...context, merchantId, mode, eventId: ids[index] ?? "", object, traceparent },
    );
  });
}

const merchantsMax = 10_000;
const modes = new LRUCache<string, "live" | "test">(limitGrowingCache(merchantsMax));

/** Loads a merchant's mode (live or test). The mode never changes, so a cached value stays valid. */
async function loadMerchantMode(transaction: Transaction, merchantId: string): Promise<"live" | "test"> {
  const known = modes.get(merchantId);
  if (known !== undefined) return known;
  const { mode } = await transaction
    .selectFrom("merchant")
    .select("mode")
    .where("id", "=", merchantId)
    .executeTakeFirstOrThrow();
  modes.set(merchantId, mode);
  return mode;
}

interface SubjectRenderOptions extends Pick<EventInsertContext, "render" | "merchantId"> {
  /**
   * The state of the subjects to render. `object` means the state after the change, which is loaded if the
   * event does not contain it; `before` means the state before the change.
   */
  readonly at: "object" | "before";
}

/** Renders each changed object once, even if several events are about the same object. */
async function renderSubjects(
  transaction: Transaction,
  events: readonly DomainEvent[],
  { render, merchantId, at }: SubjectRenderOptions,
): Promise<Map<string, Document>> {
  const subjects = new Map<string, Omit<EventSubject, "batch">>();
  for (const { id, type, [at]: object } of events)
    subjects.set(id, {
      type: eventTypes[type].subject,
      id,
      merchantId,
      object: object ?? subjects.get(id)?.object,
    });
  const documents = new Map<string, Document>();
  const wanted = [...subjects.values()];
  for (let start = 0; start < wanted.length; start += chunkMax) {
    const batch = {};
    const chunk = wanted.slice(start, start + chunkMax);
    const rendered = await Promise.all(chunk.map((subject) => render(transaction, { ...subject, batch })));
    for (const [index, document] of rendered.entries()) documents.set(chunk[index]?.id ?? "", document);
  }
  return documents;
}

/** Compares two states of an object. Returns the fields that differ, with their values before the change. */
function previousValues(before: Document, after: Document): Document {
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => !isDeepStrictEqual(value, after[field])),
  );
}

interface RenderedEventContext extends Omit<EventInsertContext, "render"> {
  readonly mode: "live" | "test";
  readonly eventId: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly traceparent: string | undefined;
}

function toRow(
  { type, id, previous = null, installationId = null }: DomainEvent,
  rendered: RenderedEventContext,
): EventRow {
  const { merchantId, mode, now, cause, eventId, object, fannedOutAt, traceparent } = rendered;
  const { subject, schemaVersion } = eventTypes[type];
  const version = typeof object["version"] === "number" ? object["version"] : 1;
  const body = (
    eventObject: Readonly<Record<string, unknown>>,
    before: DomainEvent["previous"],
    isTruncated = false,
  ): string =>
    JSON.stringify({
      id: eventId,
      type,
      schemaVersion,
      apiVersion: "v1",
      timestamp: now.toISOString(),
      mode,
      merchantId,
      subject: { type: subject, id, version },
      data: { object: eventObject, previous: before ?? null, truncated: isTruncated },
      cause,
    });
  const whole = body(object, previous);
  const isTooLarge = Buffer.byteLength(whole) > eventBytesMax;
  return {
    id: eventId,
    merchantId,
    installationId,
    type,
    schemaVersion,
    subjectType: subject,
    subjectId: id,
    subjectVersion: version,
    snapshot: isTooLarge ? body({ id }, null, true) : whole,
    thin: body({ id }, null),
    occurredAt: now,
    fannedOutAt,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
}

interface EventRow {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string | null;
  readonly type: EventType;
  readonly schemaVersion: number;
  readonly subjectType: EventSubjectType;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly snapshot: string;
  readonly thin: string;
  readonly occurredAt: Date;
  readonly fannedOutAt: Date | null;
  /** W3C trace context of the request that caused the event; left out if that request was not traced. */
  readonly traceparent?: string;
}
