/**
 * What an order is, small enough to be seen to be right: quantities per line, sums of money, stock per
 * variant, and where its parts stand. It knows the rules from their words alone, and nothing of how the
 * service keeps them.
 */

export interface ModelLine {
  readonly id: string;
  readonly variantId: string;
  readonly totalMinor: number;
  readonly ordered: number;
  canceled: number;
  allocated: number;
  shipped: number;
  delivered: number;
  returnRequested: number;
  returned: number;
  refunded: number;
  reducedMinor: number;
  /** Paid back before they got lost or came back: sent, and nothing goes in their place. */
  settled: number;
  /** In place of lost ones, with nothing promised for them. */
  unreserved: number;
}

export interface Units {
  readonly lineId: string;
  quantity: number;
}

export interface ModelFulfillment {
  readonly id: string;
  status: string;
  lines: Units[];
}

export interface ModelReturn {
  readonly id: string;
  readonly lineId: string;
  readonly quantity: number;
  readonly promisedMinor: number;
  status: string;
  received: number;
  accepted: number;
}

export interface ModelStock {
  onHand: number;
  reserved: number;
  readonly backorder: number;
}

export interface ModelPayment {
  readonly id: string;
  readonly amountMinor: number;
  capturedMinor: number;
  voidedMinor: number;
  refundedMinor: number;
  isDisputed: boolean;
  /** What the provider was asked for and has not done yet. */
  pending: { readonly kind: "capture" | "void" | "refund"; readonly amountMinor: number }[];
}

export interface ModelSession {
  readonly id: string;
  status: "open" | "processing" | "completed" | "canceled";
  readonly expiresAt: number;
  amountMinor: number;
  token: string;
  submittedAt: number;
  /** When the provider first heard of its payment; null: not yet. */
  askedAt: number | null;
}

export interface ModelOrder {
  readonly id: string;
  version: number;
  status: "pending" | "confirmed" | "on_hold" | "completed" | "canceled";
  readonly totalMinor: number;
  reducedMinor: number;
  shippingReducedMinor: number;
  readonly payment: ModelPayment;
  readonly lines: ModelLine[];
  readonly fulfillments: ModelFulfillment[];
  readonly returns: ModelReturn[];
}

export interface OrderModel {
  now: number;
  readonly cartId: string;
  /** Where it goes; null: there is none. */
  address: { until: number; readonly untilMax: number } | null;
  /** How it is to be sent, and whether that was chosen. */
  readonly deliveryId: string;
  hasDelivery: boolean;
  /** Variant → how many. */
  readonly wanted: ReadonlyMap<string, number>;
  readonly stock: ReadonlyMap<string, ModelStock>;
  session: ModelSession | null;
  order: ModelOrder | null;
}

export const minuteMs = 60_000;

export const isOpen = ({ session, now }: OrderModel): boolean =>
  session?.status === "open" && now < session.expiresAt;
/** Its cart is locked. */
export const isHeld = (model: OrderModel): boolean => model.session?.status === "processing" || isOpen(model);

/**
 * The first `units` of a line are worth so much together; each portion is the difference of two of these, so
 * they add up to the cent.
 */
export const worthOf = ({ totalMinor, ordered }: ModelLine, units: number): number =>
  Math.floor((totalMinor * units) / ordered);

/**
 * What was promised for a return is paid even where a cent more has gone by then; the last units are worth
 * what is left.
 */
export const portionOf = (line: ModelLine, quantity: number): number => {
  const gone = line.canceled + line.refunded;
  return Math.min(line.totalMinor - line.reducedMinor, worthOf(line, gone + quantity) - worthOf(line, gone));
};

export const wantedOf = ({ ordered, canceled }: ModelLine): number => ordered - canceled;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
const pendingOf = ({ pending }: ModelPayment, ...kinds: string[]): number =>
  sum(pending.filter(({ kind }) => kinds.includes(kind)).map(({ amountMinor }) => amountMinor));

export const lineOf = (order: ModelOrder, lineId: string): ModelLine => {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined) throw new Error(`The model has no line ${lineId}.`);
  return line;
};

export const stockOf = (model: OrderModel, variantId: string): ModelStock => {
  const stock = model.stock.get(variantId);
  if (stock === undefined) throw new Error(`The model has no stock of ${variantId}.`);
  return stock;
};

/** What of the payment can still be taken or let go. */
export const uncaptured = (payment: ModelPayment): number =>
  payment.amountMinor - payment.capturedMinor - payment.voidedMinor - pendingOf(payment, "capture", "void");
