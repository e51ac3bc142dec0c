/** Lists of checkout sessions, for who runs a merchant. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { Reader } from "#database/transaction.ts";
import type { SessionStatus } from "./session-aggregate.ts";

export interface SessionFilter {
  /** Null: of all merchants. */
  readonly merchantId: string | null;
  readonly status: SessionStatus | null;
  readonly now: Date;
}

/** A query still to be paged or counted. Statuses are those of the clock. */
export function sessionList(
  reader: Reader,
  { merchantId, status, now }: SessionFilter,
): SelectQueryBuilder<Tables, "hostedCheckoutSession", { id: string }> {
  let list = reader.selectFrom("hostedCheckoutSession").select("hostedCheckoutSession.id");
  if (merchantId !== null) list = list.where("hostedCheckoutSession.merchantId", "=", merchantId);
  if (status !== null) {
    const current = sql`case when status = 'open' and expires_at <= ${now} then 'expired' else status end`;
    list = list.where(sql<boolean>`${current} = ${status}`);
  }
  return list;
}
