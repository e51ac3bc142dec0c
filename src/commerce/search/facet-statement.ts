/**
 * The facets' part of the search statement: one pass over the matches counts them by what they have in common, and everything else is added up from
 * these counts. The 20 largest values of each.
 */
import { type RawBuilder, sql } from "kysely";
import { availabilityIn, currencyIn, stepIn } from "./offer-key.ts";

export const bucketsMax = 20;

export interface RawFacets {
  readonly category: readonly { slug: string; names: Record<string, string> | null; defaultLocale: string | null; count: number }[];
  readonly merchant: readonly { value: string; label: string; count: number }[];
  readonly brand: readonly { value: string; count: number }[];
  readonly availability: readonly { value: string; count: number }[];
  /** The step its prices are at or above; 0 is below the first. */
  readonly price: readonly { step: number; count: number }[];
}

type Sql = RawBuilder<unknown>;

const buckets = sql.raw(String(bucketsMax));

/** Rows of three kinds, told apart by `kind`: by merchant and categories, by brand, by locale and offer. There are few different ones of each. */
export function countedIn(found: Sql): Sql {
  return sql`
    select grouping(f.group_key, f.brand) as kind, group_key, brand, locale, offer, count(*)::int as count
    from ${found} as f group by grouping sets ((group_key), (brand), (locale, offer))`;
}

const byGroup = sql`(select split_part(group_key, ' ', 1) as merchant_id, string_to_array(group_key, ' ') as parts, count from counted where kind = 1)`;
const byBrand = sql`counted where kind = 2`;
const byOffer = sql`(select locale, ${availabilityIn(sql`offer`)} as availability, ${currencyIn(sql`offer`)} as currency, ${stepIn(sql`offer`)} as step, count
  from counted where kind = 3)`;

/** The locale most of what was found is shown in. */
export const mostUsedLocale = sql`(select locale from ${byOffer} as o group by locale order by sum(count) desc, locale limit 1)`;

export function facetsOf(): Sql {
  const largest = sql`count desc, value`;
  return sql`json_build_object(
    'category', ${list(
      sql`select k.slug, c.names, m.default_locale as "defaultLocale", k.count
        from (select slug, sum(count) as count, min(merchant_id) as merchant_id from ${byGroup} as g, unnest(g.parts[2:]) as u(slug)
          group by slug order by sum(count) desc, slug limit ${buckets}) as k
        left join category c on c.merchant_id = k.merchant_id and c.slug = k.slug left join merchant m on m.id = k.merchant_id`,
      sql`count desc, slug`,
    )},
    'merchant', ${list(
      sql`select m.slug as value, m.name as label, k.count
        from (select merchant_id, sum(count) as count from ${byGroup} as g group by merchant_id order by sum(count) desc, merchant_id limit ${buckets}) as k
        join merchant m on m.id = k.merchant_id`,
      largest,
    )},
    'brand', ${list(sql`select brand as value, count from ${byBrand} and brand is not null order by count desc, brand limit ${buckets}`, largest)},
    'availability', ${list(sql`select availability as value, sum(count) as count from ${byOffer} as o group by availability`, largest)},
    'price', ${list(sql`select step, sum(count) as count from ${byOffer} as o where currency = (select currency from main) group by step`, sql`step`)})`;
}

const list = (rows: Sql, order: Sql): Sql => sql`(select coalesce(json_agg(r order by ${order}), '[]') from (${rows}) as r)`;
