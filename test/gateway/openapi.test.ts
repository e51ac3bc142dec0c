/** The OpenAPI document says what the contract says: compared with a table written by hand from it, and judged by a linter of others. */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { failureKinds } from "#foundation/failure.ts";
import { type Contract, readContract, type ShownSchema } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld("pglite");
let contract: Contract;
beforeAll(async () => {
  contract = await readContract(world());
});

interface Row {
  readonly method: string;
  readonly path: string;
  readonly stability: "stable" | "candidate";
  readonly scope: string;
  readonly idempotency: "none" | "required";
  readonly isAnonymous?: true;
  readonly body?: string;
  readonly response: string;
  /** Name, place and JSON type; all but those with `?` are required. */
  readonly parameters: readonly string[];
}

const idempotencyKey = "Idempotency-Key header string";
const cartPath = "/api/v1/open/storefront/carts/{cartId}";
const cartId = "cartId path string";
const cart = { stability: "candidate" } as const;
const cartChange = { ...cart, idempotency: "required", parameters: [cartId, idempotencyKey] } as const;
const orderPath = "/api/v1/open/storefront/orders/{orderId}";
const order = { method: "GET", stability: "candidate", scope: "catalog:read", idempotency: "none", parameters: ["orderId path string"] } as const;
const webhook = { stability: "stable", response: "OperationResponse" } as const;
const search = ["q", "locale", "market", "category?", "merchant?", "sort"].map((name) => `${name} query string`);

/** The contract's tables. An operation that is not built yet has no row: the test below names it when it comes. */
const table: Readonly<Record<string, Row>> = {
  getApiKeyIdentity: {
    method: "GET",
    path: "/api/v1/open/identity",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "ApiKeyIdentityResponse",
    parameters: [],
  },
  listApiKeyCatalogProducts: {
    method: "GET",
    path: "/api/v1/open/catalog/products",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "PublicCatalogProductListResponse",
    parameters: [],
  },
  searchPublicProducts: {
    method: "GET",
    path: "/api/v1/search",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicProductSearchResponse",
    parameters: [...search, "page query integer", "pageSize query integer"],
  },
  getPublicMerchantProduct: {
    method: "GET",
    path: "/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicCatalogProductDetailResponse",
    parameters: ["merchantSlug path string", "productSlug path string"],
  },
  getPublicCart: {
    ...cart,
    method: "GET",
    path: cartPath,
    scope: "catalog:read",
    idempotency: "none",
    response: "PublicCartResponse",
    parameters: [cartId],
  },
  setPublicCartAddress: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/address`,
    scope: "checkout:quote",
    body: "PublicCartAddressSetRequest",
    response: "PublicCartAddressTokenResponse",
  },
  applyPublicCartPromotion: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartPromotionApplyRequest",
    response: "PublicCartPromotionStateResponse",
  },
  removePublicCartPromotion: {
    ...cartChange,
    method: "DELETE",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartTransitionRequest",
    response: "PublicCartPromotionStateResponse",
  },
  revokePublicCart: {
    ...cartChange,
    method: "POST",
    path: `${cartPath}/revoke`,
    scope: "catalog:read",
    body: "PublicCartTransitionRequest",
    response: "PublicCartResponse",
  },
  getStorefrontOrder: {
    ...order,
    path: orderPath,
    response: "StorefrontOrderDetailResponse",
  },
  getStorefrontOrderCancellationEligibility: {
    ...order,
    path: `${orderPath}/cancellation-eligibility`,
    response: "StorefrontOrderEligibilityResponse",
  },
  getStorefrontOrderAfterSalesEligibility: {
    ...order,
    path: `${orderPath}/after-sales-eligibility`,
    response: "StorefrontAfterSalesEligibilityResponse",
  },
  listInstallationWebhooks: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
  },
  createInstallationWebhook: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookCreateRequest",
    parameters: [idempotencyKey],
  },
  getInstallationWebhookSignatureFixture: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints/{id}/signature-fixture",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: ["id path string"],
  },
  listInstallationWebhookEvents: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/events",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
  },
  replayInstallationWebhookDelivery: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/deliveries/{id}/replay",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookReplayRequest",
    parameters: ["id path string", idempotencyKey],
  },
  cancelHostedCheckoutSession: {
    method: "POST",
    path: "/api/v1/open/hosted/checkout/sessions/{sessionId}/cancel",
    stability: "stable",
    scope: "catalog:read",
    idempotency: "required",
    body: "HostedCheckoutCancelRequest",
    response: "HostedCheckoutSessionResponse",
    parameters: ["sessionId path string", idempotencyKey],
  },
};

/** What several operations share says beside it what is in their `data`. */
const nameOf = (schema: ShownSchema | undefined): string => (schema?.$ref ?? schema?.allOf?.[0]?.$ref ?? "").split("/").at(-1) ?? "";

it("has the contract's operations with their paths, scopes, stability, idempotency, parameters and schemas", () => {
  const shown = contract.operations.map((operation): [string, Row] => [
    operation.operationId,
    {
      method: operation.method,
      path: operation.path,
      stability: operation["x-stability"] as Row["stability"],
      scope: operation["x-required-scope"],
      idempotency: operation["x-idempotency"] as Row["idempotency"],
      ...(Object.keys(operation.security[0] ?? {}).length === 0 ? { isAnonymous: true } : {}),
      ...(operation.requestBody === undefined
        ? {}
        : { body: operation.requestBody.content["application/json"]?.schema.$ref.split("/").at(-1) ?? "" }),
      response: nameOf(operation.responses["200"]?.content?.["application/json"]?.schema),
      parameters: operation.parameters.map((parameter) => {
        const { name, in: place, required, schema } = "$ref" in parameter ? contract.document.components.parameters.IdempotencyKey : parameter;
        return `${name}${required ? "" : "?"} ${place} ${schema.type}`;
      }),
    },
  ]);
  expect(Object.fromEntries(shown)).toEqual(table);
  expect(contract.document.openapi).toBe("3.1.0");
});

it("declares 200 and the contract's six error statuses for every operation, and no other", () => {
  for (const { operationId, responses } of contract.operations) {
    expect({ operationId, statuses: Object.keys(responses) }).toEqual({ operationId, statuses: ["200", "400", "401", "403", "404", "409", "429"] });
    for (const [status, response] of Object.entries(responses))
      if (status !== "200") expect(response).toEqual({ $ref: `#/components/responses/Error${status}` });
  }
});

