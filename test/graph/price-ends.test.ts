/**
 * Prices with an end: the price before applies again from exactly the end on, everywhere, and the sweep
 * stores and publishes the change once.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { sweeps } from "#app/sweeps.ts";
import {
  askGraph,
  changeCart,
  eur,
  type GraphAnswer,
  makeCart,
  variantOf,
} from "#test/operations/cart-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createEventReader, type PublishedEvent } from "./event-calls.ts";

const hourMs = 3_600_000;
const sku = "KIT-KVERN";

describe("a price with an end", () => {
  const world = useWorld();
  let variantId: string;
  let marketId: string;
  let productId: string;
  /** The price without an end. */
  const base = { amountMinor: 8490, compareAtMinor: 9990 };

  const set = (
    price: Readonly<Record<string, unknown>>,
    token: "admin" | "storefront" | "analyst" = "admin",
  ): Promise<GraphAnswer> =>
    askGraph(
      world(),
      "mutation ($input: PricesSetInput!) { pricesSet(input: $input) { id } }",
      { input: { prices: [{ variantId, marketId, ...price }] } },
      { token },
    );
  const inOneHour = (hours = 1): Date => new Date(world().clock.now().getTime() + hours * hourMs);
  const sweep = async (): Promise<void> => {
    await sweeps
      .find(({ name }) => name === "end prices")
      ?.run(world().app.services, { now: world().clock.now(), signal: new AbortController().signal });
  };
  const history = async () =>
    (
      await world()
        .database.db.selectFrom("price")
        .select(["amountMinor", "validFrom", "validUntil"])
        .where("variantId", "=", variantId)
        .where("marketId", "=", marketId)
        .orderBy("validFrom")
        .execute()
    ).slice(-3);
  /** The price of the variant for staff, or undefined if it has none in the market. */
  const current = async () => {
    const { data } = await askGraph(
      world(),
      `query ($id: ID!) { product(id: $id) { variants { id prices { market { id } amount { amountMinor }
        compareAt { amountMinor } lowest30d { amountMinor } validFrom endsAt } } } }`,
      { id: productId },
      { token: "admin" },
    );
    const variant = data.variants.find(({ id }: { id: string }) => id === variantId);
    const price = variant.prices.find(({ market }: { market: { id: string } }) => market.id === marketId);
    return price && { ...price, market: undefined };
  };
  const inCart = async (): Promise<unknown> => {
    const { lines } = await makeCart(world(), { lines: { [sku]: 1 } });
    return lines[0].unitPrice.amountMinor;
  };
  const inSearch = async (): Promise<unknown> => {
    const path = "/api/v1/search?q=kvern&locale=de&market=DE&sort=relevance&page=1&pageSize=20";
    const { body } = await world().get(path);
    return body.data.find(({ id }: { id: string }) => id === productId).priceRange?.min.amountMinor;
  };
  const onPage = async (): Promise<unknown> => {
    const { slug } = world().demo.merchants.first;
    const { body } = await world().get(`/api/v1/catalog/merchants/${slug}/products/${await slugOf()}`);
    return body.data.variants
      .find((variant: { sku: string }) => variant.sku === sku)
      .offers.find(({ market }: { market: string }) => market === "DE")?.price.amountMinor;
  };
  const slugOf = async (): Promise<string> =>
    (
      await world()
        .database.db.selectFrom("productTranslation")
        .select("slug")
        .where("productId", "=", productId)
        .where("locale", "=", "de")
        .executeTakeFirstOrThrow()
    ).slug;

  /** The variant's price in an event's product. */
  const amountIn = (product: PublishedEvent["data"]["object"]): unknown =>
    product.variants
      .find(({ id }: { id: string }) => id === variantId)
      .prices.find(({ market }: { market: { id: string } }) => market.id === marketId).amount.amountMinor;

  beforeEach(async () => {
    const { db } = world().database;
    variantId = await variantOf(world(), sku);
    ({ productId } = await db
      .selectFrom("variant")
      .select("productId")
      .where("id", "=", variantId)
      .executeTakeFirstOrThrow());
    ({ id: marketId } = await db
      .selectFrom("market")
      .select("id")
      .where("handle", "=", "de")
      .where("merchantId", "=", world().demo.merchants.first.id)
      .executeTakeFirstOrThrow());
    world().clock.advance(hourMs);
    await set(base);
    world().clock.advance(hourMs);
  });

  it("applies until its end, exclusive, and then the price before applies everywhere at once", async () => {
    const [startedAt, endsAt] = [world().clock.now(), inOneHour()];
    expect((await set({ amountMinor: 5000, endsAt })).error).toBeUndefined();
    world().clock.at = new Date(endsAt.getTime() - 1);
    expect(await current()).toMatchObject({
      amount: { amountMinor: 5000 },
      compareAt: null,
      validFrom: startedAt.toISOString(),
      endsAt: endsAt.toISOString(),
    });
    expect([await onPage(), await inSearch(), await inCart()]).toEqual([5000, 5000, 5000]);
    const { id: cartId } = await makeCart(world(), { lines: { [sku]: 1 } });

    world().clock.at = endsAt;
    const atEnd = await current();
    expect(atEnd).toEqual({
      market: undefined,
      amount: { amountMinor: 8490 },
      compareAt: { amountMinor: 9990 },
      lowest30d: { amountMinor: 5000 },
      validFrom: endsAt.toISOString(),
      endsAt: null,
    });
    expect([await onPage(), await inSearch(), await inCart()]).toEqual([8490, 8490, 8490]);
    const changed = await changeCart(world(), "cartBuyerSet", { cartId, input: { email: "a@b.example" } });
    expect(changed.data.lines[0].unitPrice.amountMinor).toBe(8490);
    expect(changed.data.warnings).toMatchObject([{ code: "PRICE_CHANGED" }]);

    await sweep();
    expect(await current()).toEqual(atEnd);
    expect([await onPage(), await inSearch(), await inCart()]).toEqual([8490, 8490, 8490]);
    expect(await history()).toEqual([
      { amountMinor: 8490, validFrom: expect.any(Date), validUntil: startedAt },
      { amountMinor: 5000, validFrom: startedAt, validUntil: endsAt },
      { amountMinor: 8490, validFrom: endsAt, validUntil: null },
    ]);
  });

  it("is ended by the sweep once, with one event, one version and a new search index", async () => {
    const endsAt = inOneHour();
    await set({ amountMinor: 5000, endsAt });
    world().clock.at = new Date(endsAt.getTime() - 1);
    const listen = createEventReader(world());
    const offer = async () =>
      world()
        .database.db.selectFrom("searchOffer")
        .select("minMinor")
        .where("productId", "=", productId)
        .where("country", "=", "DE")
        .executeTakeFirstOrThrow();
    await sweep();
    expect([await listen(), await offer()]).toEqual([[], { minMinor: 5000 }]);
    world().clock.advance(30_000);
    await sweep();
    await sweep();
    expect(await offer()).toEqual({ minMinor: 8490 });
    const [event, ...others] = await listen();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: "product.price_changed",
      subject: { id: productId },
      cause: { actor: "system" },
    });
    expect(event?.data.previous.version).toBe(event?.data.object.version - 1);
    expect([amountIn(event?.data.previous), amountIn(event?.data.object)]).toEqual([5000, 8490]);
  });

  it("is followed by no price if there was none, and the product leaves the search", async () => {
    await set({ amountMinor: null });
    expect(await current()).toBeUndefined();
    const endsAt = inOneHour();
    await set({ amountMinor: 5000, endsAt });
    expect([await onPage(), await inCart()]).toEqual([5000, 5000]);
    world().clock.at = endsAt;
    expect([await current(), await onPage()]).toEqual([undefined, undefined]);
    await sweep();
    expect([await current(), await onPage()]).toEqual([undefined, undefined]);
    expect((await history()).at(-1)).toMatchObject({ amountMinor: 5000, validUntil: endsAt });
  });

  it("that replaces another price with an end is followed by the price without an end", async () => {
    await set({ amountMinor: 5000, endsAt: inOneHour() });
    world().clock.advance(60_000);
    const endsAt = inOneHour(3);
    await set({ amountMinor: 4000, endsAt });
    world().clock.advance(hourMs);
    expect([(await current()).amount.amountMinor, await inCart()]).toEqual([4000, 4000]);
    world().clock.at = endsAt;
    expect([(await current()).amount.amountMinor, await inCart()]).toEqual([8490, 8490]);
  });

  it("is replaced by a price without an end, which then stays", async () => {
    const endsAt = inOneHour();
    await set({ amountMinor: 5000, endsAt });
    world().clock.advance(60_000);
    await set({ amountMinor: 5000 });
    expect(await current()).toMatchObject({ amount: { amountMinor: 5000 }, endsAt: null });
    world().clock.at = endsAt;
    await sweep();
    expect((await current()).amount.amountMinor).toBe(5000);
  });

  it("set again after its end, before the sweep, has the price before in between", async () => {
    const endsAt = inOneHour();
    await set({ amountMinor: 5000, endsAt });
    world().clock.at = new Date(endsAt.getTime() + 1000);
    const again = world().clock.now();
    expect((await set({ amountMinor: 5000, endsAt: inOneHour() })).data).toEqual([{ id: productId }]);
    expect(await history()).toEqual([
      expect.objectContaining({ amountMinor: 5000, validUntil: endsAt }),
      { amountMinor: 8490, validFrom: endsAt, validUntil: again },
      { amountMinor: 5000, validFrom: again, validUntil: null },
    ]);
    world().clock.advance(2 * hourMs);
    expect((await current()).amount.amountMinor).toBe(8490);
  });

  it("is not changed by setting it again", async () => {
    const price = { amountMinor: 5000, endsAt: inOneHour() };
    expect((await set(price)).data).toEqual([{ id: productId }]);
    expect((await set(price)).data).toEqual([]);
    expect((await set({ ...price, endsAt: inOneHour(2) })).data).toEqual([{ id: productId }]);
  });

  it.each([
    ["now", { amountMinor: 5000 }, 0, "out_of_range", /"prices\[0\]\.endsAt" must be later than the present/],
    ["without a price", { amountMinor: null }, 1, "not_allowed", /only together with a price in amountMinor/],
  ])("is refused if it ends %s", async (_name, price, hours, code, message) => {
    const before = await history();
    const { error } = await set({ ...price, endsAt: inOneHour(hours) });
    expect(error).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/prices/0/endsAt", code, message: expect.stringMatching(message) }],
    });
    expect(await history()).toEqual(before);
  });

  it("is set only by staff of the merchant", async () => {
    for (const token of ["storefront", "analyst"] as const)
      expect((await set({ amountMinor: 5000, endsAt: inOneHour() }, token)).error.code).toBe(
        "role_not_allowed",
      );
    variantId = await variantOf(world(), "MR-PROBE");
    expect((await set({ amountMinor: 5000, endsAt: inOneHour() })).error.code).toBe("resource_not_found");
  });

  it("is in the price history with its end", async () => {
    const endsAt = inOneHour();
    await set({ amountMinor: 5000, endsAt });
    const { data } = await askGraph(
      world(),
      `query ($variantId: ID!, $marketId: ID!) { priceHistory(first: 2, variantId: $variantId, marketId:
        $marketId) { edges { node { amount { amountMinor currency exponent } validUntil endsAt } } } }`,
      { variantId, marketId },
      { token: "admin" },
    );
    expect(data.edges).toEqual([
      { node: { amount: eur(5000), validUntil: null, endsAt: endsAt.toISOString() } },
      { node: { amount: eur(8490), validUntil: world().clock.now().toISOString(), endsAt: null } },
    ]);
  });
});
