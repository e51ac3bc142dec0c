/**
 * Access to carts: carts of other buyers and merchants are not found, and roles see only the buyer's data
 * that they may see.
 */
import { beforeAll, describe, expect, it } from "vitest";
import {
  askGraph,
  berlin,
  callCart,
  type CartMutation,
  changeCart,
  linesOf,
  makeCart,
  makeForeignCart,
  readCart,
  tryCart,
  withoutTrace,
} from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

describe("carts and their buyers", () => {
  const world = useWorld();
  let annasCart: string;
  let cartWithoutBuyer: string;
  beforeAll(async () => {
    annasCart = (await makeCart(world(), { buyer: "anna", lines: { "KIT-KVERN": 1 } })).id;
    cartWithoutBuyer = (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;
  });

  /** A valid input for each mutation. */
  const inputs = async (): Promise<Record<CartMutation, Record<string, unknown>>> => ({
    cartLinesAdd: { lines: await linesOf(world(), { "KIT-KVERN": 1 }) },
    cartLinesUpdate: { lines: [{ lineId: "cln_00000000000000000000000000", quantity: 1 }] },
    cartLinesRemove: { lineIds: ["cln_00000000000000000000000000"] },
    cartBuyerSet: { buyerReference: null },
    cartMarketChange: { market: "AT" },
    cartDeliveryOptionSelect: { optionId: null },
    cartMerge: { sourceCartId: cartWithoutBuyer },
    cartAddressSet: { address: berlin },
    cartPromotionApply: { code: "x" },
    cartPromotionRemove: { expectedVersion: 1 },
    cartRevoke: { expectedVersion: 1 },
  });

  it("belong to the buyer of the X-Buyer-Reference header at creation", async () => {
    expect((await readCart(world(), annasCart, { buyer: "anna" })).data.buyer).toEqual({
      reference: "anna",
      guest: false,
      emailHint: null,
    });
  });

  it("are not found for another buyer; without the header the id is enough, as over REST", async () => {
    expect((await readCart(world(), annasCart, { buyer: "ben" })).data).toBeNull();
    expect((await readCart(world(), annasCart)).data.id).toBe(annasCart);
    expect((await callCart(world(), "getPublicCart", { cartId: annasCart })).status).toBe(200);
    for (const [field, input] of Object.entries(await inputs())) {
      const change = () =>
        changeCart(world(), field as CartMutation, { cartId: annasCart, input, buyer: "ben" });
      expect([field, (await withoutTrace(world(), change)).error?.code]).toEqual([field, "cart_not_found"]);
    }
    const merge = () =>
      changeCart(world(), "cartMerge", {
        cartId: cartWithoutBuyer,
        input: { sourceCartId: annasCart },
        buyer: "ben",
      });
    expect((await withoutTrace(world(), merge)).error.code).toBe("cart_not_found");
  });

  it("without a buyer can be claimed by the current buyer, but not for another buyer", async () => {
    const { id: cartId } = await makeCart(world());
    const give = (buyerReference: string) =>
      changeCart(world(), "cartBuyerSet", { cartId, input: { buyerReference }, buyer: "clara" });
    expect((await withoutTrace(world(), () => give("dora"))).error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/buyerReference", code: "not_allowed" }],
    });
    expect((await give("clara")).data.buyer.reference).toBe("clara");
    expect((await readCart(world(), cartId, { buyer: "dora" })).data).toBeNull();
    const made = await withoutTrace(world(), () =>
      tryCart(world(), { buyer: "clara", input: { buyerReference: "dora" } }),
    );
    expect(made.error.details).toMatchObject([{ field: "/buyerReference", code: "not_allowed" }]);
  });

  it.each(["", "two words", "anna@example.com", "ä", "x".repeat(129)])(
    "are refused if the header is malformed: %j",
    async (buyer) => {
      const answer = await withoutTrace(world(), () => readCart(world(), annasCart, { buyer }));
      expect({ status: answer.status, error: answer.error }).toMatchObject({
        status: 400,
        error: {
          code: "malformed_request",
          details: [{ in: "header", field: "X-Buyer-Reference", code: "pattern_mismatch" }],
        },
      });
    },
  );

  it("accept a buyer reference of 128 characters", async () => {
    const buyer = "~".repeat(128);
    expect((await makeCart(world(), { buyer })).buyer.reference).toBe(buyer);
  });

  describe("in lists", () => {
    const list = (args = "", frontend = {}) =>
      askGraph(
        world(),
        `{ carts(first: 100${args}) { totalCount edges { node { id status } } } }`,
        {},
        frontend,
      );
    const idsIn = ({ data }: Awaited<ReturnType<typeof list>>): string[] =>
      data.edges.map(({ node }: { node: { id: string } }) => node.id);

    it("contain the carts of the storefront's buyer, and are refused without a buyer", async () => {
      expect(await list()).toMatchObject({ status: 403, error: { code: "role_not_allowed" } });
      expect(idsIn(await list("", { buyer: "anna" }))).toEqual([annasCart]);
      expect(idsIn(await list("", { buyer: "nobody" }))).toEqual([]);
    });

    it("contain the merchant's carts for staff and analysts, and all carts for the platform", async () => {
      const foreign = await makeForeignCart(world());
      for (const token of ["admin", "analyst"] as const) {
        const ids = idsIn(await list("", { token }));
        expect([ids.includes(annasCart), ids.includes(cartWithoutBuyer), ids.includes(foreign)]).toEqual([
          true,
          true,
          false,
        ]);
      }
      expect(idsIn(await list("", { token: "operator" }))).toEqual(
        expect.arrayContaining([annasCart, foreign]),
      );
      expect(
        idsIn(await list(`, merchantId: "${world().demo.merchants.second.id}"`, { token: "operator" })),
      ).toContain(foreign);
      expect(
        idsIn(await list(`, merchantId: "${world().demo.merchants.second.id}"`, { token: "operator" })),
      ).not.toContain(annasCart);
      expect(
        (await list(`, merchantId: "${world().demo.merchants.second.id}"`, { token: "admin" })).data?.edges ??
          [],
      ).not.toContainEqual({
        node: { id: foreign, status: "ACTIVE" },
      });
    });

    it("filter by the status at the current time, and omit carts 90 days after their end", async () => {
      const start = world().clock.now();
      const { id } = await makeCart(world(), { buyer: "listed" });
      const statusOf = async (): Promise<string[]> => {
        const statuses = ["ACTIVE", "LOCKED", "COMPLETED", "REVOKED", "EXPIRED", "MERGED"];
        const found = await Promise.all(
          statuses.map(async (status) =>
            idsIn(await list(`, status: ${status}`, { buyer: "listed" })).includes(id),
          ),
        );
        return statuses.filter((_status, index) => found[index]);
      };
      expect(await statusOf()).toEqual(["ACTIVE"]);
      world().clock.advance(30 * 86_400_000);
      expect(await statusOf()).toEqual(["EXPIRED"]);
      world().clock.advance(90 * 86_400_000);
      expect(await statusOf()).toEqual([]);
      expect(idsIn(await list("", { buyer: "listed" }))).toEqual([]);
      world().clock.at = start;
    });

    it("are paged, oldest first, each cart once", async () => {
      for (let count = 0; count < 5; count += 1) {
        world().clock.advance(1);
        await makeCart(world(), { buyer: "pager" });
      }
      const page = (args: string) =>
        askGraph(
          world(),
          `{ carts(${args}) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage } } }`,
          {},
          { buyer: "pager" },
        );
      const all = (await page("first: 5")).data.edges;
      expect(all.map(({ node }: { node: { id: string } }) => node.id)).toEqual(
        all.map(({ node }: { node: { id: string } }) => node.id).toSorted(),
      );
      const first = (await page("first: 2")).data;
      expect(first).toEqual({
        edges: all.slice(0, 2),
        pageInfo: { hasNextPage: true, hasPreviousPage: false },
      });
      expect((await page(`first: 3, after: "${all[1].cursor}"`)).data).toEqual({
        edges: all.slice(2),
        pageInfo: { hasNextPage: false, hasPreviousPage: true },
      });
      expect((await page("last: 2")).data.edges).toEqual(all.slice(3));
      world().statements.length = 0;
      await page("first: 5");
      expect(world().statements.filter((text) => text.includes("from cart c"))).toHaveLength(1);
    });
  });

  it("of another merchant are not found by any frontend or mutation", async () => {
    const foreign = await makeForeignCart(world());
    for (const token of ["storefront", "admin"] as const) {
      expect((await readCart(world(), foreign, { token })).data).toBeNull();
      for (const [field, input] of Object.entries(await inputs())) {
        const change = () => changeCart(world(), field as CartMutation, { cartId: foreign, input, token });
        expect([field, (await withoutTrace(world(), change)).error?.code]).toEqual([field, "cart_not_found"]);
      }
      const merge = () =>
        changeCart(world(), "cartMerge", {
          cartId: cartWithoutBuyer,
          input: { sourceCartId: foreign },
          token,
        });
      expect((await withoutTrace(world(), merge)).error.code).toBe("cart_not_found");
    }
    expect((await readCart(world(), foreign, { token: "analyst" })).data).toBeNull();
    const lines = await linesOf(world(), { "MR-PROBE": 1 });
    const added = await withoutTrace(world(), () =>
      changeCart(world(), "cartLinesAdd", { cartId: cartWithoutBuyer, input: { lines } }),
    );
    expect(added.error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/lines/0/variantId", code: "unknown" }],
    });
  });

  it("are changed by the platform only with a named merchant", async () => {
    const { first, second } = world().demo.merchants;
    const input = { lines: await linesOf(world(), { "KIT-KVERN": 1 }) };
    const change = (merchantId?: string) =>
      changeCart(world(), "cartLinesAdd", {
        cartId: cartWithoutBuyer,
        input,
        token: "operator",
        ...(merchantId === undefined ? {} : { merchantId }),
      });
    expect((await withoutTrace(world(), () => change())).error).toMatchObject({
      code: "missing_field",
      details: [{ field: "/merchantId" }],
    });
    expect((await withoutTrace(world(), () => change(second.id))).error.code).toBe("cart_not_found");
    expect((await change(first.id)).data.totalQuantity).toBe(2);
    const other = () =>
      changeCart(world(), "cartLinesAdd", { cartId: cartWithoutBuyer, input, merchantId: second.id });
    expect((await withoutTrace(world(), other)).error.code).toBe("merchant_not_found");
  });

  it("are shown to analysts without the buyer's name, and analysts cannot change them", async () => {
    await changeCart(world(), "cartBuyerSet", {
      cartId: annasCart,
      input: { buyerReference: "anna", email: "anna@example.com" },
    });
    expect((await readCart(world(), annasCart, { token: "admin" })).data.buyer).toEqual({
      reference: "anna",
      guest: false,
      emailHint: "a•••@e•••.com",
    });
    expect((await readCart(world(), annasCart, { token: "analyst" })).data.buyer).toEqual({
      reference: null,
      guest: false,
      emailHint: "a•••@e•••.com",
    });
    for (const [field, input] of Object.entries(await inputs())) {
      const change = () =>
        changeCart(world(), field as CartMutation, { cartId: annasCart, input, token: "analyst" });
      expect(await withoutTrace(world(), change)).toMatchObject({
        status: 403,
        error: { code: "role_not_allowed" },
      });
    }
    expect(await withoutTrace(world(), () => tryCart(world(), { token: "analyst" }))).toMatchObject({
      status: 403,
    });
  });

  it("erase a buyer's e-mail at once if it is replaced or removed", async () => {
    const { db } = world().database;
    const { id: cartId } = await makeCart(world());
    const emails = () =>
      db
        .selectFrom("personalData")
        .select(["sealed", "masked"])
        .where("cartId", "=", cartId)
        .where("kind", "=", "buyer_email")
        .orderBy("createdAt")
        .execute();
    await changeCart(world(), "cartBuyerSet", { cartId, input: { email: "one@example.com" } });
    world().clock.advance(1);
    const { data } = await changeCart(world(), "cartBuyerSet", {
      cartId,
      input: { email: "two@example.com" },
    });
    expect(data).toMatchObject({
      version: 3,
      buyer: { reference: null, guest: true, emailHint: "t•••@e•••.com" },
    });
    expect((await emails()).map(({ sealed }) => sealed === null)).toEqual([true, false]);
    expect((await changeCart(world(), "cartBuyerSet", { cartId, input: {} })).data).toMatchObject({
      version: 4,
      buyer: { emailHint: null },
    });
    expect(await emails()).toMatchObject([
      { sealed: null, masked: { emailHint: null } },
      { sealed: null, masked: { emailHint: null } },
    ]);
  });

  describe("and delivery options by address token", () => {
    const options = (addressToken: string, frontend = {}) =>
      askGraph(
        world(),
        "query ($addressToken: ID!) { deliveryOptions(addressToken: $addressToken) { id name price { " +
          "amountMinor } } }",
        { addressToken },
        frontend,
      );
    const token = async (cartId: string): Promise<string> =>
      (await changeCart(world(), "cartAddressSet", { cartId, input: { address: berlin } })).data.addressToken;

    it("return the cart's options while the token is valid", async () => {
      const { id: cartId } = await makeCart(world(), { buyer: "holder", lines: { "KIT-KVERN": 1 } });
      const first = await token(cartId);
      expect((await options(first)).data).toMatchObject([
        { name: "Standardversand", price: { amountMinor: 490 } },
        { name: "Expressversand", price: { amountMinor: 1290 } },
        { price: { amountMinor: 0 } },
      ]);
      expect((await options(first, { buyer: "holder" })).data).toHaveLength(3);
      expect((await options(first, { buyer: "thief" })).error.code).toBe("resource_not_found");
      const second = await token(cartId);
      expect((await options(first)).error.code).toBe("resource_not_found");
      world().clock.advance(30 * 60_000 - 1);
      expect((await options(second)).data).toHaveLength(3);
      world().clock.advance(1);
      expect((await options(second)).error).toMatchObject({ code: "resource_not_found" });
    });

    it("refuse malformed tokens, foreign tokens and tokens of another market", async () => {
      for (const garbage of [
        "",
        "adt_00000000000000000000000000",
        "x".repeat(5000),
        "adt_'; drop table cart",
      ]) {
        expect((await options(garbage)).error.code).toBe("resource_not_found");
      }
      const foreignCart = await makeForeignCart(world());
      const merchantId = world().demo.merchants.second.id;
      const foreign = await changeCart(world(), "cartAddressSet", {
        cartId: foreignCart,
        input: { address: berlin },
        token: "operator",
        merchantId,
      });
      expect((await options(foreign.data.addressToken)).error.code).toBe("resource_not_found");
      const { id: cartId } = await makeCart(world(), { lines: { "KIT-KVERN": 1 } });
      const own = await token(cartId);
      await changeCart(world(), "cartMarketChange", { cartId, input: { market: "US" } });
      expect((await options(own)).error.code).toBe("resource_not_found");
    });
  });
});
