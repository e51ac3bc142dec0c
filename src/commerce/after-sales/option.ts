/** One thing that a buyer may ask for after the sale: whether, of how many, until when, and on which terms. */
import type { ReturnMethod } from "#commerce/markets/policy-rules.ts";
import type { Window } from "#commerce/orders/order-terms.ts";
import { type Decision, decisionOf } from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import type { Money } from "#foundation/money.ts";
import type { LineWindows } from "./line-windows.ts";
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

export interface OptionFee {
  readonly code: "restocking" | "return_shipping";
  readonly amount: Money | null;
  readonly basisPoints: number | null;
  readonly payer: "buyer" | "merchant";
}

/** On which terms. */
export interface OptionTerms {
  readonly methods: readonly ReturnMethod[];
  readonly fees: readonly OptionFee[];
  readonly estimatedRefund: Money | null;
  readonly settlement: readonly ("original_payment" | "store_credit" | "replacement")[];
  readonly evidenceRequired: readonly ("photo" | "serial_number" | "receipt")[];
}

export interface OptionOf<Kind extends string> extends OptionTerms {
  readonly kind: Kind;
  readonly decision: Decision;
  readonly eligibleQuantity: number;
  /** Empty exactly when it is allowed. */
  readonly reasons: readonly AfterSalesReason[];
  readonly allowedReasonCodes: readonly ReturnReason[];
  readonly window: Window;
  readonly policyId: string;
}

export type AfterSalesOption = OptionOf<ReturnKind>;
export type OrderOption = OptionOf<"refund_undelivered" | "withdrawal">;

/** What is asked about which line. */
export interface AskedOfLine {
  readonly order: OrderAggregate;
  readonly facts: AfterSalesFacts;
  readonly line: OrderLine;
  readonly windows: LineWindows;
}

/** And whether for a reason that is the merchant's fault. */
export interface Asked extends AskedOfLine {
  readonly isFault: boolean;
}

export interface OptionParts {
  readonly kind: ReturnKind;
  readonly reasons: readonly AfterSalesReason[];
  readonly quantity: number;
  readonly codes: readonly ReturnReason[];
  readonly window: Window;
  readonly policyId: string;
  readonly terms: (quantity: number) => OptionTerms;
}

const noTerms: OptionTerms = { methods: [], fees: [], estimatedRefund: null, settlement: [], evidenceRequired: [] };

/** What is denied has no terms. */
export function toOption({ kind, reasons, quantity, codes, window, policyId, terms }: OptionParts): AfterSalesOption {
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
export function betterOf(ordinary: AfterSalesOption, fault: AfterSalesOption): AfterSalesOption {
  if (ordinary.decision === "denied") return fault.decision === "denied" ? ordinary : fault;
  return { ...ordinary, allowedReasonCodes: [...ordinary.allowedReasonCodes, ...fault.allowedReasonCodes] };
}
