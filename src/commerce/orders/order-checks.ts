/**
 * Checks that several commands of orders share: of lines, amounts and disputes; and the failure that refuses
 * a command.
 */
import {
  countFaults,
  faultAt,
  type Faults,
  integerFaults,
  repeatFaults,
  requireNoFaults,
} from "#foundation/faults.ts";
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";
import { amountMinorMax } from "#foundation/money.ts";
import type { LineQuantity, OrderAggregate } from "./order-aggregate.ts";

const linesMax = 200;
const quantityMax = 9999;
export const noteMax = 500;

/** What can be told without the order; none named breaks nothing. */
export function chosenFaults(lines: readonly LineQuantity[] | null | undefined): Faults {
  if (lines === null || lines === undefined) return [];
  return [
    ...countFaults("/lines", lines, { min: 1, max: linesMax }),
    ...lines.flatMap(({ quantity }, index) =>
      integerFaults(`/lines/${index}/quantity`, quantity, { min: 1, max: quantityMax }),
    ),
    ...repeatFaults(
      lines.map(({ lineId }) => lineId),
      (index) => `/lines/${index}/lineId`,
    ),
  ];
}

export function requireKnownLines(order: OrderAggregate, lines: readonly LineQuantity[]): void {
  const known = new Set(order.lines.map(({ id }) => id));
  requireNoFaults(
    lines.flatMap(({ lineId }, index) =>
      known.has(lineId) ? [] : [faultAt(`/lines/${index}/lineId`, "unknown", "The order has no such line.")],
    ),
  );
}

/** What there is of a line to choose from, and why not more. */
export interface ChoosableLine<Reason extends { readonly code: string }> {
  readonly lineId: string;
  readonly quantity: number;
  readonly reasons: readonly Reason[];
}

export interface Choice<Reason extends { readonly code: string }> {
  readonly lines: readonly LineQuantity[];
  readonly choosable: readonly ChoosableLine<Reason>[];
  /** Where a line's own reasons say nothing. */
  readonly reason: string;
  readonly message: string;
}

/** Refused with every line that has fewer units than were chosen, and with the reasons why. */
export function requireChoosable<Reason extends { readonly code: string }>(
  order: OrderAggregate,
  choice: Choice<Reason>,
): void {
  const there = new Map(choice.choosable.map((line) => [line.lineId, line]));
  const short = choice.lines.flatMap(({ lineId, quantity }, index) => {
    const line = there.get(lineId);
    const left = line?.quantity ?? 0;
    return quantity <= left ? [] : [{ index, lineId, quantity: left, reasons: line?.reasons ?? [] }];
  });
  if (short.length === 0) return;
  const reasons = [
    ...new Map(short.flatMap((line) => line.reasons).map((reason) => [reason.code, reason])).values(),
  ];
  throw fail("invalid_state", {
    message: choice.message,
    details: short.map(({ index, quantity }) =>
      faultAt(`/lines/${index}/quantity`, "too_large", `There are ${quantity} of it at most.`),
    ),
    conflict: orderConflict(order, {
      reason: reasons[0]?.code ?? choice.reason,
      data: { reasons, lines: short.map(({ lineId, quantity }) => ({ lineId, quantity })) },
    }),
  });
}

export interface AmountInput {
  readonly amountMinor: number;
  readonly currency: string;
}

/** Absent, it breaks nothing. */
export function amountFaults(amount: AmountInput | null | undefined): Faults {
  return integerFaults("/amount/amountMinor", amount?.amountMinor, { min: 1, max: amountMinorMax });
}

export function requireCurrency({ currency }: OrderAggregate, amount: AmountInput | null | undefined): void {
  if (amount === null || amount === undefined || amount.currency === currency) return;
  requireNoFaults([faultAt("/amount/currency", "currency_mismatch", "It must be the order's currency.")]);
}

export interface RefusedOrder {
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** A 409 that says what the order is like, so that the caller need not ask. */
export function refuseOrder(
  code: FailureCode,
  order: OrderAggregate,
  { message, ...refused }: RefusedOrder = {},
): Failure {
  return fail(code, {
    conflict: orderConflict(order, refused),
    ...(message === undefined ? {} : { message }),
  });
}

export function orderConflict(
  order: OrderAggregate,
  { reason = null, data = {} }: Omit<RefusedOrder, "message"> = {},
): FailureConflict {
  return {
    resource: "order",
    id: order.id,
    currentStatus: order.status,
    currentVersion: order.version,
    reason,
    data,
  };
}

/** A payment that is disputed is with the bank: nothing is taken from it or added to it meanwhile. */
export function requireNoDispute(order: OrderAggregate): void {
  if (!order.payments.some(({ disputedAt }) => disputedAt !== null)) return;
  throw refuseOrder("invalid_state", order, {
    reason: "payment_disputed",
    message: "The order's payment is disputed.",
  });
}
