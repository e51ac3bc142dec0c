/**
 * What happens is written beside what it happened to, in the same transaction: both are there after it, or
 * neither. Each event is rendered once, when the work is done, and its two bodies (with the thing, and with
 * its id alone) are never rendered again.
 */
import { LRUCache } from "lru-cache";
import { insertRows } from "#database/prepared-template.ts";
import { type Transaction, runWithCommit } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { recordedSpan } from "#foundation/tracing.ts";
import { type EventType, eventTypes, type SubjectType } from "./event-types.ts";

export interface DomainEvent {
  readonly type: EventType;
  /** The id of the thing it happened to. */
  readonly id: string;
  /** What the fields that changed were before; null where nothing was. */
  readonly previous?: Readonly<Record<string, unknown>> | null;
  /** The thing as it was, instead of `previous`: it is rendered as well, and what is different is told. */
  readonly before?: object;
  /** The thing as it is now, where who tells of it has it at hand: saves reading it again. */
  readonly thing?: object;
  /** The installation it is about, which alone is told of it. */
  readonly installationId?: string | null;
}

/** Collects what happens in one transaction. */
export interface Outbox {
  append(happening: DomainEvent): void;
  /** Asked when the work is done: for what several changes of one transaction come to. */
  appendLast(tell: () => readonly DomainEvent[]): void;
}

/** Who made it happen. */
export interface EventCause {
  /** The REST operation; null: GraphQL, or nobody's request. */
  readonly operationId: string | null;
  readonly actor: "api_key" | "oauth_client" | "buyer" | "staff" | "system";
  readonly requestId: string | null;
}

export interface EventContext {
  readonly merchantId: string;
  readonly now: Date;
  readonly cause: EventCause;
}

type Document = Readonly<Record<string, unknown>>;

export interface EventSubject {
  readonly type: SubjectType;
  readonly id: string;
  readonly merchantId: string;
  readonly thing: object | undefined;
  /** What is rendered with the same one shares what is read for it. */
  readonly together: object;
}

/** The document of a thing as the transaction left it: what REST answers with, where REST has it. */
export type RenderEventSubject = (transaction: Transaction, subject: EventSubject) => Promise<Document>;

const eventBytesMax = 65_536;
/** So many things are rendered together, and so many events written by one statement. */
const chunkMax = 500;

/** Gives the work an outbox, and writes what it holds when the work is done. */
export async function withOutbox<Result>(
  transaction: Transaction,
  { render, ...circumstances }: EventContext & { readonly render: RenderEventSubject },
  work: (outbox: Outbox) => Promise<Result>,
): Promise<Result> {
  const happenings: DomainEvent[] = [];
  const last: (() => readonly DomainEvent[])[] = [];
  const result = await work({
    append: (happening) => void happenings.push(happening),
    appendLast: (tell) => void last.push(tell),
  });
  happenings.push(...last.flatMap((tell) => tell()));
  if (happenings.length === 0) return result;
  const rows = await toEventRows(transaction, happenings, { render, ...circumstances, fannedOutAt: null });
  // Nothing in the transaction looks for them.
  for (const chunk of chunksOf(rows))
    await runWithCommit(transaction, insertRows(transaction, "event", chunk));
  return result;
}

interface EventInsertContext extends EventContext {
  readonly render: RenderEventSubject;
  /** Null: whoever listens to it shall be told. */
  readonly fannedOutAt: Date | null;
}

/** At once, and as things are now; gives the ids, in the order of what happened. */
export async function insertEvents(
  transaction: Transaction,
  happenings: readonly DomainEvent[],
  writing: EventInsertContext,
): Promise<readonly string[]> {
  const rows = await toEventRows(transaction, happenings, writing);
  for (const chunk of chunksOf(rows)) await transaction.executeQuery(insertRows(transaction, "event", chunk));
  return rows.map(({ id }) => id);
}

function chunksOf(rows: readonly EventRow[]): readonly (readonly EventRow[])[] {
  return Array.from({ length: Math.ceil(rows.length / chunkMax) }, (_, index) =>
    rows.slice(index * chunkMax, (index + 1) * chunkMax),
  );
}

async function toEventRows(
  transaction: Transaction,
  happenings: readonly DomainEvent[],
  { render, merchantId, ...circumstances }: EventInsertContext,
): Promise<readonly EventRow[]> {
  const mode = await loadMerchantMode(transaction, merchantId);
  const objects = await renderSubjects(transaction, happenings, { render, merchantId, at: "thing" });
  // The earliest of what it was.
  const changed = happenings.filter(({ before }) => before !== undefined).toReversed();
  const befores = await renderSubjects(transaction, changed, { render, merchantId, at: "before" });
  // Ids of one millisecond have no order of their own: these have that in which things happened.
  const ids = happenings.map(() => createId("event", circumstances.now.getTime())).toSorted();
  const traceparent = recordedSpan()?.traceparent;
  return happenings.map((happening, index) => {
    const object = objects.get(happening.id) ?? {};
    const before = befores.get(happening.id);
    const previous = before === undefined ? happening.previous : previousValues(before, object);
    return toRow(
      { ...happening, previous: previous ?? null },
      { ...circumstances, merchantId, mode, eventId: ids[index] ?? "", object, traceparent },
    );
  });
}

const merchantsMax = 10_000;
const modes = new LRUCache<string, "live" | "test">({ max: merchantsMax });

/** A merchant is made in a mode and keeps it. */
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
  /** The thing as it is, which is read where nobody has it at hand; or as it was. */
  readonly at: "thing" | "before";
}

/** Each thing once, however much happened to it. */
async function renderSubjects(
  transaction: Transaction,
  happenings: readonly DomainEvent[],
  { render, merchantId, at }: SubjectRenderOptions,
): Promise<Map<string, Document>> {
  const subjects = new Map<string, Omit<EventSubject, "together">>();
  for (const { id, type, [at]: thing } of happenings)
    subjects.set(id, {
      type: eventTypes[type].subject,
      id,
      merchantId,
      thing: thing ?? subjects.get(id)?.thing,
    });
  const documents = new Map<string, Document>();
  const wanted = [...subjects.values()];
  for (let start = 0; start < wanted.length; start += chunkMax) {
    const together = {};
    const chunk = wanted.slice(start, start + chunkMax);
    const rendered = await Promise.all(chunk.map((subject) => render(transaction, { ...subject, together })));
    for (const [index, document] of rendered.entries()) documents.set(chunk[index]?.id ?? "", document);
  }
  return documents;
}

/** What the fields that are different now were. */
function previousValues(before: Document, after: Document): Document {
  return Object.fromEntries(
    Object.entries(before).filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(after[field])),
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
    shown: Readonly<Record<string, unknown>>,
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
      data: { object: shown, previous: before ?? null, truncated: isTruncated },
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
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly snapshot: string;
  readonly thin: string;
  readonly occurredAt: Date;
  readonly fannedOutAt: Date | null;
  /** What brought it about, where that is traced. */
  readonly traceparent?: string;
}
