/** What a process reads for many requests at once (shared-reads.ts): the aggregates that most requests ask for one of. */
import { type CartAggregate, findCarts } from "#commerce/carts/cart-aggregate.ts";
import { findPublicProducts, type PublicAddress, type PublicProductRow } from "#commerce/catalog/read-aggregates.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders } from "#commerce/orders/read-orders.ts";
import type { Database } from "#database/connect.ts";
import { createSharedReads, type SharedReads } from "#database/shared-reads.ts";
import type { Clock } from "#foundation/clock.ts";

export interface Reads {
  readonly carts: SharedReads<string, CartAggregate>;
  readonly orders: SharedReads<string, OrderAggregate>;
  readonly publicProducts: SharedReads<PublicAddress, PublicProductRow>;
}

const itself = (id: string): string => id;

export const nameOfAddress = ({ merchantSlug, productSlug }: PublicAddress): string => `${merchantSlug}/${productSlug}`;

export function createReads(db: Database, clock: Clock): Reads {
  return {
    carts: createSharedReads({ nameOf: itself, find: (ids) => findCarts(db, ids, clock.now()) }),
    orders: createSharedReads({ nameOf: itself, find: (ids) => findOrders(db, ids) }),
    publicProducts: createSharedReads({ nameOf: nameOfAddress, find: (addresses) => readPublicProducts(db, addresses, clock.now()) }),
  };
}

/** By address. */
export async function readPublicProducts(
  db: Database,
  addresses: readonly PublicAddress[],
  now: Date,
): Promise<ReadonlyMap<string, PublicProductRow>> {
  const rows = await findPublicProducts(db, addresses, now);
  return new Map(rows.map((row) => [`${row.merchantSlug}/${row.productSlug}`, row]));
}
