/**
 * Turns a paid checkout into an order. Prices are not computed again: the order gets the prices that the
 * buyer confirmed and the payment provider authorized. Texts, prices, promotions and policies are copied into
 * the order, so that later changes of the catalog do not change the order. The same transaction turns the
 * stock holds and promotion uses of the checkout session into those of the order.
 */
import type { LockedCartAndCheckoutSession } from "#commerce/checkout/session-aggregate.ts";
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { completeCart } from "#commerce/carts/cart-transitions.ts";
import { saveCheckoutSession, publishCheckoutSessionEvent } from "#commerce/checkout/change-session.ts";
import { convertHoldsToOrderStock } from "#commerce/inventory/order-stock.ts";
import type { PaymentRow } from "#commerce/payments/payment-rows.ts";
import { redeemPromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { OrderCommandContext } from "./change-order.ts";
import { type OrderEvent, publishOrderEvents, insertOrderTimelineEntries } from "./order-events.ts";
import type { OrderAggregate, OrderPayment } from "./order-aggregate.ts";
import { findOrders } from "./find-orders.ts";
import { snapshotPoliciesForOrder } from "./snapshot-policies.ts";
import { insertOrder, insertOrderLines, type OrderLineWithCartLineId } from "./insert-order.ts";

/** A checkout session and its cart; both are locked, and the session's status is `processing`. */
export interface SubmittedCheckoutWithPayment extends LockedCartAndCheckoutSession {
  /** The authorized payment, which the caller has already saved; null if the order's total is 0. */
  readonly payment: OrderPayment | null;
}

/** The placed order, and the cart and the checkout session as they are after the order was placed. */
export interface PlacedOrderWithCartAndSession extends LockedCartAndCheckoutSession {
  readonly order: OrderAggregate;
}

export async function placeOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { cart, session, payment }: SubmittedCheckoutWithPayment,
): Promise<PlacedOrderWithCartAndSession> {
  const { now } = context;
  const orderId = createId("order", now.getTime());
  const number = createOrderNumber();
  await redeemPromotionUses(transaction, { sessionId: session.id, orderId, now });
  const allocated = await convertHoldsToOrderStock(transaction, context, {
    sessionId: session.id,
    note: number,
  });
  const lines = toOrderLines(cart, { allocated, categories: await categoriesOf(transaction, cart), now });
  await insertOrder(transaction, context, {
    id: orderId,
    number,
    cart,
    sessionId: session.id,
    lines,
    payment,
  });
  await insertOrderLines(transaction, context, { orderId, lines });
  await snapshotPoliciesForOrder(transaction, context, {
    orderId,
    marketId: cart.marketId,
    country: cart.country,
    locale: cart.locale,
    currency: cart.currency,
  });
  if (payment !== null)
    await transaction.updateTable("payment").set({ orderId }).where("id", "=", payment.id).execute();
  const events: OrderEvent[] = [...paymentEvents(payment), { type: "order.placed" }];
  await insertOrderTimelineEntries(transaction, context, { orderId, events });
  const completed = await saveCheckoutSession(transaction, context, {
    session,
    patch: { status: "completed", completedAt: now, orderId },
  });
  const order = (await findOrders(transaction, [orderId])).get(orderId);
  if (order === undefined) throw new Error(`Order ${orderId} was placed but cannot be read.`);
  publishOrderEvents(context, events, { before: order, after: order });
  const ordered = await completeCart(transaction, context, { cart, orderId });
  publishCheckoutSessionEvent(context, "checkout_session.completed", {
    before: session,
    after: completed,
    carts: { before: cart, after: ordered },
  });
  return { order, cart: ordered, session: completed };
}

/**
 * Converts a row of the table `payment` to the payment in an order. Ignores the row's `orderId`, which is not
 * set yet while the order is placed.
 */
export function toOrderPayment(payment: PaymentRow): OrderPayment {
  const {
    orderId: _order,
    sessionId: _session,
    merchantId: _merchant,
    currency: _currency,
    tokenSealed: _,
    tokenDataKey: _key,
    tokenKeyId: _id,
    connectionId: _connection,
    ...row
  } = payment;
  return {
    ...row,
    disputedAt: row.disputedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    pending: [],
  };
}

function paymentEvents(payment: OrderPayment | null): OrderEvent[] {
  if (payment === null) return [];
  const { id, capturedMinor } = payment;
  // Both payment events name `pending` as the previous status, because no event was published when the
  // payment got the status `pending`.
  const previous = { status: "pending" };
  return [
    { type: "payment.authorized", id, previous },
    ...(capturedMinor > 0 ? [{ type: "payment.captured" as const, id, previous }] : []),
  ];
}

/** Returns the ids of the products' current categories and of all their parent categories, by product id. */
async function categoriesOf(
  transaction: Transaction,
  { lines }: CartAggregate,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const productIds = [...new Set(lines.map(({ productId }) => productId))];
  const { rows } = await sql<{ productId: string; categoryIds: string[] }>`
    with recursive above as (
      select product_id, category_id from product_category where product_id = any(${productIds}::text[])
      union select a.product_id, c.parent_id from above a join category c on c.id = a.category_id
      where c.parent_id is not null)
    select product_id, array_agg(category_id order by category_id) as category_ids from above
    group by product_id`.execute(transaction);
  return new Map(rows.map(({ productId, categoryIds }) => [productId, categoryIds]));
}

interface LineBasis {
  readonly allocated: ReadonlyMap<string, number>;
  readonly categories: ReadonlyMap<string, readonly string[]>;
  readonly now: Date;
}

function toOrderLines(
  cart: CartAggregate,
  { allocated, categories, now }: LineBasis,
): OrderLineWithCartLineId[] {
  const ids = cart.lines.map(() => createId("orderLine", now.getTime())).toSorted();
  return cart.lines.map((line, position) => ({
    id: ids[position] ?? "",
    cartLineId: line.id,
    position,
    productId: line.productId,
    variantId: line.variantId,
    categoryIds: categories.get(line.productId) ?? [],
    display: line.display,
    requiresShipping: line.requiresShipping,
    restrictions: line.restrictions,
    unitPriceMinor: line.unitPriceMinor,
    subtotalMinor: line.subtotalMinor,
    discountMinor: line.discountMinor,
    taxRate: line.taxRate,
    taxMinor: line.taxMinor,
    totalMinor: line.totalMinor,
    reducedMinor: 0,
    ordered: line.quantity,
    canceled: 0,
    allocated: allocated.get(line.variantId) ?? 0,
    shipped: 0,
    delivered: 0,
    returnRequested: 0,
    returned: 0,
    refunded: 0,
  }));
}

/**
 * The characters of order numbers (Crockford's base 32). I, L and O are left out because they look like
 * digits, and U by convention.
 */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const groupLength = 5;

/** Creates a random order number `XXXXX-XXXXX` with 50 random bits. */
function createOrderNumber(): string {
  const characters = Array.from(randomBytes(2 * groupLength), (byte) =>
    alphabet.charAt(byte % alphabet.length),
  ).join("");
  return `${characters.slice(0, groupLength)}-${characters.slice(groupLength)}`;
}
