/**
 * One option of a buyer after the sale: its decision, quantity, terms, and the windows of time that run for
 * its line.
 */
import { guaranteeMonthsMin, isInEuropeanUnion, type ReturnMethod } from "#commerce/markets/policy-rules.ts";
import {
  arrivalOf,
  lostAt,
  policyOf,
  turnsOf,
  type Window,
  windowFrom,
  withdrawalFromPlacing,
  withdrawalWindow,
} from "#commerce/orders/order-terms.ts";
import { type Decision, decisionOf } from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import type { Money } from "#foundation/money.ts";
import type { AfterSalesReason, ReturnReason } from "./reasons.ts";

/** What no order says of itself. */
export interface AfterSalesFacts {
  readonly now: Date;
  /** The variants of a product that are in stock. */
  readonly siblingsInStock: ReadonlyMap<string, readonly string[]>;
  /** How many returns the buyer asked for in the last 365 days. */
  readonly returnsOfBuyer: number;
  /** The next instants (milliseconds) at which any of this is something else by time alone. */
  readonly turns: readonly number[];
}

export interface AfterSalesFee {
  readonly code: "restocking" | "return_shipping";
  readonly amount: Money | null;
  readonly basisPoints: number | null;
  readonly payer: "buyer" | "merchant";
}

/** On which terms. */
export interface AfterSalesOptionTerms {
  readonly methods: readonly ReturnMethod[];
  readonly fees: readonly AfterSalesFee[];
  readonly estimatedRefund: Money | null;
  readonly settlement: readonly ("original_payment" | "store_credit" | "replacement")[];
  readonly evidenceRequired: readonly ("photo" | "serial_number" | "receipt")[];
}

export interface AfterSalesOptionOf<Kind extends string> extends AfterSalesOptionTerms {
  readonly kind: Kind;
  readonly decision: Decision;
  readonly eligibleQuantity: number;
  /** Empty exactly when it is allowed. */
  readonly reasons: readonly AfterSalesReason[];
  readonly allowedReasonCodes: readonly ReturnReason[];
  readonly window: Window;
  readonly policyId: string;
}

export type AfterSalesOption = AfterSalesOptionOf<ReturnKind>;
export type OrderLevelOption = AfterSalesOptionOf<"refund_undelivered" | "withdrawal">;

/** What is asked about which line. */
export interface AfterSalesLineContext {
  readonly order: OrderAggregate;
  readonly facts: AfterSalesFacts;
  readonly line: OrderLine;
  readonly windows: AfterSalesWindows;
}

/** And whether for a reason that is the merchant's fault. */
export interface AfterSalesOptionContext extends AfterSalesLineContext {
  readonly isFault: boolean;
}

export interface AfterSalesOptionParts {
  readonly kind: ReturnKind;
  readonly reasons: readonly AfterSalesReason[];
  readonly quantity: number;
  readonly codes: readonly ReturnReason[];
  readonly window: Window;
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

/** What is denied has no terms. */
export function toAfterSalesOption({
  kind,
  reasons,
  quantity,
  codes,
  window,
  policyId,
  terms,
}: AfterSalesOptionParts): AfterSalesOption {
  const decision = decisionOf(reasons);
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

/** Two ways to the same units: the better one, and all the reasons that lead to either. */
export function mergeOptionsOfReasons(ordinary: AfterSalesOption, fault: AfterSalesOption): AfterSalesOption {
  if (ordinary.decision === "denied") return fault.decision === "denied" ? ordinary : fault;
  return { ...ordinary, allowedReasonCodes: [...ordinary.allowedReasonCodes, ...fault.allowedReasonCodes] };
}

/** The windows of time that run for a line after its sale, each computed once. */
interface AfterSalesWindows {
  readonly returns: Window;
  /** Null: the merchant does not exchange. */
  readonly exchanges: Window | null;
  /** For what is the merchant's fault: never shorter than `returns`. */
  readonly faults: Window;
  /** From its beginning on, what was sent and has not come counts as lost. */
  readonly loss: Window;
  readonly withdrawal: Window;
  /** Null: the law of the order's country knows none. */
  readonly guarantee: Window | null;
  /** That of a warranty, were it registered. Null: the order came with none. */
  readonly warranted: Window | null;
  readonly registered: Window | null;
}

export function afterSalesWindows(order: OrderAggregate, line: OrderLine): AfterSalesWindows {
  const { windowDays, exchangeWindowDays, extendUntil } = policyOf(order, "return").rules;
  const { months } = policyOf(order, "warranty").rules;
  const arrival = arrivalOf(order, line);
  const returns = windowFrom(order, arrival, { ...daysOf(windowDays), extendUntil });
  const warranted = windowFrom(order, arrival, { months });
  return {
    returns,
    exchanges:
      exchangeWindowDays === null
        ? null
        : windowFrom(order, arrival, { days: exchangeWindowDays, extendUntil }),
    faults: months > 0 ? longer(returns, warranted) : returns,
    loss: { clock: "shipped_plus_transit", startsAt: lostAt(order, line), endsAt: null, estimated: true },
    withdrawal: withdrawalOf(order, line),
    guarantee: isInEuropeanUnion(order.country)
      ? windowFrom(order, arrival, { months: guaranteeMonthsMin })
      : null,
    warranted: months > 0 ? warranted : null,
    registered: registeredWindow(findLineWarranty(order, line)),
  };
}

function withdrawalOf(order: OrderAggregate, line: OrderLine): Window {
  const { windowDays } = policyOf(order, "withdrawal").rules;
  return line.requiresShipping
    ? withdrawalWindow(order, windowDays)
    : withdrawalFromPlacing(order, windowDays);
}

export function findLineWarranty(
  { warranties }: Pick<OrderAggregate, "warranties">,
  line: Pick<OrderLine, "id">,
): OrderWarranty | undefined {
  return warranties.find(({ lineId }) => lineId === line.id);
}

export function windowChangeTimes(windows: AfterSalesWindows): number[] {
  return Object.values(windows).flatMap((window: Window | null) => (window === null ? [] : turnsOf(window)));
}

const daysOf = (days: number | null): { readonly days?: number } => (days === null ? {} : { days });

/** One that has begun and has no end is the longest. */
function longer(one: Window, other: Window): Window {
  if (one.endsAt === null || other.endsAt === null) return one;
  return one.endsAt < other.endsAt ? other : one;
}

function registeredWindow(registration: OrderWarranty | undefined): Window | null {
  if (registration === undefined) return null;
  return {
    clock: "warranty_start",
    startsAt: registration.startsAt,
    endsAt: registration.endsAt,
    estimated: false,
  };
}