/** What was taken and can still be given back. */
export const refundable = (payment: ModelPayment): number =>
  payment.capturedMinor - payment.refundedMinor - pendingOf(payment, "refund");
export const owed = ({ totalMinor, reducedMinor }: ModelOrder): number => totalMinor - reducedMinor;
export const capturable = (order: ModelOrder): number =>
  Math.max(
    0,
    Math.min(
      uncaptured(order.payment),
      owed(order) - refundable(order.payment) - pendingOf(order.payment, "capture"),
    ),
  );
export const shippingLeft = (order: ModelOrder): number =>
  order.totalMinor - sum(order.lines.map(({ totalMinor }) => totalMinor)) - order.shippingReducedMinor;

const given = new Set(["canceled", "failed", "returned_to_sender"]);
const taken = new Set(["packing", "shipped", "in_transit", "out_for_delivery", "delivered"]);
export const underWay = ["shipped", "in_transit", "out_for_delivery"];

const unitsIn = (fulfillments: readonly ModelFulfillment[], lineId: string): number =>
  sum(
    fulfillments.flatMap(({ lines }) =>
      lines.filter((line) => line.lineId === lineId).map(({ quantity }) => quantity),
    ),
  );

/** Wanted, in no fulfillment that has brought it or still may, and not paid back. */
export const openOf = (order: ModelOrder, line: ModelLine): number =>
  wantedOf(line) -
  line.settled -
  unitsIn(
    order.fulfillments.filter(({ status }) => !given.has(status)),
    line.id,
  );

/** Of so many that get lost, those that were paid back: beyond all that has arrived. */
export const paidBackOf = ({ refunded, delivered, settled }: ModelLine, quantity: number): number =>
  Math.min(quantity, Math.max(0, refunded - delivered - settled));

export const freeOf = ({ onHand, backorder, reserved }: ModelStock): number => onHand + backorder - reserved;

/** What must be taken from the stock before this can be packed, and of it what must be promised first. */
export const waitingOf = (
  order: ModelOrder,
  fulfillment: ModelFulfillment,
): { line: ModelLine; quantity: number; unpromised: number }[] => {
  const others = order.fulfillments.filter((other) => other !== fulfillment && taken.has(other.status));
  return fulfillment.lines.map(({ lineId, quantity }) => {
    const line = lineOf(order, lineId);
    const waiting = Math.max(
      0,
      quantity - Math.max(0, line.allocated - line.settled - unitsIn(others, lineId)),
    );
    return {
      line,
      quantity: waiting,
      unpromised: Math.max(0, waiting - (wantedOf(line) - line.allocated - line.unreserved)),
    };
  });
};

/** In the buyer's hands, and neither on their way back nor settled. */
export const returnableOf = ({
  delivered,
  returnRequested,
  returned,
  refunded,
  ordered,
  canceled,
}: ModelLine): number =>
  Math.max(
    0,
    Math.min(
      delivered - returnRequested - returned,
      ordered - canceled - returnRequested - Math.max(returned, refunded),
    ),
  );
export const refundableUnits = ({ shipped, returnRequested, returned, refunded }: ModelLine): number =>
  Math.max(0, shipped - returnRequested - Math.max(refunded, returned));
export const isReturnOpen = ({ status }: ModelReturn): boolean =>
  !["declined", "closed", "canceled"].includes(status);
export const isRefunded = ({ payment }: ModelOrder): boolean =>
  !payment.isDisputed && payment.capturedMinor > 0 && payment.capturedMinor === payment.refundedMinor;

/** Nothing left to send, nothing owed, and nothing on its way back. */
function isComplete(order: ModelOrder): boolean {
  const wanted = sum(order.lines.map((line) => wantedOf(line) - line.settled));
  const { payment } = order;
  const isPaid = !payment.isDisputed && payment.capturedMinor - payment.refundedMinor >= owed(order);
  return (
    sum(order.lines.map(({ delivered }) => delivered)) === wanted &&
    isPaid &&
    !order.returns.some(isReturnOpen)
  );
}

/** One change: the version rises, and what follows from it follows. */
export function saved(order: ModelOrder): void {
  order.version += 1;
  if (order.status === "confirmed" && isComplete(order)) order.status = "completed";
}

/**
 * Units that go give up their place in what was not sent yet; what is nearest to leaving keeps its units
 * longest, then what was planned first.
 */
