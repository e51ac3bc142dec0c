/**
 * Reads promotions: as rows for lists, and in the form in which carts use them. The statement that loads the
 * current offer for a cart contains the SQL parts of this file.
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { DiscountRule } from "#commerce/pricing/discounts.ts";
import { type KeysetPageRequest, formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { PromotionCodeTable, PromotionTable, Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { PromotionKind, PromotionRule, PromotionStatus } from "./promotion-rule.ts";

/**
 * The discount fields of each kind of promotion. Constraints of the table `promotion` ensure that the fields
 * of all other kinds are null.
 */
type PromotionDiscountJson =
  | { readonly kind: "percentage"; readonly basisPoints: number }
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | {
      readonly kind: "buy_x_get_y";
      readonly basisPoints: number;
      readonly buyQuantity: number;
      readonly getQuantity: number;
    }
  | { readonly kind: "gift"; readonly getQuantity: number };

/** A row of the table `promotion` as the JSON that `promotionRuleJsonSql` creates. */
export type PromotionRuleJson = PromotionDiscountJson & {
  readonly id: string;
  readonly trigger: "code" | "automatic";
  readonly status: PromotionStatus;
  /** The titles of the promotion that buyers see, as a map from locale to title. */
  readonly titles: Readonly<Record<string, string>>;
  readonly currency: string | null;
  readonly minimumSubtotalMinor: number | null;
  readonly minimumQuantity: number | null;
  readonly entitledProductIds: readonly string[];
  readonly entitledCategoryIds: readonly string[];
  readonly buyProductIds: readonly string[];
  readonly buyCategoryIds: readonly string[];
  readonly marketIds: readonly string[];
  readonly requiresSignIn: boolean;
  readonly isForSomeBuyers: boolean;
  readonly isForThisBuyer: boolean;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly used: number;
  readonly priority: number;
  readonly isExclusive: boolean;
};

/** The buyer reference of a buyer, as a value or as an SQL expression; null for an anonymous buyer. */
type Buyer = string | null | RawBuilder<string | null>;

/**
 * SQL expression that converts a row of the table `promotion` (alias `p`) to JSON. SQL decides whether the
 * buyer may use the promotion, because a promotion can be limited to a long list of buyers.
 */
export const promotionRuleJsonSql = (
  buyerReference: Buyer,
): RawBuilder<PromotionRuleJson> => sql<PromotionRuleJson>`json_build_object(
  'id', p.id, 'trigger', p.trigger, 'kind', p.kind, 'status', p.status, 'titles', p.titles,
  'basisPoints', p.basis_points, 'amountMinor', p.amount_minor, 'currency', p.currency, 'buyQuantity',
  p.buy_quantity, 'getQuantity', p.get_quantity,
  'minimumSubtotalMinor', p.minimum_subtotal_minor, 'minimumQuantity', p.minimum_quantity,
  'entitledProductIds', p.entitled_product_ids, 'entitledCategoryIds', p.entitled_category_ids,
  'buyProductIds', p.buy_product_ids, 'buyCategoryIds', p.buy_category_ids, 'marketIds', p.market_ids,
  'requiresSignIn', p.requires_sign_in, 'isForSomeBuyers', cardinality(p.buyer_references) > 0,
  'isForThisBuyer', cardinality(p.buyer_references) = 0 or
  coalesce(${buyerReference}::text = any(p.buyer_references), false),
  'startsAt', ${formatUtcTimeSql(sql`p.starts_at`)}, 'endsAt', ${formatUtcTimeSql(sql`p.ends_at`)},
  'usageLimit', p.usage_limit, 'perBuyerLimit', p.per_buyer_limit, 'used', p.used, 'priority', p.priority,
  'isExclusive', p.is_exclusive)`;

/**
 * SQL expression for the number of times that the buyer has used the promotion in the row with the alias `p`;
 * 0 for an anonymous buyer.
 */
export const promotionUseCountOfBuyerSql = (buyerReference: Buyer): RawBuilder<number> =>
  sql<number>`coalesce((select b.used from promotion_buyer b where b.promotion_id = p.id
    and b.buyer_reference = ${buyerReference}), 0)`;

