/**
 * The rules of a return, as pure functions: the possible steps in each status, the failure that refuses a
 * step, and the value of the returned units. The value is the units' share of the order's total, less the
 * buyer's fees.
 */
import type { ReturnMethod } from "#commerce/markets/policy-rules.ts";
import {
  computeRemainingShippingPriceMinor,
  computeValueOfOrderLineUnitsMinor,
} from "#commerce/orders/order-value.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind, ReturnStatus } from "#commerce/orders/order-states.ts";
import { getOrderPolicy } from "#commerce/orders/order-terms.ts";
import { multiplyAndDivideRoundingHalfEven } from "#commerce/pricing/discounts.ts";
import { createFailure, type Failure, type FailureCode } from "#foundation/failure.ts";
import { countUnitsRefundedOrAcceptedForRefund } from "./obstacles.ts";

/**
 * The data from which the value of a return is calculated: its kind, method and lines, the merchant's fault,
 * and the loss of the units in transit.
 */
export interface CalculateReturnedUnitsValueInput {
  readonly kind: ReturnKind;
  /** True if the merchant is at fault for the return, according to the reason of the return. */
  readonly isFault: boolean;
  /** True if the units of the return were sent but never delivered. */
  readonly isLost: boolean;
  readonly method: ReturnMethod;
  readonly lines: readonly OrderLineIdAndQuantity[];
}

/** The value of returned units and the fees that are deducted, in minor units of the order's currency. */
export interface ReturnedUnitsValue {
  /** Value of the returned units for each line, in the order of the input lines. */
  readonly lines: readonly (OrderLineIdAndQuantity & { readonly amountMinor: number })[];
  /** Delivery costs that are refunded to the buyer, in minor units. */
  readonly shippingMinor: number;
  readonly restockingMinor: number;
  readonly postageMinor: number;
  /** Total refund in minor units: the value of the units plus refunded delivery costs, less the fees. */
  readonly refundMinor: number;
}

const kindsWithRefund: ReadonlySet<ReturnKind> = new Set(["return_refund", "refund_only", "withdrawal"]);
const methodsWithPostage: ReadonlySet<ReturnMethod> = new Set(["mail", "pickup"]);
const wholeBasisPoints = 10_000;

/**
 * Calculates the value of a return; 0 for exchanges, repairs and replacements. The refund is at most the
 * order's total less earlier reductions.
 */
export function calculateReturnedUnitsValue(
  order: OrderAggregate,
  valued: CalculateReturnedUnitsValueInput,
): ReturnedUnitsValue {
  const { kind, isFault, method, lines: valuedLines } = valued;
  if (!kindsWithRefund.has(kind))
    return { lines: [], shippingMinor: 0, restockingMinor: 0, postageMinor: 0, refundMinor: 0 };
  const { restockingBasisPoints, returnShippingMinor } = getOrderPolicy(order, "return").rules;
  const lines = valuedLines.map(({ lineId, quantity }) => ({
    lineId,
    quantity,
    amountMinor: lineUnitsValue(order, { lineId, quantity }),
  }));
  const shippingMinor = refundsDelivery(order, valued)
    ? Math.max(0, computeRemainingShippingPriceMinor(order))
    : 0;
  const isRestocked = kind === "return_refund" && !isFault;
  const fees = lines.map(({ amountMinor }) =>
    isRestocked ? multiplyAndDivideRoundingHalfEven(amountMinor, restockingBasisPoints, wholeBasisPoints) : 0,
  );
  const restockingMinor = fees.reduce((sum, fee) => sum + fee, 0);
  const leftMinor =
    lines.reduce((sum, { amountMinor }) => sum + amountMinor, shippingMinor) - restockingMinor;
  const postageMinor =
    kind !== "refund_only" && !isFault && methodsWithPostage.has(method)
      ? Math.min(returnShippingMinor, leftMinor)
      : 0;
  const refundMinor = Math.min(leftMinor - postageMinor, Math.max(0, order.totalMinor - order.reducedMinor));
  return { lines, shippingMinor, restockingMinor, postageMinor, refundMinor };
}

function lineUnitsValue({ lines }: OrderAggregate, { lineId, quantity }: OrderLineIdAndQuantity): number {
  const line = lines.find(({ id }) => id === lineId);
  return line === undefined ? 0 : computeValueOfOrderLineUnitsMinor(line, quantity);
}

/**
 * Returns true if the delivery costs are refunded too. The return must include the last goods of the order
 * that were neither canceled nor refunded. In addition, the return must be a withdrawal (Directive
 * 2011/83/EU, article 13), or a refund for lost units of an order without delivered goods (article 18).
 */
