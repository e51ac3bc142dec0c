/**
 * A cancellation does exactly what cancellation eligibility showed at the same instant, for any order and
 * caller.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateCancellationEligibility } from "#commerce/orders/cancellation/eligibility.ts";
import {
  buyerCancellationReasons,
  merchantCancellationReasons,
} from "#commerce/orders/cancellation/reasons.ts";
import { findLinesThatShareCanceledPromotion } from "#commerce/orders/cancellation/obstacles.ts";
import {
  findCancellationInputFaults,
  decideOrderCancellation,
  type ImmediateOrRequestedCancellation,
} from "#commerce/orders/cancellation/cancel-order.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderPromotion,
} from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { getUncanceledQuantity } from "#commerce/orders/order-statuses.ts";
import { Failure } from "#foundation/failure.ts";
import { manyRuns } from "#test/support/properties.ts";
import { anyOrder } from "#test/commerce/after-sales/any-order.ts";

const minute = 60_000;
const noPayment = { pending: [], disputedAt: null };

/** After-sales test orders that still have unshipped units, packed or not, in bundles or not. */
const anyOpenOrder = fc
  .record({
    order: anyOrder,
    openShares: fc.array(fc.constantFrom(0, 0.5, 1, 1), { minLength: 3, maxLength: 3 }),
    mode: fc.constantFrom("immediate", "immediate", "immediate", "request", "request", "none"),
    windowMinutes: fc.constantFrom(60, 60, null),
    afterWindow: fc.constantFrom("request", "deny"),
    obstacle: fc.oneof(
      { weight: 3, arbitrary: fc.constant("none") },
      fc.constantFrom("suspended", "requested", "capturing", "refunding", "returning"),
    ),
    packing: fc.constantFrom("none", "none", "pending", "packing"),
    isSet: fc.boolean(),
  })
  .map(
    ({ order, openShares, mode, windowMinutes, afterWindow, obstacle, packing, isSet }): OrderAggregate => {
      const lines = order.lines.map((line, index) => {
        const shipped = Math.floor(line.shipped * (1 - (openShares[index] ?? 1)));
        const delivered = Math.min(shipped, line.delivered);
        const returned = Math.min(delivered, line.returned);
        const returnRequested = Math.min(delivered - returned, line.returnRequested);
        return {
          ...line,
          shipped,
          delivered,
          returned,
          returnRequested,
          refunded: Math.min(shipped, Math.max(returned, line.refunded)),
        };
      });
      const [first] = lines;
      const waiting = lines
        .filter((line) => getUncanceledQuantity(line) > line.shipped)
        .map((line) => ({ lineId: line.id, quantity: getUncanceledQuantity(line) - line.shipped }));
      const packed = {
        id: "ful_9",
        returnId: null,
        status: packing,
        packingStartedAt: packing === "packing" ? order.placedAt : null,
        lines: waiting,
      } as unknown as OrderAggregate["fulfillments"][number];
      const set = {
        promotionId: "prm_1",
        kind: "buy_x_get_y",
        discountMinor: 100,
        allocations: lines.slice(0, 1).map((line) => ({ lineId: line.id, amountMinor: 100 })),
        boughtLineIds: lines.slice(1, 2).map((line) => line.id),
      } as unknown as OrderPromotion;
      const request = {
        lines: waiting,
        reason: "other",
        note: null,
        actor: "buyer",
        at: order.placedAt,
      } as const;
      const returning = {
        id: "ret_1",
        status: "approved",
        lines: [{ lineId: first?.id ?? "", quantity: 1 }],
      } as unknown as OrderAggregate["returns"][number];
      return Object.assign({}, order, {
        lines,
        merchant: {
          id: "mer_1",
          slug: "x",
          name: "X",
          status: obstacle === "suspended" ? "suspended" : "active",
          defaultLocale: "de",
          referenceKey: "secret",
        },
        payments: order.payments.map((payment) => ({
          ...noPayment,
          ...payment,
          pending: obstacle === "capturing" ? [{ kind: "capture" as const, amountMinor: 1 }] : [],
        })),
        refunds:
          obstacle === "refunding"
            ? [{ status: "pending", amountMinor: 1 } as unknown as OrderAggregate["refunds"][number]]
            : [],
        returns: obstacle === "returning" ? [returning] : [],
        cancellationRequest: obstacle === "requested" ? request : null,
        promotions: isSet && lines.length > 1 ? [set] : [],
        fulfillments: [
          ...order.fulfillments,
          ...(packing === "none" || waiting.length === 0 ? [] : [packed]),
        ],
        policies: order.policies.map((policy) =>
          policy.type === "cancellation"
            ? { ...policy, rules: { mode, windowMinutes, afterWindow } }
            : policy,
        ),
      } as Partial<OrderAggregate>);
    },
  );

