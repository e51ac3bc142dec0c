/** A return request is accepted exactly if eligibility offers it at the same instant, for any order. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateAfterSalesEligibility } from "#commerce/after-sales/eligibility.ts";
import type {
  AfterSalesDataOutsideOrder,
  AfterSalesOption,
} from "#commerce/after-sales/after-sales-option.ts";
import {
  type DecidedReturnToInsert,
  planReturnRequest,
  type ReturnRequestFields,
} from "#commerce/after-sales/request-return.ts";
import { returnReasonsByKind, returnReasons } from "#commerce/after-sales/reasons.ts";
import { calculateReturnSettlement } from "#commerce/after-sales/settle-return.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { returnKinds } from "#commerce/orders/order-states.ts";
import { Failure } from "#foundation/failure.ts";
import { manyRuns } from "#test/support/properties.ts";
import { anyFacts, anyOrder } from "./any-order.ts";

const anyRequest = fc.constantFrom(...returnKinds).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    // Includes reasons that are not offered for the kind.
    reason: fc.oneof(
      { arbitrary: fc.constantFrom(...returnReasonsByKind[kind]), weight: 4 },
      { arbitrary: fc.constantFrom(...returnReasons), weight: 1 },
    ),
    quantity: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 })),
    place: fc.integer({ min: 0, max: 2 }),
  }),
);

interface Asked {
  readonly order: OrderAggregate;
  readonly facts: AfterSalesDataOutsideOrder;
  readonly input: ReturnRequestFields;
  readonly option: AfterSalesOption;
}

function askedOf(
  order: OrderAggregate,
  facts: AfterSalesDataOutsideOrder,
  { kind, reason, quantity, place }: typeof anyRequest extends fc.Arbitrary<infer R> ? R : never,
): Asked {
  const line = order.lines[place % order.lines.length];
  if (line === undefined) throw new Error("An order has lines.");
  const sibling =
    facts.siblingsInStock.get(line.productId)?.find((id) => id !== line.variantId) ?? "var_unknown";
  const input = {
    kind,
    reason,
    lines: [{ lineId: line.id, quantity }],
    ...(kind === "exchange" ? { exchangeVariantId: sibling } : {}),
  };
  const shown = evaluateAfterSalesEligibility(order, facts).lines.find(({ lineId }) => lineId === line.id);
  const option = shown?.options.find((candidate) => candidate.kind === kind);
  if (option === undefined) throw new Error("Every line has an option of every kind.");
  return { order, facts, input, option };
}

/** Plans the return: returns the plan, or the codes of the refusal. */
function attempt({ order, facts, input }: Omit<Asked, "option">): DecidedReturnToInsert | readonly string[] {
  try {
    return planReturnRequest(order, { facts, input });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const { reasons } = (error.parts.conflict?.data ?? {}) as {
      readonly reasons?: readonly { readonly code: string }[];
    };
    return reasons?.map(({ code }) => code) ?? [error.parts.conflict?.reason ?? error.code];
  }
}

const isPlan = (outcome: DecidedReturnToInsert | readonly string[]): outcome is DecidedReturnToInsert =>
  !Array.isArray(outcome);

const anyAsked = fc.tuple(anyOrder, anyFacts, anyRequest).map((drawn) => askedOf(...drawn));
const runs = manyRuns(1500);
/** The minimum number of matching cases, so that the property is not tested on too few. */
const often = runs.numRuns / 30;

