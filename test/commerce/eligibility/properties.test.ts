/**
 * Properties of eligibility for every order: the answer depends only on its input, the reasons explain the
 * decision, and the answer holds until `validUntil`.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "#test/support/properties.ts";
import {
  evaluateAfterSalesEligibility,
  evaluateOptionForReturnRequest,
} from "#commerce/after-sales/eligibility.ts";
import { returnReasonsByKind } from "#commerce/after-sales/reasons.ts";
import { evaluateCancellationEligibility } from "#commerce/orders/cancellation/eligibility.ts";
import {
  findMostFavorableEligibilityDecision,
  decideEligibilityFromReasons,
} from "#commerce/orders/eligibility-reason.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import { factsAt, paperOrder, placedAt } from "./paper-order.ts";

const minute = 60_000;
const day = 1440 * minute;
const start = Date.parse(placedAt);
const instant = fc.integer({ min: 0, max: 60 * day }).map((after) => new Date(start + after).toISOString());

/** Quantities that the database constraints allow. */
const line: fc.Arbitrary<Partial<OrderLine>> = fc
  .record({
    ordered: fc.integer({ min: 1, max: 5 }),
    parts: fc.array(fc.nat(5), { minLength: 5, maxLength: 5 }),
    restrictions: fc.subarray(
      ["final_sale", "custom_made", "perishable", "hygiene_sealed", "digital", "gift_card"],
      { maxLength: 1 },
    ),
    totalMinor: fc.nat(100_000),
  })
  .map(({ ordered, parts, restrictions, totalMinor }) => {
    const [canceled = 0, shipped = 0, delivered = 0, returned = 0, returnRequested = 0] = parts;
    const counts = {
      canceled: Math.min(canceled, ordered),
      shipped: 0,
      delivered: 0,
      returned: 0,
      returnRequested: 0,
    };
    counts.shipped = Math.min(shipped, ordered - counts.canceled);
    counts.delivered = Math.min(delivered, counts.shipped);
    counts.returned = Math.min(returned, counts.delivered);
    counts.returnRequested = Math.min(returnRequested, counts.delivered - counts.returned);
    return Object.assign(counts, {
      ordered,
      allocated: ordered - counts.canceled,
      refunded: counts.returned,
      restrictions,
      totalMinor,
    });
  });

const order: fc.Arbitrary<OrderAggregate> = fc
  .record({
    lines: fc.array(line, { minLength: 1, maxLength: 3 }),
    status: fc.constantFrom("confirmed", "pending", "on_hold", "completed", "canceled"),
    timeZone: fc.constantFrom("Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Auckland"),
    country: fc.constantFrom("DE", "US", "NO"),
    mode: fc.constantFrom("immediate", "request", "none"),
    windowMinutes: fc.option(fc.integer({ min: 1, max: 43_200 })),
    afterWindow: fc.constantFrom("request", "deny"),
    windowDays: fc.option(fc.integer({ min: 1, max: 60 })),
    extendUntil: fc.option(fc.constantFrom("2026-03-29", "2026-04-05")),
    sentAt: instant,
    arrives: fc.boolean(),
    packed: fc.boolean(),
  })
  .map(({ lines, status, timeZone, country, sentAt, arrives, packed, ...rules }) => {
    const { mode, windowMinutes, afterWindow, windowDays, extendUntil } = rules;
    const sent = { packingStartedAt: sentAt, shippedAt: sentAt, deliveredAt: arrives ? sentAt : null };
    return paperOrder({
      order: { status, timeZone, country },
      lines,
      rules: {
        cancellation: { mode, windowMinutes, afterWindow },
        return: { mode, windowDays, extendUntil },
      },
      fulfillments: [
        packed
          ? { status: "packing", packingStartedAt: placedAt }
          : { status: arrives ? "delivered" : "in_transit", ...sent },
      ],
    });
  });

/** All times at which something begins or ends for an order. */
function turnsOf(one: OrderAggregate): number[] {
  const windows = evaluateAfterSalesEligibility(one, factsAt(placedAt)).lines.flatMap(({ options }) =>
    options.map(({ window }) => window),
  );
  const instants = [
    ...windows.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt]),
    evaluateCancellationEligibility(one, new Date(placedAt)).deadline?.at,
  ];
  return instants.flatMap((at) => (at === null || at === undefined ? [] : [Date.parse(at)]));
}

/** Asks at any time, or around times when something begins or ends, which random times would seldom hit. */
const asked = fc
  .record({
    order,
    anyTime: instant,
    pick: fc.option(fc.nat()),
    offset: fc.integer({ min: -16 * minute, max: 1 }),
    share: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  })
  .map(({ order: one, anyTime, pick, offset, share }) => {
    const turns = turnsOf(one);
    const turn = pick === null ? undefined : turns[pick % turns.length];
    return { order: one, now: turn === undefined ? anyTime : new Date(turn + offset).toISOString(), share };
  });

/** Leaves out the fields that say when the answer was given. */
const answerOf = ({
  evaluatedAt: _at,
  validUntil: _until,
  ...answer
}: {
  readonly evaluatedAt: string;
  readonly validUntil: string;
}): unknown => answer;

/** An instant before the answer's `validUntil`. */
const within = (from: string, until: string, share: number): string =>
  new Date(Date.parse(from) + Math.floor((Date.parse(until) - Date.parse(from)) * share)).toISOString();

