/**
 * The contact e-mail of a checkout: the e-mail of the cart's address serves as the buyer's e-mail if the cart
 * has none, and never replaces an e-mail that the cart has.
 */
import { describe, expect, it } from "vitest";
import { berlin, changeCart, makeCart, readCart } from "#test/operations/cart-calls.ts";
import { cancelSession, changeSession, makeSession } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const withEmail = { ...berlin, email: "anna@beispiel.example" };
const hint = "a•••@b•••.example";

describe("the contact e-mail of a checkout", () => {
  const world = useWorld();
  const makeAddressed = async (address: object = withEmail): Promise<string> => {
    const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
    await changeCart(world(), "cartAddressSet", { cartId, input: { address } });
    return cartId;
  };
  const hintOf = async (cartId: string) => (await readCart(world(), cartId)).data.buyer.emailHint;
  const setAddress = (sessionId: string, input: object) =>
    changeSession(world(), "hostedCheckoutSessionAddressSet", { sessionId, input: { ...input } });

  it("is the e-mail of the cart's address, from the start of the session on", async () => {
    const cartId = await makeAddressed();
    expect(await hintOf(cartId)).toBeNull();
    await makeSession(world(), { cartId });
    expect(await hintOf(cartId)).toBe(hint);
  });

  it("is the e-mail of an address that the session gets, as one change", async () => {
    const { id, cartId } = await makeSession(world());
    const { data } = await setAddress(id, { address: withEmail });
    expect(data).toMatchObject({ version: 2, cartVersion: 3, cart: { buyer: { emailHint: hint } } });
    // An address with another e-mail does not replace the e-mail that the checkout has.
    await setAddress(id, { address: { ...berlin, email: "jan@other.test" } });
    expect(await hintOf(cartId)).toBe(hint);
  });

  it("is the cart's own e-mail, or the e-mail sent with the address, if there is one", async () => {
    const cartId = await makeAddressed();
    await changeCart(world(), "cartBuyerSet", { cartId, input: { email: "jan@other.test" } });
    const { id } = await makeSession(world(), { cartId });
    expect(await hintOf(cartId)).toBe("j•••@o•••.test");
    await setAddress(id, { address: withEmail });
    expect(await hintOf(cartId)).toBe("j•••@o•••.test");
    const second = await makeSession(world());
    await setAddress(second.id, { address: withEmail, contactEmail: "eva@third.test" });
    expect(await hintOf(second.cartId)).toBe("e•••@t•••.test");
  });

  it("is missing if neither the cart nor its address has an e-mail, or if the address has expired", async () => {
    const without = await makeAddressed(berlin);
    await makeSession(world(), { cartId: without });
    expect(await hintOf(without)).toBeNull();
    const expired = await makeAddressed();
    world().clock.advance(31 * 60_000);
    await makeSession(world(), { cartId: expired });
    expect(await hintOf(expired)).toBeNull();
    world().clock.advance(-31 * 60_000);
  });

  it("stays the cart's e-mail after a canceled session, and is stored encrypted once", async () => {
    const cartId = await makeAddressed();
    const { id } = await makeSession(world(), { cartId });
    await cancelSession(world(), { sessionId: id });
    await makeSession(world(), { cartId });
    expect(await hintOf(cartId)).toBe(hint);
    const rows = await world()
      .database.db.selectFrom("personalData")
      .select(["kind", "sealed", "masked"])
      .where("cartId", "=", cartId)
      .where("kind", "=", "buyer_email")
      .execute();
    expect(rows).toMatchObject([{ masked: { emailHint: hint } }]);
    expect(Buffer.from(rows[0]?.sealed ?? []).toString("latin1")).not.toContain("anna");
  });
});
