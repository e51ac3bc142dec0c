/**
 * Whether an order, or some of it, can be canceled, until when, and what follows. A pure function of the order as it is, the policy it was placed under,
 * and the time; the cancellation itself asks it too, so that answer and deed cannot differ.
 */
import { type Money, money } from "#foundation/money.ts";
import { afterSaleWays } from "./after-sale-ways.ts";
import { cancellationValue } from "./order-value.ts";
import { type AssessedLine, assessLines, windowEndOf } from "./cancellation-obstacles.ts";
import { cancellationReasonChoices, type CancellationReasonView, type ReasonChoice } from "./cancellation-reasons.ts";
import { bestDecision, type Decision, decisionOf, validUntil, withoutRepeats } from "./eligibility-reason.ts";
import type { LineQuantity, OrderAggregate } from "./order-aggregate.ts";
import type { OrderActor } from "./order-states.ts";
import { breaksMinimum } from "./promotion-minimum.ts";
import { policyOf, type PolicyOfType } from "./order-terms.ts";
import { authorizedMinor, wantedOf } from "./order-statuses.ts";

export interface CancellationLine {
  readonly lineId: string;
  readonly decision: Decision;
  readonly cancelableQuantity: number;
  readonly orderedQuantity: number;
  readonly reasons: readonly CancellationReasonView[];
}

export interface CancellationRefund {
  readonly estimated: Money;
  readonly method: "void" | "refund" | "none";
  readonly shippingRefunded: boolean;
  readonly fees: readonly { readonly code: "restocking" | "return_shipping"; readonly amount: Money }[];
  readonly promotionEffect: "kept" | "recalculated" | "removed";
}

export type CancellationConsequence = "stock_released" | "promotion_use_restored" | "order_canceled" | "minimum_order_not_met_after_cancel";
export type CancellationAlternative = "return" | "withdrawal" | "contact_merchant";

export interface CancellationDeadline {
  /** Null: nobody knows when the packing will begin. */
  readonly at: string | null;
  readonly clock: "placed" | "packing_started";
  readonly policyMinutes: number | null;
}

export interface CancellationEligibility {
  readonly orderId: string;
  readonly orderVersion: number;
  readonly action: "cancel";
  readonly decision: Decision;
  readonly scope: "order" | "lines" | "none";
  /** Empty exactly when it is allowed. */
  readonly reasons: readonly CancellationReasonView[];
  readonly lines: readonly CancellationLine[];
  readonly allowedReasonCodes: readonly ReasonChoice[];
  readonly deadline: CancellationDeadline | null;
  readonly refund: CancellationRefund | null;
  readonly consequences: readonly CancellationConsequence[];
  readonly alternatives: readonly CancellationAlternative[];
  readonly policy: { readonly id: string; readonly type: "cancellation"; readonly summary: string };
  readonly evaluatedAt: string;
  readonly validUntil: string;
}

/** For a buyer, unless told: the merchant itself is held by what the order is like alone, not by its policy. */
export function cancellationEligibility(order: OrderAggregate, now: Date, actor: OrderActor = "buyer"): CancellationEligibility {
  const policy = policyOf(order, "cancellation");
  const assessed = assessLines({ order, rules: policy.rules, now, actor });
  const lines = assessed.map(toLine);
  const decision = bestDecision(lines.map((line) => line.decision));
  const best = lines.filter((line) => line.decision === decision);
  const chosen = decision === "denied" ? [] : best.map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
  const scope = scopeOf(order, chosen);
  const other = alternativesOf(order, { decision, now });
  const deadline = deadlineOf(order, policy);
  return {
    orderId: order.id,
    orderVersion: order.version,
    action: "cancel",
    decision,
    scope,
    reasons: withoutRepeats(best.flatMap(({ reasons }) => reasons)),
    lines,
    allowedReasonCodes: decision === "denied" ? [] : cancellationReasonChoices,
    deadline,
    refund: scope === "none" ? null : refundOf(order, chosen),
    consequences: consequencesOf(order, { scope, chosen }),
    alternatives: other.alternatives,
    policy: { id: policy.id, type: "cancellation", summary: policy.summary },
    evaluatedAt: now.toISOString(),
    validUntil: validUntil(now, [...other.turns, ...(deadline?.clock === "placed" && deadline.at !== null ? [Date.parse(deadline.at)] : [])]),
  };
}

