/** The reports without a time axis: promotions, returns by reason, and what buyers search for. */
import type { JSX } from "preact";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { formatEnumValue } from "#pages/console/browser/parts/formats.tsx";
import {
  DataTable,
  EmptyListNote,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import { FormattedAmountWithMinorUnits, filterRowsByCurrency } from "./amounts.tsx";
import { type ReportFilter, getReportPeriodOfFilter } from "./report-choices.ts";
import {
  type ConsolePromotionReportRow,
  promotionsDocument,
  type ConsoleReturnReportRow,
  returnsDocument,
  type ConsoleSearchReportRow,
  searchesDocument,
} from "./report-documents.ts";

interface ListReportProps {
  readonly choices: ReportFilter;
}

const promotionColumns: DataTableColumn<ConsolePromotionReportRow>[] = [
  { title: "Promotion", cell: ({ promotionId }) => <code class="whole">{promotionId}</code> },
  { title: "Orders", isNumber: true, cell: ({ orders }) => orders.toLocaleString() },
  { title: "Canceled", isNumber: true, cell: ({ canceledOrders }) => canceledOrders.toLocaleString() },
  {
    title: "Discount",
    isNumber: true,
    cell: ({ discountMinor, currency }) => (
      <FormattedAmountWithMinorUnits minor={discountMinor} currency={currency} />
    ),
  },
  {
    title: "Gross of its orders",
    isNumber: true,
    cell: ({ grossMinor, currency }) => (
      <FormattedAmountWithMinorUnits minor={grossMinor} currency={currency} />
    ),
  },
  {
    title: "Net of its orders",
    isNumber: true,
    cell: ({ netMinor, currency }) => <FormattedAmountWithMinorUnits minor={netMinor} currency={currency} />,
  },
];

export function PromotionReportView({ choices }: ListReportProps): JSX.Element {
  const query = useGraphqlQuery(promotionsDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the promotions">
      {({ promotionReport }) => {
        const rows = filterRowsByCurrency(promotionReport.promotions, choices.currency);
        return rows.length === 0 ? (
          <EmptyListNote>No order of this period used a promotion.</EmptyListNote>
        ) : (
          <DataTable
            caption="Promotions by their discount"
            columns={promotionColumns}
            rows={rows}
            keyOf={({ promotionId, currency }) => `${promotionId} ${currency}`}
          />
        );
      }}
    </QueryResultOrLoadingNote>
  );
}

const returnColumns: DataTableColumn<ConsoleReturnReportRow>[] = [
  { title: "Reason", cell: ({ reason }) => formatEnumValue(reason) },
  { title: "Kind", cell: ({ kind }) => formatEnumValue(kind) },
  { title: "Returns", isNumber: true, cell: ({ returns }) => returns.toLocaleString() },
  { title: "Units", isNumber: true, cell: ({ units }) => units.toLocaleString() },
  { title: "Declined", isNumber: true, cell: ({ declined }) => declined.toLocaleString() },
  { title: "Closed", isNumber: true, cell: ({ closed }) => closed.toLocaleString() },
  {
    title: "Promised",
    isNumber: true,
    cell: ({ promisedMinor, currency }) => (
      <FormattedAmountWithMinorUnits minor={promisedMinor} currency={currency} />
    ),
  },
  {
    title: "Fees",
    isNumber: true,
    cell: ({ feeMinor, currency }) => <FormattedAmountWithMinorUnits minor={feeMinor} currency={currency} />,
  },
  {
    title: "Refunded",
    isNumber: true,
    cell: ({ refundedMinor, currency }) => (
      <FormattedAmountWithMinorUnits minor={refundedMinor} currency={currency} />
    ),
  },
];

export function ReturnReportView({ choices }: ListReportProps): JSX.Element {
  const query = useGraphqlQuery(returnsDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the returns">
      {({ returnReport }) => {
        const rows = filterRowsByCurrency(returnReport.reasons, choices.currency);
        return rows.length === 0 ? (
          <EmptyListNote>No return was requested in this period.</EmptyListNote>
        ) : (
          <DataTable
            caption="Returns by reason"
            columns={returnColumns}
            rows={rows}
            keyOf={({ reason, kind, currency }) => `${reason} ${kind} ${currency}`}
          />
        );
      }}
    </QueryResultOrLoadingNote>
  );
}

const searchColumns: DataTableColumn<ConsoleSearchReportRow>[] = [
  { title: "Words", cell: ({ query }) => query },
  { title: "Searches", isNumber: true, cell: ({ searches }) => searches.toLocaleString() },
  { title: "Without result", isNumber: true, cell: ({ empty }) => empty.toLocaleString() },
];

export function SearchReportView({ choices }: ListReportProps): JSX.Element {
  const query = useGraphqlQuery(searchesDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the searches">
      {({ searchReport: { top, withoutResults } }) =>
        top.length === 0 ? (
          <EmptyListNote>
            Nothing was searched for in this period. Days of this report are days in UTC, and its words are
            counted after a short time.
          </EmptyListNote>
        ) : (
          <>
            <h3>Most frequent</h3>
            <SearchTable caption="Most frequent searches" rows={top} />
            <h3>Without a result</h3>
            {withoutResults.length === 0 ? (
              <p class="soft">Every search found something.</p>
            ) : (
              <SearchTable caption="Searches without a result" rows={withoutResults} />
            )}
          </>
        )
      }
    </QueryResultOrLoadingNote>
  );
}

const SearchTable = ({
  caption,
  rows,
}: {
  readonly caption: string;
  readonly rows: readonly ConsoleSearchReportRow[];
}) => <DataTable caption={caption} columns={searchColumns} rows={rows} keyOf={({ query }) => query} />;