it("keeps Retry-After and the rate limit headers out: they are additive", () => {
  expect(JSON.stringify(contract.document)).not.toMatch(/Retry-After|RateLimit-Policy/i);
  expect(Object.keys(contract.document.components.headers)).toEqual(["RequestId", "ApiStability", "IdempotentReplayed", "ETag"]);
});

it("names with each status the codes that it can have over REST", () => {
  const graphOnly = new Set<string>([
    "role_not_allowed",
    "resource_not_found",
    "version_conflict",
    "already_exists",
    "still_in_use",
    "invalid_state",
    "checkout_amount_changed",
  ]);
  for (const status of [400, 401, 403, 404, 409, 429]) {
    const codes = Object.entries(failureKinds).flatMap(([code, kind]) => (kind.status === status && !graphOnly.has(code) ? [code] : []));
    const { description } = contract.document.components.responses[`Error${status}`] as { description: string };
    expect([...description.matchAll(/`([a-z0-9_]+)`/g)].map(([, code]) => code).filter((code) => code !== "retryAfterSeconds")).toEqual(codes);
  }
});

it("describes errors as they come", async () => {
  const answers = {
    400: await world().getWithKey("/api/v1/open/identity?x=1"),
    401: await world().get("/api/v1/open/identity"),
  };
  for (const [status, answer] of Object.entries(answers)) expect(contract.faultsOf("getApiKeyIdentity", Number(status), answer.body)).toEqual([]);
  const notFound = await world().get("/api/v1/catalog/merchants/lindenhof/products/none");
  expect(contract.faultsOf("getPublicMerchantProduct", 404, notFound.body)).toEqual([]);
  expect(contract.faultsOf("getPublicMerchantProduct", 404, { error: { code: "x" } })).not.toEqual([]);
});

it("shows in every schema all fields as required: answers never leave one out", () => {
  const loose: string[] = [];
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { properties, required } = value as { properties?: object; required?: string[] };
    if (properties !== undefined && path.startsWith("/schemas"))
      for (const name of Object.keys(properties)) if (!(required ?? []).includes(name)) loose.push(`${path}/${name}`);
    for (const [key, item] of Object.entries(value)) walk(item, `${path}/${key}`);
  };
  const { schemas } = contract.document.components;
  const bodies = new Set(
    contract.operations.flatMap(({ requestBody }) => requestBody?.content["application/json"]?.schema.$ref.split("/").at(-1) ?? []),
  );
  walk({ schemas: Object.fromEntries(Object.entries(schemas).filter(([name]) => !bodies.has(name))) }, "");
  expect(loose).toEqual([]);
});

it("may be read by any page and kept for a minute", async () => {
  const { headers } = await world().get("/openapi.json");
  expect(headers).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "access-control-allow-origin": "*",
    "cache-control": "public, max-age=60",
  });
});

it("passes the linter of Redocly", async () => {
  const folder = mkdtempSync(join(tmpdir(), "openapi-"));
  try {
    writeFileSync(join(folder, "openapi.json"), JSON.stringify(contract.document));
    writeFileSync(join(folder, "redocly.yaml"), "extends: [recommended]\nrules:\n  operation-4xx-response: error\n  no-server-example.com: error\n");
    const binary = new URL("../../node_modules/@redocly/cli/bin/cli.js", import.meta.url).pathname;
    const { stdout } = await promisify(execFile)(process.execPath, [binary, "lint", "openapi.json", "--format=json"], {
      cwd: folder,
      env: { PATH: process.env["PATH"], REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
      maxBuffer: 2 ** 24,
    }).catch((error: unknown) => error as { stdout: string });
    const report = JSON.parse(stdout) as { totals: { errors: number; warnings: number }; problems: { ruleId: string; message: string }[] };
    expect(report.problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
    expect(report.totals.errors).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
