/** The roles that may call each root field: every field with every role, and refusals without a token. */
import { execute, parse } from "graphql";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toFailure } from "#foundation/failure.ts";
import { createGraphqlContext } from "#graph/context.ts";
import graph from "#graph/schema.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { roleCalls } from "./role-calls.ts";
import { allowedRoles, allRoles, pageFields } from "./role-table.ts";

const mutations = Object.keys(graph.getMutationType()?.getFields() ?? {});
const fields = [...Object.keys(graph.getQueryType()?.getFields() ?? {}), ...mutations];

/** Checks that the message of a refused call names the field and the roles that may use the field. */
function requireRefusalText({ field, role, message }: Record<"field" | "role" | "message", string>): void {
  // Storefronts may use these lists for one buyer; the message says how.
  if (role === "storefront" && ["carts", "orders"].includes(field)) return;
  expect(message).toContain(`.${field}.`);
  const [, named = ""] = / Roles: (.+)\.$/.exec(message) ?? [];
  const roles = (allowedRoles[field] ?? []).map((name) => name.toUpperCase());
  expect(named.split(", ")).toEqual(expect.arrayContaining(roles));
}

describe("roles", () => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it("are defined for every root field", () => {
    expect(fields.toSorted()).toEqual(Object.keys(allowedRoles).toSorted());
    expect(fields.toSorted()).toEqual(Object.keys(roleCalls).toSorted());
  });

  const cases = fields.flatMap((field) =>
    allRoles.map((role) => ({ field, role, isAllowed: allowedRoles[field]?.includes(role) === true })),
  );

  it.each(cases)("$field as $role: $isAllowed", async ({ field, role, isAllowed }) => {
    const before = await rowCount(world);
    const { status, body } = await world.graphql(
      `${mutations.includes(field) ? "mutation" : "query"} { ${roleCalls[field]} }`,
      { token: role },
    );
    const codes = (body.errors ?? []).map((error: { extensions: { code: string } }) => error.extensions.code);
    if (isAllowed) {
      expect(codes).not.toContain("role_not_allowed");
      expect(codes).not.toContain("internal_error");
    } else {
      expect({ status, codes }).toEqual({ status: 403, codes: ["role_not_allowed"] });
      requireRefusalText({ field, role, message: String(body.errors[0].message) });
    }
    // Refused calls and calls with unknown ids write nothing. Only appCreate can succeed.
    if (!(field === "appCreate" && isAllowed)) expect(await rowCount(world)).toEqual(before);
  });

  it.each(fields.map((field) => ({ field, isAllowed: pageFields.includes(field) })))(
    "$field as the buyer on the page of a checkout: $isAllowed",
    async ({ field, isAllowed }) => {
      const before = await rowCount(world);
      const viewer = {
        kind: "buyer",
        merchantId: world.demo.merchants.first.id,
        sessionId: "chs_none",
        cartId: "cart_none",
      } as const;
      const contextValue = createGraphqlContext(world.app.services, { viewer, requestId: "req_roles" });
      const source = `${mutations.includes(field) ? "mutation" : "query"} { ${roleCalls[field]?.replace(/merchantId: "[^"]*"/, `merchantId: "${world.demo.merchants.first.id}"`)} }`;
      const { errors = [] } = await execute({ schema: graph, document: parse(source), contextValue });
      const codes = errors.map((error) => toFailure(error).code);
      if (isAllowed) expect(codes).toEqual(mutations.includes(field) ? ["checkout_session_not_found"] : []);
      else expect(codes).toEqual(["role_not_allowed"]);
      expect(await rowCount(world)).toEqual(before);
    },
  );

  it("require a token: without a token or with an API key, the graph answers 401", async () => {
    for (const token of [null, world.demo.keys.full, "nonsense"]) {
      const { status, body, headers } = await world.graphql("{ viewer { role } }", { token });
      expect(status).toBe(401);
      expect(body.errors[0].extensions.code).toBe(token === null ? "credentials_missing" : "api_key_invalid");
      expect(headers["www-authenticate"]).toMatch(/^Bearer realm=/);
    }
  });
});

async function rowCount({ database: { db } }: World): Promise<unknown> {
  const counts = [
    "merchant",
    "app",
    "installation",
    "api_key",
    "internal_token",
    "trusted_document",
    "staff_account",
    "oauth_grant",
    "audit_entry",
    "product",
    "variant",
    "price",
    "category",
    "market",
    "tax_rate",
    "policy",
    "media",
    "stock_movement",
    "promotion",
    "promotion_code",
    "cart",
    "cart_line",
    "cart_promotion",
    "hosted_checkout_session",
    "sales_order",
    "payment",
    "refund",
    "fulfillment",
    "order_return",
    "warranty_registration",
    "personal_data",
    "webhook_endpoint",
    "webhook_secret",
    "webhook_delivery",
    "event",
    "idempotency_record",
  ]
    .map((table) => `(select count(*) from ${table}) as ${table}`)
    .join(", ");
  const statement = sql.raw(`select ${counts}, (select sum(catalog_version) from merchant) as catalog`);
  return (await statement.execute(db)).rows[0];
}
