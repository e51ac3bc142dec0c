/**
 * Fills a merchant with as many orders as one wants to measure with, from the last year and in every state,
 * in transactions of a thousand: each with its cart, session, payment and what the provider has of it.
 * Nothing is told of them, and no stock is taken for them: what they sold came and went.
 */
import { sql } from "kysely";
import { snapshotPolicies } from "#commerce/orders/snapshot-policies.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { insertTableRows, type TableRow } from "#demo/rows/insert-rows.ts";
import { insertOrderRows, type OrderRows, createOrderRows } from "#demo/rows/order-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import type { CartOffer } from "#commerce/carts/load-offer.ts";
import { createUnsavedCart } from "#demo/rows/cart-rows.ts";
import { hashText, pickRandom, createRandom } from "#demo/random.ts";
import { createOrderHistory, type OrderStage } from "#demo/rows/order-stages.ts";
import {
  findCheckedDemoAddress,
  type BulkMarketOffer,
  pickCartLines,
  loadBulkMarketOffers,
} from "./seed-bulk-carts.ts";

export interface BulkOrderOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  readonly keyring: Keyring;
  /** The same seed gives the same orders to a merchant that has as many already. */
  readonly seed?: number;
  readonly onProgress?: (done: number) => void;
}

const countMax = 1_000_000;
const batchSize = 1000;

export async function seedBulkOrders(db: Database, options: BulkOrderOptions): Promise<void> {
  const { count, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > countMax)
    throw new RangeError(`count must be an integer from 0 to ${countMax}.`);
  if (count === 0) return;
  const { context, first } = await inTransaction(db, (transaction) => loadContext(transaction, options));
  const policies: PolicySnapshots = new Map();
  for (let done = 0; done < count;) {
    const size = Math.min(batchSize, count - done);
    const start = first + done;
    const orders = Array.from({ length: size }, (_, offset) => createBulkOrder(start + offset, context));
    await inTransaction(db, async (transaction) => {
      await insertOrderRows(transaction, orders);
      await insertPolicySnapshots(transaction, { orders, policies });
    });
    done += size;
    onProgress?.(done);
  }
}

