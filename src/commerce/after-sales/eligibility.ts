/**
 * What a buyer may ask for after the sale, line by line and for the order as a whole, and under which
 * policies. A pure function of the order, its policies, and a few facts; the request for a return is decided
 * by the same options, so the two cannot disagree.
 */
import {
  bestDecision,
  type Decision,
  validUntil,
  withoutRepeats,
} from "#commerce/orders/eligibility-reason.ts";
import type {
  LineQuantity,
  OrderAggregate,
  OrderLine,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import { type ReturnKind, returnKinds } from "#commerce/orders/order-states.ts";
import { money } from "#foundation/money.ts";
import { policyOf, type Window, type WindowClock } from "#commerce/orders/order-terms.ts";
import { isOpenReturn } from "#commerce/orders/order-statuses.ts";
import { countUndeliveredUnits } from "./obstacles.ts";
import {
  type AfterSalesFacts,
  type AfterSalesOption,
  type AfterSalesOptionContext,
  type AfterSalesLineContext,
  mergeOptionsOfReasons,
  type OrderLevelOption,
  windowChangeTimes,
  afterSalesWindows,
} from "./after-sales-option.ts";
import { isUndeliveredRefund, isMerchantFault, type ReturnReason } from "./reasons.ts";
import {
  exchangeOption,
  keepItemRefundOption,
  undeliveredRefundOption,
  returnRefundOption,
  withdrawalOption,
} from "./return-options.ts";
import { calculateReturnValue } from "./return-rules.ts";
import { warrantyOption } from "./warranty-options.ts";

type Quantities = Pick<
  OrderLine,
  "ordered" | "canceled" | "allocated" | "shipped" | "delivered" | "returnRequested" | "returned" | "refunded"
>;

export interface AfterSalesLineEligibility {
  readonly lineId: string;
  readonly quantities: Quantities;
  readonly options: readonly AfterSalesOption[];
}

export interface OpenReturnSummary {
  readonly returnId: string;
  readonly kind: ReturnKind;
  readonly status: OrderReturn["status"];
  readonly lines: readonly LineQuantity[];
}

export interface AfterSalesEligibility {
  readonly orderId: string;
  readonly orderVersion: number;
  readonly decision: "eligible" | "partially_eligible" | "not_eligible";
  readonly lines: readonly AfterSalesLineEligibility[];
  readonly orderLevel: readonly OrderLevelOption[];
  readonly openCases: readonly OpenReturnSummary[];
  readonly policies: readonly AfterSalesPolicy[];
  readonly evaluatedAt: string;
  readonly validUntil: string;
}

export function evaluateAfterSalesEligibility(
  order: OrderAggregate,
  facts: AfterSalesFacts,
): AfterSalesEligibility {
  const asked = order.lines.map((line) => ({ order, facts, line, windows: afterSalesWindows(order, line) }));
  const lines = asked.map((one) => ({
    lineId: one.line.id,
    quantities: quantitiesOf(one.line),
    options: returnKinds.map((kind) => bestOptionOfKind(one, kind)),
  }));
  return {
    orderId: order.id,
    orderVersion: order.version,
    decision: overallDecision(lines),
    lines,
    orderLevel: [orderUndeliveredRefundOption(asked), orderWithdrawalOption(asked)],
    openCases: order.returns.filter(isOpenReturn).map(toOpenReturnSummary),
    policies: afterSalesPolicies(order),
    evaluatedAt: facts.now.toISOString(),
    validUntil: validUntil(facts.now, [
      ...facts.turns,
      ...asked.flatMap(({ windows }) => windowChangeTimes(windows)),
    ]),
  };
}

export interface ReturnOptionQuery {
  readonly lineId: string;
  readonly kind: ReturnKind;
  readonly reason: ReturnReason;
}

/** For one reason alone: what it is decided by when a buyer asks for it. Undefined: there is no such line. */
export function evaluateReturnOption(
  order: OrderAggregate,
  facts: AfterSalesFacts,
  { lineId, kind, reason }: ReturnOptionQuery,
): AfterSalesOption | undefined {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined) return undefined;
  const asked = {
    order,
    facts,
    line,
    windows: afterSalesWindows(order, line),
    isFault: isMerchantFault(reason),
  };
  return isUndeliveredRefund({ kind, reason }) ? undeliveredRefundOption(asked) : optionByKind[kind](asked);
}

const optionByKind: Readonly<Record<ReturnKind, (asked: AfterSalesOptionContext) => AfterSalesOption>> = {
  return_refund: returnRefundOption,
  exchange: exchangeOption,
  refund_only: keepItemRefundOption,
  repair: (asked) => warrantyOption(asked, "repair"),
  replacement: (asked) => warrantyOption(asked, "replacement"),
  withdrawal: withdrawalOption,
};

function bestOptionOfKind(asked: AfterSalesLineContext, kind: ReturnKind): AfterSalesOption {
  if (kind === "repair" || kind === "replacement") return warrantyOption(asked, kind);
  const option = mergeOptionsOfReasons(
    optionByKind[kind]({ ...asked, isFault: false }),
    optionByKind[kind]({ ...asked, isFault: true }),
  );
  return kind === "refund_only"
    ? addUndeliveredUnits(asked, { kept: option, lost: undeliveredRefundOption(asked) })
    : option;
}

interface RefundOnlyOptions {
  readonly kept: AfterSalesOption;
  readonly lost: AfterSalesOption;
}

