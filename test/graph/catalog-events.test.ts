/**
 * Events about products: every change is published once with its previous values, in the transaction of the
 * change. A change without effect publishes nothing.
 */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { statementsOf } from "#test/support/use-world.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { brief, type Change, createChange, createEventReader, type PublishedEvent } from "./event-calls.ts";

const item = (slug: string, change: Record<string, unknown> = {}, price = 1500) => ({
  status: "PUBLISHED",
  translations: [{ locale: "en", slug, title: `Imported ${slug}` }],
  variants: [
    { sku: `TOLD-${slug}`, options: [], onHand: 9, prices: [{ marketHandle: "de", amountMinor: price }] },
  ],
  ...change,
});

describe.each(["postgres"] as const)("events of the catalog on %s", (engine) => {
  let world: World;
  let change: Change;
  let listen: () => Promise<PublishedEvent[]>;
  let productId: string;
  let variantId: string;
  let marketId: string;
  beforeAll(async () => {
    world = await createWorld(engine);
    change = createChange(world);
    listen = createEventReader(world);
    const { body } = await world.graphql("{ markets { id handle } }");
    marketId = body.data.markets.find(({ handle }: { handle: string }) => handle === "de").id;
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const transition = (field: string, input = {}) =>
    change(field, "ProductTransitionInput", { productId, ...input }, "id version");
  const update = (input: Record<string, unknown>) =>
    change("productUpdate", "ProductUpdateInput", { productId, ...input }, "version");
  const price = (amountMinor: number) =>
    change("pricesSet", "PricesSetInput", { prices: [{ variantId, marketId, amountMinor }] }, "version");
  const importItems = (items: unknown[]) =>
    change(
      "productsImport",
      "ProductsImportInput",
      { items },
      "results { status product { id version } error { code } }",
    );

  it("are published for a new product with all of its fields", async () => {
    const { data } = await change(
      "productCreate",
      "ProductCreateInput",
      {
        brand: "Told",
        rating: { average: 4.5, count: 2 },
        translations: [{ locale: "en", slug: "told-kite", title: "Told kite" }],
      },
      "id",
    );
    productId = data.id;
    const [events, ...others] = await listen();
    expect(others).toEqual([]);
    expect(events).toMatchObject({
      type: "product.created",
      subject: { type: "product", id: productId, version: 1 },
      data: { previous: null, truncated: false },
      cause: { actor: "staff", operationId: null },
      installationId: null,
    });
    expect(events?.data.object).toMatchObject({
      id: productId,
      version: 1,
      status: "draft",
      brand: "Told",
      rating: { average: 4.5, count: 2 },
      variants: [],
    });
    expect(events?.data.object.translations).toEqual([
      {
        locale: "en",
        slug: "told-kite",
        title: "Told kite",
        summary: null,
        description: null,
        seoTitle: null,
        seoDescription: null,
      },
    ]);
  });

  it("are published once for several fields, with all previous values", async () => {
    await update({ brand: "Other", rating: null });
    const [events, ...others] = await listen();
    expect(others).toEqual([]);
    expect(events).toMatchObject({
      type: "product.updated",
      subject: { version: 2 },
      data: { object: { brand: "Other", rating: null } },
    });
    expect(Object.keys(events?.data.previous).filter((field) => field !== "updatedAt")).toEqual([
      "version",
      "brand",
      "rating",
    ]);
    expect(events?.data.previous).toMatchObject({
      version: 1,
      brand: "Told",
      rating: { average: 4.5, count: 2 },
    });
  });

  it("have own types for texts and prices; variants and pictures count as product updates", async () => {
    const made = await change(
      "variantUpsert",
      "VariantUpsertInput",
      { productId, sku: "TOLD-1", options: [] },
      "variants { id }",
    );
    variantId = made.data.variants[0].id;
    await change(
      "mediaAttach",
      "MediaAttachInput",
      { productId, type: "IMAGE", url: "https://pictures.example/kite.jpg", alts: [], width: 8, height: 6 },
      "id",
    );
    await change(
      "productTranslationUpsert",
      "ProductTranslationUpsertInput",
      { productId, translation: { locale: "de", slug: "told-drachen", title: "Drachen" } },
      "id",
    );
    await price(5000);
    await price(4000);
    const events = await listen();
    expect(brief(events)).toEqual([
      ["product.updated", 3],
      ["product.updated", 4],
      ["product.translation_updated", 5],
      ["product.price_changed", 6],
      ["product.price_changed", 7],
    ]);
    expect(
      events.map(({ data }) => Object.keys(data.previous).filter((field) => field !== "updatedAt")),
    ).toEqual([
      ["version", "variants"],
      ["version", "media"],
      ["version", "translations"],
      ["version", "variants"],
      ["version", "variants"],
    ]);
    const amountIn = (product: { variants: { prices: { amount: { amountMinor: number } }[] }[] }) =>
      product.variants[0]?.prices[0]?.amount;
    expect(amountIn(events[4]?.data.previous)).toEqual({ amountMinor: 5000, currency: "EUR", exponent: 2 });
    expect(amountIn(events[4]?.data.object)).toEqual({ amountMinor: 4000, currency: "EUR", exponent: 2 });
  });

  it("are published when a product is published and unpublished", async () => {
    await transition("productPublish");
    await transition("productUnpublish");
    const [published, unpublished, ...others] = await listen();
    expect(others).toEqual([]);
    expect(published).toMatchObject({
      type: "product.published",
      subject: { version: 8 },
      data: { previous: { version: 7, status: "draft", publishedAt: null } },
    });
    expect(unpublished).toMatchObject({
      type: "product.unpublished",
      subject: { version: 9 },
      data: { previous: { status: "published" } },
    });
    await change("productDelete", "ProductTransitionInput", { productId }, "archived");
    await transition("productUnpublish");
    expect(
      (await listen()).map(({ type, subject, data }) => [
        type,
        subject.version,
        data.previous.status,
        data.object.status,
      ]),
    ).toEqual([
      ["product.deleted", 10, "draft", "archived"],
      ["product.updated", 11, "archived", "draft"],
    ]);
  });

  it("contain a deleted draft as it was, one version later", async () => {
    const { data } = await change(
      "productCreate",
      "ProductCreateInput",
      { translations: [{ locale: "en", slug: "told-gone", title: "Gone" }] },
      "id",
    );
    await change("productDelete", "ProductTransitionInput", { productId: data.id }, "archived");
    const [, deleted, ...others] = await listen();
    expect(others).toEqual([]);
    expect(deleted).toMatchObject({
      type: "product.deleted",
      subject: { id: data.id, version: 2 },
      data: { object: { status: "draft", translations: [{ title: "Gone" }] }, previous: { version: 1 } },
    });
  });

  it("are not published for changes without effect and for refused changes", async () => {
    await update({ brand: "Other" });
    await price(4000);
    await transition("productPublish");
    await transition("productPublish");
    expect(brief(await listen())).toEqual([["product.published", 12]]);
    expect((await update({ brand: "Late", expectedVersion: 3 })).error.code).toBe("version_conflict");
    expect((await price(-1)).error.code).toBe("invalid_field");
    expect(
      (await change("productDelete", "ProductTransitionInput", { productId }, "archived")).error.code,
    ).toBe("invalid_state");
    expect(
      (await change("mediaRemove", "MediaRemoveInput", { productId, mediaId: "med_none" }, "id")).error.code,
    ).toBe("resource_not_found");
    expect(await listen()).toEqual([]);
  });

  it("contain only the id of an object that exceeds 64 KiB", async () => {
    const description = "ü".repeat(20_000);
    for (const locale of ["fr", "it"])
      await change(
        "productTranslationUpsert",
        "ProductTranslationUpsertInput",
        { productId, translation: { locale, slug: `told-${locale}`, title: "Kite", description } },
        "id",
      );
    const [first, second] = await listen();
    expect(first).toMatchObject({ type: "product.translation_updated", data: { truncated: false } });
    expect(second).toMatchObject({ type: "product.translation_updated", subject: { version: 14 } });
    expect(second?.data).toEqual({ object: { id: productId }, previous: null, truncated: true });
  });

  it("are published for the changes of an import, not for its failed items", async () => {
    const { data } = await importItems([
      item("told-one"),
      item("told-two", { status: "DRAFT" }),
      item("told-three", { categorySlugs: ["nowhere"] }),
    ]);
    expect(data.results.map(({ status }: { status: string }) => status)).toEqual(
      ["created", "created", "failed"].map((status) => status.toUpperCase()),
    );
    expect(brief(await listen())).toEqual([
      ["product.created", 1],
      ["product.published", 1],
      ["product.created", 1],
    ]);
    await importItems([item("told-one"), item("told-two", { status: "DRAFT" })]);
    expect(await listen()).toEqual([]);
    await importItems([
      item("told-one", {}, 1200),
      item("told-two", { brand: "New", status: "PUBLISHED" }),
      item("told-one", { brand: "Twice" }, 1100),
    ]);
    const events = await listen();
    expect(brief(events)).toEqual([
      ["product.price_changed", 2],
      ["product.updated", 2],
      ["product.updated", 2],
      ["product.published", 2],
    ]);
    expect(events[0]?.data.previous.variants[0].prices[0].amount.amountMinor).toBe(1500);
    expect(events[2]?.data.previous).toMatchObject({ brand: null, status: "draft" });
  });

  it("are rolled back with a failed import item, including its stock events", async () => {
    await importItems([
      item("told-stuck", { status: "DRAFT", variants: [{ sku: "TOLD-STUCK", options: [], onHand: 9 }] }),
    ]);
    await listen();
    const { data } = await importItems([
      item("told-stuck", { brand: "Lost", variants: [{ sku: "TOLD-STUCK", options: [], onHand: 0 }] }),
    ]);
    expect(data.results[0]).toMatchObject({ status: "FAILED", error: { code: "invalid_state" } });
    expect(await listen()).toEqual([]);
  });

  it("of 100 products are written with as many statements as those of five products", async () => {
    const items = (count: number, brand: string) =>
      Array.from({ length: count }, (_, index) => item(`told-many-${index}`, { brand }));
    await importItems(items(100, "Before"));
    expect(await listen()).toHaveLength(200);
    const beyondItems = async (count: number, brand: string): Promise<number> => {
      const statements = await statementsOf(world, () => importItems(items(count, brand)));
      return statements.slice(statements.findLastIndex((text) => text.startsWith("release savepoint")))
        .length;
    };
    const few = await beyondItems(5, "Few");
    expect(await listen()).toHaveLength(5);
    const many = await beyondItems(100, "Many");
    const events = await listen();
    expect(events).toHaveLength(100);
    expect(new Set(events.map(({ type }) => type))).toEqual(new Set(["product.updated"]));
    expect(many - few).toBeLessThan(10);
    const { rows } = await sql<{
      count: number;
    }>`select count(*)::int as count from product where brand = 'Many'`.execute(world.database.db);
    expect(rows).toEqual([{ count: 100 }]);
  });
});
