/**
 * Adds many generated orders of the last year to a merchant, for measuring the speed of the service. The
 * orders have all statuses. Each order has a cart, a checkout session, a payment, and the records that the
 * payment provider keeps. No events are published and no stock is changed. Each transaction inserts 1000
 * orders.
 */
import { sql } from "kysely";
import { snapshotPoliciesForOrder } from "#commerce/orders/snapshot-policies.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { insertTableRows, type DemoTableRowToInsert } from "#demo/rows/insert-rows.ts";
import { insertDemoOrderRows, type DemoOrderRows, createDemoOrderRows } from "#demo/rows/order-rows.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { CurrentCartPricingData } from "#commerce/carts/pricing-data.ts";
import { createUnsavedDemoCart } from "#demo/rows/cart-rows.ts";
import { hashTextToNumber, pickRandomItem, createRandomNumberGenerator } from "#demo/random.ts";
import { createDemoOrderHistory } from "#demo/rows/order-stages.ts";
import { pickRandomDemoOrderStage } from "./pick-order-stage.ts";
import {
  findNormalizedDemoAddress,
  type MarketForBulkCarts,
  pickRandomCartLines,
  loadMarketsForBulkCarts,
} from "./seed-bulk-carts.ts";

export interface BulkOrderOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
  /**
   * The seed of the random values; 1 if left out. Two runs with the same seed create the same orders if the
   * merchant had the same number of orders before each run.
   */
  readonly seed?: number;
  /** The callback after each transaction; receives the number of orders inserted so far. */
  readonly onProgress?: (done: number) => void;
}

const countMax = 1_000_000;
const batchSize = 1000;

export async function seedBulkOrders(db: Database, options: BulkOrderOptions): Promise<void> {
  const { count, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > countMax)
    throw new RangeError(`count must be an integer from 0 to ${countMax}.`);
  if (count === 0) return;
  const { context, first } = await runInTransaction(db, (transaction) => loadContext(transaction, options));
  const policies: PolicySnapshots = new Map();
  for (let done = 0; done < count;) {
    const size = Math.min(batchSize, count - done);
    const start = first + done;
    const orders = Array.from({ length: size }, (_, offset) => createBulkOrder(start + offset, context));
    await runInTransaction(db, async (transaction) => {
      await insertDemoOrderRows(transaction, orders);
      await insertPolicySnapshots(transaction, { orders, policies });
    });
    done += size;
    onProgress?.(done);
  }
}

/**
 * Loads the markets, prices and categories from which orders are generated. New orders get numbers after
 * those of the merchant's existing orders, so that a second run creates different orders.
 */
