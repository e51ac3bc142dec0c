/**
 * Combines the reads of carts, orders and public products across the requests of a process. All reads of one
 * event loop turn become one SQL statement per type (`database/shared-reads.ts`).
 */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { findCarts, findCartsOrReuseKnownCarts } from "#commerce/carts/find-carts.ts";
import {
  findPublicProducts,
  type MerchantAndProductSlug,
  type PublicProductLookupResult,
} from "#commerce/catalog/read-products.ts";
import { findOrders, findOrdersOrReuseKnownOrders } from "#commerce/orders/find-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Database } from "#database/connect.ts";
import { estimateKnownRowBytes, type KnownRow } from "#database/known-rows.ts";
import { createReadCoalescer, type ReadCoalescer } from "#database/shared-reads.ts";
import type { Clock } from "#foundation/clock.ts";
import type { LimitedMemory, MemorySection } from "#foundation/limited-memory.ts";

/**
 * The read coalescers for carts, orders and public products. They combine the reads of all requests of this
 * process (`database/shared-reads.ts`).
 */
export interface CartOrderAndProductReadCoalescers {
  readonly carts: ReadCoalescer<string, CartAggregate>;
  readonly orders: ReadCoalescer<string, OrderAggregate>;
  readonly publicProducts: ReadCoalescer<MerchantAndProductSlug, PublicProductLookupResult>;
}

/**
 * The carts and orders that this process has read last. Reads from the primary database and from replicas use
 * the same known rows, because a known row is only used if it is equal to the row that the statement reads.
 */
export interface KnownCartsAndOrders {
  readonly carts: MemorySection<KnownRow<CartAggregate>>;
  readonly orders: MemorySection<KnownRow<OrderAggregate>>;
}

/** Creates the sections of a memory that keep carts and orders. */
export const createKnownCartsAndOrders = ({ createSection }: LimitedMemory): KnownCartsAndOrders => ({
  carts: createSection<KnownRow<CartAggregate>>({ estimateBytes: estimateKnownRowBytes }),
  orders: createSection<KnownRow<OrderAggregate>>({ estimateBytes: estimateKnownRowBytes }),
});

/** Returns the cache key of a public product: the merchant's slug and the product's slug. */
export const getPublicProductCacheKey = ({ merchantSlug, productSlug }: MerchantAndProductSlug): string =>
  `${merchantSlug}/${productSlug}`;

/**
 * Creates the read coalescers of a database. Without `known`, each read receives and parses the whole carts
 * and orders.
 */
export function createCartOrderAndProductReadCoalescers(
  db: Database,
  clock: Clock,
  known: KnownCartsAndOrders | undefined,
): CartOrderAndProductReadCoalescers {
  return {
    carts: createReadCoalescer({
      nameOf: (id) => id,
      find: (ids) =>
        known === undefined
          ? findCarts(db, ids, clock.now())
          : findCartsOrReuseKnownCarts(db, { ids, known: known.carts }, clock.now()),
    }),
    orders: createReadCoalescer({
      nameOf: (id) => id,
      find: (ids) =>
        known === undefined
          ? findOrders(db, ids)
          : findOrdersOrReuseKnownOrders(db, { ids, known: known.orders }),
    }),
    publicProducts: createReadCoalescer({
      nameOf: getPublicProductCacheKey,
      find: (addresses) => findPublicProductsBySlugs(db, addresses, clock.now()),
    }),
  };
}

/** Returns the published products for pairs of a merchant's slug and a product's slug. */
export async function findPublicProductsBySlugs(
  db: Database,
  addresses: readonly MerchantAndProductSlug[],
  now: Date,
): Promise<ReadonlyMap<string, PublicProductLookupResult>> {
  const rows = await findPublicProducts(db, addresses, now);
  return new Map(rows.map((row) => [`${row.merchantSlug}/${row.productSlug}`, row]));
}
