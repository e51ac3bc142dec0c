/**
 * The terms that an order was placed under: its policies, and when the time for something begins and ends.
 * Days are counted in the order's time zone and end with their last millisecond there, however long the day
 * is; the results are instants.
 */
import type { PolicyType } from "#commerce/markets/change-policy.ts";
import type { PolicyRulesByType } from "#commerce/markets/policy-rules.ts";
import type { OrderAggregate, OrderFulfillment, OrderLine, OrderPolicy } from "./order-aggregate.ts";
import { sentStatuses, wantedOf } from "./order-statuses.ts";

/** What a time counts from. */
export type WindowClock = "delivered" | "shipped_plus_transit" | "placed" | "warranty_start";

export interface Window {
  readonly clock: WindowClock;
  /** Null: not known yet. */
  readonly startsAt: string | null;
  /** Its last millisecond; null: it has no end, or none that is known yet. */
  readonly endsAt: string | null;
  /** Whether a delivery that nobody has reported is reckoned with. */
  readonly estimated: boolean;
}

export interface Length {
  readonly days?: number;
  readonly months?: number;
}

/** When it is in the buyer's hands. */
export interface Arrival {
  /** The last of what came; of what has not, when it may be there. */
  readonly startsAt: string;
  /** Not before all that was sent is there, or may be. */
  readonly at: string;
  /** Delivered: nothing is under way any more. */
  readonly clock: "delivered" | "shipped_plus_transit";
}

const transitDays = 7;

/** The last millisecond of the day on which a time after an instant is over. */
export function dayEndAfter(instant: string, length: Length, timeZone: string): string {
  const day = Temporal.Instant.from(instant).toZonedDateTimeISO(timeZone).toPlainDate().add(length);
  return endOf(day, timeZone);
}

/** Of a day, `YYYY-MM-DD`. */
export function dayEnd(day: string, timeZone: string): string {
  return endOf(Temporal.PlainDate.from(day), timeZone);
}

/** A day ends where the next begins: its own midnight may be skipped, or come twice. */
function endOf(day: Temporal.PlainDate, timeZone: string): string {
  return new Date(day.add({ days: 1 }).toZonedDateTime(timeZone).epochMilliseconds - 1).toISOString();
}

export const isOver = ({ endsAt }: Pick<Window, "endsAt">, now: Date): boolean =>
  endsAt !== null && Date.parse(endsAt) < now.getTime();

/** The instants at which time alone changes what a window says. */
export function turnsOf({ startsAt, endsAt }: Pick<Window, "startsAt" | "endsAt">): number[] {
  return [
    ...(startsAt === null ? [] : [Date.parse(startsAt)]),
    ...(endsAt === null ? [] : [Date.parse(endsAt) + 1]),
  ];
}

/**
 * Of what was sent of a line: nobody's time ends by a first parcel while the next is still under way. Null:
 * nothing was sent.
 */
export function arrivalOf(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): Arrival | null {
  const own = parcelsOf(order, line).filter(({ status }) => sentStatuses.has(status));
  const came = deliveredAtOf(order, line);
  const due = latest(own.filter(({ deliveredAt }) => deliveredAt === null).map(({ shippedAt }) => shippedAt));
  const expected = due === null ? null : laterByDays(due, transitDays);
  const at = latest([came, expected]);
  if (at === null) return null;
  return { startsAt: came ?? at, at, clock: expected === null ? "delivered" : "shipped_plus_transit" };
}

/** When the last of what came of a line did; null: nothing has. */
export function deliveredAtOf(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): string | null {
  return latest(parcelsOf(order, line).map(({ deliveredAt }) => deliveredAt));
}

/** What an exchange sends starts no new time. */
function parcelsOf(
  { fulfillments }: Pick<OrderAggregate, "fulfillments">,
  { id }: Pick<OrderLine, "id">,
): OrderFulfillment[] {
  return fulfillments.filter(
    ({ returnId, lines }) => returnId === null && lines.some(({ lineId }) => lineId === id),
  );
}

/**
 * From when on a parcel that has not come counts as lost: its days of transit after the day it was expected;
 * at once when it failed. Null: none is under way.
 */
export function lostAt(
  order: Pick<OrderAggregate, "fulfillments">,
  line: Pick<OrderLine, "id">,
): string | null {
  return latest(parcelsOf(order, line).map(lossOf));
}

