/** Fills a merchant with as many carts as one wants to measure with, in transactions of a thousand: prices are read once, then each cart is made here. */
import { sql } from "kysely";
import { loadOffer } from "#commerce/carts/offer.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type CartRows, cartRows, insertCarts } from "#demo/rows/cart-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { bulkCart, type BulkCartPlace, type BulkMarketOffer, bulkQuantityMax } from "./bulk-cart.ts";

export interface BulkCartOptions {
  readonly merchantId: string;
  readonly count: number;
  readonly now: Date;
  readonly keyring: Keyring;
  /** The same seed gives the same carts to a merchant that has as many already. */
  readonly seed?: number;
  readonly onProgress?: (done: number) => void;
}

const countMax = 1_000_000;
const batchSize = 1000;
/** Of each market. More would not make carts more different, only slower to price. */
const variantsMax = 2000;
const codesMax = 5;

export async function seedBulkCarts(db: Database, options: BulkCartOptions): Promise<void> {
  const { count, onProgress } = options;
  if (!Number.isInteger(count) || count < 0 || count > countMax) throw new RangeError(`count must be an integer from 0 to ${countMax}.`);
  const { place, first } = await inTransaction(db, (transaction) => readPlace(transaction, options));
  for (let done = 0; done < count;) {
    const size = Math.min(batchSize, count - done);
    const start = first + done;
    const carts = Array.from({ length: size }, (_, offset) => rowsOf(start + offset, place));
    await inTransaction(db, (transaction) => insertCarts(transaction, carts));
    done += size;
    onProgress?.(done);
  }
}

function rowsOf(number: number, place: BulkCartPlace): CartRows {
  const cart = bulkCart(number, place);
  return cartRows(cart, { status: "active", version: 1 });
}

/** Numbers go on where the merchant's carts end, so that a second run gives other carts. */
async function readPlace(
  transaction: Transaction,
  { merchantId, now, keyring, seed = 1 }: BulkCartOptions,
): Promise<{ readonly place: BulkCartPlace; readonly first: number }> {
  const markets = await readMarkets(transaction, { merchantId, now, seed });
  const [market] = markets;
  if (market === undefined) throw new Error(`The merchant ${merchantId} has nothing in stock that could be put into a cart.`);
  const { carts } = await transaction
    .selectFrom("cart")
    .select(({ fn }) => fn.countAll<number>().as("carts"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const codes = await findCodes(transaction, { merchantId, marketId: market.offer.market.id, now });
  return { place: { merchantId, markets, codes, keyring, now, seed }, first: carts + 1 };
}

/** Where the merchant sells anything, and what: what it costs there is read once, however many carts there will be. */
export async function readMarkets(
  transaction: Transaction,
  { merchantId, now, seed }: Pick<BulkCartPlace, "merchantId" | "now" | "seed">,
): Promise<readonly BulkMarketOffer[]> {
  const found = await transaction.selectFrom("market").select("id").where("merchantId", "=", merchantId).orderBy("handle").execute();
  if (found.length === 0) throw new Error(`The merchant ${merchantId} has no market to sell in.`);
  const markets: BulkMarketOffer[] = [];
  for (const { id: marketId } of found) {
    const variantIds = await findVariants(transaction, { marketId, seed });
    if (variantIds.length === 0) continue;
    const wanted = { merchantId, marketId, variantIds, buyerReference: null, code: null, heldBySessionId: null, now };
    markets.push({ variantIds, offer: await loadOffer(transaction, wanted) });
  }
  return markets;
}

/** Any of the catalogue, by what their SKUs give with the seed: ids are other ones in each database. */
async function findVariants(
  transaction: Transaction,
  { marketId, seed }: { readonly marketId: string; readonly seed: number },
): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    select v.id from price pr join variant v on v.id = pr.variant_id join product p on p.id = v.product_id join stock_level s on s.variant_id = v.id
    where pr.market_id = ${marketId} and pr.valid_until is null and p.status = 'published' and not v.discontinued
      and s.on_hand - s.reserved >= ${bulkQuantityMax} and coalesce(v.max_order_quantity, ${bulkQuantityMax}) >= ${bulkQuantityMax}
    order by md5(v.sku || ${String(seed)}::text) limit ${variantsMax}`.execute(transaction);
  return rows.map(({ id }) => id);
}

async function findCodes(
  transaction: Transaction,
  { merchantId, marketId, now }: { readonly merchantId: string; readonly marketId: string; readonly now: Date },
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
  const wanted = { merchantId, marketId, variantIds: [], buyerReference: null, heldBySessionId: null, now };
  const rules = [];
  for (const { id } of rows) rules.push((await loadOffer(transaction, { ...wanted, code: { id } })).code);
  return rules.filter((rule) => rule !== undefined);
}