function cutFulfillments(order: ModelOrder): void {
  const room = new Map(order.lines.map((line) => [line.id, wantedOf(line) - line.shipped]));
  // Of one moment the ids have no order that one could know.
  const byId = order.fulfillments.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const status of ["packing", "pending"]) {
    for (const fulfillment of byId.filter((one) => one.status === status)) {
      const kept = fulfillment.lines.map(({ lineId, quantity }) => {
        const left = Math.min(quantity, room.get(lineId) ?? 0);
        room.set(lineId, (room.get(lineId) ?? 0) - left);
        return { lineId, quantity: left };
      });
      if (kept.every(({ quantity }) => quantity === 0)) fulfillment.status = "canceled";
      else fulfillment.lines = kept.filter(({ quantity }) => quantity > 0);
    }
  }
}

/** The rest of an authorization is needed no more once nothing is owed beyond what is taken, or about to be. */
export function letGo(order: ModelOrder): void {
  const { payment } = order;
  const amountMinor = uncaptured(payment);
  const isOwed = owed(order) > refundable(payment) + pendingOf(payment, "capture");
  if (!isOwed && amountMinor > 0) payment.pending.push({ kind: "void", amountMinor });
}

export function cancelUnits(model: OrderModel, order: ModelOrder, units: readonly Units[]): void {
  let reducedMinor = 0;
  for (const { lineId, quantity } of units) {
    const line = lineOf(order, lineId);
    const waiting = Math.min(quantity, wantedOf(line) - line.allocated);
    reducedMinor += portionOf(line, quantity);
    line.reducedMinor += portionOf(line, quantity);
    line.canceled += quantity;
    line.allocated -= quantity - waiting;
    const stock = stockOf(model, line.variantId);
    const unpromised = Math.min(waiting, line.unreserved);
    line.unreserved -= unpromised;
    stock.reserved -= waiting - unpromised;
    stock.onHand += quantity - waiting;
  }
  const shippingMinor = order.lines.some((line) => wantedOf(line) > 0) ? 0 : shippingLeft(order);
  order.shippingReducedMinor += shippingMinor;
  order.reducedMinor += Math.min(reducedMinor + shippingMinor, owed(order));
  const { payment } = order;
  const held = refundable(payment);
  letGo(order);
  if (held > owed(order)) payment.pending.push({ kind: "refund", amountMinor: held - owed(order) });
  cutFulfillments(order);
  if (order.lines.every((line) => wantedOf(line) === 0)) order.status = "canceled";
}

/** The provider does what it was asked for; each of it is a change of its own. */
export function settlePending(order: ModelOrder): void {
  const { payment } = order;
  for (let next = payment.pending.shift(); next !== undefined; next = payment.pending.shift()) {
    const { kind, amountMinor } = next;
    if (kind === "capture") payment.capturedMinor += amountMinor;
    if (kind === "void") payment.voidedMinor += amountMinor;
    if (kind === "refund") payment.refundedMinor += amountMinor;
    if (kind === "capture") letGo(order);
    saved(order);
  }
}

/** How a payment that is under way is found when somebody looks. */
export function paymentFate({
  now,
  session,
}: OrderModel): "authorized" | "captured" | "failed" | "undecided" {
  if (session === null) throw new Error("Nobody pays.");
  const { token, submittedAt, askedAt } = session;
  const isLate = now - submittedAt >= 15 * minuteMs;
  if (token !== "tok_late_success") return isLate || token !== "tok_success" ? "failed" : "authorized";
  if (askedAt !== null && now - askedAt >= 20 * minuteMs) return "captured";
  return isLate ? "failed" : "undecided";
}

/**
 * What the session held of each variant is the order's: taken from what is on hand, and waited for where that
 * is not enough.
 */
export function sellHeld(model: OrderModel): Map<string, number> {
  const allocated = new Map<string, number>();
  for (const [variantId, quantity] of model.wanted) {
    const stock = stockOf(model, variantId);
    const now = Math.min(quantity, stock.onHand);
    stock.onHand -= now;
    stock.reserved -= now;
    allocated.set(variantId, now);
  }
  return allocated;
}

export function hold(model: OrderModel, sign: 1 | -1): void {
  for (const [variantId, quantity] of model.wanted) stockOf(model, variantId).reserved += sign * quantity;
}

/** Without an order: what it held is free. */
export function endSession(model: OrderModel): void {
  if (model.session !== null) model.session.status = "canceled";
  hold(model, -1);
}