describe("eligibility and return requests", () => {
  it("agree: every accepted request was offered, for this reason and number of units", () => {
    let accepted = 0;
    fc.assert(
      fc.property(anyAsked, (asked) => {
        const outcome = attempt(asked);
        const { option, input } = asked;
        if (!isPlan(outcome)) return;
        accepted += 1;
        expect(option.decision).not.toBe("denied");
        expect(option.allowedReasonCodes).toContain(input.reason);
        expect(input.lines[0]?.quantity).toBeLessThanOrEqual(option.eligibleQuantity);
      }),
      runs,
    );
    expect(accepted).toBeGreaterThan(often);
  });

  it("agree: every offered request is accepted up to the last unit, and refused with one unit more", () => {
    fc.assert(
      fc.property(anyAsked, ({ order, facts, input, option }) => {
        const isOffered = option.decision !== "denied" && option.allowedReasonCodes.includes(input.reason);
        const lineId = input.lines[0]?.lineId ?? "";
        const ask = (quantity: number): boolean =>
          isPlan(attempt({ order, facts, input: { ...input, lines: [{ lineId, quantity }] } }));
        expect(ask(1)).toBe(isOffered);
        if (!isOffered) return;
        // Kept units and lost units are different, and are requested with different reasons.
        if (input.kind !== "refund_only") expect(ask(option.eligibleQuantity)).toBe(true);
        expect(ask(option.eligibleQuantity + 1)).toBe(false);
      }),
      runs,
    );
  });

  it("agree on refusals: a denied request fails with the codes that eligibility showed", () => {
    fc.assert(
      fc.property(anyAsked, ({ option, ...asked }) => {
        const outcome = attempt(asked);
        const { kind, reason } = asked.input;
        const isOther = kind === "refund_only" || !returnReasonsByKind[kind].includes(reason);
        if (option.decision !== "denied" || isPlan(outcome) || isOther) return;
        const shown = option.reasons.map(({ code }) => code);
        // A reason that is the merchant's fault may meet fewer obstacles than the option shows, but never
        // other ones.
        for (const code of outcome) expect(shown).toContain(code);
      }),
      runs,
    );
  });

  it("agree on money: a request for all units with the first refund method gets the shown amount", () => {
    fc.assert(
      fc.property(anyAsked, ({ order, facts, input, option }) => {
        const lineId = input.lines[0]?.lineId ?? "";
        const outcome = attempt({
          order,
          facts,
          input: { ...input, reason: "unwanted", lines: [{ lineId, quantity: option.eligibleQuantity }] },
        });
        if (!isPlan(outcome) || option.estimatedRefund === null) return;
        expect(outcome.refundMinor).toBe(option.estimatedRefund.amountMinor);
        expect(outcome.method).toBe(option.methods[0] ?? null);
        expect(outcome.settlement).toBe(option.settlement[0] ?? null);
      }),
      runs,
    );
  });
});

describe("eligibility of the order as a whole", () => {
  it("shows the same amount as a request for all offered units", () => {
    let offered = 0;
    fc.assert(
      fc.property(anyOrder, anyFacts, (order, facts) => {
        const { lines, orderLevel } = evaluateAfterSalesEligibility(order, facts);
        const whole = orderLevel.find(({ kind }) => kind === "withdrawal");
        if (whole === undefined || whole.decision === "denied") return;
        offered += 1;
        const meant = lines.flatMap(({ lineId, options }) => {
          const option = options.find(({ kind }) => kind === "withdrawal");
          const isMeant = option?.decision === whole.decision && option.methods[0] === whole.methods[0];
          return isMeant ? [{ lineId, quantity: option.eligibleQuantity }] : [];
        });
        const plan = attempt({ order, facts, input: { kind: "withdrawal", reason: "other", lines: meant } });
        expect(meant.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(whole.eligibleQuantity);
        expect(plan).toMatchObject({
          decision: whole.decision,
          refundMinor: whole.estimatedRefund?.amountMinor,
        });
      }),
      runs,
    );
    expect(offered).toBeGreaterThan(often);
  });
});

describe("the refund of a return", () => {
  it("is the promised amount if all units are accepted, less if fewer, and at most what is owed", () => {
    fc.assert(
      fc.property(anyAsked, fc.integer({ min: 0, max: 5 }), (asked, drawn) => {
        const { order, input } = asked;
        const plan = attempt(asked);
        if (!isPlan(plan)) return;
        const [{ lineId, quantity }] = plan.lines as [DecidedReturnToInsert["lines"][number]];
        const found = { id: "ret_1", kind: input.kind, reason: input.reason, ...plan };
        const settle = (units: number): ReturnType<typeof calculateReturnSettlement> => {
          const inspected = input.kind === "refund_only" || plan.method === "keep_item" ? 0 : units;
          const lines = order.lines.map((line) =>
            line.id === lineId ? { ...line, returned: line.returned + inspected } : line,
          );
          return calculateReturnSettlement({
            order: { ...order, lines },
            found,
            units: [{ lineId, quantity: units }],
          });
        };
        const [whole, part, none] = [settle(quantity), settle(Math.min(drawn, quantity)), settle(0)];
        expect(whole.reducedMinor).toBe(plan.refundMinor);
        expect(whole.lines.reduce((sum, line) => sum + line.amountMinor, whole.shippingMinor)).toBe(
          whole.reducedMinor,
        );
        expect(part.reducedMinor).toBeGreaterThanOrEqual(0);
        expect(part.reducedMinor).toBeLessThanOrEqual(whole.reducedMinor);
        expect(none.reducedMinor).toBe(0);
        expect(whole.refundMinor).toBeLessThanOrEqual(whole.reducedMinor);
      }),
      runs,
    );
  });
});
