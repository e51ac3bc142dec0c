/**
 * Loads the current offer for a cart in one statement: prices, stock and texts of the variants, taxes and
 * delivery methods of the market, and promotions. Runs after the cart is locked.
 */
import { type CompiledQuery, type QueryResult, type RawBuilder, sql } from "kysely";
import { reservedUnitsSql } from "#commerce/catalog/availability.ts";
import { currentPriceAmountSql, currentCompareAtPriceSql } from "#commerce/catalog/current-price.ts";
import {
  type PromotionCodeJson,
  promotionCodeJsonSql,
  type PromotionRuleJson,
  toBuyerVisiblePromotion,
  promotionRuleJsonSql,
  toPromotionRule,
  promotionUseCountOfBuyerSql,
} from "#commerce/promotions/read-promotions.ts";
import type { MarketTaxRate } from "#commerce/tax/tax-provider.ts";
import {
  prepareStatementTemplate,
  createPaddedInClauseTemplate,
  createNamedSqlTemplateParameter,
} from "#database/prepared-template.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { Transaction } from "#database/transaction.ts";
import type {
  CartPricingDeliveryMethod,
  CartPricingMarket,
  CartPricingVariant,
  CurrentCartPricingData,
} from "./pricing-data.ts";

export interface LoadCurrentCartPricingDataOptions {
  readonly merchantId: string;
  readonly marketId: string;
  readonly variantIds: readonly string[];
  /** The country whose tax rates are loaded; null to load the rates of all countries. */
  readonly taxCountry: string | null;
  /**
   * True if the cart has an address. Without an address, the cart has neither taxes nor delivery options, so
   * tax rates and delivery methods need not be loaded.
   */
  readonly hasAddress: boolean;
  readonly buyerReference: string | null;
  /**
   * The promotion code to load, by its id or by the normalized text that a buyer entered; null to load no
   * code.
   */
  readonly code: { readonly id: string } | { readonly normalized: string } | null;
  /**
   * The id of the cart's checkout session, whose reserved items count as available; null if the cart has no
   * session.
   */
  readonly heldBySessionId: string | null;
  /**
   * The time at which the cart is priced: stock reservations and prices that end before this time are
   * ignored.
   */
  readonly now: Date;
}

export interface CartPricingDataRow {
  readonly merchantLocale: string;
  readonly market: CartPricingMarket;
  readonly variants: readonly CartPricingVariant[];
  readonly automatic: readonly { readonly rule: PromotionRuleJson; readonly used: number }[];
  readonly code: {
    readonly rule: PromotionRuleJson;
    readonly used: number;
    readonly code: PromotionCodeJson;
  } | null;
}

/**
 * Sends the statement that reads the offer after other statements, in the same round trip, and returns its
 * result.
 */
export type SendOfferStatement = (
  transaction: Transaction,
  query: CompiledQuery<CartPricingDataRow>,
) => Promise<QueryResult<CartPricingDataRow>>;

export async function loadCurrentCartPricingData(
  transaction: Transaction,
  request: LoadCurrentCartPricingDataOptions,
  send: SendOfferStatement = (handle, query) => handle.executeQuery(query),
): Promise<CurrentCartPricingData> {
  const { rows } = await send(transaction, offerQuery(transaction, request));
  const [row] = rows;
  if (row === undefined) throw new Error(`Merchant ${request.merchantId} has no market ${request.marketId}.`);
  return toCurrentCartPricingData(row);
}

export function toCurrentCartPricingData(row: CartPricingDataRow): CurrentCartPricingData {
  const { automatic, code } = row;
  return {
    merchantLocale: row.merchantLocale,
    market: row.market,
    variants: new Map(row.variants.map((variant) => [variant.id, variant])),
    automatic: automatic.map(({ rule, used }) => toPromotionRule(rule, { usedByBuyer: used, code: null })),
    code: code === null ? undefined : toPromotionRule(code.rule, { usedByBuyer: code.used, code: code.code }),
    promotions: new Map([
      ...automatic.map(({ rule }) => [rule.id, toBuyerVisiblePromotion(rule, null)] as const),
      ...(code === null ? [] : [[code.rule.id, toBuyerVisiblePromotion(code.rule, code.code.code)] as const]),
    ]),
  };
}

