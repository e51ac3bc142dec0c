/**
 * Reads the report on products: numbers and amounts of sold, canceled and returned units, grouped by product,
 * variant, category, country or market.
 */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { buildReportScopeSqlCondition, parseSummedAmountMinor, type ReportScope } from "./report-scope.ts";

export const productReportGroups = ["product", "variant", "category", "country", "market"] as const;
export type ProductReportGroup = (typeof productReportGroups)[number];

export const productReportSorts = ["net", "gross", "units", "returned_units", "return_rate"] as const;
export type ProductReportSort = (typeof productReportSorts)[number];

/** Numbers of units and amounts of order lines in one currency; amounts in minor units. */
export interface ProductFigures {
  readonly currency: string;
  readonly units: number;
  readonly canceledUnits: number;
  readonly returnedUnits: number;
  readonly grossMinor: number;
  readonly netMinor: number;
}

export interface ProductReportRow extends ProductFigures {
  /**
   * The group for which the row contains the numbers: the id of a product, variant, category or market, or a
   * country code.
   */
  readonly key: string;
  /**
   * Title of the product, or name of the category or market. Null for countries, and for objects that were
   * deleted after the sale.
   */
  readonly title: string | null;
  /** The SKU in a report by variant; null in other reports. */
  readonly sku: string | null;
}

export interface ProductReport {
  /** Totals of all order lines in the report, one entry for each currency. */
  readonly totals: readonly ProductFigures[];
  /** The rows of the report in the requested order; at most `first` rows for each currency. */
  readonly rows: readonly ProductReportRow[];
}

interface ProductReportQuery extends ReportScope {
  readonly currencies: readonly string[];
  readonly groupBy: ProductReportGroup;
  readonly sort: ProductReportSort;
  /** Maximum number of rows of the report for each currency. */
  readonly first: number;
}

export async function readProductReport(
  reader: DatabaseOrTransaction,
  query: ProductReportQuery,
): Promise<ProductReport> {
  const { rows } = await productStatement(query).execute(reader);
  const totals = new Map(rows.flatMap((row) => (row.key === null ? [[row.currency, row]] : [])));
  return {
    totals: [...new Set([...query.currencies, ...totals.keys()])]
      .toSorted()
      .map((currency) => toFigures(currency, totals.get(currency))),
    rows: rows.flatMap(({ key, title, sku, ...sums }) =>
      key === null ? [] : [{ key, title, sku, ...toFigures(sums.currency, sums) }],
    ),
  };
}

interface ProductSums {
  readonly currency: string;
  /**
   * Sums of units and amounts as decimal digits, because a JavaScript number may be unable to represent them
   * exactly.
   */
  readonly units: string;
  readonly canceled: string;
  readonly returned: string;
  readonly gross: string;
  readonly net: string;
}

interface ProductStatementRow extends ProductSums {
  /**
   * The group of this row: the id of a product, variant, category or market, or a country code. Null in the
   * row with the totals of a currency.
   */
  readonly key: string | null;
  readonly title: string | null;
  readonly sku: string | null;
}

type Sql = RawBuilder<unknown>;

/**
 * SQL for the value by which the statement first adds up order lines, for each way of grouping. The statement
 * must use the alias `l` for the order line and `o` for the order. The index `order_line_by_order` contains
 * the variants of the lines and the hashes of their category lists. It contains neither their products nor
 * the category lists.
 */
const keys: Readonly<Record<ProductReportGroup, Sql>> = {
  product: sql`l.variant_id`,
  variant: sql`l.variant_id`,
  category: sql`l.category_hash`,
  country: sql`o.country`,
  market: sql`o.market_id`,
};

/**
 * SQL for the title of a group in the row `r`, for each way of grouping. The title is in the merchant's
 * default locale if there is a text in this locale.
 */
const titles: Readonly<Record<ProductReportGroup, Sql>> = {
  product: titleOfProduct(sql`r.key`),
  variant: titleOfProduct(sql`(select v.product_id from variant v where v.id = r.key)`),
  category: sql`(select coalesce(c.names ->> m.default_locale, (select min(n.value) from jsonb_each_text(c.names) n))
    from category c join merchant m on m.id = c.merchant_id where c.id = r.key)`,
  country: sql`null`,
  market: sql`(select name from market where id = r.key)`,
};

