/**
 * Decides which after-sales options a buyer has for each order line and for the whole order, for example a
 * refund, an exchange or a repair. The functions are pure: they read only the order, its policies, and loaded
 * data on stock, prices and earlier returns. `requestReturn` uses the same functions, so a request and the
 * displayed options cannot disagree.
 */
import {
  findMostFavorableEligibilityDecision,
  type EligibilityDecision,
  calculateEligibilityAnswerExpiry,
  removeReasonsWithRepeatedCode,
} from "#commerce/orders/eligibility-reason.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderLine,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import { type ReturnKind, returnKinds } from "#commerce/orders/order-states.ts";
import { createMoney } from "#foundation/money.ts";
import type { OrderTimeWindow } from "#commerce/orders/order-terms.ts";
import { isOpenReturn } from "#commerce/orders/order-statuses.ts";
import { type AfterSalesPolicy, getAfterSalesPolicies } from "./after-sales-policies.ts";
import { countShippedUndeliveredUnits } from "./obstacles.ts";
import {
  type AfterSalesDataOutsideOrder,
  type AfterSalesOption,
  type AfterSalesOptionEvaluationInput,
  type LineAfterSalesEvaluationInput,
  mergeNoFaultAndMerchantFaultOptions,
  type OrderLevelAfterSalesOption,
  getAfterSalesWindowBoundaryTimes,
  calculateAfterSalesTimeWindows,
} from "./after-sales-option.ts";
import { isRefundRequestForUndeliveredUnits, isMerchantFaultReason, type ReturnReason } from "./reasons.ts";
import {
  evaluateExchangeOption,
  evaluateRefundWithoutReturnOption,
  evaluateUndeliveredUnitsRefundOption,
  evaluateRefundOnReturnOption,
  evaluateWithdrawalOption,
} from "./return-options.ts";
import { calculateReturnedUnitsValue } from "./return-rules.ts";
import { evaluateWarrantyOption } from "./warranty-options.ts";

type Quantities = Pick<
  OrderLine,
  "ordered" | "canceled" | "allocated" | "shipped" | "delivered" | "returnRequested" | "returned" | "refunded"
>;

/**
 * The after-sales options of one order line, and the unit counts of the line, for example its delivered
 * units.
 */
export interface OrderLineAfterSalesEligibility {
  readonly lineId: string;
  readonly quantities: Quantities;
  readonly options: readonly AfterSalesOption[];
}

/** An open return of the order: a return that is not closed, declined or canceled. */
export interface OpenReturnSummary {
  readonly returnId: string;
  readonly kind: ReturnKind;
  readonly status: OrderReturn["status"];
  readonly lines: readonly OrderLineIdAndQuantity[];
}

/** All after-sales options of an order, as they are at one point in time. */
export interface AfterSalesEligibility {
  readonly orderId: string;
  readonly orderVersion: number;
  readonly decision: "eligible" | "partially_eligible" | "not_eligible";
  readonly lines: readonly OrderLineAfterSalesEligibility[];
  readonly orderLevel: readonly OrderLevelAfterSalesOption[];
  readonly openCases: readonly OpenReturnSummary[];
  readonly policies: readonly AfterSalesPolicy[];
  readonly evaluatedAt: string;
  readonly validUntil: string;
}

/** Evaluates every after-sales option of every order line and of the whole order. */
export function evaluateAfterSalesEligibility(
  order: OrderAggregate,
  facts: AfterSalesDataOutsideOrder,
): AfterSalesEligibility {
  const contexts = order.lines.map((line) => ({
    order,
    facts,
    line,
    windows: calculateAfterSalesTimeWindows(order, line),
  }));
  const lines = contexts.map((context) => ({
    lineId: context.line.id,
    quantities: quantitiesOf(context.line),
    options: returnKinds.map((kind) => bestOptionOfKind(context, kind)),
  }));
  return {
    orderId: order.id,
    orderVersion: order.version,
    decision: overallDecision(lines),
    lines,
    orderLevel: [orderUndeliveredRefundOption(contexts), orderWithdrawalOption(contexts)],
    openCases: order.returns.filter(isOpenReturn).map(toOpenReturnSummary),
    policies: getAfterSalesPolicies(order),
    evaluatedAt: facts.now.toISOString(),
    validUntil: calculateEligibilityAnswerExpiry(facts.now, [
      ...facts.changeTimes,
      ...contexts.flatMap(({ windows }) => getAfterSalesWindowBoundaryTimes(windows)),
    ]),
  };
}

