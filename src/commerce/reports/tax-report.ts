/**
 * Reads the taxes of the orders that were placed in a period, by country and tax rate. The report contains
 * the tax when the orders were placed, and the tax that is left after later reductions.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, parseSummedAmountMinor, type ReportScope } from "./report-scope.ts";

/** The tax of orders to one country by one rate; amounts in minor units. */
export interface TaxOfOrdersToCountry {
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
 * SQL for the tax of the order `o` after cancellations and refunds. The column `reduced_tax_minor` has the
 * tax that was given back, so that the sales report reads an index and not the tax lines. Orders of earlier
 * releases lack this value until they change: their tax is reduced in proportion to the total, and rounded.
 */
export const remainingTaxSql: RawBuilder<number> = sql<number>`(case when o.status = 'canceled' then 0
  when o.total_minor = 0 or o.reduced_minor = 0 then o.tax_minor
  else coalesce(o.tax_minor - o.reduced_tax_minor,
    round(o.tax_minor::numeric * (o.total_minor - o.reduced_minor) / o.total_minor)) end)`;

interface TaxRow extends Omit<TaxOfOrdersToCountry, "taxableMinor" | "taxMinor" | "netTaxMinor"> {
  readonly taxable: string;
  readonly tax: string;
  readonly netTax: string;
}

/** Returns SQL that reads a field of the first tax line of the order `o`; null if the order has no tax lines. */
const firstLineSql = (name: string): RawBuilder<unknown> => sql.raw(`(o.tax_lines #>> '{0,${name}}')`);

/**
 * Reads the taxes by country, currency and rate, sorted by currency and country, the highest rate first, and
 * orders without recorded rates last. Returns at most `first` of them.
 *
 * Nearly all orders have one tax line, so the first part of the statement reads the first tax line of each
 * order, without expanding the JSON array. The second part expands the later tax lines of the few other
 * orders, which it finds by the index `sales_order_mixed_taxes`. The statistics `sales_order_taxes` show
 * PostgreSQL that the grouped expressions have few values, so that parallel processes add up the amounts.
 */
export async function readTaxesByCountry(
  reader: DatabaseOrTransaction,
  { first, ...scope }: ReportScope & { readonly first: number },
): Promise<readonly TaxOfOrdersToCountry[]> {
  const inScope = sql`o.tax_minor is not null
    and ${buildReportScopeSqlCondition(scope, "o", "placed_at")}`;
  const { rows } = await sql<TaxRow>`
    with taxed as (
      select o.currency, o.country, ${firstLineSql("taxClass")} as tax_class, ${firstLineSql("name")} as name,
        ${firstLineSql("basisPoints")}::int as basis_points, count(*) as orders,
        sum(coalesce(${firstLineSql("taxableMinor")}::bigint, o.total_minor - o.tax_minor)) as taxable,
        sum(coalesce(${firstLineSql("taxMinor")}::bigint, o.tax_minor)) as tax,
        sum(case when o.status = 'canceled' then 0 when o.tax_lines is null then ${remainingTaxSql}
          else ${firstLineSql("taxMinor")}::bigint - ${firstLineSql("reducedTaxMinor")}::bigint end) as net_tax
      from sales_order o where ${inScope} and o.tax_lines is distinct from '[]' group by 1, 2, 3, 4, 5
      union all
      select o.currency, o.country, l.line ->> 'taxClass', l.line ->> 'name',
        (l.line ->> 'basisPoints')::int, count(*), sum((l.line ->> 'taxableMinor')::bigint),
        sum((l.line ->> 'taxMinor')::bigint),
        sum(case when o.status = 'canceled' then 0
          else (l.line ->> 'taxMinor')::bigint - (l.line ->> 'reducedTaxMinor')::bigint end)
      from sales_order o
        cross join lateral jsonb_array_elements(o.tax_lines) with ordinality as l(line, place)
      where ${inScope} and o.tax_lines -> 1 is not null and l.place > 1 group by 1, 2, 3, 4, 5)
    select country, currency, tax_class, name, basis_points, sum(orders)::int as orders,
      sum(taxable)::text as taxable, sum(tax)::text as tax, sum(net_tax)::text as net_tax
    from taxed group by 1, 2, 3, 4, 5
    order by currency, country, basis_points desc nulls last, tax_class, name
    limit ${first}`.execute(reader);
  return rows.map(({ taxable, tax, netTax, ...row }) =>
    Object.assign(row, {
      taxableMinor: parseSummedAmountMinor(taxable),
      taxMinor: parseSummedAmountMinor(tax),
      netTaxMinor: parseSummedAmountMinor(netTax),
    }),
  );
}