function titleOfProduct(productId: Sql): Sql {
  return sql`(select t.title from product_translation t join merchant m on m.id = t.merchant_id
    where t.product_id = ${productId} order by t.locale = m.default_locale desc, t.locale limit 1)`;
}

const sorts: Readonly<Record<ProductReportSort, Sql>> = {
  net: sql`net`,
  gross: sql`gross`,
  units: sql`units`,
  returned_units: sql`returned`,
  return_rate: sql`returned / nullif(units - canceled, 0)::numeric`,
};

const sumsOfSummed = sql`sum(units) as units, sum(canceled) as canceled, sum(returned) as returned,
  sum(gross) as gross, sum(net) as net`;

const ungrouped = sql`select * from summed`;

/**
 * SQL that makes the groups of the report from the rows of `summed`, for each way of grouping. A variant
 * belongs to one product forever; for a deleted variant, the order lines contain the product. An order line
 * counts for each category of its product. Order lines of earlier releases have no hash of their category
 * list; `unhashed` contains their sums.
 */
const regroupings: Readonly<Record<ProductReportGroup, Sql>> = {
  product: sql`select coalesce(v.product_id,
      (select l.product_id from order_line l where l.variant_id = s.key limit 1)) as key, currency, ${sumsOfSummed}
    from summed s left join variant v on v.id = s.key group by 1, 2`,
  variant: ungrouped,
  category: sql`select c.id as key, currency, ${sumsOfSummed}
    from (select (select l.category_ids from order_line l where l.category_hash = s.key limit 1) as ids, s.*
        from summed s where s.key is not null
      union all select ids, null, currency, units, canceled, returned, gross, net from unhashed) as s
    cross join lateral unnest(ids) as c(id) group by 1, 2`,
  country: ungrouped,
  market: ungrouped,
};

function productStatement({
  groupBy,
  sort,
  first,
  ...scope
}: ProductReportQuery): RawBuilder<ProductStatementRow> {
  const sums = sql`sum(l.ordered) as units, sum(l.canceled) as canceled, sum(l.returned) as returned,
    sum(l.total_minor) as gross, sum(l.total_minor - l.reduced_minor) as net`;
  const inScope = buildReportScopeSqlCondition(scope, "o", "placed_at");
  const lines = sql`from sales_order o join order_line l on l.order_id = o.id where ${inScope}`;
  return sql<ProductStatementRow>`
    with summed as materialized (select ${keys[groupBy]} as key, o.currency, ${sums} ${lines} group by 1, 2),
    unhashed as (select l.category_ids as ids, o.currency, ${sums} ${lines} and l.category_hash is null
      group by 1, 2),
    grouped as (${regroupings[groupBy]}),
    ranked as (
      select *, row_number() over (partition by currency order by ${sorts[sort]} desc nulls last, key) as place
      from grouped),
    total as (select currency, ${sumsOfSummed} from summed group by 1)
    select null as key, null as title, null as sku, currency, units::text, canceled::text, returned::text,
      gross::text, net::text, 0 as place
    from total
    union all
    select r.key, ${titles[groupBy]} as title,
      ${groupBy === "variant" ? sql`(select sku from variant where id = r.key)` : sql`null`} as sku,
      r.currency, r.units::text, r.canceled::text, r.returned::text, r.gross::text, r.net::text, r.place
    from ranked r where r.place <= ${first}
    order by currency, place`;
}

const noSums = { units: "0", canceled: "0", returned: "0", gross: "0", net: "0" };

function toFigures(currency: string, sums: Omit<ProductSums, "currency"> = noSums): ProductFigures {
  return {
    currency,
    units: parseSummedAmountMinor(sums.units),
    canceledUnits: parseSummedAmountMinor(sums.canceled),
    returnedUnits: parseSummedAmountMinor(sums.returned),
    grossMinor: parseSummedAmountMinor(sums.gross),
    netMinor: parseSummedAmountMinor(sums.net),
  };
}