function refundsDelivery(
  order: OrderAggregate,
  { kind, isLost, lines }: CalculateReturnedUnitsValueInput,
): boolean {
  const carried = order.lines.filter(({ requiresShipping }) => requiresShipping);
  const quantities = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  if (!carried.some(({ id }) => (quantities.get(id) ?? 0) > 0)) return false;
  const isLast = carried.every(
    (line) =>
      line.canceled + countUnitsRefundedOrAcceptedForRefund(order, line) + (quantities.get(line.id) ?? 0) >=
      line.ordered,
  );
  return isLast && (kind === "withdrawal" || (isLost && carried.every(({ delivered }) => delivered === 0)));
}

export const returnSteps = ["approve", "decline", "track", "receive", "inspect", "close", "cancel"] as const;
export type ReturnStepName = (typeof returnSteps)[number];

/**
 * The possible steps of a return in each status, and the status to which each step leads. In addition, a
 * return without a carrier can go directly from `approved` to `received`; see `methodsWithoutCarrier`.
 */
export const returnTransitions = {
  requested: { approve: "approved", decline: "declined", cancel: "canceled" },
  approved: { track: "in_transit", cancel: "canceled" },
  in_transit: { receive: "received" },
  received: { inspect: "inspected" },
  inspected: { close: "closed" },
  declined: {},
  closed: {},
  canceled: {},
} as const satisfies Readonly<Record<ReturnStatus, Partial<Record<ReturnStepName, ReturnStatus>>>>;

/**
 * Return methods without a carrier. Such a return has no tracking, so the merchant can receive the goods as
 * soon as the return is approved.
 */
const methodsWithoutCarrier: ReadonlySet<OrderReturn["method"]> = new Set(["store", "pickup"]);

function nextReturnStatus(
  { status, method }: Pick<OrderReturn, "status" | "method">,
  step: ReturnStepName,
): ReturnStatus | undefined {
  if (status === "approved" && step === "receive" && methodsWithoutCarrier.has(method)) return "received";
  const steps: Partial<Record<ReturnStepName, ReturnStatus>> = returnTransitions[status];
  return steps[step];
}

/**
 * Returns the status of a return after a step. Throws `invalid_state` if the step is not possible in the
 * current status.
 */
export function getStatusAfterReturnStep(found: OrderReturn, step: ReturnStepName): ReturnStatus {
  const next = nextReturnStatus(found, step);
  if (next === undefined)
    throw createReturnConflictFailure("invalid_state", found, describeImpossibleStep(found, step));
  return next;
}

/** The GraphQL mutation that runs each step of a return, for error messages. */
const stepMutations: Readonly<Record<ReturnStepName, string>> = {
  approve: "returnApprove",
  decline: "returnDecline",
  track: "returnTrack",
  receive: "returnReceive",
  inspect: "returnInspect",
  close: "returnClose",
  cancel: "returnCancel",
};

/**
 * Builds the error text for a step that is not possible in the status of the return. The text says why, and
 * which steps are possible.
 */
function describeImpossibleStep(found: OrderReturn, step: ReturnStepName): ReturnRefusalDetails {
  const mutations = returnSteps
    .filter((other) => nextReturnStatus(found, other) !== undefined)
    .map((other) => stepMutations[other]);
  const next =
    mutations.length === 0 ? "No further step is possible." : `Possible steps: ${mutations.join(", ")}.`;
  const isUntracked = found.status === "approved" && step === "receive";
  return {
    reason: isUntracked ? "not_in_transit" : mutations.length === 0 ? "return_ended" : "step_not_possible",
    data: { possibleMutations: mutations },
    message: isUntracked
      ? 'A return that is sent with a carrier must be "in_transit" before it is received: run returnTrack first.'
      : `${stepMutations[step]} is not possible for a return with the status "${found.status}". ${next}`,
  };
}

/**
 * Throws `version_conflict` if the return has another version than the caller expects. Returns have their own
 * version, independent of the version of the order.
 */
export function requireExpectedReturnVersion(
  found: OrderReturn,
  expectedVersion: number | null | undefined,
): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === found.version) return;
  throw createReturnConflictFailure("version_conflict", found);
}

interface ReturnRefusalDetails {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/**
 * Creates a 409 failure that contains the return's status and version, so that the caller need not read the
 * return.
 */
export function createReturnConflictFailure(
  code: FailureCode,
  { id, status, version }: Pick<OrderReturn, "id" | "status" | "version">,
  { reason, data = {}, message }: ReturnRefusalDetails = {},
): Failure {
  const conflict = {
    resource: "return",
    id,
    currentStatus: status,
    currentVersion: version,
    reason: reason ?? null,
    data,
  };
  return createFailure(code, { conflict, ...(message === undefined ? {} : { message }) });
}
