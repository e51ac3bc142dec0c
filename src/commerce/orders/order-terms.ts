/**
 * Finds the policies of an order, and computes the time windows for returns, withdrawals and warranties. Days
 * are counted in the order's time zone; a time window ends with the last millisecond of its last day in this
 * zone. Times are returned as ISO 8601 texts in UTC.
 */
import type { PolicyType } from "#commerce/markets/change-policy.ts";
import type { PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate, OrderFulfillment, OrderLine, OrderPolicy } from "./order-aggregate.ts";
import { sentStatuses, getUncanceledQuantity } from "./order-statuses.ts";

/** The event with which a time window for returns, withdrawals or warranties starts, for example the delivery. */
export type TimeWindowStartEvent = "delivered" | "shipped_plus_transit" | "placed" | "warranty_start";

export interface OrderTimeWindow {
  readonly clock: TimeWindowStartEvent;
  /** The first moment of the time window; null if the event that starts the window has not happened yet. */
  readonly startsAt: string | null;
  /** The last millisecond of the time window; null if the window has no end or the end is not known yet. */
  readonly endsAt: string | null;
  /**
   * True if the time window is counted from an expected delivery, because the goods have not been delivered
   * yet.
   */
  readonly estimated: boolean;
}

export interface OrderTimeWindowLength {
  readonly days?: number;
  readonly months?: number;
}

/** The times at which the units of an order line reached the buyer or are expected to reach the buyer. */
export interface OrderLineArrivalTime {
  /**
   * The time from which the time windows of the order line are counted: its latest delivery, or its expected
   * delivery if no unit has been delivered.
   */
  readonly startsAt: string;
  /** The time at which the last parcel of the order line was delivered or is expected to be delivered. */
  readonly at: string;
  /**
   * `delivered` if all sent parcels of the order line were delivered; `shipped_plus_transit` while one is in
   * transit.
   */
  readonly clock: "delivered" | "shipped_plus_transit";
}

const transitDays = 7;

/**
 * Takes the day of a time in the given time zone, adds days or months, and returns the last millisecond of
 * the resulting day.
 */
export function calculateEndOfDayAfterDuration(
  instant: string,
  length: OrderTimeWindowLength,
  timeZone: string,
): string {
  const day = Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone).toPlainDate().add(length);
  return endOf(day, timeZone);
}

/** Returns the last millisecond of a day (`YYYY-MM-DD`) in a time zone. */
export function calculateEndOfDay(day: string, timeZone: string): string {
  return endOf(Temporal.PlainDate.from(day), timeZone);
}

/**
 * Returns the last millisecond of a day: one millisecond before the next day begins. The day may be shorter
 * or longer than 24 hours, because daylight saving time can skip or repeat an hour.
 */
function endOf(day: Temporal.PlainDate, timeZone: string): string {
  return new Date(day.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds - 1).toISOString();
}

export const isTimeWindowOver = ({ endsAt }: Pick<OrderTimeWindow, "endsAt">, now: Date): boolean =>
  endsAt !== null && Date.parse(endsAt) < now.getTime();

/**
 * Returns the begin of a time window and the time at which it is over, in milliseconds since 1970. Times that
 * are not known yet are left out.
 */
export function getTimeWindowBoundaries({
  startsAt,
  endsAt,
}: Pick<OrderTimeWindow, "startsAt" | "endsAt">): number[] {
  return [
    ...(startsAt === null ? [] : [Date.parse(startsAt)]),
    ...(endsAt === null ? [] : [Date.parse(endsAt) + 1]),
  ];
}

/**
 * Returns the time at which all sent units of an order line have arrived or are expected to arrive; null if
 * no unit was sent. Time windows are counted from the last parcel, so that they do not end while another
 * parcel is in transit.
 */
export function calculateOrderLineArrival(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): OrderLineArrivalTime | null {
  const own = parcelsOf(order, line).filter(({ status }) => sentStatuses.has(status));
  const came = getOrderLineDeliveryTime(order, line);
  const due = latest(own.filter(({ deliveredAt }) => deliveredAt === null).map(({ shippedAt }) => shippedAt));
  const expected = due === null ? null : laterByDays(due, transitDays);
  const at = latest([came, expected]);
  if (at === null) return null;
  return { startsAt: came ?? at, at, clock: expected === null ? "delivered" : "shipped_plus_transit" };
}

/** Returns the time of the latest delivery of an order line; null if no unit was delivered. */
export function getOrderLineDeliveryTime(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): string | null {
  return latest(parcelsOf(order, line).map(({ deliveredAt }) => deliveredAt));
}

/**
 * Returns the fulfillments that contain ordered units of an order line. Leaves out fulfillments that send
 * replacements for an exchange, because their delivery starts no new time window.
 */
function parcelsOf(
  { fulfillments }: Pick<OrderAggregate, "fulfillments">,
  { id }: Pick<OrderLine, "id">,
): OrderFulfillment[] {
  return fulfillments.filter(
    ({ returnId, lines }) => returnId === null && lines.some(({ lineId }) => lineId === id),
  );
}

