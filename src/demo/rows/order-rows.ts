/**
 * Creates orders with their cart, checkout session, payment, fulfillments and returns, and inserts the rows
 * of many orders with one statement per table.
 */
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import type { OrderStatus } from "#commerce/orders/order-states.ts";
import { toStoredTaxLines } from "#commerce/orders/order-tax-lines.ts";
import { deriveOrderStatuses } from "#commerce/orders/order-statuses.ts";
import {
  type DemoCartRows,
  createDemoCartRows,
  insertDemoCartRows,
  type UnsavedDemoCart,
} from "./cart-rows.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { createDemoOrderLines, type DemoOrderToSeed } from "./order-line-rows.ts";
import { insertTableRows, type DemoTableRowToInsert } from "./insert-rows.ts";
import { type DemoPaymentAndRefundRows, createDemoPaymentAndRefundRows } from "./order-money-rows.ts";
import { type DemoOrderRowIds, type DemoOrderHistory, createDemoOrderTimelineRows } from "./order-stages.ts";
import {
  type DemoFulfillmentAndReturnRows,
  createDemoFulfillmentAndReturnRows,
} from "./order-parcel-rows.ts";

export interface DemoOrderRows extends DemoPaymentAndRefundRows, DemoFulfillmentAndReturnRows {
  readonly cartRows: DemoCartRows;
  readonly hostedCheckoutSession: DemoTableRowToInsert<"hostedCheckoutSession">;
  readonly salesOrder: DemoTableRowToInsert<"salesOrder">;
  readonly orderLine: readonly DemoTableRowToInsert<"orderLine">[];
  readonly orderTimeline: readonly DemoTableRowToInsert<"orderTimeline">[];
}

const minuteMs = 60_000;
const sessionLifetimeMs = 60 * minuteMs;
/** Milliseconds between the opening and the completion of the order's checkout session. */
const checkoutDurationMs = 4 * minuteMs;

export function createDemoOrderRows(order: DemoOrderToSeed): DemoOrderRows {
  const { cart, history } = order;
  const placedAt = history.timeOf("place").getTime();
  const ids: DemoOrderRowIds = {
    orderId: createId("order", placedAt),
    sessionId: createId("checkoutSession", placedAt - checkoutDurationMs),
    merchantId: cart.merchantId,
    returnId: history.steps.includes("requestReturn")
      ? createId("return", history.timeOf("requestReturn").getTime())
      : null,
  };
  const lines = createDemoOrderLines(order);
  const money = createDemoPaymentAndRefundRows({
    ids,
    history,
    lines,
    currency: cart.next.currency,
    totalMinor: cart.next.priced.totalMinor,
  });
  const parcels = createDemoFulfillmentAndReturnRows({
    ids,
    history,
    lines,
    delivery: getChosenDelivery(cart),
  });
  return {
    ...money,
    ...parcels,
    cartRows: createCompletedCartRows(cart, ids),
    hostedCheckoutSession: createSessionRow(cart, ids, history),
    salesOrder: createSalesOrderRow(order, { ids, lines, money, parcels }),
    orderLine: lines.map((line) =>
      Object.assign({ orderId: ids.orderId, merchantId: ids.merchantId }, line, copyLists(line)),
    ),
    orderTimeline: createDemoOrderTimelineRows(history).map((row) =>
      Object.assign({ orderId: ids.orderId }, row),
    ),
  };
}

const copyLists = ({
  categoryIds,
  restrictions,
}: OrderLine): { categoryIds: string[]; restrictions: string[] } => ({
  categoryIds: [...categoryIds],
  restrictions: [...restrictions],
});

/**
 * Creates the rows of the completed cart of an order. The cart has no address, because the address belongs to
 * the order and is no longer due for erasure.
 */
function createCompletedCartRows(cart: UnsavedDemoCart, { orderId }: DemoOrderRowIds): DemoCartRows {
  const { next, personalData } = cart;
  // A cart has the version 1 when it is created, 2 when the checkout locks it, and 3 when it is completed.
  const state = { status: "completed", version: 3, orderId } as const;
  const keptPersonalData = personalData.map((row) => Object.assign(row, { eraseAfter: null }));
  return createDemoCartRows(
    {
      ...cart,
      next: { ...next, address: null, addressTokenDigest: undefined, deliveryOptions: null },
      personalData: keptPersonalData,
    },
    state,
  );
}

