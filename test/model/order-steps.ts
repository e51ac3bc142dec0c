/** A merchant's steps with an order: confirm, ship, cancel, capture, void and refund. */
import {
  cancelUnits,
  capturable,
  freeOf,
  isReturnOpen,
  lineOf,
  type ModelFulfillment,
  type ModelLine,
  type ModelOrder,
  openOf,
  type OrderModel,
  owed,
  paidBackOf,
  portionOf,
  refundable,
  refundableUnits,
  saved,
  shippingLeft,
  stockOf,
  uncaptured,
  underWay,
  type Units,
  waitingOf,
  wantedOf,
} from "./order-model.ts";
import { type Dice, pickOf, type Plan, type Planner, portion } from "./step.ts";

type OrderPlanner = (model: OrderModel, order: ModelOrder, dice: Dice) => Plan | null;

/** Applies a planner to a model that has an order. */
export const ofOrder =
  (planner: OrderPlanner): Planner =>
  (model, dice) =>
    model.order === null ? null : planner(model, model.order, dice);

const statusSteps = [
  { field: "orderConfirm", from: "pending", to: "confirmed", input: {} },
  { field: "orderHold", from: "confirmed", to: "on_hold", input: { reason: "Something is to be asked." } },
  { field: "orderRelease", from: "on_hold", to: "confirmed", input: {} },
] as const;

const moveStatus = (name: (typeof statusSteps)[number]["field"]): OrderPlanner => {
  const { field, from, to, input } = statusSteps.find((one) => one.field === name) ?? statusSteps[0];
  return (_model, order) => ({
    call: { field, on: { orderId: order.id }, input },
    isAllowed: order.status === from,
    apply: () => {
      order.status = to;
      saved(order);
    },
  });
};
export const confirm = moveStatus("orderConfirm");
export const hold = moveStatus("orderHold");
export const release = moveStatus("orderRelease");

/** Draws some units of some lines; a bold step may draw more than exist. */
export function chosenUnits(
  lines: readonly ModelLine[],
  max: (line: ModelLine) => number,
  dice: Dice,
): Units[] {
  const from = dice.isBold ? lines : lines.filter((line) => max(line) > 0);
  const chosen = from.filter((_line, index) => ((dice.pick >> (index + 2)) & 1) === 1);
  return (chosen.length > 0 ? chosen : from.slice(0, 1)).map((line, index) => ({
    lineId: line.id,
    quantity: portion(max(line), { ...dice, amount: dice.amount + index }),
  }));
}

const canSend = ({ status, payment }: ModelOrder): boolean => status === "confirmed" && !payment.isDisputed;

export const createFulfillment: OrderPlanner = (_model, order, dice) => {
  const lines = chosenUnits(order.lines, (line) => openOf(order, line), dice);
  if (lines.length === 0) return null;
  return {
    call: { field: "fulfillmentCreate", on: { orderId: order.id }, input: { lines } },
    isAllowed:
      canSend(order) &&
      lines.every(({ lineId, quantity }) => quantity <= openOf(order, lineOf(order, lineId))),
    apply: (id) => {
      order.fulfillments.push({ id, status: "pending", lines });
      saved(order);
    },
  };
};

interface Move {
  readonly name: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly field: string;
  readonly input?: object;
  /** Whether the step requires an order that is not on hold or canceled. */
  readonly isOutward?: true;
  readonly isPossible?: (model: OrderModel, order: ModelOrder, fulfillment: ModelFulfillment) => boolean;
  readonly effect?: (model: OrderModel, order: ModelOrder, fulfillment: ModelFulfillment) => void;
}

const eachLine = (
  order: ModelOrder,
  { lines }: ModelFulfillment,
  change: (line: ModelLine, quantity: number) => void,
): void => {
  for (const { lineId, quantity } of lines) change(lineOf(order, lineId), quantity);
};

