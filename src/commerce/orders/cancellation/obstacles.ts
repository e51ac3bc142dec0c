/**
 * Finds the reasons against canceling an order or an order line: the order's state, the merchant's policy,
 * and promotions that connect the line with other lines. Connected lines can only be canceled together,
 * because the promotion was granted for all of them.
 */
import type { CancellationRules } from "#commerce/markets/policy-rules.ts";
import { type CancellationObstacle, createCancellationObstacle } from "./reasons.ts";
import { decideEligibilityFromReasons } from "#commerce/orders/eligibility-reason.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderLine,
  OrderPromotion,
} from "#commerce/orders/order-aggregate.ts";
import type { FulfillmentStatus, OrderActor } from "#commerce/orders/order-states.ts";
import { isOpenReturn, getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";

export interface OrderLineAssessedForCancellation {
  readonly line: OrderLine;
  /** Number of units of the order line that were neither canceled nor sent. */
  readonly open: number;
  readonly reasons: readonly CancellationObstacle[];
}

export interface OrderCancellationAssessmentInput {
  readonly order: OrderAggregate;
  readonly rules: CancellationRules;
  readonly now: Date;
  /**
   * The actor who cancels. The merchant's policy matters only if the actor is `buyer`; for other actors, only
   * the state of the order matters.
   */
  readonly actor: OrderActor;
}

export function assessOrderLinesForCancellation(
  context: OrderCancellationAssessmentInput,
): OrderLineAssessedForCancellation[] {
  const { order, actor } = context;
  const end = endOf(order);
  if (end !== null) return order.lines.map((line) => ({ line, open: 0, reasons: [end] }));
  const ofOrder = stateObstacles(order);
  const checked = order.lines.map((line) => checkCancellationLine(context, { line, ofOrder }));
  return actor === "buyer"
    ? checked.map((one) => ({
        ...one,
        reasons: [...one.reasons, ...splitSetObstacles(order, { one, checked })],
      }))
    : checked;
}

/**
 * Returns the time until which a buyer can cancel without the merchant's approval, in milliseconds since
 * 1970; null if this time ends when packing starts.
 */
export function calculateCancellationWindowEnd(
  { placedAt }: Pick<OrderAggregate, "placedAt">,
  { windowMinutes }: CancellationRules,
): number | null {
  return windowMinutes === null ? null : Date.parse(placedAt) + windowMinutes * 60_000;
}

function checkCancellationLine(
  context: OrderCancellationAssessmentInput,
  { line, ofOrder }: { readonly line: OrderLine; readonly ofOrder: readonly CancellationObstacle[] },
): OrderLineAssessedForCancellation {
  const { order, actor } = context;
  const open = getUncanceledQuantity(line) - line.shipped;
  if (open === 0) return { line, open, reasons: [nothingOpen(line)] };
  const fixed = [...ofOrder, ...returnObstacles(order, line)];
  if (fixed.length > 0 || actor !== "buyer") return { line, open, reasons: fixed };
  return { line, open, reasons: [...policyObstacles(context), ...packingObstacles(order, line)] };
}

/**
 * Returns the obstacle that a canceled or completed order can no longer be canceled; null for other orders.
 * If present, this obstacle is the only reason for all lines of the order.
 */
function endOf({ status }: OrderAggregate): CancellationObstacle | null {
  if (status === "canceled") return createCancellationObstacle("order_already_canceled");
  return status === "completed" ? createCancellationObstacle("order_completed") : null;
}

function stateObstacles({
  status,
  merchant,
  payments,
  refunds,
  cancellationRequest,
}: OrderAggregate): CancellationObstacle[] {
  const pending = payments.flatMap((payment) => payment.pending);
  const isProcessing =
    payments.some((payment) => payment.status === "pending") || pending.some(({ kind }) => kind !== "refund");
  const isRefunding =
    refunds.some((refund) => refund.status === "pending") || pending.some(({ kind }) => kind === "refund");
  return [
    ...(merchant.status === "suspended" ? [createCancellationObstacle("merchant_suspended")] : []),
    ...(status === "on_hold" ? [createCancellationObstacle("order_on_hold")] : []),
    ...(payments.some(({ disputedAt }) => disputedAt !== null)
      ? [createCancellationObstacle("payment_disputed")]
      : []),
    ...(isProcessing ? [createCancellationObstacle("payment_processing")] : []),
    ...(isRefunding ? [createCancellationObstacle("refund_in_progress")] : []),
    ...(cancellationRequest === null
      ? []
      : [
          createCancellationObstacle("cancellation_already_requested", {
            data: { at: cancellationRequest.at },
          }),
        ]),
  ];
}

const digital = ["digital", "gift_card"];

function nothingOpen(line: OrderLine): CancellationObstacle {
  if (getUncanceledQuantity(line) === 0) return createCancellationObstacle("line_already_canceled");
  if (line.delivered < line.shipped) return createCancellationObstacle("fulfillment_shipped");
  return createCancellationObstacle(
    digital.some((restriction) => line.restrictions.includes(restriction))
      ? "line_digital_delivered"
      : "fulfillment_delivered",
  );
}

function returnObstacles({ returns }: OrderAggregate, { id }: OrderLine): CancellationObstacle[] {
  const open = returns.find(
    (found) => isOpenReturn(found) && found.lines.some(({ lineId }) => lineId === id),
  );
  return open === undefined
    ? []
    : [createCancellationObstacle("return_open", { data: { returnId: open.id } })];
}

function policyObstacles({ order, rules, now }: OrderCancellationAssessmentInput): CancellationObstacle[] {
  if (rules.mode === "none") return [createCancellationObstacle("self_service_disabled")];
  const endsAt = calculateCancellationWindowEnd(order, rules);
  const isOver = endsAt !== null && now.getTime() >= endsAt;
  return [
    ...(rules.mode === "request"
      ? [createCancellationObstacle("self_service_disabled", { blocking: false })]
      : []),
    ...(isOver
      ? [
          createCancellationObstacle("cancellation_window_elapsed", {
            blocking: rules.afterWindow === "deny",
            data: { endsAt: new Date(endsAt).toISOString() },
          }),
        ]
      : []),
  ];
}

const packed: ReadonlySet<FulfillmentStatus> = new Set(["packing", "ready_for_pickup"]);

function packingObstacles({ fulfillments }: OrderAggregate, line: OrderLine): CancellationObstacle[] {
  // Fulfillments of returns are left out, because they send the items of an exchange or replacement, not
  // ordered units.
  const own = fulfillments.filter(
    ({ returnId, status, lines }) =>
      returnId === null && status !== "canceled" && lines.some(({ lineId }) => lineId === line.id),
  );
  const isBegun = own.some(({ packingStartedAt }) => packingStartedAt !== null);
  const isPacked = own.some(({ status }) => packed.has(status));
  return [
    ...(isBegun && line.restrictions.includes("custom_made")
      ? [createCancellationObstacle("line_custom_made")]
      : []),
    ...(isPacked ? [createCancellationObstacle("fulfillment_in_progress", { blocking: false })] : []),
  ];
}

/**
 * Returns an obstacle if a promotion connects the line with other lines that cannot be canceled completely.
 * The merchant must then approve the cancellation of the line.
 */
function splitSetObstacles(
  order: OrderAggregate,
  {
    one,
    checked,
  }: {
    readonly one: OrderLineAssessedForCancellation;
    readonly checked: readonly OrderLineAssessedForCancellation[];
  },
): CancellationObstacle[] {
  if (decideEligibilityFromReasons(one.reasons) === "denied") return [];
  const isWhole = ({ line, open, reasons }: OrderLineAssessedForCancellation): boolean =>
    open === getUncanceledQuantity(line) && decideEligibilityFromReasons(reasons) !== "denied";
  const splitSet = groupOrderLinesBySharedPromotion(order).find(
    (lineIds) =>
      lineIds.includes(one.line.id) &&
      checked.some((other) => lineIds.includes(other.line.id) && !isWhole(other)),
  );
  return splitSet === undefined
    ? []
    : [createCancellationObstacle("line_not_separable", { blocking: false, data: { lineIds: splitSet } })];
}

/**
 * Kinds of promotions that connect order lines. The discounted lines and the lines that the buyer had to buy
 * for the promotion can then only be canceled together.
 */
const joining: ReadonlySet<OrderPromotion["kind"]> = new Set(["buy_x_get_y", "gift"]);

export function groupOrderLinesBySharedPromotion({
  promotions,
}: Pick<OrderAggregate, "promotions">): (readonly string[])[] {
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

/**
 * Finds the first promotion of which the cancellation takes only a part of the connected units. Returns the
 * ids of the lines that this promotion connects; undefined if there is no such promotion.
 */
export function findLinesThatShareCanceledPromotion(
  order: Pick<OrderAggregate, "promotions" | "lines">,
  chosen: readonly OrderLineIdAndQuantity[],
): readonly string[] | undefined {
  const quantities = new Map(chosen.map(({ lineId, quantity }) => [lineId, quantity]));
  const wanted = new Map(order.lines.map((line) => [line.id, getUncanceledQuantity(line)]));
  return groupOrderLinesBySharedPromotion(order).find(
    (lineIds) =>
      lineIds.some((id) => (quantities.get(id) ?? 0) > 0) &&
      lineIds.some((id) => (quantities.get(id) ?? 0) < (wanted.get(id) ?? 0)),
  );
}
