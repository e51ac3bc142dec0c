/** Lists the price history: all present and former prices of variants, newest first, in pages. */
import { type RawBuilder, type SelectQueryBuilder, sql } from "kysely";
import { type KeysetPageRequest, microsecondsToTimeSql } from "#database/sql-fragments.ts";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";

export interface PriceHistoryFilter {
  /** The merchant whose prices are selected; null selects the prices of all merchants. */
  readonly merchantId: string | null;
  readonly variantId?: string | null | undefined;
  readonly marketId?: string | null | undefined;
  /** Start of the period in which the selected prices became valid; the start itself is included. */
  readonly startedFrom?: Date | null | undefined;
  /** End of the period in which the selected prices became valid; the end itself is excluded. */
  readonly startedTo?: Date | null | undefined;
}

export interface PriceHistoryRow {
  /**
   * The id of the price in the price history: its start in microseconds since 1970, the id of the variant and
   * the id of the market.
   */
  readonly id: string;
  readonly variantId: string;
  readonly marketId: string;
  readonly currency: string;
  readonly amountMinor: number;
  readonly compareAtMinor: number | null;
  readonly validFrom: Date;
  /** The time at which the price ended; null if the price is still valid. */
  readonly validUntil: Date | null;
  /** The end time that was set together with the price (itself excluded); null if none was set. */
  readonly endsAt: Date | null;
}

type PriceQuery = SelectQueryBuilder<Tables, "price" | "market", PriceHistoryRow>;

/** Matches the id of a price in the price history. The id is also the cursor for paging. */
export const priceCursorPattern = /^\d{1,17}:var_[0-9a-hjkmnp-tv-z]{26}:mkt_[0-9a-hjkmnp-tv-z]{26}$/;

/**
 * Returns the query that selects prices, without an `order by` clause, so that callers can also count the
 * prices.
 */
export function buildPriceHistorySqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, variantId, marketId, startedFrom, startedTo }: PriceHistoryFilter,
): PriceQuery {
  let list = reader
    .selectFrom("price")
    .innerJoin("market", "market.id", "price.marketId")
    .select([
      "price.variantId",
      "price.marketId",
      "market.currency",
      "price.amountMinor",
      "price.compareAtMinor",
      "price.validFrom",
      "price.validUntil",
      "price.endsAt",
    ])
    .select(
      sql<string>`concat_ws(':', (extract(epoch from price.valid_from) * 1000000)::bigint, price.variant_id,
        price.market_id)`.as("id"),
    );
  if (merchantId !== null) list = list.where("price.merchantId", "=", merchantId);
  if (typeof variantId === "string")
    list = list.where("price.variantId", "=", blankIdWithForbiddenCharacters(variantId));
  if (typeof marketId === "string")
    list = list.where("price.marketId", "=", blankIdWithForbiddenCharacters(marketId));
  if (startedFrom instanceof Date) list = list.where("price.validFrom", ">=", startedFrom);
  if (startedTo instanceof Date) list = list.where("price.validFrom", "<", startedTo);
  return list;
}

/**
 * Converts the cursor of a price to an SQL row value: the price's start, variant and market. A page contains
 * the prices before or after this row value in the sort order.
 */
function position(cursor: string): RawBuilder<unknown> {
  const [micros = "", variantId = "", marketId = ""] = cursor.split(":");
  return sql`(${microsecondsToTimeSql(micros)}, ${variantId}, ${marketId})`;
}

/** Loads one page of prices, newest first. The cursors must match `priceCursorPattern`. */
export function findPriceHistoryPage(
  query: PriceQuery,
  { after, before, limit, isInverted }: KeysetPageRequest,
): Promise<PriceHistoryRow[]> {
  const key = sql`(price.valid_from, price.variant_id, price.market_id)`;
  let page = query;
  if (after !== undefined) page = page.where(sql<boolean>`${key} < ${position(after)}`);
  if (before !== undefined) page = page.where(sql<boolean>`${key} > ${position(before)}`);
  const direction = isInverted ? "asc" : "desc";
  return page
    .orderBy("price.validFrom", direction)
    .orderBy("price.variantId", direction)
    .orderBy("price.marketId", direction)
    .limit(limit)
    .execute();
}
