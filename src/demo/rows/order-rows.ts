/**
 * The rows of orders that are made whole, with all that led to them, and the statements that write any number
 * of them: one a table.
 */
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import type { OrderStatus } from "#commerce/orders/order-states.ts";
import { deriveStatuses } from "#commerce/orders/order-statuses.ts";
import { type CartRows, cartRows, insertCarts, type NewCart } from "./cart-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { insertRows, type Row } from "./insert-rows.ts";
import { type MoneyRows, moneyRows } from "./order-money-rows.ts";
import {
  type OrderIds,
  type OrderLife,
  type OrderStage,
  partlyShippedLines,
  reducedShare,
  timelineOf,
} from "./order-stages.ts";
import { type ParcelRows, parcelRows } from "./order-parcel-rows.ts";

export interface NewOrder {
  readonly cart: NewCart;
  /** What is shown to buyers; another one for each of the merchant's orders. */
  readonly number: string;
  readonly timeZone: string;
  /** By product: its categories and all above them. */
  readonly categoryIds: ReadonlyMap<string, readonly string[]>;
  readonly life: OrderLife;
}

export interface OrderRows extends MoneyRows, ParcelRows {
  readonly carts: CartRows;
  readonly hostedCheckoutSession: Row<"hostedCheckoutSession">;
  readonly salesOrder: Row<"salesOrder">;
  readonly orderLine: readonly Row<"orderLine">[];
  readonly orderTimeline: readonly Row<"orderTimeline">[];
}

const minuteMs = 60_000;
const sessionLifeMs = 60 * minuteMs;
/** So long a buyer has the page open. */
const checkoutMs = 4 * minuteMs;

export function orderRows(order: NewOrder): OrderRows {
  const { cart, life } = order;
  const placedAt = life.at("place").getTime();
  const ids: OrderIds = {
    orderId: createId("order", placedAt),
    sessionId: createId("checkoutSession", placedAt - checkoutMs),
    merchantId: cart.merchantId,
    returnId: life.steps.includes("askReturn") ? createId("return", life.at("askReturn").getTime()) : null,
  };
  const lines = linesOf(order);
  const money = moneyRows({
    ids,
    life,
    lines,
    currency: cart.next.currency,
    totalMinor: cart.next.priced.totalMinor,
  });
  const parcels = parcelRows({ ids, life, lines, delivery: deliveryOf(cart) });
  return {
    ...money,
    ...parcels,
    carts: completedCart(cart, ids),
    hostedCheckoutSession: sessionRow(cart, ids, life),
    salesOrder: salesOrderRow(order, { ids, lines, money, parcels }),
    orderLine: lines.map((line) =>
      Object.assign({ orderId: ids.orderId, merchantId: ids.merchantId }, line, copied(line)),
    ),
    orderTimeline: timelineOf(life).map((row) => Object.assign({ orderId: ids.orderId }, row)),
  };
}

const copied = ({
  categoryIds,
  restrictions,
}: OrderLine): { categoryIds: string[]; restrictions: string[] } => ({
  categoryIds: [...categoryIds],
  restrictions: [...restrictions],
});

/** What becomes of each line by the stage; a cancellation takes all of it, a return one unit of the first. */
function linesOf({ cart, categoryIds, life }: NewOrder): OrderLine[] {
  const ids = cart.next.lines.map(() => createId("orderLine", life.at("place").getTime())).toSorted();
  const sent = partlyShippedLines(life.stage, cart.next.lines.length);
  return cart.next.lines.map((line, position) => {
    const isSent = position < sent;
    const counts = countsOf(life.stage, { quantity: line.quantity, isSent, isFirst: position === 0 });
    return {
      id: ids[position] ?? "",
      position,
      productId: line.productId,
      variantId: line.variantId,
      categoryIds: categoryIds.get(line.productId) ?? [],
      display: line.display,
      requiresShipping: line.requiresShipping,
      restrictions: line.restrictions,
      unitPriceMinor: line.unitPriceMinor,
      subtotalMinor: line.subtotalMinor,
      discountMinor: line.discountMinor,
      taxMinor: line.taxMinor,
      totalMinor: line.totalMinor,
      reducedMinor: reducedShare(life.stage, {
        totalMinor: line.totalMinor,
        ordered: line.quantity,
        isFirst: position === 0,
      }),
      ordered: line.quantity,
      ...counts,
    };
  });
}

type Counts = Pick<
  OrderLine,
  "canceled" | "allocated" | "shipped" | "delivered" | "returnRequested" | "returned" | "refunded"
>;

interface LinePlace {
  readonly quantity: number;
  readonly isSent: boolean;
  readonly isFirst: boolean;
}

function countsOf(stage: OrderStage, { quantity, isSent, isFirst }: LinePlace): Counts {
  const none = {
    canceled: 0,
    allocated: quantity,
    shipped: 0,
    delivered: 0,
    returnRequested: 0,
    returned: 0,
    refunded: 0,
  };
  if (stage === "canceled" || stage === "refunded") return { ...none, canceled: quantity, allocated: 0 };
  if (!isSent) return none;
  const sent = { ...none, shipped: quantity };
  if (stage === "shipped" || stage === "partlyShipped") return sent;
  const there = { ...sent, delivered: quantity };
  if (!isFirst || stage === "delivered") return there;
  return stage === "returned" ? { ...there, returned: 1, refunded: 1 } : { ...there, returnRequested: 1 };
}

/** The order has the address from now on, and keeps it; the cart keeps what was paid. */
function completedCart(cart: NewCart, { orderId }: OrderIds): CartRows {
  const { next, personalData } = cart;
  // Made, about to check out, checked out.
  const life = { status: "completed", version: 3, orderId } as const;
  const kept = personalData.map((row) => Object.assign(row, { eraseAfter: null }));
  return cartRows(
    {
      ...cart,
      next: { ...next, address: null, addressTokenDigest: undefined, deliveryOptions: null },
      personalData: kept,
    },
    life,
  );
}