/**
 * Returns the time from which the last undelivered parcel of an order line counts as lost. This is 7 days
 * after its expected delivery; if the delivery has failed, at once. Null if all sent parcels of the line were
 * delivered, or none was sent.
 */
export function calculateParcelLossTimeOfLine(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): string | null {
  return latest(parcelsOf(order, line).map(parcelLossTime));
}

function parcelLossTime({
  status,
  shippedAt,
  estimatedDeliveryAt,
  updatedAt,
}: OrderFulfillment): string | null {
  if (shippedAt === null || status === "delivered" || status === "canceled") return null;
  if (!sentStatuses.has(status)) return updatedAt;
  return laterByDays(estimatedDeliveryAt ?? laterByDays(shippedAt, transitDays), transitDays);
}

export interface TimeWindowLengthAndMinimumEnd extends OrderTimeWindowLength {
  /**
   * Earliest possible end of the time window: the end of this day (`YYYY-MM-DD`). If neither days nor months
   * are given, the window has no end.
   */
  readonly extendUntil?: string | null;
}

/** Returns a time window that starts with the arrival of an order line at the buyer. */
export function calculateTimeWindowFromArrival(
  order: Pick<OrderAggregate, "timeZone">,
  arrival: OrderLineArrivalTime | null,
  counted: TimeWindowLengthAndMinimumEnd,
): OrderTimeWindow {
  if (arrival === null) return { clock: "delivered", startsAt: null, endsAt: null, estimated: false };
  const { days, months, extendUntil = null } = counted;
  const isEndless = days === undefined && months === undefined;
  const length = days === undefined ? { months: months ?? 0 } : { days };
  const ends = isEndless ? null : calculateEndOfDayAfterDuration(arrival.at, length, order.timeZone);
  const endsAt =
    ends === null || extendUntil === null
      ? ends
      : (latest([ends, calculateEndOfDay(extendUntil, order.timeZone)]) ?? ends);
  return {
    clock: arrival.clock,
    startsAt: arrival.startsAt,
    endsAt,
    estimated: arrival.clock !== "delivered",
  };
}

/**
 * Returns the withdrawal window of units that need no shipping or have not been shipped yet. The window is
 * counted from the time of purchase.
 */
export function calculateWithdrawalWindowFromPurchase(
  order: Pick<OrderAggregate, "timeZone" | "placedAt">,
  days: number,
): OrderTimeWindow {
  return {
    clock: "placed",
    startsAt: order.placedAt,
    endsAt: calculateEndOfDayAfterDuration(order.placedAt, { days }, order.timeZone),
    estimated: false,
  };
}

/**
 * Returns the withdrawal window of all goods of an order. The end of the window is counted from the arrival
 * of the order line that arrives last. As long as some units of the order have not been sent, the window has
 * no end.
 */
export function calculateWithdrawalWindow(
  order: Pick<OrderAggregate, "timeZone" | "placedAt" | "lines" | "fulfillments">,
  days: number,
): OrderTimeWindow {
  const lines = order.lines.filter((line) => line.requiresShipping && getUncanceledQuantity(line) > 0);
  if (lines.length === 0) return calculateWithdrawalWindowFromPurchase(order, days);
  const arrivals = lines.map((line) => ({
    arrival: calculateOrderLineArrival(order, line),
    isAllSent: line.shipped === getUncanceledQuantity(line),
    isAllThere: line.delivered === getUncanceledQuantity(line),
  }));
  const startsAt = earliest(arrivals.map(({ arrival }) => arrival?.startsAt ?? null));
  const last = latest(arrivals.map(({ arrival }) => arrival?.at ?? null));
  const estimated = arrivals.some(({ arrival, isAllThere }) => !isAllThere || arrival?.clock !== "delivered");
  const clock = estimated && last !== null ? "shipped_plus_transit" : "delivered";
  if (last === null || arrivals.some(({ isAllSent }) => !isAllSent))
    return { clock, startsAt, endsAt: null, estimated };
  return {
    clock,
    startsAt,
    endsAt: calculateEndOfDayAfterDuration(last, { days }, order.timeZone),
    estimated,
  };
}

function laterByDays(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * 86_400_000).toISOString();
}

const withoutNulls = (instants: readonly (string | null)[]): string[] =>
  instants.filter((instant) => instant !== null).toSorted();

// The times have the same text format, so sorting the texts sorts the times.
const latest = (instants: readonly (string | null)[]): string | null => withoutNulls(instants).at(-1) ?? null;
const earliest = (instants: readonly (string | null)[]): string | null => withoutNulls(instants)[0] ?? null;

/** A policy of an order, with the rules that belong to the given policy type. */
export type OrderPolicyOfType<Type extends PolicyType> = Omit<OrderPolicy, "rules"> & {
  readonly rules: PolicyRulesByType[Type];
};

export function getOrderPolicy<Type extends PolicyType>(
  { id, policies }: Pick<OrderAggregate, "id" | "policies">,
  type: Type,
): OrderPolicyOfType<Type> {
  const policy = policies.find((candidate) => candidate.type === type);
  if (policy === undefined) throw new Error(`Order ${id} was placed without a policy of type ${type}.`);
  return { ...policy, rules: policy.rules as PolicyRulesByType[Type] };
}
