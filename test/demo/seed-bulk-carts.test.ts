/** Bulk carts are varied, equal for the same seed, and priced by the service's price rules. */
import { randomBytes } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import { toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { loadCurrentCartPricingData } from "#commerce/carts/load-offer.ts";
import { repriceCart } from "#commerce/carts/reprice.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { type BulkCartOptions, seedBulkCarts } from "#demo/bulk/seed-bulk-carts.ts";
import { seedDemoCarts } from "#demo/carts/seed-carts.ts";
import { seedDemo } from "#demo/seed-demo.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";

const now = new Date("2026-11-20T09:30:00.000Z");
const keyring = createEncryptionKeyring([{ id: "test", key: randomBytes(32) }]);

describeOnPostgres("bulk carts", (open) => {
  let database: OpenedDatabase;
  let merchantId = "";

  beforeAll(async () => {
    database = await open();
    merchantId = await seedDemoMerchant(database);
  });

  const seedDemoMerchant = (target: OpenedDatabase): Promise<string> =>
    runInTransaction(target.db, async (transaction) => {
      const { merchants } = await seedDemo(transaction, { now });
      await seedDemoCarts(transaction, { owners: merchants, keyring, now });
      return merchants.first.id;
    });
  const seed = (count: number, options: Partial<BulkCartOptions> = {}): Promise<void> =>
    seedBulkCarts(database.db, { merchantId, count, now, keyring, ...options });
  const rows = async (text: string, target = database): Promise<Record<string, unknown>[]> =>
    (await target.script((run) => run(text))).flat();
  const countOfCarts = async (): Promise<number> =>
    Number((await rows("select count(*)::int as count from cart"))[0]?.["count"]);

  it("adds active carts of two to five lines in every market, a tenth of them with an address", async () => {
    const before = await countOfCarts();
    const progress: number[] = [];
    await seed(1200, { onProgress: (done) => progress.push(done) });
    expect(progress).toEqual([1000, 1200]);
    expect(await countOfCarts()).toBe(before + 1200);
    const bulk = `(select c.*, (select count(*) from cart_line l where l.cart_id = c.id)::int as lines
        from cart c order by id) c
      where c.warnings = '[]' and c.status = 'active' and c.version = 1 and c.subtotal_minor > 0
        and c.expires_at > '${now.toISOString()}'`;
    const [counts] = await rows(`select count(*)::int as carts, count(address_id)::int as addressed,
        count(delivery_method_id)::int as delivered,
      count(distinct country)::int as countries, min(lines) as fewest, max(lines) as most from ${bulk}`);
    expect(counts).toMatchObject({ carts: 1200, countries: 6, fewest: 2, most: 5 });
    expect(counts?.["addressed"]).toBe(counts?.["delivered"]);
    expect(Number(counts?.["addressed"])).toBeGreaterThan(80);
    expect(Number(counts?.["addressed"])).toBeLessThan(160);
    expect(
      await rows(`select 1 from cart where version = 1 and address_expires_at <= '${now.toISOString()}'`),
    ).toEqual([]);
    const [coded] = await rows(
      `select count(*)::int as carts from cart_promotion where trigger = 'code' and state = 'applied'`,
    );
    expect(Number(coded?.["carts"])).toBeGreaterThan(40);
    expect(await rows("select 1 from cart_promotion where state = 'suspended'")).toEqual([]);
    expect(
      await rows(
        "select 1 from cart c where c.address_id is not null and not exists (select from personal_data d " +
          "where d.id = c.address_id)",
      ),
    ).toEqual([]);
  });

  it("have the same prices as after a change of the cart", async () => {
    const ids = await database.db
      .selectFrom("cart")
      .select("id")
      .where("version", "=", 1)
      .orderBy("buyerReference")
      .orderBy("id")
      .execute();
    const sample = ids.filter((_, index) => index % 20 === 0).map(({ id }) => id);
    expect(sample.length).toBeGreaterThan(50);
    await runInTransaction(database.db, async (transaction) => {
      for (const cart of (await findCarts(transaction, sample, now)).values())
        expect(await repriceStoredCart(transaction, cart)).toEqual(priceOf(cart));
    });
  });

  const repriceStoredCart = async (transaction: Transaction, cart: CartAggregate): Promise<unknown> => {
    const draft = toUnpricedCartDraft(cart);
    const offer = await loadCurrentCartPricingData(transaction, {
      merchantId: cart.merchant.id,
      marketId: cart.marketId,
      variantIds: draft.lines.map(({ variantId }) => variantId),
      taxCountry: cart.country,
      hasAddress: true,
      buyerReference: cart.buyerReference,
      code: draft.promotionCodeId === null ? null : { id: draft.promotionCodeId },
      heldBySessionId: null,
      now,
    });
    const { next } = repriceCart({ draft, before: cart, offer, now: new Date(cart.updatedAt) });
    return priceOf({ ...next, ...next.priced });
  };

  it("continues after the existing carts, and creates the same carts for the same seed", async () => {
    const other = await open();
    const otherId = await seedDemoMerchant(other);
    const before = await rows(content);
    expect(before.length).toBeGreaterThan(1200);
    await seedBulkCarts(other.db, { merchantId: otherId, count: 700, now, keyring });
    await seedBulkCarts(other.db, { merchantId: otherId, count: 500, now, keyring });
    expect(await rows(content, other)).toEqual(before);
    const third = await open();
    await seedBulkCarts(third.db, {
      merchantId: await seedDemoMerchant(third),
      count: 1200,
      now,
      keyring,
      seed: 2,
    });
    expect(await rows(content, third)).not.toEqual(before);
  });

  it("refuses a merchant without a market, and a count out of range", async () => {
    const before = await countOfCarts();
    await expect(seed(1, { merchantId: "mer_none" })).rejects.toThrow("no market");
    for (const count of [1_000_001, -1, 0.5]) await expect(seed(count)).rejects.toThrow("count must be");
    expect(await countOfCarts()).toBe(before);
  });

  it("refuses a merchant without stock", async () => {
    const other = await open();
    const otherId = await seedDemoMerchant(other);
    await other.script((run) => run("update stock_level set on_hand = 0, reserved = 0"));
    await expect(seedBulkCarts(other.db, { merchantId: otherId, count: 1, now, keyring })).rejects.toThrow(
      "nothing in stock",
    );
  });
});

/** Selects all columns of carts except ids. */
const content = `
  select c.country, c.created_at, c.updated_at, c.subtotal_minor, c.discount_minor, c.shipping_minor,
  c.tax_minor, c.total_minor,
    (select string_agg(l.display->>'sku' || ' ' || l.quantity, ',' order by l.position) from cart_line l
    where l.cart_id = c.id) as lines
  from cart c order by c.created_at, c.updated_at, c.country, c.total_minor, lines`;

type Priced = Pick<
  CartAggregate,
  | "subtotalMinor"
  | "discountMinor"
  | "shippingMinor"
  | "shippingDiscountMinor"
  | "taxMinor"
  | "totalMinor"
  | "deliveryMethodId"
> & {
  readonly lines: readonly Omit<CartAggregate["lines"][number], "stock">[];
  readonly promotions: readonly Pick<
    CartAggregate["promotions"][number],
    "promotionId" | "state" | "discountMinor"
  >[];
};

function priceOf(cart: Priced): unknown {
  const {
    subtotalMinor,
    discountMinor,
    shippingMinor,
    shippingDiscountMinor,
    taxMinor,
    totalMinor,
    deliveryMethodId,
  } = cart;
  return {
    sums: [subtotalMinor, discountMinor, shippingMinor, shippingDiscountMinor, taxMinor, totalMinor],
    deliveryMethodId,
    lines: cart.lines.map((line) => [
      line.id,
      line.quantity,
      line.unitPriceMinor,
      line.discountMinor,
      line.taxMinor,
      line.totalMinor,
      line.display,
    ]),
    promotions: cart.promotions.map((promotion) => [
      promotion.promotionId,
      promotion.state,
      promotion.discountMinor,
    ]),
  };
}
