/**
 * Days end in the time zone of the order's market: tested at both clock changes, in zones without them, and
 * on both sides of the date line.
 */
import { describe, expect, it } from "vitest";
import { evaluateAfterSalesEligibility } from "#commerce/after-sales/eligibility.ts";
import { calculateEndOfDay, calculateEndOfDayAfterDuration } from "#commerce/orders/order-terms.ts";
import { delivered, factsAt, later, paperOrder } from "./paper-order.ts";

describe("a day's last millisecond", () => {
  it.each([
    // The day has 23 hours in spring and 25 in autumn.
    ["2026-03-28", "Europe/Berlin", "2026-03-28T22:59:59.999Z"],
    ["2026-03-29", "Europe/Berlin", "2026-03-29T21:59:59.999Z"],
    ["2026-10-24", "Europe/Berlin", "2026-10-24T21:59:59.999Z"],
    ["2026-10-25", "Europe/Berlin", "2026-10-25T22:59:59.999Z"],
    ["2026-03-07", "America/New_York", "2026-03-08T04:59:59.999Z"],
    ["2026-03-08", "America/New_York", "2026-03-09T03:59:59.999Z"],
    ["2026-10-31", "America/New_York", "2026-11-01T03:59:59.999Z"],
    ["2026-11-01", "America/New_York", "2026-11-02T04:59:59.999Z"],
    ["2026-03-29", "Asia/Tokyo", "2026-03-29T14:59:59.999Z"],
    ["2026-04-04", "Pacific/Auckland", "2026-04-04T10:59:59.999Z"],
    ["2026-04-05", "Pacific/Auckland", "2026-04-05T11:59:59.999Z"],
    ["2026-09-26", "Pacific/Auckland", "2026-09-26T11:59:59.999Z"],
    ["2026-09-27", "Pacific/Auckland", "2026-09-27T10:59:59.999Z"],
    // The clock goes back from midnight to 23:00 in Havana: the day's last hour occurs twice, and the day
    // ends with the second.
    ["2026-10-31", "America/Havana", "2026-11-01T03:59:59.999Z"],
  ])("of %s in %s is %s", (day, zone, instant) => {
    expect(calculateEndOfDay(day, zone)).toBe(instant);
  });

  it.each([
    ["2026-02-27T23:30:00.000Z", { days: 30 }, "Europe/Berlin", "2026-03-30T21:59:59.999Z"],
    ["2026-02-27T22:30:00.000Z", { days: 30 }, "Europe/Berlin", "2026-03-29T21:59:59.999Z"],
    ["2026-10-20T12:00:00.000Z", { days: 14 }, "America/New_York", "2026-11-04T04:59:59.999Z"],
    ["2026-03-20T15:00:00.000Z", { days: 14 }, "Asia/Tokyo", "2026-04-04T14:59:59.999Z"],
    ["2026-03-28T12:00:00.000Z", { days: 14 }, "Pacific/Auckland", "2026-04-12T11:59:59.999Z"],
    ["2024-02-29T12:00:00.000Z", { months: 24 }, "Europe/Berlin", "2026-02-28T22:59:59.999Z"],
    ["2026-03-02T12:00:00.000Z", { days: 0 }, "Europe/Berlin", "2026-03-02T22:59:59.999Z"],
  ])("after %s and %o in %s is %s", (instant, length, zone, end) => {
    expect(calculateEndOfDayAfterDuration(instant, length, zone)).toBe(end);
  });
});

describe("the return period", () => {
  const at = "2026-03-02T12:00:00.000Z";
  const decide = (timeZone: string, now: string) => {
    const answer = evaluateAfterSalesEligibility(
      paperOrder(delivered(at, { order: { timeZone, country: "JP" }, rules: { warranty: { months: 0 } } })),
      factsAt(now),
    );
    return answer.lines[0]?.options[0];
  };

  it.each([
    ["Europe/Berlin", "2026-04-01T21:59:59.999Z"],
    ["America/New_York", "2026-04-02T03:59:59.999Z"],
    ["Asia/Tokyo", "2026-04-01T14:59:59.999Z"],
    ["Pacific/Auckland", "2026-04-02T10:59:59.999Z"],
  ])("in %s is over one millisecond after %s", (zone, endsAt) => {
    expect(decide(zone, later(endsAt, -1).toISOString())?.decision).toBe("allowed");
    expect(decide(zone, endsAt)).toMatchObject({
      decision: "allowed",
      window: { clock: "delivered", startsAt: at, endsAt, estimated: false },
    });
    expect(decide(zone, later(endsAt, 1).toISOString())).toMatchObject({
      decision: "denied",
      reasons: [{ code: "return_window_elapsed", blocking: true, data: { endsAt } }],
    });
  });
});
