/**
 * Concurrent catalog writes on PostgreSQL (PGlite has one connection): each change is complete, and none is
 * lost.
 */
import { beforeAll, expect, it } from "vitest";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { updateProduct } from "#commerce/catalog/change-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { Failure } from "#foundation/failure.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import {
  createWorld,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  type World,
} from "./writes-world.ts";

describeOnBoth("catalog writers at the same time", (open, engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: manyConnections }));
  });

  const historyOf = (variantId: string) =>
    world.db
      .selectFrom("price")
      .select(["marketId", "amountMinor", "compareAtMinor", "validFrom", "validUntil"])
      .where("variantId", "=", variantId)
      .orderBy("marketId")
      .orderBy("validFrom")
      .execute();

  it.runIf(engine === "postgres")(
    "two concurrent pricesSet calls leave one open price and a history without gaps",
    async () => {
      const { productId, variantId } = await makePublished(world);
      const set = (amountMinor: number) =>
        world.run(
          setPrices,
          { prices: [{ variantId, marketId: world.europe, amountMinor }] },
          world.later(amountMinor),
        );
      expect(await countVersionRises(world, productId, () => Promise.all([set(2000), set(3000)]))).toEqual({
        product: 2,
        catalog: 2,
      });
      const history = await historyOf(variantId);
      expect(history).toHaveLength(3);
      expect(history.filter(({ validUntil }) => validUntil === null)).toHaveLength(1);
      expect(history.slice(0, 2).map(({ validUntil }) => validUntil)).toEqual(
        history.slice(1).map(({ validFrom }) => validFrom),
      );
    },
  );

  it.runIf(engine === "postgres")(
    "exactly one of ten updates that expect the same version succeeds",
    async () => {
      const productId = await makeProduct(world);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 10 }, (_, index) =>
          world.run(updateProduct, { productId, brand: `B${index}`, expectedVersion: 1 }),
        ),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason as unknown] : [],
      );
      expect(refused.map((error) => (error instanceof Failure ? error.code : error))).toEqual(
        Array.from({ length: 9 }, () => "version_conflict"),
      );
      expect(
        await world.db.selectFrom("product").select("version").where("id", "=", productId).executeTakeFirst(),
      ).toEqual({ version: 2 });
    },
  );

  it.runIf(engine === "postgres")(
    "only one of two products gets a slug, and only one of two variants a SKU",
    async () => {
      const slug = fresh("begehrt");
      const products = await Promise.allSettled(
        [0, 1].map(() => makeProduct(world, { translations: [{ locale: "de", slug, title: "T" }] })),
      );
      expect(products.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const sku = fresh("begehrt");
      const ids = [await makeProduct(world), await makeProduct(world)];
      const variants = await Promise.allSettled(
        ids.map((productId) => world.run(upsertVariant, { productId, sku, options: [] })),
      );
      expect(variants.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
      const codes = [...products, ...variants].flatMap((outcome) =>
        outcome.status === "rejected" && outcome.reason instanceof Failure ? [outcome.reason.code] : [],
      );
      expect(codes).toEqual(["already_exists", "already_exists"]);
    },
  );
});
