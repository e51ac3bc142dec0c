/** A country belongs to at most one market of its merchant, and writes never reach another merchant's markets. */
import { beforeAll, describe, expect, it } from "vitest";
import { upsertMarket } from "#commerce/markets/change-market.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { createWorld, europeInput, makePublished, countVersionRises, type World } from "./writes-world.ts";

const asia = {
  handle: "asia",
  name: "Asia",
  currency: "JPY",
  taxIncluded: true,
  defaultLocale: "JA-jp-u-ca-japanese",
  timeZone: "Asia/Tokyo",
  countries: ["JP", "KR"],
};

describeOnBoth("marketUpsert", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const row = (id: string) =>
    world.db.selectFrom("market").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const countriesOf = async (marketId: string) =>
    (
      await world.db
        .selectFrom("marketCountry")
        .select("country")
        .where("marketId", "=", marketId)
        .orderBy("position")
        .execute()
    ).map(({ country }) => country);

  it("creates a market, finds it by handle or id, and replaces it as a whole", async () => {
    const { marketId } = await world.run(upsertMarket, asia);
    expect(await row(marketId)).toMatchObject({
      handle: "asia",
      name: "Asia",
      currency: "JPY",
      defaultLocale: "ja-JP",
      timeZone: "Asia/Tokyo",
      version: 1,
    });
    expect(await countriesOf(marketId)).toEqual(["JP", "KR"]);
    expect(await world.run(upsertMarket, { ...asia, currency: "USD", countries: ["SG", "JP"] })).toEqual({
      marketId,
    });
    expect(await row(marketId)).toMatchObject({ currency: "USD", version: 2 });
    expect(await countriesOf(marketId)).toEqual(["SG", "JP"]);
    await world.run(upsertMarket, { ...asia, marketId, handle: "far-east", expectedVersion: 2 });
    expect(await row(marketId)).toMatchObject({ handle: "far-east", version: 3 });
  });

  it("raises each version by one, also for the countries alone, and not if nothing changed", async () => {
    const before = await row(world.europe);
    const more = { ...europeInput, countries: ["DE", "AT", "FR"] };
    expect((await countVersionRises(world, "", () => world.run(upsertMarket, more))).catalog).toBe(1);
    expect((await countVersionRises(world, "", () => world.run(upsertMarket, more))).catalog).toBe(0);
    expect((await row(world.europe)).version).toBe(before.version + 1);
    await world.run(upsertMarket, europeInput);
    expect(await countriesOf(world.europe)).toEqual(["DE", "AT"]);
  });

  it("reindexes the products offered in the market", async () => {
    const { productId } = await makePublished(world);
    await world.run(upsertMarket, { ...europeInput, countries: ["DE", "AT", "CH"] });
    expect(world.takeIndexed()).toEqual([[productId]]);
    await world.run(upsertMarket, { ...europeInput, countries: ["DE", "AT", "CH"] });
    expect(world.takeIndexed()).toEqual([]);
  });

  it("lets a country move to another market, and be in a market of another merchant", async () => {
    await world.run(upsertMarket, { ...europeInput, countries: ["DE"] });
    const { marketId } = await world.run(upsertMarket, { ...europeInput, handle: "alps", countries: ["AT"] });
    expect(await countriesOf(marketId)).toEqual(["AT"]);
    await world.run(upsertMarket, { ...europeInput, countries: ["DE", "AT"] }, world.other);
  });

  describe("refuses", () => {
    it("a country of another market, and names that market", async () => {
      expect(await world.refusal(upsertMarket, { ...asia, handle: "new", countries: ["CN", "US"] })).toEqual({
        code: "already_exists",
        details: ["body /countries/1 already_exists"],
        conflict: {
          resource: "market",
          id: world.america,
          currentStatus: null,
          currentVersion: 1,
          reason: "country_taken",
          data: { countries: ["US"], handle: "america" },
        },
      });
    });

    it("a handle of another market", async () => {
      expect(
        await world.refusal(upsertMarket, {
          ...europeInput,
          marketId: world.europe,
          handle: "america",
          countries: ["DE"],
        }),
      ).toMatchObject({
        code: "already_exists",
        details: ["body /handle already_exists"],
        conflict: { id: world.america, reason: "handle_taken" },
      });
    });

    it("a wrong expected version", async () => {
      const { version } = await row(world.america);
      const input = {
        ...asia,
        marketId: world.america,
        handle: "america",
        countries: ["US"],
        expectedVersion: version + 1,
      };
      expect(await world.refusal(upsertMarket, input)).toEqual({
        code: "version_conflict",
        details: [],
        conflict: {
          resource: "market",
          id: world.america,
          currentStatus: null,
          currentVersion: version,
          reason: null,
          data: {},
        },
      });
    });

    it("a market of another merchant", async () => {
      expect(
        await world.refusal(upsertMarket, { ...asia, marketId: world.otherMarket, handle: "x" }),
      ).toMatchObject({ code: "resource_not_found" });
    });

    it("unknown currencies, locales and countries, all at once", async () => {
      const input = {
        handle: "Nah",
        name: "",
        currency: "XYZ",
        taxIncluded: true,
        defaultLocale: "deutsch!",
        timeZone: "+01:00",
        countries: ["XX", "de", "DE", "DE"],
      };
      expect(await world.refusal(upsertMarket, input)).toEqual({
        code: "invalid_field",
        details: [
          "body /handle pattern_mismatch",
          "body /name too_short",
          "body /currency unknown_currency",
          "body /defaultLocale invalid_locale",
          "body /timeZone unknown_time_zone",
          "body /countries/0 unknown_country",
          "body /countries/1 unknown_country",
          "body /countries/3 duplicate",
        ],
        conflict: null,
      });
      expect(await world.refusal(upsertMarket, { ...asia, handle: "empty", countries: [] })).toMatchObject({
        details: ["body /countries too_short"],
      });
      expect(
        await world.refusal(upsertMarket, { ...asia, handle: "nowhere", timeZone: "Europe/Atlantis" }),
      ).toMatchObject({
        details: ["body /timeZone unknown_time_zone"],
      });
    });
  });
});
