/**
 * The filter of the list of orders. This file reads the filter from the page's URL, writes it to the URL, and
 * converts it to variables of the GraphQL query.
 */
import { type OrderListVariables, type ConsoleOrderStatus, orderStates } from "./order-documents.ts";

export interface OrderListFilter {
  readonly number: string;
  readonly status: ConsoleOrderStatus | null;
  /**
   * The first day on which the listed orders were placed, as YYYY-MM-DD in the reader's time zone. The field
   * `to` is the last day. An empty text means no limit.
   */
  readonly from: string;
  readonly to: string;
}

const dayForm = /^\d{4}-\d{2}-\d{2}$/;
const toDay = (text: string | null): string =>
  text !== null && dayForm.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";

export function parseOrderListFilter(query: URLSearchParams): OrderListFilter {
  const status = query.get("status")?.toUpperCase();
  return {
    number: query.get("number")?.trim() ?? "",
    status: orderStates.find((state) => state === status) ?? null,
    from: toDay(query.get("from")),
    to: toDay(query.get("to")),
  };
}

/** Returns the path of the order list below /console, with the filter in its query. */
export function getOrderListPath({ number, status, from, to }: OrderListFilter): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ number, status: status?.toLowerCase() ?? "", from, to }))
    if (value !== "") query.set(name, value);
  return query.size === 0 ? "/orders" : `/orders?${query.toString()}`;
}

/** Returns the start of a day in the reader's time zone. `daysLater` moves the result to a later day. */
function startOfDay(day: string, daysLater = 0): string | null {
  if (day === "") return null;
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + daysLater).toISOString();
}

/**
 * Converts the filter of the order list into variables of the GraphQL query; the variables for paging are not
 * included. Returns undefined if the last day of the filter is before the first day.
 */
export function toOrderListQueryVariables({
  number,
  status,
  from,
  to,
}: OrderListFilter): Omit<OrderListVariables, "last" | "before"> | undefined {
  if (from !== "" && to !== "" && to < from) return undefined;
  return {
    status,
    number: number === "" ? null : number,
    placedFrom: startOfDay(from),
    placedTo: startOfDay(to, 1),
  };
}

export const emptyOrderFilter: OrderListFilter = { number: "", status: null, from: "", to: "" };
