/** The list an integrator reads without parameters: the newest published products of its merchant, and what it should know about them. */
import type { Reader } from "#database/transaction.ts";
import { sql } from "kysely";

export const listLimit = 500;

export interface ProductList {
  readonly ids: readonly string[];
  readonly total: number;
  readonly locale: string;
  readonly market: string;
  readonly currency: string | null;
  readonly catalogVersion: number;
}

/** By merchant, however many are asked for in one statement. */
export async function listPublishedProducts(reader: Reader, merchantIds: readonly string[]): Promise<Map<string, ProductList>> {
  const { rows } = await sql<ProductList & { readonly merchantId: string }>`
    select m.id as merchant_id, m.default_locale as locale, m.default_market as market, m.catalog_version,
      (select mk.currency from market_country c join market mk on mk.id = c.market_id where c.merchant_id = m.id and c.country = m.default_market) as currency,
      (select count(*) from product p where p.merchant_id = m.id and p.status = 'published') as total,
      array(select p.id from product p where p.merchant_id = m.id and p.status = 'published' order by p.published_at desc, p.id limit ${listLimit}) as ids
    from merchant m where m.id = any(${merchantIds}::text[])`.execute(reader);
  return new Map(rows.map((row) => [row.merchantId, row]));
}
