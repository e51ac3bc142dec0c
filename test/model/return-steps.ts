/** Steps of returns: request, ship, receive, inspect and settle, or cancel. */
import {
  isRefunded,
  isReturnOpen,
  letGo,
  lineOf,
  type ModelOrder,
  type ModelReturn,
  type OrderModel,
  owed,
  portionOf,
  refundable,
  returnableOf,
  saved,
  stockOf,
} from "./order-model.ts";
import { type Dice, pickOf, type Plan, portion } from "./step.ts";

export function requestReturn(_model: OrderModel, order: ModelOrder, dice: Dice): Plan | null {
  // Draws one return at a time per line, because the model does not cover the combined value of two.
  const free = order.lines.filter(
    (line) => !order.returns.some((one) => one.lineId === line.id && isReturnOpen(one)),
  );
  const line = pickOf(dice.isBold ? free : free.filter((one) => returnableOf(one) > 0), dice);
  if (line === undefined) return null;
  const quantity = portion(returnableOf(line), dice);
  const { status, payment } = order;
  const isStanding =
    status !== "canceled" && status !== "on_hold" && !payment.isDisputed && !isRefunded(order);
  return {
    call: {
      field: "returnRequest",
      on: { orderId: order.id },
      input: { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId: line.id, quantity }] },
    },
    isAllowed: isStanding && quantity <= returnableOf(line),
    apply: (id) => {
      const promisedMinor = portionOf(line, quantity);
      order.returns.push({
        id,
        lineId: line.id,
        quantity,
        promisedMinor,
        status: "approved",
        received: 0,
        accepted: 0,
      });
      line.returnRequested += quantity;
      saved(order);
    },
  };
}

interface Stage {
  readonly field: string;
  readonly from: string;
  readonly to: string;
  readonly input?: (found: ModelReturn, dice: Dice) => object;
  readonly isPossible?: (order: ModelOrder, found: ModelReturn) => boolean;
  readonly effect?: (model: OrderModel, order: ModelOrder, found: ModelReturn, dice: Dice) => void;
}

const receivedOf = ({ quantity }: ModelReturn, { amount }: Dice): number =>
  amount % 4 === 0 ? amount % (quantity + 1) : quantity;
const acceptedOf = ({ received }: ModelReturn, { amount }: Dice): number =>
  amount % 3 === 0 ? amount % (received + 1) : received;
const restockedOf = (found: ModelReturn, dice: Dice): number =>
  dice.amount % 2 === 0 ? acceptedOf(found, dice) : 0;

interface Settlement {
  readonly units: number;
  readonly amountMinor: number;
  readonly refundMinor: number;
}

/**
 * The settlement pays what was promised, or more if the units are worth more by now; at most their value if
 * fewer units were accepted.
 */
function settlementOf(order: ModelOrder, found: ModelReturn): Settlement {
  const line = lineOf(order, found.lineId);
  const units = Math.min(found.accepted, line.ordered - line.canceled - line.refunded);
  const worthMinor = portionOf(line, units);
  const isWhole = units === found.quantity;
  const netMinor = (isWhole ? Math.max : Math.min)(found.promisedMinor, worthMinor);
  const amountMinor = Math.min(netMinor, line.totalMinor - line.reducedMinor, owed(order));
  return {
    units,
    amountMinor,
    refundMinor: Math.min(amountMinor, Math.max(0, refundable(order.payment) - (owed(order) - amountMinor))),
  };
}

const stages: readonly Stage[] = [
  { field: "returnTrack", from: "approved", to: "in_transit" },
  {
    field: "returnReceive",
    from: "in_transit",
    to: "received",
    input: (found, dice) => ({ lines: [{ lineId: found.lineId, received: receivedOf(found, dice) }] }),
    effect: (_model, _order, found, dice) => void (found.received = receivedOf(found, dice)),
  },
  {
    field: "returnInspect",
    from: "received",
    to: "inspected",
    input: (found, dice) => ({
      lines: [{ lineId: found.lineId, accepted: acceptedOf(found, dice), restock: restockedOf(found, dice) }],
    }),
    effect: (model, order, found, dice) => {
      const line = lineOf(order, found.lineId);
      stockOf(model, line.variantId).onHand += restockedOf(found, dice);
      found.accepted = acceptedOf(found, dice);
      line.returnRequested -= found.quantity;
      line.returned += found.accepted;
    },
  },
  {
    field: "returnClose",
    from: "inspected",
    to: "closed",
    isPossible: (order, found) => !order.payment.isDisputed || settlementOf(order, found).refundMinor === 0,
    effect: (_model, order, found) => {
      const line = lineOf(order, found.lineId);
      const { units, amountMinor, refundMinor } = settlementOf(order, found);
      line.refunded += units;
      line.reducedMinor += amountMinor;
      order.reducedMinor += amountMinor;
      if (refundMinor > 0) order.payment.pending.push({ kind: "refund", amountMinor: refundMinor });
      letGo(order);
    },
  },
  {
    field: "returnCancel",
    from: "approved",
    to: "canceled",
    effect: (_model, order, found) => void (lineOf(order, found.lineId).returnRequested -= found.quantity),
  },
];

/** Moves a return, mostly to its next status; a bold step tries any status. */
export function moveReturn(model: OrderModel, order: ModelOrder, dice: Dice): Plan | null {
  const all = order.returns.flatMap((found) => stages.map((stage) => ({ found, stage })));
  const isAllowed = ({ found, stage }: (typeof all)[number]): boolean =>
    found.status === stage.from && (stage.isPossible?.(order, found) ?? true);
  const chosen = pickOf(dice.isBold ? all : all.filter(isAllowed), dice);
  if (chosen === undefined) return null;
  const { found, stage } = chosen;
  return {
    call: { field: stage.field, on: { returnId: found.id }, input: { ...stage.input?.(found, dice) } },
    isAllowed: isAllowed(chosen),
    apply: () => {
      stage.effect?.(model, order, found, dice);
      found.status = stage.to;
      saved(order);
    },
  };
}