/** Criteria that select one after-sales option: the order line, the kind of return, and the buyer's reason. */
export interface ReturnLineKindAndReason {
  readonly lineId: string;
  readonly kind: ReturnKind;
  readonly reason: ReturnReason;
}

/**
 * Evaluates the after-sales option that decides a return request with the given order line, kind and reason.
 * Returns undefined if the order has no line with the given id.
 */
export function evaluateOptionForReturnRequest(
  order: OrderAggregate,
  facts: AfterSalesDataOutsideOrder,
  { lineId, kind, reason }: ReturnLineKindAndReason,
): AfterSalesOption | undefined {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined) return undefined;
  const optionContext = {
    order,
    facts,
    line,
    windows: calculateAfterSalesTimeWindows(order, line),
    isFault: isMerchantFaultReason(reason),
  };
  return isRefundRequestForUndeliveredUnits({ kind, reason })
    ? evaluateUndeliveredUnitsRefundOption(optionContext)
    : optionByKind[kind](optionContext);
}

const optionByKind: Readonly<
  Record<ReturnKind, (line: AfterSalesOptionEvaluationInput) => AfterSalesOption>
> = {
  return_refund: evaluateRefundOnReturnOption,
  exchange: evaluateExchangeOption,
  refund_only: evaluateRefundWithoutReturnOption,
  repair: (line) => evaluateWarrantyOption(line, "repair"),
  replacement: (line) => evaluateWarrantyOption(line, "replacement"),
  withdrawal: evaluateWithdrawalOption,
};

function bestOptionOfKind(line: LineAfterSalesEvaluationInput, kind: ReturnKind): AfterSalesOption {
  if (kind === "repair" || kind === "replacement") return evaluateWarrantyOption(line, kind);
  const option = mergeNoFaultAndMerchantFaultOptions(
    optionByKind[kind]({ ...line, isFault: false }),
    optionByKind[kind]({ ...line, isFault: true }),
  );
  return kind === "refund_only"
    ? addUndeliveredUnits(line, { kept: option, lost: evaluateUndeliveredUnitsRefundOption(line) })
    : option;
}

interface RefundOnlyOptions {
  readonly kept: AfterSalesOption;
  readonly lost: AfterSalesOption;
}

/**
 * Combines two refund options of one order line: for delivered units that the buyer keeps, and for units that
 * were never delivered. Adds the quantities of both options, because no unit belongs to both.
 */
function addUndeliveredUnits(
  { order, line }: LineAfterSalesEvaluationInput,
  { kept, lost }: RefundOnlyOptions,
): AfterSalesOption {
  if (lost.decision === "denied")
    return kept.decision === "denied" && countShippedUndeliveredUnits(order, line) > 0 ? lost : kept;
  if (kept.decision === "denied") return lost;
  const eligibleQuantity = kept.eligibleQuantity + lost.eligibleQuantity;
  const lines = [{ lineId: line.id, quantity: eligibleQuantity }];
  const { refundMinor } = calculateReturnedUnitsValue(order, {
    kind: "refund_only",
    isFault: true,
    isLost: false,
    method: "keep_item",
    lines,
  });
  return {
    ...kept,
    eligibleQuantity,
    allowedReasonCodes: [...kept.allowedReasonCodes, ...lost.allowedReasonCodes],
    estimatedRefund: createMoney(refundMinor, order.currency),
  };
}

function overallDecision(
  lines: readonly OrderLineAfterSalesEligibility[],
): AfterSalesEligibility["decision"] {
  const decided: EligibilityDecision[] = lines.map(({ options }) =>
    findMostFavorableEligibilityDecision(options.map(({ decision }) => decision)),
  );
  if (decided.every((decision) => decision === "denied")) return "not_eligible";
  return decided.includes("denied") ? "partially_eligible" : "eligible";
}