/** Numbers go on where the merchant's orders end, so that a second run gives other orders. */
async function loadContext(
  transaction: Transaction,
  { merchantId, now, keyring, seed = 1 }: BulkOrderOptions,
): Promise<{ readonly context: BulkOrderContext; readonly first: number }> {
  const markets = await addTimeZones(
    transaction,
    keepShippableVariants(await loadBulkMarketOffers(transaction, { merchantId, now, seed })),
  );
  if (markets.length === 0)
    throw new Error(`The merchant ${merchantId} has nothing in stock that could be sent to anybody.`);
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

/** By where it was sold: what stands in each order's policies there. */
type PolicySnapshots = Map<string, readonly PolicySnapshotContent[]>;
type PolicySnapshotContent = Pick<TableRow<"policySnapshot">, "type" | "summary" | "url" | "rules">;

interface PolicySnapshotInput {
  readonly orders: readonly OrderRows[];
  readonly policies: PolicySnapshots;
}

/** The first order of each place gets its policies as every order does; those after it get the same. */
async function insertPolicySnapshots(
  transaction: Transaction,
  { orders, policies }: PolicySnapshotInput,
): Promise<void> {
  const rows: TableRow<"policySnapshot">[] = [];
  for (const { salesOrder } of orders) {
    const { marketId, country, locale, merchantId, placedAt } = salesOrder;
    const marketKey = `${marketId} ${country} ${locale}`;
    const snapshots = policies.get(marketKey);
    if (snapshots === undefined)
      policies.set(marketKey, await snapshotOrderPolicies(transaction, salesOrder));
    else
      for (const text of snapshots)
        rows.push({
          ...text,
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
  order: TableRow<"salesOrder">,
): Promise<readonly PolicySnapshotContent[]> {
  const { id: orderId, merchantId, marketId, country, locale, currency, placedAt: now } = order;
  await snapshotPolicies(transaction, { merchantId, now }, { orderId, marketId, country, locale, currency });
  const { rows } =
    await sql<PolicySnapshotContent>`select type, summary, url, rules from policy_snapshot where order_id = ${orderId}`.execute(
      transaction,
    );
  return rows;
}

/** What a market's orders can have. */
interface BulkOrderMarket extends BulkMarketOffer {
  readonly timeZone: string;
}

interface BulkOrderContext {
  readonly merchantId: string;
  readonly markets: readonly BulkOrderMarket[];
  /** By product: its categories and all above them. */
  readonly categoryIds: ReadonlyMap<string, readonly string[]>;
  readonly keyring: Keyring;
  readonly now: Date;
  readonly seed: number;
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const orderAgeDaysMax = 365;
/** The youngest has been there for a moment. */
const orderAgeMsMin = 10 * minuteMs;
const buyerCount = 50_000;
/** The others are guests. */
const knownBuyerShare = 0.8;
const cartAgeMsMax = 2 * hourMs;

function createBulkOrder(number: number, context: BulkOrderContext): OrderRows {
  const { merchantId, markets, keyring, now, seed, categoryIds } = context;
  const random = createRandom(hashText(`order/${seed}/${number}`));
  const { offer, variantIds, timeZone } = pickRandom(random, markets);
  const country = pickRandom(
    random,
    offer.market.countries.filter((code) => findCheckedDemoAddress(code) !== null),
  );
  const lines = pickCartLines(random, variantIds);
  const placedAt = new Date(
    now.getTime() - orderAgeMsMin - Math.floor(random() * (orderAgeDaysMax * dayMs - orderAgeMsMin)),
  );
  const stage = pickStage(random, {
    ageDays: (now.getTime() - placedAt.getTime()) / dayMs,
    lines: lines.length,
  });
  const buyer = Math.floor(random() * buyerCount);
  const isKnown = random() < knownBuyerShare;
  const cart = createUnsavedCart(keyring, {
    merchantId,
    offer: withoutPromotions(offer),
    country,
    lines,
    buyer: isKnown ? { reference: `buyer-${seed}-${buyer}`, email: `buyer-${buyer}@example.com` } : null,
    address: findCheckedDemoAddress(country),
    code: null,
    createdAt: new Date(placedAt.getTime() - Math.floor(random() * cartAgeMsMax) - 5 * minuteMs),
    updatedAt: placedAt,
  });
  return createOrderRows({
    cart,
    number: createOrderNumber(number, seed),
    timeZone,
    categoryIds,
    history: createOrderHistory(stage, { placedAt, now }),
  });
}

/** Uses of promotions are counted where they are taken; what is made here takes none. */
const withoutPromotions = (offer: CartOffer): CartOffer => ({ ...offer, automatic: [], code: undefined });

/** Of a hundred orders; the older, the more of them are done. */
const stageShares: readonly (readonly [
  untilDays: number,
  stages: readonly (readonly [OrderStage, number])[],
])[] = [
  [
    0.5,
    [
      ["placed", 65],
      ["onHold", 5],
      ["packing", 25],
      ["canceled", 5],
    ],
  ],
  [
    2,
    [
      ["packing", 45],
      ["partlyShipped", 8],
      ["shipped", 40],
      ["canceled", 7],
    ],
  ],
  [
    6,
    [
      ["shipped", 60],
      ["partlyShipped", 5],
      ["delivered", 28],
      ["canceled", 5],
      ["refunded", 2],
    ],
  ],
  [
    28,
    [
      ["delivered", 78],
      ["returnRequested", 4],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
  [
    Infinity,
    [
      ["delivered", 82],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
];

function pickStage(
  random: () => number,
  { ageDays, lines }: { readonly ageDays: number; readonly lines: number },
): OrderStage {
  const stages = stageShares.find(([untilDays]) => ageDays < untilDays)?.[1] ?? [];
  let left = random() * 100;
  const stage = stages.find(([, share]) => (left -= share) < 0)?.[0] ?? "placed";
  // A single line goes in one parcel.
  return stage === "partlyShipped" && lines < 2 ? "shipped" : stage;
}

/** Crockford's digits, as the numbers of all orders. */
const crockfordDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [digits, bits] = [10, 50n];
/** Odd, so that each number has another product in so many bits. */
const numberMultiplier = 0x2_c5b1_7f4a_7c15n;

/** Looks random, and is another one for each of a merchant's orders. */
function createOrderNumber(number: number, seed: number): string {
  let rest = BigInt.asUintN(
    Number(bits),
    BigInt(number) * numberMultiplier + BigInt(hashText(`orders/${seed}`)),
  );
  let text = "";
  for (let digit = 0; digit < digits; digit += 1) {
    text = crockfordDigits.charAt(Number(rest % 32n)) + text;
    rest /= 32n;
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}
