/**
 * Variants: a SKU is unique per merchant, a combination of options is unique per product, and every variant
 * has all options.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { attachProductMedia } from "#commerce/catalog/product-media.ts";
import { isGtin } from "#commerce/catalog/catalog-fields.ts";
import { upsertVariant } from "#commerce/catalog/change-variants.ts";
import { Failure } from "#foundation/failure.ts";
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

const optionOf = (code: string, choices: string[]) => ({
  code,
  names: [{ locale: "de", text: code }],
  choices: choices.map((choice) => ({ code: choice, labels: [{ locale: "de", text: choice }] })),
});

const shirt = { options: [optionOf("size", ["s", "l"]), optionOf("color", ["red", "blue"])] };
const choose = (size: string, color: string) => [
  { option: "size", choice: size },
  { option: "color", choice: color },
];

describeOnPostgres("variants", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const variantRow = (id: string) =>
    world.db.selectFrom("variant").selectAll().where("id", "=", id).executeTakeFirst();
  const stockRow = (id: string) =>
    world.db.selectFrom("stockLevel").selectAll().where("variantId", "=", id).executeTakeFirst();
  describe("variantUpsert", () => {
    it("creates a variant with defaults and a stock of zero", async () => {
      const productId = await makeProduct(world);
      const sku = fresh("MUG");
      const { variantId } = await world.run(upsertVariant, { productId, sku, options: [] });
      expect(await variantRow(variantId)).toMatchObject({
        sku,
        gtin: null,
        options: {},
        restrictions: [],
        requiresShipping: true,
        discontinued: false,
        availableFrom: null,
        position: 0,
      });
      expect(await stockRow(variantId)).toMatchObject({
        onHand: 0,
        reserved: 0,
        backorderLimit: 0,
        lowStockThreshold: 5,
      });
    });

    it("changes only the given fields of a variant, found by id or by SKU in any case", async () => {
      const productId = await makeProduct(world, shirt);
      const sku = fresh("Shirt");
      const availableFrom = new Date("2026-05-01T00:00:00.000Z");
      const { variantId } = await world.run(upsertVariant, {
        productId,
        sku,
        options: choose("s", "red"),
        gtin: "4006381333931",
        restrictions: ["final_sale"],
        weightGrams: 200,
        maxOrderQuantity: 3,
        availableFrom,
        backorderLimit: 10,
      });
      const again = await world.run(upsertVariant, {
        productId,
        sku: sku.toUpperCase(),
        options: choose("s", "blue"),
        weightGrams: null,
        lowStockThreshold: 2,
      });
      expect(again).toEqual({ productId, variantId });
      expect(await variantRow(variantId)).toMatchObject({
        sku: sku.toUpperCase(),
        gtin: "4006381333931",
        options: { size: "s", color: "blue" },
        restrictions: ["final_sale"],
        weightGrams: null,
        maxOrderQuantity: 3,
        availableFrom,
      });
      expect(await stockRow(variantId)).toMatchObject({ backorderLimit: 10, lowStockThreshold: 2 });
      await world.run(upsertVariant, { productId, variantId, sku: "Renamed", options: choose("s", "blue") });
      expect(await variantRow(variantId)).toMatchObject({ sku: "Renamed" });
    });

    it("raises each version by one or not at all, and reindexes a published product", async () => {
      const { productId, variantId } = await makePublished(world);
      const change = {
        productId,
        variantId,
        sku: fresh("V"),
        options: [],
        weightGrams: 5,
        backorderLimit: 1,
      };
      expect(await countVersionRises(world, productId, () => world.run(upsertVariant, change))).toEqual({
        product: 1,
        catalog: 1,
      });
      expect(world.takeIndexed()).toEqual([[productId]]);
      expect(await countVersionRises(world, productId, () => world.run(upsertVariant, change))).toEqual({
        product: 0,
        catalog: 0,
      });
      expect(world.takeIndexed()).toEqual([]);
    });

    it.each([
      [[], "size"],
      [[{ option: "size", choice: "s" }], "color"],
      [choose("s", "green"), "color"],
      [[...choose("s", "red"), { option: "cut", choice: "slim" }], "does not have"],
    ])("refuses options that differ from the product's: %#", async (options, word) => {
      const productId = await makeProduct(world, shirt);
      const refused = await world.refusal(upsertVariant, { productId, sku: fresh("X"), options });
      expect(refused).toEqual({
        code: "invalid_field",
        details: ["body /options options_mismatch"],
        conflict: null,
      });
      const message = await world
        .run(upsertVariant, { productId, sku: fresh("X"), options })
        .catch((error: unknown) => error);
      expect(message instanceof Failure ? message.message : "").toContain(word);
    });

    it("refuses a combination of another variant of the product", async () => {
      const productId = await makeProduct(world, shirt);
      const { variantId } = await world.run(upsertVariant, {
        productId,
        sku: fresh("X"),
        options: choose("l", "red"),
      });
      expect(
        await world.refusal(upsertVariant, {
          productId,
          sku: fresh("X"),
          options: choose("l", "red").toReversed(),
        }),
      ).toEqual({
        code: "already_exists",
        details: ["body /options already_exists"],
        conflict: {
          resource: "variant",
          id: variantId,
          currentStatus: null,
          currentVersion: null,
          reason: "options_taken",
          data: {},
        },
      });
    });

    it("refuses a SKU of the merchant in any case, but not a SKU of another merchant", async () => {
      const sku = fresh("Sku");
      const { variantId } = await world.run(upsertVariant, {
        productId: await makeProduct(world),
        sku,
        options: [],
      });
      const productId = await makeProduct(world, { options: [optionOf("size", ["s", "l"])] });
      const conflict = {
        resource: "variant",
        id: variantId,
        currentStatus: null,
        currentVersion: null,
        reason: "sku_taken",
        data: {},
      };
      const small = [{ option: "size", choice: "s" }];
      expect(
        await world.refusal(upsertVariant, { productId, sku: sku.toUpperCase(), options: small }),
      ).toEqual({
        code: "already_exists",
        details: ["body /sku already_exists"],
        conflict,
      });
      const [one, two] = [fresh("Sku"), fresh("Sku")];
      await world.run(upsertVariant, { productId, sku: one, options: small });
      const second = await world.run(upsertVariant, {
        productId,
        sku: two,
        options: [{ option: "size", choice: "l" }],
      });
      expect(
        await world.refusal(upsertVariant, {
          productId,
          variantId: second.variantId,
          sku: one,
          options: [{ option: "size", choice: "l" }],
        }),
      ).toMatchObject({
        code: "already_exists",
        conflict: { reason: "sku_taken" },
      });
      await world.run(
        upsertVariant,
        { productId: await makeProduct(world, {}, world.other), sku, options: [] },
        world.other,
      );
    });

    it("refuses input that is out of bounds, with all faults at once", async () => {
      const productId = await makeProduct(world);
      const input = {
        productId,
        sku: " Ä",
        gtin: "4006381333930",
        options: [
          { option: "a", choice: "b" },
          { option: "a", choice: "c" },
        ],
        restrictions: ["digital", "secret" as "digital", "digital"] as const,
        weightGrams: -1,
        maxOrderQuantity: 10_000,
        backorderLimit: 0.5,
        availableFrom: new Date(Number.NaN),
      };
      expect(await world.refusal(upsertVariant, input)).toEqual({
        code: "invalid_field",
        details: [
          "body /sku pattern_mismatch",
          "body /gtin pattern_mismatch",
          "body /restrictions/1 not_allowed",
          "body /restrictions/2 duplicate",
          "body /options/1/option duplicate",
          "body /weightGrams too_small",
          "body /maxOrderQuantity too_large",
          "body /backorderLimit wrong_type",
          "body /availableFrom wrong_type",
        ],
        conflict: null,
      });
    });

    it("refuses a variant or a medium of another product", async () => {
      const elsewhere = await makePublished(world);
      const medium = {
        type: "image",
        url: "https://cdn.example/a.jpg",
        alts: [],
        width: 1,
        height: 1,
      } as const;
      const { mediaId } = await world.run(attachProductMedia, { productId: elsewhere.productId, ...medium });
      const productId = await makeProduct(world);
      expect(
        await world.refusal(upsertVariant, {
          productId,
          variantId: elsewhere.variantId,
          sku: fresh("X"),
          options: [],
        }),
      ).toEqual({
        code: "resource_not_found",
        details: ["body /variantId resource_not_found"],
        conflict: null,
      });
      expect(
        await world.refusal(upsertVariant, { productId, mediaId, sku: fresh("X"), options: [] }),
      ).toMatchObject({
        code: "resource_not_found",
        details: ["body /mediaId resource_not_found"],
      });
      expect(
        await world.refusal(upsertVariant, { productId, sku: fresh("X"), options: [] }, world.other),
      ).toMatchObject({
        code: "product_not_found",
      });
    });

    it("refuses a backorder limit below the promised quantity", async () => {
      const { productId, variantId } = await makePublished(world);
      const sku = (await variantRow(variantId))?.sku ?? "";
      await world.run(upsertVariant, { productId, sku, options: [], backorderLimit: 5 });
      await world.db
        .updateTable("stockLevel")
        .set({ reserved: 3 })
        .where("variantId", "=", variantId)
        .execute();
      expect(await world.refusal(upsertVariant, { productId, sku, options: [], backorderLimit: 2 })).toEqual({
        code: "invalid_state",
        details: [],
        conflict: {
          resource: "variant",
          id: variantId,
          currentStatus: null,
          currentVersion: null,
          reason: "insufficient_stock",
          data: { onHand: 0, reserved: 3, backorderLimit: 5 },
        },
      });
    });

    it("refuses the 201st variant", async () => {
      const choices = Array.from({ length: 100 }, (_, index) => `c${index}`);
      const productId = await makeProduct(world, {
        options: [optionOf("a", choices), optionOf("b", ["x", "y", "z"])],
      });
      await world.db
        .insertInto("variant")
        .values(
          Array.from({ length: 200 }, (_, index) => ({
            id: fresh("var"),
            merchantId: "mer_one",
            productId,
            sku: fresh("MANY"),
            options: JSON.stringify({ a: `c${index % 100}`, b: index < 100 ? "x" : "y" }),
            restrictions: [],
            requiresShipping: true,
            position: index,
            createdAt: startOfWorld,
            updatedAt: startOfWorld,
          })),
        )
        .execute();
      const options = [
        { option: "a", choice: "c0" },
        { option: "b", choice: "z" },
      ];
      expect(await world.refusal(upsertVariant, { productId, sku: fresh("X"), options })).toMatchObject({
        code: "invalid_state",
        conflict: { reason: "variant_limit_reached", data: { limit: 200 } },
      });
    });
  });
});

describe("the GTIN of a variant", () => {
  it.each(["96385074", "036000291452", "4006381333931", "10614141000415"])(
    "accepts %s, because the check digit is right",
    (gtin) => expect(isGtin(gtin)).toBe(true),
  );
  it.each([
    "96385075",
    "036000291453",
    "4006381333932",
    "10614141000416",
    "400638133393",
    "400638133393a",
    "",
    "4006381333931\n",
  ])("refuses %j because of its length, characters or check digit", (gtin) =>
    expect(isGtin(gtin)).toBe(false),
  );
});
