/**
 * The one way to change an order: it locks the order before it reads it, checks its version, runs the change,
 * reads back what the change wrote, derives the statuses, saves the order once, publishes its events and adds
 * them to its timeline. Nothing else writes `sales_order`. Also changes a part by the part's id, and runs
 * changes that no request asked for.
 */
import { sql } from "kysely";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { fail, Failure } from "#foundation/failure.ts";
import type { ServiceEvents } from "#foundation/events.ts";
import type { Database } from "#database/connect.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { type RenderEventSubject, withOutbox } from "#webhooks/outbox.ts";
import { toSafeId } from "#foundation/ids.ts";
import type { Cancellation, CancellationRequest, OrderAggregate } from "./order-aggregate.ts";
import type { OrderActor, OrderStatus } from "./order-states.ts";
import { findOrders, isForeignOrder, type OrderPart, partTables } from "./find-orders.ts";
import { refuseOrder } from "./order-checks.ts";
import { noteCompletion, type OrderEvent, publishOrder, writeTimeline } from "./order-events.ts";
import { deriveStatuses } from "./order-statuses.ts";

/** For whom an order changes, and who does it. */
export interface OrderCommandContext extends CartCommandContext {
  readonly actor: OrderActor;
}

export interface OrderTarget extends ExpectedVersionInput {
  readonly orderId: string;
}

/** What becomes of the order's own row; what is left out stays. */
export interface OrderPatch {
  readonly status?: OrderStatus;
  readonly holdReason?: string | null;
  readonly cancellationRequest?: CancellationRequest | null;
  readonly cancellation?: Omit<Cancellation, "at">;
  /** Added to what the buyer no longer owes; of it, shipping. */
  readonly reducedMinor?: number;
  readonly shippingReducedMinor?: number;
}

export interface OrderOutcome extends OrderPatch {
  /** In the order in which they happened; each but `order.updated` has its line in the timeline. */
  readonly happenings: readonly OrderEvent[];
}

/**
 * Writes the parts (lines, fulfillments, payments, returns …), and says what becomes of the order. Null:
 * nothing is to be done.
 */
export type ChangeOrderWork = (order: OrderAggregate) => Promise<OrderOutcome | null>;

export interface OrderChange {
  readonly target: OrderTarget;
  /** Refuses where the state does not allow it: state before version. */
  readonly requireState?: (order: OrderAggregate) => void;
  readonly work: ChangeOrderWork;
}

export async function changeOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, requireState, work }: OrderChange,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  requireState?.(order);
  return changeLocked(transaction, context, { order, expectedVersion: target.expectedVersion, work });
}

/** The newest there is of it, and nobody else changes it until the end of the transaction. */
export async function lockOrder(
  transaction: Transaction,
  context: Pick<OrderCommandContext, "merchantId" | "buyerReference" | "actor">,
  orderId: string,
): Promise<OrderAggregate> {
  const locked = await transaction
    .selectFrom("salesOrder")
    .select("id")
    .where("id", "=", toSafeId(orderId))
    .where("merchantId", "=", context.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  // A statement of its own: one that waited for the lock would have read the lines from before.
  const order =
    locked === undefined ? undefined : (await findOrders(transaction, [locked.id])).get(locked.id);
  if (order === undefined || isForeignOrder(order, context)) throw fail("order_not_found");
  return order;
}

/** The order that a part belongs to; of another merchant's, and of one without an order, there is none. */
export async function orderIdOf(
  transaction: Transaction,
  { merchantId }: Pick<OrderCommandContext, "merchantId">,
  { part, id }: { readonly part: OrderPart; readonly id: string },
): Promise<string> {
  const { rows } = await sql<{ orderId: string | null }>`
    select order_id from ${sql.table(partTables[part])} where id = ${toSafeId(id)} and merchant_id = ${merchantId}`.execute(
    transaction,
  );
  const orderId = rows[0]?.orderId;
  if (orderId === null || orderId === undefined) throw fail("resource_not_found");
  return orderId;
}

export interface LockedChange extends ExpectedVersionInput {
  readonly order: OrderAggregate;
  readonly work: ChangeOrderWork;
}

/** Of an order that the caller has locked, and that is not saved twice. */
export async function changeLocked(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, expectedVersion, work }: LockedChange,
): Promise<OrderAggregate> {
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== order.version)
    throw refuseOrder("version_conflict", order);
  const outcome = await work(order);
  return outcome === null ? order : saveOrder(transaction, context, { order, outcome });
}

