/** Tax rates, delivery methods and policies of a market: identified by their scope and replaced as a whole. */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { type UpsertDeliveryMethodInput, upsertDeliveryMethod } from "#commerce/markets/delivery-methods.ts";
import { deleteTaxRate, updateTaxRate } from "#commerce/tax/change-tax-rate.ts";
import { findTaxRateOverlaps, type UpsertTaxRateInput, upsertTaxRate } from "#commerce/tax/tax-rates.ts";
import { findTaxRates } from "#commerce/markets/read-markets.ts";
import { findTaxClasses, upsertTaxClass } from "#commerce/tax/tax-classes.ts";
import { createId } from "#foundation/ids.ts";
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
  const ratesOf = async (taxClass: string): Promise<unknown[]> =>
    (await findTaxRates(world.db, [world.europe]))
      .filter((row) => row.taxClass === taxClass)
      .map(({ basisPoints, validFrom, validTo }) => [basisPoints, validFrom, validTo]);
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

    it("changes a rate from a later day on, and continues the earlier rate after a temporary one", async () => {
      await world.run(upsertTaxClass, { code: "reduced", name: "Reduced" });
      const reduced = { ...rate(), taxClass: "reduced" };
      const { taxRateId } = await world.run(upsertTaxRate, { ...reduced, basisPoints: 700 });
      await world.run(upsertTaxRate, {
        ...reduced,
        basisPoints: 500,
        validFrom: "2030-07-01",
        validTo: "2030-12-31",
      });
      const temporary = [
        [700, null, "2030-06-30"],
        [500, "2030-07-01", "2030-12-31"],
        [700, "2031-01-01", null],
      ];
      expect(await ratesOf("reduced")).toEqual(temporary);
      const later = { ...reduced, basisPoints: 800, validFrom: "2030-10-01" };
      expect(await world.refusal(upsertTaxRate, { ...later, validTo: "2031-01-01" })).toMatchObject({
        code: "already_exists",
        details: ["body /validTo already_exists"],
        conflict: { reason: "tax_rate_overlap", data: { validFrom: "2031-01-01" } },
      });
      expect(await world.refusal(upsertTaxRate, { ...later, validTo: "2030-09-30" })).toMatchObject({
        details: ["body /validTo out_of_range"],
      });
      expect(await ratesOf("reduced")).toEqual(temporary);
      // Without a first day, the call means the oldest rate of the class.
      expect(await world.run(upsertTaxRate, { ...reduced, basisPoints: 600 })).toEqual({ taxRateId });
      expect(await ratesOf("reduced")).toEqual([[600, null, "2030-06-30"], ...temporary.slice(1)]);
      // The days after a temporary rate keep their rate, also if that rate begins on the same day.
      await world.run(upsertTaxRate, {
        ...reduced,
        basisPoints: 500,
        validFrom: "2031-01-01",
        validTo: "2031-06-30",
      });
      expect((await ratesOf("reduced")).slice(1)).toEqual([
        [500, "2030-07-01", "2030-12-31"],
        [500, "2031-01-01", "2031-06-30"],
        [700, "2031-07-01", null],
      ]);
      for (const days of [{ validTo: "9999-12-31" }, { validFrom: "0001-01-01" }])
        expect(await world.refusal(upsertTaxRate, { ...reduced, ...days })).toMatchObject({
          code: "invalid_field",
          details: [`body /${Object.keys(days)[0]} out_of_range`],
        });
      expect(await ratesOf("standard")).toHaveLength(2);
    });

    it("is protected by the database: two rates of a class cannot be valid on the same day", async () => {
      const { taxRateId } = await world.run(upsertTaxRate, { ...rate(), country: "AT" });
      const copy = (validFrom: string | null, taxClass: string) =>
        sql`insert into tax_rate (id, merchant_id, market_id, country, name, basis_points, applies_to_shipping,
          tax_class, valid_from, updated_at)
          select ${createId("taxRate")}, merchant_id, market_id, country, name, basis_points,
          applies_to_shipping, ${taxClass}, ${validFrom}::date, updated_at
          from tax_rate where id = ${taxRateId}`.execute(world.db);
      await expect(copy("2040-01-01", "standard")).rejects.toThrow(/tax_rate_overlap/);
      await expect(copy(null, "unknown")).rejects.toThrow(/tax_rate_tax_class_fkey/);
      await sql`update tax_rate set valid_to = '2039-12-31' where id = ${taxRateId}`.execute(world.db);
      await copy("2040-01-01", "standard");
    });

    it("refuses input out of bounds, and a country or a market of another market or merchant", async () => {
      expect(await world.refusal(upsertTaxRate, { ...rate(), taxClass: "nothing" })).toMatchObject({
        code: "resource_not_found",
        details: ["body /taxClass resource_not_found"],
      });
      expect(
        await world.refusal(upsertTaxRate, {
          ...rate(),
          regionCode: "AT-1",
          name: "\n",
          basisPoints: 10_001,
        }),
      ).toEqual({
        code: "invalid_field",
        details: ["body /regionCode unknown_region", "body /name too_short", "body /basisPoints too_large"],
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

  describe("taxRateUpdate, taxRateDelete and taxRateOverlaps", () => {
    const food = (): UpsertTaxRateInput => ({ ...rate(), taxClass: "food", basisPoints: 700 });
    const rowsOf = async (): Promise<{ id: string; validFrom: string | null }[]> =>
      (await findTaxRates(world.db, [world.europe])).filter(({ taxClass }) => taxClass === "food");
    beforeAll(() => world.run(upsertTaxClass, { code: "food", name: "Food" }));

    it("ends a rate on its new last day, and refuses the days of another rate", async () => {
      const period = { validFrom: "2027-06-01", validTo: "2028-06-30" };
      const { taxRateId } = await world.run(upsertTaxRate, { ...food(), ...period });
      await world.run(updateTaxRate, { taxRateId, validTo: "2027-09-30" });
      expect(await ratesOf("food")).toEqual([[700, "2027-06-01", "2027-09-30"]]);
      await world.run(updateTaxRate, { taxRateId, validTo: null, basisPoints: 800 });
      expect(await ratesOf("food")).toEqual([[800, "2027-06-01", null]]);
      await world.run(upsertTaxRate, { ...food(), validFrom: "2029-01-01" });
      for (const [days, field, message] of [
        [{ validTo: null }, "/validTo", /begins on 2029-01-01; the last day must be before/],
        [{ validTo: "2029-01-01" }, "/validTo", /begins on 2029-01-01/],
        [{ validTo: "2027-05-31" }, "/validTo", /^The last day must not be before the first day\.$/],
        [{ validFrom: "2026-01-01", validTo: "2029-01-01" }, "/validTo", /begins on 2029-01-01/],
        [{ validFrom: "2029-06-01" }, "/validFrom", /^The last day must not be before the first day\.$/],
      ] as const) {
        const refused = world.run(updateTaxRate, { taxRateId, ...days });
        await expect(refused).rejects.toMatchObject({
          parts: { details: [{ field, message: expect.stringMatching(message) }] },
        });
      }
      const later = (await rowsOf()).at(-1)?.id ?? "";
      expect(await world.refusal(updateTaxRate, { taxRateId: later, validFrom: "2028-12-31" })).toMatchObject(
        {
          code: "already_exists",
          details: ["body /validFrom already_exists"],
          conflict: { reason: "tax_rate_overlap", data: { validFrom: "2027-06-01" } },
        },
      );
    });

    it("names the rates that a new rate replaces, shortens, postpones or splits, and changes nothing", async () => {
      const scope = { merchantId: "mer_one" };
      const before = await ratesOf("food");
      const [first, second] = await rowsOf();
      const overlapsOf = async (days: Partial<UpsertTaxRateInput>): Promise<unknown> =>
        (await findTaxRateOverlaps(world.db, scope, { ...food(), ...days })).overlaps.map(
          ({ taxRateId, remainingPeriods }) =>
            [taxRateId].concat(remainingPeriods.map(({ validFrom, validTo }) => `${validFrom} ${validTo}`)),
        );
      expect(await overlapsOf({ validFrom: "2029-01-01" })).toEqual([[second?.id]]);
      expect(await overlapsOf({ validFrom: "2028-01-01" })).toEqual([[first?.id, "2027-06-01 2027-12-31"]]);
      expect(await overlapsOf({ validFrom: "2029-01-01", validTo: "2029-06-30" })).toEqual([
        [second?.id, "2029-07-01 null"],
      ]);
      expect(await overlapsOf({ validFrom: "2030-01-01", validTo: "2030-06-30" })).toEqual([
        [second?.id, "2029-01-01 2029-12-31", "2030-07-01 null"],
      ]);
      expect(await overlapsOf({ regionCode: "DE-BY" })).toEqual([]);
      await expect(overlapsOf({ regionCode: "DE-QQ" })).rejects.toMatchObject({ code: "invalid_field" });
      await expect(overlapsOf({ marketId: world.otherMarket })).rejects.toMatchObject({
        code: "resource_not_found",
      });
      expect(await ratesOf("food")).toEqual(before);
    });

    it("deletes a rate and no other, and finds no rate of another merchant", async () => {
      const [first, second] = await rowsOf();
      const taxRateId = second?.id ?? "";
      const unknown = { code: "resource_not_found" };
      expect(await world.refusal(deleteTaxRate, { taxRateId }, world.other)).toMatchObject(unknown);
      const change = { taxRateId, basisPoints: 0 };
      expect(await world.refusal(updateTaxRate, change, world.other)).toMatchObject(unknown);
      expect(await world.refusal(deleteTaxRate, { taxRateId: "\u0000" })).toMatchObject(unknown);
      expect(await world.run(deleteTaxRate, { taxRateId })).toEqual({ taxRateId });
      expect((await rowsOf()).map(({ id }) => id)).toEqual([first?.id]);
      expect(await world.refusal(deleteTaxRate, { taxRateId })).toMatchObject(unknown);
    });

    it("refuses a region that the country lacks, and names its regions or the most similar ones", async () => {
      const saveIn = (country: string, regionCode: string): Promise<unknown> =>
        world.run(upsertTaxRate, { ...food(), country, regionCode });
      await expect(saveIn("DE", "DE-QQ")).rejects.toMatchObject({
        parts: {
          details: [
            { field: "/regionCode", code: "unknown_region", allowed: expect.arrayContaining(["DE-BY"]) },
          ],
        },
      });
      await expect(saveIn("DE", "Bavaria")).rejects.toMatchObject({
        parts: { details: [{ field: "/regionCode", message: expect.stringContaining("DE-") }] },
      });
    });
  });

  describe("taxClassUpsert", () => {
    it("creates and renames a class, and refuses a wrong code and an empty name", async () => {
      await world.run(upsertTaxClass, { code: "books", name: "Books" });
      await world.run(upsertTaxClass, { code: "books", name: "Books and maps" }, world.later(1000));
      const { merchantId } = await world.db
        .selectFrom("market")
        .select("merchantId")
        .where("id", "=", world.europe)
        .executeTakeFirstOrThrow();
      const classes = await findTaxClasses(world.db, [merchantId]);
      expect(classes.map(({ code, name }) => [code, name])).toEqual([
        ["books", "Books and maps"],
        ["food", "Food"],
        ["reduced", "Reduced"],
        ["standard", "Standard"],
      ]);
      expect(await world.refusal(upsertTaxClass, { code: "Books", name: "" })).toMatchObject({
        code: "invalid_field",
        details: [expect.stringContaining("body /code"), "body /name too_short"],
      });
    });
  });

  describe("deliveryMethodUpsert", () => {
    it("keeps its tax class and rule if they are left out, and refuses an unknown class", async () => {
      const code = "taxed";
      const { deliveryMethodId } = await world.run(upsertDeliveryMethod, { ...method(), code });
      expect(await methodRow(deliveryMethodId)).toMatchObject({ taxRule: "own_class", taxClass: "standard" });
      const taxed = { taxRule: "goods", taxClass: "reduced" } as const;
      await world.run(upsertDeliveryMethod, { ...method(), code, ...taxed });
      await world.run(upsertDeliveryMethod, { ...method(), code });
      expect(await methodRow(deliveryMethodId)).toMatchObject(taxed);
      expect(
        await world.refusal(upsertDeliveryMethod, { ...method(), code, taxClass: "nothing" }),
      ).toMatchObject({ code: "resource_not_found", details: ["body /taxClass resource_not_found"] });
    });

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
