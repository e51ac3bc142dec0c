/**
 * The model of an order, small enough to review: quantities per line, amounts, stock per variant, and the
 * state of its parts. It implements the documented rules independently of the service.
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
  /** Units refunded before they were lost or returned: they were shipped and are not replaced. */
  settled: number;
  /** Units to send in place of lost ones, without reserved stock. */
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
  /** Provider requests that are not carried out yet. */
  pending: { readonly kind: "capture" | "void" | "refund"; readonly amountMinor: number }[];
}

export interface ModelSession {
  readonly id: string;
  status: "open" | "processing" | "completed" | "canceled";
  readonly expiresAt: number;
  amountMinor: number;
  token: string;
  submittedAt: number;
  /** When the provider first received the payment; null before that. */
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
  /** The delivery address's lifetime; null without an address. */
  address: { until: number; readonly untilMax: number } | null;
  /** The delivery option, and whether the buyer chose it. */
  readonly deliveryId: string;
  hasDelivery: boolean;
  /** Wanted quantities by variant. */
  readonly wanted: ReadonlyMap<string, number>;
  readonly stock: ReadonlyMap<string, ModelStock>;
  session: ModelSession | null;
  order: ModelOrder | null;
}

export const minuteMs = 60_000;

export const isOpen = ({ session, now }: OrderModel): boolean =>
  session?.status === "open" && now < session.expiresAt;
/** Whether a session holds the stock and locks the cart. */
export const isHeld = (model: OrderModel): boolean => model.session?.status === "processing" || isOpen(model);

/**
 * The value of a line's first `units` units. Each portion is the difference of two such values, so portions
 * add up to the cent.
 */
export const worthOf = ({ totalMinor, ordered }: ModelLine, units: number): number =>
  Math.floor((totalMinor * units) / ordered);

/**
 * The value of returned units. A promised refund is paid even if later rounding makes the unit worth a cent
 * less; the last units get the rest.
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

/** The amount that can still be captured or voided. */
export const uncaptured = (payment: ModelPayment): number =>
  payment.amountMinor - payment.capturedMinor - payment.voidedMinor - pendingOf(payment, "capture", "void");
/** The captured amount that can still be refunded. */
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

/** Units still to send: not in any delivered or open fulfillment, and not refunded. */
export const openOf = (order: ModelOrder, line: ModelLine): number =>
  wantedOf(line) -
  line.settled -
  unitsIn(
    order.fulfillments.filter(({ status }) => !given.has(status)),
    line.id,
  );

/** Refunded units among lost ones: those beyond the delivered units. */
export const paidBackOf = ({ refunded, delivered, settled }: ModelLine, quantity: number): number =>
  Math.min(quantity, Math.max(0, refunded - delivered - settled));

export const freeOf = ({ onHand, backorder, reserved }: ModelStock): number => onHand + backorder - reserved;

/** Units to take from stock before packing, and those of them to reserve first. */
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

/** Units at the buyer that are neither being returned nor settled. */
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

/** Whether nothing is left to send, nothing is owed, and nothing is being returned. */
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

/** Applies a change: raises the version and derives the statuses. */
export function saved(order: ModelOrder): void {
  order.version += 1;
  if (order.status === "confirmed" && isComplete(order)) order.status = "completed";
}

/** Removes canceled units from unsent fulfillments: the least advanced fulfillment first, then the newest. */
function cutFulfillments(order: ModelOrder): void {
  const room = new Map(order.lines.map((line) => [line.id, wantedOf(line) - line.shipped]));
  // Fulfillments of one moment are ordered by id.
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

/** Voids the rest of an authorization once nothing more is owed. */
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

/** Carries out the pending provider requests, each as a separate change. */
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

/** The result of a pending payment at its next lookup. */
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

/** Turns the session's held units into the order's: takes them from stock, and lets the missing ones wait. */
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

/** Ends a session without an order, which releases its stock. */
export function endSession(model: OrderModel): void {
  if (model.session !== null) model.session.status = "canceled";
  hold(model, -1);
}
