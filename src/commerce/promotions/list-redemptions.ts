/** Builds the query for a filtered list of redemptions (uses of promotions by orders). */
import { type SelectQueryBuilder, sql } from "kysely";
import { timeToMicrosecondsSql } from "#database/sql-fragments.ts";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";

export interface PromotionRedemptionFilter {
  /** The merchant whose redemptions are selected; null selects the redemptions of all merchants. */
  readonly merchantId: string | null;
  readonly promotionId?: string | null | undefined;
  readonly orderId?: string | null | undefined;
  /** Start of the period in which the orders were placed; the start itself is included. */
  readonly redeemedFrom?: Date | null | undefined;
  /** End of the period in which the orders were placed; the end itself is excluded. */
  readonly redeemedTo?: Date | null | undefined;
}

export interface PromotionRedemptionRow {
  /** Sequence number of the redemption; redemptions of later checkouts have higher numbers. */
  readonly id: string;
  readonly promotionId: string;
  /** The promotion code that the buyer entered; null if the promotion applied automatically. */
  readonly code: string | null;
  readonly orderId: string;
  readonly buyerReference: string | null;
  readonly redeemedAt: Date;
  /** The time `redeemedAt` in microseconds since 1970; the list is sorted by this number. */
  readonly sortValue: number;
  /**
   * The time at which the use of the promotion was given back, because the whole order was canceled; null if
   * the use was not given back.
   */
  readonly restoredAt: Date | null;
}

/** Returns the query that selects redemptions. The caller adds the order and the limit, or counts the rows. */
export function buildPromotionRedemptionSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, promotionId, orderId, redeemedFrom, redeemedTo }: PromotionRedemptionFilter,
): SelectQueryBuilder<Tables, "promotionUse" | "promotionCode", PromotionRedemptionRow> {
  let list = reader
    .selectFrom("promotionUse")
    .leftJoin("promotionCode", "promotionCode.id", "promotionUse.promotionCodeId")
    .select(sql<string>`promotion_use.id::text`.as("id"))
    .select(["promotionUse.promotionId", "promotionCode.code", "promotionUse.buyerReference"])
    .select(sql<string>`promotion_use.order_id`.as("orderId"))
    .select(sql<Date>`promotion_use.redeemed_at`.as("redeemedAt"))
    .select(timeToMicrosecondsSql("promotion_use.redeemed_at").as("sortValue"))
    .select("promotionUse.restoredAt")
    .where("promotionUse.redeemedAt", "is not", null);
  if (merchantId !== null) list = list.where("promotionUse.merchantId", "=", merchantId);
  if (typeof promotionId === "string")
    list = list.where("promotionUse.promotionId", "=", blankIdWithForbiddenCharacters(promotionId));
  if (typeof orderId === "string")
    list = list.where("promotionUse.orderId", "=", blankIdWithForbiddenCharacters(orderId));
  if (redeemedFrom instanceof Date) list = list.where("promotionUse.redeemedAt", ">=", redeemedFrom);
  if (redeemedTo instanceof Date) list = list.where("promotionUse.redeemedAt", "<", redeemedTo);
  return list;
}
