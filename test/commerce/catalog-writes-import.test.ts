/**
 * Imports many products in one call. Each item succeeds or fails alone, with the same result as the single
 * mutations.
 */
import { beforeAll, expect, it } from "vitest";
import { upsertCategory } from "#commerce/catalog/change-category.ts";
import { importProducts, type ProductImportResult } from "#commerce/catalog/import-products.ts";
import type { ProductImportItem } from "#commerce/catalog/import-fields.ts";
import { deleteOrArchiveProduct, unpublishProduct } from "#commerce/catalog/publish-product.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import {
  createWorld,
  fresh,
  makeProduct,
  makePublished,
  countVersionRises,
  type World,
} from "./writes-world.ts";

const idOf = (results: readonly ProductImportResult[], index = 0): string => results[index]?.productId ?? "";

/** A complete product on sale. */
const mug = (): ProductImportItem => ({
  translations: [{ locale: "de", slug: fresh("becher"), title: "Becher" }],
  variants: [
    {
      sku: fresh("MUG"),
      options: [],
      onHand: 12,
      prices: [{ marketHandle: "europe", amountMinor: 1200, currency: "EUR" }],
    },
  ],
  status: "published",
});

const colors = ["red", "blue"];
const color = {
  code: "color",
  names: [{ locale: "de", text: "Farbe" }],
  choices: colors.map((code) => ({ code, labels: [{ locale: "de", text: code }] })),
};

const size = (choice: string) => [{ option: "size", choice }];

