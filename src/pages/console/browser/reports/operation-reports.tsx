/** The reports on refunds, returning buyers, shipping and stock. */
import type { JSX } from "preact";
import { useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  formatEnumValue,
  formatLocalizedCountWithNoun,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import {
  DataTable,
  DescriptionListRow,
  EmptyListNote,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import { FormattedAmountWithMinorUnits, filterRowsByCurrency, formatShareAsPercentage } from "./amounts.tsx";
import {
  buyersDocument,
  type ConsoleBuyerCohortMonthRow,
  type ConsoleCarrierReportRow,
  fulfillmentsDocument,
  inventoryDocument,
  type ConsoleRefundReportRow,
  refundsDocument,
  type ConsoleStockReportRow,
  toBuyerCohortMonthRows,
  type ConsoleUnshippedOrderRow,
} from "./operation-report-documents.ts";
import { inventoryDays, type ReportFilter, getReportPeriodOfFilter } from "./report-choices.ts";

interface ReportProps {
  readonly choices: ReportFilter;
}

const countColumn = <Row,>(title: string, read: (row: Row) => number): DataTableColumn<Row> => ({
  title,
  isNumber: true,
  cell: (row) => read(row).toLocaleString(),
});

const amountColumn = <Row extends { readonly currency: string }>(
  title: string,
  read: (row: Row) => number,
): DataTableColumn<Row> => ({
  title,
  isNumber: true,
  cell: (row) => <FormattedAmountWithMinorUnits minor={read(row)} currency={row.currency} />,
});

const refundColumns: DataTableColumn<ConsoleRefundReportRow>[] = [
  { title: "Reason", cell: ({ reason }) => formatEnumValue(reason) },
  countColumn("Refunds", ({ refunds }) => refunds),
  amountColumn("Refunded", ({ refundedMinor }) => refundedMinor),
  amountColumn("Pending", ({ pendingMinor }) => pendingMinor),
  amountColumn("Failed", ({ failedMinor }) => failedMinor),
];

export function RefundReportView({ choices }: ReportProps): JSX.Element {
  const query = useGraphqlQuery(refundsDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the refunds">
      {({ refundReport }) => {
        const rows = filterRowsByCurrency(refundReport.reasons, choices.currency);
        return rows.length === 0 ? (
          <EmptyListNote>No refund was requested in this period.</EmptyListNote>
        ) : (
          <DataTable
            caption="Refunds by reason"
            columns={refundColumns}
            rows={rows}
            keyOf={({ reason, currency }) => `${reason} ${currency}`}
          />
        );
      }}
    </QueryResultOrLoadingNote>
  );
}

/** Formats a month for the reader. The report gives the first day of the month. */
const monthFormat = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });
const formatMonth = (day: string): string => monthFormat.format(new Date(`${day}T00:00:00.000Z`));

const buyerColumns: DataTableColumn<ConsoleBuyerCohortMonthRow>[] = [
  { title: "First order in", cell: ({ firstMonth }) => formatMonth(firstMonth) },
  { title: "Ordered in", cell: ({ month }) => formatMonth(month) },
  countColumn("Buyers", ({ buyers }) => buyers),
  countColumn("Orders", ({ orders }) => orders),
];

export function BuyerReportView({ choices }: ReportProps): JSX.Element {
  const query = useGraphqlQuery(buyersDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the buyers">
      {({ buyerReport: { totals, cohorts } }) =>
        totals.buyers + totals.guestOrders === 0 ? (
          <EmptyListNote>No buyer ordered in this period.</EmptyListNote>
        ) : (
          <>
            <dl class="facts">
              <DescriptionListRow name="Buyers">{totals.buyers.toLocaleString()}</DescriptionListRow>
              <DescriptionListRow name="New buyers">{totals.newBuyers.toLocaleString()}</DescriptionListRow>
              <DescriptionListRow name="Buyers with several orders">
                {totals.repeatBuyers.toLocaleString()} ({formatShareAsPercentage(totals.repeatRate)})
              </DescriptionListRow>
              <DescriptionListRow name="Orders of buyers">
                {totals.orders.toLocaleString()}
              </DescriptionListRow>
              <DescriptionListRow name="Orders of guests">
                {totals.guestOrders.toLocaleString()}
              </DescriptionListRow>
            </dl>
            {cohorts.length === 0 ? null : (
              <DataTable
                caption="New buyers by the month of their first order, and the months in which they ordered again"
                columns={buyerColumns}
                rows={toBuyerCohortMonthRows(cohorts)}
                keyOf={({ firstMonth, month }) => `${firstMonth} ${month}`}
              />
            )}
          </>
        )
      }
    </QueryResultOrLoadingNote>
  );
}

