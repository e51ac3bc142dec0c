/**
 * funnelReport, promotionReport and returnReport: figures calculated by hand, and a comparison with the
 * demo's rows.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { useWorld } from "#test/support/use-world.ts";
import { makeOrder, type MarketIds, marketsOf } from "./made-orders.ts";

describe("reports of the shop", () => {
  const world = useWorld();
  let eur: MarketIds;
  let theirs: MarketIds;

  const ask = async (query: string, token = "analyst"): Promise<unknown> => {
    const { body } = await world().graphql(`{ report: ${query} }`, { token });
    return body.errors ?? body.data.report;
  };

  beforeAll(async () => {
    const { merchants } = world().demo;
    const [ours, others] = [
      (await marketsOf(world(), merchants.first.id)).get("EUR"),
      (await marketsOf(world(), merchants.second.id)).get("EUR"),
    ];
    if (ours === undefined || others === undefined) throw new Error("Both sell in EUR.");
    [eur, theirs] = [ours, others];
  });

  describe("promotionReport", () => {
    const totals = "totals { currency orders canceledOrders discountMinor grossMinor netMinor }";

    it("counts an order for each of its promotions, and once in the totals", async () => {
      const order = { ...eur, currency: "EUR", placedAt: "2032-05-05T12:00:00Z" };
      const [one, two] = ["prm_01aaaaaaaaaaaaaaaaaaaaaaaa", "prm_01bbbbbbbbbbbbbbbbbbbbbbbb"];
      await makeOrder(world(), {
        ...order,
        totalMinor: 900,
        discountMinor: 150,
        promotions: [
          { promotionId: one, discountMinor: 100 },
          { promotionId: two, discountMinor: 50 },
        ],
      });
      await makeOrder(world(), {
        ...order,
        totalMinor: 500,
        discountMinor: 70,
        reducedMinor: 500,
        isCanceled: true,
        promotions: [{ promotionId: one, discountMinor: 70 }],
      });
      await makeOrder(world(), {
        ...order,
        currency: "USD",
        totalMinor: 300,
        discountMinor: 30,
        promotions: [{ promotionId: one, discountMinor: 30 }],
      });
      await makeOrder(world(), { ...order, totalMinor: 10_000 });
      await makeOrder(world(), {
        ...order,
        ...theirs,
        totalMinor: 1,
        discountMinor: 1,
        promotions: [{ promotionId: one, discountMinor: 1 }],
      });
      const zeros = { orders: 0, canceledOrders: 0, discountMinor: 0, grossMinor: 0, netMinor: 0 };
      const rows = [
        {
          promotionId: one,
          currency: "EUR",
          orders: 2,
          canceledOrders: 1,
          discountMinor: 170,
          grossMinor: 1400,
          netMinor: 900,
        },
        {
          promotionId: one,
          currency: "USD",
          orders: 1,
          canceledOrders: 0,
          discountMinor: 30,
          grossMinor: 300,
          netMinor: 300,
        },
        {
          promotionId: two,
          currency: "EUR",
          orders: 1,
          canceledOrders: 0,
          discountMinor: 50,
          grossMinor: 900,
          netMinor: 900,
        },
      ];
      const selection =
        `${totals} promotions { promotionId currency orders canceledOrders discountMinor ` +
        "grossMinor netMinor }";
      expect(await ask(`promotionReport(from: "2032-05-05", to: "2032-05-05") { ${selection} }`)).toEqual({
        totals: [
          {
            currency: "EUR",
            orders: 2,
            canceledOrders: 1,
            discountMinor: 220,
            grossMinor: 1400,
            netMinor: 900,
          },
          { ...zeros, currency: "JPY" },
          { ...zeros, currency: "USD", orders: 1, discountMinor: 30, grossMinor: 300, netMinor: 300 },
        ],
        promotions: rows,
      });
      expect(
        await ask(
          'promotionReport(from: "2032-05-05", to: "2032-05-05", first: 1) { promotions { promotionId ' +
            "currency } }",
        ),
      ).toEqual({
        promotions: [{ promotionId: one, currency: "EUR" }],
      });
    });

    it("returns 1 to 100 promotions", async () => {
      for (const first of [0, 101])
        expect(
          await ask(
            `promotionReport(from: "2032-05-05", to: "2032-05-05", first: ${first}) { promotions { ` +
              "orders } }",
          ),
        ).toMatchObject([{ extensions: { code: "invalid_field", details: [{ field: "/first" }] } }]);
    });
  });

  describe("returnReport", () => {
    it("counts returns by the day of the request; declined and canceled ones have no amounts", async () => {
      const order = {
        ...eur,
        currency: "EUR",
        placedAt: "2032-06-05T12:00:00Z",
        totalMinor: 9000,
        units: [5],
      };
      const small = { kind: "return_refund", reason: "size_too_small" } as const;
      await makeOrder(world(), {
        ...order,
        returns: [
          { ...small, status: "closed", units: 2, refundMinor: 1000, feeMinor: 100, refundedMinor: 1000 },
          { ...small, status: "declined", units: 1, refundMinor: 700, feeMinor: 70 },
          { ...small, status: "canceled", units: 1, refundMinor: 300, feeMinor: 30 },
          { kind: "repair", reason: "defective", status: "approved", units: 1, refundMinor: 0, feeMinor: 0 },
        ],
      });
      await makeOrder(world(), {
        ...order,
        ...theirs,
        returns: [{ ...small, status: "closed", units: 5, refundMinor: 5, feeMinor: 5 }],
      });
      const figures = "currency returns units declined canceled closed promisedMinor feeMinor refundedMinor";
      const repair = {
        currency: "EUR",
        returns: 1,
        units: 1,
        declined: 0,
        canceled: 0,
        closed: 0,
        promisedMinor: 0,
        feeMinor: 0,
        refundedMinor: 0,
      };
      const smalls = {
        currency: "EUR",
        returns: 3,
        units: 4,
        declined: 1,
        canceled: 1,
        closed: 1,
        promisedMinor: 1000,
        feeMinor: 100,
        refundedMinor: 1000,
      };
      expect(
        await ask(
          `returnReport(from: "2032-06-06", to: "2032-06-06", market: "${eur.handle}") { totals { ` +
            `${figures} } reasons { kind reason ${figures} } }`,
        ),
      ).toEqual({
        totals: [{ ...smalls, returns: 4, units: 5 }],
        reasons: [
          { kind: "RETURN_REFUND", reason: "SIZE_TOO_SMALL", ...smalls },
          { kind: "REPAIR", reason: "DEFECTIVE", ...repair },
        ],
      });
      // The day of the order has no returns.
      expect(await ask('returnReport(from: "2032-06-05", to: "2032-06-05") { reasons { returns } }')).toEqual(
        { reasons: [] },
      );
    });
  });

  describe("funnelReport", () => {
    const figures =
      "carts checkouts submittedCheckouts orders sessions conversionRate outcomes { status reason sessions }";

    it("counts checkouts and orders of a period's carts, and why checkouts ended", async () => {
      const at = "timestamptz '2032-07-07T12:00:00Z'";
      const cart = (status: string, merchant = eur): { id: string; sql: string } => {
        const id = createId("cart");
        const into = status === "merged" ? `'${world().demo.carts.empty}'` : "null";
        const ended = status === "merged" ? at : "null";
        return {
          id,
          sql: `insert into cart (id, merchant_id, country, currency, market_id, tax_included, locale, status,
            ended_at, merged_into_cart_id, created_at, updated_at, expires_at)
            values ('${id}', '${merchant.merchantId}', 'DE', 'EUR', '${merchant.marketId}', true, 'en',
            '${status}', ${ended}, ${into}, ${at}, ${at}, ${at})`,
        };
      };
      const session = (
        cartId: string,
        status: string,
        { reason = null, isSubmitted = false }: { reason?: string | null; isSubmitted?: boolean } = {},
      ): string =>
        `insert into hosted_checkout_session (id, merchant_id, country, currency, cart_id, status, locale,
          amount_total_minor, success_url, cancel_url, canceled_at, cancel_reason, submitted_at, created_at,
          updated_at, expires_at)
          values ('${createId("checkoutSession")}', '${eur.merchantId}', 'DE', 'EUR', '${cartId}',
          '${status}', 'en', 1, 'https://x.example', 'https://x.example',
            ${reason === null ? "null" : at}, ${reason === null ? "null" : `'${reason}'`},
            ${isSubmitted ? at : "null"}, ${at}, ${at}, timestamptz '2020-01-01')`;
      const [left, tried, retried, ranOut, merged, foreign] = [
        cart("active"),
        cart("active"),
        cart("active"),
        cart("active"),
        cart("merged"),
        cart("active", theirs),
      ];
      const rows = [
        ...[left, tried, retried, ranOut, merged, foreign].map(({ sql }) => sql),
        session(tried.id, "canceled", { reason: "price_changed" }),
        session(tried.id, "canceled", { reason: "price_changed" }),
        session(tried.id, "canceled", { reason: "test" }),
        // A cart counts as submitted once, whichever of its sessions were submitted.
        session(retried.id, "canceled", { reason: "test" }),
        session(retried.id, "expired", { isSubmitted: true }),
        session(retried.id, "expired", { isSubmitted: true }),
        session(merged.id, "expired", { isSubmitted: true }),
        // The stored status is open, but the session has expired.
        session(ranOut.id, "open"),
      ];
      await world().database.script((run) => run(`begin; ${rows.join("; ")}; commit`));
      await makeOrder(world(), { ...eur, currency: "EUR", placedAt: "2032-07-07T12:00:00Z", totalMinor: 5 });
      const expected = {
        carts: 5,
        checkouts: 4,
        submittedCheckouts: 2,
        orders: 1,
        sessions: 8,
        conversionRate: 0.2,
        outcomes: [
          { status: "EXPIRED", reason: null, sessions: 3 },
          { status: "CANCELED", reason: "PRICE_CHANGED", sessions: 2 },
          { status: "CANCELED", reason: "TEST", sessions: 2 },
          { status: "COMPLETED", reason: null, sessions: 1 },
        ],
      };
      const none = {
        carts: 0,
        checkouts: 0,
        submittedCheckouts: 0,
        orders: 0,
        sessions: 0,
        conversionRate: null,
        outcomes: [],
      };
      expect(
        await ask(
          `funnelReport(from: "2032-07-06", to: "2032-07-08") { totals { ${figures} } buckets { day ` +
            `${figures} } }`,
        ),
      ).toEqual({
        totals: expected,
        buckets: [
          { day: "2032-07-06", ...none },
          { day: "2032-07-07", ...expected },
          { day: "2032-07-08", ...none },
        ],
      });
    });

    it("agrees with a count of the demo's carts and orders", async () => {
      const { db } = world().database;
      const now = world().clock.now();
      const merchantId = world().demo.merchants.first.id;
      const carts = await db
        .selectFrom("cart")
        .select(["id", "createdAt", "status"])
        .where("merchantId", "=", merchantId)
        .execute();
      const ordered = new Set(
        (await db.selectFrom("salesOrder").select("cartId").execute()).map(({ cartId }) => cartId),
      );
      const [from, to] = [new Date(now.getTime() - 400 * 86_400_000), now].map((date) =>
        date.toISOString().slice(0, 10),
      );
      const counted = carts.filter(
        ({ createdAt, status }) => createdAt.toISOString().slice(0, 10) <= (to ?? "") && status !== "merged",
      );
      expect(
        await ask(`funnelReport(from: "${from}", to: "${to}", interval: MONTH) { totals { carts orders } }`),
      ).toEqual({
        totals: { carts: counted.length, orders: counted.filter(({ id }) => ordered.has(id)).length },
      });
      expect(counted.length).toBeGreaterThan(10);
    });
  });
});