describeOnPostgres("productsImport", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const load = async (items: ProductImportItem[], context = world.context): Promise<ProductImportResult[]> =>
    (await world.run(importProducts, { items }, context)).results;

  const stockOf = (productId: string) =>
    world.db
      .selectFrom("stockLevel")
      .innerJoin("variant", "variant.id", "stockLevel.variantId")
      .select(["sku", "onHand"])
      .where("variant.productId", "=", productId)
      .orderBy("sku")
      .execute();

  const movementsOf = (productId: string) =>
    world.db
      .selectFrom("stockMovement")
      .innerJoin("variant", "variant.id", "stockMovement.variantId")
      .select(["delta", "onHandAfter", "reason"])
      .where("variant.productId", "=", productId)
      .orderBy("stockMovement.id")
      .execute();

  it("creates a complete product: texts, categories, options, variants, prices and stock", async () => {
    const slug = fresh("kueche");
    await world.run(upsertCategory, { slug, names: [{ locale: "de", text: "Küche" }] });
    const [small, large] = [fresh("IMP"), fresh("IMP")];
    world.takeIndexed();
    const results = await load([
      {
        ...mug(),
        brand: "Ton",
        categorySlugs: [slug],
        options: [
          {
            code: "size",
            names: [{ locale: "de", text: "Größe" }],
            choices: ["s", "l"].map((code) => ({ code, labels: [{ locale: "de", text: code }] })),
          },
        ],
        variants: [
          {
            sku: small,
            options: size("s"),
            onHand: 3,
            prices: [{ marketHandle: "europe", amountMinor: 900 }],
          },
          {
            sku: large,
            options: size("l"),
            prices: [{ marketHandle: "america", amountMinor: 1100, compareAtMinor: 1300 }],
          },
        ],
      },
    ]);
    const productId = idOf(results);
    expect(results).toEqual([{ index: 0, status: "created", productId, error: null }]);
    expect(
      await world.db
        .selectFrom("product")
        .select(["status", "brand", "version"])
        .where("id", "=", productId)
        .executeTakeFirst(),
    ).toEqual({
      status: "published",
      brand: "Ton",
      version: 1,
    });
    expect(await stockOf(productId)).toEqual([
      { sku: small, onHand: 3 },
      { sku: large, onHand: 0 },
    ]);
    expect(await movementsOf(productId)).toEqual([{ delta: 3, onHandAfter: 3, reason: "received" }]);
    expect(world.takeIndexed()).toEqual([[productId]]);
  });

  it("finds a product by any of its slugs or SKUs, and does not change what the item omits", async () => {
    const item = mug();
    const productId = idOf(await load([item]));
    const [variant] = item.variants;
    const again = [{ sku: variant?.sku.toLowerCase() ?? "", options: [], onHand: 10 }];
    expect(
      await countVersionRises(world, productId, async () =>
        expect((await load([{ translations: [], variants: again }]))[0]?.status).toBe("updated"),
      ),
    ).toEqual({
      product: 1,
      catalog: 1,
    });
    expect(await movementsOf(productId)).toEqual([
      { delta: 12, onHandAfter: 12, reason: "received" },
      { delta: -2, onHandAfter: 10, reason: "correction" },
    ]);
    const [translation] = item.translations;
    const renamed = [{ locale: "de", slug: translation?.slug ?? "", title: "Tasse" }];
    expect(idOf(await load([{ translations: renamed, variants: [], status: "draft" }]))).toBe(productId);
    expect(
      await world.db.selectFrom("product").select("status").where("id", "=", productId).executeTakeFirst(),
    ).toEqual({ status: "draft" });
    expect(await stockOf(productId)).toHaveLength(1);
  });

  it("changes no version and reindexes nothing if imported twice, unless the stock differs", async () => {
    const item = mug();
    const productId = idOf(await load([item]));
    world.takeIndexed();
    expect(await countVersionRises(world, productId, () => load([item]))).toEqual({ product: 0, catalog: 0 });
    expect(world.takeIndexed()).toEqual([]);
    const counted = {
      ...item,
      variants: item.variants.map(({ sku, options }) => ({ sku, options, onHand: 1 })),
    };
    expect(await countVersionRises(world, productId, () => load([counted]))).toEqual({
      product: 0,
      catalog: 0,
    });
    expect(world.takeIndexed()).toEqual([[productId]]);
  });

  it("imports the valid items and reports a reason for each invalid item", async () => {
    const { productId: taken } = await makePublished(world);
    const [{ slug } = { slug: "" }] = await world.db
      .selectFrom("productSlug")
      .select("slug")
      .where("productId", "=", taken)
      .execute();
    const [{ sku } = { sku: "" }] =
      (await makePublished(world).then(({ productId }) => stockOf(productId))) ?? [];
    const archived = await makePublished(world);
    await world.run(unpublishProduct, { productId: archived.productId });
    await world.run(deleteOrArchiveProduct, { productId: archived.productId });
    const [archivedVariant] = await stockOf(archived.productId);
    const unpriced = mug();
    const bad: [ProductImportItem, Record<string, unknown>][] = [
      [
        { translations: [], variants: [] },
        { code: "invalid_field", details: [{ field: "", code: "too_short" }] },
      ],
      [
        { ...mug(), brand: "\u0000" },
        { code: "invalid_field", details: [{ field: "/brand", code: "control_character" }] },
      ],
      [
        { translations: [], variants: [{ sku: fresh("NEW"), options: [] }] },
        { code: "invalid_field", details: [{ field: "/translations", code: "too_short" }] },
      ],
      [
        { ...mug(), variants: [{ sku: fresh("NEW"), options: [{ option: "size", choice: "s" }] }] },
        { code: "invalid_field", details: [{ field: "/variants/0/options", code: "options_mismatch" }] },
      ],
      [
        { ...mug(), categorySlugs: ["nowhere"] },
        { code: "resource_not_found", details: [{ field: "/categorySlugs/0" }] },
      ],
      [
        {
          ...mug(),
          variants: [{ sku: fresh("NEW"), options: [], prices: [{ marketHandle: "asia", amountMinor: 1 }] }],
        },
        { code: "resource_not_found", details: [{ field: "/variants/0/prices/0/marketHandle" }] },
      ],
      [
        {
          ...mug(),
          variants: [
            {
              sku: fresh("NEW"),
              options: [],
              prices: [{ marketHandle: "america", amountMinor: 1, currency: "EUR" }],
            },
          ],
        },
        {
          code: "invalid_field",
          details: [{ field: "/variants/0/prices/0/currency", code: "currency_mismatch" }],
        },
      ],
      [
        { translations: [{ locale: "de", slug, title: "T" }], variants: [{ sku, options: [] }] },
        { code: "already_exists", conflict: { reason: "several_products" } },
      ],
      [
        { ...unpriced, variants: [{ sku: fresh("NEW"), options: [] }] },
        { code: "invalid_state", conflict: { reason: "missing_price" } },
      ],
      [
        { translations: [], variants: [{ sku: archivedVariant?.sku ?? "", options: [] }] },
        { code: "invalid_state", conflict: { reason: "product_archived", currentStatus: "archived" } },
      ],
      [
        { ...mug(), variants: ["Same", "SAME"].map((same) => ({ sku: same, options: [] })) },
        { code: "invalid_field", details: [{ field: "/variants/1/sku" }] },
      ],
    ];
    const before = await world.db
      .selectFrom("product")
      .select((row) => row.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    world.takeIndexed();
    const results = await load([mug(), ...bad.map(([item]) => item), mug()]);
    const after = await world.db
      .selectFrom("product")
      .select((row) => row.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    expect(results.map(({ index }) => index)).toEqual(results.map((_, index) => index));
    expect(results.map(({ status }) => status)).toEqual(["created", ...bad.map(() => "failed"), "created"]);
    for (const [index, [, error]] of bad.entries())
      expect(results[index + 1]).toMatchObject({ status: "failed", productId: null, error });
    expect(after.count - before.count).toBe(2);
    expect(world.takeIndexed()).toEqual([[idOf(results), idOf(results, bad.length + 1)].toSorted()]);
    expect(
      await world.db
        .selectFrom("productSlug")
        .select("slug")
        .where("slug", "=", unpriced.translations[0]?.slug ?? "")
        .execute(),
    ).toEqual([]);
  });

  it("refuses options that do not fit variants that the item omits", async () => {
    const productId = await makeProduct(world, { options: [color] });
    const { variantId } = await world.run(upsertVariant, {
      productId,
      sku: fresh("FIT"),
      options: [{ option: "color", choice: "red" }],
    });
    const [{ slug } = { slug: "" }] = await world.db
      .selectFrom("productSlug")
      .select("slug")
      .where("productId", "=", productId)
      .execute();
    const [result] = await load([
      { translations: [{ locale: "de", slug, title: "T" }], variants: [], options: [] },
    ]);
    expect(result?.error).toMatchObject({
      code: "still_in_use",
      conflict: { reason: "options_in_use", data: { variantIds: [variantId] } },
    });
    expect(
      await world.db.selectFrom("productOption").select("code").where("productId", "=", productId).execute(),
    ).toEqual([{ code: "color" }]);
  });

  it("refuses stock below the promised quantity", async () => {
    const item = mug();
    const productId = idOf(await load([item]));
    await world.db
      .updateTable("stockLevel")
      .set({ reserved: 5 })
      .where("merchantId", "=", "mer_one")
      .where("onHand", "=", 12)
      .execute();
    const [result] = await load([
      {
        ...item,
        brand: "Neu",
        variants: item.variants.map(({ sku, options }) => ({ sku, options, onHand: 4 })),
      },
    ]);
    expect(result?.error).toMatchObject({
      code: "invalid_state",
      conflict: { reason: "insufficient_stock", data: { onHand: 12, reserved: 5, asked: 4 } },
    });
    expect(
      await world.db.selectFrom("product").select("brand").where("id", "=", productId).executeTakeFirst(),
    ).toEqual({ brand: null });
  });

  it("lets two variants swap their options in one item", async () => {
    const item = {
      ...mug(),
      options: [color],
      variants: colors.map((choice) => ({
        sku: fresh("SWAP"),
        options: [{ option: "color", choice }],
        prices: [{ marketHandle: "europe", amountMinor: 1 }],
      })),
    };
    const productId = idOf(await load([item]));
    const swapped = item.variants.map(({ sku }, index) => ({
      sku,
      options: [{ option: "color", choice: colors[1 - index] ?? "" }],
    }));
    expect((await load([{ ...item, variants: swapped }]))[0]?.error).toBeNull();
    const rows = await world.db
      .selectFrom("variant")
      .select("options")
      .where("productId", "=", productId)
      .orderBy("position")
      .execute();
    expect(rows.map(({ options }) => options)).toEqual([{ color: "blue" }, { color: "red" }]);
  });

  it("raises a product's version by one if two items change it", async () => {
    const item = mug();
    const productId = idOf(await load([item]));
    const work = () =>
      load([
        { ...item, brand: "A" },
        { ...item, brand: "B" },
      ]);
    expect(await countVersionRises(world, productId, work)).toEqual({ product: 1, catalog: 1 });
    const twice = mug();
    const results = await load([twice, { ...twice, brand: "C" }]);
    expect(results.map(({ status }) => status)).toEqual(["created", "updated"]);
    expect(
      await world.db
        .selectFrom("product")
        .select(["version", "brand"])
        .where("id", "=", idOf(results))
        .executeTakeFirst(),
    ).toEqual({
      version: 1,
      brand: "C",
    });
  });

  it("does not change products of other merchants", async () => {
    const item = mug();
    const mine = idOf(await load([item]));
    const theirs = idOf(await load([item], world.other));
    expect(theirs).not.toBe(mine);
    expect(theirs).not.toBe("");
  });

  it("refuses an empty list, more than 500 items, and an unknown merchant", async () => {
    expect(await world.refusal(importProducts, { items: [] })).toMatchObject({
      code: "invalid_field",
      details: ["body /items too_short"],
    });
    const many = Array.from({ length: 501 }, () => ({ translations: [], variants: [] }));
    expect(await world.refusal(importProducts, { items: many })).toMatchObject({
      code: "invalid_field",
      details: ["body /items too_long"],
    });
    expect(
      await world.refusal(importProducts, { items: [mug()] }, { ...world.context, merchantId: "mer_nobody" }),
    ).toMatchObject({
      code: "merchant_not_found",
    });
  });

  it("imports 500 items at once", async () => {
    await makeProduct(world);
    const results = await load(Array.from({ length: 500 }, () => mug()));
    expect(results.filter(({ status }) => status === "created")).toHaveLength(500);
    expect(world.takeIndexed().at(-1)).toHaveLength(500);
  });
});
