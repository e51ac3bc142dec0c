/**
 * Answers whether an order or some of its units can be canceled, until when, with which refund and
 * consequences, and what the buyer can do instead. The answer is a pure function of the order, its policy and
 * the time. The command that cancels orders uses the same function.
 */
import { type Money, createMoney } from "#foundation/money.ts";
import { calculateCanceledUnitsValue } from "#commerce/orders/order-value.ts";
import {
  type OrderLineAssessedForCancellation,
  assessOrderLinesForCancellation,
  calculateCancellationWindowEnd,
} from "./obstacles.ts";
import {
  cancellationReasonOptions,
  type CancellationObstacle,
  type CancellationReasonOption,
} from "./reasons.ts";
import {
  findMostFavorableEligibilityDecision,
  type EligibilityDecision,
  decideEligibilityFromReasons,
  calculateEligibilityAnswerExpiry,
  removeReasonsWithRepeatedCode,
} from "#commerce/orders/eligibility-reason.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderPromotionMinimum,
} from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { getOrderPolicy, type OrderPolicyOfType } from "#commerce/orders/order-terms.ts";
import {
  computeRemainingAuthorizedAmountMinor,
  getUncanceledQuantity,
} from "#commerce/orders/order-statuses.ts";
import { type OrderCancellationAlternative, findCancellationAlternatives } from "./alternatives.ts";

export interface OrderLineCancellationEligibility {
  readonly lineId: string;
  readonly decision: EligibilityDecision;
  readonly cancelableQuantity: number;
  readonly orderedQuantity: number;
  readonly reasons: readonly CancellationObstacle[];
}

export interface EstimatedCancellationRefund {
  readonly estimated: Money;
  readonly method: "void" | "refund" | "none";
  readonly shippingRefunded: boolean;
  readonly fees: readonly { readonly code: "restocking" | "return_shipping"; readonly amount: Money }[];
  readonly promotionEffect: "kept" | "recalculated" | "removed";
}

export type OrderCancellationConsequence =
  | "stock_released"
  | "promotion_use_restored"
  | "order_canceled"
  | "minimum_order_not_met_after_cancel";

export interface OrderCancellationDeadline {
  /**
   * The time of the cancellation deadline. If buyers can cancel until packing starts, this is the start of
   * packing; null if packing has not started.
   */
  readonly at: string | null;
  readonly clock: "placed" | "packing_started";
  readonly policyMinutes: number | null;
}

export interface CancellationEligibility {
  readonly orderId: string;
  readonly orderVersion: number;
  readonly action: "cancel";
  readonly decision: EligibilityDecision;
  readonly scope: "order" | "lines" | "none";
  /** Reasons against the cancellation. The list is empty if and only if the decision is `allowed`. */
  readonly reasons: readonly CancellationObstacle[];
  readonly lines: readonly OrderLineCancellationEligibility[];
  readonly allowedReasonCodes: readonly CancellationReasonOption[];
  readonly deadline: OrderCancellationDeadline | null;
  readonly refund: EstimatedCancellationRefund | null;
  readonly consequences: readonly OrderCancellationConsequence[];
  readonly alternatives: readonly OrderCancellationAlternative[];
  readonly policy: { readonly id: string; readonly type: "cancellation"; readonly summary: string };
  readonly evaluatedAt: string;
  readonly validUntil: string;
}

/**
 * Computes what the actor can cancel of an order. For a merchant, only the state of the order matters, not
 * the merchant's cancellation policy.
 */
export function evaluateCancellationEligibility(
  order: OrderAggregate,
  now: Date,
  actor: OrderActor = "buyer",
): CancellationEligibility {
  const policy = getOrderPolicy(order, "cancellation");
  const assessed = assessOrderLinesForCancellation({ order, rules: policy.rules, now, actor });
  const lines = assessed.map(toLine);
  const decision = findMostFavorableEligibilityDecision(lines.map((line) => line.decision));
  const best = lines.filter((line) => line.decision === decision);
  const chosen =
    decision === "denied"
      ? []
      : best.map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
  const scope = scopeOf(order, chosen);
  const other = findCancellationAlternatives(order, { decision, now });
  const reasons = removeReasonsWithRepeatedCode(best.flatMap((line) => line.reasons));
  const windowEnd = calculateCancellationWindowEnd(order, policy.rules);
  return {
    orderId: order.id,
    orderVersion: order.version,
    action: "cancel",
    decision,
    scope,
    reasons,
    lines,
    allowedReasonCodes: decision === "denied" ? [] : cancellationReasonOptions,
    deadline: hasDeadline(reasons) ? deadlineOf(order, policy) : null,
    refund: scope === "none" ? null : refundOf(order, chosen),
    consequences: consequencesOf(order, { scope, chosen }),
    alternatives: other.alternatives,
    policy: { id: policy.id, type: "cancellation", summary: policy.summary },
    evaluatedAt: now.toISOString(),
    validUntil: calculateEligibilityAnswerExpiry(now, [
      ...other.changesAt,
      ...(windowEnd === null ? [] : [windowEnd]),
    ]),
  };
}

function toLine({ line, open, reasons }: OrderLineAssessedForCancellation): OrderLineCancellationEligibility {
  const decision = decideEligibilityFromReasons(reasons);
  return {
    lineId: line.id,
    decision,
    cancelableQuantity: decision === "denied" ? 0 : open,
    orderedQuantity: line.ordered,
    reasons,
  };
}

/**
 * Returns the scope of a cancellation. `order`: the cancellation takes all units that are not canceled yet.
 * `lines`: some of these units remain. `none`: no units are chosen.
 */
