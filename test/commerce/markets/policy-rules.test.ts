/** The rules of a policy: allowed input, defaults, and what an order stores. */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { type UpsertMerchantPolicyInput, upsertMerchantPolicy } from "#commerce/markets/change-policy.ts";
import { completePolicyRulesWithDefaults, defaultPolicyRules } from "#commerce/markets/policy-rules.ts";
import { createId } from "#foundation/ids.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { createWorld, countVersionRises, type World } from "#test/commerce/writes-world.ts";

describe("an omitted rule", () => {
  it("gets its default, and null is kept if null is a rule", () => {
    expect(completePolicyRulesWithDefaults("cancellation", {}, { country: "US" })).toEqual({
      mode: "immediate",
      windowMinutes: 60,
      afterWindow: "request",
    });
    expect(
      completePolicyRulesWithDefaults("cancellation", { windowMinutes: null }, { country: "US" }),
    ).toMatchObject({
      windowMinutes: null,
      afterWindow: "request",
    });
    expect(completePolicyRulesWithDefaults("return", { windowDays: 100 }, { country: "DE" })).toEqual({
      ...defaultPolicyRules.return,
      windowDays: 100,
    });
  });

  it.each([
    ["DE", {}, 14, 24],
    ["NO", {}, 14, 0],
    ["US", {}, 0, 0],
    ["CH", {}, 0, 0],
    // The statutory minimum applies if the merchant grants less.
    ["DE", { days: 7, months: 12 }, 14, 24],
    ["DE", { days: 30, months: 36 }, 30, 36],
    ["US", { days: 7, months: 12 }, 7, 12],
  ])(
    "in %s, if the merchant says %o: %i days to withdraw, %i months of warranty",
    (country, { days, months }: { days?: number; months?: number }, windowDays, long) => {
      expect(
        completePolicyRulesWithDefaults("withdrawal", days === undefined ? {} : { windowDays: days }, {
          country,
        }),
      ).toEqual({ windowDays });
      expect(
        completePolicyRulesWithDefaults("warranty", months === undefined ? {} : { months }, { country }),
      ).toMatchObject({
        months: long,
      });
    },
  );
});

describeOnPostgres("the rules of a policy", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(open);
  });

  const summaries = [{ locale: "de", text: "So ist es." }];
  const policy = (
    type: UpsertMerchantPolicyInput["type"],
    rules: UpsertMerchantPolicyInput["rules"],
    marketId: string | null = null,
  ): UpsertMerchantPolicyInput => ({
    type,
    summaries,
    rules,
    marketId,
  });
  const rowOf = (id: string) =>
    world.db.selectFrom("policy").select(["rules", "version"]).where("id", "=", id).executeTakeFirst();

  it("are stored as given, and a changed rule raises the version", async () => {
    const said = {
      mode: "request",
      windowDays: null,
      methods: ["mail", "store"],
      keepItemMinor: 500,
      photoRequired: null,
    } as const;
    const { policyId } = await world.run(
      upsertMerchantPolicy,
      policy("return", { return: said }, world.europe),
    );
    expect(await rowOf(policyId)).toEqual({
      rules: { mode: "request", windowDays: null, methods: ["mail", "store"], keepItemMinor: 500 },
      version: 1,
    });
    const again = {
      mode: "request",
      methods: ["mail", "store"],
      keepItemMinor: 500,
      windowDays: null,
    } as const;
    expect(
      (
        await countVersionRises(world, "", () =>
          world.run(upsertMerchantPolicy, policy("return", { return: again }, world.europe)),
        )
      ).catalog,
    ).toBe(0);
    expect(
      (
        await countVersionRises(world, "", () =>
          world.run(upsertMerchantPolicy, policy("return", { return: { windowDays: 60 } }, world.europe)),
        )
      ).catalog,
    ).toBe(1);
    expect(await rowOf(policyId)).toEqual({ rules: { windowDays: 60 }, version: 2 });
    await world.run(upsertMerchantPolicy, policy("return", null, world.europe));
    expect(await rowOf(policyId)).toEqual({ rules: {}, version: 3 });
  });

  it.each([
    ["cancellation", { cancellation: { windowMinutes: 0 } }, ["/rules/cancellation/windowMinutes too_small"]],
    [
      "cancellation",
      { cancellation: { windowMinutes: 43_201 } },
      ["/rules/cancellation/windowMinutes too_large"],
    ],
    [
      "cancellation",
      { return: {}, warranty: { months: 1 } },
      ["/rules/return not_allowed", "/rules/warranty not_allowed"],
    ],
    [
      "return",
      { return: { windowDays: 0, exchangeWindowDays: 3651 } },
      ["/rules/return/windowDays too_small", "/rules/return/exchangeWindowDays too_large"],
    ],
    [
      "return",
      { return: { restockingBasisPoints: 10_001 } },
      ["/rules/return/restockingBasisPoints too_large"],
    ],
    [
      "return",
      { return: { returnShippingMinor: -1 } },
      ["/rules/return/returnShippingMinor too_small", "/rules/return/returnShippingMinor market_required"],
    ],
    [
      "return",
      { return: { returnShippingMinor: 1, keepItemMinor: 1 } },
      ["/rules/return/returnShippingMinor market_required", "/rules/return/keepItemMinor market_required"],
    ],
    ["return", { return: { returnsPerBuyerMax: 0 } }, ["/rules/return/returnsPerBuyerMax too_small"]],
    ["return", { return: { methods: [] } }, ["/rules/return/methods too_short"]],
    ["return", { return: { methods: ["mail", "mail"] } }, ["/rules/return/methods/1 duplicate"]],
    ["return", { return: { extendUntil: "2026-02-29" } }, ["/rules/return/extendUntil invalid_format"]],
    ["return", { return: { extendUntil: "tomorrow" } }, ["/rules/return/extendUntil invalid_format"]],
    [
      "return",
      { return: { excludedCountries: ["XX", "DE", "DE"] } },
      ["/rules/return/excludedCountries/0 unknown_country", "/rules/return/excludedCountries/2 duplicate"],
    ],
    ["withdrawal", { withdrawal: { windowDays: 366 } }, ["/rules/withdrawal/windowDays too_large"]],
    [
      "warranty",
      { warranty: { months: 241, repairs: -1, replacements: 1001 } },
      [
        "/rules/warranty/months too_large",
        "/rules/warranty/repairs too_small",
        "/rules/warranty/replacements too_large",
      ],
    ],
  ] as const)("of %s are refused: %o", async (type, rules, details) => {
    expect(await world.refusal(upsertMerchantPolicy, policy(type, rules))).toEqual({
      code: "invalid_field",
      details: details.map((detail) => `body ${detail}`),
      conflict: null,
    });
  });

  it("refuse a category of another merchant", async () => {
    const refused = await world.refusal(
      upsertMerchantPolicy,
      policy("return", { return: { excludedCategoryIds: [createId("category"), "\u0000"] } }),
    );
    expect(refused).toEqual({
      code: "resource_not_found",
      details: [
        "body /rules/return/excludedCategoryIds/0 resource_not_found",
        "body /rules/return/excludedCategoryIds/1 resource_not_found",
      ],
      conflict: null,
    });
    expect(
      (await sql`select 1 from policy where rules ? 'excludedCategoryIds'`.execute(world.db)).rows,
    ).toEqual([]);
  });
});
