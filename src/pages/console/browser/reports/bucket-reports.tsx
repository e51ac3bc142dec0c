/**
 * The reports over time: on sales, and on how many carts become orders. Each report has a chart, totals and a
 * table.
 */
import type { JSX } from "preact";
import { BarChart, LineChart } from "#pages/console/browser/charts.tsx";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  DataTable,
  EmptyListNote,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import {
  FormattedAmountWithMinorUnits,
  formatMinorUnitsAsMoney,
  formatShareAsPercentage,
  getCurrencyExponentUsedByBrowser,
  filterRowsByCurrency,
} from "./amounts.tsx";
import { chooseReportChartInterval, type ReportFilter } from "./report-choices.ts";
import {
  type ConsoleFunnelReportBucket,
  funnelDocument,
  type ConsoleSalesReportAmounts,
  type ConsoleSalesReportOfCurrency,
  salesDocument,
} from "./report-documents.ts";

const intervalNames = { DAY: "day", WEEK: "week", MONTH: "month" } as const;
const intervalTitles = { DAY: "Day", WEEK: "Week of", MONTH: "Month of" } as const;

/** Formats a calendar day for the reader's locale. */
const dayFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });
const formatReportDay = (day: string): string => dayFormat.format(new Date(`${day}T00:00:00.000Z`));

const toVariables = (choices: ReportFilter) => ({
  from: choices.from,
  to: choices.to,
  timeZone: choices.timeZone,
  interval: chooseReportChartInterval(choices),
});

interface ReportViewProps {
  readonly choices: ReportFilter;
}

export function SalesReportView({ choices }: ReportViewProps): JSX.Element {
  const query = useGraphqlQuery(salesDocument, toVariables(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the sales">
      {({ salesReport }) => {
        const shown = filterRowsByCurrency(salesReport.currencies, choices.currency);
        return shown.length === 0 ? (
          <EmptyListNote>
            No order was placed in this period
            {choices.currency === null ? "" : ` in ${choices.currency}`}.
          </EmptyListNote>
        ) : (
          <>
            {shown.map((sales) => (
              <SalesInCurrency key={sales.currency} sales={sales} choices={choices} />
            ))}
          </>
        );
      }}
    </QueryResultOrLoadingNote>
  );
}

const countTitles = [
  ["orders", "Orders"],
  ["canceledOrders", "Canceled orders"],
  ["units", "Units"],
] as const;
const amountTitles = [
  ["grossMinor", "Gross"],
  ["reducedMinor", "Canceled and returned"],
  ["netMinor", "Net"],
  ["refundedMinor", "Refunded"],
  ["discountMinor", "Discounts"],
  ["shippingMinor", "Shipping"],
  ["taxMinor", "Tax"],
  ["averageOrderMinor", "Average order"],
] as const;

interface TotalRow {
  readonly title: string;
  readonly value: JSX.Element;
}

function listTotals(totals: ConsoleSalesReportAmounts): readonly TotalRow[] {
  return [
    ...countTitles.map(([key, title]) => ({ title, value: <>{totals[key].toLocaleString()}</> })),
    ...amountTitles.map(([key, title]) => ({
      title,
      value: <FormattedAmountWithMinorUnits minor={totals[key]} currency={totals.currency} />,
    })),
  ];
}

const totalColumns: DataTableColumn<TotalRow>[] = [
  { title: "Figure", cell: ({ title }) => title },
  { title: "Total", isNumber: true, cell: ({ value }) => value },
];

interface SalesProps extends ReportViewProps {
  readonly sales: ConsoleSalesReportOfCurrency;
}

function SalesInCurrency({ sales, choices }: SalesProps): JSX.Element {
  const { currency, totals, buckets } = sales;
  const interval = chooseReportChartInterval(choices);
  const scale = 10 ** getCurrencyExponentUsedByBrowser(currency);
  const format = (value: number): string => formatMinorUnitsAsMoney(Math.round(value * scale), currency);
  return (
    <>
      <LineChart
        title={`Sales in ${currency} by ${intervalNames[interval]}`}
        description="Gross: what was ordered. Net: without what was canceled or returned later."
        labels={buckets.map(({ day }) => formatReportDay(day))}
        keys={buckets.map(({ startsAt }) => startsAt)}
        format={format}
        series={[
          { name: "Gross", tone: "warn", values: buckets.map(({ grossMinor }) => grossMinor / scale) },
          { name: "Net", tone: "good", values: buckets.map(({ netMinor }) => netMinor / scale) },
        ]}
      />
      <DataTable
        caption={`Totals in ${currency}`}
        columns={totalColumns}
        rows={listTotals(totals)}
        keyOf={({ title }) => title}
      />
    </>
  );
}

export function FunnelReportView({ choices }: ReportViewProps): JSX.Element {
  const query = useGraphqlQuery(funnelDocument, toVariables(choices));
  const interval = chooseReportChartInterval(choices);
  const columns: DataTableColumn<ConsoleFunnelReportBucket>[] = [
    { title: intervalTitles[interval], cell: ({ day }) => (day === "" ? "Total" : formatReportDay(day)) },
    { title: "Carts", isNumber: true, cell: ({ carts }) => carts.toLocaleString() },
    { title: "With checkout", isNumber: true, cell: ({ checkouts }) => checkouts.toLocaleString() },
    {
      title: "Submitted",
      isNumber: true,
      cell: ({ submittedCheckouts }) => submittedCheckouts.toLocaleString(),
    },
    { title: "Ordered", isNumber: true, cell: ({ orders }) => orders.toLocaleString() },
    {
      title: "Conversion",
      isNumber: true,
      cell: ({ conversionRate }) => formatShareAsPercentage(conversionRate),
    },
  ];
  return (
    <QueryResultOrLoadingNote query={query} what="the carts">
      {({ funnelReport: { totals, buckets } }) =>
        totals.carts === 0 ? (
          <EmptyListNote>No cart was created in this period.</EmptyListNote>
        ) : (
          <>
            <BarChart
              title={`Carts by ${intervalNames[interval]}`}
              description="Carts created in the period, by whether they became an order."
              labels={buckets.map(({ day }) => formatReportDay(day))}
              keys={buckets.map(({ startsAt }) => startsAt)}
              series={[
                { name: "Ordered", tone: "good", values: buckets.map(({ orders }) => orders) },
                {
                  name: "Not ordered",
                  tone: "warn",
                  values: buckets.map(({ carts, orders }) => carts - orders),
                },
              ]}
            />
            <DataTable
              caption="Carts, checkouts and orders"
              columns={columns}
              rows={[{ ...totals, day: "", startsAt: "total" }, ...buckets.filter(({ carts }) => carts > 0)]}
              keyOf={({ startsAt }) => startsAt}
            />
          </>
        )
      }
    </QueryResultOrLoadingNote>
  );
}
