/**
 * revokePublicCart: ends a cart permanently if the caller knows the current version. The address is hidden at
 * once and erased a day later.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  eur,
  eventsOf,
  expectConflict,
  makeCart,
  makeCode,
  readCart,
  withoutTrace,
  workOf,
} from "./cart-calls.ts";
import { type BodyFault, describeBodyFaults, describeCommonRefusals } from "./cart-refusals.ts";

describe.each(["pglite", "postgres"] as const)("revokePublicCart on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const revoke = (cartId: string, body: unknown) => callCart(world(), "revokePublicCart", { cartId, body });
  const cart = async (): Promise<string> => (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;

  it("returns the ended cart without address, shipping and tax, with its lines and code", async () => {
    await makeCode(world(), "TEN");
    await makeCode(world(), "SENT", { kind: "FREE_SHIPPING" });
    const { id: cartId, lines } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "standard") },
    });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "ten" } });
    const before = (await callCart(world(), "getPublicCart", { cartId })).body.data;
    expect(before.totals).toMatchObject({
      shipping: eur(490),
      discount: eur(849),
      total: eur(8131),
      estimated: false,
    });
    world().clock.advance(1000);
    const answer = await revoke(cartId, {
      expectedVersion: 4,
      reason: "merchant_request",
      note: "Shop closes.\nSee you.",
    });
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("revokePublicCart", 200, answer.body)).toEqual([]);
    const at = world().clock.now().toISOString();
    const totals = { ...before.totals, shipping: null, tax: null, total: eur(7641), estimated: true };
    expect(answer.body).toEqual({
      data: {
        ...before,
        version: 5,
        status: "revoked",
        lines: [{ ...before.lines[0], tax: null, total: eur(7641) }],
        totals,
        promotion: { ...before.promotion, cartVersion: 5, totals },
        address: null,
        addressTokenExpiresAt: null,
        delivery: null,
        revocation: { reason: "merchant_request", note: "Shop closes.\nSee you.", at },
        updatedAt: at,
      },
    });
    expect(lines).toHaveLength(1);
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "candidate",
    });
    expect(answer.headers["etag"]).toBeUndefined();
    expect((await callCart(world(), "getPublicCart", { cartId })).body).toEqual(answer.body);
  });

  it("removes the shipping discount together with the shipping", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "standard") },
    });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "sent" } });
    const { body } = await revoke(cartId, { expectedVersion: 4 });
    expect(body.data).toMatchObject({
      totals: { subtotal: eur(8490), discount: eur(0), shipping: null, total: eur(8490) },
      promotion: { state: "applied", discount: eur(0), allocations: [] },
    });
  });

  it.each(["buyer_request", "merchant_request", "security", "duplicate", "test", "other"])(
    "stores the reason %s",
    async (reason) => {
      const { body } = await revoke(await cart(), { expectedVersion: 1, reason });
      expect(body.data.revocation).toEqual({ reason, note: null, at: world().clock.now().toISOString() });
    },
  );

  it('stores "other" if no reason is given, and accepts a note of 280 characters', async () => {
    const note = "😀".repeat(140);
    const { status, body } = await revoke(await cart(), { expectedVersion: 1, note });
    expect([status, body.data.revocation]).toMatchObject([200, { reason: "other", note }]);
  });

  it("refuses a second revocation with another key, whatever version it expects", async () => {
    const cartId = await cart();
    await revoke(cartId, { expectedVersion: 1, reason: "test" });
    for (const expectedVersion of [1, 2, 9]) {
      const answer = await withoutTrace(world(), () =>
        revoke(cartId, { expectedVersion, reason: "security" }),
      );
      expectConflict(answer, { code: "cart_revoked", id: cartId, status: "revoked", version: 2 });
      expect(contract.faultsOf("revokePublicCart", 409, answer.body)).toEqual([]);
    }
    expect((await readCart(world(), cartId)).data).toMatchObject({
      version: 2,
      revocation: { reason: "TEST" },
    });
  });

  it("refuses a version that is not the cart's current version", async () => {
    const cartId = await cart();
    const answer = await withoutTrace(world(), () => revoke(cartId, { expectedVersion: 2 }));
    expectConflict(answer, { code: "cart_version_conflict", id: cartId, status: "active", version: 1 });
  });

  it("publishes one event with the new status and the removed values", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    await revoke(cartId, { expectedVersion: 2 });
    const events = await eventsOf(world(), cartId);
    expect(events.map(({ type, version }) => [type, version])).toEqual([
      ["cart.created", 1],
      ["cart.address_set", 2],
      ["cart.revoked", 3],
    ]);
    const { object, previous } = events[2]?.snapshot.data ?? {};
    expect(object).toEqual((await callCart(world(), "getPublicCart", { cartId })).body.data);
    expect(Object.keys(previous as object).toSorted()).toEqual(
      [
        "address",
        "addressTokenExpiresAt",
        "delivery",
        "lines",
        "promotion",
        "revocation",
        "status",
        "totals",
        "version",
      ].toSorted(),
    );
  });

  it("runs six statements, also if the cart has an address", async () => {
    const plain = await cart();
    expect(await workOf(world(), () => revoke(plain, { expectedVersion: 1 }))).toHaveLength(6);
    const addressed = await cart();
    await changeCart(world(), "cartAddressSet", { cartId: addressed, input: { address: berlin } });
    expect(await workOf(world(), () => revoke(addressed, { expectedVersion: 2 }))).toHaveLength(6);
  });

  describeCommonRefusals("revokePublicCart", { world, body: { expectedVersion: 1 } });
  describeBodyFaults("revokePublicCart", { world, faults: transitionFaults });
});

const transitionFaults: readonly BodyFault[] = [
  ["no version", {}, "missing_field", ["/expectedVersion required"]],
  ["null for a version", { expectedVersion: null }, "invalid_field", ["/expectedVersion wrong_type"]],
  ["version 0", { expectedVersion: 0 }, "invalid_field", ["/expectedVersion too_small"]],
  ["a version below 0", { expectedVersion: -1 }, "invalid_field", ["/expectedVersion too_small"]],
  ["true for a version", { expectedVersion: true }, "invalid_field", ["/expectedVersion wrong_type"]],
  ["a version of 2³¹", { expectedVersion: 2 ** 31 }, "invalid_field", ["/expectedVersion too_large"]],
  ["an unknown reason", { expectedVersion: 1, reason: "whim" }, "invalid_field", ["/reason not_allowed"]],
  [
    "a note of 281 characters",
    { expectedVersion: 1, note: "x".repeat(281) },
    "invalid_field",
    ["/note too_long"],
  ],
  [
    "a lone surrogate in the note",
    '{"expectedVersion":1,"note":"\\ud800"}',
    "invalid_field",
    ["/note control_character"],
  ],
  [
    "several faults",
    { reason: 1, note: 2 },
    "missing_field",
    ["/expectedVersion required", "/note wrong_type", "/reason wrong_type"],
  ],
];
