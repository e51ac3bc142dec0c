/**
 * Changes orders; only this file updates the table `sales_order`. A change locks and reads the order, checks
 * its version, runs the work of the change, and reads the order again. Then it computes the statuses, saves
 * the order once, publishes its events and adds them to its timeline. An order can also be changed by the id
 * of one of its parts (for example a payment), or by background work.
 */
import { sql } from "kysely";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createFailure, Failure } from "#foundation/failure.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import type { Database } from "#database/connect.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { OrderCancellationRecord, CancellationRequest, OrderAggregate } from "./order-aggregate.ts";
import type { OrderActor, OrderStatus } from "./order-states.ts";
import { findOrders, isOrderOfOtherBuyer, type OrderPartKind, orderPartTables } from "./find-orders.ts";
import { createOrderConflictFailure } from "./order-checks.ts";
import {
  appendOrderCompletionToTimeline,
  type OrderEvent,
  publishOrderEvents,
  insertOrderTimelineEntries,
} from "./order-events.ts";
import { toStoredTaxLines } from "./order-tax-lines.ts";
import { deriveOrderStatuses } from "./order-statuses.ts";

/** The context of commands that change orders: merchant, actor, time, outbox and services. */
export interface OrderCommandContext extends CartCommandContext {
  readonly actor: OrderActor;
}

export interface OrderIdAndExpectedVersion extends ExpectedVersionInput {
  readonly orderId: string;
}

/** The columns of `sales_order` that a change sets; columns that are left out stay unchanged. */
export interface OrderColumnUpdate {
  readonly status?: OrderStatus;
  readonly holdReason?: string | null;
  readonly cancellationRequest?: CancellationRequest | null;
  readonly cancellation?: Omit<OrderCancellationRecord, "at">;
  /**
   * The amount by which the change reduces what the buyer owes, in minor units. `shippingReducedMinor` is the
   * part of this amount that belongs to shipping.
   */
  readonly reducedMinor?: number;
  readonly shippingReducedMinor?: number;
}

export interface OrderColumnUpdateAndEvents extends OrderColumnUpdate {
  /**
   * Events to publish, in this order. For every event except `order.updated`, an entry is also added to the
   * order's timeline.
   */
  readonly events: readonly OrderEvent[];
}

/**
 * Does the work of an order change. Writes the order's parts (lines, fulfillments, payments, returns), and
 * returns the values to set in the order's row. Returns null if the order stays unchanged.
 */
export type OrderChangeFunction = (order: OrderAggregate) => Promise<OrderColumnUpdateAndEvents | null>;

export interface OrderChangeRequest {
  readonly target: OrderIdAndExpectedVersion;
  /**
   * Throws if the order's state does not allow the change. Called before the order's version is compared with
   * the version that the caller expects.
   */
  readonly requireState?: (order: OrderAggregate) => void;
  readonly work: OrderChangeFunction;
}

export async function lockOrderAndApplyChange(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, requireState, work }: OrderChangeRequest,
): Promise<OrderAggregate> {
  const order = await lockOrder(transaction, context, target.orderId);
  requireState?.(order);
  return applyChangeToLockedOrder(transaction, context, {
    order,
    expectedVersion: target.expectedVersion,
    work,
  });
}

/**
 * Locks the order until the end of the transaction, then reads it. Throws `order_not_found` if the order
 * belongs to another merchant, or if the caller acts for a buyer and the order belongs to another buyer.
 */