/** A promotion code as the JSON that `promotionCodeJsonSql` creates. */
export type PromotionCodeJson = NonNullable<PromotionRule["code"]> & { readonly code: string };

/**
 * SQL expression that converts a promotion code (a row with the alias `c`), with its usage limit and its
 * number of uses, to JSON.
 */
export const promotionCodeJsonSql = sql<PromotionCodeJson>`json_build_object('id', c.id, 'usageLimit',
  c.usage_limit, 'used', c.used, 'code', c.code)`;

/** The values of a promotion that buyers see in a cart. */
export interface PromotionFieldsShownToBuyers {
  /** The text of the promotion code in the cart; null for an automatic promotion. */
  readonly code: string | null;
  readonly titles: Readonly<Record<string, string>>;
  readonly kind: PromotionKind;
  readonly basisPoints: number | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly isExclusive: boolean;
}

export const toBuyerVisiblePromotion = (
  promotion: PromotionRuleJson,
  code: string | null,
): PromotionFieldsShownToBuyers => ({
  code,
  titles: promotion.titles,
  kind: promotion.kind,
  basisPoints: "basisPoints" in promotion ? promotion.basisPoints : null,
  amountMinor: "amountMinor" in promotion ? promotion.amountMinor : null,
  currency: promotion.currency,
  startsAt: promotion.startsAt,
  endsAt: promotion.endsAt,
  isExclusive: promotion.isExclusive,
});

/** Converts the JSON of a promotion that the database returned to the form in which carts use promotions. */
export function toPromotionRule(
  promotion: PromotionRuleJson,
  { usedByBuyer: used, code }: Pick<PromotionRule, "usedByBuyer" | "code">,
): PromotionRule {
  return {
    id: promotion.id,
    trigger: promotion.trigger,
    status: promotion.status,
    discount: toDiscount(promotion),
    currency: promotion.currency,
    minimumSubtotalMinor: promotion.minimumSubtotalMinor,
    minimumQuantity: promotion.minimumQuantity,
    marketIds: promotion.marketIds,
    requiresSignIn: promotion.requiresSignIn,
    isForSomeBuyers: promotion.isForSomeBuyers,
    isForThisBuyer: promotion.isForThisBuyer,
    startsAt: promotion.startsAt === null ? null : new Date(promotion.startsAt),
    endsAt: promotion.endsAt === null ? null : new Date(promotion.endsAt),
    usageLimit: promotion.usageLimit,
    perBuyerLimit: promotion.perBuyerLimit,
    used: promotion.used,
    usedByBuyer: used,
    priority: promotion.priority,
    isExclusive: promotion.isExclusive,
    code,
  };
}

function toDiscount(promotion: PromotionRuleJson): DiscountRule {
  const parts = {
    id: promotion.id,
    entitled: { productIds: promotion.entitledProductIds, categoryIds: promotion.entitledCategoryIds },
  };
  if (promotion.kind === "percentage")
    return { ...parts, kind: "percentage", basisPoints: promotion.basisPoints };
  if (promotion.kind === "fixed_amount")
    return { ...parts, kind: "fixed_amount", amountMinor: promotion.amountMinor };
  if (promotion.kind === "free_shipping") return { ...parts, kind: "free_shipping" };
  if (promotion.kind === "gift") return { ...parts, kind: "gift", getQuantity: promotion.getQuantity };
  const { kind, buyQuantity, getQuantity, basisPoints } = promotion;
  return {
    ...parts,
    kind,
    buyQuantity,
    getQuantity,
    basisPoints,
    buy: { productIds: promotion.buyProductIds, categoryIds: promotion.buyCategoryIds },
  };
}

/**
 * Reads promotions by id in the form in which carts use them, for an anonymous buyer. Ids without a promotion
 * are ignored.
 */
export async function findPromotionRules(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<Map<string, PromotionRule>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ promotion: PromotionRuleJson }>`
    select ${promotionRuleJsonSql(null)} as promotion from promotion p where p.id = any(${ids}::text[])`.execute(
    reader,
  );
  return new Map(
    rows.map(({ promotion }) => [promotion.id, toPromotionRule(promotion, { usedByBuyer: 0, code: null })]),
  );
}

