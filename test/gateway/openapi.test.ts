/**
 * The OpenAPI document states what the contract states. It is compared with a hand-written table and checked
 * by Redocly's linter.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import type { PermissionScope } from "#access/viewer.ts";
import { failureKinds } from "#foundation/failure.ts";
import { type Contract, readContract, type SchemaReference } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import { type ContractRow, type DescribedRow, describedRows } from "./contract-table.ts";

const world = useWorld();
let contract: Contract;
beforeAll(async () => {
  contract = await readContract(world());
});

/** The name of a schema. Composed schemas repeat the shared envelope beside the reference. */
const nameOf = (schema: SchemaReference | undefined): string =>
  (schema?.$ref ?? schema?.allOf?.[0]?.$ref ?? "").split("/").at(-1) ?? "";

it("the OpenAPI document has the paths, scopes, parameters and schemas of the contract", () => {
  const shown = contract.operations.map((operation): [string, DescribedRow] => [
    operation.operationId,
    {
      method: operation.method,
      path: operation.path,
      stability: operation["x-stability"] as ContractRow["stability"],
      ...(operation["x-required-scope"] === undefined
        ? {}
        : { scope: operation["x-required-scope"] as PermissionScope | "none" }),
      idempotency: operation["x-idempotency"] as ContractRow["idempotency"],
      ...(Object.keys(operation.security[0] ?? {}).length === 0 ? { isAnonymous: true } : {}),
      ...(operation.requestBody === undefined
        ? {}
        : { body: operation.requestBody.content["application/json"]?.schema.$ref.split("/").at(-1) ?? "" }),
      response: nameOf(operation.responses["200"]?.content?.["application/json"]?.schema),
      parameters: operation.parameters.map((parameter) => {
        const {
          name,
          in: place,
          required,
          schema,
        } = "$ref" in parameter ? contract.document.components.parameters.IdempotencyKey : parameter;
        return `${name}${required ? "" : "?"} ${place} ${schema.type}`;
      }),
    },
  ]);
  expect(Object.fromEntries(shown)).toEqual(describedRows);
  expect(contract.document.openapi).toBe("3.1.0");
});

it("the OpenAPI document groups the operations by the areas of the contract", () => {
  const groups = Map.groupBy(contract.operations, ({ tags }) => tags.join(" "));
  const counts = Object.fromEntries([...groups].map(([tag, operations]) => [tag, operations.length]));
  expect(counts).toEqual({
    Catalog: 3,
    "Hosted checkout": 1,
    Identity: 2,
    OAuth: 1,
    "Storefront carts": 5,
    "Storefront orders": 3,
    Webhooks: 5,
  });
  // A tag whose description equals its name has none in `tagDescriptions`.
  expect(contract.document.tags.filter(({ name, description }) => name === description)).toEqual([]);
});

it("the OpenAPI document declares 200 and the contract's six error statuses per operation", () => {
  for (const { operationId, responses } of contract.operations) {
    expect({ operationId, statuses: Object.keys(responses) }).toEqual({
      operationId,
      statuses: ["200", "400", "401", "403", "404", "409", "429"],
    });
    for (const [status, response] of Object.entries(responses))
      if (status !== "200") expect(response).toEqual({ $ref: `#/components/responses/Error${status}` });
  }
});

it("the OpenAPI document leaves out Retry-After and rate limit headers, which are additions", () => {
  expect(JSON.stringify(contract.document)).not.toMatch(/Retry-After|RateLimit-Policy/i);
  expect(Object.keys(contract.document.components.headers)).toEqual([
    "RequestId",
    "ApiStability",
    "IdempotentReplayed",
    "ETag",
    "ContentETag",
  ]);
});

it("the OpenAPI document lists the REST error codes of each status", () => {
  const graphOnly = new Set<string>([
    "role_not_allowed",
    "origin_not_allowed",
    "trusted_document_required",
    "trusted_document_not_found",
    "resource_not_found",
    "version_conflict",
    "already_exists",
    "still_in_use",
    "invalid_state",
    "checkout_amount_changed",
    "export_limit_reached",
    "export_not_completed",
  ]);
  for (const status of [400, 401, 403, 404, 409, 429]) {
    const codes = Object.entries(failureKinds).flatMap(([code, kind]) =>
      kind.status === status && !graphOnly.has(code) ? [code] : [],
    );
    const { description } = contract.document.components.responses[`Error${status}`] as {
      description: string;
    };
    expect(
      [...description.matchAll(/`([a-z0-9_]+)`/g)]
        .map(([, code]) => code)
        .filter((code) => code !== "retryAfterSeconds"),
    ).toEqual(codes);
  }
});

it("the OpenAPI document describes the errors that the service returns", async () => {
  const answers = {
    400: await world().getWithKey("/api/v1/open/identity?x=1"),
    401: await world().get("/api/v1/open/identity"),
  };
  for (const [status, answer] of Object.entries(answers))
    expect(contract.faultsOf("getApiKeyIdentity", Number(status), answer.body)).toEqual([]);
  const notFound = await world().get("/api/v1/catalog/merchants/lindenhof/products/none");
  expect(contract.faultsOf("getPublicMerchantProduct", 404, notFound.body)).toEqual([]);
  expect(contract.faultsOf("getPublicMerchantProduct", 404, { error: { code: "x" } })).not.toEqual([]);
});

it("the OpenAPI document requires every field of every schema, since answers omit none", () => {
  const loose: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties, required } = value as { properties?: object; required?: string[] };
    if (properties !== undefined && path.startsWith("/schemas"))
      for (const name of Object.keys(properties))
        if (!(required ?? []).includes(name)) loose.push(`${path}/${name}`);
    for (const [key, item] of Object.entries(value)) walk(item, `${path}/${key}`);
  };
  const { schemas } = contract.document.components;
  const bodies = new Set(
    contract.operations.flatMap(
      ({ requestBody }) => requestBody?.content["application/json"]?.schema.$ref.split("/").at(-1) ?? [],
    ),
  );
  walk({ schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => !bodies.has(name))) }, "");
  expect(loose).toEqual([]);
});

it("the OpenAPI document may be read by any page and cached for a minute", async () => {
  const { headers } = await world().get("/openapi.json");
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=60",
  });
});

it("the OpenAPI document passes Redocly's linter", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openapi-"));
  try {
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(contract.document));
    writeFileSync(
      join(folder, "redocly.yaml"),
      "extends: [recommended]\nrules:\n  operation-4xx-response: error\n  no-server-example.com: error\n",
    );
    const binary = new URL("../../node_modules/@redocly/cli/bin/cli.js", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [binary, "lint", "openapi.json", "--format=json"],
      {
        cwd: folder,
        env: { PATH: process.env["PATH"], REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        maxBuffer: 2 ** 24,
      },
    ).catch((error: unknown) => error as { stdout: string });
    const report = JSON.parse(stdout) as {
      totals: { errors: number; warnings: number };
      problems: { ruleId: string; message: string }[];
    };
    expect(report.problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(report.totals.errors).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
