/**
 * The period of a report: local calendar days of one time zone, divided into buckets (hours, days, weeks or
 * months). The start and end of each bucket are computed here and not in the database, so that days of 23 or
 * 25 hours are correct.
 */
import { createFailure, type FailureDetail } from "./failure.ts";
import { createRequestBodyErrorDetail } from "./faults.ts";

export const bucketIntervals = ["hour", "day", "week", "month"] as const;
export type PeriodBucketInterval = (typeof bucketIntervals)[number];

export const periodDaysMax = 731;
export const hourlyPeriodDaysMax = 14;
const [firstYear, lastYear] = [2000, 2199];

export interface Period {
  /**
   * The first local day of the period, for example `2026-01-31`. The last day is `to`, which belongs to the
   * period.
   */
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  readonly startsAt: Date;
  /** The exclusive end of the period: the first moment after its last day. */
  readonly endsAt: Date;
}

export interface PeriodBucket {
  /**
   * The local calendar day on which this bucket (for example a week) of the period begins, for example
   * `2026-01-31`.
   */
  readonly day: string;
  readonly startsAt: Date;
  readonly endsAt: Date;
}

export interface PeriodInput {
  readonly from: string;
  readonly to: string;
  readonly timeZone: string;
  /**
   * The length of the buckets into which a report divides its period, for example one day; undefined if the
   * report covers the period as a whole.
   */
  readonly interval?: PeriodBucketInterval | undefined;
}

/**
 * Returns whether the text is a name of the IANA time zone database. Offsets like `+01:00` are refused,
 * because an offset has no daylight saving time. Names that only `Intl` accepts are refused too, for example
 * the ambiguous IST.
 */
export function isIanaTimeZoneName(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
  try {
    Temporal.PlainDate.from("2000-01-01").toZonedDateTime({ timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** Returns whether the text is an existing calendar day in ISO 8601 form, for example `2026-01-31`. */
export function isCalendarDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  try {
    return Temporal.PlainDate.from(text).toString() === text;
  } catch {
    return false;
  }
}

/** Returns the number of calendar days from the day `from` to the day `to`. Both days are counted. */
export const countCalendarDaysInclusive = (from: string, to: string): number =>
  Temporal.PlainDate.from(from).until(Temporal.PlainDate.from(to)).days + 1;

export function validateAndResolvePeriod(input: PeriodInput): Period {
  const faults = periodFaults(input);
  const [first] = faults;
  if (first !== undefined) throw createFailure("invalid_field", { message: first.message, details: faults });
  const { from, to, timeZone } = input;
  return { from, to, timeZone, startsAt: startOf(from, timeZone), endsAt: startOf(addDays(to, 1), timeZone) };
}

function periodFaults({ from, to, timeZone, interval }: PeriodInput): FailureDetail[] {
  const faults = [...dayFaults("from", from), ...dayFaults("to", to)];
  if (!isIanaTimeZoneName(timeZone))
    faults.push(
      createRequestBodyErrorDetail(
        "/timeZone",
        "unknown_time_zone",
        "timeZone must be a name of the IANA time zone database.",
      ),
    );
  if (faults.length > 0) return faults;
  const days = countCalendarDaysInclusive(from, to);
  if (days < 1) return [createRequestBodyErrorDetail("/to", "too_small", '"to" must not be before "from".')];
  if (days > periodDaysMax)
    return [
      createRequestBodyErrorDetail(
        "/to",
        "too_large",
        `from and to are ${days} days, both included; a report covers at most ${periodDaysMax} days.`,
      ),
    ];
  if (interval === "hour" && days > hourlyPeriodDaysMax)
    return [
      createRequestBodyErrorDetail(
        "/interval",
        "too_large",
        `from and to are ${days} days; interval HOUR allows at most ${hourlyPeriodDaysMax} days.`,
      ),
    ];
  return [];
}

function dayFaults(field: string, day: string): FailureDetail[] {
  const year = Number(day.slice(0, 4));
  if (year >= firstYear && year <= lastYear) return [];
  const code = year < firstYear ? "too_small" : "too_large";
  return [
    createRequestBodyErrorDetail(
      `/${field}`,
      code,
      `${field} must be in the years ${firstYear} to ${lastYear}.`,
    ),
  ];
}

/**
 * Divides a period into consecutive buckets (hours, days, weeks or months). Weeks begin on Mondays, months on
 * their first day. The first and the last bucket are shorter if the period begins or ends inside a week or
 * month.
 */
export function dividePeriodIntoBuckets(period: Period, interval: PeriodBucketInterval): PeriodBucket[] {
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

function daysOf({ from, to }: Period, interval: Exclude<PeriodBucketInterval, "hour">): string[] {
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

function nextStart(
  day: Temporal.PlainDate,
  interval: Exclude<PeriodBucketInterval, "hour">,
): Temporal.PlainDate {
  if (interval === "day") return day.add({ days: 1 });
  if (interval === "week") return day.add({ days: 8 - day.dayOfWeek });
  return day.with({ day: 1 }).add({ months: 1 });
}

const hourMs = 3_600_000;

/**
 * Returns the start of each hour of each local day of the period. Hours are counted from the start of the day
 * and not by the clock: a day on which daylight saving time begins or ends has 23 or 25 hours.
 */
function hoursOf(period: Period): Pick<PeriodBucket, "day" | "startsAt">[] {
  return daysOf(period, "day").flatMap((day) => {
    const [start, end] = [
      startOf(day, period.timeZone).getTime(),
      startOf(addDays(day, 1), period.timeZone).getTime(),
    ];
    return Array.from({ length: Math.ceil((end - start) / hourMs) }, (_, hour) => ({
      day,
      startsAt: new Date(start + hour * hourMs),
    }));
  });
}

/** Returns the calendar day `days` days after a day (`YYYY-MM-DD`), or before it if `days` is negative. */
export const addDays = (day: string, days: number): string =>
  Temporal.PlainDate.from(day).add({ days }).toString();

/** Returns the first moment of a local day: 00:00, or 01:00 if daylight saving time begins at midnight. */
const startOf = (day: string, timeZone: string): Date =>
  new Date(Temporal.PlainDate.from(day).toZonedDateTime({ timeZone }).epochMilliseconds);
