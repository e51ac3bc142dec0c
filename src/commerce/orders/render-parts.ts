/**
 * Renders fulfillments, payments, refunds, returns and warranties as the API shows them. Each rendered part
 * contains its own version and the id of its order. Pure.
 */
import { type Money, createMoney } from "#foundation/money.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderFulfillment,
  OrderPayment,
  OrderRefund,
  OrderReturn,
  OrderWarranty,
  ReturnLine,
} from "./order-aggregate.ts";

export interface FulfillmentView extends OrderFulfillment {
  readonly orderId: string;
}

export interface PaymentView {
  readonly id: string;
  /** Id of the payment's order; null if the checkout session of the payment has no order (yet). */
  readonly orderId: string | null;
  readonly sessionId: string;
  readonly status: OrderPayment["status"];
  readonly methodType: string;
  readonly amount: Money;
  readonly capturedAmount: Money;
  readonly voidedAmount: Money;
  readonly refundedAmount: Money;
  readonly failureCode: string | null;
  readonly disputedAt: string | null;
  readonly disputeReason: string | null;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface RefundView {
  readonly id: string;
  /** Id of the refund's order; null if the refunded payment succeeded too late to place an order. */
  readonly orderId: string | null;
  readonly paymentId: string;
  readonly returnId: string | null;
  readonly status: OrderRefund["status"];
  readonly amount: Money;
  readonly reason: OrderRefund["reason"];
  readonly note: string | null;
  readonly lines: readonly (OrderLineIdAndQuantity & { readonly amount: Money })[];
  readonly shipping: Money;
  readonly version: number;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface ReturnView extends Omit<OrderReturn, "refundMinor" | "feeMinor"> {
  readonly orderId: string;
  readonly lines: readonly ReturnLine[];
  readonly refund: Money;
  readonly fee: Money;
  /** The ids of the fulfillments that send the replacements for the returned goods. */
  readonly fulfillmentIds: readonly string[];
}

export interface WarrantyView extends OrderWarranty {
  readonly orderId: string;
}

export interface OrderPartViewsByKind {
  readonly fulfillments: FulfillmentView;
  readonly payments: PaymentView;
  readonly refunds: RefundView;
  readonly returns: ReturnView;
  readonly warranties: WarrantyView;
}

export function toFulfillmentView(
  fulfillment: OrderFulfillment,
  { id: orderId }: Pick<OrderAggregate, "id">,
): FulfillmentView {
  return { ...fulfillment, orderId };
}

/** The order or checkout session to which a payment belongs. */
export interface OrderOrCheckoutSessionOfPayment {
  readonly orderId: string | null;
  readonly sessionId: string;
  readonly currency: string;
}

export function toPaymentView(
  payment: Omit<OrderPayment, "pending" | "provider">,
  { orderId, sessionId, currency }: OrderOrCheckoutSessionOfPayment,
): PaymentView {
  const { id, status, methodType, failureCode, disputedAt, disputeReason, version, createdAt, updatedAt } =
    payment;
  return {
    id,
    orderId,
    sessionId,
    status,
    methodType,
    amount: createMoney(payment.amountMinor, currency),
    capturedAmount: createMoney(payment.capturedMinor, currency),
    voidedAmount: createMoney(payment.voidedMinor, currency),
    refundedAmount: createMoney(payment.refundedMinor, currency),
    failureCode,
    disputedAt,
    disputeReason,
    version,
    createdAt,
    updatedAt,
  };
}

export function toRefundView(
  refund: OrderRefund,
  { orderId, currency }: Pick<OrderOrCheckoutSessionOfPayment, "orderId" | "currency">,
): RefundView {
  const { id, paymentId, returnId, status, reason, note, version, createdAt, updatedAt } = refund;
  return {
    id,
    orderId,
    paymentId,
    returnId,
    status,
    amount: createMoney(refund.amountMinor, currency),
    reason,
    note,
    lines: refund.lines.map(({ lineId, quantity, amountMinor }) => ({
      lineId,
      quantity,
      amount: createMoney(amountMinor, currency),
    })),
    shipping: createMoney(refund.shippingMinor, currency),
    version,
    createdAt,
    updatedAt,
  };
}

export function toReturnView(
  part: OrderReturn,
  order: Pick<OrderAggregate, "id" | "currency" | "fulfillments">,
): ReturnView {
  const { refundMinor, feeMinor, ...shown } = part;
  return {
    ...shown,
    orderId: order.id,
    refund: createMoney(refundMinor, order.currency),
    fee: createMoney(feeMinor, order.currency),
    fulfillmentIds: order.fulfillments.filter(({ returnId }) => returnId === part.id).map(({ id }) => id),
  };
}

export function toWarrantyView(
  warranty: OrderWarranty,
  { id: orderId }: Pick<OrderAggregate, "id">,
): WarrantyView {
  return { ...warranty, orderId };
}

type Renderers = {
  readonly [Part in keyof OrderPartViewsByKind]: (
    order: OrderAggregate,
  ) => readonly OrderPartViewsByKind[Part][];
};

const renderers: Renderers = {
  fulfillments: (order) => order.fulfillments.map((part) => toFulfillmentView(part, order)),
  payments: (order) => order.payments.map((part) => toPaymentView(part, { ...order, orderId: order.id })),
  refunds: (order) => order.refunds.map((part) => toRefundView(part, { ...order, orderId: order.id })),
  returns: (order) => order.returns.map((part) => toReturnView(part, order)),
  warranties: (order) => order.warranties.map((part) => toWarrantyView(part, order)),
};

/** Renders all parts of one kind (for example all payments) of an order, oldest first. */
export function toOrderPartViews<Part extends keyof OrderPartViewsByKind>(
  order: OrderAggregate,
  part: Part,
): readonly OrderPartViewsByKind[Part][] {
  return renderers[part](order);
}