function offerQuery(
  transaction: Transaction,
  request: LoadCurrentCartPricingDataOptions,
): CompiledQuery<CartPricingDataRow> {
  const { variantIds, code, merchantId, marketId, taxCountry, buyerReference, heldBySessionId, now } =
    request;
  const { hasAddress } = request;
  const list = createPaddedInClauseTemplate(variantIds);
  const lookup = code === null ? "none" : "id" in code ? "id" : "normalized";
  const codeValue = code === null ? null : "id" in code ? code.id : code.normalized;
  const write = (): RawBuilder<CartPricingDataRow> => sql`
    select ${cartPricingDataColumnsSql({
      taxCountry: createNamedSqlTemplateParameter("taxCountry"),
      hasAddress,
      hasCategories: true,
      buyerReference: createNamedSqlTemplateParameter("buyerReference"),
      heldBySessionId: createNamedSqlTemplateParameter("heldBySessionId"),
      variants: sql`(select v.* from variant v where v.id ${list.write()})`,
      code: codeConditions[lookup],
    })}
    from merchant m join market mk on mk.merchant_id = m.id
    where m.id = ${createNamedSqlTemplateParameter("merchantId")} and mk.id = ${createNamedSqlTemplateParameter("marketId")}`;
  const values = {
    ...list.values,
    merchantId,
    marketId,
    taxCountry,
    buyerReference,
    heldBySessionId,
    now,
    code: codeValue,
  };
  return prepareStatementTemplate(transaction, {
    form: `offer ${list.form} ${lookup} ${hasAddress}`,
    write,
    values,
  });
}

const codeConditions = {
  none: null,
  id: sql<boolean>`c.id = ${createNamedSqlTemplateParameter("code")}`,
  normalized: sql<boolean>`c.code_normalized = ${createNamedSqlTemplateParameter("code")}`,
};

/** The SQL expressions that select the offer for a cart, for example the buyer and the country. */
interface OfferSqlInput {
  readonly taxCountry: RawBuilder<string | null>;
  /** True to read tax rates and delivery methods. */
  readonly hasAddress: boolean;
  /** True to read the categories of the products, if a promotion that can apply depends on categories. */
  readonly hasCategories: boolean;
  readonly buyerReference: RawBuilder<string | null>;
  readonly heldBySessionId: RawBuilder<string | null>;
  /** A subselect with the rows of the table `variant` to load. */
  readonly variants: RawBuilder<unknown>;
  /** The condition for the promotion code with the alias `c`; null to load no code. */
  readonly code: RawBuilder<boolean> | null;
}

/**
 * SQL columns with the current offer for a cart. The statement must use the alias `m` for the merchant and
 * `mk` for the market, and have the template parameter `now`.
 */
export const cartPricingDataColumnsSql = (input: OfferSqlInput): RawBuilder<CartPricingDataRow> => sql`
    m.default_locale as "merchantLocale", ${marketJson(input)} as market, ${variantsJson(input)} as variants,
    ${automaticPromotionsJson(input)} as automatic, ${promotionCodeJson(input)} as code`;

/**
 * SQL condition that is true if the tax rate `t` is valid on the day of the time `at`, in the time zone of
 * the market `mk`.
 */
const taxRateValidSql = (at: RawBuilder<unknown>): RawBuilder<boolean> => sql<boolean>`
  daterange(t.valid_from, t.valid_to, '[]') @> (${at}::timestamptz at time zone mk.time_zone)::date`;

const marketJson = ({
  taxCountry,
  hasAddress,
}: OfferSqlInput): RawBuilder<CartPricingMarket> => sql`json_build_object('id', mk.id, 'currency', mk.currency, 'taxIncluded',
  mk.tax_included, 'taxRounding', mk.tax_rounding, 'defaultLocale', mk.default_locale,
  'countries', (select json_agg(mc.country order by mc.position) from market_country mc
  where mc.market_id = mk.id),
  'taxes', ${hasAddress ? taxRatesJson(taxCountry) : emptyJson},
  'deliveries', ${hasAddress ? deliveryMethodsJson : emptyJson})`;

const emptyJson = sql<never[]>`'[]'::json`;

const taxRatesJson = (
  taxCountry: OfferSqlInput["taxCountry"],
): RawBuilder<readonly MarketTaxRate[]> => sql`coalesce((
  select json_agg(json_build_object('country', t.country, 'regionCode', t.region_code,
  'taxClass', t.tax_class, 'name', t.name, 'basisPoints', t.basis_points,
      'appliesToShipping', t.applies_to_shipping)) from tax_rate t where t.market_id = mk.id
      and t.country = coalesce(${taxCountry}::text, t.country)
      and ${taxRateValidSql(createNamedSqlTemplateParameter("now"))}), '[]'::json)`;

const deliveryMethodsJson = sql<readonly CartPricingDeliveryMethod[]>`coalesce((
  select json_agg(json_build_object('id', d.id, 'names', d.names, 'carrier',
  d.carrier, 'pickup', d.pickup, 'priceMinor', d.price_minor,
      'freeFromMinor', d.free_from_minor, 'minDays', d.min_days, 'maxDays', d.max_days, 'taxRule', d.tax_rule,
      'taxClass', d.tax_class)
      order by d.position, d.id)
    from delivery_method d where d.market_id = mk.id and d.active), '[]'::json)`;

