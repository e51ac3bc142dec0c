/**
 * Whether an order, or some of it, can be canceled, until when, and with which consequences for money, stock
 * and promotions; and what a buyer can do instead. A pure function of the order, the policy it was placed
 * under, and the time; the cancellation itself uses it too, so the two cannot disagree.
 */
import { type Money, money } from "#foundation/money.ts";
import { cancellationValue } from "#commerce/orders/order-value.ts";
import { type AssessedLine, assessLines, windowEndOf } from "./obstacles.ts";
import { cancellationReasonChoices, type CancellationReasonView, type ReasonChoice } from "./reasons.ts";
import {
  bestDecision,
  type Decision,
  decisionOf,
  validUntil,
  withoutRepeats,
} from "#commerce/orders/eligibility-reason.ts";
import type {
  LineQuantity,
  OrderAggregate,
  OrderLine,
  PromotionMinimum,
} from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import {
  arrivalOf,
  isOver,
  policyOf,
  type PolicyOfType,
  turnsOf,
  type Window,
  windowFrom,
  withdrawalFromPlacing,
  withdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import { authorizedMinor, unsentIntangibles, wantedOf } from "#commerce/orders/order-statuses.ts";

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

export type CancellationConsequence =
  | "stock_released"
  | "promotion_use_restored"
  | "order_canceled"
  | "minimum_order_not_met_after_cancel";
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
export function cancellationEligibility(
  order: OrderAggregate,
  now: Date,
  actor: OrderActor = "buyer",
): CancellationEligibility {
  const policy = policyOf(order, "cancellation");
  const assessed = assessLines({ order, rules: policy.rules, now, actor });
  const lines = assessed.map(toLine);
  const decision = bestDecision(lines.map((line) => line.decision));
  const best = lines.filter((line) => line.decision === decision);
  const chosen =
    decision === "denied"
      ? []
      : best.map(({ lineId, cancelableQuantity }) => ({ lineId, quantity: cancelableQuantity }));
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
    validUntil: validUntil(now, [
      ...other.turns,
      ...(deadline?.clock === "placed" && deadline.at !== null ? [Date.parse(deadline.at)] : []),
    ]),
  };
}

function toLine({ line, open, reasons }: AssessedLine): CancellationLine {
  const decision = decisionOf(reasons);
  return {
    lineId: line.id,
    decision,
    cancelableQuantity: decision === "denied" ? 0 : open,
    orderedQuantity: line.ordered,
    reasons,
  };
}

/** The order, when nothing of it would be left. */
function scopeOf(
  { lines }: OrderAggregate,
  chosen: readonly LineQuantity[],
): CancellationEligibility["scope"] {
  if (chosen.length === 0) return "none";
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  return lines.every((line) => wantedOf(line) === (quantities.get(line.id) ?? 0)) ? "order" : "lines";
}

function deadlineOf(
  order: OrderAggregate,
  { rules }: PolicyOfType<"cancellation">,
): CancellationDeadline | null {
  if (rules.mode === "none") return null;
  const endsAt = windowEndOf(order, rules);
  if (endsAt !== null)
    return { at: new Date(endsAt).toISOString(), clock: "placed", policyMinutes: rules.windowMinutes };
  const begun = order.fulfillments
    .flatMap(({ returnId, packingStartedAt }) => (returnId === null ? (packingStartedAt ?? []) : []))
    .toSorted();
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
  const allocations = promotions
    .flatMap((promotion) => promotion.allocations)
    .filter(({ amountMinor }) => amountMinor > 0);
  const isTouched = (lineId: string | null): boolean =>
    lineId === null ? isShippingGone : quantities.has(lineId);
  if (!allocations.some(({ lineId }) => isTouched(lineId))) return "kept";
  const isLeft = (lineId: string | null): boolean =>
    lineId === null
      ? !isShippingGone
      : lines.some((line) => line.id === lineId && wantedOf(line) > (quantities.get(lineId) ?? 0));
  return allocations.some(({ lineId }) => isLeft(lineId)) ? "recalculated" : "removed";
}

