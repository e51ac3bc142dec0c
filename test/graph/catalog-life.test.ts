/** A product from draft to deletion: the merchant changes it over GraphQL, buyers read it over REST. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorld, type World } from "#test/support/world.ts";

const item = (slug: string, amountMinor: number) => ({
  status: "PUBLISHED",
  translations: [{ locale: "en", slug, title: `Imported ${slug}` }],
  variants: [{ sku: `IMP-${slug}`, options: [], onHand: 9, prices: [{ marketHandle: "de", amountMinor }] }],
});

describe("a product's life", () => {
  let world: World;
  let productId: string;
  let variantId: string;
  let marketId: string;
  beforeAll(async () => {
    world = await createWorld();
    const { body } = await world.graphql("{ markets { id handle } }");
    marketId = body.data.markets.find(({ handle }: { handle: string }) => handle === "de").id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const change = async (
    field: string,
    inputType: string,
    input: Record<string, unknown>,
    selection: string,
  ) => {
    // stockAdjust requires an idempotency key, and every mutation accepts one.
    const query = `mutation ($input: ${inputType}!, $key: String!) { ${field}(input: $input, idempotencyKey:
      $key) { ${selection} } }`;
    const { body } = await world.graphql(query, { variables: { input, key: randomUUID() } });
    return { data: body.data?.[field], error: body.errors?.[0]?.extensions };
  };
  const search = async (q: string): Promise<string[]> => {
    const { body } = await world.get(
      `/api/v1/search?q=${q}&locale=en&market=DE&sort=relevance&page=1&pageSize=10`,
    );
    return body.data.map(({ id }: { id: string }) => id);
  };
  const detail = (slug: string) =>
    world.get(`/api/v1/catalog/merchants/${world.demo.merchants.first.slug}/products/${slug}`);

  it("starts as a draft that buyers cannot find", async () => {
    const { data } = await change(
      "productCreate",
      "ProductCreateInput",
      {
        brand: "Zephyrine",
        translations: [{ locale: "en", slug: "zephyrine-kite", title: "Zephyrine kite" }],
      },
      "id status version",
    );
    expect(data).toMatchObject({ status: "DRAFT", version: 1 });
    productId = data.id;
    expect((await detail("zephyrine-kite")).body.error.code).toBe("product_not_found");
    expect(await search("zephyrine")).toEqual([]);
  });

  it("cannot be published without a variant and a price: the error names them", async () => {
    const { error } = await change("productPublish", "ProductTransitionInput", { productId }, "status");
    expect(error).toMatchObject({
      code: "invalid_state",
      conflict: { resource: "product", id: productId, currentStatus: "draft" },
    });
  });

  it("receives a variant, a price, a picture and stock", async () => {
    const made = await change(
      "variantUpsert",
      "VariantUpsertInput",
      { productId, sku: "ZEPH-1", options: [] },
      "variants { id }",
    );
    variantId = made.data.variants[0].id;
    const priced = await change(
      "pricesSet",
      "PricesSetInput",
      { prices: [{ variantId, marketId, amountMinor: 5000, currency: "EUR" }] },
      "variants { prices { amount { amountMinor currency } } }",
    );
    expect(priced.data[0].variants[0].prices).toEqual([{ amount: { amountMinor: 5000, currency: "EUR" } }]);
    const pictured = await change(
      "mediaAttach",
      "MediaAttachInput",
      {
        productId,
        type: "IMAGE",
        url: "https://pictures.example/kite.jpg",
        alts: [{ locale: "en", text: "A kite" }],
        width: 800,
        height: 600,
      },
      "media { url alts }",
    );
    expect(pictured.data.media).toEqual([
      { url: "https://pictures.example/kite.jpg", alts: { en: "A kite" } },
    ]);
    const stocked = await change(
      "stockAdjust",
      "StockAdjustInput",
      { variantId, delta: 3, reason: "RECEIVED" },
      "stock { onHand available } availability",
    );
    expect(stocked.data).toEqual({ stock: { onHand: 3, available: 3 }, availability: "LOW_STOCK" });
  });

  it("is found by buyers as soon as it is published", async () => {
    const { data } = await change("productPublish", "ProductTransitionInput", { productId }, "status");
    expect(data.status).toBe("PUBLISHED");
    expect(await search("zephyrine")).toEqual([productId]);
    const { status, body } = await detail("zephyrine-kite");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: productId,
      title: "Zephyrine kite",
      availability: "low_stock",
      priceRange: { min: { amountMinor: 5000, currency: "EUR", exponent: 2 } },
    });
    expect(body.data.variants[0].offers.map(({ market }: { market: string }) => market)).toEqual([
      "DE",
      "AT",
      "FR",
      "NL",
    ]);
  });

  it("returns the lowest price of the 30 days before a reduction", async () => {
    world.clock.advance(86_400_000);
    await change(
      "pricesSet",
      "PricesSetInput",
      { prices: [{ variantId, marketId, amountMinor: 4000, compareAtMinor: 5000 }] },
      "id",
    );
    const [offer] = (await detail("zephyrine-kite")).body.data.variants[0].offers;
    expect(offer).toMatchObject({
      price: { amountMinor: 4000 },
      compareAt: { amountMinor: 5000 },
      lowest30d: { amountMinor: 5000 },
    });
    world.clock.advance(40 * 86_400_000);
    await change(
      "pricesSet",
      "PricesSetInput",
      { prices: [{ variantId, marketId, amountMinor: 4500 }] },
      "id",
    );
    const [later] = (await detail("zephyrine-kite")).body.data.variants[0].offers;
    expect(later).toMatchObject({
      price: { amountMinor: 4500 },
      compareAt: null,
      lowest30d: { amountMinor: 4000 },
    });
  });

  it("is found by old slugs, and returns the current slug", async () => {
    await change(
      "productTranslationUpsert",
      "ProductTranslationUpsertInput",
      { productId, translation: { locale: "en", slug: "zephyrine-kite-2", title: "Zephyrine kite 2" } },
      "id",
    );
    const { status, body } = await detail("zephyrine-kite");
    expect({ status, slug: body.data.slug }).toEqual({ status: 200, slug: "zephyrine-kite-2" });
  });

  it("refuses a change with an outdated version", async () => {
    const before = (await world.graphql(`{ product(id: "${productId}") { version brand } }`)).body.data
      .product;
    const { error } = await change(
      "productUpdate",
      "ProductUpdateInput",
      { productId, expectedVersion: before.version - 1, brand: "Other" },
      "id",
    );
    expect(error).toMatchObject({
      code: "version_conflict",
      conflict: { resource: "product", id: productId, currentVersion: before.version },
    });
    expect(
      (await world.graphql(`{ product(id: "${productId}") { version brand } }`)).body.data.product,
    ).toEqual(before);
  });

  it("returns every fault by field, with the same field names as over REST", async () => {
    const { error } = await change(
      "variantUpsert",
      "VariantUpsertInput",
      { productId, sku: "x".repeat(65), weightGrams: -1, options: [] },
      "id",
    );
    expect(error.code).toBe("invalid_field");
    expect(
      error.details.map(({ field, code }: { field: string; code: string }) => [field, code]).toSorted(),
    ).toEqual([
      ["/sku", "too_long"],
      ["/weightGrams", "too_small"],
    ]);
  });

  it("cannot have less than zero in stock", async () => {
    const { error } = await change(
      "stockAdjust",
      "StockAdjustInput",
      { variantId, delta: -4, reason: "LOST" },
      "id",
    );
    expect(error).toMatchObject({ code: "invalid_state", conflict: { reason: "insufficient_stock" } });
    const gone = await change(
      "stockAdjust",
      "StockAdjustInput",
      { variantId, delta: -3, reason: "LOST" },
      "availability",
    );
    expect(gone.data.availability).toBe("OUT_OF_STOCK");
    expect((await detail("zephyrine-kite-2")).body.data.availability).toBe("out_of_stock");
  });

  it("is not found with another merchant's token", async () => {
    const made = await world.graphql(
      `mutation ($m: ID!) { internalTokenCreate(input: { name: "other", role: ADMIN, merchantId: $m }) { value
        } }`,
      {
        token: "operator",
        variables: { m: world.demo.merchants.second.id },
      },
    );
    const token = made.body.data.internalTokenCreate.value;
    expect(
      (await world.graphql(`{ product(id: "${productId}") { id } }`, { token })).body.data.product,
    ).toBeNull();
    for (const [field, input] of [
      ["productUpdate", `{ productId: "${productId}", brand: "Stolen" }`],
      ["productUnpublish", `{ productId: "${productId}" }`],
      ["productDelete", `{ productId: "${productId}" }`],
    ] as const) {
      const { body } = await world.graphql(`mutation { ${field}(input: ${input}) { __typename } }`, {
        token,
      });
      expect(body.errors[0].extensions.code).toBe("product_not_found");
    }
    const direct = await world.graphql(
      `mutation { productUpdate(merchantId: "${world.demo.merchants.first.id}", input: { productId:
        "${productId}" }) { id } }`,
      { token },
    );
    expect(direct.body.errors[0].extensions.code).toBe("merchant_not_found");
    expect((await world.graphql(`{ product(id: "${productId}") { brand } }`)).body.data.product.brand).toBe(
      "Zephyrine",
    );
  });

  it("is not found by buyers once it is unpublished, and is archived when deleted", async () => {
    await change("productUnpublish", "ProductTransitionInput", { productId }, "id");
    expect(await search("zephyrine")).toEqual([]);
    expect((await detail("zephyrine-kite-2")).body.error.code).toBe("product_not_found");
    const { data } = await change("productDelete", "ProductTransitionInput", { productId }, "archived");
    expect(data).toEqual({ archived: true });
  });

  it("can be imported with others; a failed item does not stop the others", async () => {
    const { data } = await change(
      "productsImport",
      "ProductsImportInput",
      { items: [item("quillon-one", 100), item("quillon-two", -5), item("quillon-three", 300)] },
      "results { index status product { status } error { code details { field } } }",
    );
    expect(data.results).toEqual([
      { index: 0, status: "CREATED", product: { status: "PUBLISHED" }, error: null },
      {
        index: 1,
        status: "FAILED",
        product: null,
        error: { code: "invalid_field", details: [{ field: "/variants/0/prices/0/amountMinor" }] },
      },
      { index: 2, status: "CREATED", product: { status: "PUBLISHED" }, error: null },
    ]);
    expect(await search("quillon")).toHaveLength(2);
  });
});
