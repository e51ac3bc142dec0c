/** The report on products: for each currency, the fifty products with the highest net sales. */
import type { JSX } from "preact";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  DataTable,
  EmptyListNote,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import { FormattedAmountWithMinorUnits, filterRowsByCurrency, formatShareAsPercentage } from "./amounts.tsx";
import type { ReportFilter } from "./report-choices.ts";
import { productsDocument, type ConsoleProductReportRow } from "./report-documents.ts";

const columns: DataTableColumn<ConsoleProductReportRow>[] = [
  { title: "Product", cell: ({ title, key }) => title ?? <code class="whole">{key}</code> },
  { title: "Units", isNumber: true, cell: ({ units }) => units.toLocaleString() },
  { title: "Canceled", isNumber: true, cell: ({ canceledUnits }) => canceledUnits.toLocaleString() },
  { title: "Returned", isNumber: true, cell: ({ returnedUnits }) => returnedUnits.toLocaleString() },
  {
    title: "Return rate",
    isNumber: true,
    cell: ({ returnRate }) => formatShareAsPercentage(returnRate),
  },
  {
    title: "Gross",
    isNumber: true,
    cell: ({ grossMinor, currency }) => (
      <FormattedAmountWithMinorUnits minor={grossMinor} currency={currency} />
    ),
  },
  {
    title: "Net",
    isNumber: true,
    cell: ({ netMinor, currency }) => <FormattedAmountWithMinorUnits minor={netMinor} currency={currency} />,
  },
];

export function ProductReportView({ choices }: { readonly choices: ReportFilter }): JSX.Element {
  const { from, to, timeZone } = choices;
  const query = useGraphqlQuery(productsDocument, { from, to, timeZone });
  return (
    <QueryResultOrLoadingNote query={query} what="the products">
      {({ productReport }) => {
        const rows = filterRowsByCurrency(productReport.rows, choices.currency);
        return rows.length === 0 ? (
          <EmptyListNote>Nothing was sold in this period.</EmptyListNote>
        ) : (
          <>
            <p class="soft">
              Gross: the prices of the ordered units, with taxes and without delivery. Net: without what was
              canceled or returned later.
            </p>
            <DataTable
              caption="Products by their net sales"
              columns={columns}
              rows={rows}
              keyOf={({ key, currency }) => `${key} ${currency}`}
            />
          </>
        );
      }}
    </QueryResultOrLoadingNote>
  );
}
