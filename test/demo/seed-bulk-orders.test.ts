/**
 * Bulk orders are varied, equal for the same seed, and have the statuses that follow from their lines,
 * payments and parcels.
 */
import { randomBytes } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders } from "#commerce/orders/find-orders.ts";
import {
  deriveOrderStatuses,
  computeNetCapturedAmountMinor,
  computeOutstandingAmountMinor,
} from "#commerce/orders/order-statuses.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { type BulkOrderOptions, seedBulkOrders } from "#demo/bulk/seed-bulk-orders.ts";
import { seedDemo } from "#demo/seed-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnPostgres } from "#test/support/databases.ts";

const now = new Date("2026-11-20T09:30:00.000Z");
const keyring = createEncryptionKeyring([{ id: "test", key: randomBytes(32) }]);
const count = 1100;

describeOnPostgres("bulk orders", (open) => {
  let database: OpenedDatabase;
  let merchantId = "";
  let orders: OrderAggregate[] = [];
  const progress: number[] = [];

  const rows = async (text: string, target = database): Promise<Record<string, unknown>[]> =>
    (await target.script((run) => run(text))).flat();
  const seedDemoMerchant = async (target: OpenedDatabase): Promise<string> =>
    (await runInTransaction(target.db, (transaction) => seedDemo(transaction, { now }))).merchants.first.id;
  const seed = (size: number, options: Partial<BulkOrderOptions> = {}): Promise<void> =>
    seedBulkOrders(database.db, { merchantId, count: size, now, keyring, ...options });

  beforeAll(async () => {
    database = await open();
    merchantId = await seedDemoMerchant(database);
    await seed(count, { onProgress: (done) => progress.push(done) });
    const ids = await database.db.selectFrom("salesOrder").select("id").orderBy("id").execute();
    orders = [
      ...(
        await findOrders(
          database.db,
          ids.map(({ id }) => id),
        )
      ).values(),
    ];
  });

  it("are from the last year, in every status and market, of guests and of returning buyers", () => {
    expect(progress).toEqual([1000, 1100]);
    expect(orders).toHaveLength(count);
    const times = orders.map(({ placedAt }) => Date.parse(placedAt));
    expect(Math.max(...times)).toBeLessThan(now.getTime());
    expect(Math.min(...times)).toBeGreaterThan(now.getTime() - 365 * 86_400_000);
    expect(new Set(orders.map(({ number }) => number)).size).toBe(count);
    const all = (
      name: "status" | "paymentStatus" | "fulfillmentStatus" | "returnStatus" | "country",
    ): Set<string> => new Set(orders.map((order) => order[name]));
    expect(all("status").isSupersetOf(new Set(["confirmed", "completed", "canceled"]))).toBe(true);
    expect(
      all("paymentStatus").isSupersetOf(
        new Set(["authorized", "paid", "partially_refunded", "refunded", "voided"]),
      ),
    ).toBe(true);
    expect(all("fulfillmentStatus").isSupersetOf(new Set(["shipped", "delivered", "canceled"]))).toBe(true);
    expect(all("returnStatus").isSupersetOf(new Set(["none", "requested", "partially_returned"]))).toBe(true);
    expect(all("country")).toEqual(new Set(["DE", "AT", "FR", "NL", "US", "JP"]));
    expect(orders.filter(({ buyerReference }) => buyerReference === null).length).toBeGreaterThan(count / 10);
  });

  it("have the statuses that follow from their parts, and amounts that add up", () => {
    for (const order of orders) {
      const { status, paymentStatus, fulfillmentStatus, returnStatus } = order;
      expect(deriveOrderStatuses(order)).toEqual({ status, paymentStatus, fulfillmentStatus, returnStatus });
      expect(computeNetCapturedAmountMinor(order) + computeOutstandingAmountMinor(order)).toBe(
        order.totalMinor - order.reducedMinor,
      );
      const reduced = order.lines.reduce((sum, line) => sum + line.reducedMinor, order.shippingReducedMinor);
      expect(reduced).toBe(order.reducedMinor);
      for (const refund of order.refunds)
        expect(refund.lines.reduce((sum, { amountMinor }) => sum + amountMinor, refund.shippingMinor)).toBe(
          refund.amountMinor,
        );
      const isSettled = ["paid", "voided", "refunded", "partially_refunded"].includes(paymentStatus);
      expect(computeOutstandingAmountMinor(order)).toBe(isSettled ? 0 : order.totalMinor);
    }
  });

  it("have timelines in order, without entries in the future", () => {
    for (const { timeline, placedAt, fulfillments, returns } of orders) {
      const times = timeline.map(({ at }) => Date.parse(at));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times[0]).toBe(Date.parse(placedAt));
      expect(times.at(-1)).toBeLessThanOrEqual(now.getTime());
      for (const { deliveredAt } of fulfillments)
        for (const { requestedAt } of returns) expect(requestedAt > (deliveredAt ?? "")).toBe(true);
    }
  });

  it(
    "have a completed cart and session, all four policies, an address, and provider records that match " +
      "their payments",
    async () => {
      for (const { policies, address } of orders) {
        expect(policies.map(({ type }) => type)).toEqual([
          "cancellation",
          "return",
          "warranty",
          "withdrawal",
        ]);
        expect(address).not.toBeNull();
      }
      const wrong = `select o.id from sales_order o join cart c on c.id = o.cart_id
      join hosted_checkout_session s on s.id = o.session_id
      where c.status <> 'completed' or c.order_id <> o.id or s.status <> 'completed' or s.order_id <> o.id
      or s.amount_total_minor <> o.total_minor
        or c.total_minor <> o.total_minor`;
      expect(await rows(wrong)).toEqual([]);
      const books = `select p.id from payment p left join test_provider_payment b on b.reference = p.id
      where (p.amount_minor, p.captured_minor, p.voided_minor, p.refunded_minor) is distinct from
        (b.amount_minor, b.captured_minor, b.voided_minor, b.refunded_minor)
        or p.captured_minor <> coalesce((select sum(amount_minor) from payment_operation q
        where q.payment_id = p.id and q.kind = 'capture'), 0)`;
      expect(await rows(books)).toEqual([]);
      expect(await rows("select 1 from payment_operation where status <> 'succeeded'")).toEqual([]);
      expect(await rows("select 1 from event")).toEqual([]);
      expect(await rows("select 1 from personal_data where erase_after is not null")).toEqual([]);
    },
  );

  it("reserve and sell no stock", async () => {
    expect(await rows("select 1 from stock_level where reserved <> 0")).toEqual([]);
    expect(await rows("select 1 from stock_movement where reason <> 'received'")).toEqual([]);
    for (const { lines } of orders)
      for (const line of lines) expect(line.allocated).toBe(line.ordered - line.canceled);
  });

  it("continues after the existing orders, and creates the same orders for the same seed", async () => {
    const seedNewDatabase = async (...runs: readonly Partial<BulkOrderOptions>[]): Promise<unknown> => {
      const other = await open();
      const otherId = await seedDemoMerchant(other);
      for (const run of runs)
        await seedBulkOrders(other.db, { merchantId: otherId, count: 60, now, keyring, ...run });
      return rows(content, other);
    };
    const whole = await seedNewDatabase({ count: 100 });
    expect(await seedNewDatabase({ count: 70 }, { count: 30 })).toEqual(whole);
    expect(await seedNewDatabase({ count: 100, seed: 2 })).not.toEqual(whole);
  });

  it("refuses a merchant without a market or without products to ship, and a count out of range", async () => {
    await expect(seed(1, { merchantId: "mer_none" })).rejects.toThrow("no market");
    for (const size of [1_000_001, -1, 0.5]) await expect(seed(size)).rejects.toThrow("count must be");
    expect(await rows("select count(*)::int as orders from sales_order")).toEqual([{ orders: count }]);
    const other = await open();
    const otherId = await seedDemoMerchant(other);
    await other.script((run) => run("update variant set requires_shipping = false"));
    await expect(seedBulkOrders(other.db, { merchantId: otherId, count: 1, now, keyring })).rejects.toThrow(
      "nothing in stock",
    );
  });
});

/** Selects all compared columns of orders except ids. */
const content = `
  select o.number, o.status, o.payment_status, o.fulfillment_status, o.return_status, o.country, o.placed_at,
  o.updated_at, o.total_minor, o.reduced_minor,
    (select string_agg(l.display->>'sku' || ' ' || l.ordered || ' ' || l.total_minor, ',' order by l.position)
    from order_line l where l.order_id = o.id)
      as lines,
    (select string_agg(t.type || ' ' || t.at, ',' order by t.id) from order_timeline t
    where t.order_id = o.id) as timeline
  from sales_order o order by o.number`;
