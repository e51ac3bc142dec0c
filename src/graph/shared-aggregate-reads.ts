/**
 * Combines the reads of carts, orders and public products across the requests of a process. All reads of one
 * event loop turn become one SQL statement per type (`database/shared-reads.ts`).
 */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import {
  findPublicProducts,
  type MerchantAndProductSlug,
  type PublicProductLookupResult,
} from "#commerce/catalog/read-products.ts";
import { findOrders } from "#commerce/orders/find-orders.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Database } from "#database/connect.ts";
import { createReadCoalescer, type ReadCoalescer } from "#database/shared-reads.ts";
import type { Clock } from "#foundation/clock.ts";

/**
 * The read coalescers for carts, orders and public products. They combine the reads of all requests of this
 * process (`database/shared-reads.ts`).
 */
export interface CartOrderAndProductReadCoalescers {
  readonly carts: ReadCoalescer<string, CartAggregate>;
  readonly orders: ReadCoalescer<string, OrderAggregate>;
  readonly publicProducts: ReadCoalescer<MerchantAndProductSlug, PublicProductLookupResult>;
}

/** Returns the cache key of a public product: the merchant's slug and the product's slug. */
export const getPublicProductCacheKey = ({ merchantSlug, productSlug }: MerchantAndProductSlug): string =>
  `${merchantSlug}/${productSlug}`;

export function createCartOrderAndProductReadCoalescers(
  db: Database,
  clock: Clock,
): CartOrderAndProductReadCoalescers {
  return {
    carts: createReadCoalescer({
      nameOf: (id) => id,
      find: (ids) => findCarts(db, ids, clock.now()),
    }),
    orders: createReadCoalescer({ nameOf: (id) => id, find: (ids) => findOrders(db, ids) }),
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
