/** The tables of an order's page: items, payments, shipments, returns and refunds. */
import type { ComponentChildren, JSX } from "preact";
import {
  formatEnumValue,
  formatMoney,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import { DataTable, type DataTableColumn } from "#pages/console/browser/parts/tables.tsx";
import type {
  ConsoleOrderLine,
  ConsoleOrderLineIdAndQuantity,
  ConsoleOrderFulfillment,
  ConsoleOrderPayment,
  ConsoleOrderRefund,
  ConsoleOrderReturn,
} from "./order-documents.ts";

const lineColumns: DataTableColumn<ConsoleOrderLine>[] = [
  {
    title: "Item",
    cell: ({ title, variantTitle, sku }) => (
      <>
        <strong>{title}</strong>
        <br />
        <span class="soft small">
          {variantTitle === null ? null : `${variantTitle}, `}
          {sku}
        </span>
      </>
    ),
  },
  { title: "Ordered", isNumber: true, cell: ({ quantities }) => quantities.ordered.toLocaleString() },
  { title: "State", cell: ({ quantities }) => <QuantityStates quantities={quantities} /> },
  { title: "Price", isNumber: true, cell: ({ unitPrice }) => formatMoney(unitPrice) },
  { title: "Total", isNumber: true, cell: ({ total }) => formatMoney(total) },
];

const quantityStates = ["canceled", "shipped", "delivered", "returned", "refunded"] as const;

function QuantityStates({ quantities }: Pick<ConsoleOrderLine, "quantities">): JSX.Element {
  const states = quantityStates.filter((state) => quantities[state] > 0);
  if (states.length === 0) return <span class="soft">not sent yet</span>;
  return <>{states.map((state) => `${quantities[state].toLocaleString()} ${state}`).join(", ")}</>;
}

export const OrderLineList = ({ lines }: { readonly lines: readonly ConsoleOrderLine[] }): JSX.Element => (
  <div class="loaded">
    <DataTable caption="Items of the order" columns={lineColumns} rows={lines} keyOf={({ id }) => id} />
  </div>
);

interface OrderSectionProps {
  readonly id: string;
  readonly title: string;
  readonly isEmpty: boolean;
  readonly empty: string;
  readonly children: ComponentChildren;
}

const OrderSection = ({ id, title, isEmpty, empty, children }: OrderSectionProps): JSX.Element => (
  <section aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {isEmpty ? <p class="soft">{empty}</p> : <div class="loaded">{children}</div>}
  </section>
);

const paymentColumns: DataTableColumn<ConsoleOrderPayment>[] = [
  { title: "Payment", cell: ({ id }) => <code class="whole">{id}</code> },
  {
    title: "Status",
    cell: ({ status, failureCode, disputedAt }) => (
      <>
        <StatusBadge value={status} /> {failureCode === null ? null : formatEnumValue(failureCode)}
        {disputedAt === null ? null : <StatusBadge value="DISPUTED" />}
      </>
    ),
  },
  { title: "Method", cell: ({ methodType }) => formatEnumValue(methodType) },
  { title: "Captured", isNumber: true, cell: ({ capturedAmount }) => formatMoney(capturedAmount) },
  { title: "Refunded", isNumber: true, cell: ({ refundedAmount }) => formatMoney(refundedAmount) },
  { title: "Amount", isNumber: true, cell: ({ amount }) => formatMoney(amount) },
  { title: "Started", cell: ({ createdAt }) => <FormattedTime at={createdAt} isMinute /> },
];

export const OrderPaymentTable = ({
  payments,
}: {
  readonly payments: readonly ConsoleOrderPayment[];
}): JSX.Element => (
  <OrderSection
    id="payments"
    title="Payments"
    isEmpty={payments.length === 0}
    empty="Nothing had to be paid for this order."
  >
    <DataTable caption="Payments" columns={paymentColumns} rows={payments} keyOf={({ id }) => id} />
  </OrderSection>
);

/** Returns the quantities and names of order lines as text: “2 × Enamel mug, 1 × Linen shirt”. */
function describeLineQuantities(
  quantities: readonly ConsoleOrderLineIdAndQuantity[],
  lines: readonly ConsoleOrderLine[],
): string {
  const titles = new Map(lines.map(({ id, title }) => [id, title]));
  return quantities
    .map(({ lineId, quantity }) => `${quantity.toLocaleString()} × ${titles.get(lineId) ?? lineId}`)
    .join(", ");
}

interface FulfillmentTableProps {
  readonly fulfillments: readonly ConsoleOrderFulfillment[];
  readonly lines: readonly ConsoleOrderLine[];
}

export function OrderFulfillmentTable({ fulfillments, lines }: FulfillmentTableProps): JSX.Element {
  const columns: DataTableColumn<ConsoleOrderFulfillment>[] = [
    { title: "Items", cell: (fulfillment) => describeLineQuantities(fulfillment.lines, lines) },
    { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
    { title: "Tracking", cell: (fulfillment) => <TrackingText fulfillment={fulfillment} /> },
    { title: "Sent", cell: ({ shippedAt }) => <FormattedTime at={shippedAt} otherwise="not yet" isMinute /> },
    {
      title: "Delivered",
      cell: ({ deliveredAt }) => <FormattedTime at={deliveredAt} otherwise="not yet" isMinute />,
    },
  ];
  return (
    <OrderSection
      id="fulfillments"
      title="Shipments and pickups"
      isEmpty={fulfillments.length === 0}
      empty="Nothing has been packed yet."
    >
      <DataTable
        caption="Shipments and pickups"
        columns={columns}
        rows={fulfillments}
        keyOf={({ id }) => id}
      />
    </OrderSection>
  );
}

function TrackingText({ fulfillment }: { readonly fulfillment: ConsoleOrderFulfillment }): JSX.Element {
  const { type, carrier, trackingNumber, trackingUrl } = fulfillment;
  const text = [carrier ?? formatEnumValue(type), trackingNumber].filter((part) => part !== null).join(" ");
  return trackingUrl === null ? (
    <>{text}</>
  ) : (
    <a href={trackingUrl} rel="noreferrer">
      {text}
    </a>
  );
}

interface ReturnTableProps {
  readonly returns: readonly ConsoleOrderReturn[];
  readonly lines: readonly ConsoleOrderLine[];
}

export function OrderReturnsTable({ returns, lines }: ReturnTableProps): JSX.Element {
  const columns: DataTableColumn<ConsoleOrderReturn>[] = [
    { title: "Items", cell: (own) => describeLineQuantities(own.lines, lines) },
    { title: "Kind", cell: ({ kind }) => formatEnumValue(kind) },
    { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
    { title: "Reason", cell: ({ reason }) => formatEnumValue(reason) },
    { title: "Refund", isNumber: true, cell: ({ refund }) => formatMoney(refund) },
    { title: "Requested", cell: ({ requestedAt }) => <FormattedTime at={requestedAt} isMinute /> },
  ];
  return (
    <OrderSection
      id="returns"
      title="Returns"
      isEmpty={returns.length === 0}
      empty="No return was requested."
    >
      <DataTable caption="Returns" columns={columns} rows={returns} keyOf={({ id }) => id} />
    </OrderSection>
  );
}

const refundColumns: DataTableColumn<ConsoleOrderRefund>[] = [
  { title: "Refund", cell: ({ id }) => <code class="whole">{id}</code> },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  {
    title: "Reason",
    cell: ({ reason, note }) => (
      <>
        {formatEnumValue(reason)}
        {note === null ? null : <p class="small">“{note}”</p>}
      </>
    ),
  },
  { title: "Amount", isNumber: true, cell: ({ amount }) => formatMoney(amount) },
  { title: "Started", cell: ({ createdAt }) => <FormattedTime at={createdAt} isMinute /> },
];

export const OrderRefundTable = ({
  refunds,
}: {
  readonly refunds: readonly ConsoleOrderRefund[];
}): JSX.Element => (
  <OrderSection id="refunds" title="Refunds" isEmpty={refunds.length === 0} empty="Nothing was refunded.">
    <DataTable caption="Refunds" columns={refundColumns} rows={refunds} keyOf={({ id }) => id} />
  </OrderSection>
);