function quantitiesOf(line: OrderLine): Quantities {
  const { ordered, canceled, allocated, shipped, delivered, returnRequested, returned, refunded } = line;
  return { ordered, canceled, allocated, shipped, delivered, returnRequested, returned, refunded };
}

function toOpenReturnSummary({ id, kind, status, lines }: OrderReturn): OpenReturnSummary {
  return { returnId: id, kind, status, lines: lines.map(({ lineId, quantity }) => ({ lineId, quantity })) };
}

/** Returns the option to get a refund for all units of the order that were sent and never delivered. */
function orderUndeliveredRefundOption(
  lines: readonly LineAfterSalesEvaluationInput[],
): OrderLevelAfterSalesOption {
  return combineLines("refund_undelivered", lines, evaluateUndeliveredUnitsRefundOption);
}

/** Returns the option to withdraw from all order lines for which the buyer has the right of withdrawal. */
function orderWithdrawalOption(lines: readonly LineAfterSalesEvaluationInput[]): OrderLevelAfterSalesOption {
  return combineLines("withdrawal", lines, (line) => evaluateWithdrawalOption({ ...line, isFault: false }));
}

function combineLines(
  kind: OrderLevelAfterSalesOption["kind"],
  lines: readonly LineAfterSalesEvaluationInput[],
  optionFrom: (line: LineAfterSalesEvaluationInput) => AfterSalesOption,
): OrderLevelAfterSalesOption {
  const options = lines.map((lineContext) => ({ lineContext, option: optionFrom(lineContext) }));
  const decision = findMostFavorableEligibilityDecision(options.map(({ option }) => option.decision));
  const best = combinableOptions(options.filter(({ option }) => option.decision === decision));
  const [first] = best;
  if (first === undefined) throw new Error("An order has no lines.");
  const chosen = best.map(({ lineContext, option }) => ({
    lineId: lineContext.line.id,
    quantity: option.eligibleQuantity,
  }));
  const { option, lineContext } = first;
  return {
    ...option,
    kind,
    decision,
    eligibleQuantity: chosen.reduce((sum, { quantity }) => sum + quantity, 0),
    reasons: removeReasonsWithRepeatedCode(best.flatMap((one) => one.option.reasons)),
    window: earliestWindow(best.map((one) => one.option.window)),
    ...(decision === "denied" ? {} : combinedRefund(lineContext.order, { option, chosen })),
  };
}

interface LineOption {
  readonly lineContext: LineAfterSalesEvaluationInput;
  readonly option: AfterSalesOption;
}

/**
 * Selects the after-sales options that a single return request can combine. One request cannot contain both
 * goods to send back and units that were never sent. Returns the options for goods to send back; if there are
 * none, returns all options.
 */
function combinableOptions(best: readonly LineOption[]): readonly LineOption[] {
  const sentBack = best.filter(({ option }) => !option.methods.includes("keep_item"));
  return sentBack.length > 0 ? sentBack : best;
}

/**
 * Estimates the refund of one return request for several order lines. Deducts the cost of return shipping
 * once. Refunds delivery costs only if the request covers the last delivered units of the order.
 */
function combinedRefund(
  order: OrderAggregate,
  {
    option,
    chosen,
  }: { readonly option: AfterSalesOption; readonly chosen: readonly OrderLineIdAndQuantity[] },
): Pick<OrderLevelAfterSalesOption, "estimatedRefund"> {
  const isOfLost = option.kind === "refund_only";
  const { refundMinor } = calculateReturnedUnitsValue(order, {
    kind: option.kind,
    isFault: isOfLost,
    isLost: isOfLost,
    method: option.methods[0] ?? "mail",
    lines: chosen,
  });
  return { estimatedRefund: createMoney(refundMinor, order.currency) };
}

/** Returns the time window that starts first. A window without a start is treated as the last to start. */
function earliestWindow(windows: readonly OrderTimeWindow[]): OrderTimeWindow {
  const [first, ...rest] = windows;
  if (first === undefined) throw new Error("There is no window.");
  return rest.reduce(
    (best, window) =>
      window.startsAt !== null && (best.startsAt === null || window.startsAt < best.startsAt) ? window : best,
    first,
  );
}
