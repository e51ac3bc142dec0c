/** Reads the report on refunds: the refunds that were requested in a period, by reason, with their outcome. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, parseSummedAmountMinor, type ReportScope } from "./report-scope.ts";

/** Numbers and amounts of refunds in one currency; amounts in minor units. */
export interface RefundFigures {
  readonly currency: string;
  readonly refunds: number;
  readonly refundedMinor: number;
  readonly pendingMinor: number;
  readonly failedMinor: number;
}

/** Numbers and amounts of the refunds with one reason, in one currency. */
export interface RefundReportRow extends RefundFigures {
  readonly reason: string;
}

export interface RefundReport {
  /** The totals of all refunds, one entry for each currency. */
  readonly totals: readonly RefundFigures[];
  /**
   * One entry for each currency and reason; in each currency, the reason with the highest refunded amount
   * comes first.
   */
  readonly reasons: readonly RefundReportRow[];
}

interface RefundReportQuery extends ReportScope {
  readonly currencies: readonly string[];
}

export async function readRefundReport(
  reader: DatabaseOrTransaction,
  query: RefundReportQuery,
): Promise<RefundReport> {
  const { rows } = await refundStatement(query).execute(reader);
  const totals = new Map(rows.flatMap((row) => (row.reason === null ? [[row.currency, row]] : [])));
  return {
    totals: [...new Set([...query.currencies, ...totals.keys()])]
      .toSorted()
      .map((currency) => toFigures(currency, totals.get(currency))),
    reasons: rows.flatMap(({ reason, ...row }) =>
      reason === null ? [] : [{ reason, ...toFigures(row.currency, row) }],
    ),
  };
}

interface RefundStatementRow {
  readonly currency: string;
  /** Reason of the refunds; null in the row with the totals of a currency. */
  readonly reason: string | null;
  readonly refunds: number;
  /** Sum of the refunded amounts as decimal digits; null if there are no refunds. */
  readonly refunded: string | null;
  readonly pending: string | null;
  readonly failed: string | null;
}

const sumOfStatusSql = (status: string): RawBuilder<string> =>
  sql<string>`sum(amount_minor) filter (where status = ${status})`;

/**
 * Selects refunds by the time of their request, and by the market of the cart for which the buyer paid. The
 * market of the order cannot be used, because a payment that succeeded too late has no order.
 */
function refundStatement(scope: RefundReportQuery): RawBuilder<RefundStatementRow> {
  return sql<RefundStatementRow>`
    with requested as (
      select r.currency, r.reason, r.status, r.amount_minor
      from (
        select f.*, c.market_id from refund f join payment p on p.id = f.payment_id
        join hosted_checkout_session s on s.id = p.session_id join cart c on c.id = s.cart_id
      ) as r
      where ${buildReportScopeSqlCondition(scope, "r", "created_at")}),
    summed as (
      select currency, reason, count(*)::int as refunds, ${sumOfStatusSql("succeeded")} as refunded,
        ${sumOfStatusSql("pending")} as pending, ${sumOfStatusSql("failed")} as failed
      from requested group by grouping sets ((currency), (currency, reason)))
    select currency, reason, refunds, refunded::text, pending::text, failed::text
    from summed order by currency, summed.refunded desc nulls last, reason`;
}

const noRefunds = { refunds: 0, refunded: null, pending: null, failed: null };

function toFigures(
  currency: string,
  { refunds, refunded, pending, failed }: Omit<RefundStatementRow, "currency" | "reason"> = noRefunds,
): RefundFigures {
  return {
    currency,
    refunds,
    refundedMinor: parseSummedAmountMinor(refunded),
    pendingMinor: parseSummedAmountMinor(pending),
    failedMinor: parseSummedAmountMinor(failed),
  };
}
