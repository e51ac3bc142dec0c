/** The filter of the console's request log in the address, and its lists of operations and statuses. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { failureKinds } from "#foundation/failure.ts";
import { apiOperations, apiRoot } from "#pages/console/browser/requests/api-operations.ts";
import {
  emptyRequestFilter,
  exactStatuses,
  parseRequestLogFilter,
  getRequestLogPathAfterFilterChange,
} from "#pages/console/browser/requests/request-filter.ts";

interface Operation {
  readonly operationId?: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

const { paths } = JSON.parse(
  readFileSync(new URL("../../../schema/openapi.json", import.meta.url), "utf8"),
) as { paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };
const published = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { operationId }]) => operationId !== undefined)
    .map(([method, { operationId, responses }]) => ({
      path,
      method: method.toUpperCase(),
      operationId,
      responses,
    })),
);

it("the operations are those of the OpenAPI document", () => {
  const sorted = (list: readonly (readonly unknown[])[]): string[] =>
    list.map((row) => row.join(" ")).toSorted();
  expect(sorted(apiOperations.map(({ id, method, path }) => [id, method, apiRoot + path]))).toEqual(
    sorted(published.map(({ operationId, method, path }) => [operationId, method, path])),
  );
});

it("the exact statuses are those of the OpenAPI document and of all errors", () => {
  const statuses = new Set([
    ...published.flatMap(({ responses }) => Object.keys(responses)),
    ...Object.values(failureKinds).map(({ status }) => String(status)),
  ]);
  statuses.delete("default");
  expect(Object.keys(exactStatuses).toSorted()).toEqual([...statuses].toSorted());
});

it.each([
  ["", {}],
  ["status=2xx", { statusFrom: 200, statusTo: 299 }],
  ["status=4xx", { statusFrom: 400, statusTo: 499 }],
  ["status=5xx", { statusFrom: 500, statusTo: 599 }],
  ["status=failed", { statusFrom: 400, statusTo: null }],
  ["status=404", { statusFrom: 404, statusTo: 404 }],
  ["status=4040", {}],
  ["status=nothing", {}],
  [
    "operation=getPublicCart&key=key_1&app=ins_1",
    { operation: "getPublicCart", credentialId: "key_1", installationId: "ins_1" },
  ],
  ["operation=&key=", {}],
])("reads the address ?%s", (query, changes) => {
  expect(parseRequestLogFilter(new URLSearchParams(query))).toEqual({ ...emptyRequestFilter, ...changes });
});

it("changes one filter of the address and keeps the others", () => {
  const query = new URLSearchParams("status=4xx&key=key_1");
  expect(getRequestLogPathAfterFilterChange(query, "status", "404")).toBe("/requests?status=404&key=key_1");
  expect(getRequestLogPathAfterFilterChange(query, "status", "")).toBe("/requests?key=key_1");
  expect(getRequestLogPathAfterFilterChange(new URLSearchParams("key=key_1"), "key", "")).toBe("/requests");
});