export type PromotionRow = Selectable<PromotionTable>;
export type PromotionCodeRow = Selectable<PromotionCodeTable>;

/** The filter of a list of promotions. A field that is null or left out does not limit the list. */
export interface PromotionFilter {
  /** The merchant whose promotions are listed; null to list the promotions of all merchants. */
  readonly merchantId: string | null;
  readonly id?: string | null | undefined;
  readonly status?: PromotionStatus | null | undefined;
  readonly trigger?: PromotionRule["trigger"] | null | undefined;
}

/** Returns the query that lists promotions. The caller adds paging, or counts the rows. */
export function buildPromotionSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, id, status, trigger }: PromotionFilter,
): SelectQueryBuilder<Tables, "promotion", PromotionRow> {
  let list = reader.selectFrom("promotion").selectAll();
  if (merchantId !== null) list = list.where("merchantId", "=", merchantId);
  if (id !== null && id !== undefined) list = list.where("id", "=", id);
  if (status !== null && status !== undefined) list = list.where("status", "=", status);
  if (trigger !== null && trigger !== undefined) list = list.where("trigger", "=", trigger);
  return list;
}

/**
 * Reads a page of the codes of each given promotion; all pages have the same start and length. The caller
 * must have checked that the promotions belong to the right merchant.
 */
export async function findPromotionCodePages(
  reader: DatabaseOrTransaction,
  {
    promotionIds,
    after,
    before,
    limit,
    isInverted,
  }: KeysetPageRequest & { readonly promotionIds: readonly string[] },
): Promise<PromotionCodeRow[]> {
  const order = isInverted ? sql`desc` : sql`asc`;
  const { rows } = await sql<PromotionCodeRow>`
    select c.* from unnest(${promotionIds}::text[]) as asked (id) cross join lateral (
      select * from promotion_code c
      where c.promotion_id = asked.id and (${after ?? null}::text is null or c.id > ${after ?? null}::text)
        and (${before ?? null}::text is null or c.id < ${before ?? null}::text)
      order by c.id ${order} limit ${limit}) c
    order by c.id ${order}`.execute(reader);
  return rows;
}

/** Counts the codes of each promotion, up to at most 10 000 codes, as in all lists of the API. */
export async function countPromotionCodes(
  reader: DatabaseOrTransaction,
  promotionIds: readonly string[],
): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; count: number }>`
    select asked.id, (select count(*) from (select 1 from promotion_code c where c.promotion_id = asked.id
    limit 10000) counted) as count
    from unnest(${promotionIds}::text[]) as asked (id)`.execute(reader);
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** A page of the codes of one promotion that a caller requests. */
export type PromotionCodePageRequest = KeysetPageRequest & { readonly promotionId: string };

/**
 * Returns a cache key for a page of promotion codes: two pages with the same start, direction and length have
 * the same key.
 */
export const getPromotionCodePageCacheKey = ({
  after,
  before,
  limit,
  isInverted,
}: KeysetPageRequest): string => JSON.stringify([after, before, limit, isInverted]);

/**
 * Loads one page of codes for each of several promotions. One statement reads all pages that have the same
 * start, direction and length.
 */
export async function loadPromotionCodePages(
  db: DatabaseOrTransaction,
  pages: readonly PromotionCodePageRequest[],
): Promise<PromotionCodeRow[][]> {
  const found = new Map<PromotionCodePageRequest, PromotionCodeRow[]>();
  for (const samePage of Map.groupBy(pages, getPromotionCodePageCacheKey).values()) {
    const [first] = samePage;
    if (first === undefined) continue;
    const rows = await findPromotionCodePages(db, {
      ...first,
      promotionIds: samePage.map(({ promotionId }) => promotionId),
    });
    const groups = Map.groupBy(rows, ({ promotionId }) => promotionId);
    for (const page of samePage) found.set(page, groups.get(page.promotionId) ?? []);
  }
  return pages.map((page) => found.get(page) ?? []);
}
