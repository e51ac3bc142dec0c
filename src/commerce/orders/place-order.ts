/**
 * Turns a paid checkout into an order. Nothing is priced again: the buyer gets what was confirmed, at the
 * amount that was authorized. The order copies everything that it will ever show of what it sold, its
 * promotions included; what the session held is sold or redeemed in the same transaction.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { completeCart } from "#commerce/carts/cart-transitions.ts";
import { type LockedSession, saveSession, publishSessionEvent } from "#commerce/checkout/change-session.ts";
import { sellHeldStock } from "#commerce/inventory/order-stock.ts";
import type { PaymentRow } from "#commerce/payments/payment-rows.ts";
import { redeemPromotionUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import {
  promotionConditionsOfLines,
  type PromotionConditions,
} from "#commerce/promotions/choose-promotions.ts";
import { findPromotionRules } from "#commerce/promotions/read-promotions.ts";
import type { OrderCommandContext } from "./change-order.ts";
import { type OrderEvent, publishOrder, writeTimeline } from "./order-events.ts";
import type { OrderAggregate, OrderLine, OrderPayment, OrderPromotion } from "./order-aggregate.ts";
import { findOrders } from "./find-orders.ts";
import { deriveStatuses } from "./order-statuses.ts";
import { snapshotPolicies } from "./snapshot-policies.ts";

/** Both locked; the session `processing`. */
export interface CheckoutToPlace extends LockedSession {
  /** Authorised, and written so; null: nothing was to be paid. */
  readonly payment: OrderPayment | null;
}

/** What became of the three. */
export interface PlacedOrder extends LockedSession {
  readonly order: OrderAggregate;
}

export async function placeOrder(
  transaction: Transaction,
  context: OrderCommandContext,
  { cart, session, payment }: CheckoutToPlace,
): Promise<PlacedOrder> {
  const { now } = context;
  const orderId = createId("order", now.getTime());
  const number = createOrderNumber();
  await redeemPromotionUses(transaction, { sessionId: session.id, orderId, now });
  const allocated = await sellHeldStock(transaction, context, { sessionId: session.id, note: number });
  const lines = toOrderLines(cart, { allocated, categories: await categoriesOf(transaction, cart), now });
  await insertOrder(transaction, context, {
    id: orderId,
    number,
    cart,
    sessionId: session.id,
    lines,
    payment,
  });
  await insertLines(transaction, context, { orderId, lines });
  await snapshotPolicies(transaction, context, {
    orderId,
    marketId: cart.marketId,
    country: cart.country,
    locale: cart.locale,
    currency: cart.currency,
  });
  if (payment !== null)
    await transaction.updateTable("payment").set({ orderId }).where("id", "=", payment.id).execute();
  const happenings: OrderEvent[] = [...paymentHappenings(payment), { type: "order.placed" }];
  await writeTimeline(transaction, context, { orderId, happenings });
  const completed = await saveSession(transaction, context, {
    session,
    patch: { status: "completed", completedAt: now, orderId },
  });
  const order = (await findOrders(transaction, [orderId])).get(orderId);
  if (order === undefined) throw new Error(`Order ${orderId} was placed and is not there.`);
  publishOrder(context, happenings, { before: order, after: order });
  const ordered = await completeCart(transaction, context, { cart, orderId });
  publishSessionEvent(context, "checkout_session.completed", {
    before: session,
    after: completed,
    carts: { before: cart, after: ordered },
  });
  return { order, cart: ordered, session: completed };
}

/** As an order has it, which this one has not got yet. */
export function toOrderPayment(payment: PaymentRow): OrderPayment {
  const {
    orderId: _order,
    sessionId: _session,
    merchantId: _merchant,
    currency: _currency,
    tokenSealed: _,
    tokenDataKey: _key,
    tokenKeyId: _id,
    ...row
  } = payment;
  return {
    ...row,
    provider: "test",
    disputedAt: row.disputedAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    pending: [],
  };
}

function paymentHappenings(payment: OrderPayment | null): OrderEvent[] {
  if (payment === null) return [];
  const { id, capturedMinor } = payment;
  // Nothing was told of it in between.
  const previous = { status: "pending" };
  return [
    { type: "payment.authorized", id, previous },
    ...(capturedMinor > 0 ? [{ type: "payment.captured" as const, id, previous }] : []),
  ];
}

/** Each product's categories and all above them, as they are now. */
async function categoriesOf(
  transaction: Transaction,
  { lines }: CartAggregate,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const productIds = [...new Set(lines.map(({ productId }) => productId))];
  const { rows } = await sql<{ productId: string; categoryIds: string[] }>`
    with recursive above as (
      select product_id, category_id from product_category where product_id = any(${productIds}::text[])
      union select a.product_id, c.parent_id from above a join category c on c.id = a.category_id where c.parent_id is not null)
    select product_id, array_agg(category_id order by category_id) as category_ids from above group by product_id`.execute(
    transaction,
  );
  return new Map(rows.map(({ productId, categoryIds }) => [productId, categoryIds]));
}

