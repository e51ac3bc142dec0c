/** Inserts events and deliveries in the state that a test needs, and reads them. */
import { createId } from "#foundation/ids.ts";
import { type EventType, eventTypes } from "#webhooks/event-types.ts";
import type { DeliveryStatus } from "#webhooks/delivery-rules.ts";
import type { World } from "#test/support/world.ts";

/** The parts of a test world that inserting rows needs. */
export type Rows = Pick<World, "database" | "clock" | "demo">;

export interface EventMade {
  readonly type?: EventType;
  /** Milliseconds before the test clock's time. */
  readonly ageMs?: number;
  readonly merchantId?: string;
  /** The only installation that may receive the event. */
  readonly installationId?: string;
  readonly subjectId?: string;
}

/** Inserts events whose deliveries were already created. */
export async function makeEvents(
  { database, clock, demo }: Rows,
  count: number,
  made: EventMade = {},
): Promise<string[]> {
  const {
    type = "order.placed",
    ageMs = 0,
    merchantId = demo.merchants.first.id,
    installationId = null,
    subjectId = createId("order"),
  } = made;
  const occurredAt = new Date(clock.now().getTime() - ageMs);
  const { subject, schemaVersion } = eventTypes[type];
  const ids = Array.from({ length: count }, () => createId("event", occurredAt.getTime())).toSorted();
  const rows = ids.map((id) => ({
    id,
    merchantId,
    installationId,
    type,
    schemaVersion,
    subjectType: subject,
    subjectId,
    subjectVersion: 1,
    snapshot: JSON.stringify({ id, type, data: { object: { id: subjectId, note: "Grüße" } } }),
    thin: JSON.stringify({ id, type, data: { object: { id: subjectId } } }),
    occurredAt,
    fannedOutAt: occurredAt,
  }));
  for (let from = 0; from < rows.length; from += 1000)
    await database.db
      .insertInto("event")
      .values(rows.slice(from, from + 1000))
      .execute();
  return ids;
}

export async function makeEvent(world: Rows, made: EventMade = {}): Promise<string> {
  const [id = ""] = await makeEvents(world, 1, made);
  return id;
}

export interface DeliveryMade {
  readonly endpointId: string;
  readonly status?: DeliveryStatus;
  /** The number of attempts so far, each answered with 500. */
  readonly attempts?: number;
}

/** Each row has fourteen parameters, and a statement allows 65 535. */
const atOnce = 4_000;

/** Inserts one delivery for each event. */
export async function makeDeliveries(
  { database, clock }: Pick<Rows, "database" | "clock">,
  eventIds: readonly string[],
  { endpointId, status = "exhausted", attempts = 0 }: DeliveryMade,
): Promise<string[]> {
  const { db } = database;
  const columns = ["merchantId", "installationId"] as const;
  const owner = await db
    .selectFrom("webhookEndpoint")
    .select(columns)
    .where("id", "=", endpointId)
    .executeTakeFirstOrThrow();
  const isWaiting = status === "pending" || status === "sending" || status === "retrying";
  const at = clock.now();
  const rows = eventIds.map((eventId) => ({
    ...owner,
    id: createId("webhookDelivery", at.getTime()),
    eventId,
    endpointId,
    replayOf: null,
    replayReason: null,
    replayNote: null,
    status,
    attemptCount: attempts,
    nextAttemptAt: isWaiting ? new Date(at.getTime() + 3_600_000) : null,
    lease: status === "sending" ? "somebody" : null,
    createdAt: at,
    finishedAt: isWaiting ? null : at,
  }));
  // One transaction, so that other readers see all rows or none.
  for (let from = 0; from < rows.length; from += atOnce)
    await db
      .insertInto("webhookDelivery")
      .values(rows.slice(from, from + atOnce))
      .execute();
  const tried = rows.flatMap(({ id }) =>
    Array.from({ length: attempts }, (_none, index) => ({
      id: createId("webhookAttempt", at.getTime()),
      deliveryId: id,
      number: index + 1,
      startedAt: at,
      durationMs: 7,
      httpStatus: 500,
      errorCode: "http_status" as const,
    })),
  );
  if (tried.length > 0) await db.insertInto("webhookAttempt").values(tried).execute();
  return rows.map(({ id }) => id);
}

export async function makeDelivery(
  world: Rows,
  made: DeliveryMade & { readonly eventId?: string },
): Promise<string> {
  const [id = ""] = await makeDeliveries(world, [made.eventId ?? (await makeEvent(world))], made);
  return id;
}

/** Reads the columns of all deliveries. */
export function deliveryRows({ database }: Pick<Rows, "database">): Promise<unknown[]> {
  return database.db.selectFrom("webhookDelivery").selectAll().orderBy("id").execute();
}
