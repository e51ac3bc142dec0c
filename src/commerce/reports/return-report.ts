/**
 * Reads the report on returns: the returns that were requested in a period, by kind and reason, with their
 * outcome.
 */
import { type RawBuilder, sql } from "kysely";
import type { ReturnReason } from "#commerce/after-sales/reasons.ts";
import type { ReturnKind } from "#commerce/orders/order-states.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, type ReportScope, parseSummedAmountMinor } from "./report-scope.ts";

/** Numbers and amounts of returns in one currency; amounts in minor units. */
export interface ReturnFigures {
  readonly currency: string;
  readonly returns: number;
  readonly units: number;
  readonly declined: number;
  readonly canceled: number;
  readonly closed: number;
  readonly promisedMinor: number;
  readonly feeMinor: number;
  readonly refundedMinor: number;
}

/** The report on returns: the totals of each currency, and the numbers for each kind of return and reason. */
export interface ReturnReport {
  readonly totals: readonly ReturnFigures[];
  /** One entry for each kind of return, reason and currency, the entry with the most returns first. */
  readonly reasons: readonly (ReturnFigures & { readonly kind: ReturnKind; readonly reason: ReturnReason })[];
}

interface ReturnReportQuery extends ReportScope {
  readonly currencies: readonly string[];
}

export async function readReturnReport(
  reader: DatabaseOrTransaction,
  query: ReturnReportQuery,
): Promise<ReturnReport> {
  const { rows } = await returnStatement(query).execute(reader);
  const totals = new Map(rows.flatMap((row) => (row.kind === null ? [[row.currency, row]] : [])));
  return {
    totals: [...new Set([...query.currencies, ...totals.keys()])]
      .toSorted()
      .map((currency) => toFigures(currency, totals.get(currency))),
    reasons: rows.flatMap(({ kind, reason, ...row }) =>
      kind === null || reason === null ? [] : [{ kind, reason, ...toFigures(row.currency, row) }],
    ),
  };
}

interface ReturnReportRow {
  readonly currency: string;
  /** The kind of return; null in the row with the totals of all returns. */
  readonly kind: ReturnKind | null;
  readonly reason: ReturnReason | null;
  readonly returns: number;
  readonly declined: number;
  readonly canceled: number;
  readonly closed: number;
  /** Number of returned units as decimal digits; null if there were no returns. */
  readonly units: string | null;
  readonly promised: string | null;
  readonly fee: string | null;
  readonly refunded: string | null;
}

/**
 * Sums up the units and refunds of each return before the returns are counted, so that a return with several
 * refunds counts once. For a few returns, PostgreSQL looks up their lines and refunds by indexes; for many
 * returns, it reads the tables of lines and refunds once.
 */
function returnStatement(scope: ReturnReportQuery): RawBuilder<ReturnReportRow> {
  const inScope = buildReportScopeSqlCondition(scope, "r", "requested_at");
  return sql<ReturnReportRow>`
    with asked as materialized (
      select r.* from (
        select o.currency, o.market_id, r.id, r.order_id, r.merchant_id, r.requested_at, r.kind, r.reason,
          r.status, r.status not in ('declined', 'canceled') as is_wanted, r.refund_minor, r.fee_minor
        from order_return r join sales_order o on o.id = r.order_id) as r
      where ${inScope}),
    returned as (
      select l.return_id, sum(l.quantity) as units from asked r join return_line l on l.return_id = r.id
      group by 1),
    paid as (
      select m.return_id, sum(m.amount_minor) as refunded
      from asked r join refund m on m.order_id = r.order_id and m.return_id = r.id
      where m.status = 'succeeded' group by 1)
    select r.currency, r.kind, r.reason, count(*)::int as returns,
      count(*) filter (where r.status = 'declined')::int as declined,
      count(*) filter (where r.status = 'canceled')::int as canceled,
      count(*) filter (where r.status = 'closed')::int as closed,
      sum(l.units)::text as units, sum(r.refund_minor) filter (where r.is_wanted)::text as promised,
      sum(r.fee_minor) filter (where r.is_wanted)::text as fee, sum(p.refunded)::text as refunded
    from asked r left join returned l on l.return_id = r.id left join paid p on p.return_id = r.id
    group by grouping sets ((r.currency), (r.currency, r.kind, r.reason))
    order by returns desc, r.currency, r.kind, r.reason`;
}

const emptyReturnRow = {
  returns: 0,
  declined: 0,
  canceled: 0,
  closed: 0,
  units: "0",
  promised: "0",
  fee: "0",
  refunded: "0",
};

function toFigures(
  currency: string,
  row: Omit<ReturnReportRow, "currency" | "kind" | "reason"> = emptyReturnRow,
): ReturnFigures {
  const { returns, declined, canceled, closed } = row;
  return {
    currency,
    returns,
    units: parseSummedAmountMinor(row.units),
    declined,
    canceled,
    closed,
    promisedMinor: parseSummedAmountMinor(row.promised),
    feeMinor: parseSummedAmountMinor(row.fee),
    refundedMinor: parseSummedAmountMinor(row.refunded),
  };
}
