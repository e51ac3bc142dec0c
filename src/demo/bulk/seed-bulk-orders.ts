/**
 * Fills a merchant with as many orders as one wants to measure with, from the last year and in every state, in transactions of a thousand: each with
 * its cart, session, payment and what the provider has of it. Nothing is told of them, and no stock is taken for them: what they sold came and went.
 */
import { sql } from "kysely";
import { snapshotPolicies } from "#commerce/orders/snapshot-policies.ts";
import type { Database } from "#database/connect.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { insertRows, type Row } from "#demo/rows/insert-rows.ts";
import { insertOrders, type OrderRows } from "#demo/rows/order-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import { bulkOrder, type BulkOrderMarket, type BulkOrderPlace } from "./bulk-order.ts";
import { readMarkets } from "./seed-bulk-carts.ts";

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
  if (!Number.isInteger(count) || count < 0 || count > countMax) throw new RangeError(`count must be an integer from 0 to ${countMax}.`);
  if (count === 0) return;
  const { place, first } = await inTransaction(db, (transaction) => readPlace(transaction, options));
  const policies: PolicyTexts = new Map();
  for (let done = 0; done < count;) {
    const size = Math.min(batchSize, count - done);
    const start = first + done;
    const orders = Array.from({ length: size }, (_, offset) => bulkOrder(start + offset, place));
    await inTransaction(db, async (transaction) => {
      await insertOrders(transaction, orders);
      await snapshotAll(transaction, { orders, policies });
    });
    done += size;
    onProgress?.(done);
  }
}

/** Numbers go on where the merchant's orders end, so that a second run gives other orders. */
async function readPlace(
  transaction: Transaction,
  { merchantId, now, keyring, seed = 1 }: BulkOrderOptions,
): Promise<{ readonly place: BulkOrderPlace; readonly first: number }> {
  const markets = await withTimeZones(transaction, shippable(await readMarkets(transaction, { merchantId, now, seed })));
  if (markets.length === 0) throw new Error(`The merchant ${merchantId} has nothing in stock that could be sent to anybody.`);
  const { orders } = await transaction
    .selectFrom("salesOrder")
    .select(({ fn }) => fn.countAll<number>().as("orders"))
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const categoryIds = categoriesOf(markets);
  return { place: { merchantId, markets, categoryIds, keyring, now, seed }, first: orders + 1 };
}

type SoldThere = Omit<BulkOrderMarket, "timeZone">;

function shippable(markets: readonly SoldThere[]): SoldThere[] {
  return markets
    .map(({ offer, variantIds }) => ({ offer, variantIds: variantIds.filter((id) => offer.variants.get(id)?.requiresShipping === true) }))
    .filter(({ variantIds, offer }) => variantIds.length > 0 && offer.market.deliveries.length > 0);
}

async function withTimeZones(transaction: Transaction, markets: readonly SoldThere[]): Promise<BulkOrderMarket[]> {
  const ids = markets.map(({ offer }) => offer.market.id);
  if (ids.length === 0) return [];
  const rows = await transaction.selectFrom("market").select(["id", "timeZone"]).where("id", "in", ids).execute();
  const zones = new Map(rows.map(({ id, timeZone }) => [id, timeZone]));
  return markets.map((market) => ({ ...market, timeZone: zones.get(market.offer.market.id) ?? "UTC" }));
}

function categoriesOf(markets: readonly BulkOrderMarket[]): ReadonlyMap<string, readonly string[]> {
  const variants = markets.flatMap(({ offer }) => [...offer.variants.values()]);
  return new Map(variants.map(({ productId, categoryIds }) => [productId, categoryIds.toSorted()]));
}

/** By where it was sold: what stands in each order's policies there. */
type PolicyTexts = Map<string, readonly PolicyText[]>;
type PolicyText = Pick<Row<"policySnapshot">, "type" | "summary" | "url" | "rules">;

interface ToSnapshot {
  readonly orders: readonly OrderRows[];
  readonly policies: PolicyTexts;
}

/** The first order of each place gets its policies as every order does; those after it get the same. */
async function snapshotAll(transaction: Transaction, { orders, policies }: ToSnapshot): Promise<void> {
  const rows: Row<"policySnapshot">[] = [];
  for (const { salesOrder } of orders) {
    const { marketId, country, locale, merchantId, placedAt } = salesOrder;
    const place = `${marketId} ${country} ${locale}`;
    const known = policies.get(place);
    if (known === undefined) policies.set(place, await snapshotFirst(transaction, salesOrder));
    else
      for (const text of known)
        rows.push({ ...text, id: createId("policy", placedAt.getTime()), orderId: salesOrder.id, merchantId, capturedAt: placedAt });
  }
  await insertRows(transaction, { policySnapshot: rows });
}

async function snapshotFirst(transaction: Transaction, order: Row<"salesOrder">): Promise<readonly PolicyText[]> {
  const { id: orderId, merchantId, marketId, country, locale, currency, placedAt: now } = order;
  await snapshotPolicies(transaction, { merchantId, now }, { orderId, marketId, country, locale, currency });
  const { rows } = await sql<PolicyText>`select type, summary, url, rules from policy_snapshot where order_id = ${orderId}`.execute(transaction);
  return rows;
}
