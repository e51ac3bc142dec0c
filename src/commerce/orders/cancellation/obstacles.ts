/**
 * Reasons against canceling an order, or a line of it: first the state of the order, then what its merchant
 * allows and when, then the sets of lines that a promotion joins. Part of such a set cannot be canceled
 * alone, because the promotion was given for the whole set.
 */
import type { CancellationRules } from "#commerce/markets/policy-rules.ts";
import { type CancellationReasonView, obstacle } from "./reasons.ts";
import { decisionOf } from "#commerce/orders/eligibility-reason.ts";
import type {
  LineQuantity,
  OrderAggregate,
  OrderLine,
  OrderPromotion,
} from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus, OrderActor } from "#commerce/orders/order-states.ts";
import { isOpenReturn, wantedOf } from "#commerce/orders/order-statuses.ts";

export interface AssessedLine {
  readonly line: OrderLine;
  /** Neither canceled nor sent. */
  readonly open: number;
  readonly reasons: readonly CancellationReasonView[];
}

export interface Assessment {
  readonly order: OrderAggregate;
  readonly rules: CancellationRules;
  readonly now: Date;
  /** The merchant is bound by what the order is like, not by what it lets its buyers do. */
  readonly actor: OrderActor;
}

export function assessLines(assessment: Assessment): AssessedLine[] {
  const { order, actor } = assessment;
  const end = endOf(order);
  if (end !== null) return order.lines.map((line) => ({ line, open: 0, reasons: [end] }));
  const ofOrder = stateObstacles(order);
  const assessed = order.lines.map((line) => assessLine(assessment, { line, ofOrder }));
  return actor === "buyer"
    ? assessed.map((one) => ({ ...one, reasons: [...one.reasons, ...tornApart(order, { one, assessed })] }))
    : assessed;
}

/** The end of the time in which a buyer cancels alone; null: it ends with the beginning of the packing. */
export function windowEndOf(
  { placedAt }: Pick<OrderAggregate, "placedAt">,
  { windowMinutes }: CancellationRules,
): number | null {
  return windowMinutes === null ? null : Date.parse(placedAt) + windowMinutes * 60_000;
}

function assessLine(
  assessment: Assessment,
  { line, ofOrder }: { readonly line: OrderLine; readonly ofOrder: readonly CancellationReasonView[] },
): AssessedLine {
  const { order, actor } = assessment;
  const open = wantedOf(line) - line.shipped;
  if (open === 0) return { line, open, reasons: [nothingOpen(line)] };
  const fixed = [...ofOrder, ...returnObstacles(order, line)];
  if (fixed.length > 0 || actor !== "buyer") return { line, open, reasons: fixed };
  return { line, open, reasons: [...policyObstacles(assessment), ...packingObstacles(order, line)] };
}

/** An order that is over says so, whatever its lines have come to. */
function endOf({ status }: OrderAggregate): CancellationReasonView | null {
  if (status === "canceled") return obstacle("order_already_canceled");
  return status === "completed" ? obstacle("order_completed") : null;
}

function stateObstacles({
  status,
  merchant,
  payments,
  refunds,
  cancellationRequest,
}: OrderAggregate): CancellationReasonView[] {
  const pending = payments.flatMap((payment) => payment.pending);
  const isProcessing =
    payments.some((payment) => payment.status === "pending") || pending.some(({ kind }) => kind !== "refund");
  const isRefunding =
    refunds.some((refund) => refund.status === "pending") || pending.some(({ kind }) => kind === "refund");
  return [
    ...(merchant.status === "suspended" ? [obstacle("merchant_suspended")] : []),
    ...(status === "on_hold" ? [obstacle("order_on_hold")] : []),
    ...(payments.some(({ disputedAt }) => disputedAt !== null) ? [obstacle("payment_disputed")] : []),
    ...(isProcessing ? [obstacle("payment_processing")] : []),
    ...(isRefunding ? [obstacle("refund_in_progress")] : []),
    ...(cancellationRequest === null
      ? []
      : [obstacle("cancellation_already_requested", { data: { at: cancellationRequest.at } })]),
  ];
}

const digital = ["digital", "gift_card"];