function sessionRow(
  { id: cartId, next }: NewCart,
  { orderId, sessionId, merchantId }: OrderIds,
  life: OrderLife,
): Row<"hostedCheckoutSession"> {
  const placedAt = life.at("place");
  const createdAt = new Date(placedAt.getTime() - checkoutMs);
  const { country, currency, locale } = next;
  return {
    id: sessionId,
    merchantId,
    cartId,
    orderId,
    status: "completed",
    // Opened, submitted, paid.
    version: 3,
    expiresAt: new Date(createdAt.getTime() + sessionLifeMs),
    createdAt,
    updatedAt: placedAt,
    submittedAt: placedAt,
    completedAt: placedAt,
    successUrl: "https://shop.example/thanks",
    cancelUrl: "https://shop.example/cart",
    country,
    currency,
    locale,
    amountTotalMinor: next.priced.totalMinor,
  };
}

const deliveryOf = ({ next }: NewCart): OrderAggregate["delivery"] =>
  next.deliveryOptions?.find(({ id }) => id === next.deliveryMethodId) ?? null;

interface Parts {
  readonly ids: OrderIds;
  readonly lines: readonly OrderLine[];
  readonly money: MoneyRows;
  readonly parcels: ParcelRows;
}

function salesOrderRow(
  { cart, number, timeZone, life }: NewOrder,
  { ids, lines, money, parcels }: Parts,
): Row<"salesOrder"> {
  const { id: cartId, next } = cart;
  const { priced } = next;
  const isCanceled = life.stage === "canceled" || life.stage === "refunded";
  const reducedMinor = isCanceled
    ? priced.totalMinor
    : lines.reduce((sum, line) => sum + line.reducedMinor, 0);
  const linesMinor = lines.reduce((sum, line) => sum + line.totalMinor, 0);
  const parts = {
    payments: money.orderPayments,
    fulfillments: parcels.orderFulfillments,
    returns: parcels.orderReturns,
  };
  return {
    id: ids.orderId,
    merchantId: ids.merchantId,
    number,
    version: life.steps.length,
    ...deriveStatuses({
      ...parts,
      status: ownStatusOf(life),
      totalMinor: priced.totalMinor,
      reducedMinor,
      lines,
    }),
    cartId,
    sessionId: ids.sessionId,
    marketId: next.marketId,
    country: next.country,
    timeZone,
    currency: next.currency,
    taxIncluded: next.taxIncluded,
    locale: next.locale,
    buyerReference: next.buyerReference,
    buyerEmailId: next.buyerEmailId,
    addressId: next.address?.id ?? null,
    delivery: deliveryOf(cart),
    ...sumsOf(priced),
    reducedMinor,
    shippingReducedMinor: isCanceled ? priced.totalMinor - linesMinor : 0,
    promotions: [],
    cancellationRequest: null,
    canceledReason: isCanceled ? "changed_mind" : null,
    canceledActor: isCanceled ? "buyer" : null,
    canceledAt: isCanceled ? life.at("cancel") : null,
    holdReason: life.stage === "onHold" ? "The address looks unusual." : null,
    placedAt: life.at("place"),
    updatedAt: life.at(life.steps.at(-1) ?? "place"),
  };
}

type Sums = Pick<
  Row<"salesOrder">,
  "subtotalMinor" | "discountMinor" | "shippingMinor" | "shippingDiscountMinor" | "taxMinor" | "totalMinor"
>;

const sumsOf = ({
  subtotalMinor,
  discountMinor,
  shippingMinor,
  shippingDiscountMinor,
  taxMinor,
  totalMinor,
}: NewCart["next"]["priced"]): Sums => ({
  subtotalMinor,
  discountMinor,
  shippingMinor,
  shippingDiscountMinor,
  taxMinor,
  totalMinor,
});

/** What somebody has set; the rest follows. What was delivered is completed, and stays so. */
function ownStatusOf({ stage, steps }: OrderLife): OrderStatus {
  if (stage === "onHold") return "on_hold";
  if (steps.includes("cancel")) return "canceled";
  if (steps.includes("deliver")) return "completed";
  return steps.includes("confirm") ? "confirmed" : "pending";
}

export async function insertOrders(transaction: Transaction, orders: readonly OrderRows[]): Promise<void> {
  await insertCarts(
    transaction,
    orders.map(({ carts }) => carts),
  );
  await insertRows(transaction, {
    hostedCheckoutSession: orders.map(({ hostedCheckoutSession }) => hostedCheckoutSession),
    salesOrder: orders.map(({ salesOrder }) => salesOrder),
    orderLine: orders.flatMap(({ orderLine }) => orderLine),
    payment: orders.map(({ payment }) => payment),
    paymentOperation: orders.flatMap(({ paymentOperation }) => paymentOperation),
    testProviderPayment: orders.map(({ testProviderPayment }) => testProviderPayment),
    testProviderEntry: orders.flatMap(({ testProviderEntry }) => testProviderEntry),
    orderReturn: orders.flatMap(({ orderReturn }) => orderReturn),
    returnLine: orders.flatMap(({ returnLine }) => returnLine),
    refund: orders.flatMap(({ refund }) => refund),
    fulfillment: orders.flatMap(({ fulfillment }) => fulfillment),
    fulfillmentLine: orders.flatMap(({ fulfillmentLine }) => fulfillmentLine),
    orderTimeline: orders.flatMap(({ orderTimeline }) => orderTimeline),
  });
}
