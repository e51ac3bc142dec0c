/**
 * The lifetime of a cart's address over REST: it ends at a fixed time, even before the sweep writes it, and
 * reads do not extend it.
 */
import { beforeAll, describe, expect, it } from "vitest";
import {
  berlin,
  callCart,
  changeCart,
  deliveryOf,
  makeCart,
  makeCode,
  sanFrancisco,
  usd,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";

describe("a cart's address", () => {
  const world = useWorld();
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });
  const read = (cartId: string) => callCart(world(), "getPublicCart", { cartId });

  it("is not extended by a read", async () => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } });
    const before = (await read(cartId)).body.data;
    world().clock.advance(10 * 60_000);
    const after = (await withoutTrace(world(), () => read(cartId))).body.data;
    expect([after.addressTokenExpiresAt, after.expiresAt, after.version]).toEqual([
      before.addressTokenExpiresAt,
      before.expiresAt,
      before.version,
    ]);
  });

  it("ends at its time with shipping and tax: the read shows it without writing", async () => {
    await makeCode(world(), "FREE-WAY", { kind: "FREE_SHIPPING" });
    const { id: cartId } = await makeCart(world(), { country: "US", lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address: sanFrancisco } });
    await changeCart(world(), "cartDeliveryOptionSelect", {
      cartId,
      input: { optionId: await deliveryOf(world(), "ground") },
    });
    await changeCart(world(), "cartPromotionApply", { cartId, input: { code: "free-way" } });
    const before = (await read(cartId)).body.data;
    expect(before.totals).toMatchObject({
      discount: usd(795),
      shipping: usd(795),
      tax: usd(652),
      total: usd(9642),
    });
    expect(before.promotion.allocations).toEqual([
      { target: "shipping", lineId: null, promotionId: expect.any(String), amount: usd(795) },
    ]);
    world().clock.advance(30 * 60_000 - 1);
    expect((await read(cartId)).body.data).toEqual(before);
    world().clock.advance(1);
    const { body } = await withoutTrace(world(), () => read(cartId));
    expect(contract.faultsOf("getPublicCart", 200, body)).toEqual([]);
    expect(body.data).toMatchObject({
      version: before.version,
      address: null,
      addressTokenExpiresAt: null,
      delivery: null,
      lines: [{ tax: null, total: usd(8990) }],
      totals: {
        subtotal: usd(8990),
        discount: usd(0),
        shipping: null,
        tax: null,
        total: usd(8990),
        estimated: true,
      },
      promotion: { state: "applied", discount: usd(0), allocations: [] },
      warnings: [
        {
          code: "address_expired",
          lineId: null,
          message: "The address has expired and must be set again.",
          data: {},
        },
      ],
    });
  });
});
