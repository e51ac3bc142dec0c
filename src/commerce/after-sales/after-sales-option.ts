/**
 * The model of one after-sales option: its decision, quantity and terms, and the time windows that apply to
 * its line.
 */
import { guaranteeMonthsMin, isInEuropeanUnion, type ReturnMethod } from "#commerce/markets/policy-rules.ts";
import {
  calculateLineArrival,
  calculateLineLossTime,
  getOrderPolicy,
  getWindowBoundaries,
  type OrderWindow,
  calculateWindowFromArrival,
  calculateWithdrawalWindowFromPlacing,
  calculateWithdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import { type EligibilityDecision, decideEligibility } from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import type { Money } from "#foundation/money.ts";
import type { AfterSalesReason, ReturnReason } from "./reasons.ts";

/** Facts that decide after-sales options and are not part of the order, loaded from stock, prices and returns. */
export interface AfterSalesFacts {
  readonly now: Date;
  /** Ids of the variants of each product that are in stock and may be sent in exchange, by product id. */
  readonly siblingsInStock: ReadonlyMap<string, readonly string[]>;
  /** Number of returns that the buyer requested from this merchant in the last 365 days. */
  readonly returnsOfBuyer: number;
  /**
   * Future instants, in milliseconds since 1970, at which stock, price or number of returns changes merely
   * because time passes, for example because a stock hold expires.
   */
  readonly changeTimes: readonly number[];
}

/** A fee of an option, with the party that pays the fee. */
export interface AfterSalesFee {
  readonly code: "restocking" | "return_shipping";
  readonly amount: Money | null;
  readonly basisPoints: number | null;
  readonly payer: "buyer" | "merchant";
}

/** The terms of an option: return methods, fees, estimated refund, settlements and required evidence. */
export interface AfterSalesOptionTerms {
  readonly methods: readonly ReturnMethod[];
  readonly fees: readonly AfterSalesFee[];
  readonly estimatedRefund: Money | null;
  readonly settlement: readonly ("original_payment" | "store_credit" | "replacement")[];
  readonly evidenceRequired: readonly ("photo" | "serial_number" | "receipt")[];
}

/** An option of the given kind, with its decision and the reasons for the decision. */
export interface AfterSalesOptionOfKind<Kind extends string> extends AfterSalesOptionTerms {
  readonly kind: Kind;
  readonly decision: EligibilityDecision;
  readonly eligibleQuantity: number;
  /** Reasons against the option; empty if and only if the decision is "allowed". */
  readonly reasons: readonly AfterSalesReason[];
  readonly allowedReasonCodes: readonly ReturnReason[];
  readonly window: OrderWindow;
  readonly policyId: string;
}

export type AfterSalesOption = AfterSalesOptionOfKind<ReturnKind>;
export type OrderLevelAfterSalesOption = AfterSalesOptionOfKind<"refund_undelivered" | "withdrawal">;

/** The order, line, facts and time windows from which an option of one line is evaluated. */
export interface AfterSalesLineContext {
  readonly order: OrderAggregate;
  readonly facts: AfterSalesFacts;
  readonly line: OrderLine;
  readonly windows: AfterSalesWindows;
}

/**
 * The order, line, facts and time windows of an after-sales option, and whether the reason of the return is
 * the merchant's fault.
 */
export interface AfterSalesOptionContext extends AfterSalesLineContext {
  readonly isFault: boolean;
}

/** The values from which `toAfterSalesOption` builds an after-sales option. */
export interface AfterSalesOptionInput {
  readonly kind: ReturnKind;
  readonly reasons: readonly AfterSalesReason[];
  readonly quantity: number;
  readonly codes: readonly ReturnReason[];
  readonly window: OrderWindow;
  readonly policyId: string;
  readonly terms: (quantity: number) => AfterSalesOptionTerms;
}

const noTerms: AfterSalesOptionTerms = {
  methods: [],
  fees: [],
  estimatedRefund: null,
  settlement: [],
  evidenceRequired: [],
};

/** Builds an option and derives its decision from its reasons. A denied option has quantity 0 and no terms. */
export function toAfterSalesOption({
  kind,
  reasons,
  quantity,
  codes,
  window,
  policyId,
  terms,
}: AfterSalesOptionInput): AfterSalesOption {
  const decision = decideEligibility(reasons);
  const isDenied = decision === "denied";
  return {
    kind,
    decision,
    eligibleQuantity: isDenied ? 0 : quantity,
    reasons,
    allowedReasonCodes: isDenied ? [] : codes,
    window,
    ...(isDenied ? noTerms : terms(quantity)),
    policyId,
  };
}

/**
 * Merges two options for the same units: one for ordinary reasons, one for faults of the merchant. The
 * ordinary option wins unless it is denied; the reason codes of both are accepted.
 */
export function mergeOrdinaryAndFaultOption(
  ordinary: AfterSalesOption,
  fault: AfterSalesOption,
): AfterSalesOption {
  if (ordinary.decision === "denied") return fault.decision === "denied" ? ordinary : fault;
  return { ...ordinary, allowedReasonCodes: [...ordinary.allowedReasonCodes, ...fault.allowedReasonCodes] };
}

/** The time windows that apply to an order line after its sale, each computed once. */
interface AfterSalesWindows {
  readonly returns: OrderWindow;
  /** Window for exchanges; null if the merchant does not offer exchanges. */
  readonly exchanges: OrderWindow | null;
  /** Window for returns that are the merchant's fault; never shorter than `returns`. */
  readonly faults: OrderWindow;
  /**
   * Time window for reporting lost units: from its start on, sent units that have not been delivered count as
   * lost.
   */
  readonly loss: OrderWindow;
  readonly withdrawal: OrderWindow;
  /** Window of the statutory guarantee; null if the order's country is outside the European Union. */
  readonly guarantee: OrderWindow | null;
  /** Window that a warranty has if it is registered; null if the order was placed without a warranty. */
  readonly warranted: OrderWindow | null;
  readonly registered: OrderWindow | null;
}

export function calculateAfterSalesWindows(order: OrderAggregate, line: OrderLine): AfterSalesWindows {
  const { windowDays, exchangeWindowDays, extendUntil } = getOrderPolicy(order, "return").rules;
  const { months } = getOrderPolicy(order, "warranty").rules;
  const arrival = calculateLineArrival(order, line);
  const returns = calculateWindowFromArrival(order, arrival, { ...daysOf(windowDays), extendUntil });
  const warranted = calculateWindowFromArrival(order, arrival, { months });
  return {
    returns,
    exchanges:
      exchangeWindowDays === null
        ? null
        : calculateWindowFromArrival(order, arrival, { days: exchangeWindowDays, extendUntil }),
    faults: months > 0 ? longer(returns, warranted) : returns,
    loss: {
      clock: "shipped_plus_transit",
      startsAt: calculateLineLossTime(order, line),
      endsAt: null,
      estimated: true,
    },
    withdrawal: withdrawalOf(order, line),
    guarantee: isInEuropeanUnion(order.country)
      ? calculateWindowFromArrival(order, arrival, { months: guaranteeMonthsMin })
      : null,
    warranted: months > 0 ? warranted : null,
    registered: registeredWindow(findLineWarranty(order, line)),
  };
}

function withdrawalOf(order: OrderAggregate, line: OrderLine): OrderWindow {
  const { windowDays } = getOrderPolicy(order, "withdrawal").rules;
  return line.requiresShipping
    ? calculateWithdrawalWindow(order, windowDays)
    : calculateWithdrawalWindowFromPlacing(order, windowDays);
}

export function findLineWarranty(
  { warranties }: Pick<OrderAggregate, "warranties">,
  line: Pick<OrderLine, "id">,
): OrderWarranty | undefined {
  return warranties.find(({ lineId }) => lineId === line.id);
}

export function getWindowChangeTimes(windows: AfterSalesWindows): number[] {
  return Object.values(windows).flatMap((window: OrderWindow | null) =>
    window === null ? [] : getWindowBoundaries(window),
  );
}

const daysOf = (days: number | null): { readonly days?: number } => (days === null ? {} : { days });

/** Returns the window that ends later. A window without an end counts as the longest. */
function longer(one: OrderWindow, other: OrderWindow): OrderWindow {
  if (one.endsAt === null || other.endsAt === null) return one;
  return one.endsAt < other.endsAt ? other : one;
}

function registeredWindow(registration: OrderWarranty | undefined): OrderWindow | null {
  if (registration === undefined) return null;
  return {
    clock: "warranty_start",
    startsAt: registration.startsAt,
    endsAt: registration.endsAt,
    estimated: false,
  };
}
