import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  attemptsMax,
  getDeliveryAttemptDelaySeconds,
  type EndpointHealthCounters,
  type EndpointHealthAfterAttempt,
  calculateEndpointHealthAfterAttempt,
  decideDeliveryAttemptOutcome,
  type DeliveryAttemptOutcome,
  initialEndpointHealth,
} from "#webhooks/delivery-rules.ts";
import { type DeliverySendResult, parseRetryAfterHeader } from "#webhooks/safe-request.ts";

const start = new Date("2026-11-21T00:00:00.000Z");
const middle = (): number => 0.5;
const answered = (httpStatus: number, retryAfterSeconds: number | null = null): DeliverySendResult => ({
  httpStatus,
  errorCode: httpStatus < 300 ? null : httpStatus < 400 ? "redirect" : "http_status",
  durationMs: 12,
  retryAfterSeconds,
});
const unanswered: DeliverySendResult = {
  httpStatus: null,
  errorCode: "timeout",
  durationMs: 15_000,
  retryAfterSeconds: null,
};

const waitSeconds = (step: DeliveryAttemptOutcome, since = start): number | string =>
  step.kind === "retrying" ? (step.at.getTime() - since.getTime()) / 1000 : step.kind;

/** Makes every attempt of one delivery to a receiver with a constant answer, on a separate clock. */
function run(
  result: DeliverySendResult,
  { random = middle, scale = 1 } = {},
): { readonly waits: readonly number[]; readonly end: string; readonly seconds: number } {
  const waits: number[] = [];
  let now = start;
  for (let attempt = 1; ; attempt += 1) {
    const step = decideDeliveryAttemptOutcome(result, { attempt, now, random, scale });
    if (step.kind !== "retrying")
      return { waits, end: step.kind, seconds: (now.getTime() - start.getTime()) / 1000 };
    waits.push((step.at.getTime() - now.getTime()) / 1000);
    now = step.at;
  }
}

describe("the retries of a delivery", () => {
  test("are ten attempts over 75 h 35 min, then the delivery is given up", () => {
    const { waits, end, seconds } = run(unanswered);
    expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
    expect([end, attemptsMax]).toEqual(["exhausted", 10]);
    expect(seconds).toBe(75 * 3600 + 35 * 60 + 5);
  });

  test("vary by up to a tenth, and the first attempt is immediate", () => {
    expect(run(unanswered, { random: () => 0 }).waits).toEqual([
      4.5, 270, 1620, 6480, 16_200, 32_400, 45_360, 64_800, 77_760,
    ]);
    expect(getDeliveryAttemptDelaySeconds(1, () => 1)).toBe(0);
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, share) => {
          const wait = waitSeconds(
            decideDeliveryAttemptOutcome(unanswered, { attempt, now: start, random: () => share, scale: 1 }),
          );
          const table = getDeliveryAttemptDelaySeconds(attempt + 1, middle);
          expect(wait).toBeGreaterThanOrEqual(table * 0.9 - 0.001);
          expect(wait).toBeLessThanOrEqual(table * 1.1 + 0.001);
        },
      ),
    );
  });

  test("are accelerated by the configured scale", () => {
    expect(run(unanswered, { scale: 0.001 }).waits).toEqual([0.005, 0.3, 1.8, 7.2, 18, 36, 50.4, 72, 86.4]);
    expect(
      waitSeconds(
        decideDeliveryAttemptOutcome(answered(503, 600), {
          attempt: 1,
          now: start,
          random: middle,
          scale: 0.001,
        }),
      ),
    ).toBe(0.6);
  });

  test.each([200, 201, 202, 204, 299])("end with %i", (status) => {
    expect(
      decideDeliveryAttemptOutcome(answered(status), { attempt: 1, now: start, random: middle, scale: 1 }),
    ).toEqual({
      kind: "succeeded",
    });
  });

  test.each([300, 301, 302, 304, 307, 308, 400, 401, 404, 409, 411, 429, 500, 503, 599])(
    "go on after %i",
    (status) => {
      expect(
        waitSeconds(
          decideDeliveryAttemptOutcome(answered(status), {
            attempt: 2,
            now: start,
            random: middle,
            scale: 1,
          }),
        ),
      ).toBe(300);
    },
  );

  test("end at once with 410, on whichever attempt", () => {
    for (const attempt of [1, 10])
      expect(
        decideDeliveryAttemptOutcome(answered(410), { attempt, now: start, random: middle, scale: 1 }),
      ).toEqual({
        kind: "gone",
      });
  });

  test("succeed on the last attempt as on the first", () => {
    expect(
      decideDeliveryAttemptOutcome(answered(200), { attempt: 10, now: start, random: middle, scale: 1 }),
    ).toEqual({
      kind: "succeeded",
    });
  });

  test.each([
    ["longer than the table: it decides", 1, 600, 600],
    ["shorter: the table decides", 2, 10, 300],
    ["nothing to wait: the table decides", 2, 0, 300],
    ["longer than a day: a day", 1, 1_000_000, 86_400],
  ])("wait as Retry-After asks, %s", (_, attempt, asked, expected) => {
    expect(
      waitSeconds(
        decideDeliveryAttemptOutcome(answered(503, asked), { attempt, now: start, random: middle, scale: 1 }),
      ),
    ).toBe(expected);
  });

  test("are not multiplied by Retry-After", () => {
    expect(
      waitSeconds(
        decideDeliveryAttemptOutcome(answered(429, 5), { attempt: 10, now: start, random: middle, scale: 1 }),
      ),
    ).toBe("exhausted");
  });
});

