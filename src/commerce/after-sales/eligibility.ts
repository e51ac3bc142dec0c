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
import { undeliveredUnits } from "./obstacles.ts";
import {
  type AfterSalesFacts,
  type AfterSalesOption,
  type Asked,
  type AskedOfLine,
  betterOf,
  type OrderOption,
  turnsOfWindows,
  windowsOf,
} from "./option.ts";
import { isLost, isMerchantFault, type ReturnReason } from "./reasons.ts";
import { exchange, keepItem, notReceived, returnRefund, withdrawal } from "./return-options.ts";
import { returnValue } from "./return-rules.ts";
import { remedy } from "./warranty-options.ts";

type Quantities = Pick<
  OrderLine,
  "ordered" | "canceled" | "allocated" | "shipped" | "delivered" | "returnRequested" | "returned" | "refunded"
>;

export interface AfterSalesLine {
  readonly lineId: string;
  readonly quantities: Quantities;
  readonly options: readonly AfterSalesOption[];
}

export interface OpenCase {
  readonly returnId: string;
  readonly kind: ReturnKind;
  readonly status: OrderReturn["status"];
  readonly lines: readonly LineQuantity[];
}

export interface AfterSalesEligibility {
  readonly orderId: string;
  readonly orderVersion: number;
  readonly decision: "eligible" | "partially_eligible" | "not_eligible";
  readonly lines: readonly AfterSalesLine[];
  readonly orderLevel: readonly OrderOption[];
  readonly openCases: readonly OpenCase[];
  readonly policies: readonly AfterSalesPolicy[];
  readonly evaluatedAt: string;
  readonly validUntil: string;
}

export function afterSalesEligibility(order: OrderAggregate, facts: AfterSalesFacts): AfterSalesEligibility {
  const asked = order.lines.map((line) => ({ order, facts, line, windows: windowsOf(order, line) }));
  const lines = asked.map((one) => ({
    lineId: one.line.id,
    quantities: quantitiesOf(one.line),
    options: returnKinds.map((kind) => optionOf(one, kind)),
  }));
  return {
    orderId: order.id,
    orderVersion: order.version,
    decision: decisionOver(lines),
    lines,
    orderLevel: [lostParcels(asked), wholeWithdrawal(asked)],
    openCases: order.returns.filter(isOpenReturn).map(toCase),
    policies: afterSalesPolicies(order),
    evaluatedAt: facts.now.toISOString(),
    validUntil: validUntil(facts.now, [
      ...facts.turns,
      ...asked.flatMap(({ windows }) => turnsOfWindows(windows)),
    ]),
  };
}

export interface OptionAsked {
  readonly lineId: string;
  readonly kind: ReturnKind;
  readonly reason: ReturnReason;
}

/** For one reason alone: what it is decided by when a buyer asks for it. Undefined: there is no such line. */
export function optionFor(
  order: OrderAggregate,
  facts: AfterSalesFacts,
  { lineId, kind, reason }: OptionAsked,
): AfterSalesOption | undefined {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined) return undefined;
  const asked = { order, facts, line, windows: windowsOf(order, line), isFault: isMerchantFault(reason) };
  return isLost({ kind, reason }) ? notReceived(asked) : optionBy[kind](asked);
}

const optionBy: Readonly<Record<ReturnKind, (asked: Asked) => AfterSalesOption>> = {
  return_refund: returnRefund,
  exchange,
  refund_only: keepItem,
  repair: (asked) => remedy(asked, "repair"),
  replacement: (asked) => remedy(asked, "replacement"),
  withdrawal,
};

function optionOf(asked: AskedOfLine, kind: ReturnKind): AfterSalesOption {
  if (kind === "repair" || kind === "replacement") return remedy(asked, kind);
  const option = betterOf(
    optionBy[kind]({ ...asked, isFault: false }),
    optionBy[kind]({ ...asked, isFault: true }),
  );
  return kind === "refund_only" ? withLost(asked, { kept: option, lost: notReceived(asked) }) : option;
}

interface KeptAndLost {
  readonly kept: AfterSalesOption;
  readonly lost: AfterSalesOption;
}

/** What is kept and what never came are other units of a line: both can be asked for. */
function withLost({ order, line }: AskedOfLine, { kept, lost }: KeptAndLost): AfterSalesOption {
  if (lost.decision === "denied")
    return kept.decision === "denied" && undeliveredUnits(order, line) > 0 ? lost : kept;
  if (kept.decision === "denied") return lost;
  const eligibleQuantity = kept.eligibleQuantity + lost.eligibleQuantity;
  const lines = [{ lineId: line.id, quantity: eligibleQuantity }];
  const { refundMinor } = returnValue(order, {
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

function decisionOver(lines: readonly AfterSalesLine[]): AfterSalesEligibility["decision"] {
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

function toCase({ id, kind, status, lines }: OrderReturn): OpenCase {
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
    show(returns, { type: "return", clock: "delivered", windowDays: returns.rules.windowDays }),
    show(withdrawals, { type: "withdrawal", clock: "delivered", windowDays: withdrawals.rules.windowDays }),
    show(warranty, {
      type: "warranty",
      clock: "warranty_start",
      windowDays: warranty.rules.months === 0 ? 0 : null,
    }),
  ];
}

function show(
  { id, summary, url }: Pick<AfterSalesPolicy, "id" | "summary" | "url">,
  { type, clock, windowDays }: Pick<AfterSalesPolicy, "type" | "clock" | "windowDays">,
): AfterSalesPolicy {
  return { id, type, clock, windowDays, summary, url };
}

/** The money for all that was sent and never came. */
function lostParcels(lines: readonly AskedOfLine[]): OrderOption {
  return combineLines("refund_undelivered", lines, notReceived);
}

/** The right of withdrawal, used for everything that it is there for. */
function wholeWithdrawal(lines: readonly AskedOfLine[]): OrderOption {
  return combineLines("withdrawal", lines, (asked) => withdrawal({ ...asked, isFault: false }));
}

function combineLines(
  kind: OrderOption["kind"],
  lines: readonly AskedOfLine[],
  optionFrom: (asked: AskedOfLine) => AfterSalesOption,
): OrderOption {
  const options = lines.map((asked) => ({ asked, option: optionFrom(asked) }));
  const decision = bestDecision(options.map(({ option }) => option.decision));
  const best = askedAtOnce(options.filter(({ option }) => option.decision === decision));
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
    ...(decision === "denied" ? {} : amountsOf(asked.order, { option, chosen })),
  };
}

interface Offered {
  readonly asked: AskedOfLine;
  readonly option: AfterSalesOption;
}

/**
 * What is sent back and what nobody has sent are no one request: where there is something to send back, that
 * is meant.
 */
function askedAtOnce(best: readonly Offered[]): readonly Offered[] {
  const sentBack = best.filter(({ option }) => !option.methods.includes("keep_item"));
  return sentBack.length > 0 ? sentBack : best;
}

/** The postage is paid once, the delivery given back only with the last of what was delivered. */
function amountsOf(
  order: OrderAggregate,
  { option, chosen }: { readonly option: AfterSalesOption; readonly chosen: readonly LineQuantity[] },
): Pick<OrderOption, "estimatedRefund"> {
  const isOfLost = option.kind === "refund_only";
  const { refundMinor } = returnValue(order, {
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
