/**
 * The filter of the request log. This file reads the filter from the page's URL, writes it to the URL, and
 * converts it to variables of the GraphQL query.
 */
import type { ApiRequestLogFilter } from "./request-documents.ts";

export const emptyRequestFilter: ApiRequestLogFilter = {
  installationId: null,
  credentialId: null,
  operation: null,
  statusFrom: null,
  statusTo: null,
};

/**
 * The ranges of HTTP statuses by which the request log can be filtered, by the value that names them in the
 * page's URL.
 */
export const statusRanges: Readonly<
  Record<string, { readonly name: string; readonly from: number; readonly to: number | null }>
> = {
  "2xx": { name: "2xx: succeeded", from: 200, to: 299 },
  failed: { name: "4xx and 5xx: failed", from: 400, to: null },
  "4xx": { name: "4xx: refused", from: 400, to: 499 },
  "5xx": { name: "5xx: failed in the service", from: 500, to: 599 },
};

/**
 * The HTTP statuses of the API's answers, with their names. Staff can choose one of them to filter the
 * request log.
 */
export const exactStatuses: Readonly<Record<string, string>> = {
  "200": "OK",
  "400": "Bad Request",
  "401": "Unauthorized",
  "403": "Forbidden",
  "404": "Not Found",
  "405": "Method Not Allowed",
  "408": "Request Timeout",
  "409": "Conflict",
  "416": "Range Not Satisfiable",
  "429": "Too Many Requests",
  "431": "Request Header Fields Too Large",
  "500": "Internal Server Error",
  "503": "Service Unavailable",
  "504": "Gateway Timeout",
};

/**
 * Reads the filter by HTTP status from the page's URL: the name of a range of statuses, or a single status of
 * three digits. Other values are ignored.
 */
function statusBounds(text: string | null): Pick<ApiRequestLogFilter, "statusFrom" | "statusTo"> {
  const range = text === null ? undefined : statusRanges[text];
  if (range !== undefined) return { statusFrom: range.from, statusTo: range.to };
  if (text === null || !/^[1-5]\d\d$/.test(text)) return { statusFrom: null, statusTo: null };
  return { statusFrom: Number(text), statusTo: Number(text) };
}

const named = (text: string | null): string | null => (text === null || text === "" ? null : text);

/** Reads the filter of the request log from the query of the page's URL. */
export const parseRequestLogFilter = (query: URLSearchParams): ApiRequestLogFilter => ({
  installationId: named(query.get("app")),
  credentialId: named(query.get("key")),
  operation: named(query.get("operation")),
  ...statusBounds(query.get("status")),
});

/**
 * Returns the path of the request log below /console after changing one value of the filter. An empty value
 * removes the value from the filter.
 */
export function getRequestLogPathAfterFilterChange(
  query: URLSearchParams,
  name: string,
  value: string,
): string {
  const next = new URLSearchParams(query);
  if (value === "") next.delete(name);
  else next.set(name, value);
  return `/requests${next.size === 0 ? "" : `?${next}`}`;
}