async function loadContext(
  transaction: Transaction,
  { merchantId, now, keyring, seed = 1 }: BulkOrderOptions,
): Promise<{ readonly context: BulkOrderContext; readonly first: number }> {
  const markets = await addTimeZones(
    transaction,
    keepShippableVariants(await loadMarketsForBulkCarts(transaction, { merchantId, now, seed })),
  );
  if (markets.length === 0)
    throw new Error(`The merchant ${merchantId} has nothing in stock that can be shipped.`);
  const { orders } = await transaction
    .selectFrom("salesOrder")
    .select(({ fn }) => fn.countAll<number>().as("orders"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const categoryIds = mapProductCategories(markets);
  return { context: { merchantId, markets, categoryIds, keyring, now, seed }, first: orders + 1 };
}

type MarketWithoutTimeZone = Omit<BulkOrderMarket, "timeZone">;

function keepShippableVariants(markets: readonly MarketWithoutTimeZone[]): MarketWithoutTimeZone[] {
  return markets
    .map(({ offer, variantIds }) => ({
      offer,
      variantIds: variantIds.filter((id) => offer.variants.get(id)?.requiresShipping === true),
    }))
    .filter(({ variantIds, offer }) => variantIds.length > 0 && offer.market.deliveries.length > 0);
}

async function addTimeZones(
  transaction: Transaction,
  markets: readonly MarketWithoutTimeZone[],
): Promise<BulkOrderMarket[]> {
  const ids = markets.map(({ offer }) => offer.market.id);
  if (ids.length === 0) return [];
  const rows = await transaction
    .selectFrom("market")
    .select(["id", "timeZone"])
    .where("id", "in", ids)
    .execute();
  const zones = new Map(rows.map(({ id, timeZone }) => [id, timeZone]));
  return markets.map((market) => ({ ...market, timeZone: zones.get(market.offer.market.id) ?? "UTC" }));
}

function mapProductCategories(markets: readonly BulkOrderMarket[]): ReadonlyMap<string, readonly string[]> {
  const variants = markets.flatMap(({ offer }) => [...offer.variants.values()]);
  return new Map(variants.map(({ productId, categoryIds }) => [productId, categoryIds.toSorted()]));
}

/**
 * The merchant's policies (for example on returns) that are stored with orders. The key of the map is a text
 * of market, country and locale.
 */
type PolicySnapshots = Map<string, readonly PolicySnapshotContent[]>;
type PolicySnapshotContent = Pick<
  DemoTableRowToInsert<"policySnapshot">,
  "type" | "summary" | "summaries" | "url" | "rules"
>;

interface PolicySnapshotInput {
  readonly orders: readonly DemoOrderRows[];
  readonly policies: PolicySnapshots;
}

/**
 * Stores the merchant's policies (for example on returns) with every generated order. The function of the
 * service stores them with the first order of each market, country and locale. All other orders get copies of
 * these rows.
 */
async function insertPolicySnapshots(
  transaction: Transaction,
  { orders, policies }: PolicySnapshotInput,
): Promise<void> {
  const rows: DemoTableRowToInsert<"policySnapshot">[] = [];
  for (const { salesOrder } of orders) {
    const { marketId, country, locale, merchantId, placedAt } = salesOrder;
    const marketKey = `${marketId} ${country} ${locale}`;
    const snapshots = policies.get(marketKey);
    if (snapshots === undefined)
      policies.set(marketKey, await snapshotOrderPolicies(transaction, salesOrder));
    else
      for (const snapshot of snapshots)
        rows.push({
          ...snapshot,
          id: createId("policy", placedAt.getTime()),
          orderId: salesOrder.id,
          merchantId,
          capturedAt: placedAt,
        });
  }
  await insertTableRows(transaction, { policySnapshot: rows });
}

async function snapshotOrderPolicies(
  transaction: Transaction,
  order: DemoTableRowToInsert<"salesOrder">,
): Promise<readonly PolicySnapshotContent[]> {
  const { id: orderId, merchantId, marketId, country, locale, currency, placedAt: now } = order;
  await snapshotPoliciesForOrder(
    transaction,
    { merchantId, now },
    { orderId, marketId, country, locale, currency },
  );
  const { rows } = await sql<PolicySnapshotContent>`select type, summary, summaries, url, rules
    from policy_snapshot
      where order_id = ${orderId}`.execute(transaction);
  return rows;
}

/** A market with the variants that its orders can contain. */
interface BulkOrderMarket extends MarketForBulkCarts {
  readonly timeZone: string;
}

interface BulkOrderContext {
  readonly merchantId: string;
  readonly markets: readonly BulkOrderMarket[];
  /** The category ids of each product (its categories and all their ancestors), by product id. */
  readonly categoryIds: ReadonlyMap<string, readonly string[]>;
  readonly keyring: EncryptionKeyring;
  readonly now: Date;
  readonly seed: number;
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const orderAgeDaysMax = 365;
const orderAgeMsMin = 10 * minuteMs;
const buyerCount = 50_000;
/** The share of generated orders whose buyer has a buyer reference; the buyers of all other orders are guests. */
const knownBuyerShare = 0.8;
const cartAgeMsMax = 2 * hourMs;

function createBulkOrder(number: number, context: BulkOrderContext): DemoOrderRows {
  const { merchantId, markets, keyring, now, seed, categoryIds } = context;
  const random = createRandomNumberGenerator(hashTextToNumber(`order/${seed}/${number}`));
  const { offer, variantIds, timeZone } = pickRandomItem(random, markets);
  const country = pickRandomItem(
    random,
    offer.market.countries.filter((code) => findNormalizedDemoAddress(code) !== null),
  );
  const lines = pickRandomCartLines(random, variantIds);
  const placedAt = new Date(
    now.getTime() - orderAgeMsMin - Math.floor(random() * (orderAgeDaysMax * dayMs - orderAgeMsMin)),
  );
  const stage = pickRandomDemoOrderStage(random, {
    ageDays: (now.getTime() - placedAt.getTime()) / dayMs,
    lines: lines.length,
  });
  const buyer = Math.floor(random() * buyerCount);
  const isKnown = random() < knownBuyerShare;
  const cart = createUnsavedDemoCart(keyring, {
    merchantId,
    offer: withoutPromotions(offer),
    country,
    lines,
    buyer: isKnown ? { reference: `buyer-${seed}-${buyer}`, email: `buyer-${buyer}@example.com` } : null,
    address: findNormalizedDemoAddress(country),
    code: null,
    createdAt: new Date(placedAt.getTime() - Math.floor(random() * cartAgeMsMax) - 5 * minuteMs),
    updatedAt: placedAt,
  });
  return createDemoOrderRows({
    cart,
    number: createOrderNumber(number, seed),
    timeZone,
    categoryIds,
    history: createDemoOrderHistory(stage, { placedAt, now }),
  });
}

/**
 * Removes the promotions from the pricing data of a cart. Generated orders have no discounts, because they do
 * not record the use of a promotion.
 */
const withoutPromotions = (offer: CurrentCartPricingData): CurrentCartPricingData => ({
  ...offer,
  automatic: [],
  code: undefined,
});

/** The 32 digits of Crockford's base 32; order numbers consist of these digits. */
const crockfordDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [digits, bits] = [10, 50n];
/**
 * Consecutive order numbers are multiplied by this factor modulo 2^50, so that they look random. The factor
 * is odd, so that different numbers always give different results.
 */
const numberMultiplier = 0x2_c5b1_7f4a_7c15n;

/** Creates an order number that looks random and is unique among the generated orders. */
function createOrderNumber(number: number, seed: number): string {
  let remainder = BigInt.asUintN(
    Number(bits),
    BigInt(number) * numberMultiplier + BigInt(hashTextToNumber(`orders/${seed}`)),
  );
  let text = "";
  for (let digit = 0; digit < digits; digit += 1) {
    text = crockfordDigits.charAt(Number(remainder % 32n)) + text;
    remainder /= 32n;
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}
