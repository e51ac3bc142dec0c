/**
 * The page that lists orders, newest first, and finds them by number, status and the days on which they were
 * placed.
 */
import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import {
  listPageSize,
  getGraphqlConnectionNodesNewestFirst,
  getOlderPageCursor,
} from "#pages/console/browser/graph/documents.ts";
import { useCursorListPaging, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import {
  ConsoleLink,
  type ConsoleLocation,
  navigateToConsolePath,
  PageHeading,
  replaceConsoleUrlInHistory,
} from "#pages/console/browser/navigation.tsx";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  formatEnumValue,
  formatMoney,
  StatusBadge,
  FormattedTime,
} from "#pages/console/browser/parts/formats.tsx";
import {
  DataTable,
  EmptyListNote,
  PaginationButtons,
  QueryResultOrLoadingNote,
  type DataTableColumn,
} from "#pages/console/browser/parts/tables.tsx";
import {
  type OrderListItem,
  type OrderListVariables,
  ordersDocument,
  orderStates,
} from "./order-documents.ts";
import {
  emptyOrderFilter,
  getOrderListPath,
  type OrderListFilter,
  parseOrderListFilter,
  toOrderListQueryVariables,
} from "./order-filter.ts";
import "#pages/console/browser/parts/filters.css";
import "./orders.css";

export function OrdersPage({ place }: { readonly place: ConsoleLocation }): JSX.Element {
  const filter = parseOrderListFilter(place.query);
  const variables = toOrderListQueryVariables(filter);
  return (
    <>
      <PageHeading title="Orders" />
      <p class="lead">
        What buyers have bought: payments, shipments, returns and refunds, and what is still possible.
      </p>
      <OrderFilterForm key={place.query.toString()} filter={filter} />
      {variables === undefined ? (
        <EmptyListNote>
          The last day must not be before the first day.{" "}
          <ConsoleLink to="/orders">Show all orders</ConsoleLink>
        </EmptyListNote>
      ) : (
        <OrderList filter={filter} variables={variables} />
      )}
    </>
  );
}

function OrderFilterForm({ filter }: { readonly filter: OrderListFilter }): JSX.Element {
  const id = useId();
  const [number, setNumber] = useState(filter.number);
  const show = (change: Partial<OrderListFilter>): void =>
    replaceConsoleUrlInHistory(getOrderListPath({ ...filter, number: number.trim(), ...change }));
  const open = (event: Event): void => {
    event.preventDefault();
    const orderId = /ord_[0-9a-z]{26}/.exec(number.toLowerCase())?.[0];
    if (orderId === undefined) show({});
    else navigateToConsolePath(`/orders/${orderId}`);
  };
  return (
    <form class="filters compact" role="search" onSubmit={open} noValidate>
      <div class="wide">
        <label for={`${id}-number`}>Order number or id</label>
        <div class="pick">
          <input
            id={`${id}-number`}
            value={number}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setNumber(currentTarget.value)}
          />
          <button>Find</button>
        </div>
      </div>
      <div>
        <label for={`${id}-status`}>Status</label>
        <select
          id={`${id}-status`}
          value={filter.status ?? ""}
          onChange={({ currentTarget: { value } }) =>
            show({ status: orderStates.find((state) => state === value) ?? null })
          }
        >
          <option value="">All</option>
          {orderStates.map((state) => (
            <option key={state} value={state}>
              {formatEnumValue(state)}
            </option>
          ))}
        </select>
      </div>
      <DayField label="Placed from" value={filter.from} onChange={(from) => show({ from })} />
      <DayField label="Placed until" value={filter.to} onChange={(to) => show({ to })} />
    </form>
  );
}

interface DayFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}

function DayField({ label, value, onChange }: DayFieldProps): JSX.Element {
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
    </div>
  );
}

const columns: DataTableColumn<OrderListItem>[] = [
  {
    title: "Order",
    cell: ({ id, number, buyer: { guest, emailHint } }) => (
      <>
        <ConsoleLink to={`/orders/${id}`}>
          <strong>{number}</strong>
        </ConsoleLink>
        <br />
        <span class="soft small">
          {guest ? "Guest" : "Known buyer"}
          {emailHint === null ? null : `, ${emailHint}`}
        </span>
      </>
    ),
  },
  { title: "Placed", cell: ({ placedAt }) => <FormattedTime at={placedAt} isMinute /> },
  { title: "Status", cell: ({ status }) => <StatusBadge value={status} /> },
  { title: "Payment", cell: ({ paymentStatus }) => <StatusBadge value={paymentStatus} /> },
  { title: "Delivery", cell: ({ fulfillmentStatus }) => formatEnumValue(fulfillmentStatus) },
  {
    title: "Return",
    cell: ({ returnStatus }) =>
      returnStatus === "NONE" ? <span class="soft">–</span> : formatEnumValue(returnStatus),
  },
  { title: "Total", isNumber: true, cell: ({ totals: { total } }) => formatMoney(total) },
];

interface OrderListProps {
  readonly filter: OrderListFilter;
  readonly variables: Omit<OrderListVariables, "last" | "before">;
}

function OrderList({ filter, variables }: OrderListProps): JSX.Element {
  const pages = useCursorListPaging(getOrderListPath(filter));
  const query = useGraphqlQuery(ordersDocument, { ...variables, last: listPageSize, before: pages.cursor });
  return (
    <QueryResultOrLoadingNote query={query} what="orders">
      {({ orders }) => (
        <>
          {orders.edges.length === 0 ? (
            <NoOrders filter={filter} />
          ) : (
            <DataTable
              caption="Orders, the newest first"
              columns={columns}
              rows={getGraphqlConnectionNodesNewestFirst(orders)}
              keyOf={({ id }) => id}
            />
          )}
          <PaginationButtons pages={pages} what="orders" older={getOlderPageCursor(orders)} />
        </>
      )}
    </QueryResultOrLoadingNote>
  );
}

const NoOrders = ({ filter }: { readonly filter: OrderListFilter }): JSX.Element =>
  getOrderListPath(filter) === getOrderListPath(emptyOrderFilter) ? (
    <EmptyListNote>
      There is no order yet. An order appears here as soon as a buyer has paid at a checkout.{" "}
      <a href={`${basePath}/docs/guides/carts-and-checkout`}>How the checkout works</a>
    </EmptyListNote>
  ) : (
    <EmptyListNote>
      {filter.number === ""
        ? "No order has this status and was placed in these days. "
        : `No order with the number “${filter.number}” has this status and was placed in these days. `}
      <ConsoleLink to="/orders">Show all orders</ConsoleLink>
    </EmptyListNote>
  );
