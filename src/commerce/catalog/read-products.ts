/**
 * Reads whole products, any number in one statement, with everything that the API shows. A loaded product
 * contains the values for all locales and markets; the rendering code selects the values that a request
 * needs. The products of many requests can therefore be loaded together.
 */
import { type RawBuilder, sql } from "kysely";
import {
  createPaddedInClauseTemplate,
  padListToPowerOfTwo,
  createNamedSqlTemplateParameter,
  prepareStatementTemplate,
} from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import { reservedUnitsSql } from "./availability.ts";
import {
  currentPriceAmountSql,
  currentCompareAtPriceSql,
  currentPriceEndSql,
  currentPriceStartSql,
} from "./current-price.ts";

export type LocalizedTextMap = Readonly<Record<string, string>>;

export interface StoredProductTranslation {
  readonly locale: string;
  readonly slug: string;
  readonly title: string;
  readonly summary: string | null;
  readonly description: string | null;
  readonly seoTitle: string | null;
  readonly seoDescription: string | null;
}

export interface StoredVariantPrice {
  readonly marketId: string;
  readonly amountMinor: number;
  readonly compareAtMinor: number | null;
  /**
   * Lowest price in the 30 days before the current price began, in minor units; null if the variant had no
   * price in these 30 days.
   */
  readonly lowest30dMinor: number | null;
  readonly validFrom: string;
  /** The time at which the price ends; at this time it is no longer valid. Null if the price has no end. */
  readonly endsAt: string | null;
}

export interface StoredProductVariant {
  readonly id: string;
  readonly sku: string;
  readonly gtin: string | null;
  readonly options: LocalizedTextMap;
  readonly mediaId: string | null;
  readonly restrictions: readonly string[];
  readonly requiresShipping: boolean;
  readonly weightGrams: number | null;
  readonly maxOrderQuantity: number | null;
  readonly discontinued: boolean;
  readonly availableFrom: string | null;
  readonly onHand: number;
  readonly reserved: number;
  readonly backorderLimit: number;
  readonly lowStockThreshold: number;
  /** Version of the variant's stock; increases with every change of the stock. */
  readonly stockVersion: number;
  readonly prices: readonly StoredVariantPrice[];
}

export interface StoredProductMarket {
  readonly id: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly defaultLocale: string;
  readonly countries: readonly string[];
}

export interface StoredProductMedia {
  readonly id: string;
  readonly type: "image" | "video";
  readonly url: string;
  readonly alts: LocalizedTextMap;
  readonly width: number;
  readonly height: number;
  readonly position: number;
}

export interface ProductAggregate {
  readonly id: string;
  readonly version: number;
  readonly status: "draft" | "published" | "archived";
  readonly brand: string | null;
  /** Code of the product's tax class. */
  readonly taxClass: string;
  readonly ratingAverage: number | null;
  readonly ratingCount: number | null;
  readonly attributes: readonly {
    code: string;
    names: LocalizedTextMap;
    value: unknown;
    unit: string | null;
  }[];
  readonly publishedAt: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly merchant: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly defaultLocale: string;
    readonly defaultMarket: string;
  };
  readonly translations: readonly StoredProductTranslation[];
  readonly categories: readonly { id: string; slug: string; names: LocalizedTextMap }[];
  readonly options: readonly {
    code: string;
    names: LocalizedTextMap;
    choices: readonly { code: string; labels: LocalizedTextMap }[];
  }[];
  readonly media: readonly StoredProductMedia[];
  readonly variants: readonly StoredProductVariant[];
  readonly markets: readonly StoredProductMarket[];
  readonly policies: readonly {
    marketId: string | null;
    type: string;
    summaries: LocalizedTextMap;
    url: string | null;
  }[];
}

/**
 * Loads products by id; ids without a product are ignored. The caller must make sure that the ids belong to
 * the right merchant. `now` decides which stock holds have expired and which prices have ended.
 */
