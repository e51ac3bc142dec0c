/**
 * The policy rules that an order stores when it is placed: the market's policy, else the merchant's, else the
 * defaults, complete and in the order's locale.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { snapshotPoliciesForOrder } from "#commerce/orders/snapshot-policies.ts";
import { runInTransaction } from "#database/transaction.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";

describe("an order's policies", () => {
  const world = useWorld();
  let orderId: string;
  let marketId: string;

  const upsert = async (input: Readonly<Record<string, unknown>>) => {
    const query =
      "mutation ($input: PolicyUpsertInput!) { policyUpsert(input: $input) { id version rules } }";
    return askGraph(world(), query, { input }, { token: "admin" });
  };
  const summaries = (en: string, de: string): unknown => [
    { locale: "en", text: en },
    { locale: "de", text: de },
  ];

  /** Takes a snapshot of the policies for a new order. */
  async function snapshot(given: {
    readonly country?: string;
    readonly locale?: string;
    readonly currency?: string;
  }) {
    const { db } = world().database;
    const order = await readOrder(world(), orderId);
    await runInTransaction(db, async (transaction) => {
      await sql`delete from policy_snapshot where order_id = ${orderId}`.execute(transaction);
      const { country = "DE", locale = "de-AT", currency = "EUR" } = given;
      const context = { merchantId: order.merchant.id, now: world().clock.now() };
      await snapshotPoliciesForOrder(transaction, context, { orderId, marketId, country, locale, currency });
      await sql`update sales_order set version = version + 1 where id = ${orderId}`.execute(transaction);
    });
    const { policies } = await readOrder(world(), orderId);
    expect(
      policies.every(
        ({ id, capturedAt }) =>
          /^pol_[0-9a-hjkmnp-tv-z]{26}$/.test(id) && capturedAt === world().clock.now().toISOString(),
      ),
    ).toBe(true);
    return Object.fromEntries(
      policies.map(({ type, summary, summaries: all, url, rules }) => [type, { summary, all, url, rules }]),
    );
  }

  beforeAll(async () => {
    ({ id: orderId, marketId } = await insertOrder(world()));
    await sql`delete from policy`.execute(world().database.db);
  });

  it("are the defaults in the order's language if the merchant has none, and never below the statutory minimum", async () => {
    expect(await snapshot({ locale: "en-GB" })).toMatchObject({
      cancellation: {
        summary:
          "You may cancel an order within 60 minutes; after that you may ask for it until it is shipped.",
        all: {},
        url: null,
        rules: { mode: "immediate", windowMinutes: 60, afterWindow: "request" },
      },
      return: { rules: { windowDays: 30, exchangeWindowDays: 30, methods: ["mail"] } },
      withdrawal: {
        summary:
          "You may withdraw from the purchase within 14 days of the delivery, or of the order where " +
          "nothing is delivered, without giving a reason.",
        rules: { windowDays: 14 },
      },
      warranty: {
        summary: "What you bought is guaranteed for 24 months from its delivery.",
        rules: { months: 24, repairs: 1, replacements: 1 },
      },
    });
    expect(await snapshot({})).toMatchObject({
      warranty: { summary: "Auf Ihren Kauf besteht ab der Lieferung 24 Monate Garantie." },
    });
    expect(await snapshot({ country: "US" })).toMatchObject({
      withdrawal: { rules: { windowDays: 0 } },
      warranty: { rules: { months: 0 } },
    });
  });

  it("are the market's before the merchant's, in the order's language or the closest one", async () => {
    await upsert({
      type: "RETURN",
      summaries: summaries("All", "Alle"),
      url: "https://shop.example/all",
      rules: { return: { windowDays: 60 } },
    });
    expect((await snapshot({})).return).toMatchObject({
      summary: "Alle",
      all: { en: "All", de: "Alle" },
      url: "https://shop.example/all",
      rules: { windowDays: 60, keepItemMinor: null },
    });
    const rules = { return: { keepItemMinor: 700, mode: "REQUEST", methods: ["STORE", "MAIL"] } };
    const made = await upsert({ type: "RETURN", marketId, summaries: summaries("Own", "Eigene"), rules });
    expect(made.data).toEqual({
      id: expect.any(String),
      version: 1,
      rules: { mode: "request", methods: ["store", "mail"], keepItemMinor: 700 },
    });
    expect((await snapshot({ locale: "en-GB" })).return).toMatchObject({
      summary: "Own",
      url: null,
      rules: { windowDays: 30, mode: "request", keepItemMinor: 700 },
    });
    expect((await snapshot({ locale: "fr" })).return).toMatchObject({ summary: "Eigene" });
    // Amounts in the market's currency do not apply to an order in another currency.
    expect((await snapshot({ currency: "CHF" })).return).toMatchObject({
      rules: { mode: "request", keepItemMinor: null },
    });
  });

  it("report a category that belongs to another merchant", async () => {
    const refused = await upsert({
      type: "WITHDRAWAL",
      summaries: summaries("A", "B"),
      rules: { return: { windowDays: 1 } },
    });
    expect([refused.error?.code, refused.error?.details]).toMatchObject([
      "invalid_field",
      [{ field: "/rules/return", code: "not_allowed" }],
    ]);
  });
});