describe("Retry-After", () => {
  test.each([
    ["120", 120],
    ["0", 0],
    ["Sat, 21 Nov 2026 00:02:00 GMT", 120],
    ["Fri, 20 Nov 2026 00:00:00 GMT", 0],
    [undefined, null],
    ["", null],
    ["-5", null],
    ["1.5", null],
    ["1e3", null],
    ["99999999999", null],
    ["soon", null],
    ["2026-11-21T00:02:00Z", null],
    ["Sat, 99 Nov 2026 00:02:00 GMT", null],
  ])("%j is %j seconds", (value, expected) => {
    expect(parseRetryAfterHeader(value, start)).toBe(expected);
  });
});

describe("the health of an endpoint", () => {
  const failed: DeliveryAttemptOutcome = { kind: "retrying", at: start };
  const minutes = (count: number): Date => new Date(start.getTime() + count * 60_000);
  const hours = (count: number): Date => minutes(count * 60);
  const after = (
    steps: readonly (readonly [DeliveryAttemptOutcome, Date])[],
    from: EndpointHealthCounters = initialEndpointHealth,
  ): EndpointHealthAfterAttempt =>
    steps.reduce<EndpointHealthAfterAttempt>(
      ({ health }, [step, now]) =>
        calculateEndpointHealthAfterAttempt(health, step, { attempt: 1, now, scale: 1 }),
      { health: from, becomes: null },
    );
  const times = (
    count: number,
    step: DeliveryAttemptOutcome,
    at: Date,
  ): readonly (readonly [DeliveryAttemptOutcome, Date])[] => Array.from({ length: count }, () => [step, at]);

  test("opens the circuit breaker with the twentieth failure in a row, for one probe a minute", () => {
    expect(after(times(19, failed, start)).health).toMatchObject({ consecutiveFailures: 19, probeAt: null });
    const open = after(times(20, failed, start));
    expect(open.health).toEqual({
      consecutiveFailures: 20,
      failingSince: start,
      failedSinceSuccess: 20,
      degradedAt: null,
      probeAt: minutes(1),
    });
    expect(after([[failed, minutes(1)]], open.health).health).toMatchObject({
      consecutiveFailures: 21,
      probeAt: minutes(2),
    });
    expect(
      calculateEndpointHealthAfterAttempt(open.health, failed, { attempt: 1, now: start, scale: 0.01 }).health
        .probeAt,
    ).toEqual(new Date(start.getTime() + 600));
  });

  test("is reset by one success", () => {
    const { health } = after([...times(25, { kind: "exhausted" }, start), [failed, hours(25)]]);
    expect(health).toMatchObject({ consecutiveFailures: 26, failedSinceSuccess: 26, degradedAt: hours(25) });
    expect(after([[{ kind: "succeeded" }, hours(26)]], health)).toEqual({
      health: initialEndpointHealth,
      becomes: null,
    });
  });

  test("becomes degraded once, after 24 hours of failures", () => {
    const first = after([[failed, start]]);
    expect(after([[failed, new Date(hours(24).getTime() - 1)]], first.health).becomes).toBeNull();
    const degraded = after([[failed, hours(24)]], first.health);
    expect(degraded).toMatchObject({
      becomes: "degraded",
      health: { degradedAt: hours(24), failingSince: start },
    });
    expect(after([[failed, hours(25)]], degraded.health)).toMatchObject({
      becomes: null,
      health: { degradedAt: hours(24) },
    });
  });

  test("becomes disabled after five days without a success and ten failures, by neither alone", () => {
    const ten = after([...times(9, failed, start), [failed, hours(24)]]).health;
    const nine = after([...times(8, failed, start), [failed, hours(24)]]).health;
    expect(after([[failed, new Date(hours(120).getTime() - 1)]], ten).becomes).toBeNull();
    const again = (health: EndpointHealthCounters): EndpointHealthAfterAttempt =>
      calculateEndpointHealthAfterAttempt(health, failed, { attempt: 2, now: hours(120), scale: 1 });
    expect(again(nine)).toMatchObject({ becomes: null, health: { failedSinceSuccess: 9 } });
    expect(again(ten).becomes).toBe("failing");
    expect(after([[failed, hours(120)]], nine).becomes).toBe("failing");
  });

  test("becomes disabled however many deliveries wait behind an open breaker", () => {
    let health: EndpointHealthCounters = initialEndpointHealth;
    let became: EndpointHealthAfterAttempt["becomes"] = null;
    for (let minute = 0; became !== "failing" && minute <= 121 * 60; minute += 1)
      ({ health, becomes: became } = calculateEndpointHealthAfterAttempt(health, failed, {
        attempt: 1,
        now: minutes(minute),
        scale: 1,
      }));
    expect([became, health.failedSinceSuccess]).toEqual(["failing", 120 * 60 + 1]);
  });

  test("becomes disabled at once with 410, whatever happened before", () => {
    expect(
      calculateEndpointHealthAfterAttempt(
        initialEndpointHealth,
        { kind: "gone" },
        { attempt: 1, now: start, scale: 1 },
      ),
    ).toMatchObject({
      becomes: "gone",
      health: { consecutiveFailures: 1, failedSinceSuccess: 1 },
    });
  });
});
