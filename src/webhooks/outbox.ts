/**
 * What happens is written beside what it happened to, in the same transaction: both are there after it, or neither. Each event is rendered once,
 * when the work is done, and its two bodies (with the thing, and with its id alone) are never rendered again.
 */
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { type EventType, eventTypes, type SubjectType } from "./event-types.ts";

export interface Happening {
  readonly type: EventType;
  /** The id of the thing it happened to. */
  readonly id: string;
  /** What the fields that changed were before; null where nothing was. */
  readonly previous?: Readonly<Record<string, unknown>> | null;
  /** The thing as it is now, where who tells of it has it at hand: saves reading it again. */
  readonly thing?: object;
}

/** Collects what happens in one transaction. */
export interface Outbox {
  append(happening: Happening): void;
}

/** Who made it happen. */
export interface Cause {
  /** The REST operation; null: GraphQL, or nobody's request. */
  readonly operationId: string | null;
  readonly actor: "api_key" | "oauth_client" | "buyer" | "staff" | "system";
  readonly requestId: string | null;
}

export interface Circumstances {
  readonly merchantId: string;
  readonly now: Date;
  readonly cause: Cause;
}

/** The document of a thing as the transaction left it: what REST answers with, where REST has it. */
export type RenderSubject = (
  transaction: Transaction,
  subject: { readonly type: SubjectType; readonly id: string; readonly merchantId: string; readonly thing: object | undefined },
) => Promise<Readonly<Record<string, unknown>>>;

const bytesMax = 65_536;

/** Gives the work an outbox, and writes what it holds when the work is done. */
export async function withOutbox<Result>(
  transaction: Transaction,
  { render, ...circumstances }: Circumstances & { readonly render: RenderSubject },
  work: (outbox: Outbox) => Promise<Result>,
): Promise<Result> {
  const happenings: Happening[] = [];
  const result = await work({ append: (happening) => void happenings.push(happening) });
  if (happenings.length > 0) await write(transaction, happenings, { render, ...circumstances });
  return result;
}

async function write(
  transaction: Transaction,
  happenings: readonly Happening[],
  { render, merchantId, ...circumstances }: Circumstances & { readonly render: RenderSubject },
): Promise<void> {
  const { mode } = await transaction.selectFrom("merchant").select("mode").where("id", "=", merchantId).executeTakeFirstOrThrow();
  const objects = new Map<string, Readonly<Record<string, unknown>>>();
  for (const { type, id } of happenings) {
    if (objects.has(id)) continue;
    const thing = happenings.findLast((happening) => happening.id === id && happening.thing !== undefined)?.thing;
    objects.set(id, await render(transaction, { type: eventTypes[type].subject, id, merchantId, thing }));
  }
  // Ids of one millisecond have no order of their own: these have that in which things happened.
  const ids = happenings.map(() => createId("event", circumstances.now.getTime())).toSorted();
  const rows = happenings.map((happening, index) =>
    toRow(happening, { ...circumstances, merchantId, mode, eventId: ids[index] ?? "", object: objects.get(happening.id) ?? {} }),
  );
  await transaction.insertInto("event").values(rows).execute();
}

interface Rendered extends Circumstances {
  readonly mode: "live" | "test";
  readonly eventId: string;
  readonly object: Readonly<Record<string, unknown>>;
}

function toRow({ type, id, previous = null }: Happening, { merchantId, mode, now, cause, eventId, object }: Rendered): EventRow {
  const { subject, schemaVersion } = eventTypes[type];
  const version = typeof object["version"] === "number" ? object["version"] : 1;
  const body = (shown: Readonly<Record<string, unknown>>, before: Happening["previous"], isTruncated = false): string =>
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
  const isTooLarge = Buffer.byteLength(whole) > bytesMax;
  return {
    id: eventId,
    merchantId,
    type,
    schemaVersion,
    subjectType: subject,
    subjectId: id,
    subjectVersion: version,
    snapshot: isTooLarge ? body({ id }, null, true) : whole,
    thin: body({ id }, null),
    occurredAt: now,
  };
}

interface EventRow {
  readonly id: string;
  readonly merchantId: string;
  readonly type: EventType;
  readonly schemaVersion: number;
  readonly subjectType: SubjectType;
  readonly subjectId: string;
  readonly subjectVersion: number;
  readonly snapshot: string;
  readonly thin: string;
  readonly occurredAt: Date;
}