function toLine({ line, open, reasons }: AssessedLine): CancellationLine {
  const decision = decisionOf(reasons);
  return { lineId: line.id, decision, cancelableQuantity: decision === "denied" ? 0 : open, orderedQuantity: line.ordered, reasons };
}

/** The order, when nothing of it would be left. */
function scopeOf({ lines }: OrderAggregate, chosen: readonly LineQuantity[]): CancellationEligibility["scope"] {
  if (chosen.length === 0) return "none";
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  return lines.every((line) => wantedOf(line) === (quantities.get(line.id) ?? 0)) ? "order" : "lines";
}

function deadlineOf(order: OrderAggregate, { rules }: PolicyOfType<"cancellation">): CancellationDeadline | null {
  if (rules.mode === "none") return null;
  const endsAt = windowEndOf(order, rules);
  if (endsAt !== null) return { at: new Date(endsAt).toISOString(), clock: "placed", policyMinutes: rules.windowMinutes };
  const begun = order.fulfillments.flatMap(({ returnId, packingStartedAt }) => (returnId === null ? (packingStartedAt ?? []) : [])).toSorted();
  return { at: begun[0] ?? null, clock: "packing_started", policyMinutes: null };
}

/** What was captured is given back; of what was only authorized, less will be taken. */
function refundOf(order: OrderAggregate, chosen: readonly LineQuantity[]): CancellationRefund {
  const { refundMinor, reducedMinor, shippingMinor } = cancellationValue(order, chosen);
  const authorized = order.payments.reduce((sum, payment) => sum + authorizedMinor(payment), 0);
  const notTakenMinor = refundMinor > 0 ? 0 : Math.min(reducedMinor, authorized);
  return {
    estimated: money(refundMinor + notTakenMinor, order.currency),
    method: refundMinor > 0 ? "refund" : notTakenMinor > 0 ? "void" : "none",
    shippingRefunded: shippingMinor > 0,
    fees: [],
    promotionEffect: promotionEffectOf(order, { chosen, isShippingGone: shippingMinor > 0 }),
  };
}

/** Discounts go with the units that had them; nothing is priced anew. */
function promotionEffectOf(
  { lines, promotions }: OrderAggregate,
  { chosen, isShippingGone }: { readonly chosen: readonly LineQuantity[]; readonly isShippingGone: boolean },
): CancellationRefund["promotionEffect"] {
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  const allocations = promotions.flatMap((promotion) => promotion.allocations).filter(({ amountMinor }) => amountMinor > 0);
  const isTouched = (lineId: string | null): boolean => (lineId === null ? isShippingGone : quantities.has(lineId));
  if (!allocations.some(({ lineId }) => isTouched(lineId))) return "kept";
  const isLeft = (lineId: string | null): boolean =>
    lineId === null ? !isShippingGone : lines.some((line) => line.id === lineId && wantedOf(line) > (quantities.get(lineId) ?? 0));
  return allocations.some(({ lineId }) => isLeft(lineId)) ? "recalculated" : "removed";
}

function consequencesOf(
  order: OrderAggregate,
  { scope, chosen }: { readonly scope: CancellationEligibility["scope"]; readonly chosen: readonly LineQuantity[] },
): CancellationConsequence[] {
  const { promotions } = order;
  if (scope === "none") return [];
  if (scope === "lines") return ["stock_released", ...(breaksMinimum(order, chosen) ? (["minimum_order_not_met_after_cancel"] as const) : [])];
  return ["stock_released", ...(promotions.length > 0 ? (["promotion_use_restored"] as const) : []), "order_canceled"];
}

interface Alternatives {
  readonly alternatives: CancellationAlternative[];
  readonly turns: readonly number[];
}

/** What else a buyer can do about what cannot be canceled; and when that will change. */
function alternativesOf(order: OrderAggregate, { decision, now }: { readonly decision: Decision; readonly now: Date }): Alternatives {
  const { canReturn, canWithdraw, turns } = afterSaleWays(order, now);
  const isAsking = decision === "denied" && order.status !== "canceled" && order.merchant.status === "active";
  return {
    alternatives: [
      ...(canReturn ? (["return"] as const) : []),
      ...(canWithdraw ? (["withdrawal"] as const) : []),
      ...(isAsking ? (["contact_merchant"] as const) : []),
    ],
    turns,
  };
}