const moves: readonly Move[] = [
  {
    name: "pack",
    from: ["pending"],
    to: "packing",
    field: "fulfillmentPack",
    isOutward: true,
    isPossible: (model, order, fulfillment) =>
      waitingOf(order, fulfillment).every(({ line, quantity, unpromised }) => {
        const stock = stockOf(model, line.variantId);
        return quantity <= stock.onHand && unpromised <= freeOf(stock);
      }),
    effect: (model, order, fulfillment) => {
      for (const { line, quantity, unpromised } of waitingOf(order, fulfillment)) {
        line.allocated += quantity;
        line.unreserved -= unpromised;
        stockOf(model, line.variantId).onHand -= quantity;
        stockOf(model, line.variantId).reserved -= quantity - unpromised;
      }
    },
  },
  {
    name: "ship",
    from: ["packing"],
    to: "shipped",
    field: "fulfillmentShip",
    isOutward: true,
    effect: (_model, order, fulfillment) =>
      eachLine(order, fulfillment, (line, quantity) => void (line.shipped += quantity)),
  },
  {
    name: "in_transit",
    from: ["shipped"],
    to: "in_transit",
    field: "fulfillmentTrack",
    input: { status: "IN_TRANSIT" },
  },
  {
    name: "out",
    from: ["shipped", "in_transit"],
    to: "out_for_delivery",
    field: "fulfillmentTrack",
    input: { status: "OUT_FOR_DELIVERY" },
  },
  {
    name: "deliver",
    from: underWay,
    to: "delivered",
    field: "fulfillmentDeliver",
    effect: (_model, order, fulfillment) =>
      eachLine(order, fulfillment, (line, quantity) => void (line.delivered += quantity)),
  },
  {
    name: "fail",
    from: underWay,
    to: "failed",
    field: "fulfillmentFail",
    // Reserves replacements as far as stock is free.
    effect: (model, order, fulfillment) =>
      eachLine(order, fulfillment, (line, quantity) => {
        const settled = paidBackOf(line, quantity);
        const again = quantity - settled;
        const promised = Math.min(again, freeOf(stockOf(model, line.variantId)));
        line.settled += settled;
        line.shipped -= again;
        line.allocated -= again;
        line.unreserved += again - promised;
        stockOf(model, line.variantId).reserved += promised;
      }),
  },
  {
    name: "returned_to_sender",
    from: underWay,
    to: "returned_to_sender",
    field: "fulfillmentTrack",
    input: { status: "RETURNED_TO_SENDER" },
    // Refunded units can be sold again; the rest waits to be sent.
    effect: (model, order, fulfillment) =>
      eachLine(order, fulfillment, (line, quantity) => {
        const settled = paidBackOf(line, quantity);
        line.settled += settled;
        line.shipped -= quantity - settled;
        stockOf(model, line.variantId).onHand += settled;
      }),
  },
  { name: "cancel", from: ["pending", "packing"], to: "canceled", field: "fulfillmentCancel" },
];

/** Moves a fulfillment, mostly to its next status; a bold step tries any status. */
export const moveFulfillment: OrderPlanner = (model, order, dice) => {
  const all = order.fulfillments.flatMap((fulfillment) => moves.map((move) => ({ fulfillment, move })));
  const isAllowed = ({ fulfillment, move }: (typeof all)[number]): boolean =>
    move.from.includes(fulfillment.status) &&
    (move.isOutward !== true || canSend(order)) &&
    (move.isPossible?.(model, order, fulfillment) ?? true);
  const chosen = pickOf(dice.isBold ? all : all.filter(isAllowed), dice);
  if (chosen === undefined) return null;
  const { fulfillment, move } = chosen;
  return {
    call: { field: move.field, on: { fulfillmentId: fulfillment.id }, input: { ...move.input } },
    isAllowed: isAllowed(chosen),
    apply: () => {
      move.effect?.(model, order, fulfillment);
      fulfillment.status = move.to;
      saved(order);
    },
  };
};

/** Whether the merchant can cancel units: those not sent, of an order that is not being processed. */
function isCancelable(order: ModelOrder, line: ModelLine): boolean {
  const { status, payment, returns } = order;
  const isQuiet =
    (status === "pending" || status === "confirmed") && !payment.isDisputed && payment.pending.length === 0;
  return (
    isQuiet &&
    wantedOf(line) > line.shipped &&
    !returns.some((one) => one.lineId === line.id && isReturnOpen(one))
  );
}