function scopeOf(
  { lines }: OrderAggregate,
  chosen: readonly OrderLineIdAndQuantity[],
): CancellationEligibility["scope"] {
  if (chosen.length === 0) return "none";
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  return lines.every((line) => getUncanceledQuantity(line) === (quantities.get(line.id) ?? 0))
    ? "order"
    : "lines";
}

/**
 * Returns true if the eligibility answer must contain the cancellation deadline. It is left out only if the
 * cancellation is denied for other reasons than a deadline that has passed.
 */
const hasDeadline = (reasons: readonly CancellationObstacle[]): boolean =>
  decideEligibilityFromReasons(reasons) !== "denied" ||
  reasons.some(({ code }) => code === "cancellation_window_elapsed");

function deadlineOf(
  order: OrderAggregate,
  { rules }: OrderPolicyOfType<"cancellation">,
): OrderCancellationDeadline | null {
  if (rules.mode === "none") return null;
  const endsAt = calculateCancellationWindowEnd(order, rules);
  if (endsAt !== null)
    return { at: new Date(endsAt).toISOString(), clock: "placed", policyMinutes: rules.windowMinutes };
  const begun = order.fulfillments
    .flatMap(({ returnId, packingStartedAt }) => (returnId === null ? (packingStartedAt ?? []) : []))
    .toSorted();
  return { at: begun[0] ?? null, clock: "packing_started", policyMinutes: null };
}

/**
 * Estimates the refund of a cancellation. A captured amount is refunded. An amount that is only authorized is
 * voided, or less of it is captured later.
 */
function refundOf(
  order: OrderAggregate,
  chosen: readonly OrderLineIdAndQuantity[],
): EstimatedCancellationRefund {
  const { refundMinor, reducedMinor, shippingMinor } = calculateCanceledUnitsValue(order, chosen);
  const authorized = order.payments.reduce(
    (sum, payment) => sum + computeRemainingAuthorizedAmountMinor(payment),
    0,
  );
  const notTakenMinor = refundMinor > 0 ? 0 : Math.min(reducedMinor, authorized);
  return {
    estimated: createMoney(refundMinor + notTakenMinor, order.currency),
    method: refundMinor > 0 ? "refund" : notTakenMinor > 0 ? "void" : "none",
    shippingRefunded: shippingMinor > 0,
    fees: [],
    promotionEffect: promotionEffectOf(order, { chosen, isShippingGone: shippingMinor > 0 }),
  };
}

/**
 * Returns the effect of a cancellation on the discounts of promotions: kept, removed, or recalculated. The
 * order's discounts are reduced by the share of the canceled units; the prices of all other units stay
 * unchanged.
 */
function promotionEffectOf(
  { lines, promotions }: OrderAggregate,
  {
    chosen,
    isShippingGone,
  }: { readonly chosen: readonly OrderLineIdAndQuantity[]; readonly isShippingGone: boolean },
): EstimatedCancellationRefund["promotionEffect"] {
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  const allocations = promotions
    .flatMap((promotion) => promotion.allocations)
    .filter(({ amountMinor }) => amountMinor > 0);
  const isTouched = (lineId: string | null): boolean =>
    lineId === null ? isShippingGone : quantities.has(lineId);
  if (!allocations.some(({ lineId }) => isTouched(lineId))) return "kept";
  const isLeft = (lineId: string | null): boolean =>
    lineId === null
      ? !isShippingGone
      : lines.some(
          (line) => line.id === lineId && getUncanceledQuantity(line) > (quantities.get(lineId) ?? 0),
        );
  return allocations.some(({ lineId }) => isLeft(lineId)) ? "recalculated" : "removed";
}

function consequencesOf(
  order: OrderAggregate,
  {
    scope,
    chosen,
  }: { readonly scope: CancellationEligibility["scope"]; readonly chosen: readonly OrderLineIdAndQuantity[] },
): OrderCancellationConsequence[] {
  const { promotions } = order;
  if (scope === "none") return [];
  if (scope === "lines")
    return [
      "stock_released",
      ...(breaksMinimum(order, chosen) ? (["minimum_order_not_met_after_cancel"] as const) : []),
    ];
  return [
    "stock_released",
    ...(promotions.length > 0 ? (["promotion_use_restored"] as const) : []),
    "order_canceled",
  ];
}

type Ordered = Pick<OrderAggregate, "lines" | "promotions">;

/**
 * Returns true if the order fulfils the minimum of a promotion now, and would not fulfil it after the
 * cancellation.
 */
function breaksMinimum(order: Ordered, canceled: readonly OrderLineIdAndQuantity[]): boolean {
  const minimums = order.promotions.flatMap(({ minimum, discountMinor }) =>
    discountMinor === 0 ? [] : (minimum ?? []),
  );
  return minimums.some(
    (minimum) => isMet(order, { minimum, canceled: [] }) && !isMet(order, { minimum, canceled }),
  );
}

function isMet(
  { lines }: Ordered,
  {
    minimum,
    canceled,
  }: { readonly minimum: OrderPromotionMinimum; readonly canceled: readonly OrderLineIdAndQuantity[] },
): boolean {
  const gone = new Map(canceled.map(({ lineId, quantity }) => [lineId, quantity]));
  const left = lines
    .filter(({ id }) => minimum.lineIds.includes(id))
    .map((line) => ({
      unitPriceMinor: line.unitPriceMinor,
      quantity: getUncanceledQuantity(line) - (gone.get(line.id) ?? 0),
    }));
  const quantity = left.reduce((sum, units) => sum + units.quantity, 0);
  const subtotalMinor = left.reduce((sum, units) => sum + units.unitPriceMinor * units.quantity, 0);
  return quantity >= (minimum.quantity ?? 0) && subtotalMinor >= (minimum.subtotalMinor ?? 0);
}