function consequencesOf(
  order: OrderAggregate,
  {
    scope,
    chosen,
  }: { readonly scope: CancellationEligibility["scope"]; readonly chosen: readonly LineQuantity[] },
): CancellationConsequence[] {
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

interface Alternatives {
  readonly alternatives: CancellationAlternative[];
  readonly turns: readonly number[];
}

/** What else a buyer can do about what cannot be canceled; and when that will change. */
function alternativesOf(
  order: OrderAggregate,
  { decision, now }: { readonly decision: Decision; readonly now: Date },
): Alternatives {
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

type Ordered = Pick<OrderAggregate, "lines" | "promotions">;

/** Met now, and without these units no more. */
function breaksMinimum(order: Ordered, canceled: readonly LineQuantity[]): boolean {
  const asked = order.promotions.flatMap(({ minimum, discountMinor }) =>
    discountMinor === 0 ? [] : (minimum ?? []),
  );
  return asked.some(
    (minimum) => isMet(order, { minimum, canceled: [] }) && !isMet(order, { minimum, canceled }),
  );
}

function isMet(
  { lines }: Ordered,
  { minimum, canceled }: { readonly minimum: PromotionMinimum; readonly canceled: readonly LineQuantity[] },
): boolean {
  const gone = new Map(canceled.map(({ lineId, quantity }) => [lineId, quantity]));
  const left = lines
    .filter(({ id }) => minimum.lineIds.includes(id))
    .map((line) => ({
      unitPriceMinor: line.unitPriceMinor,
      quantity: wantedOf(line) - (gone.get(line.id) ?? 0),
    }));
  const quantity = left.reduce((sum, units) => sum + units.quantity, 0);
  const subtotalMinor = left.reduce((sum, units) => sum + units.unitPriceMinor * units.quantity, 0);
  return quantity >= (minimum.quantity ?? 0) && subtotalMinor >= (minimum.subtotalMinor ?? 0);
}

/**
 * What a buyer can still do with units that can no longer be canceled. Only a hint where to ask: quantities
 * and terms are in the after-sales eligibility.
 */
interface AfterSaleWays {
  readonly canReturn: boolean;
  readonly canWithdraw: boolean;
  /** The instants (milliseconds) at which time alone may change that. */
  readonly turns: readonly number[];
}

function afterSaleWays(order: OrderAggregate, now: Date): AfterSaleWays {
  if (order.status === "canceled" || order.paymentStatus === "refunded")
    return { canReturn: false, canWithdraw: false, turns: [] };
  const [returns, withdrawals] = [returnWindows(order), withdrawalWindows(order)];
  const isOpen = (window: Window): boolean => !isOver(window, now);
  return {
    canReturn: returns.some(isOpen),
    canWithdraw: withdrawals.some(isOpen),
    turns: [...returns, ...withdrawals].flatMap(turnsOf),
  };
}

const neverTakenBack = ["no_returns", "final_sale", "custom_made", "perishable", "digital", "gift_card"];

/** Of what was sent and is taken back as the merchant's rules stand. */
function returnWindows(order: OrderAggregate): Window[] {
  const { mode, windowDays, extendUntil, excludedCountries, excludedCategoryIds } = policyOf(
    order,
    "return",
  ).rules;
  if (mode === "none" || excludedCountries.includes(order.country)) return [];
  const counted = { ...(windowDays === null ? {} : { days: windowDays }), extendUntil };
  const isTaken = ({ categoryIds }: OrderLine): boolean =>
    !categoryIds.some((id) => excludedCategoryIds.includes(id));
  const lines = order.lines.filter((line) => isKept(line) && isTaken(line) && !isAny(line, neverTakenBack));
  return lines.map((line) => windowFrom(order, arrivalOf(order, line), counted));
}

/**
 * Directive 2011/83/EU, articles 9 and 16; what nobody has sent yet is withdrawn from as well where it is
 * none that is carried.
 */
function withdrawalWindows(order: OrderAggregate): Window[] {
  const { windowDays } = policyOf(order, "withdrawal").rules;
  if (windowDays === 0) return [];
  const lines = order.lines.filter((line) => !isAny(line, ["custom_made", "perishable"]));
  const isSent = lines.some((line) => isKept(line) && !isAny(line, ["digital"]));
  const isPromised = lines.some((line) => unsentIntangibles(line) > 0);
  return [
    ...(isSent ? [withdrawalWindow(order, windowDays)] : []),
    ...(isPromised ? [withdrawalFromPlacing(order, windowDays)] : []),
  ];
}

const isKept = ({ shipped, returned, returnRequested }: OrderLine): boolean =>
  shipped > returned + returnRequested;
const isAny = ({ restrictions }: OrderLine, some: readonly string[]): boolean =>
  some.some((restriction) => restrictions.includes(restriction));