/** What is kept and what never came are other units of a line: both can be asked for. */
function addUndeliveredUnits(
  { order, line }: AfterSalesLineContext,
  { kept, lost }: RefundOnlyOptions,
): AfterSalesOption {
  if (lost.decision === "denied")
    return kept.decision === "denied" && countUndeliveredUnits(order, line) > 0 ? lost : kept;
  if (kept.decision === "denied") return lost;
  const eligibleQuantity = kept.eligibleQuantity + lost.eligibleQuantity;
  const lines = [{ lineId: line.id, quantity: eligibleQuantity }];
  const { refundMinor } = calculateReturnValue(order, {
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
    estimatedRefund: money(refundMinor, order.currency),
  };
}

function overallDecision(lines: readonly AfterSalesLineEligibility[]): AfterSalesEligibility["decision"] {
  const decided: Decision[] = lines.map(({ options }) =>
    bestDecision(options.map(({ decision }) => decision)),
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

/** A policy of the order that decides about its after-sales. */
export interface AfterSalesPolicy {
  readonly id: string;
  readonly type: "return" | "warranty" | "withdrawal";
  readonly clock: WindowClock;
  /** Null: it has no end, or is counted in months. */
  readonly windowDays: number | null;
  readonly summary: string;
  readonly url: string | null;
}

function afterSalesPolicies(order: OrderAggregate): AfterSalesPolicy[] {
  const [returns, withdrawals, warranty] = [
    policyOf(order, "return"),
    policyOf(order, "withdrawal"),
    policyOf(order, "warranty"),
  ];
  return [
    toAfterSalesPolicy(returns, { type: "return", clock: "delivered", windowDays: returns.rules.windowDays }),
    toAfterSalesPolicy(withdrawals, {
      type: "withdrawal",
      clock: "delivered",
      windowDays: withdrawals.rules.windowDays,
    }),
    toAfterSalesPolicy(warranty, {
      type: "warranty",
      clock: "warranty_start",
      windowDays: warranty.rules.months === 0 ? 0 : null,
    }),
  ];
}

function toAfterSalesPolicy(
  { id, summary, url }: Pick<AfterSalesPolicy, "id" | "summary" | "url">,
  { type, clock, windowDays }: Pick<AfterSalesPolicy, "type" | "clock" | "windowDays">,
): AfterSalesPolicy {
  return { id, type, clock, windowDays, summary, url };
}

/** The money for all that was sent and never came. */
function orderUndeliveredRefundOption(lines: readonly AfterSalesLineContext[]): OrderLevelOption {
  return combineLines("refund_undelivered", lines, undeliveredRefundOption);
}

/** The right of withdrawal, used for everything that it is there for. */
function orderWithdrawalOption(lines: readonly AfterSalesLineContext[]): OrderLevelOption {
  return combineLines("withdrawal", lines, (asked) => withdrawalOption({ ...asked, isFault: false }));
}

function combineLines(
  kind: OrderLevelOption["kind"],
  lines: readonly AfterSalesLineContext[],
  optionFrom: (asked: AfterSalesLineContext) => AfterSalesOption,
): OrderLevelOption {
  const options = lines.map((asked) => ({ asked, option: optionFrom(asked) }));
  const decision = bestDecision(options.map(({ option }) => option.decision));
  const best = combinableOptions(options.filter(({ option }) => option.decision === decision));
  const [first] = best;
  if (first === undefined) throw new Error("An order has no lines.");
  const chosen = best.map(({ asked, option }) => ({
    lineId: asked.line.id,
    quantity: option.eligibleQuantity,
  }));
  const { option, asked } = first;
  return {
    ...option,
    kind,
    decision,
    eligibleQuantity: chosen.reduce((sum, { quantity }) => sum + quantity, 0),
    reasons: withoutRepeats(best.flatMap((one) => one.option.reasons)),
    window: earliestWindow(best.map((one) => one.option.window)),
    ...(decision === "denied" ? {} : combinedRefund(asked.order, { option, chosen })),
  };
}

interface LineOption {
  readonly asked: AfterSalesLineContext;
  readonly option: AfterSalesOption;
}

/**
 * What is sent back and what nobody has sent are no one request: where there is something to send back, that
 * is meant.
 */
function combinableOptions(best: readonly LineOption[]): readonly LineOption[] {
  const sentBack = best.filter(({ option }) => !option.methods.includes("keep_item"));
  return sentBack.length > 0 ? sentBack : best;
}

/** The postage is paid once, the delivery given back only with the last of what was delivered. */
function combinedRefund(
  order: OrderAggregate,
  { option, chosen }: { readonly option: AfterSalesOption; readonly chosen: readonly LineQuantity[] },
): Pick<OrderLevelOption, "estimatedRefund"> {
  const isOfLost = option.kind === "refund_only";
  const { refundMinor } = calculateReturnValue(order, {
    kind: option.kind,
    isFault: isOfLost,
    isLost: isOfLost,
    method: option.methods[0] ?? "mail",
    lines: chosen,
  });
  return { estimatedRefund: money(refundMinor, order.currency) };
}

/** The one that begins first. */
function earliestWindow(windows: readonly Window[]): Window {
  const [first, ...rest] = windows;
  if (first === undefined) throw new Error("There is no window.");
  return rest.reduce(
    (best, window) =>
      window.startsAt !== null && (best.startsAt === null || window.startsAt < best.startsAt) ? window : best,
    first,
  );
}
