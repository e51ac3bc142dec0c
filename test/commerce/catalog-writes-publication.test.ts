/** Publishing and unpublishing products. A product that was ever published is archived instead of deleted. */
import { beforeAll, describe, expect, it } from "vitest";
import { setPrices } from "#commerce/catalog/set-prices.ts";
import { createProduct, updateProduct } from "#commerce/catalog/change-product.ts";
import {
  deleteOrArchiveProduct,
  publishProduct,
  unpublishProduct,
} from "#commerce/catalog/publish-product.ts";
import { upsertProductTranslation } from "#commerce/catalog/product-texts.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import {
  createWorld,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  startOfWorld,
  type World,
} from "./writes-world.ts";

const size = {
  code: "size",
  names: [{ locale: "de", text: "Größe" }],
  choices: [
    { code: "s", labels: [{ locale: "de", text: "Klein" }] },
    { code: "l", labels: [{ locale: "de", text: "Groß" }] },
  ],
};

describeOnPostgres("a product's life", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const productRow = (id: string) =>
    world.db.selectFrom("product").selectAll().where("id", "=", id).executeTakeFirst();
  const slugsOf = async (productId: string) =>
    (
      await world.db
        .selectFrom("productSlug")
        .select("slug")
        .where("productId", "=", productId)
        .orderBy("slug")
        .execute()
    ).map(({ slug }) => slug);

  describe("productPublish and productUnpublish", () => {
    it("requires texts in the merchant's locale, a variant and a price, or names each", async () => {
      const productId = await makeProduct(world, {
        translations: [{ locale: "fr", slug: fresh("tasse"), title: "Tasse" }],
      });
      const missing = async () => (await world.refusal(publishProduct, { productId })).conflict;
      expect(await world.refusal(publishProduct, { productId })).toEqual({
        code: "invalid_state",
        details: [],
        conflict: {
          resource: "product",
          id: productId,
          currentStatus: "draft",
          currentVersion: 1,
          reason: "missing_default_translation",
          data: {
            missing: ["missing_default_translation", "missing_variant", "missing_price"],
            defaultLocale: "de",
          },
        },
      });
      await world.run(upsertProductTranslation, {
        productId,
        locale: "de",
        slug: fresh("tasse"),
        title: "Tasse",
      });
      expect(await missing()).toMatchObject({
        reason: "missing_variant",
        data: { missing: ["missing_variant", "missing_price"] },
      });
      const { variantId } = await world.run(upsertVariant, { productId, sku: fresh("P"), options: [] });
      await world.run(setPrices, { prices: [{ variantId, marketId: world.europe, amountMinor: 5 }] });
      await world.run(
        setPrices,
        { prices: [{ variantId, marketId: world.europe, amountMinor: null }] },
        world.later(1000),
      );
      expect(await missing()).toMatchObject({
        reason: "missing_price",
        data: { missing: ["missing_price"] },
      });
      await world.run(
        setPrices,
        { prices: [{ variantId, marketId: world.europe, amountMinor: 5 }] },
        world.later(2000),
      );
      await world.run(publishProduct, { productId }, world.later(3000));
      expect(world.takeIndexed()).toEqual([[productId]]);
      expect(await productRow(productId)).toMatchObject({
        status: "published",
        publishedAt: new Date("2026-03-01T12:00:03.000Z"),
      });
    });

    it("unpublishing makes a draft again, keeps the first publication's date, and reindexes", async () => {
      const { productId } = await makePublished(world);
      expect(
        await countVersionRises(world, productId, () => world.run(unpublishProduct, { productId })),
      ).toEqual({
        product: 1,
        catalog: 1,
      });
      expect(world.takeIndexed()).toEqual([[productId]]);
      await world.run(publishProduct, { productId }, world.later(60_000));
      expect(world.takeIndexed()).toEqual([[productId]]);
      expect(await productRow(productId)).toMatchObject({ status: "published", publishedAt: startOfWorld });
    });

    it("changes nothing if the product already has the status", async () => {
      const { productId } = await makePublished(world);
      expect(
        await countVersionRises(world, productId, () => world.run(publishProduct, { productId })),
      ).toEqual({
        product: 0,
        catalog: 0,
      });
      await world.run(unpublishProduct, { productId });
      expect(
        await countVersionRises(world, productId, () => world.run(unpublishProduct, { productId })),
      ).toEqual({
        product: 0,
        catalog: 0,
      });
    });

    it("refuses a wrong expected version", async () => {
      const { productId } = await makePublished(world);
      for (const verb of [publishProduct, unpublishProduct]) {
        expect(await world.refusal(verb, { productId, expectedVersion: 99 })).toMatchObject({
          code: "version_conflict",
          conflict: { currentStatus: "published", currentVersion: 4 },
        });
      }
    });
  });

  describe("productDelete", () => {
    it("deletes a draft that was never published, with everything that belongs to it", async () => {
      const slug = fresh("weg");
      const productId = await makeProduct(world, {
        translations: [{ locale: "de", slug, title: "Weg" }],
        options: [size],
      });
      await world.run(upsertVariant, {
        productId,
        sku: fresh("W"),
        options: [{ option: "size", choice: "s" }],
      });
      expect(await world.run(deleteOrArchiveProduct, { productId })).toEqual({ productId, archived: false });
      expect(await productRow(productId)).toBeUndefined();
      expect(await slugsOf(productId)).toEqual([]);
      await makeProduct(world, { translations: [{ locale: "de", slug, title: "Neu" }] });
    });

    it("archives a product that was published, and keeps its slug reserved", async () => {
      const { productId } = await makePublished(world);
      await world.run(unpublishProduct, { productId });
      expect(await world.run(deleteOrArchiveProduct, { productId })).toEqual({ productId, archived: true });
      expect(await productRow(productId)).toMatchObject({ status: "archived", version: 6 });
      const [slug = ""] = await slugsOf(productId);
      expect(
        await world.refusal(createProduct, { translations: [{ locale: "de", slug, title: "Neu" }] }),
      ).toMatchObject({ code: "already_exists" });
      for (const verb of [updateProduct, publishProduct, deleteOrArchiveProduct]) {
        expect(await world.refusal<{ productId: string }, unknown>(verb, { productId })).toEqual({
          code: "invalid_state",
          details: [],
          conflict: {
            resource: "product",
            id: productId,
            currentStatus: "archived",
            currentVersion: 6,
            reason: "product_archived",
            data: {},
          },
        });
      }
      await world.run(unpublishProduct, { productId });
      expect(await productRow(productId)).toMatchObject({ status: "draft", version: 7 });
    });

    it("refuses a published product with any expected version, and a draft with a wrong one", async () => {
      const { productId } = await makePublished(world);
      expect(await world.refusal(deleteOrArchiveProduct, { productId, expectedVersion: 99 })).toMatchObject({
        code: "invalid_state",
        conflict: { reason: "product_published", currentStatus: "published" },
      });
      expect(
        await world.refusal(deleteOrArchiveProduct, {
          productId: await makeProduct(world),
          expectedVersion: 99,
        }),
      ).toMatchObject({
        code: "version_conflict",
      });
    });
  });
});