function createSessionRow(
  { id: cartId, next }: UnsavedDemoCart,
  { orderId, sessionId, merchantId }: DemoOrderRowIds,
  history: DemoOrderHistory,
): DemoTableRowToInsert<"hostedCheckoutSession"> {
  const placedAt = history.timeOf("place");
  const createdAt = new Date(placedAt.getTime() - checkoutDurationMs);
  const { country, currency, locale } = next;
  return {
    id: sessionId,
    merchantId,
    cartId,
    orderId,
    status: "completed",
    // A checkout session has the version 1 when it is opened, 2 when it is submitted, and 3 when it is paid.
    version: 3,
    expiresAt: new Date(createdAt.getTime() + sessionLifetimeMs),
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

const getChosenDelivery = ({ next }: UnsavedDemoCart): OrderAggregate["delivery"] =>
  next.deliveryOptions?.find(({ id }) => id === next.deliveryMethodId) ?? null;

interface OrderParts {
  readonly ids: DemoOrderRowIds;
  readonly lines: readonly OrderLine[];
  readonly money: DemoPaymentAndRefundRows;
  readonly parcels: DemoFulfillmentAndReturnRows;
}

function createSalesOrderRow(
  { cart, number, timeZone, history }: DemoOrderToSeed,
  { ids, lines, money, parcels }: OrderParts,
): DemoTableRowToInsert<"salesOrder"> {
  const { id: cartId, next } = cart;
  const { priced } = next;
  const isCanceled = history.stage === "canceled" || history.stage === "refunded";
  const reducedMinor = isCanceled
    ? priced.totalMinor
    : lines.reduce((sum, line) => sum + line.reducedMinor, 0);
  const linesMinor = lines.reduce((sum, line) => sum + line.totalMinor, 0);
  const shippingReducedMinor = isCanceled ? priced.totalMinor - linesMinor : 0;
  const parts = {
    payments: money.orderPayments,
    fulfillments: parcels.orderFulfillments,
    returns: parcels.orderReturns,
  };
  return {
    id: ids.orderId,
    merchantId: ids.merchantId,
    number,
    version: history.steps.length,
    ...deriveOrderStatuses({
      ...parts,
      status: getRecordedStatus(history),
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
    delivery: getChosenDelivery(cart),
    ...pickOrderTotals(priced),
    units: lines.reduce((sum, { ordered }) => sum + ordered, 0),
    reducedMinor,
    shippingReducedMinor,
    taxLines: toStoredTaxLines({
      ...priced,
      taxIncluded: next.taxIncluded,
      lines,
      reducedMinor,
      shippingReducedMinor,
    }),
    promotions: [],
    cancellationRequest: null,
    canceledReason: isCanceled ? "changed_mind" : null,
    canceledActor: isCanceled ? "buyer" : null,
    canceledAt: isCanceled ? history.timeOf("cancel") : null,
    holdReason: history.stage === "onHold" ? "The address looks unusual." : null,
    placedAt: history.timeOf("place"),
    updatedAt: history.timeOf(history.steps.at(-1) ?? "place"),
  };
}

type OrderTotalColumns = Pick<
  DemoTableRowToInsert<"salesOrder">,
  | "subtotalMinor"
  | "discountMinor"
  | "shippingMinor"
  | "shippingDiscountMinor"
  | "shippingTaxes"
  | "taxMinor"
  | "totalMinor"
>;

const pickOrderTotals = ({
  subtotalMinor,
  discountMinor,
  shippingMinor,
  shippingDiscountMinor,
  shippingTaxes,
  taxMinor,
  totalMinor,
}: UnsavedDemoCart["next"]["priced"]): OrderTotalColumns => ({
  subtotalMinor,
  discountMinor,
  shippingMinor,
  shippingDiscountMinor,
  shippingTaxes,
  taxMinor,
  totalMinor,
});

/**
 * Returns the order status for the database. A delivered order is stored as completed, even if the buyer
 * returned units later. The service derives all further statuses from payments, fulfillments and returns.
 */
function getRecordedStatus({ stage, steps }: DemoOrderHistory): OrderStatus {
  if (stage === "onHold") return "on_hold";
  if (steps.includes("cancel")) return "canceled";
  if (steps.includes("deliver")) return "completed";
  return steps.includes("confirm") ? "confirmed" : "pending";
}

export async function insertDemoOrderRows(
  transaction: Transaction,
  orders: readonly DemoOrderRows[],
): Promise<void> {
  await insertDemoCartRows(
    transaction,
    orders.map(({ cartRows }) => cartRows),
  );
  await insertTableRows(transaction, {
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
