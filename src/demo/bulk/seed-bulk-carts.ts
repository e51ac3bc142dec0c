/**
 * Adds many generated carts to a merchant, for measuring the speed of the service. The prices are loaded once
 * for all carts, and each transaction inserts 1000 carts.
 */
import { sql } from "kysely";
import { loadCurrentCartPricingData } from "#commerce/carts/load-offer.ts";
import type { CurrentCartPricingData } from "#commerce/carts/pricing-data.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import {
  type DemoCartRows,
  createDemoCartRows,
  type CreateUnsavedDemoCartInput,
  insertDemoCartRows,
  type UnsavedDemoCart,
  createUnsavedDemoCart,
} from "#demo/rows/cart-rows.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { normalizeAndValidateAddress } from "#commerce/addresses/check-address.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import { findDemoAddress } from "#demo/carts/price-carts.ts";
import { hashTextToNumber, pickRandomItem, createRandomNumberGenerator } from "#demo/random.ts";

export interface BulkCartOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  readonly keyring: EncryptionKeyring;
  /**
   * The seed of the random values; 1 if left out. Two runs with the same seed create the same carts if the
   * merchant had the same number of carts before each run.
   */
  readonly seed?: number;
  /** The callback after each transaction; receives the number of carts inserted so far. */
  readonly onProgress?: (done: number) => void;
}

const countMax = 1_000_000;
const batchSize = 1000;
/**
 * The maximum number of different variants in the generated carts of one market. A higher number would slow
 * down the pricing, and measurements would not become more accurate.
 */
const variantsMax = 2000;
const codesMax = 5;

export async function seedBulkCarts(db: Database, options: BulkCartOptions): Promise<void> {
  const { count, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > countMax)
    throw new RangeError(`count must be an integer from 0 to ${countMax}.`);
  const { context, first } = await runInTransaction(db, (transaction) => loadContext(transaction, options));
  for (let done = 0; done < count;) {
    const size = Math.min(batchSize, count - done);
    const start = first + done;
    const carts = Array.from({ length: size }, (_, offset) => createRows(start + offset, context));
    await runInTransaction(db, (transaction) => insertDemoCartRows(transaction, carts));
    done += size;
    onProgress?.(done);
  }
}

function createRows(number: number, context: BulkCartContext): DemoCartRows {
  const cart = createBulkCart(number, context);
  return createDemoCartRows(cart, { status: "active", version: 1 });
}

/**
 * Loads the prices, variants and codes from which carts are generated. New carts get numbers after those of
 * the merchant's existing carts, so that a second run creates different carts.
 */