function lossOf({ status, shippedAt, estimatedDeliveryAt, updatedAt }: OrderFulfillment): string | null {
  if (shippedAt === null || status === "delivered" || status === "canceled") return null;
  if (!sentStatuses.has(status)) return updatedAt;
  return laterByDays(estimatedDeliveryAt ?? laterByDays(shippedAt, transitDays), transitDays);
}

export interface CountedWindow extends Length {
  /** Neither days nor months: it has no end. */
  readonly extendUntil?: string | null;
}

/** Counted from the arrival of a line. */
export function windowFrom(
  order: Pick<OrderAggregate, "timeZone">,
  arrival: Arrival | null,
  counted: CountedWindow,
): Window {
  if (arrival === null) return { clock: "delivered", startsAt: null, endsAt: null, estimated: false };
  const { days, months, extendUntil = null } = counted;
  const isEndless = days === undefined && months === undefined;
  const length = days === undefined ? { months: months ?? 0 } : { days };
  const ends = isEndless ? null : dayEndAfter(arrival.at, length, order.timeZone);
  const endsAt =
    ends === null || extendUntil === null
      ? ends
      : (latest([ends, dayEnd(extendUntil, order.timeZone)]) ?? ends);
  return {
    clock: arrival.clock,
    startsAt: arrival.startsAt,
    endsAt,
    estimated: arrival.clock !== "delivered",
  };
}

/** To withdraw from what nobody sends, or has sent yet: from the contract on. */
export function withdrawalFromPlacing(
  order: Pick<OrderAggregate, "timeZone" | "placedAt">,
  days: number,
): Window {
  return {
    clock: "placed",
    startsAt: order.placedAt,
    endsAt: dayEndAfter(order.placedAt, { days }, order.timeZone),
    estimated: false,
  };
}

/**
 * Of all goods of an order: counted from the arrival of its last line, and open-ended until that has been
 * sent.
 */
export function withdrawalWindow(
  order: Pick<OrderAggregate, "timeZone" | "placedAt" | "lines" | "fulfillments">,
  days: number,
): Window {
  const lines = order.lines.filter((line) => line.requiresShipping && wantedOf(line) > 0);
  if (lines.length === 0) return withdrawalFromPlacing(order, days);
  const arrivals = lines.map((line) => ({
    arrival: arrivalOf(order, line),
    isAllSent: line.shipped === wantedOf(line),
    isAllThere: line.delivered === wantedOf(line),
  }));
  const startsAt = earliest(arrivals.map(({ arrival }) => arrival?.startsAt ?? null));
  const last = latest(arrivals.map(({ arrival }) => arrival?.at ?? null));
  const estimated = arrivals.some(({ arrival, isAllThere }) => !isAllThere || arrival?.clock !== "delivered");
  const clock = estimated && last !== null ? "shipped_plus_transit" : "delivered";
  if (last === null || arrivals.some(({ isAllSent }) => !isAllSent))
    return { clock, startsAt, endsAt: null, estimated };
  return { clock, startsAt, endsAt: dayEndAfter(last, { days }, order.timeZone), estimated };
}

function laterByDays(instant: string, days: number): string {
  return new Date(Date.parse(instant) + days * 86_400_000).toISOString();
}

const known = (instants: readonly (string | null)[]): string[] =>
  instants.filter((instant) => instant !== null).toSorted();

// All of them are spelled alike, so the texts sort as the instants do.
const latest = (instants: readonly (string | null)[]): string | null => known(instants).at(-1) ?? null;
const earliest = (instants: readonly (string | null)[]): string | null => known(instants)[0] ?? null;

/** A policy of an order, with the rules of its type. */
export type PolicyOfType<Type extends PolicyType> = Omit<OrderPolicy, "rules"> & {
  readonly rules: PolicyRulesByType[Type];
};

export function policyOf<Type extends PolicyType>(
  { id, policies }: Pick<OrderAggregate, "id" | "policies">,
  type: Type,
): PolicyOfType<Type> {
  const policy = policies.find((candidate) => candidate.type === type);
  if (policy === undefined) throw new Error(`Order ${id} was placed without a policy of type ${type}.`);
  return { ...policy, rules: policy.rules as PolicyRulesByType[Type] };
}
