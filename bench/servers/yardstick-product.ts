/** The statement that reads a product page for the yardstick, with lists as JSON. */
import { availabilityRankSql, urlSql, utcSql } from "./sql-parts.ts";
import type { RowStatement } from "./yardstick-rows.ts";

/**
 * Returns the product statement. The arguments are SQL expressions for the slugs of the merchant and the
 * product; `$3` is the public URL.
 */
const productSql = (merchantSlug: string, productSlug: string): string => `
select p.id, p.brand, p.rating_average, p.rating_count, p.attributes, ${utcSql("p.published_at")} as
published_at, ${utcSql("p.updated_at")} as updated_at,
  m.id as merchant_id, m.slug as merchant_slug, m.name as merchant_name, m.default_locale, m.default_market,
  (select json_agg(json_build_object('locale', t.locale, 'slug', t.slug, 'title', t.title, 'summary',
  t.summary, 'description', t.description,
    'seoTitle', t.seo_title, 'seoDescription', t.seo_description) order by t.locale)
    from product_translation t where t.product_id = p.id) as translations,
  (select json_agg(json_build_object('slug', c.slug, 'names', c.names) order by pc.position, c.id)
    from product_category pc join category c on c.id = pc.category_id
    where pc.product_id = p.id) as categories,
  (select json_agg(json_build_object('code', o.code, 'names', o.names, 'choices', o.choices)
  order by o.position, o.code)
    from product_option o where o.product_id = p.id) as options,
  (select json_agg(json_build_object('id', md.id, 'type', md.type, 'url', ${urlSql("md.url", "$3::text")},
  'alts', md.alts, 'width', md.width,
    'height', md.height, 'position', md.position) order by md.position, md.id) from media md
    where md.product_id = p.id) as media,
  (select json_agg(json_build_object('id', v.id, 'sku', v.sku, 'gtin', v.gtin, 'options', v.options, 'media',
  v.media_id, 'rank', ${availabilityRankSql("v", "sl")},
      'maximum', v.max_order_quantity, 'restrictions', v.restrictions, 'weight', v.weight_grams,
      'prices', (select json_object_agg(pr.market_id, json_build_array(pr.amount_minor, pr.compare_at_minor,
          (select min(h.amount_minor) from price h where h.variant_id = pr.variant_id
          and h.market_id = pr.market_id
            and h.valid_from < pr.valid_from and h.valid_until > pr.valid_from - interval '30 days')))
        from price pr where pr.variant_id = v.id and pr.valid_until is null)) order by v.position, v.id)
    from variant v left join stock_level sl on sl.variant_id = v.id where v.product_id = p.id) as variants,
  (select json_agg(json_build_object('id', mk.id, 'currency', mk.currency, 'taxIncluded', mk.tax_included,
  'locale', mk.default_locale,
      'countries', (select json_agg(mc.country order by mc.position) from market_country mc
      where mc.market_id = mk.id)) order by mk.created_at, mk.handle)
    from market mk where mk.merchant_id = m.id) as markets,
  (select json_agg(json_build_object('market', po.market_id, 'type', po.type, 'summaries', po.summaries,
  'url', po.url))
    from policy po where po.merchant_id = m.id) as policies
from merchant m join product_slug s on s.merchant_id = m.id and s.slug = ${productSlug} join product p
on p.id = s.product_id and p.status = 'published'
where m.slug = ${merchantSlug} and m.status = 'active'`;

export const createProductStatement = (publicUrl: string): RowStatement => ({
  name: "product",
  sql: productSql,
  parameters: [publicUrl],
});