const variantsJson = ({
  variants,
  heldBySessionId,
  code,
  hasCategories,
}: OfferSqlInput): RawBuilder<readonly CartPricingVariant[]> => sql`coalesce((
  select json_agg(json_build_object('id', v.id, 'productId', v.product_id, 'isPublished', p.status =
  'published', 'sku', v.sku,
    'priceMinor', ${currentPriceAmountSql(createNamedSqlTemplateParameter("now"))}, 'compareAtMinor',
    ${currentCompareAtPriceSql(createNamedSqlTemplateParameter("now"))}, 'onHand', coalesce(sl.on_hand, 0),
    'reserved', ${reservedUnitsSql(
      createNamedSqlTemplateParameter("now"),
      sql`h.session_id = ${heldBySessionId}::text`,
    )},
    'backorderLimit', coalesce(sl.backorder_limit, 0), 'lowStockThreshold',
    coalesce(sl.low_stock_threshold, 0), 'discontinued', v.discontinued, 'availableFrom',
    ${formatUtcTimeSql(sql`v.available_from`)}, 'maxOrderQuantity', v.max_order_quantity,
    'requiresShipping', v.requires_shipping, 'taxClass', p.tax_class, 'restrictions', v.restrictions,
    'options', v.options,
    'choices', coalesce((select json_agg(json_build_object('code', o.code, 'choices', o.choices)
    order by o.position, o.code)
      from product_option o where o.product_id = v.product_id), '[]'::json),
    'translations', (select json_agg(json_build_object('locale', t.locale, 'slug', t.slug, 'title', t.title)
    order by t.locale)
      from product_translation t where t.product_id = v.product_id),
    'image', (select json_build_object('url', md.url, 'alts', md.alts, 'width', md.width, 'height', md.height)
    from media md
      where md.product_id = v.product_id and md.type = 'image' order by md.id is distinct
      from v.media_id, md.position, md.id limit 1),
    'categoryIds', ${hasCategories ? categoryIdsJson(code) : emptyJson}))
  from ${variants} v join product p on p.id = v.product_id
    left join price pr on pr.variant_id = v.id and pr.market_id = mk.id and pr.valid_until is null
    left join stock_level sl on sl.variant_id = v.id
  where v.merchant_id = m.id), '[]'::json)`;

const categoryIdsJson = (
  code: OfferSqlInput["code"],
): RawBuilder<readonly string[]> => sql`case when ${isCategoryNeededSql(code)} then coalesce((
      with recursive above as (
        select c.id, c.parent_id from product_category pc join category c on c.id = pc.category_id
        where pc.product_id = v.product_id
        union select c.id, c.parent_id from above a join category c on c.id = a.parent_id)
      select json_agg(a.id) from above a), '[]'::json) else '[]'::json end`;

const hasCategoriesSql = sql<boolean>`(cardinality(p.entitled_category_ids) > 0
  or cardinality(p.buy_category_ids) > 0)`;

/** SQL condition that is true if the promotion `p` applies in the market `mk`. */
const isPromotionOfMarketSql = sql<boolean>`(p.market_ids = '{}' or mk.id = any(p.market_ids))`;

/**
 * Returns whether a read promotion depends on categories, so that the offer is complete only with the
 * categories of its products.
 */
export const isCategoryNeeded = ({ automatic, code }: CartPricingDataRow): boolean =>
  [...automatic, ...(code === null ? [] : [code])].some(
    ({ rule }) => rule.entitledCategoryIds.length > 0 || rule.buyCategoryIds.length > 0,
  );

/**
 * SQL condition that is true if a promotion that can apply to the cart depends on categories. Most carts have
 * no such promotion, and looking up the categories of a product and their parents takes a tenth of the time
 * of the statement.
 */
const isCategoryNeededSql = (code: OfferSqlInput["code"]): RawBuilder<boolean> => sql<boolean>`(exists (
  select from promotion p where p.merchant_id = m.id and p.trigger = 'automatic' and p.status = 'active'
  and ${isPromotionOfMarketSql} and ${hasCategoriesSql})${
    code === null
      ? sql``
      : sql` or exists (select from promotion_code c join promotion p on p.id = c.promotion_id
  where c.merchant_id = m.id and ${code} and ${hasCategoriesSql})`
  })`;

const automaticPromotionsJson = ({
  buyerReference,
}: OfferSqlInput): RawBuilder<CartPricingDataRow["automatic"]> =>
  sql`coalesce((
  select json_agg(json_build_object('rule', ${promotionRuleJsonSql(buyerReference)}, 'used',
  ${promotionUseCountOfBuyerSql(buyerReference)}) order by p.priority desc, p.id)
  from promotion p where p.merchant_id = m.id and p.trigger = 'automatic' and p.status = 'active'
  and ${isPromotionOfMarketSql}), '[]'::json)`;

const promotionCodeJson = ({ buyerReference, code }: OfferSqlInput): RawBuilder<CartPricingDataRow["code"]> =>
  code === null
    ? sql`null::json`
    : sql`(
  select json_build_object('rule', ${promotionRuleJsonSql(buyerReference)}, 'used',
  ${promotionUseCountOfBuyerSql(buyerReference)}, 'code', ${promotionCodeJsonSql})
    from promotion_code c join promotion p on p.id = c.promotion_id where c.merchant_id = m.id and ${code})`;
