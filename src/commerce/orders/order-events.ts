/**
 * What a change of an order publishes: events of the order and of its parts, and the lines of the timeline
 * that its buyer reads.
 */
import { sql } from "kysely";
import type { Transaction } from "#database/transaction.ts";
import { type EventType, eventTypes } from "#webhooks/event-types.ts";
import type { Outbox } from "#webhooks/outbox.ts";
import type { OrderAggregate } from "./order-aggregate.ts";
import type { OrderActor } from "./order-states.ts";

/** Something that happened to the order or to a part of it. */
export interface OrderEvent {
  readonly type: EventType;
  /** The part's id; left out: the order's own. */
  readonly id?: string;
  readonly previous?: Readonly<Record<string, unknown>> | null;
}

/** Who changes the order, and when. */
interface Acting {
  readonly now: Date;
  readonly actor: OrderActor;
}

const isCompletedBy = ({ before, after }: Changed): boolean =>
  before.status !== "completed" && after.status === "completed";

interface Changed {
  readonly before: OrderAggregate;
  readonly after: OrderAggregate;
}

/** That it is completed follows from what was read back, so its line in the timeline comes after all others. */
export async function noteCompletion(
  transaction: Transaction,
  acting: Acting,
  changed: Changed,
): Promise<OrderAggregate> {
  const { after } = changed;
  if (!isCompletedBy(changed)) return after;
  await writeTimeline(transaction, acting, { orderId: after.id, happenings: [{ type: "order.completed" }] });
  const line = { at: acting.now.toISOString(), type: "order_completed", actor: acting.actor };
  return { ...after, timeline: [...after.timeline, line].slice(-timelineMax) };
}

/** So many lines an order shows. */
const timelineMax = 50;

/**
 * What a buyer reads of an order's life: everything that is told of, but for changes that have no name of
 * their own.
 */
export async function writeTimeline(
  transaction: Transaction,
  { now, actor }: Acting,
  { orderId, happenings }: { readonly orderId: string; readonly happenings: readonly OrderEvent[] },
): Promise<void> {
  const types = happenings.map(({ type }) => type).filter((type) => type !== "order.updated");
  if (types.length === 0) return;
  await sql`
    insert into order_timeline (order_id, at, type, actor)
    select ${orderId}, ${now}::timestamptz, replace(t.type, '.', '_'), ${actor} from unnest(${types}::text[]) with ordinality as t(type, position)
    order by t.position`.execute(transaction);
}

/**
 * The order itself is told of with every change: by the change's own name where it has one, else as updated;
 * by status where that followed.
 */
export function publishOrder(
  { outbox }: { readonly outbox: Outbox },
  happenings: readonly OrderEvent[],
  { before, after }: { readonly before: OrderAggregate; readonly after: OrderAggregate },
): void {
  const statuses = previousStatuses(before, after);
  const isCompleted = isCompletedBy({ before, after });
  const isNamed = happenings.some(({ type }) => eventTypes[type].subject === "order");
  const all: OrderEvent[] = [
    ...happenings,
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
