/**
 * Checks that several order commands have in common: checks of the selected lines, of amounts, and of
 * disputed payments. Also creates the failure that a refused order command throws.
 */
import {
  getListLengthErrors,
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getIntegerFieldErrors,
  getDuplicateEntryErrors,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import {
  createFailure,
  type Failure,
  type FailureCode,
  type ConflictErrorDetails,
} from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import { formatCountWithNoun } from "#foundation/text.ts";
import type { OrderLineIdAndQuantity, OrderAggregate } from "./order-aggregate.ts";

const linesMax = 200;
const quantityMax = 9999;
export const noteLengthMax = 500;

/**
 * Returns the faults in a caller's selection of order lines that can be found without reading the order; none
 * if `lines` is null or undefined.
 */
export function findOrderLineSelectionFaults(
  lines: readonly OrderLineIdAndQuantity[] | null | undefined,
): InputFieldErrors {
  if (lines === null || lines === undefined) return [];
  return [
    ...getListLengthErrors("/lines", lines, { min: 1, max: linesMax }),
    ...lines.flatMap(({ quantity }, index) =>
      getIntegerFieldErrors(`/lines/${index}/quantity`, quantity, { min: 1, max: quantityMax }),
    ),
    ...getDuplicateEntryErrors(
      lines.map(({ lineId }) => lineId),
      (index) => `/lines/${index}/lineId`,
    ),
  ];
}

export function requireKnownOrderLines(
  order: OrderAggregate,
  lines: readonly OrderLineIdAndQuantity[],
): void {
  const known = new Set(order.lines.map(({ id }) => id));
  requireNoInputFieldErrors(
    lines.flatMap(({ lineId }, index) =>
      known.has(lineId)
        ? []
        : [createRequestBodyErrorDetail(`/lines/${index}/lineId`, "unknown", "The order has no such line.")],
    ),
  );
}

/**
 * The number of units of an order line that a command may select at most, and the reasons why the command may
 * not select more units.
 */
export interface SelectableOrderLineQuantity<Reason extends { readonly code: string }> {
  readonly lineId: string;
  readonly quantity: number;
  readonly reasons: readonly Reason[];
}

export interface OrderLineQuantitiesToCheck<Reason extends { readonly code: string }> {
  readonly lines: readonly OrderLineIdAndQuantity[];
  readonly selectable: readonly SelectableOrderLineQuantity<Reason>[];
  /** Reason of the failure if none of the refused lines has a reason of its own. */
  readonly reason: string;
  readonly message: string;
}

/**
 * Throws if the caller selected more units of a line than the command may select. The failure names all such
 * lines, with the reasons why no more units can be selected.
 */
export function requireOrderLineSelectionWithinLimits<Reason extends { readonly code: string }>(
  order: OrderAggregate,
  selection: OrderLineQuantitiesToCheck<Reason>,
): void {
  const there = new Map(selection.selectable.map((line) => [line.lineId, line]));
  const short = selection.lines.flatMap(({ lineId, quantity }, index) => {
    const line = there.get(lineId);
    const left = line?.quantity ?? 0;
    return quantity <= left ? [] : [{ index, lineId, quantity: left, reasons: line?.reasons ?? [] }];
  });
  if (short.length === 0) return;
  const reasons = [
    ...new Map(short.flatMap((line) => line.reasons).map((reason) => [reason.code, reason])).values(),
  ];
  throw createFailure("invalid_state", {
    message: selection.message,
    details: short.map(({ index, quantity }) =>
      createRequestBodyErrorDetail(
        `/lines/${index}/quantity`,
        "too_large",
        `At most ${formatCountWithNoun(quantity, "unit")} of this line can be selected.`,
      ),
    ),
    conflict: toOrderConflictDetail(order, {
      reason: reasons[0]?.code ?? selection.reason,
      data: { reasons, lines: short.map(({ lineId, quantity }) => ({ lineId, quantity })) },
    }),
  });
}

export interface MoneyAmountInput {
  readonly amountMinor: number;
  readonly currency: string;
}

/** Returns the faults in an amount of money that the caller entered; none if the amount is null or undefined. */
export function findMoneyAmountFaults(amount: MoneyAmountInput | null | undefined): InputFieldErrors {
  return getIntegerFieldErrors("/amount/amountMinor", amount?.amountMinor, { min: 1, max: amountMinorMax });
}

export function requireAmountInOrderCurrency(
  { currency }: OrderAggregate,
  amount: MoneyAmountInput | null | undefined,
): void {
  if (amount === null || amount === undefined || amount.currency === currency) return;
  requireNoInputFieldErrors([
    createRequestBodyErrorDetail(
      "/amount/currency",
      "currency_mismatch",
      "The currency must be the order's currency.",
    ),
  ]);
}

export interface OrderConflictFailureOptions {
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Creates a 409 failure that contains the order's status and version. */
export function createOrderConflictFailure(
  code: FailureCode,
  order: OrderAggregate,
  { message, ...refused }: OrderConflictFailureOptions = {},
): Failure {
  return createFailure(code, {
    conflict: toOrderConflictDetail(order, refused),
    ...(message === undefined ? {} : { message }),
  });
}

export function toOrderConflictDetail(
  order: OrderAggregate,
  { reason = null, data = {} }: Omit<OrderConflictFailureOptions, "message"> = {},
): ConflictErrorDetails {
  return {
    resource: "order",
    id: order.id,
    currentStatus: order.status,
    currentVersion: order.version,
    reason,
    data,
  };
}

/**
 * Throws if a payment of the order is disputed, because a disputed payment can be neither captured nor
 * refunded.
 */
export function requireNoDisputedPayment(order: OrderAggregate): void {
  if (!order.payments.some(({ disputedAt }) => disputedAt !== null)) return;
  throw createOrderConflictFailure("invalid_state", order, {
    reason: "payment_disputed",
    message: "The order's payment is disputed.",
  });
}