async function loadContext(
  transaction: Transaction,
  { merchantId, now, keyring, seed = 1 }: BulkCartOptions,
): Promise<{ readonly context: BulkCartContext; readonly first: number }> {
  const markets = await loadMarketsForBulkCarts(transaction, { merchantId, now, seed });
  const [market] = markets;
  if (market === undefined)
    throw new Error(`The merchant ${merchantId} has nothing in stock. Carts need variants in stock.`);
  const { carts } = await transaction
    .selectFrom("cart")
    .select(({ fn }) => fn.countAll<number>().as("carts"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const codes = await findActiveCodes(transaction, { merchantId, marketId: market.offer.market.id, now });
  return { context: { merchantId, markets, codes, keyring, now, seed }, first: carts + 1 };
}

/**
 * Loads the merchant's markets that have variants in stock, each with the `CurrentCartPricingData` (prices,
 * taxes, delivery methods, promotions) of these variants.
 */
export async function loadMarketsForBulkCarts(
  transaction: Transaction,
  { merchantId, now, seed }: Pick<BulkCartContext, "merchantId" | "now" | "seed">,
): Promise<readonly MarketForBulkCarts[]> {
  const marketRows = await transaction
    .selectFrom("market")
    .select("id")
    .where("merchantId", "=", merchantId)
    .orderBy("handle")
    .execute();
  if (marketRows.length === 0)
    throw new Error(`The merchant ${merchantId} has no market. Carts and orders need a market.`);
  const markets: MarketForBulkCarts[] = [];
  for (const { id: marketId } of marketRows) {
    const variantIds = await findVariantIds(transaction, { marketId, seed });
    if (variantIds.length === 0) continue;
    const request = {
      merchantId,
      marketId,
      variantIds,
      // No tax country is set, because the carts of a market have addresses in all countries of the market.
      taxCountry: null,
      hasAddress: true,
      buyerReference: null,
      code: null,
      heldBySessionId: null,
      now,
    };
    markets.push({ variantIds, offer: await loadCurrentCartPricingData(transaction, request) });
  }
  return markets;
}

/**
 * Finds variants that are on sale in a market and have enough stock, ordered by a hash of SKU and seed. This
 * order is the same in all databases, unlike an order by ids, which differ between databases.
 */
async function findVariantIds(
  transaction: Transaction,
  { marketId, seed }: { readonly marketId: string; readonly seed: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from price pr join variant v on v.id = pr.variant_id join product p on p.id = v.product_id
    join stock_level s on s.variant_id = v.id
    where pr.market_id = ${marketId} and pr.valid_until is null and p.status = 'published'
    and not v.discontinued
      and s.on_hand - s.reserved >= ${bulkQuantityMax} and
      coalesce(v.max_order_quantity, ${bulkQuantityMax}) >= ${bulkQuantityMax}
    order by md5(v.sku || ${String(seed)}::text) limit ${variantsMax}`.execute(transaction);
  return rows.map(({ id }) => id);
}

async function findActiveCodes(
  transaction: Transaction,
  {
    merchantId,
    marketId,
    now,
  }: { readonly merchantId: string; readonly marketId: string; readonly now: Date },
): Promise<readonly PromotionRule[]> {
  const rows = await transaction
    .selectFrom("promotionCode as c")
    .innerJoin("promotion as p", "p.id", "c.promotionId")
    .select("c.id")
    .where("c.merchantId", "=", merchantId)
    .where("p.status", "=", "active")
    .where((row) => row.or([row("p.endsAt", "is", null), row("p.endsAt", ">", now)]))
    .where((row) => row.or([row("p.usageLimit", "is", null), row("p.used", "<", row.ref("p.usageLimit"))]))
    .orderBy("c.codeNormalized")
    .limit(codesMax)
    .execute();
  const request = {
    merchantId,
    marketId,
    variantIds: [],
    taxCountry: null,
    hasAddress: false,
    buyerReference: null,
    heldBySessionId: null,
    now,
  };
  const rules = [];
  for (const { id } of rows)
    rules.push((await loadCurrentCartPricingData(transaction, { ...request, code: { id } })).code);
  return rules.filter((rule) => rule !== undefined);
}

/** A market with the variants that its carts can contain. */
export interface MarketForBulkCarts {
  readonly offer: CurrentCartPricingData;
  /**
   * The ids of the variants that are on sale in the market and have enough stock. Every run with the same
   * seed has the same order of ids.
   */
  readonly variantIds: readonly string[];
}

interface BulkCartContext {
  readonly merchantId: string;
  readonly markets: readonly MarketForBulkCarts[];
  /** The merchant's active promotion codes. The pricing of a cart decides whether a code applies to the cart. */
  readonly codes: readonly PromotionRule[];
  readonly keyring: EncryptionKeyring;
  readonly now: Date;
  readonly seed: number;
}

const hourMs = 3_600_000;
/** The maximum age of a generated cart, in hours. It is 25 days, because carts expire after 30 days. */
const cartAgeHoursMax = 25 * 24;
/**
 * The maximum quantity of a generated cart line. Every variant in a generated cart has at least this stock,
 * so the service never has to reduce a quantity.
 */
const bulkQuantityMax = 3;
const [linesMin, linesMax] = [2, 5];
/** The share of generated carts that have an address and a delivery method, from 0 to 1. */
const addressedShare = 0.1;
const knownBuyerShare = 0.4;

function createBulkCart(number: number, context: BulkCartContext): UnsavedDemoCart {
  const random = createRandomNumberGenerator(hashTextToNumber(`cart/${context.seed}/${number}`));
  const { offer, variantIds } = pickRandomItem(random, context.markets);
  const country = pickRandomItem(random, offer.market.countries);
  const lines = pickRandomCartLines(random, variantIds);
  const isDelivered = random() < addressedShare;
  const isKnown = random() < knownBuyerShare;
  const createdAt = new Date(
    context.now.getTime() - Math.floor(random() * cartAgeHoursMax * hourMs) - hourMs,
  );
  // The service deletes the address of a cart at most one day after the cart's last change. The last change
  // of a generated cart with an address is therefore less than a day ago.
  const updatedAt = isDelivered ? context.now : new Date(createdAt.getTime() + Math.floor(random() * hourMs));
  const input: CreateUnsavedDemoCartInput = {
    merchantId: context.merchantId,
    offer,
    country,
    lines,
    buyer: isKnown
      ? {
          reference: `buyer-${context.seed}-${number}`,
          email: isDelivered ? `buyer-${number}@example.com` : null,
        }
      : null,
    address: isDelivered ? findNormalizedDemoAddress(country) : null,
    code: isDelivered && context.codes.length > 0 ? pickRandomItem(random, context.codes) : null,
    createdAt,
    updatedAt,
  };
  return createUnsavedDemoCart(context.keyring, input);
}

/** Picks two to five different variants (fewer if there are not enough), each with a quantity. */
export function pickRandomCartLines(
  random: () => number,
  variantIds: readonly string[],
): CreateUnsavedDemoCartInput["lines"] {
  const count = linesMin + Math.floor(random() * (linesMax - linesMin + 1));
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, variantIds.length)) chosen.add(pickRandomItem(random, variantIds));
  return [...chosen].map((variantId) => ({
    variantId,
    quantity: 1 + Math.floor(random() * bulkQuantityMax),
  }));
}

const checkedAddresses = new Map<string, PostalAddress | null>();

/**
 * Returns the demo data's address in a country, checked and normalized by the rules of the service; null if
 * the demo data has none for the country.
 */
export function findNormalizedDemoAddress(country: string): PostalAddress | null {
  let address = checkedAddresses.get(country);
  if (address === undefined) {
    const demoAddress = findDemoAddress(country);
    address = demoAddress === undefined ? null : normalizeAndValidateAddress(demoAddress, "strict").address;
    checkedAddresses.set(country, address);
  }
  return address;
}