describe.each([
  ["cancellation", (one: OrderAggregate, now: string) => evaluateCancellationEligibility(one, new Date(now))],
  ["after-sales", (one: OrderAggregate, now: string) => evaluateAfterSalesEligibility(one, factsAt(now))],
] as const)("%s", (_name, eligibility) => {
  it("is the same until `validUntil`, at most 15 minutes later, and does not change its input", () => {
    fc.assert(
      fc.property(asked, ({ order: one, now, share }) => {
        const before = structuredClone(one);
        const answer = eligibility(one, now);
        const lasts = Date.parse(answer.validUntil) - Date.parse(now);
        expect(lasts > 0 && lasts <= 15 * minute).toBe(true);
        expect(answerOf(eligibility(one, within(now, answer.validUntil, share)))).toEqual(answerOf(answer));
        expect(answerOf(eligibility(one, new Date(Date.parse(answer.validUntil) - 1).toISOString()))).toEqual(
          answerOf(answer),
        );
        expect(one).toEqual(before);
      }),
    );
  });
});

describe("a cancellation answer", () => {
  it("follows from its lines, never exceeds the order, and never improves with time", () => {
    fc.assert(
      fc.property(asked, instant, ({ order: one, now }, other) => {
        const answer = evaluateCancellationEligibility(one, new Date(now));
        expect(answer.decision).toBe(
          findMostFavorableEligibilityDecision(answer.lines.map(({ decision }) => decision)),
        );
        expect(answer.decision === "allowed").toBe(answer.reasons.length === 0);
        expect(answer.refund === null).toBe(answer.decision === "denied");
        for (const [index, { decision, reasons, cancelableQuantity }] of answer.lines.entries()) {
          const { ordered = 0, canceled = 0, shipped = 0 } = one.lines[index] ?? {};
          expect(decision).toBe(decideEligibilityFromReasons(reasons));
          expect(cancelableQuantity).toBe(decision === "denied" ? 0 : ordered - canceled - shipped);
        }
        expect(answer.refund?.estimated.amountMinor ?? 0).toBeLessThanOrEqual(one.totalMinor);
        const [early = now, late = now] = [now, other].toSorted();
        const then = [early, late].map((at) => evaluateCancellationEligibility(one, new Date(at)).decision);
        expect(findMostFavorableEligibilityDecision(then)).toBe(then[0]);
      }),
    );
  });
});

describe("an after-sales answer", () => {
  it("follows from its reasons, never exceeds the units of the order, and decides the request", () => {
    fc.assert(
      fc.property(asked, ({ order: one, now }) => {
        const facts = factsAt(now);
        const answer = evaluateAfterSalesEligibility(one, facts);
        for (const [index, { lineId, options }] of answer.lines.entries()) {
          const { shipped = 0, totalMinor = 0 } = one.lines[index] ?? {};
          for (const {
            kind,
            decision,
            reasons,
            eligibleQuantity,
            estimatedRefund,
            allowedReasonCodes,
          } of options) {
            expect([decision, eligibleQuantity > 0]).toEqual([
              decideEligibilityFromReasons(reasons),
              decision !== "denied",
            ]);
            expect(eligibleQuantity).toBeLessThanOrEqual(shipped);
            expect(new Set(allowedReasonCodes).size).toBe(allowedReasonCodes.length);
            // The amount includes at most the shipping.
            expect(estimatedRefund?.amountMinor ?? 0).toBeLessThanOrEqual(
              totalMinor + (one.shippingMinor ?? 0),
            );
            for (const reason of returnReasonsByKind[kind]) {
              const single = evaluateOptionForReturnRequest(one, facts, { lineId, kind, reason });
              expect([single?.kind, reason, single?.decision !== "denied"]).toEqual([
                kind,
                reason,
                allowedReasonCodes.includes(reason),
              ]);
            }
          }
        }
      }),
    );
  });
});

describe("no answer contradicts itself", () => {
  it("a denied cancellation has a deadline only if the deadline has passed", () => {
    fc.assert(
      fc.property(asked, ({ order: one, now }) => {
        const { decision, deadline } = evaluateCancellationEligibility(one, new Date(now));
        const isPast = Date.parse(deadline?.at ?? now) <= Date.parse(now);
        expect(decision !== "denied" || isPast).toBe(true);
      }),
    );
  });

  it("a canceled order is nowhere said to be returned, or canceled instead", () => {
    fc.assert(
      fc.property(asked, ({ order: { status: _status, ...rest }, now }) => {
        const canceled: OrderAggregate = { ...rest, status: "canceled" };
        const { reasons, alternatives, deadline } = evaluateCancellationEligibility(canceled, new Date(now));
        expect([reasons.map(({ code }) => code), alternatives, deadline]).toEqual([
          ["order_already_canceled"],
          [],
          null,
        ]);
        const { lines, orderLevel } = evaluateAfterSalesEligibility(canceled, factsAt(now));
        // "not sent yet" or "nothing left to return" would send the buyer to another request.
        for (const option of [...lines.flatMap(({ options }) => options), ...orderLevel])
          expect(option.reasons.map(({ code }) => code)).toEqual(["order_canceled"]);
      }),
    );
  });
});
