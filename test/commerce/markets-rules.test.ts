/** Tax rates, delivery methods and policies of a market: identified by their scope and replaced as a whole. */
import { beforeAll, describe, expect, it } from "vitest";
import {
  type UpsertDeliveryMethodInput,
  type UpsertTaxRateInput,
  upsertDeliveryMethod,
  upsertTaxRate,
} from "#commerce/markets/delivery-and-tax.ts";
import { upsertMerchantPolicy } from "#commerce/markets/change-policy.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, countVersionRises, startOfWorld, type World } from "./writes-world.ts";

describeOnPostgres("a market's rules", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const missing = {
    code: "resource_not_found",
    details: ["body /marketId resource_not_found"],
    conflict: null,
  };

  const rate = (): UpsertTaxRateInput => ({
    marketId: world.europe,
    country: "DE",
    name: "MwSt.",
    basisPoints: 1900,
    appliesToShipping: true,
  });
  const taxRateRow = (id: string) =>
    world.db.selectFrom("taxRate").selectAll().where("id", "=", id).executeTakeFirst();
  const method = (): UpsertDeliveryMethodInput => ({
    marketId: world.europe,
    code: "standard",
    names: [{ locale: "de", text: "Standard" }],
    carrier: "DHL",
    pickup: false,
    priceMinor: 490,
    freeFromMinor: 5000,
    currency: "EUR",
    minDays: 2,
    maxDays: 4,
  });
  const methodRow = (id: string) =>
    world.db.selectFrom("deliveryMethod").selectAll().where("id", "=", id).executeTakeFirst();
  const policyRow = (id: string) =>
    world.db
      .selectFrom("policy")
      .select(["marketId", "summaries", "url", "version"])
      .where("id", "=", id)
      .executeTakeFirst();

  describe("taxRateUpsert", () => {
    it("keeps one rate for a country and one for each of its regions", async () => {
      const { taxRateId } = await world.run(upsertTaxRate, rate());
      expect(
        await world.run(upsertTaxRate, { ...rate(), regionCode: null, basisPoints: 1600 }, world.later(1000)),
      ).toEqual({ taxRateId });
      const then = new Date(startOfWorld.getTime() + 1000);
      expect(await taxRateRow(taxRateId)).toMatchObject({
        country: "DE",
        regionCode: null,
        basisPoints: 1600,
        updatedAt: then,
      });
      await world.run(upsertTaxRate, { ...rate(), basisPoints: 1600 }, world.later(2000));
      expect(await taxRateRow(taxRateId)).toMatchObject({ updatedAt: then });
      const region = await world.run(upsertTaxRate, { ...rate(), regionCode: "DE-BY", basisPoints: 0 });
      expect(region.taxRateId).not.toBe(taxRateId);
      expect(await world.run(upsertTaxRate, { ...rate(), regionCode: "DE-BY" })).toEqual(region);
    });

    it("refuses input out of bounds, and a country or a market of another market or merchant", async () => {
      expect(
        await world.refusal(upsertTaxRate, {
          ...rate(),
          regionCode: "AT-1",
          name: "\n",
          basisPoints: 10_001,
        }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /regionCode pattern_mismatch", "body /name too_short", "body /basisPoints too_large"],
        conflict: null,
      });
      expect(await world.refusal(upsertTaxRate, { ...rate(), country: "US" })).toEqual({
        code: "invalid_field",
        details: ["body /country not_in_market"],
        conflict: null,
      });
      expect(await world.refusal(upsertTaxRate, { ...rate(), country: "\u0000" })).toMatchObject({
        details: ["body /country unknown_country"],
      });
      expect(await world.refusal(upsertTaxRate, { ...rate(), marketId: world.otherMarket })).toEqual(missing);
      expect(await world.refusal(upsertTaxRate, { ...rate(), marketId: "\u0000" })).toEqual(missing);
    });
  });

  describe("deliveryMethodUpsert", () => {
    it("creates a method and replaces it as a whole", async () => {
      const { deliveryMethodId } = await world.run(upsertDeliveryMethod, method());
      expect(await methodRow(deliveryMethodId)).toMatchObject({
        code: "standard",
        names: { de: "Standard" },
        carrier: "DHL",
        priceMinor: 490,
        freeFromMinor: 5000,
        active: true,
        position: 0,
        updatedAt: startOfWorld,
      });
      await world.run(upsertDeliveryMethod, method(), world.later(1000));
      expect(await methodRow(deliveryMethodId)).toMatchObject({ updatedAt: startOfWorld });
      const changed = { ...method(), carrier: null, freeFromMinor: null, active: false, position: 3 };
      expect(await world.run(upsertDeliveryMethod, changed, world.later(2000))).toEqual({ deliveryMethodId });
      expect(await methodRow(deliveryMethodId)).toMatchObject({
        carrier: null,
        freeFromMinor: null,
        active: false,
        position: 3,
        updatedAt: new Date(startOfWorld.getTime() + 2000),
      });
      expect(
        await world.run(upsertDeliveryMethod, { ...method(), marketId: world.america, currency: null }),
      ).not.toEqual({ deliveryMethodId });
    });

    it("refuses input out of bounds, another currency, and a market of another merchant", async () => {
      expect(
        await world.refusal(upsertDeliveryMethod, {
          ...method(),
          code: "A B",
          names: [],
          priceMinor: -1,
          freeFromMinor: 2 ** 53,
          minDays: 5,
        }),
      ).toEqual({
        code: "invalid_field",
        details: [
          "body /code pattern_mismatch",
          "body /names too_short",
          "body /priceMinor too_small",
          "body /freeFromMinor too_large",
          "body /maxDays out_of_range",
        ],
        conflict: null,
      });
      expect(await world.refusal(upsertDeliveryMethod, { ...method(), currency: "USD" })).toMatchObject({
        details: ["body /currency currency_mismatch"],
      });
      expect(await world.refusal(upsertDeliveryMethod, { ...method(), marketId: world.otherMarket })).toEqual(
        missing,
      );
    });
  });

  describe("policyUpsert", () => {
    const summaries = [{ locale: "de", text: "30 Tage Rückgabe.\nKostenlos." }];

    it("keeps one policy for all markets, and one for each market with a separate policy", async () => {
      const general = await world.run(upsertMerchantPolicy, { type: "return", summaries });
      const european = await world.run(upsertMerchantPolicy, {
        type: "return",
        marketId: world.europe,
        summaries,
        url: "https://shop.example/return",
      });
      expect(await policyRow(general.policyId)).toEqual({
        marketId: null,
        summaries: { de: "30 Tage Rückgabe.\nKostenlos." },
        url: null,
        version: 1,
      });
      expect(await policyRow(european.policyId)).toMatchObject({
        marketId: world.europe,
        url: "https://shop.example/return",
      });
      const change = { type: "return", summaries: [{ locale: "de", text: "60 Tage." }] } as const;
      expect(
        (await countVersionRises(world, "", () => world.run(upsertMerchantPolicy, change))).catalog,
      ).toBe(1);
      expect(
        (await countVersionRises(world, "", () => world.run(upsertMerchantPolicy, change))).catalog,
      ).toBe(0);
      expect(await policyRow(general.policyId)).toMatchObject({ summaries: { de: "60 Tage." }, version: 2 });
      expect(await world.refusal(upsertMerchantPolicy, { ...change, expectedVersion: 1 })).toEqual({
        code: "version_conflict",
        details: [],
        conflict: {
          resource: "policy",
          id: general.policyId,
          currentStatus: null,
          currentVersion: 2,
          reason: null,
          data: {},
        },
      });
    });

    it("refuses input out of bounds, and a market of another merchant", async () => {
      expect(
        await world.refusal(upsertMerchantPolicy, {
          type: "free" as "return",
          summaries: [],
          url: "http://shop.example",
        }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /type not_allowed", "body /summaries too_short", "body /url pattern_mismatch"],
        conflict: null,
      });
      expect(
        await world.refusal(upsertMerchantPolicy, { type: "return", summaries, marketId: world.otherMarket }),
      ).toEqual(missing);
    });
  });
});
