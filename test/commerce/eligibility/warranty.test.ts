/** Repair and replacement under a registered warranty or the statutory warranty. */
import { describe, expect, it } from "vitest";
import { evaluateAfterSalesEligibility } from "#commerce/after-sales/eligibility.ts";
import type { OrderReturn, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import { delivered, factsAt, type PaperOrder, paperOrder, paperWarranty } from "./paper-order.ts";

const at = "2026-03-05T09:00:00.000Z";
const claim = {
  id: "wcl_1",
  kind: "repair",
  status: "open",
  description: "Broken.",
  resolution: null,
  openedAt: at,
  resolvedAt: null,
  returnId: null,
} as const;

function repair(
  country: string,
  warranty: Partial<OrderWarranty>,
  now = "2026-03-06T09:00:00.000Z",
): unknown {
  const paper = delivered(at, {
    lines: [{ ordered: 3 }],
    order: { country, warranties: [paperWarranty(warranty)] },
  });
  const option = evaluateAfterSalesEligibility(paperOrder(paper), factsAt(now)).lines[0]?.options.find(
    ({ kind }) => kind === "repair",
  );
  return [
    option?.decision,
    option?.eligibleQuantity,
    option?.reasons.map(({ code }) => code),
    option?.window.clock,
  ];
}

describe("a registered warranty", () => {
  it.each([
    ["US", {}, ["allowed", 2, [], "warranty_start"]],
    ["US", { status: "void" }, ["denied", 0, ["warranty_void"], "warranty_start"]],
    ["US", { repairsLeft: 0 }, ["denied", 0, ["benefit_exhausted"], "warranty_start"]],
    ["US", { endsAt: "2026-03-06T08:59:59.999Z" }, ["denied", 0, ["warranty_expired"], "warranty_start"]],
    ["US", { endsAt: "2026-03-06T09:00:00.000Z" }, ["allowed", 2, [], "warranty_start"]],
    ["US", { claims: [claim] }, ["denied", 0, ["return_in_progress"], "warranty_start"]],
    // A registered warranty does not reduce the statutory warranty.
    ["DE", { status: "void" }, ["allowed", 3, [], "delivered"]],
    ["DE", { repairsLeft: 0 }, ["allowed", 3, [], "delivered"]],
    ["DE", { endsAt: "2026-03-06T08:59:59.999Z" }, ["allowed", 3, [], "delivered"]],
    ["DE", { claims: [claim] }, ["allowed", 3, [], "delivered"]],
    ["DE", { endsAt: "2031-03-05T22:59:59.999Z" }, ["allowed", 3, [], "warranty_start"]],
    // A granted claim covers one return of the units.
    [
      "US",
      { repairsLeft: 0, claims: [{ ...claim, status: "accepted" }] },
      ["allowed", 1, [], "warranty_start"],
    ],
    [
      "US",
      { repairsLeft: 0, claims: [{ ...claim, status: "accepted", returnId: "ret_1" }] },
      ["denied", 0, ["benefit_exhausted"], "warranty_start"],
    ],
  ] as const)("in %s, being %o: %o", (country, warranty, expected) => {
    expect(repair(country, warranty as Partial<OrderWarranty>)).toEqual(expected);
  });

  it("grants no more repairs than it has, counting those in progress", () => {
    const lines = [{ ordered: 3, returnRequested: 1 }];
    const returns = [{ kind: "repair", status: "in_transit" }] as const;
    const left = (repairsLeft: number): unknown => {
      const warranties = [paperWarranty({ repairsLeft })];
      const paper = delivered(at, { lines, returns, order: { country: "US", warranties } });
      const option = evaluateAfterSalesEligibility(paperOrder(paper), factsAt(at)).lines[0]?.options.find(
        ({ kind }) => kind === "repair",
      );
      return [option?.decision, option?.eligibleQuantity, option?.reasons.map(({ code }) => code)];
    };
    expect(left(2)).toEqual(["allowed", 1, []]);
    expect(left(1)).toEqual(["denied", 0, ["benefit_exhausted"]]);
  });

  it("goes on after the statutory warranty for the buyer who registered it", () => {
    const after = "2028-04-01T09:00:00.000Z";
    const months = { rules: { warranty: { months: 60 } } };
    const of = (paper: PaperOrder): unknown => {
      const option = evaluateAfterSalesEligibility(
        paperOrder(delivered(at, paper)),
        factsAt(after),
      ).lines[0]?.options.find(({ kind }) => kind === "repair");
      return [option?.decision, option?.reasons.map(({ code }) => code)];
    };
    expect(of({})).toEqual(["denied", ["warranty_expired"]]);
    expect(of(months)).toEqual(["denied", ["warranty_not_registered"]]);
    expect(
      of({ ...months, order: { warranties: [paperWarranty({ endsAt: "2031-03-05T22:59:59.999Z" })] } }),
    ).toEqual(["allowed", []]);
  });

  it("requires the registered serial number", () => {
    const paper = delivered(at, { order: { warranties: [paperWarranty({})] } });
    const [first, second] = evaluateAfterSalesEligibility(paperOrder(paper), factsAt(at)).lines;
    const evidence = [first, second].map(
      (line) => line?.options.find(({ kind }) => kind === "replacement")?.evidenceRequired,
    );
    expect(evidence).toEqual([["serial_number"], ["receipt"]]);
  });

  it("counts units being returned under it, of the same kind and line, until they are inspected", () => {
    const lineOf = (lineId: string): OrderReturn["lines"] => [
      { lineId, quantity: 1, received: 0, accepted: 0, restocked: 0 },
    ];
    const left = (found: Partial<OrderReturn>): unknown => {
      const order = { country: "US", warranties: [paperWarranty({ repairsLeft: 1 })] };
      const paper = delivered(at, {
        lines: [{ ordered: 3 }, {}],
        returns: [{ kind: "repair", lines: lineOf("oln_0"), ...found }],
        order,
      });
      const option = evaluateAfterSalesEligibility(paperOrder(paper), factsAt(at)).lines[0]?.options.find(
        ({ kind }) => kind === "repair",
      );
      return [option?.decision, option?.eligibleQuantity];
    };
    for (const status of ["requested", "approved", "in_transit", "received"] as const)
      expect([status, left({ status })]).toEqual([status, ["denied", 0]]);
    for (const status of ["inspected", "declined", "closed", "canceled"] as const)
      expect([status, left({ status })]).toEqual([status, ["allowed", 1]]);
    expect(left({ status: "approved", kind: "replacement" })).toEqual(["allowed", 1]);
    expect(left({ status: "approved", lines: lineOf("oln_1") })).toEqual(["allowed", 1]);
  });

  it("reports why it is denied", () => {
    const denied = (warranty: Partial<OrderWarranty>): unknown => {
      const paper = delivered(at, { order: { country: "US", warranties: [paperWarranty(warranty)] } });
      const option = evaluateAfterSalesEligibility(
        paperOrder(paper),
        factsAt("2026-03-06T09:00:00.000Z"),
      ).lines[0]?.options.find(({ kind }) => kind === "repair");
      return option?.reasons.map(({ code, data }) => [code, data]);
    };
    const endsAt = "2026-03-06T08:59:59.999Z";
    expect(denied({ claims: [claim], status: "void", endsAt, repairsLeft: 0 })).toEqual([
      ["return_in_progress", { claimId: "wcl_1" }],
      ["warranty_void", {}],
      ["warranty_expired", { endsAt }],
      ["benefit_exhausted", { kind: "repair" }],
    ]);
  });

  it("shows the later of both ends: the registered one if equal, and none if both are missing", () => {
    const window = (country: string, warranties: readonly OrderWarranty[]): unknown => {
      const paper = delivered(at, { order: { country, warranties } });
      return evaluateAfterSalesEligibility(paperOrder(paper), factsAt(at)).lines[0]?.options.find(
        ({ kind }) => kind === "repair",
      )?.window;
    };
    const lawsEnd = "2028-03-05T22:59:59.999Z";
    expect(window("DE", [paperWarranty({ endsAt: lawsEnd })])).toMatchObject({
      clock: "warranty_start",
      endsAt: lawsEnd,
    });
    expect(window("DE", [paperWarranty({ endsAt: "2028-03-05T22:59:59.998Z" })])).toMatchObject({
      clock: "delivered",
      endsAt: lawsEnd,
    });
    expect(window("US", [])).toEqual({
      clock: "warranty_start",
      startsAt: null,
      endsAt: null,
      estimated: false,
    });
  });
});
