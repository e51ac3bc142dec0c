/**
 * Creating and updating promotions: every kind requires exactly its fields, and may refer only to the
 * merchant's data.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { endPromotion } from "#commerce/promotions/promotion-status.ts";
import {
  createPromotion,
  type CreatePromotionInput,
  updatePromotion,
} from "#commerce/promotions/change-promotion.ts";
import { upsertCategory } from "#commerce/catalog/change-category.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, fresh, makeProduct, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { makePromotion, promotionRow, tenPercent } from "./promotions-world.ts";

describeOnPostgres("promotions", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const makeCategory = async (context = world.context) =>
    (
      await world.run(
        upsertCategory,
        { slug: fresh("tassen"), names: [{ locale: "de", text: "Tassen" }] },
        context,
      )
    ).categoryId;

  describe("promotionCreate", () => {
    const kinds: [string, Partial<CreatePromotionInput>][] = [
      ["percentage", { kind: "percentage", basisPoints: 10_000 }],
      ["fixed amount", { kind: "fixed_amount", basisPoints: null, amountMinor: 500, currency: "EUR" }],
      [
        "free shipping",
        { kind: "free_shipping", basisPoints: null, minimumSubtotalMinor: 5000, currency: "USD" },
      ],
      ["buy X get Y", { kind: "buy_x_get_y", basisPoints: 5000, buyQuantity: 2, getQuantity: 1 }],
      ["gift", { kind: "gift", basisPoints: null, getQuantity: 1, minimumQuantity: 3 }],
    ];

    it.each(kinds)("creates a draft of the kind %s", async (_name, input) => {
      const row = await promotionRow(world, await makePromotion(world, input));
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
      expect(row).toMatchObject({
        ...given,
        status: "draft",
        used: 0,
        version: 1,
        createdAt: startOfWorld,
        updatedAt: startOfWorld,
      });
      expect(row.titles).toEqual({ de: "Zehn Prozent", "en-US": "Ten percent" });
      expect(world.takeEvents()).toEqual([]);
    });

    it("stores all given fields", async () => {
      const [product, category] = [await makeProduct(world), await makeCategory()];
      const all = {
        trigger: "code",
        kind: "buy_x_get_y",
        basisPoints: 1,
        buyQuantity: 9999,
        getQuantity: 9999,
        currency: "EUR",
        minimumSubtotalMinor: Number.MAX_SAFE_INTEGER,
        minimumQuantity: 1_999_800,
        entitledProductIds: [product],
        entitledCategoryIds: [category],
        buyProductIds: [product],
        buyCategoryIds: [category],
        marketIds: [world.europe, world.america],
        requiresSignIn: true,
        buyerReferences: ["buyer-1", "käufer 2"],
        startsAt: startOfWorld,
        endsAt: new Date(startOfWorld.getTime() + 1),
        usageLimit: 1,
        perBuyerLimit: 2_147_483_647,
        priority: -1000,
        isExclusive: true,
      } as const;
      expect(await promotionRow(world, await makePromotion(world, all))).toMatchObject(all);
    });

    const badFields: Partial<CreatePromotionInput> = {
      trigger: "never" as "code",
      kind: "percentage",
      titles: [],
      basisPoints: 10_001,
      amountMinor: 0,
      currency: "EURO",
      buyQuantity: 10_000,
      getQuantity: 0.5,
      minimumSubtotalMinor: 0,
      minimumQuantity: 1_999_801,
      entitledProductIds: ["a", "a"],
      buyProductIds: ["a"],
      marketIds: Array.from({ length: 101 }, (_, index) => `m${index}`),
      buyerReferences: ["", "x".repeat(129), "\u0000"],
      startsAt: new Date("1999-12-31T23:59:59Z"),
      endsAt: new Date("1999-12-31T23:59:59Z"),
      usageLimit: 0,
      perBuyerLimit: 2_147_483_648,
      priority: 1001,
    };

    it("reports all faults at once", async () => {
      expect(await world.refusal(createPromotion, { ...tenPercent, ...badFields })).toEqual({
        code: "invalid_field",
        details: [
          "body /trigger not_allowed",
          "body /titles too_short",
          "body /basisPoints too_large",
          "body /amountMinor too_small",
          "body /currency unknown_currency",
          "body /buyQuantity too_large",
          "body /getQuantity wrong_type",
          "body /minimumSubtotalMinor too_small",
          "body /minimumQuantity too_large",
          "body /entitledProductIds/1 duplicate",
          "body /marketIds too_long",
          "body /buyerReferences/0 too_short",
          "body /buyerReferences/1 too_long",
          "body /buyerReferences/2 control_character",
          "body /startsAt out_of_range",
          "body /endsAt out_of_range",
          "body /usageLimit too_small",
          "body /perBuyerLimit too_large",
          "body /priority too_large",
          "body /amountMinor not_allowed",
          "body /buyQuantity not_allowed",
          "body /getQuantity not_allowed",
          "body /buyProductIds not_allowed",
          "body /endsAt out_of_range",
        ],
        conflict: null,
      });
    });

    const rules: [string, Partial<CreatePromotionInput>, string[]][] = [
      ["an unknown kind", { kind: "surprise" as "gift" }, ["/kind not_allowed"]],
      ["a percentage without its rate", { basisPoints: null }, ["/basisPoints required"]],
      ["a percentage with an amount", { amountMinor: 1, currency: "EUR" }, ["/amountMinor not_allowed"]],
      [
        "a fixed amount with a rate",
        { kind: "fixed_amount" },
        ["/basisPoints not_allowed", "/amountMinor required"],
      ],
      [
        "a fixed amount without a currency",
        { kind: "fixed_amount", basisPoints: null, amountMinor: 1 },
        ["/currency required"],
      ],
      [
        "free shipping with a quantity",
        { kind: "free_shipping", basisPoints: null, getQuantity: 1 },
        ["/getQuantity not_allowed"],
      ],
      [
        "buy X get Y without quantities",
        { kind: "buy_x_get_y" },
        ["/buyQuantity required", "/getQuantity required"],
      ],
      [
        "a gift that has to be bought",
        { kind: "gift", basisPoints: null, getQuantity: 1, buyCategoryIds: ["c"] },
        ["/buyCategoryIds not_allowed"],
      ],
      ["a minimum without a currency", { minimumSubtotalMinor: 1 }, ["/currency required"]],
      ["a currency without an amount", { currency: "EUR" }, ["/currency not_allowed"]],
      [
        "an end that is the beginning",
        { startsAt: startOfWorld, endsAt: startOfWorld },
        ["/endsAt out_of_range"],
      ],
      [
        "a currency unknown sells in",
        { minimumSubtotalMinor: 1, currency: "JPY" },
        ["/currency currency_mismatch"],
      ],
    ];

    it.each(rules)(
      "refuses a promotion with %s, and names each invalid field",
      async (_name, input, details) => {
        expect(await world.refusal(createPromotion, { ...tenPercent, ...input })).toEqual({
          code: "invalid_field",
          details: details.map((detail) => `body ${detail}`),
          conflict: null,
        });
      },
    );

    it("refuses a currency that its markets do not use", async () => {
      const input = { ...tenPercent, minimumSubtotalMinor: 1, currency: "USD", marketIds: [world.europe] };
      expect(await world.refusal(createPromotion, input)).toEqual({
        code: "invalid_field",
        details: ["body /currency currency_mismatch"],
        conflict: null,
      });
    });

    it("refuses references to another merchant's or unknown rows, all at once", async () => {
      const [mine, theirs] = [await makeProduct(world), await makeProduct(world, {}, world.other)];
      const input = {
        ...tenPercent,
        entitledProductIds: [mine, theirs],
        entitledCategoryIds: [await makeCategory(world.other), "\u0000"],
        marketIds: [world.otherMarket],
      };
      expect(await world.refusal(createPromotion, input)).toEqual({
        code: "resource_not_found",
        details: [
          "body /entitledProductIds/1 resource_not_found",
          "body /entitledCategoryIds/0 resource_not_found",
          "body /entitledCategoryIds/1 resource_not_found",
          "body /marketIds/0 resource_not_found",
        ],
        conflict: null,
      });
    });

    it("refuses an unknown merchant", async () => {
      const unknown = { ...world.context, merchantId: "mer_none" };
      expect(await world.refusal(createPromotion, tenPercent, unknown)).toEqual({
        code: "merchant_not_found",
        details: [],
        conflict: null,
      });
    });
  });

  describe("promotionUpdate", () => {
    it("changes given fields, keeps omitted ones, clears null ones, and publishes old values", async () => {
      const promotionId = await makePromotion(world, {
        minimumSubtotalMinor: 1000,
        currency: "EUR",
        startsAt: startOfWorld,
        usageLimit: 5,
        marketIds: [world.europe],
        isExclusive: true,
      });
      const before = await promotionRow(world, promotionId);
      const change = {
        promotionId,
        expectedVersion: 1,
        basisPoints: 2000,
        minimumSubtotalMinor: null,
        startsAt: null,
        isExclusive: null,
      };
      expect(await world.run(updatePromotion, change, world.later(1000))).toEqual({ promotionId });
      expect(await promotionRow(world, promotionId)).toEqual({
        ...before,
        basisPoints: 2000,
        minimumSubtotalMinor: null,
        currency: null,
        startsAt: null,
        isExclusive: false,
        version: 2,
        updatedAt: new Date(startOfWorld.getTime() + 1000),
      });
      expect(world.takeEvents()).toEqual([
        {
          type: "promotion.updated",
          id: promotionId,
          previous: {
            basisPoints: 1000,
            minimumSubtotal: { amountMinor: 1000, currency: "EUR", exponent: 2 },
            currency: "EUR",
            startsAt: startOfWorld.toISOString(),
            isExclusive: true,
          },
        },
      ]);
    });

    it("changes and publishes nothing if the values are equal", async () => {
      const promotionId = await makePromotion(world, {
        startsAt: startOfWorld,
        buyerReferences: ["b"],
        usageLimit: 3,
      });
      const before = await promotionRow(world, promotionId);
      const same = {
        promotionId,
        titles: tenPercent.titles.toReversed(),
        startsAt: startOfWorld,
        buyerReferences: ["b"],
        usageLimit: 3,
      };
      await world.run(updatePromotion, same, world.later(1000));
      expect(await promotionRow(world, promotionId)).toEqual(before);
      expect(world.takeEvents()).toEqual([]);
    });

    it("does not publish the promotion's buyers", async () => {
      const promotionId = await makePromotion(world);
      await world.run(updatePromotion, { promotionId, buyerReferences: ["secret"] });
      expect(world.takeEvents()).toEqual([{ type: "promotion.updated", id: promotionId, previous: {} }]);
    });

    it("validates the whole promotion for its kind, whichever field changed", async () => {
      const promotionId = await makePromotion(world, { startsAt: startOfWorld });
      const refusal = await world.refusal(updatePromotion, {
        promotionId,
        basisPoints: null,
        amountMinor: 5,
        titles: null,
        endsAt: null,
      });
      expect(refusal).toEqual({ code: "invalid_field", details: ["body /titles too_short"], conflict: null });
      expect(
        await world.refusal(updatePromotion, {
          promotionId,
          basisPoints: null,
          amountMinor: 5,
          endsAt: startOfWorld,
        }),
      ).toEqual({
        code: "invalid_field",
        details: [
          "body /basisPoints required",
          "body /amountMinor not_allowed",
          "body /currency required",
          "body /endsAt out_of_range",
        ],
        conflict: null,
      });
      expect(
        await world.refusal(updatePromotion, { promotionId, entitledProductIds: ["prd_none"] }),
      ).toMatchObject({ code: "resource_not_found" });
    });

    it("refuses markets that do not use its currency", async () => {
      const promotionId = await makePromotion(world, { minimumSubtotalMinor: 1, currency: "EUR" });
      expect(await world.refusal(updatePromotion, { promotionId, marketIds: [world.america] })).toMatchObject(
        {
          details: ["body /currency currency_mismatch"],
        },
      );
    });

    it("refuses a limit below the number of uses, and accepts a limit equal to it", async () => {
      const promotionId = await makePromotion(world, { usageLimit: 9 });
      await world.db.updateTable("promotion").set({ used: 4 }).where("id", "=", promotionId).execute();
      expect(await world.refusal(updatePromotion, { promotionId, usageLimit: 3 })).toEqual({
        code: "invalid_state",
        details: ["body /usageLimit too_small"],
        conflict: {
          resource: "promotion",
          id: promotionId,
          currentStatus: "draft",
          currentVersion: 1,
          reason: "usage_limit_below_used",
          data: { used: 4, usageLimit: 3 },
        },
      });
      await world.run(updatePromotion, { promotionId, usageLimit: 4 });
      expect(await promotionRow(world, promotionId)).toMatchObject({ usageLimit: 4, version: 2 });
      world.takeEvents();
    });

    it("refuses a wrong expected version, an ended promotion, and another merchant's promotion", async () => {
      const promotionId = await makePromotion(world);
      const conflict = {
        resource: "promotion",
        id: promotionId,
        currentStatus: "draft",
        currentVersion: 1,
        reason: null,
        data: {},
      };
      expect(await world.refusal(updatePromotion, { promotionId, priority: 1, expectedVersion: 2 })).toEqual({
        code: "version_conflict",
        details: [],
        conflict,
      });
      await world.run(endPromotion, { promotionId });
      expect(await world.refusal(updatePromotion, { promotionId, priority: 1, expectedVersion: 1 })).toEqual({
        code: "invalid_state",
        details: [],
        conflict: { ...conflict, currentStatus: "ended", currentVersion: 2, reason: "promotion_ended" },
      });
      for (const id of [await makePromotion(world, {}, world.other), "prm_none", "\u0000"]) {
        expect(await world.refusal(updatePromotion, { promotionId: id, priority: 1 })).toEqual({
          code: "resource_not_found",
          details: [],
          conflict: null,
        });
      }
    });
  });
});
