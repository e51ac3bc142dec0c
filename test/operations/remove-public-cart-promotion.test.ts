/**
 * removePublicCartPromotion: removes the cart's code if the caller knows the current version. Automatic
 * promotions stay.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  callCart,
  changeCart,
  eur,
  eventsOf,
  expectConflict,
  makeCart,
  makeCode,
  makePromotion,
  movePromotion,
  readCart,
  withoutTrace,
} from "./cart-calls.ts";
import { type BodyFault, describeBodyFaults, describeCommonRefusals } from "./cart-refusals.ts";

describe.each(["pglite", "postgres"] as const)("removePublicCartPromotion on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
    await makeCode(world(), "TEN");
  });

  const remove = (cartId: string, body: unknown) =>
    callCart(world(), "removePublicCartPromotion", { cartId, body });
  const coded = async (): Promise<string> => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "ten" } });
    return cartId;
  };

  it("returns the state without a code, the automatic promotions and the new totals", async () => {
    const automaticId = await makePromotion(world(), {
      kind: "FIXED_AMOUNT",
      amountMinor: 90,
      currency: "EUR",
    });
    const cartId = await coded();
    const answer = await remove(cartId, {
      expectedVersion: 2,
      reason: "buyer_request",
      note: "Changed their mind.",
    });
    await movePromotion(world(), "promotionEnd", automaticId);
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("removePublicCartPromotion", 200, answer.body)).toEqual([]);
    expect(answer.body).toEqual({
      data: {
        cartId,
        cartVersion: 3,
        state: "none",
        suspendedReason: null,
        promotion: null,
        automatic: [{ id: automaticId, title: "A deal", discount: eur(90) }],
        discount: eur(0),
        allocations: [],
        replaced: null,
        totals: {
          subtotal: eur(8490),
          discount: eur(90),
          shipping: null,
          tax: null,
          taxIncluded: true,
          total: eur(8400),
          estimated: true,
        },
      },
    });
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "candidate",
    });
    const { data } = await readCart(world(), cartId);
    expect(data).toMatchObject({ version: 3, promotion: { state: "NONE", promotion: null } });
  });

  it("publishes one event with the previous promotion and totals", async () => {
    const cartId = await coded();
    await remove(cartId, { expectedVersion: 2 });
    const events = await eventsOf(world(), cartId);
    expect(events.map(({ type, version }) => [type, version])).toEqual([
      ["cart.created", 1],
      ["cart.promotion_applied", 2],
      ["cart.promotion_removed", 3],
    ]);
    expect(events[2]?.snapshot.data.previous).toMatchObject({
      version: 2,
      promotion: { state: "applied", discount: eur(849) },
      totals: { total: eur(7641) },
    });
    expect(Object.keys(events[2]?.snapshot.data.previous as object).toSorted()).toEqual([
      "lines",
      "promotion",
      "totals",
      "version",
    ]);
  });

  it("removes a suspended code", async () => {
    await makeCode(world(), "MIN", { minimumSubtotalMinor: 8000, currency: "EUR" });
    const made = await makeCart(world(), { lines: { "KIT-KVERN": 1, "HOM-BIVOKS": 1 } });
    await changeCart(world(), "cartPromotionApply", { cartId: made.id, input: { code: "min" } });
    const { data } = await changeCart(world(), "cartLinesRemove", {
      cartId: made.id,
      input: { lineIds: [made.lines[0].id] },
    });
    expect(data.promotion.state).toBe("SUSPENDED");
    const { body } = await remove(made.id, { expectedVersion: 3 });
    expect(body.data).toMatchObject({ cartVersion: 4, state: "none", totals: { total: eur(2490) } });
    expect((await readCart(world(), made.id)).data.warnings).toEqual([]);
  });

  it("refuses if the cart has no code", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    const answer = await withoutTrace(world(), () => remove(cartId, { expectedVersion: 1 }));
    expectConflict(answer, { code: "promotion_not_present", id: cartId, status: "active", version: 1 });
    expect(contract.faultsOf("removePublicCartPromotion", 409, answer.body)).toEqual([]);
    const again = await coded();
    expect((await remove(again, { expectedVersion: 2 })).status).toBe(200);
    expectConflict(await withoutTrace(world(), () => remove(again, { expectedVersion: 3 })), {
      code: "promotion_not_present",
      id: again,
      status: "active",
      version: 3,
    });
  });

  it("refuses a version that is not the cart's current version", async () => {
    const cartId = await coded();
    for (const expectedVersion of [1, 3, 2_147_483_647]) {
      const answer = await withoutTrace(world(), () => remove(cartId, { expectedVersion }));
      expectConflict(answer, { code: "cart_version_conflict", id: cartId, status: "active", version: 2 });
    }
  });

  describeCommonRefusals("removePublicCartPromotion", { world, body: { expectedVersion: 1 } });
  describeBodyFaults("removePublicCartPromotion", { world, faults: transitionFaults });
});

const transitionFaults: readonly BodyFault[] = [
  ["no version", {}, "missing_field", ["/expectedVersion required"]],
  ["null for a version", { expectedVersion: null }, "invalid_field", ["/expectedVersion wrong_type"]],
  ["version 0", { expectedVersion: 0 }, "invalid_field", ["/expectedVersion too_small"]],
  ["a version as text", { expectedVersion: "1" }, "invalid_field", ["/expectedVersion wrong_type"]],
  ["half a version", { expectedVersion: 0.5 }, "invalid_field", ["/expectedVersion wrong_type"]],
  ["a version of 2³¹", { expectedVersion: 2 ** 31 }, "invalid_field", ["/expectedVersion too_large"]],
  ["an unknown reason", { expectedVersion: 1, reason: "whim" }, "invalid_field", ["/reason not_allowed"]],
  [
    "a reason as GraphQL spells it",
    { expectedVersion: 1, reason: "BUYER_REQUEST" },
    "invalid_field",
    ["/reason not_allowed"],
  ],
  [
    "a note of 281 characters",
    { expectedVersion: 1, note: "x".repeat(281) },
    "invalid_field",
    ["/note too_long"],
  ],
  [
    "a note with a NUL",
    { expectedVersion: 1, note: "a\u0000" },
    "invalid_field",
    ["/note control_character"],
  ],
  ["a note that is no text", { expectedVersion: 1, note: 5 }, "invalid_field", ["/note wrong_type"]],
];
