/**
 * Runs all steps of a REST request on an operation that exists only in this test: an operation with a scope
 * and a body. No real operation needs all steps.
 */
import { readFileSync } from "node:fs";
import type { FastifyInstance } from "fastify";
import { buildSchema, parse } from "graphql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { buildRestOperationsAndSchemas } from "#gateway/contract.ts";
import { registerRestOperationRoutes } from "#gateway/operations.ts";
import { createMemoryRateLimiter } from "#http/rate-limiter.ts";
import { createFastifyServer } from "#http/server.ts";
import { createLog } from "#foundation/log.ts";
import { createWorld, publicUrl, type World } from "#test/support/world.ts";

const bindings = readFileSync(new URL("../../schema/rest.graphql", import.meta.url), "utf8");
const schema = buildSchema(`${bindings}
  type Query { ping: Boolean }
  type Mutation { thingSet(id: ID!, input: ThingSetRequest!): Thing }
  type Thing { id: ID! size: Int }
  input ThingSetRequest { name: String!, size: Int, parts: [PartInput!] }
  input PartInput { code: String! }`);
const document = parse(`"""Sets a thing."""
  mutation setThing($thingId: ID!, $body: ThingSetRequest!)
  @rest(
    method: PUT
    path: "/api/v1/things/{thingId}"
    tag: "Things"
    stability: CANDIDATE
    response: "ThingResponse"
    notFound: "resource_not_found"
  )
  @requires(scope: "checkout:quote") { data: thingSet(id: $thingId, input: $body) { id size } }`);

describe("an operation with a scope and a body", () => {
  let world: World;
  let server: FastifyInstance;
  const executed: Record<string, unknown>[] = [];
  beforeAll(async () => {
    world = await createWorld();
    const { operations } = buildRestOperationsAndSchemas(schema, [document]);
    server = await createFastifyServer({ publicUrl, log: createLog("silent"), proxies: 0 });
    registerRestOperationRoutes(
      server,
      {
        db: world.database.db,
        clock: world.clock,
        publicUrl,
        events: createInProcessEventEmitter(),
        responseCache: undefined,
        hasReplica: false,
        limiter: createMemoryRateLimiter(1),
        credentials: world.app.credentials,
        logRequest: () => undefined,
        execute: (call) => {
          executed.push(call.variables);
          return {
            data: {
              data: call.variables["thingId"] === "gone" ? null : { id: call.variables["thingId"], size: 1 },
            },
          };
        },
      },
      operations,
    );
  });
  afterAll(async () => {
    await server.close();
    await world[Symbol.asyncDispose]();
  });

  const put = async (
    payload: string | undefined,
    {
      key = "checkoutQuote",
      type = "application/json",
      id = "t1",
    }: { key?: keyof World["demo"]["keys"]; type?: string; id?: string } = {},
  ) => {
    executed.length = 0;
    const headers = {
      authorization: `Bearer ${world.demo.keys[key]}`,
      ...(payload === undefined ? {} : { "content-type": type }),
    };
    const response = await server.inject({
      method: "PUT",
      url: `/api/v1/things/${id}`,
      headers,
      ...(payload === undefined ? {} : { payload }),
    });
    return {
      status: response.statusCode,
      headers: response.headers,
      body: response.json(),
      executed: [...executed],
    };
  };

  it("passes its path parameter and its body as variables", async () => {
    const { status, headers, body, executed: ran } = await put('{"name":"Ada","parts":[{"code":"a"}]}');
    expect({ status, body }).toEqual({ status: 200, body: { data: { id: "t1", size: 1 } } });
    expect(ran).toEqual([{ thingId: "t1", body: { name: "Ada", parts: [{ code: "a" }] } }]);
    expect(headers).toMatchObject({
      "x-api-stability": "candidate",
      "cache-control": "no-store",
      "ratelimit-policy": '"write";q=120;w=60',
    });
  });

  it("refuses a key without the scope before it reads the body", async () => {
    for (const key of ["noScope", "catalogRead", "webhooksWrite"] as const) {
      const { status, headers, body, executed: ran } = await put("{ broken", { key });
      expect({ status, code: body.error.code, allowed: body.error.details[0].allowed, ran }).toEqual({
        status: 403,
        code: "scope_missing",
        allowed: ["checkout:quote"],
        ran: [],
      });
      expect(headers["www-authenticate"]).toContain('error="insufficient_scope", scope="checkout:quote"');
    }
  });

  const deep = `{"name":${"[".repeat(17)}${"]".repeat(17)}}`;
  it.each([
    ["no body", undefined, {}, "missing_body", undefined],
    ["broken JSON", "{", {}, "invalid_json", undefined],
    ["two members with one name", '{"sku":"a","sku":"b"}', {}, "invalid_json", undefined],
    ["another media type", "{}", { type: "text/plain" }, "unsupported_media_type", undefined],
    ["more than 64 KiB", JSON.stringify({ name: "x".repeat(64 * 1024) }), {}, "request_too_large", undefined],
    ["deeper than 16 levels", deep, {}, "invalid_json", undefined],
    ["a missing field", "{}", {}, "missing_field", ["/name"]],
    ["an unknown field", '{"name":"a","extra":1}', {}, "unknown_field", ["/extra"]],
    ["a field that sets the prototype", '{"name":"a","__proto__":{}}', {}, "unknown_field", ["/__proto__"]],
    ["a wrong type", '{"name":1}', {}, "invalid_field", ["/name"]],
    ["null for a required field", '{"name":null}', {}, "invalid_field", ["/name"]],
    ["a control character", '{"name":"a\\u0000"}', {}, "invalid_field", ["/name"]],
    ["a lone surrogate", '{"name":"a\\ud800"}', {}, "invalid_field", ["/name"]],
    [
      "several faults at once",
      '{"size":1.5,"parts":[{"code":1},{}]}',
      {},
      "missing_field",
      ["/name", "/size", "/parts/0/code", "/parts/1/code"],
    ],
  ])("refuses %s", async (_name, payload, options, code, fields) => {
    const { status, body, executed: ran } = await put(payload, options);
    expect({ status, code: body.error.code, ran }).toEqual({ status: 400, code, ran: [] });
    if (fields !== undefined)
      expect(body.error.details.map(({ field }: { field: string }) => field).toSorted()).toEqual(
        fields.toSorted(),
      );
  });

  it("lists every answer field in the document, with null for nullable fields", () => {
    const { components } = buildRestOperationsAndSchemas(schema, [document]);
    expect(components.get("Thing")).toMatchObject({
      properties: { id: { type: "string" }, size: { type: ["integer", "null"] } },
      required: ["id", "size"],
    });
  });

  it("answers 404 when the document returns null", async () => {
    const { status, body } = await put('{"name":"a"}', { id: "gone" });
    expect({ status, code: body.error.code }).toEqual({ status: 404, code: "resource_not_found" });
  });

  it("fails the start unless it has exactly one of @anonymous, @requires and @oauth", () => {
    for (const security of ["", '@anonymous(bucket: "anon-read") @requires']) {
      const text = `query x @rest(method: GET, path: "/x", tag: "X", response: "X") ${security} { data: ping
        }`;
      expect(() => buildRestOperationsAndSchemas(schema, [parse(text)])).toThrow(
        "x must have exactly one of @anonymous, @requires and @oauth.",
      );
    }
  });
});
