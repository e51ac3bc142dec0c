/**
 * The rules of a return, as pure functions: which step leads from which status to which, the failure that
 * refuses a step, and the value of returned units (their share of the order, less the buyer's fees).
 */
import type { ReturnMethod } from "#commerce/markets/policy-rules.ts";
import { computeRemainingShippingMinor, computeUnitsValueMinor } from "#commerce/orders/order-value.ts";
import type { LineQuantity, OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { ReturnKind, ReturnStatus } from "#commerce/orders/order-states.ts";
import { getOrderPolicy } from "#commerce/orders/order-terms.ts";
import { multiplyDivideHalfEven } from "#commerce/pricing/discounts.ts";
import { fail, type Failure, type FailureCode } from "#foundation/failure.ts";
import { countRefundedOrDueUnits } from "./obstacles.ts";

/**
 * The data from which the value of a return is calculated: its kind, method and lines, whether the merchant
 * is at fault, and whether the units were lost.
 */
export interface ReturnValueInput {
  readonly kind: ReturnKind;
  /** True if the return's reason is the merchant's fault. */
  readonly isFault: boolean;
  /** True if the units were sent but never delivered. */
  readonly isLost: boolean;
  readonly method: ReturnMethod;
  readonly lines: readonly LineQuantity[];
}

/** The value of returned units and the fees, in minor units of the order's currency. */
export interface ReturnValue {
  /** Value of the units per line, in the order of the input lines. */
  readonly lines: readonly (LineQuantity & { readonly amountMinor: number })[];
  /** Delivery costs that are refunded, in minor units. */
  readonly shippingMinor: number;
  readonly restockingMinor: number;
  readonly postageMinor: number;
  /** Total refund in minor units: units and delivery, less the fees. */
  readonly refundMinor: number;
}

const kindsWithRefund: ReadonlySet<ReturnKind> = new Set(["return_refund", "refund_only", "withdrawal"]);
const methodsWithPostage: ReadonlySet<ReturnMethod> = new Set(["mail", "pickup"]);
const wholeBasisPoints = 10_000;

/**
 * Calculates the value of a return. Exchanges, repairs and replacements have none. The refund is never more
 * than the order's total less earlier reductions.
 */
export function calculateReturnValue(order: OrderAggregate, valued: ReturnValueInput): ReturnValue {
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
    ? Math.max(0, computeRemainingShippingMinor(order))
    : 0;
  const isRestocked = kind === "return_refund" && !isFault;
  const fees = lines.map(({ amountMinor }) =>
    isRestocked ? multiplyDivideHalfEven(amountMinor, restockingBasisPoints, wholeBasisPoints) : 0,
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

function lineUnitsValue({ lines }: OrderAggregate, { lineId, quantity }: LineQuantity): number {
  const line = lines.find(({ id }) => id === lineId);
  return line === undefined ? 0 : computeUnitsValueMinor(line, quantity);
}

/**
 * Returns true if the delivery costs are refunded: on withdrawal from the whole order (Directive 2011/83/EU,
 * article 13), or if nothing was ever delivered (article 18).
 */
function refundsDelivery(order: OrderAggregate, { kind, isLost, lines }: ReturnValueInput): boolean {
  const carried = order.lines.filter(({ requiresShipping }) => requiresShipping);
  const quantities = new Map(lines.map(({ lineId, quantity }) => [lineId, quantity]));
  if (!carried.some(({ id }) => (quantities.get(id) ?? 0) > 0)) return false;
  const isLast = carried.every(
    (line) =>
      line.canceled + countRefundedOrDueUnits(order, line) + (quantities.get(line.id) ?? 0) >= line.ordered,
  );
  return isLast && (kind === "withdrawal" || (isLost && carried.every(({ delivered }) => delivered === 0)));
}

export const returnSteps = ["approve", "decline", "track", "receive", "inspect", "close", "cancel"] as const;
export type ReturnStep = (typeof returnSteps)[number];

/**
 * The possible steps of a return in each status, and the status that each step leads to. In addition, goods
 * that are returned in a store or picked up are received directly from `approved`; see
 * `methodsWithoutCarrier`.
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
} as const satisfies Readonly<Record<ReturnStatus, Partial<Record<ReturnStep, ReturnStatus>>>>;

/**
 * Methods by which goods come back without a carrier, so there is no tracking. The merchant receives such a
 * return directly after approving it.
 */
const methodsWithoutCarrier: ReadonlySet<OrderReturn["method"]> = new Set(["store", "pickup"]);

function nextReturnStatus(
  { status, method }: Pick<OrderReturn, "status" | "method">,
  step: ReturnStep,
): ReturnStatus | undefined {
  if (status === "approved" && step === "receive" && methodsWithoutCarrier.has(method)) return "received";
  const steps: Partial<Record<ReturnStep, ReturnStatus>> = returnTransitions[status];
  return steps[step];
}

/**
 * Returns the status after a step; throws `invalid_state` if the step is not possible from the return's
 * status.
 */
export function getStatusAfterReturnStep(found: OrderReturn, step: ReturnStep): ReturnStatus {
  const next = nextReturnStatus(found, step);
  if (next === undefined)
    throw createReturnFailure("invalid_state", found, describeImpossibleStep(found, step));
  return next;
}

/** The mutation of each step, for error messages. */
const stepMutations: Readonly<Record<ReturnStep, string>> = {
  approve: "returnApprove",
  decline: "returnDecline",
  track: "returnTrack",
  receive: "returnReceive",
  inspect: "returnInspect",
  close: "returnClose",
  cancel: "returnCancel",
};

/** Says which steps are possible from the status of a return, in the reason and the data of the conflict. */
function describeImpossibleStep(found: OrderReturn, step: ReturnStep): ReturnRefusalDetails {
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
 * Throws `version_conflict` if the caller expects another version of the return. The version is the return's,
 * not the order's.
 */
export function requireReturnVersion(found: OrderReturn, expectedVersion: number | null | undefined): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === found.version) return;
  throw createReturnFailure("version_conflict", found);
}

interface ReturnRefusalDetails {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

/** Creates a 409 failure with the return's status and version, so that the caller need not load the return. */
export function createReturnFailure(
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
  return fail(code, { conflict, ...(message === undefined ? {} : { message }) });
}
