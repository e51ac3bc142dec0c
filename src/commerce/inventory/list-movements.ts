/** Builds the query for a filtered list of stock movements. */
import { type SelectQueryBuilder, sql } from "kysely";
import { timeToMicrosecondsSql } from "#database/sql-fragments.ts";
import type { Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";

export type StockMovementReason =
  | "received"
  | "correction"
  | "damaged"
  | "lost"
  | "returned"
  | "sold"
  | "canceled";

export interface StockMovementFilter {
  /** The merchant whose movements are selected; null selects the movements of all merchants. */
  readonly merchantId: string | null;
  readonly variantId?: string | null | undefined;
  readonly reason?: StockMovementReason | null | undefined;
  /** Start of the period in which the movements happened; the start itself is included. */
  readonly createdFrom?: Date | null | undefined;
  /** End of the period in which the movements happened; the end itself is excluded. */
  readonly createdTo?: Date | null | undefined;
}

export interface StockMovementRow {
  /** Sequence number of the stock movement; later movements have higher numbers. */
  readonly id: string;
  readonly variantId: string;
  readonly delta: number;
  readonly onHandAfter: number;
  readonly reason: StockMovementReason;
  readonly note: string | null;
  readonly createdAt: Date;
  /** The time `createdAt` in microseconds since 1970; the list is sorted by this number. */
  readonly sortValue: number;
}

/**
 * Returns the query that selects stock movements. The caller adds the order and the limit, or counts the
 * rows.
 */
export function buildStockMovementSqlQuery(
  reader: DatabaseOrTransaction,
  { merchantId, variantId, reason, createdFrom, createdTo }: StockMovementFilter,
): SelectQueryBuilder<Tables, "stockMovement", StockMovementRow> {
  let list = reader
    .selectFrom("stockMovement")
    .select(sql<string>`stock_movement.id::text`.as("id"))
    .select(["variantId", "delta", "onHandAfter", "reason", "note", "createdAt"])
    .select(timeToMicrosecondsSql("stock_movement.created_at").as("sortValue"));
  if (merchantId !== null) list = list.where("merchantId", "=", merchantId);
  if (typeof variantId === "string")
    list = list.where("variantId", "=", blankIdWithForbiddenCharacters(variantId));
  if (typeof reason === "string") list = list.where("reason", "=", reason);
  if (createdFrom instanceof Date) list = list.where("createdAt", ">=", createdFrom);
  if (createdTo instanceof Date) list = list.where("createdAt", "<", createdTo);
  return list;
}
