/** Tool calls over MCP have exactly the rights of the same requests over REST. */
import { randomUUID } from "node:crypto";
import type { Client } from "@modelcontextprotocol/client";
import { beforeAll, describe, expect, it } from "vitest";
import { createRandomNumberGenerator, pickRandomItem } from "#demo/random.ts";
import { openCart, openShop, type Shop } from "#soak/shop.ts";
import { readContract } from "#test/support/openapi.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { connectMcpClient } from "./mcp-client.ts";

const world = useWorld("pglite", { environment: { RATE_LIMIT_SCALE: "0" } });
let shop: Shop;
beforeAll(async () => {
  shop = await openShop(world().send, world().demo);
});

const message = (name: string, args: Record<string, unknown> = {}) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args },
});

const search = { q: "tent", locale: "en", market: "DE", sort: "relevance" };
const accept = "application/json, text/event-stream";

describe("a tool call", () => {
  it("without credentials gets the challenge that names the authorization server", async () => {
    const answer = await world().send({
      method: "POST",
      url: "/mcp",
      headers: { accept },
      body: message("getApiKeyIdentity"),
    });
    expect(answer.status).toBe(401);
    expect(answer.body.error.code).toBe("credentials_missing");
    expect(answer.headers["www-authenticate"]).toContain(
      'resource_metadata="https://api.test/.well-known/oauth-protected-resource"',
    );
  });

  it("with a wrong key is refused, also for tools that need none", async () => {
    for (const name of ["getApiKeyIdentity", "searchPublicProducts"])
      expect(
        await world().send({
          method: "POST",
          url: "/mcp",
          headers: { accept, authorization: "Bearer cpk_test_unknown" },
          body: message(name, name === "searchPublicProducts" ? search : {}),
        }),
      ).toMatchObject({ status: 401 });
  });

  it("with an access token needs a DPoP proof for /mcp, once", async () => {
    const oauth = await createTokenClient(world());
    const token = await oauth.token();
    const proof = await oauth.proof({ method: "POST", url: "/mcp" }, token);
    const send = (dpop: string) =>
      world().send({
        method: "POST",
        url: "/mcp",
        headers: { accept, authorization: `DPoP ${token}`, dpop },
        body: message("getApiKeyIdentity"),
      });
    const first = await send(proof);
    expect(first.status).toBe(200);
    expect(first.text).toContain(oauth.grantId);
    expect((await send(proof)).status).toBe(401);
    const identity = await oauth.proof({ method: "GET", url: "/api/v1/open/identity" }, token);
    expect((await send(identity)).status).toBe(401);
  });

  it("repeated with its idempotency key has one effect", async () => {
    const { id, version } = await openCart(world().send, shop);
    const headers = { authorization: `Bearer ${world().demo.keys.full}` };
    const client = await connectMcpClient(world(), { headers });
    const args = {
      cartId: id,
      body: { reason: "test", expectedVersion: version },
      idempotencyKey: randomUUID(),
    };
    const [first, second] = await Promise.all([
      client.callTool({ name: "revokePublicCart", arguments: args }),
      client.callTool({ name: "revokePublicCart", arguments: args }),
    ]);
    const third = await client.callTool({ name: "revokePublicCart", arguments: args });
    await client.close();
    const texts = [first, second, third].map((result) => JSON.stringify(result.content));
    expect(texts.filter((text) => text.includes("idempotency_in_progress")).length).toBeLessThan(2);
    expect(third.isError ?? false, texts.join("\n")).toBe(false);
    const events = await world()
      .database.db.selectFrom("event")
      .select("id")
      .where("subjectId", "=", id)
      .where("type", "=", "cart.revoked")
      .execute();
    expect(events).toHaveLength(1);
  });

  it("is counted and logged as the REST operation", async () => {
    const headers = { authorization: `Bearer ${world().demo.keys.full}` };
    const client = await connectMcpClient(world(), { headers });
    world().logged.length = 0;
    await client.callTool({ name: "getApiKeyIdentity", arguments: {} });
    await client.close();
    expect(world().logged.map(({ route }) => route)).toEqual(
      expect.arrayContaining(["/api/v1/open/identity", "/mcp"]),
    );
  });
});

/** The number of hostile calls; set HOSTILE_CALLS=10000 for the number in docs/figures.md. */
const hostileCalls = Number(process.env["HOSTILE_CALLS"] ?? 1000);

/** Values that attack paths, queries, headers and ids. */
const hostileValues = (own: readonly string[], foreign: readonly string[]): readonly unknown[] => [
  ...own,
  ...foreign,
  ...[
    "..",
    ".",
    "../../identity",
    "%2e%2e%2fidentity",
    "x?locale=de",
    "x#y",
    "\u0000",
    "x\r\nx-role: admin",
    "\uD800",
  ],
  ...[
    "",
    " ",
    "*",
    "' or 1=1 --",
    "__proto__",
    "constructor",
    "a".repeat(600),
    0,
    -1,
    1e21,
    true,
    null,
    [],
    {},
  ],
];

describe("hostile tool calls", () => {
  it("get the answer that REST gives to the same key, or no request at all", async () => {
    const { operations } = await readContract(world());
    const cart = await openCart(world().send, shop);
    const { keys, orders } = world().demo;
    const random = createRandomNumberGenerator(20_261_124);
    const pick = <Item>(items: readonly Item[]): Item => pickRandomItem(random, items);
    const values = hostileValues(
      [cart.id, orders?.placed ?? ""],
      ["crt_01kr49e88wr221k56b040fn3cp", "ord_x"],
    );
    const clients = new Map<string, Client>();
    const usable: (keyof typeof keys)[] = [
      "full",
      "catalogRead",
      "checkoutQuote",
      "webhooksRead",
      "webhooksWrite",
      "noScope",
      "otherMerchant",
    ];
    for (const name of usable)
      clients.set(
        name,
        await connectMcpClient(world(), { headers: { authorization: `Bearer ${keys[name]}` } }),
      );
    const scopesOf = new Map<string, readonly string[]>();
    for (const name of usable) {
      const { body } = await world().getWithKey("/api/v1/open/identity", name);
      scopesOf.set(name, body.data?.apiKey.scopes ?? []);
    }
    let answered = 0;
    for (let call = 0; call < hostileCalls; call += 1) {
      const operation = pick(operations);
      const key = pick(usable);
      const inputNames = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
      const args: Record<string, unknown> = {};
      for (const name of [...inputNames, ...pick([[], ["locale"], ["__proto__x"], ["acceptLanguage"]])])
        args[name] = pick(values);
      if (operation.method !== "GET") {
        args["body"] = pick<unknown>([{}, { reason: "test" }, { code: "X" }, pick(values)]);
        args["idempotencyKey"] = pick<unknown>([randomUUID(), pick(values)]);
      }
      const result = await clients.get(key)?.callTool({ name: operation.operationId, arguments: args });
      const scope = operation["x-required-scope"];
      const mayCall = scope === "none" || scopesOf.get(key)?.includes(scope) === true;
      const text = JSON.stringify(result?.content);
      if (!mayCall) expect(result?.isError, `${key} ${operation.operationId} ${text}`).toBe(true);
      expect(text).not.toMatch(/internal_error|at file:|\/src\//);
      if (result?.isError !== true) answered += 1;
      if (result?.isError !== true && operation.path.includes("{cartId}"))
        expect(text, JSON.stringify(args)).toContain(cart.id);
    }
    expect(answered).toBeGreaterThan(0);
    for (const client of clients.values()) await client.close();
  });
});
