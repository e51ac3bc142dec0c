/**
 * Reads promotions: as rule for carts, and as rows for lists. A cart's own statement takes the same fragment, so that a promotion is one thing
 * wherever it is read.
 */
import { type RawBuilder, type Selectable, type SelectQueryBuilder, sql } from "kysely";
import type { DiscountRule } from "#commerce/pricing/discount-rule.ts";
import type { Page } from "#database/page.ts";
import type { PromotionCodeTable, PromotionTable, Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";
import type { PromotionRule, PromotionStatus } from "./promotion-rule.ts";

/** What a kind does not have is null in the row: the table's checks see to it. */
type Value =
  | { readonly kind: "percentage"; readonly basisPoints: number }
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | { readonly kind: "buy_x_get_y"; readonly basisPoints: number; readonly buyQuantity: number; readonly getQuantity: number }
  | { readonly kind: "gift"; readonly getQuantity: number };

/** A promotion's row as `promotionRuleJson` writes it. */
export type PromotionJson = Value & {
  readonly id: string;
  readonly trigger: "code" | "automatic";
  readonly status: PromotionStatus;
  /** Locale → what buyers read. */
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
  readonly buyerReferences: readonly string[];
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly usageLimit: number | null;
  readonly perBuyerLimit: number | null;
  readonly used: number;
  readonly priority: number;
  readonly isExclusive: boolean;
};

/** Times inside JSON lose the driver's conversion, so they are written as the contract spells them. */
const utc = (column: RawBuilder<unknown>): RawBuilder<string> => sql<string>`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Over the table `promotion as p`. */
export const promotionRuleJson = sql<PromotionJson>`json_build_object(
  'id', p.id, 'trigger', p.trigger, 'kind', p.kind, 'status', p.status, 'titles', p.titles,
  'basisPoints', p.basis_points, 'amountMinor', p.amount_minor, 'currency', p.currency, 'buyQuantity', p.buy_quantity, 'getQuantity', p.get_quantity,
  'minimumSubtotalMinor', p.minimum_subtotal_minor, 'minimumQuantity', p.minimum_quantity,
  'entitledProductIds', p.entitled_product_ids, 'entitledCategoryIds', p.entitled_category_ids,
  'buyProductIds', p.buy_product_ids, 'buyCategoryIds', p.buy_category_ids, 'marketIds', p.market_ids,
  'requiresSignIn', p.requires_sign_in, 'buyerReferences', p.buyer_references,
  'startsAt', ${utc(sql`p.starts_at`)}, 'endsAt', ${utc(sql`p.ends_at`)},
  'usageLimit', p.usage_limit, 'perBuyerLimit', p.per_buyer_limit, 'used', p.used, 'priority', p.priority, 'isExclusive', p.is_exclusive)`;

/** How often the buyer has used `promotion as p`; nobody known has never. */
export const usedByBuyer = (buyerReference: string | null | RawBuilder<string | null>): RawBuilder<number> =>
  sql<number>`coalesce((select b.used from promotion_buyer b where b.promotion_id = p.id and b.buyer_reference = ${buyerReference}), 0)`;

/** Over the table `promotion_code as c`: the code's own limit. */
export const promotionCodeJson = sql<NonNullable<PromotionRule["code"]>>`json_build_object('id', c.id, 'usageLimit', c.usage_limit, 'used', c.used)`;

export function toPromotionRule(promotion: PromotionJson, { usedByBuyer: used, code }: Pick<PromotionRule, "usedByBuyer" | "code">): PromotionRule {
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
    buyerReferences: promotion.buyerReferences,
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

function toDiscount(promotion: PromotionJson): DiscountRule {
  const parts = { id: promotion.id, entitled: { productIds: promotion.entitledProductIds, categoryIds: promotion.entitledCategoryIds } };
  if (promotion.kind === "percentage") return { ...parts, kind: "percentage", basisPoints: promotion.basisPoints };
  if (promotion.kind === "fixed_amount") return { ...parts, kind: "fixed_amount", amountMinor: promotion.amountMinor };
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

interface ForBuyer {
  readonly merchantId: string;
  /** Null: nobody known. */
  readonly buyerReference: string | null;
}

/** All that are active, the most important first; whether they have begun, and what they ask, is for the rules. */
export async function findAutomaticPromotions(reader: Reader, { merchantId, buyerReference }: ForBuyer): Promise<PromotionRule[]> {
  const { rows } = await sql<{ promotion: PromotionJson; usedByBuyer: number }>`
    select ${promotionRuleJson} as promotion, ${usedByBuyer(buyerReference)} as used_by_buyer
    from promotion p
    where p.merchant_id = ${merchantId} and p.trigger = 'automatic' and p.status = 'active'
    order by p.priority desc, p.id`.execute(reader);
  return rows.map((row) => toPromotionRule(row.promotion, { usedByBuyer: row.usedByBuyer, code: null }));
}

/** By what a buyer typed, as `normalizeCode` gives it; drafts as well: why one does not apply is for the rules to say. */
export const findCodePromotion = (
  reader: Reader,
  { codeNormalized, ...buyer }: ForBuyer & { readonly codeNormalized: string },
): Promise<PromotionRule | undefined> => findByCode(reader, { ...buyer, where: sql`c.code_normalized = ${codeNormalized}` });

export const findCodePromotionById = (
  reader: Reader,
  { promotionCodeId, ...buyer }: ForBuyer & { readonly promotionCodeId: string },
): Promise<PromotionRule | undefined> => findByCode(reader, { ...buyer, where: sql`c.id = ${promotionCodeId}` });

async function findByCode(
  reader: Reader,
  { merchantId, buyerReference, where }: ForBuyer & { readonly where: RawBuilder<unknown> },
): Promise<PromotionRule | undefined> {
  const { rows } = await sql<{ promotion: PromotionJson; code: NonNullable<PromotionRule["code"]>; usedByBuyer: number }>`
    select ${promotionRuleJson} as promotion, ${promotionCodeJson} as code, ${usedByBuyer(buyerReference)} as used_by_buyer
    from promotion_code c join promotion p on p.id = c.promotion_id
    where c.merchant_id = ${merchantId} and ${where}`.execute(reader);
  const [row] = rows;
  return row === undefined ? undefined : toPromotionRule(row.promotion, row);
}

export type PromotionRow = Selectable<PromotionTable>;
export type PromotionCodeRow = Selectable<PromotionCodeTable>;

export interface PromotionFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  readonly id?: string | null | undefined;
  readonly status?: PromotionStatus | null | undefined;
  readonly trigger?: PromotionRule["trigger"] | null | undefined;
}

/* The lists are queries still to be paged or counted; the graph says which. */

export function promotionList(
  reader: Reader,
  { merchantId, id, status, trigger }: PromotionFilter,
): SelectQueryBuilder<Tables, "promotion", PromotionRow> {
  let list = reader.selectFrom("promotion").selectAll();
  if (merchantId !== null) list = list.where("merchantId", "=", merchantId);
  if (id !== null && id !== undefined) list = list.where("id", "=", id);
  if (status !== null && status !== undefined) list = list.where("status", "=", status);
  if (trigger !== null && trigger !== undefined) list = list.where("trigger", "=", trigger);
  return list;
}

/** The same page of the codes of each of some promotions, by id. Tenancy is the caller's: the promotions came from its own rows. */
export async function findPromotionCodePages(
  reader: Reader,
  { promotionIds, after, before, limit, isInverted }: Page & { readonly promotionIds: readonly string[] },
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

/** Counted up to 10 000, like every list. */
export async function countPromotionCodes(reader: Reader, promotionIds: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await sql<{ id: string; count: number }>`
    select asked.id, (select count(*) from (select 1 from promotion_code c where c.promotion_id = asked.id limit 10000) counted) as count
    from unnest(${promotionIds}::text[]) as asked (id)`.execute(reader);
  return new Map(rows.map(({ id, count }) => [id, count]));
}
