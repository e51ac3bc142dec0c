/** Refusals of the token endpoint: each returns no token and leaves the presented credential usable. */
import { randomUUID } from "node:crypto";
import { generateKeyPair, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { createClient, redirectUri } from "./people.ts";
import {
  askToken,
  createProofKey,
  letIn,
  redeem,
  refresh,
  refreshFields,
  tokenUrl,
} from "./token-requests.ts";

const world = useWorld();

describe("a code", () => {
  it.each([
    ["without its verifier", { code_verifier: undefined }, 400, "invalid_grant"],
    ["with another verifier", { code_verifier: "x".repeat(43) }, 400, "invalid_grant"],
    ["with another address", { redirect_uri: `${redirectUri}/more` }, 400, "invalid_grant"],
    ["without its address", { redirect_uri: undefined }, 400, "invalid_request"],
    ["that is another", { code: "x".repeat(43) }, 400, "invalid_grant"],
    ["of an unknown app", { client_id: "oac_00000000000000000000000000" }, 401, "invalid_client"],
    ["of no app", { client_id: undefined }, 400, "invalid_request"],
    ["with a password", { grant_type: "password" }, 400, "unsupported_grant_type"],
    ["of the app itself", { grant_type: "client_credentials" }, 400, "unsupported_grant_type"],
  ])("%s gives no token, and can still be used", async (_what, changed, status, error) => {
    const app = await letIn(world());
    const fields = Object.fromEntries(
      Object.entries({ ...app.fields, ...changed }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    );
    const answer = await redeem(world(), { fields, key: app.key });
    expect([answer.status, answer.body["error"]]).toEqual([status, error]);
    expect(Object.keys(answer.body)).not.toContain("access_token");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect((await redeem(world(), app)).status).toBe(200);
  });

  it("of another app gives no token", async () => {
    const app = await letIn(world());
    const other = await createClient(world());
    expect(
      await redeem(world(), { key: app.key, fields: { ...app.fields, client_id: other.clientId } }),
    ).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  });

  it("expires after a minute", async () => {
    const app = await letIn(world());
    world().clock.advance(60_000);
    expect(await redeem(world(), app)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  it("gives no token once the person's account is disabled", async () => {
    const app = await letIn(world());
    await world()
      .database.db.updateTable("staffAccount")
      .set({ disabledAt: world().clock.now() })
      .where("id", "=", app.person.staffId)
      .execute();
    expect(await redeem(world(), app)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });
});

describe("a proof of possession", () => {
  it("is required for a code and for a refresh token", async () => {
    const app = await letIn(world());
    expect(await askToken(world(), app.fields)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    const { body } = await redeem(world(), app);
    expect(await askToken(world(), refreshFields(app, body["refresh_token"] ?? ""))).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(await refresh(world(), app, body["refresh_token"] ?? "")).toMatchObject({ status: 200 });
  });

  it.each([
    ["another address", ["POST", `${publicUrl}/oauth/revoke`]],
    ["another host", ["POST", "https://localhost/oauth/token"]],
    ["another method", ["GET", tokenUrl]],
  ] as const)("for %s gives no token", async (_what, [method, url]) => {
    const app = await letIn(world());
    const answer = await askToken(world(), app.fields, await app.key.prove(method, url));
    expect([answer.status, answer.body["error"]]).toEqual([400, "invalid_dpop_proof"]);
  });

  it("with another key renews nothing", async () => {
    const app = await letIn(world());
    const { body } = await redeem(world(), app);
    const thief = { client: app.client, key: await createProofKey() };
    expect(await refresh(world(), thief, body["refresh_token"] ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  });
});

describe("a refresh token", () => {
  it("gives no more scopes than were granted", async () => {
    const app = await letIn(world(), { scopes: ["catalog:read"] });
    const { body } = await redeem(world(), app);
    expect(body["scope"]).toBe("catalog:read");
    const proof = await app.key.prove("POST", tokenUrl);
    const wider = await askToken(
      world(),
      { ...refreshFields(app, body["refresh_token"] ?? ""), scope: "catalog:read checkout:quote" },
      proof,
    );
    expect(wider).toMatchObject({ status: 400, body: { error: "invalid_scope" } });
  });

  it("expires after thirty days without use, and its grant after ninety days in total", async () => {
    const app = await letIn(world());
    let { body } = await redeem(world(), app);
    for (let month = 0; month < 3; month += 1) {
      world().clock.advance(29 * 86_400_000);
      ({ body } = await refresh(world(), app, body["refresh_token"] ?? ""));
      expect(body["refresh_token"]).toBeDefined();
    }
    world().clock.advance(4 * 86_400_000);
    expect(await refresh(world(), app, body["refresh_token"] ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    const idle = await letIn(world());
    const { body: first } = await redeem(world(), idle);
    world().clock.advance(31 * 86_400_000);
    expect(await refresh(world(), idle, first["refresh_token"] ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  });
});

describe("an app that authenticates with a signature", () => {
  const assertionFor = async (
    clientId: string,
    key: CryptoKey,
    changed: Readonly<Record<string, unknown>> = {},
  ): Promise<Record<string, string>> => ({
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: await new SignJWT({
      iss: clientId,
      sub: clientId,
      aud: publicUrl,
      jti: randomUUID(),
      ...changed,
    })
      .setProtectedHeader({ alg: "ES256", kid: "one" })
      .setIssuedAt()
      .setExpirationTime("1m")
      .sign(key),
  });

  it("is refused without a signature, or with another app's, a foreign or a used one", async () => {
    const client = await createClient(world(), { authMethod: "private_key_jwt" });
    const app = await letIn(world(), { client });
    const { privateKey: stranger } = await generateKeyPair("ES256");
    const key = client.privateKey ?? stranger;
    const ask = async (assertion: Record<string, string>): Promise<[number, string | undefined]> => {
      const { status, body } = await redeem(world(), {
        key: app.key,
        fields: { ...app.fields, ...assertion },
      });
      return [status, body["error"]];
    };
    expect(await ask({})).toEqual([401, "invalid_client"]);
    expect(await ask(await assertionFor(client.clientId, stranger))).toEqual([401, "invalid_client"]);
    expect(
      await ask(await assertionFor(client.clientId, key, { aud: "https://localhost/oauth/token" })),
    ).toEqual([401, "invalid_client"]);
    const good = await assertionFor(client.clientId, key);
    expect(await ask(good)).toEqual([200, undefined]);
    expect(await ask(good)).toEqual([401, "invalid_client"]);
  });
});

describe("the format of the token endpoint", () => {
  it("refuses JSON with an OAuth error, and wrong methods and addresses with its own error", async () => {
    const json = await world().send({
      method: "POST",
      url: "/oauth/token",
      body: { grant_type: "authorization_code" },
    });
    expect([json.status, json.body.error]).toEqual([400, "invalid_request"]);
    const html = await world().send({
      method: "POST",
      url: "/oauth/token",
      headers: { accept: "text/html" },
      body: {},
    });
    expect([html.status, html.headers["content-type"], html.body.error]).toEqual([
      400,
      "application/json; charset=utf-8",
      "invalid_request",
    ]);
    for (const path of ["/oauth/token", "/oauth/revoke", "/oauth/par"]) {
      const wrong = await world().send({ method: "GET", url: path });
      expect([wrong.status, wrong.body.error.code, wrong.headers["allow"]]).toEqual([
        405,
        "method_not_allowed",
        "POST, OPTIONS",
      ]);
    }
    for (const path of [
      "/oauth",
      "/oauth/me",
      "/oauth/session/end",
      "/oauth/token/introspection",
      "/session/end/confirm",
      "/.well-known/openid-configuration",
    ])
      expect((await world().get(path)).body.error.code).toBe("route_not_found");
  });

  it("has the request id in the answer and in the log", async () => {
    world().logged.length = 0;
    const { headers } = await askToken(world(), { grant_type: "authorization_code", client_id: "nobody" });
    await expect.poll(() => world().logged.length).toBe(1);
    expect(world().logged[0]).toMatchObject({
      requestId: headers.get("x-request-id"),
      route: "/oauth/token",
      method: "POST",
      status: 401,
      code: "invalid_client",
    });
  });

  it("lets browsers on the app's origin call, and no others", async () => {
    const app = await letIn(world());
    const ask = async (origin: string): Promise<[number, string | undefined]> => {
      const { status, headers } = await world().send({
        method: "POST",
        url: "/oauth/token",
        headers: {
          "content-type": "application/x-www-form-urlencoded",
          origin,
          dpop: await app.key.prove("POST", tokenUrl),
        },
        body: new URLSearchParams(app.fields).toString(),
      });
      return [status, headers["access-control-allow-origin"]];
    };
    expect(await ask("https://other.example")).toEqual([400, undefined]);
    expect(await ask("https://app.example")).toEqual([200, "https://app.example"]);
    const preflight = await world().send({
      method: "OPTIONS",
      url: "/oauth/token",
      headers: {
        origin: "https://app.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "dpop",
      },
    });
    expect([preflight.status, preflight.headers["access-control-allow-headers"]]).toEqual([204, "dpop"]);
    const plain = await world().send({ method: "OPTIONS", url: "/oauth/token" });
    expect([plain.status, plain.text, plain.headers["allow"]]).toEqual([204, "", "POST, OPTIONS"]);
  });
});
