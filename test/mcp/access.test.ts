/** Tool calls over MCP have exactly the rights of the same requests over REST. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { openCart, openShop, type Shop } from "#soak/shop.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { connectMcpClient } from "./mcp-client.ts";

const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0" } });
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
      'resource_metadata="https://api.test/.well-known/oauth-protected-resource/mcp"',
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
    const token = await oauth.token({ claims: { aud: "https://api.test/mcp" } });
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