const carrierColumns: DataTableColumn<ConsoleCarrierReportRow>[] = [
  { title: "Carrier", cell: ({ carrier }) => carrier ?? <span class="soft">without a carrier</span> },
  countColumn("Parcels", ({ parcels }) => parcels),
  countColumn("Delivered", ({ delivered }) => delivered),
  countColumn("Late", ({ late }) => late),
  countColumn("Failed", ({ failed }) => failed),
  {
    title: "Median hours",
    isNumber: true,
    cell: ({ medianDeliveryHours: hours }) =>
      hours === null ? "–" : hours.toLocaleString(undefined, { maximumFractionDigits: 1 }),
  },
];

const unshippedColumns: DataTableColumn<ConsoleUnshippedOrderRow>[] = [
  { title: "Order", cell: ({ orderId, number }) => <OrderName id={orderId} number={number} /> },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Placed", cell: ({ placedAt }) => <FormattedTime at={placedAt} isMinute /> },
  countColumn("Days", ({ ageDays }) => ageDays),
  countColumn("Units", ({ units }) => units),
];

const OrderName = ({ id, number }: { readonly id: string; readonly number: string }): JSX.Element => (
  <ConsoleLink to={`/orders/${id}`}>{number}</ConsoleLink>
);

export function FulfillmentReportView({ choices }: ReportProps): JSX.Element {
  const query = useGraphqlQuery(fulfillmentsDocument, getReportPeriodOfFilter(choices));
  return (
    <QueryResultOrLoadingNote query={query} what="the shipments">
      {({ fulfillmentReport: { unshipped, carriers } }) => (
        <>
          <h3>Parcels by carrier</h3>
          {carriers.length === 0 ? (
            <EmptyListNote>No parcel was shipped in this period.</EmptyListNote>
          ) : (
            <DataTable
              caption="Parcels by carrier"
              columns={carrierColumns}
              rows={carriers}
              keyOf={({ carrier }) => carrier ?? ""}
            />
          )}
          <h3>Orders that wait for shipment now</h3>
          {unshipped.oldest.length === 0 ? (
            <p class="soft">No order waits for shipment.</p>
          ) : (
            <DataTable
              caption="Orders that wait for shipment, the oldest first"
              columns={unshippedColumns}
              rows={unshipped.oldest}
              keyOf={({ orderId }) => orderId}
            />
          )}
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}

const stockColumns: DataTableColumn<ConsoleStockReportRow>[] = [
  {
    title: "Variant",
    cell: ({ sku, title }) => (
      <>
        {title ?? sku}
        <br />
        <code class="whole">{sku}</code>
      </>
    ),
  },
  countColumn("On hand", ({ onHandUnits }) => onHandUnits),
  countColumn("Reserved", ({ reservedUnits }) => reservedUnits),
  countColumn("Free", ({ freeUnits }) => freeUnits),
  countColumn("Sold", ({ soldUnits }) => soldUnits),
  countColumn("Lasts days", ({ coverDays }) => coverDays),
];

export function InventoryReportView(): JSX.Element {
  const query = useGraphqlQuery(inventoryDocument, { days: inventoryDays });
  return (
    <QueryResultOrLoadingNote query={query} what="the stock">
      {({ inventoryReport: { totals, rows } }) => (
        <>
          <p class="soft">
            The stock now, independent of the chosen days:{" "}
            {formatLocalizedCountWithNoun(totals.variants, "variant")},{" "}
            {totals.outOfStockVariants.toLocaleString()} of them without a free unit,{" "}
            {formatLocalizedCountWithNoun(totals.onHandUnits, "unit")} on hand,{" "}
            {totals.reservedUnits.toLocaleString()} of them reserved. “Sold” counts the last {inventoryDays}{" "}
            days.
          </p>
          {rows.length === 0 ? (
            <EmptyListNote>No variant was sold in the last {inventoryDays} days.</EmptyListNote>
          ) : (
            <DataTable
              caption="Variants by the days that their stock lasts"
              columns={stockColumns}
              rows={rows}
              keyOf={({ variantId }) => variantId}
            />
          )}
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}
