/** Publishes the events of an order and its parts, and writes the order's timeline, which the buyer reads. */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { type EventType, eventTypes } from "#webhooks/event-types.ts";
import type { EventOutbox } from "#webhooks/outbox.ts";
import type { OrderAggregate } from "./order-aggregate.ts";
import type { OrderActor } from "./order-states.ts";

/** An event about a change of an order or of one of its parts, for example a payment. */
export interface OrderEvent {
  readonly type: EventType;
  /** Id of the changed part of the order, for example of a payment. By default: the id of the order. */
  readonly id?: string;
  readonly previous?: Readonly<Record<string, unknown>> | null;
}

/** The actor and the time of an order change. */
interface ActorAndTime {
  readonly now: Date;
  readonly actor: OrderActor;
}

const isCompletedBy = ({ before, after }: OrderBeforeAndAfter): boolean =>
  before.status !== "completed" && after.status === "completed";

interface OrderBeforeAndAfter {
  readonly before: OrderAggregate;
  readonly after: OrderAggregate;
}

/**
 * Adds the entry `order_completed` to the timeline if this change completed the order. The entry is added
 * last, because the status of the order is computed after all other entries are written.
 */
export async function appendOrderCompletionToTimeline(
  transaction: Transaction,
  acting: ActorAndTime,
  changed: OrderBeforeAndAfter,
): Promise<OrderAggregate> {
  const { after } = changed;
  if (!isCompletedBy(changed)) return after;
  await insertOrderTimelineEntries(transaction, acting, {
    orderId: after.id,
    events: [{ type: "order.completed" }],
  });
  const line = { at: acting.now.toISOString(), type: "order_completed", actor: acting.actor };
  return { ...after, timeline: [...after.timeline, line].slice(-timelineMax) };
}

/** Maximum number of timeline entries that the API shows of one order. */
const timelineMax = 50;

/** Adds an entry to the order's timeline for each published event except `order.updated`. */
export async function insertOrderTimelineEntries(
  transaction: Transaction,
  { now, actor }: ActorAndTime,
  { orderId, events }: { readonly orderId: string; readonly events: readonly OrderEvent[] },
): Promise<void> {
  const types = events.map(({ type }) => type).filter((type) => type !== "order.updated");
  if (types.length === 0) return;
  await sql`
    insert into order_timeline (order_id, at, type, actor)
    select ${orderId}, ${now}::timestamptz, replace(t.type, '.', '_'), ${actor} from unnest(${types}::text[])
    with ordinality as t(type, position)
    order by t.position`.execute(transaction);
}

/**
 * Publishes the events of an order change. Every change publishes at least one event of the order itself.
 * This is an event that the change names, `order.completed` if the change completed the order, or else
 * `order.updated`.
 */
export function publishOrderEvents(
  { outbox }: { readonly outbox: EventOutbox },
  events: readonly OrderEvent[],
  { before, after }: { readonly before: OrderAggregate; readonly after: OrderAggregate },
): void {
  const statuses = previousStatuses(before, after);
  const isCompleted = isCompletedBy({ before, after });
  const isNamed = events.some(({ type }) => eventTypes[type].subject === "order");
  const all: OrderEvent[] = [
    ...events,
    ...(isCompleted ? [{ type: "order.completed" as const }] : []),
    ...(isNamed || isCompleted ? [] : [{ type: "order.updated" as const }]),
  ];
  for (const { type, id, previous } of all) {
    const isOfOrder = eventTypes[type].subject === "order";
    outbox.append({
      type,
      id: id ?? after.id,
      previous: previous ?? (isOfOrder ? statuses : null),
      ...(isOfOrder ? { object: after } : {}),
    });
  }
}

function previousStatuses(before: OrderAggregate, after: OrderAggregate): Record<string, unknown> | null {
  const names = ["status", "paymentStatus", "fulfillmentStatus", "returnStatus"] as const;
  const changed = names.filter((name) => before[name] !== after[name]);
  return changed.length === 0 ? null : Object.fromEntries(changed.map((name) => [name, before[name]]));
}