function nothingOpen(line: OrderLine): CancellationReasonView {
  if (wantedOf(line) === 0) return obstacle("line_already_canceled");
  if (line.delivered < line.shipped) return obstacle("fulfillment_shipped");
  return obstacle(
    digital.some((restriction) => line.restrictions.includes(restriction))
      ? "line_digital_delivered"
      : "fulfillment_delivered",
  );
}

function returnObstacles({ returns }: OrderAggregate, { id }: OrderLine): CancellationReasonView[] {
  const open = returns.find(
    (found) => isOpenReturn(found) && found.lines.some(({ lineId }) => lineId === id),
  );
  return open === undefined ? [] : [obstacle("return_open", { data: { returnId: open.id } })];
}

function policyObstacles({ order, rules, now }: Assessment): CancellationReasonView[] {
  if (rules.mode === "none") return [obstacle("self_service_disabled")];
  const endsAt = windowEndOf(order, rules);
  const isOver = endsAt !== null && now.getTime() >= endsAt;
  return [
    ...(rules.mode === "request" ? [obstacle("self_service_disabled", { blocking: false })] : []),
    ...(isOver
      ? [
          obstacle("cancellation_window_elapsed", {
            blocking: rules.afterWindow === "deny",
            data: { endsAt: new Date(endsAt).toISOString() },
          }),
        ]
      : []),
  ];
}

const packed: ReadonlySet<FulfillmentStatus> = new Set(["packing", "ready_for_pickup"]);

function packingObstacles({ fulfillments }: OrderAggregate, line: OrderLine): CancellationReasonView[] {
  // What an exchange sends is nothing that was ordered.
  const own = fulfillments.filter(
    ({ returnId, status, lines }) =>
      returnId === null && status !== "canceled" && lines.some(({ lineId }) => lineId === line.id),
  );
  const isBegun = own.some(({ packingStartedAt }) => packingStartedAt !== null);
  const isPacked = own.some(({ status }) => packed.has(status));
  return [
    ...(isBegun && line.restrictions.includes("custom_made") ? [obstacle("line_custom_made")] : []),
    ...(isPacked ? [obstacle("fulfillment_in_progress", { blocking: false })] : []),
  ];
}

/** A line whose set cannot go with it as a whole goes by the merchant's leave alone. */
function tornApart(
  order: OrderAggregate,
  { one, assessed }: { readonly one: AssessedLine; readonly assessed: readonly AssessedLine[] },
): CancellationReasonView[] {
  if (decisionOf(one.reasons) === "denied") return [];
  const isWhole = ({ line, open, reasons }: AssessedLine): boolean =>
    open === wantedOf(line) && decisionOf(reasons) !== "denied";
  const torn = setsOf(order).find(
    (lineIds) =>
      lineIds.includes(one.line.id) &&
      assessed.some((other) => lineIds.includes(other.line.id) && !isWhole(other)),
  );
  return torn === undefined
    ? []
    : [obstacle("line_not_separable", { blocking: false, data: { lineIds: torn } })];
}

/**
 * Kinds of promotions that join lines: those that they make cheaper, and those that had to be bought for
 * that.
 */
const joining: ReadonlySet<OrderPromotion["kind"]> = new Set(["buy_x_get_y", "gift"]);

export function setsOf({ promotions }: Pick<OrderAggregate, "promotions">): (readonly string[])[] {
  return promotions
    .filter(({ kind, discountMinor }) => joining.has(kind) && discountMinor > 0)
    .map(({ allocations, boughtLineIds = [] }) => {
      const given = allocations.flatMap(({ lineId, amountMinor }) =>
        lineId === null || amountMinor === 0 ? [] : [lineId],
      );
      return given.concat(boughtLineIds.filter((id) => !given.includes(id)));
    })
    .filter((lineIds) => lineIds.length > 0);
}

/** The first set that these units would tear apart: of some of its lines they have units, of others not all. */
export function tornSet(
  order: Pick<OrderAggregate, "promotions" | "lines">,
  chosen: readonly LineQuantity[],
): readonly string[] | undefined {
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  const wanted = new Map(order.lines.map((line) => [line.id, wantedOf(line)]));
  return setsOf(order).find(
    (lineIds) =>
      lineIds.some((id) => (quantities.get(id) ?? 0) > 0) &&
      lineIds.some((id) => (quantities.get(id) ?? 0) < (wanted.get(id) ?? 0)),
  );
}
