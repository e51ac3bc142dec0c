/**
 * The time that a report is about: local calendar days of one time zone, cut into buckets. Where a bucket
 * begins is found here and not in the database, so that days with 23 or 25 hours begin and end when the
 * people there say.
 */
import { fail, type FailureDetail } from "./failure.ts";
import { faultAt } from "./faults.ts";

export const intervals = ["hour", "day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

export const periodDaysMax = 731;
export const hourlyDaysMax = 14;
const [firstYear, lastYear] = [2000, 2199];

export interface Period {
  /** Local days, `2026-01-31`; both are part of it. */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly startsAt: Date;
  /** Not part of it any more. */
  readonly endsAt: Date;
}

export interface Bucket {
  /** The local day on which it begins. */
  readonly day: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

export interface PeriodInput {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  /** Undefined: it is not cut. */
  readonly interval?: Interval | undefined;
}

/**
 * A name, not an offset: `+01:00` knows no summer. Days are reckoned by Temporal, which knows fewer names
 * than Intl: IST, which is three zones, is none.
 */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    Temporal.PlainDate.from("2000-01-01").toZonedDateTime({ timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** A day of the calendar, written as ISO 8601 does. */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
}

/** Days, both ends included. */
export const daysBetween = (from: string, to: string): number =>
  Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to)).days + 1;

export function toPeriod(input: PeriodInput): Period {
  const faults = periodFaults(input);
  const [first] = faults;
  if (first !== undefined) throw fail("invalid_field", { message: first.message, details: faults });
  const { from, to, timeZone } = input;
  return { from, to, timeZone, startsAt: startOf(from, timeZone), endsAt: startOf(dayAfter(to), timeZone) };
}

function periodFaults({ from, to, timeZone, interval }: PeriodInput): FailureDetail[] {
  const faults = [...dayFaults("from", from), ...dayFaults("to", to)];
  if (!isTimeZone(timeZone))
    faults.push(
      faultAt("/timeZone", "unknown_time_zone", "timeZone: the IANA time zone database has no such name."),
    );
  if (faults.length > 0) return faults;
  const days = daysBetween(from, to);
  if (days < 1) return [faultAt("/to", "too_small", "to must not lie before from.")];
  if (days > periodDaysMax)
    return [
      faultAt(
        "/to",
        "too_large",
        `from and to are ${days} days, both included; a report is about ${periodDaysMax} at most.`,
      ),
    ];
  if (interval === "hour" && days > hourlyDaysMax)
    return [
      faultAt(
        "/interval",
        "too_large",
        `from and to are ${days} days; interval HOUR takes ${hourlyDaysMax} at most.`,
      ),
    ];
  return [];
}

function dayFaults(field: string, day: string): FailureDetail[] {
  const year = Number(day.slice(0, 4));
  if (year >= firstYear && year <= lastYear) return [];
  const code = year < firstYear ? "too_small" : "too_large";
  return [faultAt(`/${field}`, code, `${field} must lie in the years ${firstYear} to ${lastYear}.`)];
}

/**
 * In order and without gaps: weeks begin on Mondays, months on their first; the first and the last bucket end
 * where the period does.
 */
export function bucketsOf(period: Period, interval: Interval): Bucket[] {
  const starts =
    interval === "hour"
      ? hoursOf(period)
      : daysOf(period, interval).map((day) => ({ day, startsAt: startOf(day, period.timeZone) }));
  return starts.map(({ day, startsAt }, index) => ({
    day,
    startsAt,
    endsAt: starts[index + 1]?.startsAt ?? period.endsAt,
  }));
}

function daysOf({ from, to }: Period, interval: Exclude<Interval, "hour">): string[] {
  const last = Temporal.PlainDate.from(to);
  const days: string[] = [];
  for (
    let day = Temporal.PlainDate.from(from);
    Temporal.PlainDate.compare(day, last) <= 0;
    day = nextStart(day, interval)
  )
    days.push(day.toString());
  return days;
}

function nextStart(day: Temporal.PlainDate, interval: Exclude<Interval, "hour">): Temporal.PlainDate {
  if (interval === "day") return day.add({ days: 1 });
  if (interval === "week") return day.add({ days: 8 - day.dayOfWeek });
  return day.with({ day: 1 }).add({ months: 1 });
}

const hourMs = 3_600_000;

/** Each day's hours are counted from its beginning, as many as it has. */
function hoursOf(period: Period): Pick<Bucket, "day" | "startsAt">[] {
  return daysOf(period, "day").flatMap((day) => {
    const [start, end] = [
      startOf(day, period.timeZone).getTime(),
      startOf(dayAfter(day), period.timeZone).getTime(),
    ];
    return Array.from({ length: Math.ceil((end - start) / hourMs) }, (_, hour) => ({
      day,
      startsAt: new Date(start + hour * hourMs),
    }));
  });
}

const dayAfter = (day: string): string => Temporal.PlainDate.from(day).add({ days: 1 }).toString();

/** The day's first moment: where summer time begins at midnight, that is one o'clock. */
const startOf = (day: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).toZonedDateTime({ timeZone }).epochMilliseconds);
