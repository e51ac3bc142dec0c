/**
 * Reads the taxes of the orders that were placed in a period, by country and tax rate: the tax when the
 * orders were placed, and the tax that is left after later reductions.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseReader } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, parseSummedAmountMinor, type ReportScope } from "./report-scope.ts";

/** The tax of orders to one country by one rate; amounts in minor units. */
export interface CountryTax {
  readonly country: string;
  readonly currency: string;
  /** Code of the tax class of the rate; null if the orders were placed before rates were recorded. */
  readonly taxClass: string | null;
  readonly name: string | null;
  readonly basisPoints: number | null;
  readonly orders: number;
  /** The taxed amount of the placed orders, after discounts and without the tax. */
  readonly taxableMinor: number;
  readonly taxMinor: number;
  /** The part of `taxMinor` that is left after cancellations, returns and refunds. */
  readonly netTaxMinor: number;
}

/**
 * SQL for the tax of the order `o` that is left after later reductions. Orders of earlier releases have no
 * tax lines until they change; for these, the tax is reduced like the total of the order, and rounded. The
 * tax lines are read only for reduced orders, so that the other orders can be read from an index alone.
 */
export const remainingTaxSql: RawBuilder<number> = sql<number>`(case when o.status = 'canceled' then 0
  when o.total_minor = 0 or o.reduced_minor = 0 then o.tax_minor
  else coalesce((select o.tax_minor - coalesce((select sum((l ->> 'reducedTaxMinor')::bigint)
      from jsonb_array_elements(t.tax_lines) l), 0)
    from sales_order t where t.id = o.id and t.tax_lines is not null),
    round(o.tax_minor::numeric * (o.total_minor - o.reduced_minor) / o.total_minor)) end)`;

interface TaxRow extends Omit<CountryTax, "taxableMinor" | "taxMinor" | "netTaxMinor"> {
  readonly taxable: string;
  readonly tax: string;
  readonly netTax: string;
}

/**
 * Reads the taxes by country, currency and rate, sorted by currency and country, the highest rate first, and
 * orders without recorded rates last. Returns at most `first` of them.
 */
export async function readTaxesByCountry(
  reader: DatabaseReader,
  { first, ...scope }: ReportScope & { readonly first: number },
): Promise<readonly CountryTax[]> {
  const { rows } = await sql<TaxRow>`
    select o.country, o.currency, l."taxClass" as tax_class, l.name, l."basisPoints" as basis_points,
      count(*)::int as orders, sum(l."taxableMinor")::text as taxable, sum(l."taxMinor")::text as tax,
      sum(l."netTaxMinor")::text as net_tax
    from sales_order o cross join lateral (
      select r."taxClass", r.name, r."basisPoints", r."taxableMinor", r."taxMinor",
        case when o.status = 'canceled' then 0 else r."taxMinor" - r."reducedTaxMinor" end as "netTaxMinor"
      from jsonb_to_recordset(o.tax_lines) as r("taxClass" text, name text, "basisPoints" int,
        "taxableMinor" bigint, "taxMinor" bigint, "reducedTaxMinor" bigint)
      union all
      select null, null, null, o.total_minor - o.tax_minor, o.tax_minor, ${remainingTaxSql}
      where o.tax_lines is null) l
    where o.tax_minor is not null and ${buildReportScopeSqlCondition(scope, "o", "placed_at")}
    group by 1, 2, 3, 4, 5
    order by o.currency, o.country, l."basisPoints" desc nulls last, l."taxClass", l.name
    limit ${first}`.execute(reader);
  return rows.map(({ taxable, tax, netTax, ...row }) =>
    Object.assign(row, {
      taxableMinor: parseSummedAmountMinor(taxable),
      taxMinor: parseSummedAmountMinor(tax),
      netTaxMinor: parseSummedAmountMinor(netTax),
    }),
  );
}
