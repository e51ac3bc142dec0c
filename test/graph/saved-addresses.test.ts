/**
 * Saved addresses of a buyer: saved with a cart, used for later carts, shown to the buyer's storefront only,
 * erased on request.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { manyConnections } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";

const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};
const masked = { countryCode: "DE", city: "Berlin", postalCodePrefix: "10", recipientInitials: "A. B." };

describe.each(["postgres"] as const)("saved addresses on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(engine, { poolSize: manyConnections });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const ask = async (
    query: string,
    variables: Record<string, unknown> = {},
    buyer: string | null = "anna",
    token: "storefront" | "admin" = "storefront",
  ) => {
    const { body } = await world.send({
      method: "POST",
      url: "/graphql",
      headers: {
        authorization: `Bearer ${world.demo.tokens[token]}`,
        ...(buyer === null ? {} : { "x-buyer-reference": buyer }),
      },
      body: { query, variables },
    });
    return { data: body.data, error: body.errors?.[0]?.extensions };
  };
  const makeCart = async (buyer: string | null = "anna"): Promise<string> =>
    (await ask(`mutation { cartCreate(input: { market: "DE" }) { id } }`, {}, buyer)).data.cartCreate.id;
  const set = (cartId: string, input: Record<string, unknown>, buyer: string | null = "anna") =>
    ask(
      `mutation ($cartId: ID!, $input: PublicCartAddressSetRequest!) { cartAddressSet(cartId: $cartId, input:
        $input) { cartVersion } }`,
      { cartId, input },
      buyer,
    );
  const saved = async (buyer: string | null = "anna") =>
    (
      await ask(
        "{ savedAddresses { id level address { countryCode city postalCodePrefix recipientInitials } } }",
        {},
        buyer,
      )
    ).data?.savedAddresses;
  const use = (cartId: string, savedAddressId: string, buyer: string | null = "anna") =>
    ask(
      `mutation ($cartId: ID!, $input: CartSavedAddressSetInput!) { cartSavedAddressSet(cartId: $cartId,
        input: $input) { addressToken address { city } } }`,
      { cartId, input: { savedAddressId } },
      buyer,
    );
  const remove = (savedAddressId: string, buyerReference: string, buyer: string | null = "anna") =>
    ask(
      `mutation ($input: SavedAddressRemoveInput!) { savedAddressRemove(input: $input) }`,
      { input: { savedAddressId, buyerReference } },
      buyer,
    );

  it("are saved only on request", async () => {
    await set(await makeCart(), { address });
    expect(await saved()).toEqual([]);
  });

  it("are used for another cart by their id", async () => {
    await set(await makeCart(), { address, saveForBuyer: true });
    const [kept] = await saved();
    expect(kept).toEqual({ id: expect.stringMatching(/^psd_/), level: "STRICT", address: masked });
    const { data } = await use(await makeCart(), kept.id);
    expect(data.cartSavedAddressSet).toEqual({
      addressToken: expect.stringMatching(/^adt_/),
      address: { city: "Berlin" },
    });
  });

  it("outlive their cart, and a later address of that cart", async () => {
    const cartId = await makeCart();
    await set(cartId, { address: { ...address, line1: "Zweitweg 2" }, saveForBuyer: true });
    await set(cartId, { address });
    await ask(`mutation ($id: ID!) { cartRevoke(cartId: $id, input: { expectedVersion: 3 }) { status } }`, {
      id: cartId,
    });
    expect(await saved()).toHaveLength(2);
  });

  it("are not found for another buyer", async () => {
    const [kept] = await saved();
    expect(await saved("berta")).toEqual([]);
    expect((await use(await makeCart("berta"), kept.id, "berta")).error).toMatchObject({
      code: "resource_not_found",
      details: [{ field: "/savedAddressId" }],
    });
    expect((await remove(kept.id, "berta", "berta")).error.code).toBe("resource_not_found");
    expect((await remove(kept.id, "anna", "berta")).error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/buyerReference", code: "not_allowed" }],
    });
    expect((await ask("{ savedAddresses { id } }", {}, null)).error).toMatchObject({
      code: "invalid_field",
      details: [{ code: "required" }],
    });
    expect(
      (await ask(`{ savedAddresses(buyerReference: "anna") { id } }`, {}, null, "admin")).data.savedAddresses,
    ).toHaveLength(2);
  });

  it("require a buyer", async () => {
    const cartId = await makeCart(null);
    const { error } = await set(cartId, { address, saveForBuyer: true }, null);
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/saveForBuyer", code: "buyer_required" }],
    });
  });

  it('are erased when they are removed; a second removal answers "not found"', async () => {
    const [kept] = await saved();
    expect((await remove(kept.id, "anna")).data).toEqual({ savedAddressRemove: kept.id });
    expect(await saved()).toHaveLength(1);
    const row = await world.database.db
      .selectFrom("personalData")
      .select(["sealed", "dataKey"])
      .where("id", "=", kept.id)
      .executeTakeFirst();
    expect(row).toEqual({ sealed: null, dataKey: null });
    expect((await remove(kept.id, "anna")).error.code).toBe("resource_not_found");
    expect((await use(await makeCart(), kept.id)).error.code).toBe("resource_not_found");
  });

  it("are 20 at most: the oldest one is erased for a new one", async () => {
    const cartId = await makeCart("carla");
    for (let count = 1; count <= 21; count += 1) {
      world.clock.advance(1000);
      await set(cartId, { address: { ...address, city: `Ort ${count}` }, saveForBuyer: true }, "carla");
    }
    const cities = (await saved("carla")).map((kept: { address: { city: string } }) => kept.address.city);
    expect(cities).toEqual(Array.from({ length: 20 }, (_, index) => `Ort ${21 - index}`));
    const { db } = world.database;
    const rows = await db
      .selectFrom("personalData")
      .select("id")
      .where("buyerReference", "=", "carla")
      .where("erasedAt", "is", null)
      .execute();
    expect(rows).toHaveLength(20);
  });

  it("are 20 at most under concurrent requests", async () => {
    const { db } = world.database;
    const kept = () =>
      db
        .selectFrom("personalData")
        .select("id")
        .where("buyerReference", "=", "carla")
        .where("erasedAt", "is", null)
        .execute();
    const cartIds: string[] = [];
    for (let count = 0; count < 6; count += 1) cartIds.push(await makeCart("carla"));
    const answers = await Promise.all(
      cartIds.map((cartId) => set(cartId, { address, saveForBuyer: true }, "carla")),
    );
    expect(answers.map(({ error }) => error)).toEqual(cartIds.map(() => undefined));
    expect(await kept()).toHaveLength(20);
  });

  it("that are removed stay with carts that use them, until these end", async () => {
    const cartId = await makeCart("dora");
    await set(cartId, { address, saveForBuyer: true }, "dora");
    const [kept] = await saved("dora");
    await remove(kept.id, "dora", "dora");
    const own = () =>
      world.database.db
        .selectFrom("personalData")
        .select("erasedAt")
        .where("cartId", "=", cartId)
        .executeTakeFirstOrThrow();
    expect(await own()).toEqual({ erasedAt: null });
  });
});
