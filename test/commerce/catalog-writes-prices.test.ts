/** Prices: each variant has one open price per market, and the price history keeps every row. */
import { beforeAll, describe, expect, it } from "vitest";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { deleteOrArchiveProduct, unpublishProduct } from "#commerce/catalog/publish-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import {
  createWorld,
  europeInput,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  startOfWorld,
  type World,
} from "./writes-world.ts";

describeOnPostgres("prices", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const historyOf = (variantId: string) =>
    world.db
      .selectFrom("price")
      .select(["marketId", "amountMinor", "compareAtMinor", "validFrom", "validUntil"])
      .where("variantId", "=", variantId)
      .orderBy("marketId")
      .orderBy("validFrom")
      .execute();

  describe("pricesSet", () => {
    it("starts prices, ends each when the next begins, and does not change an equal price", async () => {
      const productId = await makeProduct(world);
      const { variantId } = await world.run(upsertVariant, { productId, sku: fresh("P"), options: [] });
      const prices = [
        { variantId, marketId: world.europe, amountMinor: 1999, compareAtMinor: 2499, currency: "EUR" },
        { variantId, marketId: world.america, amountMinor: 2199 },
      ];
      expect(await world.run(setPrices, { prices })).toEqual({ productIds: [productId] });
      expect(
        await countVersionRises(world, productId, () => world.run(setPrices, { prices }, world.later(500))),
      ).toEqual({ product: 0, catalog: 0 });
      expect(await world.run(setPrices, { prices }, world.later(500))).toEqual({ productIds: [] });
      const reduced = [
        { variantId, marketId: world.europe, amountMinor: 1499, compareAtMinor: 1999 },
        prices[1] ?? [],
      ].flat();
      expect(
        await countVersionRises(world, productId, () =>
          world.run(setPrices, { prices: reduced }, world.later(1000)),
        ),
      ).toEqual({ product: 1, catalog: 1 });
      const [america, ...europe] = (await historyOf(variantId)).toSorted((a) =>
        a.marketId === world.america ? -1 : 1,
      );
      expect(america).toMatchObject({
        marketId: world.america,
        amountMinor: 2199,
        compareAtMinor: null,
        validFrom: startOfWorld,
        validUntil: null,
      });
      const then = new Date("2026-03-01T12:00:01.000Z");
      expect(europe).toEqual([
        {
          marketId: world.europe,
          amountMinor: 1999,
          compareAtMinor: 2499,
          validFrom: startOfWorld,
          validUntil: then,
        },
        {
          marketId: world.europe,
          amountMinor: 1499,
          compareAtMinor: 1999,
          validFrom: then,
          validUntil: null,
        },
      ]);
    });

    it("gives each row a separate period if prices change repeatedly within a millisecond", async () => {
      const { variantId } = await makePublished(world);
      const set = (amountMinor: number | null) =>
        world.run(setPrices, { prices: [{ variantId, marketId: world.europe, amountMinor }] });
      await set(900);
      await set(null);
      await set(800);
      await set(700);
      const history = await historyOf(variantId);
      expect(history.map(({ amountMinor }) => amountMinor)).toEqual([1000, 900, 800, 700]);
      expect(history.map(({ validFrom }) => validFrom.getTime() - startOfWorld.getTime())).toEqual([
        0, 1, 2, 3,
      ]);
      expect(history.map(({ validUntil }) => validUntil === null)).toEqual([false, false, false, true]);
    });

    it("raises each product's version once, and reindexes the published products in one call", async () => {
      const [one, two] = [await makePublished(world), await makePublished(world)];
      const draft = await makeProduct(world);
      const { variantId } = await world.run(upsertVariant, {
        productId: draft,
        sku: fresh("P"),
        options: [],
      });
      const prices = [one.variantId, two.variantId, variantId].map((id) => ({
        variantId: id,
        marketId: world.america,
        amountMinor: 10,
      }));
      const set = () => world.run(setPrices, { prices });
      expect(await countVersionRises(world, two.productId, set)).toEqual({ product: 1, catalog: 1 });
      expect(world.takeIndexed()).toEqual([[one.productId, two.productId].toSorted()]);
    });

    it("accepts the largest possible amount", async () => {
      const { variantId } = await makePublished(world);
      await world.run(setPrices, {
        prices: [{ variantId, marketId: world.america, amountMinor: Number.MAX_SAFE_INTEGER }],
      });
      expect(
        (await historyOf(variantId)).some(({ amountMinor }) => amountMinor === Number.MAX_SAFE_INTEGER),
      ).toBe(true);
    });

    it("refuses amounts out of bounds, another currency and duplicates", async () => {
      const { variantId } = await makePublished(world);
      const price = { variantId, marketId: world.europe };
      const prices = [
        { ...price, amountMinor: -1 },
        { ...price, amountMinor: 2 ** 53, currency: "euro" },
        { ...price, amountMinor: 5, compareAtMinor: 5 },
        { ...price, amountMinor: null, compareAtMinor: 5 },
        { ...price, amountMinor: 1.5 },
      ];
      expect(await world.refusal(setPrices, { prices })).toEqual({
        code: "invalid_field",
        details: [
          "body /prices/0/amountMinor too_small",
          "body /prices/1/amountMinor too_large",
          "body /prices/1/currency pattern_mismatch",
          "body /prices/2/compareAtMinor out_of_range",
          "body /prices/3/compareAtMinor out_of_range",
          "body /prices/4/amountMinor wrong_type",
          "body /prices/1 duplicate",
          "body /prices/2 duplicate",
          "body /prices/3 duplicate",
          "body /prices/4 duplicate",
        ],
        conflict: null,
      });
      expect(
        await world.refusal(setPrices, { prices: [{ ...price, amountMinor: 5, currency: "USD" }] }),
      ).toMatchObject({
        code: "invalid_field",
        details: ["body /prices/0/currency currency_mismatch"],
      });
      expect(await world.refusal(setPrices, { prices: [] })).toMatchObject({
        details: ["body /prices too_short"],
      });
    });

    it("refuses variants and markets of another merchant, and then writes no price at all", async () => {
      const { variantId } = await makePublished(world);
      const prices = [
        { variantId, marketId: world.europe, amountMinor: 1 },
        { variantId, marketId: world.otherMarket, amountMinor: 1 },
        { variantId: "var_nothing", marketId: world.europe, amountMinor: 1 },
      ];
      expect(await world.refusal(setPrices, { prices })).toMatchObject({
        code: "resource_not_found",
        details: ["body /prices/2/variantId resource_not_found"],
      });
      expect(await world.refusal(setPrices, { prices: prices.slice(0, 2) })).toMatchObject({
        code: "resource_not_found",
        details: ["body /prices/1/marketId resource_not_found"],
      });
      expect(
        await world.refusal(
          setPrices,
          { prices: [{ variantId, marketId: world.otherMarket, amountMinor: 1 }] },
          world.other,
        ),
      ).toMatchObject({
        code: "resource_not_found",
      });
    });

    it("refuses prices of an archived product", async () => {
      const { productId, variantId } = await makePublished(world);
      await world.run(unpublishProduct, { productId });
      await world.run(deleteOrArchiveProduct, { productId });
      expect(
        await world.refusal(setPrices, { prices: [{ variantId, marketId: world.europe, amountMinor: 1 }] }),
      ).toMatchObject({
        code: "invalid_state",
        conflict: { reason: "product_archived" },
      });
    });

    it("refuses another currency for a market that has prices", async () => {
      await makePublished(world);
      expect(await world.refusal(upsertMarket, { ...europeInput, currency: "CHF" })).toMatchObject({
        code: "invalid_state",
        conflict: {
          resource: "market",
          id: world.europe,
          reason: "market_has_prices",
          data: { currency: "EUR" },
        },
      });
    });
  });
});