export const cancel: OrderPlanner = (model, order, dice) => {
  const isAll = dice.pick % 5 === 0;
  const open = (line: ModelLine): number => (isCancelable(order, line) ? wantedOf(line) - line.shipped : 0);
  const whole = order.lines
    .filter((line) => open(line) > 0)
    .map((line) => ({ lineId: line.id, quantity: open(line) }));
  const lines = isAll ? whole : chosenUnits(order.lines, open, dice);
  if (lines.length === 0 && !dice.isBold) return null;
  const input = { reason: "OUT_OF_STOCK", ...(isAll ? {} : { lines }) };
  return {
    call: { field: "orderCancel", on: { orderId: order.id }, input },
    isAllowed:
      lines.length > 0 && lines.every(({ lineId, quantity }) => quantity <= open(lineOf(order, lineId))),
    apply: () => {
      cancelUnits(model, order, lines);
      saved(order);
    },
  };
};

export const capture: OrderPlanner = (_model, order, dice) => {
  const { payment } = order;
  const max = capturable(order);
  const amountMinor = dice.pick % 3 === 0 ? portion(max, { ...dice, amount: dice.amount * 97 }) : null;
  const input = amountMinor === null ? {} : { amount: { amountMinor, currency: "EUR" } };
  return {
    call: { field: "paymentCapture", on: { paymentId: payment.id }, input },
    isAllowed: !payment.isDisputed && max > 0 && (amountMinor ?? max) <= max,
    apply: () => {
      payment.pending.push({ kind: "capture", amountMinor: amountMinor ?? max });
      saved(order);
    },
  };
};

export const voidPayment: OrderPlanner = (_model, order) => {
  const { payment } = order;
  const amountMinor = uncaptured(payment);
  return {
    call: { field: "paymentVoid", on: { paymentId: payment.id }, input: {} },
    isAllowed: amountMinor > 0,
    apply: () => {
      payment.pending.push({ kind: "void", amountMinor });
      saved(order);
    },
  };
};

/** Refunds units that were sent, the shipping, or an amount as goodwill. */
export const refund: OrderPlanner = (_model, order, dice) => {
  const { payment } = order;
  const kind = dice.pick % 4;
  const lines = kind <= 1 ? chosenUnits(order.lines, refundableUnits, dice) : [];
  const shippingMinor = kind === 2 ? shippingLeft(order) : 0;
  const goodwillMinor = kind === 3 ? 1 + dice.amount * 10 : 0;
  const partsMinor = lines.reduce(
    (sum, { lineId, quantity }) => sum + portionOf(lineOf(order, lineId), quantity),
    shippingMinor,
  );
  const amountMinor = partsMinor + goodwillMinor;
  const isOfUnits = lines.every(({ lineId, quantity }) => quantity <= refundableUnits(lineOf(order, lineId)));
  const input = {
    reason: "OTHER",
    ...(lines.length === 0 ? {} : { lines }),
    ...(kind === 2 ? { shipping: true } : {}),
    ...(goodwillMinor === 0 ? {} : { amount: { amountMinor: goodwillMinor, currency: "EUR" } }),
  };
  return {
    call: { field: "refundCreate", on: { orderId: order.id }, input },
    isAllowed: !payment.isDisputed && isOfUnits && amountMinor > 0 && amountMinor <= refundable(payment),
    apply: () => {
      const overpaidMinor = Math.max(0, refundable(payment) - owed(order));
      order.reducedMinor += Math.min(partsMinor + Math.max(0, goodwillMinor - overpaidMinor), owed(order));
      order.shippingReducedMinor += shippingMinor;
      for (const { lineId, quantity } of lines) {
        const line = lineOf(order, lineId);
        line.reducedMinor += portionOf(line, quantity);
        line.refunded += quantity;
      }
      payment.pending.push({ kind: "refund", amountMinor });
      saved(order);
    },
  };
};

export const dispute: OrderPlanner = (_model, order, dice) => {
  const { payment } = order;
  const isOpening = payment.isDisputed === dice.isBold;
  const isLost = dice.amount % 2 === 0;
  const on = { paymentId: payment.id };
  return {
    call: isOpening
      ? { field: "paymentDisputeOpen", on, input: { reason: "FRAUDULENT" } }
      : { field: "paymentDisputeClose", on, input: { outcome: isLost ? "LOST" : "WON" } },
    isAllowed: isOpening ? !payment.isDisputed && refundable(payment) > 0 : payment.isDisputed,
    apply: () => {
      const lostMinor = !isOpening && isLost ? refundable(payment) : 0;
      payment.isDisputed = isOpening;
      payment.refundedMinor += lostMinor;
      order.reducedMinor += Math.min(lostMinor, owed(order));
      saved(order);
    },
  };
};
