/** The facets' part of the search statement: counted over the matches the statement calls `found`, the 20 largest values of each. */
import { type RawBuilder, sql } from "kysely";

export const bucketsMax = 20;

/** 1, 2, 5, 10, … in minor units: steps that read as round prices in every currency. */
export const priceSteps: readonly number[] = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((digit) => digit * 10 ** power)).flat();

export interface RawFacets {
  readonly category: readonly { slug: string; names: Record<string, string> | null; defaultLocale: string | null; count: number }[];
  readonly merchant: readonly { value: string; label: string; count: number }[];
  readonly brand: readonly { value: string; count: number }[];
  readonly availability: readonly { value: string; count: number }[];
  /** The step its prices are at or above; 0 is below the first. */
  readonly price: readonly { step: number; count: number }[];
}

export function facetsOf(matchesMax: number): RawBuilder<unknown> {
  const found = sql`found where place <= ${matchesMax}::int`;
  const largest = sql`count desc, value`;
  return sql`json_build_object(
    'category', ${list(
      sql`select substr(k.key, 4) as slug, c.names, m.default_locale as "defaultLocale", k.count
        from (select key, count(*) as count, min(merchant_id) as merchant_id from found, unnest(category_keys) as u(key)
          where place <= ${matchesMax}::int group by key order by count(*) desc, key limit ${bucketsMax}::int) as k
        left join category c on c.merchant_id = k.merchant_id and c.slug = substr(k.key, 4) left join merchant m on m.id = k.merchant_id`,
      sql`count desc, slug`,
    )},
    'merchant', ${list(
      sql`select m.slug as value, m.name as label, k.count
        from (select merchant_id, count(*) as count from ${found} group by merchant_id order by count(*) desc, merchant_id limit ${bucketsMax}::int) as k
        join merchant m on m.id = k.merchant_id`,
      largest,
    )},
    'brand', ${list(
      sql`select brand as value, count(*) as count from ${found} and brand is not null group by brand order by count(*) desc, brand limit ${bucketsMax}::int`,
      largest,
    )},
    'availability', ${list(sql`select availability as value, count(*) as count from ${found} group by availability`, largest)},
    'price', ${list(
      sql`select width_bucket(min_minor, ${priceSteps}::bigint[]) as step, count(*) as count from ${found} and currency = (select currency from main) group by 1`,
      sql`step`,
    )})`;
}

const list = (rows: RawBuilder<unknown>, order: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select coalesce(json_agg(r order by ${order}), '[]') from (${rows}) as r)`;