export async function findProductAggregates(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, ProductAggregate>> {
  const list = createPaddedInClauseTemplate(ids);
  const write = (): RawBuilder<unknown> => sql`select ${aggregate} as product from product p join merchant m
      on m.id = p.merchant_id
    where p.id ${list.write()}`;
  const statement = prepareStatementTemplate<{ product: ProductAggregate }>(reader, {
    form: `products ${list.form}`,
    write,
    values: { ...list.values, now },
  });
  const { rows } = await reader.executeQuery(statement);
  return new Map(rows.map(({ product }) => [product.id, product]));
}

/** Returns a map from the id of each variant to the id of its product. */
export async function findProductIdsOfVariants(
  reader: DatabaseOrTransaction,
  variantIds: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await sql<{ id: string; productId: string }>`
    select id, product_id from variant where id = any(${variantIds}::text[])`.execute(reader);
  return new Map(rows.map(({ id, productId }) => [id, productId]));
}

export interface MerchantAndProductSlug {
  readonly merchantSlug: string;
  readonly productSlug: string;
}

export interface PublicProductLookupResult {
  readonly merchantSlug: string;
  readonly productSlug: string | null;
  /** The published product; null if the merchant has no published product with this slug. */
  readonly product: ProductAggregate | null;
}

/**
 * Loads published products by merchant slug and product slug; a former slug of a product works too. Entries
 * whose merchant is unknown or suspended are left out of the result.
 */
export async function findPublicProducts(
  reader: DatabaseOrTransaction,
  addresses: readonly MerchantAndProductSlug[],
  now: Date,
): Promise<readonly PublicProductLookupResult[]> {
  const places = padListToPowerOfTwo(addresses, paddingAddress);
  const values: Record<string, unknown> = { now };
  for (const [index, { merchantSlug, productSlug }] of places.entries()) {
    values[`merchant${index}`] = merchantSlug;
    values[`product${index}`] = productSlug;
  }
  const write = (): RawBuilder<unknown> => publicProducts(places.length);
  const { rows } = await reader.executeQuery(
    prepareStatementTemplate<PublicProductLookupResult>(reader, {
      form: `public products ${places.length}`,
      write,
      values,
    }),
  );
  return rows;
}

/**
 * Padding for lists of merchant slug and product slug. Each list is padded to a power of two, because the SQL
 * text depends on the length of the list. The padding matches no product, because no merchant has an empty
 * slug.
 */
const paddingAddress: MerchantAndProductSlug = { merchantSlug: "", productSlug: "" };

function publicProducts(length: number): RawBuilder<unknown> {
  const places = Array.from(
    { length },
    (_, index) =>
      sql`(${createNamedSqlTemplateParameter(`merchant${index}`)}::text, ${createNamedSqlTemplateParameter(`product${index}`)}::text)`,
  );
  return sql`
    select m.slug as merchant_slug, asked.product_slug, case when p.id is null then null else ${aggregate}
    end as product
    from (values ${sql.join(places)}) as asked (merchant_slug, product_slug)
    join merchant m on m.slug = asked.merchant_slug and m.status = 'active'
    left join product_slug s on s.merchant_id = m.id and s.slug = asked.product_slug
    left join product p on p.id = s.product_id and p.status = 'published'`;
}

const now = createNamedSqlTemplateParameter<Date>("now");

const prices = sql`coalesce((select json_agg(json_build_object('marketId', pr.market_id, 'amountMinor',
  ${currentPriceAmountSql(now)}, 'compareAtMinor', ${currentCompareAtPriceSql(now)},
    'lowest30dMinor', (select min(h.amount_minor) from price h where h.variant_id = pr.variant_id
    and h.market_id = pr.market_id and h.valid_from < ${currentPriceStartSql(now)}
    and coalesce(h.valid_until, h.ends_at) > ${currentPriceStartSql(now)} - interval '30 days'),
    'validFrom', ${formatUtcTimeSql(currentPriceStartSql(now))}, 'endsAt', ${formatUtcTimeSql(currentPriceEndSql(now))})
    order by pr.market_id)
  from price pr where pr.variant_id = v.id and pr.valid_until is null
    and ${currentPriceAmountSql(now)} is not null), '[]'::json)`;

const variants = sql<
  StoredProductVariant[]
>`coalesce((select json_agg(json_build_object('id', v.id, 'sku', v.sku, 'gtin', v.gtin, 'options', v.options,
  'mediaId', v.media_id,
    'restrictions', v.restrictions, 'requiresShipping', v.requires_shipping, 'weightGrams', v.weight_grams,
    'maxOrderQuantity', v.max_order_quantity,
    'discontinued', v.discontinued, 'availableFrom', ${formatUtcTimeSql(sql`v.available_from`)}, 'onHand',
    coalesce(sl.on_hand, 0), 'reserved', ${reservedUnitsSql(now)},
    'backorderLimit', coalesce(sl.backorder_limit, 0), 'lowStockThreshold',
    coalesce(sl.low_stock_threshold, 0),
    'stockVersion', coalesce(sl.version, 1), 'prices', ${prices}) order by v.position, v.id)
  from variant v left join stock_level sl on sl.variant_id = v.id where v.product_id = p.id), '[]'::json)`;

const aggregate = sql<ProductAggregate>`json_build_object(
  'id', p.id, 'version', p.version, 'status', p.status, 'brand', p.brand, 'taxClass', p.tax_class,
  'ratingAverage', p.rating_average,
  'ratingCount', p.rating_count,
  'attributes', p.attributes, 'publishedAt', ${formatUtcTimeSql(sql`p.published_at`)}, 'createdAt',
  ${formatUtcTimeSql(sql`p.created_at`)}, 'updatedAt', ${formatUtcTimeSql(sql`p.updated_at`)},
  'merchant', json_build_object('id', m.id, 'slug', m.slug, 'name', m.name, 'defaultLocale', m.default_locale,
  'defaultMarket', m.default_market),
  'translations', coalesce((select json_agg(json_build_object('locale', t.locale, 'slug', t.slug, 'title',
  t.title, 'summary', t.summary,
      'description', t.description, 'seoTitle', t.seo_title, 'seoDescription', t.seo_description)
      order by t.locale)
    from product_translation t where t.product_id = p.id), '[]'::json),
  'categories', coalesce((select json_agg(json_build_object('id', c.id, 'slug', c.slug, 'names', c.names)
  order by pc.position, c.id)
    from product_category pc join category c on c.id = pc.category_id
    where pc.product_id = p.id), '[]'::json),
  'options', coalesce((select json_agg(json_build_object('code', o.code, 'names', o.names, 'choices',
  o.choices) order by o.position, o.code)
    from product_option o where o.product_id = p.id), '[]'::json),
  'media', coalesce((select json_agg(json_build_object('id', md.id, 'type', md.type, 'url', md.url, 'alts',
  md.alts, 'width', md.width,
      'height', md.height, 'position', md.position) order by md.position, md.id) from media md
      where md.product_id = p.id), '[]'::json),
  'variants', ${variants},
  'markets', coalesce((select json_agg(json_build_object('id', mk.id, 'currency', mk.currency, 'taxIncluded',
  mk.tax_included, 'defaultLocale', mk.default_locale,
      'countries', (select json_agg(mc.country order by mc.position) from market_country mc
      where mc.market_id = mk.id)) order by mk.created_at, mk.handle)
    from market mk where mk.merchant_id = p.merchant_id), '[]'::json),
  'policies', coalesce((select json_agg(json_build_object('marketId', po.market_id, 'type', po.type,
  'summaries', po.summaries, 'url', po.url) order by po.type, po.id)
    from policy po where po.merchant_id = p.merchant_id), '[]'::json))`;
