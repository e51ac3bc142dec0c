/** The period of a report: local calendar days, divided into buckets without gaps. */
import { describe, expect, it } from "vitest";
import fc from "fast-check";
import {
  type PeriodBucket,
  dividePeriodIntoBuckets,
  bucketIntervals,
  isCalendarDay,
  isIanaTimeZoneName,
  type Period,
  validateAndResolvePeriod,
} from "#foundation/period.ts";

const hoursOf = ({ startsAt, endsAt }: PeriodBucket): number =>
  (endsAt.getTime() - startsAt.getTime()) / 3_600_000;
const daysOf = (period: Period, interval: Parameters<typeof dividePeriodIntoBuckets>[1]): string[] =>
  dividePeriodIntoBuckets(period, interval).map(({ day }) => day);

describe("a report's period", () => {
  it("has days of 23 and 25 hours if the clocks change", () => {
    const spring = validateAndResolvePeriod({
      from: "2026-03-28",
      to: "2026-03-30",
      timeZone: "Europe/Berlin",
    });
    expect(dividePeriodIntoBuckets(spring, "day").map(hoursOf)).toEqual([24, 23, 24]);
    const autumn = validateAndResolvePeriod({
      from: "2026-10-24",
      to: "2026-10-26",
      timeZone: "Europe/Berlin",
    });
    expect(dividePeriodIntoBuckets(autumn, "day").map(hoursOf)).toEqual([24, 25, 24]);
    expect(
      dividePeriodIntoBuckets(
        validateAndResolvePeriod({ from: "2026-10-25", to: "2026-10-25", timeZone: "Europe/Berlin" }),
        "hour",
      ),
    ).toHaveLength(25);
    // The clocks of Lord Howe change by half an hour.
    expect(
      dividePeriodIntoBuckets(
        validateAndResolvePeriod({ from: "2026-10-04", to: "2026-10-04", timeZone: "Australia/Lord_Howe" }),
        "hour",
      ).map(hoursOf),
    ).toEqual([...Array.from({ length: 23 }, () => 1), 0.5]);
  });

  it("begins a day at one o'clock if the clock change skips midnight", () => {
    expect(
      validateAndResolvePeriod({ from: "2026-04-24", to: "2026-04-24", timeZone: "Africa/Cairo" }).startsAt,
    ).toEqual(new Date("2026-04-23T22:00:00Z"));
  });

  it("has weeks from Monday and months from their first day, cut off at both ends", () => {
    const period = validateAndResolvePeriod({ from: "2026-01-14", to: "2026-03-02", timeZone: "UTC" });
    expect(daysOf(period, "week")).toEqual([
      "2026-01-14",
      "2026-01-19",
      "2026-01-26",
      "2026-02-02",
      "2026-02-09",
      "2026-02-16",
      "2026-02-23",
      "2026-03-02",
    ]);
    expect(daysOf(period, "month")).toEqual(["2026-01-14", "2026-02-01", "2026-03-01"]);
    expect(dividePeriodIntoBuckets(period, "month").at(-1)?.endsAt).toEqual(new Date("2026-03-03T00:00:00Z"));
    expect(
      daysOf(validateAndResolvePeriod({ from: "2026-01-31", to: "2026-03-31", timeZone: "UTC" }), "month"),
    ).toEqual(["2026-01-31", "2026-02-01", "2026-03-01"]);
  });

  it("is covered by its buckets, each beginning at the end of the one before", () => {
    const zones = fc.constantFrom(
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Asia/Tokyo",
      "Asia/Kolkata",
      "Pacific/Apia",
      "Australia/Lord_Howe",
    );
    const start = fc.date({ min: new Date("2005-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
    fc.assert(
      fc.property(
        zones,
        start,
        fc.integer({ min: 0, max: 13 }),
        fc.constantFrom(...bucketIntervals),
        (timeZone, at, days, interval) => {
          const from = at.toISOString().slice(0, 10);
          const to = new Date(Date.parse(from) + days * 86_400_000).toISOString().slice(0, 10);
          const period = validateAndResolvePeriod({ from, to, timeZone, interval });
          const buckets = dividePeriodIntoBuckets(period, interval);
          expect(buckets[0]?.startsAt).toEqual(period.startsAt);
          expect(buckets.at(-1)?.endsAt).toEqual(period.endsAt);
          for (const [index, bucket] of buckets.entries()) {
            expect(bucket.endsAt.getTime()).toBeGreaterThan(bucket.startsAt.getTime());
            if (index > 0) expect(bucket.startsAt).toEqual(buckets[index - 1]?.endsAt);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it("refuses invalid days and unknown time zones", () => {
    expect(["2024-02-29", "2026-02-29", "2026-2-1", "2026-01-32", "20260101", ""].map(isCalendarDay)).toEqual(
      [true, false, false, false, false, false],
    );
    // Intl accepts these abbreviations, but local days cannot be computed from them.
    for (const name of ["IST", "PST", "JST", "CST", "BST", "ACT", "SystemV/PST8"])
      expect([name, isIanaTimeZoneName(name)]).toEqual([name, false]);
    expect(() => validateAndResolvePeriod({ from: "2026-01-01", to: "2026-01-02", timeZone: "IST" })).toThrow(
      /must be a name of the IANA/,
    );
    expect(
      ["Europe/Berlin", "UTC", "Etc/GMT+1", "+01:00", "Mars/Olympus", "", "a".repeat(70)].map(
        isIanaTimeZoneName,
      ),
    ).toEqual([true, true, true, false, false, false, false]);
  });
});
