/**
 * What lists and search show of a product, as parts of a statement. What only changes with the catalogue is
 * kept ready, a text for each locale, written with the search index whenever that is; prices and what can be
 * bought are read when they are asked for. `toSummary` shows the same of a whole product; a test holds them
 * together.
 */
import { type RawBuilder, sql } from "kysely";
import { utc } from "#database/sql-fragments.ts";
import { availabilityRank } from "./availability.ts";
import type { Translated } from "./read-products.ts";

/** What is kept: a product in a locale. */
export interface KeptSummary {
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
  /** Null: there is none. */
  readonly categories: readonly { readonly slug: string; readonly names: Translated }[] | null;
  readonly image: {
    readonly url: string;
    readonly alts: Translated;
    readonly width: number;
    readonly height: number;
  } | null;
}

/** What is read: its merchant, its market in a country, and its variants there. */
export interface SummaryRow {
  readonly kept: KeptSummary;
  readonly merchantId: string;
  readonly merchantSlug: string;
  readonly merchantName: string;
  readonly merchantLocale: string;
  /** Null, as the currency: nothing is sold there. */
  readonly marketLocale: string | null;
  readonly currency: string | null;
  readonly minMinor: number | null;
  readonly maxMinor: number | null;
  readonly minCompareMinor: number | null;
  readonly maxCompareMinor: number | null;
  readonly variantCount: number;
  /** Places in `availabilities`: of all variants, and of those with a price there. */
  readonly rank: number | null;
  readonly offeredRank: number | null;
}

/**
 * For a statement that has the product as `p` and its texts as `t`. Whatever changes one of these has the
 * product indexed.
 */
export const keptSummary = sql`json_build_object('id', p.id, 'slug', t.slug, 'locale', t.locale, 'title', t.title, 'summary', t.summary, 'brand', p.brand,
  'ratingAverage', p.rating_average, 'ratingCount', p.rating_count,
  'publishedAt', ${utc(sql`coalesce(p.published_at, p.created_at)`)}, 'updatedAt', ${utc(sql`p.updated_at`)},
  'categories', (select json_agg(json_build_object('slug', c.slug, 'names', c.names) order by pc.position, c.id)
    from product_category pc join category c on c.id = pc.category_id where pc.product_id = p.id),
  'image', (select json_build_object('url', md.url, 'alts', md.alts, 'width', md.width, 'height', md.height)
    from media md where md.product_id = p.id and md.type = 'image' order by md.position, md.id limit 1))`;

/** The columns of `SummaryRow`, beside `summaryTables`. */
export const summaryColumns = sql`kept.summary as kept, m.id as "merchantId", m.slug as "merchantSlug", m.name as "merchantName",
  m.default_locale as "merchantLocale", mk.default_locale as "marketLocale", mk.currency, v.*`;

export interface SummaryView {
  readonly country: RawBuilder<string>;
  readonly now: RawBuilder<Date>;
}

/** What `summaryColumns` reads of the rows of `asked`, an alias with the columns `product_id` and `locale`. */
export function summaryTables(
  asked: RawBuilder<unknown>,
  { country, now }: SummaryView,
): RawBuilder<unknown> {
  return sql`join search_summary kept on kept.product_id = ${asked}.product_id and kept.locale = ${asked}.locale
    join merchant m on m.id = kept.merchant_id
    left join market_country mc on mc.merchant_id = kept.merchant_id and mc.country = ${country}
    left join market mk on mk.id = mc.market_id
    cross join lateral (
      select min(r.amount_minor) as "minMinor", max(r.amount_minor) as "maxMinor", min(r.compare_at_minor) as "minCompareMinor",
        max(r.compare_at_minor) as "maxCompareMinor", count(*)::int as "variantCount", min(r.rank) as rank,
        min(r.rank) filter (where r.amount_minor is not null) as "offeredRank"
      from (select pr.amount_minor, pr.compare_at_minor, ${availabilityRank(now)} as rank
        from variant v left join stock_level sl on sl.variant_id = v.id
        left join price pr on pr.variant_id = v.id and pr.market_id = mk.id and pr.valid_until is null
        where v.product_id = ${asked}.product_id) as r) as v`;
}
