/** Products: what merchants can create and change, and that a slug names one product forever. */
import { beforeAll, describe, expect, it } from "vitest";
import { upsertCategory } from "#commerce/catalog/change-category.ts";
import { createProduct, updateProduct } from "#commerce/catalog/change-product.ts";
import { upsertProductTranslation } from "#commerce/catalog/product-texts.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { describeOnBoth } from "#test/support/databases.ts";
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

describeOnBoth("products", (open) => {
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

  describe("productCreate", () => {
    it("creates a draft with texts, options, attributes and categories", async () => {
      const { categoryId } = await world.run(upsertCategory, {
        slug: fresh("kitchen"),
        names: [{ locale: "de", text: "Küche" }],
      });
      const slug = fresh("becher");
      const { productId } = await world.run(createProduct, {
        brand: "Ton",
        rating: { average: 4.5, count: 12 },
        attributes: [
          {
            code: "material",
            names: [{ locale: "de", text: "Material" }],
            value: ["Ton", "Holz"],
            unit: null,
          },
        ],
        options: [size],
        categoryIds: [categoryId],
        translations: [
          {
            locale: "de",
            slug,
            title: "Becher",
            summary: "Zum Trinken",
            description: "# Becher\n\nZum Trinken",
            seoTitle: "Becher",
          },
          { locale: "EN-us", slug, title: "Mug" },
        ],
      });
      expect(await productRow(productId)).toMatchObject({
        status: "draft",
        brand: "Ton",
        ratingAverage: 4.5,
        ratingCount: 12,
        attributes: [{ code: "material", names: { de: "Material" }, value: ["Ton", "Holz"], unit: null }],
        version: 1,
        publishedAt: null,
        createdAt: startOfWorld,
      });
      const translations = await world.db
        .selectFrom("productTranslation")
        .select(["locale", "slug", "title", "description"])
        .where("productId", "=", productId)
        .orderBy("locale")
        .execute();
      expect(translations).toEqual([
        { locale: "de", slug, title: "Becher", description: "# Becher\n\nZum Trinken" },
        { locale: "en-US", slug, title: "Mug", description: null },
      ]);
      expect(await slugsOf(productId)).toEqual([slug]);
      expect(
        await world.db
          .selectFrom("productOption")
          .select(["code", "names", "choices"])
          .where("productId", "=", productId)
          .execute(),
      ).toEqual([
        {
          code: "size",
          names: { de: "Größe" },
          choices: [
            { code: "s", labels: { de: "Klein" } },
            { code: "l", labels: { de: "Groß" } },
          ],
        },
      ]);
      expect(
        await world.db
          .selectFrom("productCategory")
          .select("categoryId")
          .where("productId", "=", productId)
          .execute(),
      ).toEqual([{ categoryId }]);
      expect(world.takeIndexed()).toEqual([]);
    });

    it("raises the catalog's version by one", async () => {
      expect(await countVersionRises(world, "", () => makeProduct(world))).toEqual({
        product: 0,
        catalog: 1,
      });
    });

    it.each([
      [{ translations: [] }, ["body /translations too_short"]],
      [
        {
          brand: "a\u0000b",
          rating: { average: 5.1, count: -1 },
          translations: [{ locale: "no locale", slug: "Nicht so", title: " ", summary: "x".repeat(301) }],
        },
        [
          "body /brand control_character",
          "body /rating/average too_large",
          "body /rating/count too_small",
          "body /translations/0/locale invalid_locale",
          "body /translations/0/slug pattern_mismatch",
          "body /translations/0/title too_short",
          "body /translations/0/summary too_long",
        ],
      ],
      [
        {
          translations: [
            { locale: "de-at", slug: "a", title: "A" },
            { locale: "de-AT", slug: "b", title: "two\nlines" },
          ],
        },
        ["body /translations/1/title control_character", "body /translations/1/locale duplicate"],
      ],
      [
        {
          translations: [{ locale: "de", slug: "a", title: "A" }],
          options: [{ ...size, choices: [] }, size],
        },
        ["body /options/0/choices too_short", "body /options/1/code duplicate"],
      ],
      [
        {
          translations: [{ locale: "de", slug: "a", title: "A" }],
          attributes: [{ code: "Power!", names: [], value: { watts: 3 } as unknown as string }],
        },
        [
          "body /attributes/0/code pattern_mismatch",
          "body /attributes/0/names too_short",
          "body /attributes/0/value wrong_type",
        ],
      ],
    ])("refuses input that is out of bounds, with all faults at once: %#", async (input, details) => {
      expect(await world.refusal(createProduct, input)).toEqual({
        code: "invalid_field",
        details,
        conflict: null,
      });
    });

    it("refuses a category of another merchant as not found", async () => {
      const { categoryId } = await world.run(
        upsertCategory,
        { slug: fresh("foreign"), names: [{ locale: "de", text: "Fremd" }] },
        world.other,
      );
      const input = {
        translations: [{ locale: "de", slug: fresh("x"), title: "X" }],
        categoryIds: [categoryId, "\u0000"],
      };
      expect(await world.refusal(createProduct, input)).toEqual({
        code: "resource_not_found",
        details: ["body /categoryIds/0 resource_not_found", "body /categoryIds/1 resource_not_found"],
        conflict: null,
      });
    });

    it("refuses an unknown merchant", async () => {
      const unknown = { ...world.context, merchantId: "mer_nobody" };
      expect(
        await world.refusal(
          createProduct,
          { translations: [{ locale: "de", slug: "x", title: "X" }] },
          unknown,
        ),
      ).toMatchObject({
        code: "merchant_not_found",
      });
    });
  });

  describe("productUpdate", () => {
    it("changes the given fields, keeps omitted fields, and clears null fields", async () => {
      const productId = await makeProduct(world, { brand: "Ton", rating: { average: 4, count: 1 } });
      await world.run(updateProduct, { productId, rating: null });
      expect(await productRow(productId)).toMatchObject({
        brand: "Ton",
        ratingAverage: null,
        ratingCount: null,
        version: 2,
      });
      await world.run(updateProduct, { productId, brand: null, attributes: [] });
      expect(await productRow(productId)).toMatchObject({ brand: null, attributes: [], version: 3 });
    });

    it("raises each version by exactly one, and not at all if nothing changed", async () => {
      const { categoryId } = await world.run(upsertCategory, {
        slug: fresh("c"),
        names: [{ locale: "de", text: "C" }],
      });
      const productId = await makeProduct(world, { brand: "Ton", options: [size] });
      const change = {
        productId,
        brand: "Stein",
        options: [{ ...size, names: [{ locale: "de", text: "Maß" }] }],
        categoryIds: [categoryId],
      };
      expect(await countVersionRises(world, productId, () => world.run(updateProduct, change))).toEqual({
        product: 1,
        catalog: 1,
      });
      expect(await countVersionRises(world, productId, () => world.run(updateProduct, change))).toEqual({
        product: 0,
        catalog: 0,
      });
    });

    it("reindexes a published product once, and a draft not at all", async () => {
      const { productId } = await makePublished(world);
      await world.run(updateProduct, { productId, brand: "Neu", categoryIds: [] });
      expect(world.takeIndexed()).toEqual([[productId]]);
      await world.run(updateProduct, { productId, brand: "Neu" });
      await world.run(updateProduct, { productId: await makeProduct(world), brand: "Neu" });
      expect(world.takeIndexed()).toEqual([]);
    });

    it("refuses a wrong expected version and reports the current version", async () => {
      const productId = await makeProduct(world);
      await world.run(updateProduct, { productId, brand: "A", expectedVersion: 1 });
      expect(await world.refusal(updateProduct, { productId, brand: "B", expectedVersion: 1 })).toEqual({
        code: "version_conflict",
        details: [],
        conflict: {
          resource: "product",
          id: productId,
          currentStatus: "draft",
          currentVersion: 2,
          reason: null,
          data: {},
        },
      });
    });

    it.each(["", "prd_nothing", "prd_\u0000"])("does not find %j", async (productId) => {
      expect(await world.refusal(updateProduct, { productId, brand: "B" })).toMatchObject({
        code: "product_not_found",
      });
    });

    it("does not find another merchant's product", async () => {
      const productId = await makeProduct(world, {}, world.other);
      expect(await world.refusal(updateProduct, { productId, brand: "B" })).toEqual({
        code: "product_not_found",
        details: [],
        conflict: null,
      });
    });

    it("refuses options that do not fit published variants, and ignores discontinued variants", async () => {
      const productId = await makeProduct(world, { options: [size] });
      const { variantId } = await world.run(upsertVariant, {
        productId,
        sku: fresh("O"),
        options: [{ option: "size", choice: "s" }],
      });
      expect(await world.refusal(updateProduct, { productId, options: [] })).toEqual({
        code: "still_in_use",
        details: [],
        conflict: {
          resource: "product",
          id: productId,
          currentStatus: "draft",
          currentVersion: 2,
          reason: "options_in_use",
          data: { variantIds: [variantId] },
        },
      });
      await world.run(upsertVariant, {
        productId,
        variantId,
        sku: fresh("O"),
        options: [{ option: "size", choice: "s" }],
        discontinued: true,
      });
      await world.run(updateProduct, { productId, options: [] });
      expect(await productRow(productId)).toMatchObject({ version: 4 });
    });
  });

  describe("productTranslationUpsert", () => {
    it("adds and replaces a translation, and keeps an omitted slug", async () => {
      const [first, second] = [fresh("a"), fresh("b")];
      const productId = await makeProduct(world, {
        translations: [{ locale: "de", slug: first, title: "A", summary: "Alt" }],
      });
      await world.run(upsertProductTranslation, { productId, locale: "de", slug: second, title: "B" });
      expect(await slugsOf(productId)).toEqual([first, second]);
      expect(
        await world.db
          .selectFrom("productTranslation")
          .select(["slug", "title", "summary"])
          .where("productId", "=", productId)
          .execute(),
      ).toEqual([{ slug: second, title: "B", summary: null }]);
      await world.run(upsertProductTranslation, { productId, locale: "de", slug: first, title: "B" });
      await world.run(upsertProductTranslation, { productId, locale: "fr", slug: first, title: "B" });
      expect(await slugsOf(productId)).toEqual([first, second]);
    });

    it("raises no version if nothing changed", async () => {
      const translation = { locale: "de", slug: fresh("gleich"), title: "Gleich", summary: null };
      const productId = await makeProduct(world, { translations: [translation] });
      expect(
        await countVersionRises(world, productId, () =>
          world.run(upsertProductTranslation, { productId, ...translation }),
        ),
      ).toEqual({
        product: 0,
        catalog: 0,
      });
      expect(
        await countVersionRises(world, productId, () =>
          world.run(upsertProductTranslation, { productId, ...translation, title: "Neu" }),
        ),
      ).toEqual({
        product: 1,
        catalog: 1,
      });
    });

    it("refuses a slug that another product has or had", async () => {
      const [left, used] = [fresh("left"), fresh("used")];
      const owner = await makeProduct(world, { translations: [{ locale: "de", slug: left, title: "A" }] });
      await world.run(upsertProductTranslation, { productId: owner, locale: "de", slug: used, title: "A" });
      const productId = await makeProduct(world);
      for (const slug of [left, used]) {
        expect(
          await world.refusal(upsertProductTranslation, { productId, locale: "de", slug, title: "B" }),
        ).toEqual({
          code: "already_exists",
          details: ["body /slug already_exists"],
          conflict: {
            resource: "product",
            id: owner,
            currentStatus: null,
            currentVersion: null,
            reason: "slug_taken",
            data: { slugs: [slug] },
          },
        });
      }
      expect(
        await world.refusal(createProduct, {
          translations: [
            { locale: "de", slug: fresh("frei"), title: "C" },
            { locale: "fr", slug: left, title: "C" },
          ],
        }),
      ).toMatchObject({
        code: "already_exists",
        details: ["body /translations/1/slug already_exists"],
      });
      await makeProduct(world, { translations: [{ locale: "de", slug: left, title: "A" }] }, world.other);
    });

    it("refuses a text with forbidden characters", async () => {
      const productId = await makeProduct(world);
      expect(
        await world.refusal(upsertProductTranslation, {
          productId,
          locale: "de",
          slug: fresh("x"),
          title: "\ud800",
          description: "a\u0007",
        }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /title control_character", "body /description control_character"],
        conflict: null,
      });
    });
  });
});
