/**
 * The numbers of SQL statements and of round trips to PostgreSQL that changes of carts need. Both numbers
 * decide how much a change costs, so this test fails if one of them changes. The event of a change, which is
 * rendered before the change is sent to the database, must contain the cart as it is read afterwards.
 */
import type { Updateable } from "kysely";
import type { CartTable } from "#database/tables.ts";
import { beforeAll, describe, expect, it } from "vitest";
import { countTransactionOf, useWorld } from "#test/support/use-world.ts";
import {
  berlin,
  callCart,
  type CartMutation,
  changeCart,
  deliveryOf,
  eventsOf,
  linesOf,
  makeCart,
  makeCode,
  readCart as askCart,
  tryCart,
} from "#test/operations/cart-calls.ts";
import { trySession } from "#test/operations/checkout-calls.ts";

describe("the SQL statements and round trips of a write", () => {
  const world = useWorld();
  beforeAll(async () => {
    await makeCode(world(), "Ten-Off");
    await makeCode(world(), "FIVE", { kind: "FIXED_AMOUNT", amountMinor: 500, currency: "EUR" });
  });

  let sourceCartId = "";

  interface Prepared {
    readonly cartId: string;
    readonly lineIds: readonly string[];
  }
  const cart = async (): Promise<Prepared> => {
    const { id, lines } = await makeCart(world(), { lines: { "KIT-KVERN": 1, "KIT-EMALJE-WHITE": 3 } });
    return { cartId: id, lineIds: (lines as { id: string }[]).map((line) => line.id) };
  };
  const withAddress = async (): Promise<Prepared> => {
    const made = await cart();
    await changeCart(world(), "cartAddressSet", { cartId: made.cartId, input: { address: berlin } });
    return made;
  };
  const withCode = async (): Promise<Prepared> => {
    const made = await withAddress();
    await callCart(world(), "applyPublicCartPromotion", { cartId: made.cartId, body: { code: "five" } });
    return made;
  };
  const change =
    (field: CartMutation, input: (made: Prepared) => unknown) =>
    async (made: Prepared): Promise<number> => {
      const { error } = await changeCart(world(), field, {
        cartId: made.cartId,
        input: (await input(made)) as Readonly<Record<string, unknown>>,
      });
      return error === undefined ? 200 : error;
    };
  const apply = async ({ cartId }: Prepared): Promise<number> =>
    (await callCart(world(), "applyPublicCartPromotion", { cartId, body: { code: "ten-off" } })).status;

  type Case = readonly [
    name: string,
    sent: { readonly statements: number; readonly roundTrips: number },
    prepare: () => Promise<Prepared>,
    write: (made: Prepared) => Promise<unknown>,
  ];
  const cases: readonly Case[] = [
    ["applyPublicCartPromotion", { statements: 5, roundTrips: 2 }, cart, apply],
    ["applyPublicCartPromotion that replaces a code", { statements: 5, roundTrips: 2 }, withCode, apply],
    [
      "applyPublicCartPromotion with the present code",
      { statements: 5, roundTrips: 2 },
      withCode,
      async ({ cartId }) =>
        (await callCart(world(), "applyPublicCartPromotion", { cartId, body: { code: "five" } })).status,
    ],
    [
      "removePublicCartPromotion",
      { statements: 5, roundTrips: 2 },
      withCode,
      async ({ cartId }) =>
        (await callCart(world(), "removePublicCartPromotion", { cartId, body: { expectedVersion: 3 } }))
          .status,
    ],
    [
      "setPublicCartAddress",
      { statements: 5, roundTrips: 2 },
      cart,
      async ({ cartId }) =>
        (await callCart(world(), "setPublicCartAddress", { cartId, body: { address: berlin } })).status,
    ],
    [
      "setPublicCartAddress of a cart with more lines",
      { statements: 5, roundTrips: 2 },
      async () => {
        const made = await cart();
        const lines = await linesOf(world(), { "KIT-BRETT-SMALL": 1, "HOM-BIVOKS": 1, "HOM-KURV-SMALL": 1 });
        await changeCart(world(), "cartLinesAdd", { cartId: made.cartId, input: { lines } });
        return made;
      },
      async ({ cartId }) =>
        (await callCart(world(), "setPublicCartAddress", { cartId, body: { address: berlin } })).status,
    ],
    [
      "setPublicCartAddress that replaces an address",
      { statements: 6, roundTrips: 2 },
      withAddress,
      async ({ cartId }) =>
        (
          await callCart(world(), "setPublicCartAddress", {
            cartId,
            body: { address: { ...berlin, line1: "Musterweg 2" } },
          })
        ).status,
    ],
    [
      "revokePublicCart",
      { statements: 7, roundTrips: 3 },
      withAddress,
      async ({ cartId }) =>
        (
          await callCart(world(), "revokePublicCart", {
            cartId,
            body: { expectedVersion: 2, reason: "duplicate" },
          })
        ).status,
    ],
    [
      "cartCreate",
      { statements: 7, roundTrips: 5 },
      cart,
      async () => (await tryCart(world(), { lines: { "KIT-KVERN": 1 } })).error ?? 200,
    ],
    [
      "cartLinesAdd",
      { statements: 5, roundTrips: 2 },
      withCode,
      change("cartLinesAdd", async () => ({ lines: await linesOf(world(), { "HOM-BIVOKS": 1 }) })),
    ],
    [
      "cartLinesUpdate",
      { statements: 5, roundTrips: 2 },
      withCode,
      change("cartLinesUpdate", ({ lineIds: [lineId] }) => ({ lines: [{ lineId, quantity: 2 }] })),
    ],
    [
      "cartLinesRemove",
      { statements: 5, roundTrips: 2 },
      withCode,
      change("cartLinesRemove", ({ lineIds: [lineId] }) => ({ lineIds: [lineId] })),
    ],
    [
      "cartDeliveryOptionSelect",
      { statements: 5, roundTrips: 2 },
      withCode,
      change("cartDeliveryOptionSelect", async () => ({ optionId: await deliveryOf(world(), "standard") })),
    ],
    [
      "cartBuyerSet",
      { statements: 6, roundTrips: 2 },
      withCode,
      change("cartBuyerSet", () => ({ email: "anna@example.com" })),
    ],
    [
      "cartMarketChange",
      { statements: 8, roundTrips: 4 },
      withCode,
      change("cartMarketChange", () => ({ market: "US" })),
    ],
    [
      "cartMerge",
      { statements: 11, roundTrips: 6 },
      async () => {
        sourceCartId = (await cart()).cartId;
        return withCode();
      },
      change("cartMerge", () => ({ sourceCartId })),
    ],
    [
      "hostedCheckoutSessionCreate",
      { statements: 8, roundTrips: 3 },
      async () => {
        const made = await withCode();
        const optionId = await deliveryOf(world(), "standard");
        await changeCart(world(), "cartDeliveryOptionSelect", { cartId: made.cartId, input: { optionId } });
        return made;
      },
      async ({ cartId }) => (await trySession(world(), { cartId })).error ?? 200,
    ],
  ];

  type CartFields = Readonly<Record<string, unknown>>;
  const readCart = async (cartId: string): Promise<CartFields> =>
    (await callCart(world(), "getPublicCart", { cartId })).body.data as CartFields;
  /** Returns the fields of the cart before a change that differ after it; the version counts once. */
  const previousOf = (before: CartFields, after: CartFields): CartFields => {
    const withoutVersion = (value: unknown): string =>
      JSON.stringify(value, (name, field: unknown) => (name === "cartVersion" ? undefined : field));
    return Object.fromEntries(
      Object.entries(before).filter(([name, value]) => withoutVersion(value) !== withoutVersion(after[name])),
    );
  };

  it.each(cases)("%s", async (_name, sent, prepare, write) => {
    const { prepared, counts } = await countTransactionOf(world(), sent.roundTrips, {
      prepare: async () => {
        const newCart = await prepare();
        return { made: newCart, before: await readCart(newCart.cartId) };
      },
      write: async ({ made: newCart }) => expect(await write(newCart)).toBe(200),
    });
    expect(counts).toEqual(sent);
    const { made, before } = prepared;
    const event = (await eventsOf(world(), made.cartId)).at(-1);
    const after = await readCart(made.cartId);
    expect(JSON.stringify(event?.snapshot.data.object)).toBe(JSON.stringify(after));
    if (before["version"] !== after["version"])
      expect(event?.snapshot.data.previous).toEqual(previousOf(before, after));
  });

  const textsOf = (): string =>
    world()
      .executions.map(({ text }) => text)
      .join("\n");
  const apply200 = async (made: Prepared): Promise<CartFields> => {
    world().executions.length = 0;
    expect(await apply(made)).toBe(200);
    const after = await readCart(made.cartId);
    return after["totals"] as CartFields;
  };

  it("reads no tax rates, delivery methods and categories for a cart that needs none", async () => {
    const made = await cart();
    world().executions.length = 0;
    expect(await apply(made)).toBe(200);
    expect(textsOf()).toContain("from cart_promotion");
    expect(textsOf()).not.toMatch(/from (?:tax_rate|delivery_method|product_category)\b/);
  });

  it("reads them with one more statement if the cart got its address from another process", async () => {
    const { db } = world().database;
    const nothing = {
      addressId: null,
      addressTokenDigest: null,
      addressExpiresAt: null,
      addressExpiresAtMax: null,
    };
    const write = (cartId: string, version: number, values: Updateable<CartTable>) =>
      db
        .updateTable("cart")
        .set({ ...values, version })
        .where("id", "=", cartId)
        .execute();
    /** Creates a cart that got its address from another one, without a change in this process. */
    const withMovedAddress = async (): Promise<Prepared> => {
      const [from, to] = [await withAddress(), await cart()];
      const moved = await db
        .selectFrom("cart")
        .where("id", "=", from.cartId)
        .select([
          "addressId",
          "addressTokenDigest",
          "addressExpiresAt",
          "addressExpiresAtMax",
          "taxMinor",
          "totalMinor",
        ])
        .select((eb) => eb.cast<string>("deliveryOptions", "text").as("deliveryOptions"))
        .executeTakeFirstOrThrow();
      await write(from.cartId, 3, { ...nothing, deliveryOptions: null });
      await write(to.cartId, 2, moved);
      return to;
    };
    const [expected, { prepared: to, counts }] = [
      await withAddress(),
      await countTransactionOf(world(), 3, {
        prepare: withMovedAddress,
        write: async (made) => expect(await apply(made)).toBe(200),
      }),
    ];
    expect(counts).toEqual({ statements: 6, roundTrips: 3 });
    const first = (await readCart(to.cartId))["totals"];
    expect(first).toEqual(await apply200(expected));
    const optionsOf = async ({ cartId }: Prepared): Promise<unknown> =>
      (await askCart(world(), cartId)).data.delivery.options;
    expect(await optionsOf(expected)).not.toHaveLength(0);
    expect(await optionsOf(to)).toEqual(await optionsOf(expected));
    expect(first).toMatchObject({ tax: { amountMinor: expect.any(Number) } });
    const removal = await countTransactionOf(world(), 2, {
      prepare: async () => {
        const made = await withMovedAddress();
        await apply200(made);
        return made.cartId;
      },
      write: async (cartId) => {
        const remove = { cartId, body: { expectedVersion: 3 } };
        expect((await callCart(world(), "removePublicCartPromotion", remove)).status).toBe(200);
      },
    });
    expect(removal.counts).toEqual({ statements: 5, roundTrips: 2 });
  });

  it("reads categories with one more statement for the first change that depends on them", async () => {
    const { categoryId } = await world()
      .database.db.selectFrom("productCategory as c")
      .innerJoin("variant as v", "v.productId", "c.productId")
      .where("v.sku", "=", "KIT-KVERN")
      .select("c.categoryId")
      .executeTakeFirstOrThrow();
    await makeCode(world(), "KITCHEN", { entitledCategoryIds: [categoryId] });
    const applyCode = async ({ cartId }: Prepared): Promise<void> => {
      const call = { cartId, body: { code: "kitchen" } };
      expect((await callCart(world(), "applyPublicCartPromotion", call)).status).toBe(200);
    };
    const withKitchenCode = async (): Promise<Prepared> => {
      const made = await cart();
      await applyCode(made);
      return made;
    };
    const update = async ({ cartId, lineIds }: Prepared): Promise<void> => {
      const lines = [{ lineId: lineIds[0], quantity: 2 }];
      expect((await changeCart(world(), "cartLinesUpdate", { cartId, input: { lines } })).status).toBe(200);
    };
    // Ten percent of the only line whose product is in the category.
    const totals = (amountMinor: number): unknown =>
      expect.objectContaining({ discount: { amountMinor, currency: "EUR", exponent: 2 } });
    const applied = await countTransactionOf(world(), 3, { prepare: cart, write: applyCode });
    expect(applied.counts).toEqual({ statements: 6, roundTrips: 3 });
    expect((await readCart(applied.prepared.cartId))["totals"]).toEqual(totals(849));
    const updated = await countTransactionOf(world(), 2, { prepare: withKitchenCode, write: update });
    expect(updated.counts).toEqual({ statements: 5, roundTrips: 2 });
    expect((await readCart(updated.prepared.cartId))["totals"]).toEqual(totals(1698));
  });
});