export async function lockOrder(
  transaction: Transaction,
  context: Pick<OrderCommandContext, "merchantId" | "buyerReference" | "buyerSessionId" | "actor">,
  orderId: string,
): Promise<OrderAggregate> {
  const locked = await transaction
    .selectFrom("salesOrder")
    .select("id")
    .where("id", "=", blankIdWithForbiddenCharacters(orderId))
    .where("merchantId", "=", context.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  // A second statement reads the order, because the first statement, which locks it, may have waited for
  // another transaction. The first statement would then return the order's lines from before the wait.
  const order =
    locked === undefined ? undefined : (await findOrders(transaction, [locked.id])).get(locked.id);
  if (order === undefined || isOrderOfOtherBuyer(order, context)) throw createFailure("order_not_found");
  return order;
}

/**
 * Finds the id of the order to which a part belongs, for example a payment. Throws `resource_not_found` if
 * the part belongs to another merchant or has no order.
 */
export async function findOrderIdOfOrderPart(
  transaction: Transaction,
  { merchantId }: Pick<OrderCommandContext, "merchantId">,
  { part, id }: { readonly part: OrderPartKind; readonly id: string },
): Promise<string> {
  const { rows } = await sql<{ orderId: string | null }>`
    select order_id from ${sql.table(orderPartTables[part])} where id = ${blankIdWithForbiddenCharacters(id)}
    and merchant_id = ${merchantId}`.execute(transaction);
  const orderId = rows[0]?.orderId;
  if (orderId === null || orderId === undefined) throw createFailure("resource_not_found");
  return orderId;
}

export interface LockedOrderAndChangeFunction extends ExpectedVersionInput {
  readonly order: OrderAggregate;
  readonly work: OrderChangeFunction;
}

/**
 * Changes an order that the caller has locked. Within one transaction, this function may be called only once
 * for the same order.
 */
export async function applyChangeToLockedOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, expectedVersion, work }: LockedOrderAndChangeFunction,
): Promise<OrderAggregate> {
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== order.version)
    throw createOrderConflictFailure("version_conflict", order);
  const outcome = await work(order);
  return outcome === null ? order : saveOrder(transaction, context, { order, outcome });
}

async function saveOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, outcome }: { readonly order: OrderAggregate; readonly outcome: OrderColumnUpdateAndEvents },
): Promise<OrderAggregate> {
  await insertOrderTimelineEntries(transaction, context, { orderId: order.id, events: outcome.events });
  const read = (await findOrders(transaction, [order.id])).get(order.id);
  if (read === undefined) throw new Error(`Order ${order.id} is locked but cannot be read.`);
  const patched = applyOutcome(read, outcome, context);
  const after: OrderAggregate = {
    ...patched,
    ...deriveOrderStatuses(patched),
    version: order.version + 1,
    updatedAt: context.now.toISOString(),
  };
  await writeOrder(transaction, after);
  const completed = await appendOrderCompletionToTimeline(transaction, context, { before: order, after });
  publishOrderEvents(context, outcome.events, { before: order, after: completed });
  return completed;
}

function applyOutcome(
  order: OrderAggregate,
  outcome: OrderColumnUpdateAndEvents,
  { now }: OrderCommandContext,
): OrderAggregate {
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
      taxLines: JSON.stringify(toStoredTaxLines(order)),
      updatedAt: new Date(order.updatedAt),
    })
    .where("id", "=", order.id)
    .execute();
}

/**
 * Services that this service needs to change orders without an API request, for example after an answer of
 * the payment provider.
 */
export interface ServicesForSystemOrderChanges {
  readonly db: Database;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
  readonly publicUrl: string;
  readonly render: EventSubjectRenderer;
  readonly reindex: (transaction: Transaction, productIds: readonly string[], now: Date) => Promise<void>;
  readonly events: InProcessEventEmitter;
}

const systemCause = { operationId: null, actor: "system", requestId: null } as const;

/** Runs an order change in a new transaction, with `system` as the actor. */
export function runOrderChangeAsSystem<Changed>(
  services: ServicesForSystemOrderChanges,
  merchantId: string,
  work: (transaction: Transaction, context: OrderCommandContext) => Promise<Changed>,
): Promise<Changed> {
  const { db, now, render, reindex, keyring, publicUrl, events } = services;
  const runInOutbox = (transaction: Transaction): Promise<Changed> =>
    runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause: systemCause, render }, (outbox) =>
      work(transaction, {
        merchantId,
        now,
        outbox,
        keyring,
        publicUrl,
        events,
        buyerReference: null,
        buyerSessionId: null,
        isSystem: true,
        actor: "system",
        reindex: (handle, ids) => reindex(handle, ids, now),
      }),
    );
  return runInTransaction(db, runInOutbox, { merchantId });
}

/** The order after the change, with the id of the order part that was changed or created. */
export interface OrderAndIdOfChangedPart {
  readonly order: OrderAggregate;
  readonly id: string;
}

interface OrderPartChange {
  readonly orderId: string;
  readonly work: OrderChangeFunction;
}

export async function lockAndChangeOrderOfPart(
  transaction: Transaction,
  context: OrderCommandContext,
  { orderId, work }: OrderPartChange,
): Promise<OrderAggregate> {
  try {
    return await lockOrderAndApplyChange(transaction, context, { target: { orderId }, work });
  } catch (error) {
    if (error instanceof Failure && error.code === "order_not_found")
      throw createFailure("resource_not_found");
    throw error;
  }
}