async function saveOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, outcome }: { readonly order: OrderAggregate; readonly outcome: OrderOutcome },
): Promise<OrderAggregate> {
  await writeTimeline(transaction, context, { orderId: order.id, happenings: outcome.happenings });
  const read = (await findOrders(transaction, [order.id])).get(order.id);
  if (read === undefined) throw new Error(`Order ${order.id} was locked and is not there.`);
  const patched = patch(read, outcome, context);
  const after: OrderAggregate = {
    ...patched,
    ...deriveStatuses(patched),
    version: order.version + 1,
    updatedAt: context.now.toISOString(),
  };
  await writeOrder(transaction, after);
  const told = await noteCompletion(transaction, context, { before: order, after });
  publishOrder(context, outcome.happenings, { before: order, after: told });
  return told;
}

function patch(order: OrderAggregate, outcome: OrderOutcome, { now }: OrderCommandContext): OrderAggregate {
  const {
    status = order.status,
    holdReason = order.holdReason,
    cancellationRequest = order.cancellationRequest,
    cancellation,
  } = outcome;
  return {
    ...order,
    status,
    holdReason,
    cancellationRequest,
    cancellation:
      cancellation === undefined ? order.cancellation : { ...cancellation, at: now.toISOString() },
    reducedMinor: order.reducedMinor + (outcome.reducedMinor ?? 0),
    shippingReducedMinor: order.shippingReducedMinor + (outcome.shippingReducedMinor ?? 0),
  };
}

async function writeOrder(transaction: Transaction, order: OrderAggregate): Promise<void> {
  const { cancellation, cancellationRequest } = order;
  await transaction
    .updateTable("salesOrder")
    .set({
      version: order.version,
      status: order.status,
      paymentStatus: order.paymentStatus,
      fulfillmentStatus: order.fulfillmentStatus,
      returnStatus: order.returnStatus,
      holdReason: order.holdReason,
      cancellationRequest: cancellationRequest === null ? null : JSON.stringify(cancellationRequest),
      canceledReason: cancellation?.reason ?? null,
      canceledNote: cancellation?.note ?? null,
      canceledActor: cancellation?.actor ?? null,
      canceledAt: cancellation === null ? null : new Date(cancellation.at),
      reducedMinor: order.reducedMinor,
      shippingReducedMinor: order.shippingReducedMinor,
      updatedAt: new Date(order.updatedAt),
    })
    .where("id", "=", order.id)
    .execute();
}

/** What a change needs that no request asked for: one by the clock, or by the answer of a payment provider. */
export interface SystemServices {
  readonly db: Database;
  readonly now: Date;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly render: RenderEventSubject;
  readonly reindex: (transaction: Transaction, productIds: readonly string[], now: Date) => Promise<void>;
  readonly events: ServiceEvents;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;

/** In a transaction of its own. */
export function changeAsSystem<Changed>(
  services: SystemServices,
  merchantId: string,
  work: (transaction: Transaction, context: OrderCommandContext) => Promise<Changed>,
): Promise<Changed> {
  const { db, now, render, reindex, keyring, publicUrl, events } = services;
  return inTransaction(db, (transaction) =>
    withOutbox(transaction, { merchantId, now, cause, render }, (outbox) =>
      work(transaction, {
        merchantId,
        now,
        outbox,
        keyring,
        publicUrl,
        events,
        buyerReference: null,
        isSystem: true,
        actor: "system",
        reindex: (handle, ids) => reindex(handle, ids, now),
      }),
    ),
  );
}

/** A part of an order that was changed, or made. */
export interface ChangedPart {
  readonly order: OrderAggregate;
  readonly id: string;
}

interface PartChange {
  readonly orderId: string;
  readonly work: ChangeOrderWork;
}

export async function changePart(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, work }: PartChange,
): Promise<OrderAggregate> {
  try {
    return await changeOrder(transaction, context, { target: { orderId }, work });
  } catch (error) {
    if (error instanceof Failure && error.code === "order_not_found") throw fail("resource_not_found");
    throw error;
  }
}