interface LineBasis {
  readonly allocated: ReadonlyMap<string, number>;
  readonly categories: ReadonlyMap<string, readonly string[]>;
  readonly now: Date;
}

type PlacedLine = OrderLine & { readonly cartLineId: string };

function toOrderLines(cart: CartAggregate, { allocated, categories, now }: LineBasis): PlacedLine[] {
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

interface OrderToInsert {
  readonly id: string;
  readonly number: string;
  readonly cart: CartAggregate;
  readonly sessionId: string;
  readonly lines: readonly PlacedLine[];
  readonly payment: OrderPayment | null;
}

async function insertOrder(
  transaction: Transaction,
  { merchantId, now }: OrderCommandContext,
  order: OrderToInsert,
): Promise<void> {
  const { id, number, cart, sessionId, lines, payment } = order;
  const { timeZone } = await transaction
    .selectFrom("market")
    .select("timeZone")
    .where("id", "=", cart.marketId)
    .executeTakeFirstOrThrow();
  const { totalMinor } = cart;
  const payments = payment === null ? [] : [payment];
  const promotions = await placedPromotions(transaction, cart, lines);
  const statuses = deriveStatuses({
    status: "pending",
    totalMinor,
    reducedMinor: 0,
    lines,
    fulfillments: [],
    payments,
    returns: [],
  });
  const delivery = cart.deliveryOptions?.find((option) => option.id === cart.deliveryMethodId);
  await transaction
    .insertInto("salesOrder")
    .values({
      id,
      merchantId,
      number,
      ...statuses,
      cartId: cart.id,
      sessionId,
      marketId: cart.marketId,
      country: cart.country,
      timeZone,
      currency: cart.currency,
      taxIncluded: cart.taxIncluded,
      locale: cart.locale,
      buyerReference: cart.buyerReference,
      buyerEmailId: cart.buyerEmail?.id ?? null,
      addressId: cart.address?.id ?? null,
      delivery: delivery === undefined ? null : JSON.stringify(delivery),
      subtotalMinor: cart.subtotalMinor,
      discountMinor: cart.discountMinor,
      shippingMinor: cart.shippingMinor,
      shippingDiscountMinor: cart.shippingDiscountMinor,
      taxMinor: cart.taxMinor,
      totalMinor,
      promotions: JSON.stringify(promotions),
      cancellationRequest: null,
      canceledReason: null,
      canceledActor: null,
      canceledAt: null,
      holdReason: null,
      placedAt: now,
      updatedAt: now,
    })
    .execute();
}

async function insertLines(
  transaction: Transaction,
  { merchantId }: OrderCommandContext,
  { orderId, lines }: { readonly orderId: string; readonly lines: readonly PlacedLine[] },
): Promise<void> {
  await transaction
    .insertInto("orderLine")
    .values(
      lines.map(({ cartLineId: _cartLine, display, categoryIds, restrictions, ...line }) => ({
        ...line,
        orderId,
        merchantId,
        categoryIds: [...categoryIds],
        restrictions: [...restrictions],
        display: JSON.stringify(display),
      })),
    )
    .execute();
}

/** Crockford's: without I, L, O and U. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const groupLength = 5;

/** `XXXXX-XXXXX`: 50 random bits. */
function createOrderNumber(): string {
  const characters = Array.from(randomBytes(2 * groupLength), (byte) =>
    alphabet.charAt(byte % alphabet.length),
  ).join("");
  return `${characters.slice(0, groupLength)}-${characters.slice(groupLength)}`;
}

/** The promotions that count: what each took off which of the order's lines, and what it was given for. */
async function placedPromotions(
  transaction: Transaction,
  cart: CartAggregate,
  lines: readonly PlacedLine[],
): Promise<OrderPromotion[]> {
  const applied = cart.promotions.filter(({ state }) => state === "applied");
  const rules = await findPromotionRules(
    transaction,
    applied.map(({ promotionId }) => promotionId),
  );
  const orderLines = new Map(lines.map(({ id, cartLineId }) => [cartLineId, id]));
  const conditionLines = lines.map(({ id, productId, categoryIds, ordered }) => ({
    id,
    productId,
    categoryIds,
    quantity: ordered,
  }));
  return applied.map(({ promotionId, trigger, kind, code, titles, discountMinor, allocations }) => {
    const rule = rules.get(promotionId);
    const { boughtLineIds, minimum } =
      rule === undefined ? noConditions : promotionConditionsOfLines(rule, conditionLines);
    return {
      promotionId,
      trigger,
      kind,
      code,
      titles,
      discountMinor,
      allocations: allocations.map(({ lineId, amountMinor }) => ({
        lineId: lineId === null ? null : (orderLines.get(lineId) ?? null),
        amountMinor,
      })),
      boughtLineIds,
      minimum,
    };
  });
}

const noConditions: PromotionConditions = { boughtLineIds: [], minimum: null };