const anyAsked = fc
  .record({
    order: anyOpenOrder,
    actor: fc.constantFrom<OrderActor>("buyer", "buyer", "merchant", "system"),
    // Includes times around the end of the period in which a buyer cancels without consent.
    after: fc.oneof(
      fc.constantFrom(60 * minute - 1, 60 * minute, 60 * minute + 1),
      fc.integer({ min: 0, max: 100 * minute }),
    ),
    // Includes one unit more than exists.
    extra: fc.array(fc.constantFrom(0, 0, 0, 0, 0, 0, 1, -1, -1, -9, -9), { minLength: 3, maxLength: 3 }),
    isAll: fc.constantFrom(false, false, false, true),
  })
  .map(({ order, actor, after, extra, isAll }) => {
    const now = new Date(Date.parse(order.placedAt) + after);
    const answer = evaluateCancellationEligibility(order, now, actor);
    const chosen = order.lines
      .map((line, index) => ({
        lineId: line.id,
        quantity: getUncanceledQuantity(line) - line.shipped + (extra[index] ?? 0),
      }))
      .filter(({ quantity }) => quantity > 0);
    return { order, actor, now, answer, lines: isAll || chosen.length === 0 ? undefined : chosen };
  });
type Asked = typeof anyAsked extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/** Decides the cancellation: returns the result, or the codes of the refusal. */
function attempt({
  order,
  actor,
  now,
  lines,
}: Pick<Asked, "order" | "actor" | "now" | "lines">): ImmediateOrRequestedCancellation | readonly string[] {
  try {
    return decideOrderCancellation(order, { lines }, { now, actor });
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "invalid_state") throw error;
    const { reasons } = (error.parts.conflict?.data ?? {}) as {
      readonly reasons?: readonly { readonly code: string }[];
    };
    return reasons?.map(({ code }) => code) ?? [];
  }
}

const isDone = (outcome: ReturnType<typeof attempt>): outcome is ImmediateOrRequestedCancellation =>
  !Array.isArray(outcome);

/** The eligibility answer for these lines. */
function shown(
  { order, actor, answer }: Asked,
  lines: readonly OrderLineIdAndQuantity[],
): "allowed" | "request_required" | "denied" {
  const decisions = new Set(
    lines.map(({ lineId, quantity }) => {
      const line = answer.lines.find((candidate) => candidate.lineId === lineId);
      return line === undefined || quantity > line.cancelableQuantity ? "denied" : line.decision;
    }),
  );
  if (decisions.has("denied")) return "denied";
  if (actor === "buyer" && decisions.has("request_required")) return "request_required";
  return actor === "buyer" && findLinesThatShareCanceledPromotion(order, lines) !== undefined
    ? "denied"
    : "allowed";
}

const runs = manyRuns(2000);
/** The minimum number of cases of each kind, so that the property is not tested on too few. */
const often = runs.numRuns / 40;

describe("cancellation eligibility and the cancellation", () => {
  it("agree: chosen lines are canceled, requested or refused exactly as shown, for every caller", () => {
    const seen = { allowed: 0, request_required: 0, denied: 0 };
    fc.assert(
      fc.property(anyAsked, (asked) => {
        const { lines } = asked;
        if (lines === undefined) return;
        const outcome = attempt(asked);
        const decision = shown(asked, lines);
        seen[decision] += 1;
        const done = isDone(outcome) ? (outcome.isRequest ? "request_required" : "allowed") : "denied";
        expect(done).toBe(decision);
        if (isDone(outcome)) expect(outcome.lines).toEqual(lines);
      }),
      runs,
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(often);
  });

  it("agree on the whole order: without lines, the answer's decision is applied to all of its units", () => {
    const seen = { allowed: 0, request_required: 0, denied: 0 };
    fc.assert(
      fc.property(anyAsked, ({ order, actor, now, answer }) => {
        const outcome = attempt({ order, actor, now, lines: undefined });
        seen[answer.decision] += 1;
        expect(isDone(outcome)).toBe(answer.decision !== "denied");
        if (!isDone(outcome)) return;
        expect(outcome.isRequest).toBe(answer.decision === "request_required");
        const about = answer.lines.filter(({ decision }) => decision === answer.decision);
        expect(outcome.lines).toEqual(
          about.map(({ lineId, cancelableQuantity: quantity }) => ({ lineId, quantity })),
        );
      }),
      runs,
    );
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(often);
  });

  it("agree on refusals: a denied cancellation is refused with the shown reasons", () => {
    fc.assert(
      fc.property(anyAsked, ({ order, actor, now, answer }) => {
        const outcome = attempt({ order, actor, now, lines: undefined });
        const shownCodes = answer.reasons.map(({ code }) => code);
        expect(isDone(outcome) ? shownCodes : outcome).toEqual(shownCodes);
      }),
      runs,
    );
  });

  it("agree on reasons: a buyer may give the reasons offered to buyers, the merchant any reason", () => {
    const anyReason = fc.constantFrom(...buyerCancellationReasons, ...merchantCancellationReasons);
    fc.assert(
      fc.property(anyAsked, anyReason, ({ answer, actor }, reason) => {
        const isTaken = findCancellationInputFaults({ reason }, actor).length === 0;
        const offered = answer.allowedReasonCodes.filter(
          (choice) => actor !== "buyer" || choice.actor === "buyer",
        );
        expect(offered.some(({ code }) => code === reason)).toBe(answer.decision !== "denied" && isTaken);
      }),
      runs,
    );
  });
});
