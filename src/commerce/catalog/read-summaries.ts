/**
 * SQL parts of the statements that return product summaries for lists and search. The parts of a summary that
 * change only with the catalog are stored as JSON in the table `search_summary`. The table has one row for
 * each locale, which is written together with the search index. Prices and availability are read at every
 * request. `toProductSummary` builds the same summary from a whole product; a test compares the two results.
 */
import { type RawBuilder, sql } from "kysely";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import { stockAvailabilityRankSql } from "./availability.ts";
import { currentPriceAmountSql, currentCompareAtPriceSql } from "./current-price.ts";
import type { LocalizedTextMap } from "./read-products.ts";

/** The part of a product summary that the table `search_summary` stores for one locale. */
export interface StoredProductSummary {
  readonly id: string;
  readonly slug: string;
  readonly locale: string;
  readonly title: string;
  readonly summary: string | null;
  readonly brand: string | null;
  readonly ratingAverage: number | null;
  readonly ratingCount: number | null;
  readonly publishedAt: string;
  readonly updatedAt: string;
  /** Categories of the product, the main category first; null if the product has no category. */
  readonly categories: readonly { readonly slug: string; readonly names: LocalizedTextMap }[] | null;
  readonly image: {
    readonly url: string;
    readonly alts: LocalizedTextMap;
    readonly width: number;
    readonly height: number;
  } | null;
}

/**
 * The row from which a product summary is rendered. Contains the stored part of the summary, the merchant,
 * and the market of the requested country with the variants' prices and availability in this market.
 */
export interface ProductSummaryRow {
  readonly kept: StoredProductSummary;
  readonly merchantId: string;
  readonly merchantSlug: string;
  readonly merchantName: string;
  readonly merchantLocale: string;
  /**
   * Default locale of the market of the requested country. Null if the merchant does not sell to this
   * country; `currency` is null then too.
   */
  readonly marketLocale: string | null;
  readonly currency: string | null;
  readonly minMinor: number | null;
  readonly maxMinor: number | null;
  readonly minCompareMinor: number | null;
  readonly maxCompareMinor: number | null;
  readonly variantCount: number;
  /**
   * Best availability of all variants of the product, as an index into the list `availabilities`. The field
   * `offeredRank` is the best availability of only those variants that have a price in the market.
   */
  readonly rank: number | null;
  readonly offeredRank: number | null;
}

/**
 * SQL expression for the stored part of a product summary. The statement must use the alias `p` for the
 * product and `t` for its translation. A change of any column that this expression reads must update the
 * product in the search index.
 */
export const storedSummarySql = sql`json_build_object('id', p.id, 'slug', t.slug, 'locale', t.locale, 'title',
  t.title, 'summary', t.summary, 'brand', p.brand,
  'ratingAverage', p.rating_average, 'ratingCount', p.rating_count,
  'publishedAt', ${formatUtcTimeSql(sql`coalesce(p.published_at,
    p.created_at)`)}, 'updatedAt',
  ${formatUtcTimeSql(sql`p.updated_at`)},
  'categories', (select json_agg(json_build_object('slug', c.slug, 'names', c.names)
  order by pc.position, c.id)
    from product_category pc join category c on c.id = pc.category_id where pc.product_id = p.id),
  'image', (select json_build_object('url', md.url, 'alts', md.alts, 'width', md.width, 'height', md.height)
    from media md where md.product_id = p.id and md.type = 'image' order by md.position, md.id limit 1))`;

/**
 * SQL for the columns of `ProductSummaryRow`. The statement must also contain the joins of
 * `productSummaryJoinsSql`.
 */
export const summaryColumnsSql = sql`kept.summary as kept, m.id as "merchantId", m.slug as "merchantSlug",
  m.name as "merchantName",
  m.default_locale as "merchantLocale", mk.default_locale as "marketLocale", mk.currency, v.*`;

export interface ProductSummarySqlParameters {
  readonly country: RawBuilder<string>;
  readonly now: RawBuilder<Date>;
}

/**
 * SQL joins of the tables that `summaryColumnsSql` reads. `requested` is the alias of a table or subquery
 * with the columns `product_id` and `locale`.
 */
export function productSummaryJoinsSql(
  requested: RawBuilder<unknown>,
  { country, now }: ProductSummarySqlParameters,
): RawBuilder<unknown> {
  return sql`join search_summary kept on kept.product_id = ${requested}.product_id
    and kept.locale = ${requested}.locale
    join merchant m on m.id = kept.merchant_id
    left join market_country mc on mc.merchant_id = kept.merchant_id and mc.country = ${country}
    left join market mk on mk.id = mc.market_id
    cross join lateral (
      select min(r.amount_minor) as "minMinor", max(r.amount_minor) as "maxMinor", min(r.compare_at_minor) as
      "minCompareMinor",
        max(r.compare_at_minor) as "maxCompareMinor", count(*)::int as "variantCount", min(r.rank) as rank,
        min(r.rank) filter (where r.amount_minor is not null) as "offeredRank"
      from (select ${currentPriceAmountSql(now)} as amount_minor, ${currentCompareAtPriceSql(now)} as compare_at_minor,
          ${stockAvailabilityRankSql(now)} as rank
        from variant v left join stock_level sl on sl.variant_id = v.id
        left join price pr on pr.variant_id = v.id and pr.market_id = mk.id and pr.valid_until is null
        where v.product_id = ${requested}.product_id) as r) as v`;
}
