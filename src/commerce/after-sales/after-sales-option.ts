/**
 * Defines after-sales options. An after-sales option is what a buyer can request for an order line after the
 * sale, for example a return. It has a decision, a quantity and terms. Also computes the time windows of an
 * order line.
 */
import {
  guaranteeMonthsMin,
  isEuropeanUnionCountry,
  type ReturnMethod,
} from "#commerce/markets/policy-rules.ts";
import {
  calculateOrderLineArrival,
  calculateParcelLossTimeOfLine,
  getOrderPolicy,
  getTimeWindowBoundaries,
  type OrderTimeWindow,
  calculateTimeWindowFromArrival,
  calculateWithdrawalWindowFromPurchase,
  calculateWithdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import {
  type EligibilityDecision,
  decideEligibilityFromReasons,
} from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import type { Money } from "#foundation/money.ts";
import type { AfterSalesObstacle, ReturnReason } from "./reasons.ts";

/** Data outside the order that decides its after-sales options: stock, prices and the buyer's returns. */
export interface AfterSalesDataOutsideOrder {
  readonly now: Date;
  /**
   * The possible variants for an exchange, by product id: the variants of the product that are in stock and
   * that the merchant may send in exchange.
   */
  readonly siblingsInStock: ReadonlyMap<string, readonly string[]>;
  /** Number of returns that the buyer requested from this merchant in the last 365 days. */
  readonly returnsOfBuyer: number;
  /**
   * Future times, in milliseconds since 1970, at which the loaded data becomes outdated although no database
   * row changes. Examples are the expiry of a stock hold and the end of a price.
   */
  readonly changeTimes: readonly number[];
}

/** A fee that an after-sales option costs, and the party that pays this fee. */
export interface AfterSalesFee {
  readonly code: "restocking" | "return_shipping";
  readonly amount: Money;
  readonly basisPoints: number | null;
  readonly payer: "buyer" | "merchant";
}

/**
 * The terms of an after-sales option: return methods, fees, estimated refund, settlements and required
 * evidence.
 */
export interface AfterSalesOptionTerms {
  readonly methods: readonly ReturnMethod[];
  readonly fees: readonly AfterSalesFee[];
  readonly estimatedRefund: Money | null;
  readonly settlement: readonly ("original_payment" | "replacement")[];
  readonly evidenceRequired: readonly ("photo" | "serial_number" | "receipt")[];
}

/**
 * An after-sales option of one kind, for example an exchange, with its decision and the reasons for the
 * decision.
 */
export interface AfterSalesOptionOfKind<Kind extends string> extends AfterSalesOptionTerms {
  readonly kind: Kind;
  readonly decision: EligibilityDecision;
  readonly eligibleQuantity: number;
  /** Reasons against the after-sales option. The list is empty if and only if the decision is "allowed". */
  readonly reasons: readonly AfterSalesObstacle[];
  readonly allowedReasonCodes: readonly ReturnReason[];
  readonly window: OrderTimeWindow;
  readonly policyId: string;
}

export type AfterSalesOption = AfterSalesOptionOfKind<ReturnKind>;
export type OrderLevelAfterSalesOption = AfterSalesOptionOfKind<"refund_undelivered" | "withdrawal">;

/**
 * The data from which the after-sales options of one order line are evaluated: the order, the line and its
 * time windows. `facts` is the data from outside the order: stock, prices and the buyer's returns.
 */
export interface LineAfterSalesEvaluationInput {
  readonly order: OrderAggregate;
  readonly facts: AfterSalesDataOutsideOrder;
  readonly line: OrderLine;
  readonly windows: AfterSalesWindows;
}

/**
 * The data from which one after-sales option of an order line is evaluated. `isFault` is true if the option
 * is for return reasons that are the merchant's fault.
 */
export interface AfterSalesOptionEvaluationInput extends LineAfterSalesEvaluationInput {
  readonly isFault: boolean;
}

export interface BuildAfterSalesOptionInput {
  readonly kind: ReturnKind;
  readonly reasons: readonly AfterSalesObstacle[];
  readonly quantity: number;
  readonly codes: readonly ReturnReason[];
  readonly window: OrderTimeWindow;
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

/**
 * Builds an after-sales option and derives its decision from the reasons against the option. A denied option
 * has quantity 0 and no terms (methods, fees, refund).
 */
export function buildAfterSalesOption({
  kind,
  reasons,
  quantity,
  codes,
  window,
  policyId,
  terms,
}: BuildAfterSalesOptionInput): AfterSalesOption {
  const decision = decideEligibilityFromReasons(reasons);
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
 * Merges two after-sales options for the same units. `fault` is for return reasons that are the merchant's
 * fault, `ordinary` for all other reasons. The result is `ordinary` with the reason codes of both options. If
 * only `ordinary` is denied, the result is `fault`. If both are denied, the result is `ordinary` unchanged.
 */
export function mergeNoFaultAndMerchantFaultOptions(
  ordinary: AfterSalesOption,
  fault: AfterSalesOption,
): AfterSalesOption {
  if (ordinary.decision === "denied") return fault.decision === "denied" ? ordinary : fault;
  return { ...ordinary, allowedReasonCodes: [...ordinary.allowedReasonCodes, ...fault.allowedReasonCodes] };
}

/** The time windows of one order line in which a buyer may make after-sales requests. */
interface AfterSalesWindows {
  readonly returns: OrderTimeWindow;
  /** Time window for exchanges; null if the merchant offers no exchanges. */
  readonly exchanges: OrderTimeWindow | null;
  /** Time window for returns for which the merchant is at fault; ends no earlier than the window `returns`. */
  readonly faults: OrderTimeWindow;
  /**
   * Time window for reporting lost units. When the window starts, units that were sent and not delivered
   * count as lost.
   */
  readonly loss: OrderTimeWindow;
  readonly withdrawal: OrderTimeWindow;
  /** Time window of the statutory guarantee; null if the order's country is outside the European Union. */
  readonly guarantee: OrderTimeWindow | null;
  /**
   * Time window of the merchant's warranty if the buyer registers it; null if the order was placed without a
   * warranty.
   */
  readonly warranted: OrderTimeWindow | null;
  readonly registered: OrderTimeWindow | null;
}

export function calculateAfterSalesTimeWindows(order: OrderAggregate, line: OrderLine): AfterSalesWindows {
  const { windowDays, exchangeWindowDays, extendUntil } = getOrderPolicy(order, "return").rules;
  const { months } = getOrderPolicy(order, "warranty").rules;
  const arrival = calculateOrderLineArrival(order, line);
  const returns = calculateTimeWindowFromArrival(order, arrival, { ...daysOf(windowDays), extendUntil });
  const warranted = calculateTimeWindowFromArrival(order, arrival, { months });
  return {
    returns,
    exchanges:
      exchangeWindowDays === null
        ? null
        : calculateTimeWindowFromArrival(order, arrival, { days: exchangeWindowDays, extendUntil }),
    faults: months > 0 ? longer(returns, warranted) : returns,
    loss: {
      clock: "shipped_plus_transit",
      startsAt: calculateParcelLossTimeOfLine(order, line),
      endsAt: null,
      estimated: true,
    },
    withdrawal: withdrawalOf(order, line),
    guarantee: isEuropeanUnionCountry(order.country)
      ? calculateTimeWindowFromArrival(order, arrival, { months: guaranteeMonthsMin })
      : null,
    warranted: months > 0 ? warranted : null,
    registered: registeredWindow(findWarrantyOfOrderLine(order, line)),
  };
}

function withdrawalOf(order: OrderAggregate, line: OrderLine): OrderTimeWindow {
  const { windowDays } = getOrderPolicy(order, "withdrawal").rules;
  return line.requiresShipping
    ? calculateWithdrawalWindow(order, windowDays)
    : calculateWithdrawalWindowFromPurchase(order, windowDays);
}

export function findWarrantyOfOrderLine(
  { warranties }: Pick<OrderAggregate, "warranties">,
  line: Pick<OrderLine, "id">,
): OrderWarranty | undefined {
  return warranties.find(({ lineId }) => lineId === line.id);
}

export function getAfterSalesWindowBoundaryTimes(windows: AfterSalesWindows): number[] {
  return Object.values(windows).flatMap((window: OrderTimeWindow | null) =>
    window === null ? [] : getTimeWindowBoundaries(window),
  );
}

const daysOf = (days: number | null): { readonly days?: number } => (days === null ? {} : { days });

/** Returns the time window that ends later. Returns the first window if the end of either window is not known. */
function longer(one: OrderTimeWindow, other: OrderTimeWindow): OrderTimeWindow {
  if (one.endsAt === null || other.endsAt === null) return one;
  return one.endsAt < other.endsAt ? other : one;
}

function registeredWindow(registration: OrderWarranty | undefined): OrderTimeWindow | null {
  if (registration === undefined) return null;
  return {
    clock: "warranty_start",
    startsAt: registration.startsAt,
    endsAt: registration.endsAt,
    estimated: false,
  };
}
