/**
 * AI agents get access without an operator: they register themselves or have a metadata document, and a staff
 * member consents. Their bearer tokens are valid only at /mcp.
 */
import { refreshRetryMs } from "#oauth/refresh-rotation.ts";
import { decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { disableOauthClient } from "#access/oauth/oauth-clients.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createBrowser, createClient, createPerson, password, signInAndAllow } from "#test/oauth/people.ts";
import { askAuthorization, askToken, letIn, redeem } from "#test/oauth/token-requests.ts";
import { expectError } from "#test/support/expect-error.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  agentRedirectUri,
  callTool,
  connectAgent,
  createMetadataDocument,
  mcpUrl,
  register,
} from "./agents.ts";

const documentUrl = "https://agent.example/oauth/client.json";
/** The answers of the hosts of metadata documents, by URL. */
const documents = new Map<string, () => Response>();
const fetched: string[] = [];
const world = useWorld("postgres", {
  fetchDocument: (url) => {
    fetched.push(url);
    const answer = documents.get(url);
    return answer === undefined ? Promise.reject(new Error("unreachable")) : Promise.resolve(answer());
  },
});
const registration = { client_name: "Agent <b>", redirect_uris: [agentRedirectUri] };

/** Registers an agent and lets a person allow it; returns the form fields that redeem the code. */
async function allowAgent(changed: Readonly<Record<string, string | undefined>> = {}) {
  const { body: client } = await register(world(), registration);
  const asked = await askAuthorization(
    { clientId: client.client_id, appId: "", appName: "", privateKey: null },
    { redirect_uri: agentRedirectUri, resource: mcpUrl, ...changed },
  );
  const person = await createPerson(world());
  const answer = await signInAndAllow(createBrowser(world()), asked.url, {
    email: person.email,
    scopes: ["catalog:read"],
  });
  return {
    clientId: String(client.client_id),
    answer,
    fields: {
      grant_type: "authorization_code",
      client_id: String(client.client_id),
      code: answer.searchParams.get("code") ?? "",
      redirect_uri: agentRedirectUri,
      code_verifier: asked.verifier,
    },
  };
}

const bearer = (token: string | undefined) => ({ authorization: `Bearer ${token}` });

/** Opens an authorization request and returns the page that refuses it. */
async function refusal(clientId: string, changed: Readonly<Record<string, string | undefined>> = {}) {
  const asked = await askAuthorization(
    { clientId, appId: "", appName: "", privateKey: null },
    { redirect_uri: agentRedirectUri, ...changed },
  );
  return createBrowser(world()).open(asked.url);
}

describe("an agent that registers itself", () => {
  it("connects with the flow of the official client and calls tools", async () => {
    const { client, clientId, tokens } = await connectAgent(world());
    const { structuredContent } = await client.callTool({ name: "getApiKeyIdentity", arguments: {} });
    await client.close();
    expect(structuredContent).toMatchObject({
      data: { credential: "oauth", oauthGrant: { clientId }, app: { name: "Agent <b>", publisher: null } },
    });
    expect(tokens).toMatchObject({ token_type: "Bearer", expires_in: 300 });
    const described = await callTool(world(), bearer(tokens.access_token), "describeOAuthAuthorization");
    expect(described.text).toContain(`${publicUrl}/oauth/token`);
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: mcpUrl,
      iss: publicUrl,
      client_id: clientId,
    });
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty("cnf");
  });

  it("is stored as a client when a person allows it, not before", async () => {
    const rows = () =>
      world()
        .database.db.selectFrom("oauthClient")
        .select("id")
        .where("registration", "=", "dynamic")
        .execute();
    const before = (await rows()).length;
    await register(world(), registration);
    expect(await rows()).toHaveLength(before);
    const { clientId } = await allowAgent();
    expect((await rows()).map(({ id }) => id)).toContain(clientId);
  });

  it("is a public client for agents, whatever it asks for", async () => {
    const { status, body } = await register(world(), {
      ...registration,
      client_name: " Ag\u202Eent\n ",
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["client_credentials"],
      registration: "operator",
      scope: "admin",
      jwks_uri: "https://internal.example/jwks",
      logo_uri: "https://agent.example/logo.png",
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      client_id: expect.stringMatching(/^oac_/),
      client_name: "Agent",
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      registration: "dynamic",
    });
    for (const name of ["client_secret", "jwks_uri", "logo_uri", "registration_access_token"])
      expect(body).not.toHaveProperty(name);
  });

  it.each([
    ["no redirect URI", []],
    ["http elsewhere", ["http://agent.example/callback"]],
    ["a private scheme", ["com.example.agent:/callback"]],
    ["a script", ["javascript:alert(1)"]],
    ["a fragment", ["https://agent.example/callback#x"]],
    ["a password", ["https://user:password@agent.example/callback"]],
    ["eleven redirect URIs", Array.from({ length: 11 }, (_, index) => `https://agent.example/${index}`)],
    ["one wrong among others", [agentRedirectUri, "http://10.0.0.1/callback"]],
    ["a number", [1]],
  ])("may not register with %s", async (_name, uris) => {
    const { status, body } = await register(world(), { ...registration, redirect_uris: uris });
    expect([status, body.error]).toEqual([400, "invalid_redirect_uri"]);
  });

  it("expires after a day without consent", async () => {
    const { body } = await register(world(), registration);
    expect((await refusal(body.client_id)).text).toContain("Sign in");
    world().clock.advance(86_400_001);
    const page = await refusal(body.client_id);
    // oidc-provider uses the machine's clock, from which this clock must not differ in the other tests.
    world().clock.advance(-86_400_001);
    expect([page.status, page.text]).toEqual([400, expect.stringContaining("invalid_client")]);
  });

  it("is shown with a warning and the place to which the browser returns", async () => {
    const { body } = await register(world(), registration);
    const { email } = await createPerson(world());
    const browser = createBrowser(world());
    const asked = await askAuthorization(
      { clientId: body.client_id, appId: "", appName: "", privateKey: null },
      { redirect_uri: agentRedirectUri },
    );
    const page = await browser.submit(await browser.open(asked.url), { email, password, action: "sign-in" });
    expect(page.text).toContain("Agent &lt;b&gt;");
    expect(page.text).toContain("This AI agent registered itself.");
    expect(page.text).toContain("Nobody has verified its name.");
    expect(page.text).toContain("<strong>127.0.0.1:33418</strong>");
  });
});

describe("the token of an agent", () => {
  it("is refused over REST and at /graphql", async () => {
    const { fields } = await allowAgent();
    const { body } = await askToken(world(), fields);
    expect((await callTool(world(), bearer(body["access_token"]))).status).toBe(200);
    for (const scheme of ["Bearer", "DPoP"])
      for (const url of ["/api/v1/open/identity", "/api/v1/oauth/authorize"]) {
        const answer = await world().get(url, { authorization: `${scheme} ${body["access_token"]}` });
        expect([answer.status, answer.body.error.code]).toEqual([
          401,
          scheme === "DPoP" ? "dpop_proof_missing" : "oauth_token_invalid",
        ]);
      }
    const graph = await world().send({
      method: "POST",
      url: "/graphql",
      headers: bearer(body["access_token"]),
      body: { query: "{ viewer { credential } }" },
    });
    expect(graph.status).toBe(401);
  });

  it("is never issued for the REST API", async () => {
    const { answer } = await allowAgent({ resource: `${publicUrl}/api` }).catch((error: unknown) => ({
      answer: error,
    }));
    expect(String(answer)).toContain("error=invalid_target");
    const { fields } = await allowAgent();
    const { status, body } = await askToken(world(), { ...fields, resource: `${publicUrl}/api` });
    expect([status, body["error"]]).toEqual([400, "invalid_target"]);
  });

  it("is for /mcp also if the agent names no resource", async () => {
    const { fields } = await allowAgent({ resource: undefined });
    const { body } = await askToken(world(), fields);
    expect(decodeJwt(body["access_token"] ?? "").aud).toBe(mcpUrl);
  });

  it("is not issued without the PKCE verifier, or for another redirect URI", async () => {
    for (const wrong of [{ code_verifier: "x".repeat(43) }, { redirect_uri: "http://127.0.0.1:1/other" }]) {
      const { fields } = await allowAgent();
      const { status, body } = await askToken(world(), { ...fields, ...wrong });
      expect([status, body["error"]]).toEqual([400, "invalid_grant"]);
    }
    const { body } = await register(world(), registration);
    const page = await refusal(body.client_id, { code_challenge: undefined });
    expect(page.url).toContain("error=invalid_request");
    const elsewhere = await refusal(body.client_id, { redirect_uri: "https://evil.example/callback" });
    expect([elsewhere.status, elsewhere.url.startsWith(publicUrl)]).toEqual([400, true]);
  });

  it("has only the scopes that the person allowed", async () => {
    const { fields } = await allowAgent();
    const { body } = await askToken(world(), fields);
    expect(body["scope"]).toBe("catalog:read");
    const answer = await callTool(world(), bearer(body["access_token"]), "listInstallationWebhooks");
    expect(answer.text).toContain("scope_missing");
  });

  it("ends with its grant, and its refresh token works once", async () => {
    const { clientId, fields } = await allowAgent();
    const { body: first } = await askToken(world(), fields);
    const renewal = (token: string | undefined) =>
      askToken(world(), { grant_type: "refresh_token", client_id: clientId, refresh_token: token ?? "" });
    const second = await renewal(first["refresh_token"]);
    expect(second.body).toMatchObject({ token_type: "Bearer", scope: "catalog:read" });
    expect((await callTool(world(), bearer(second.body["access_token"]))).status).toBe(200);
    // For a minute, a refresh token can be sent again, because the answer may have been lost.
    world().clock.advance(refreshRetryMs + 1_000);
    expect((await renewal(first["refresh_token"])).body).toMatchObject({ error: "invalid_grant" });
    expectError(await callTool(world(), bearer(second.body["access_token"])), {
      status: 401,
      code: "oauth_token_invalid",
    });
  });

  it("expires, and ends when an operator disables the client", async () => {
    const { clientId, fields } = await allowAgent();
    const { body } = await askToken(world(), fields);
    await runInTransaction(world().database.db, (transaction) =>
      disableOauthClient(transaction, { merchantId: null, now: world().clock.now() }, clientId),
    );
    expectError(await callTool(world(), bearer(body["access_token"])), {
      status: 401,
      code: "oauth_token_invalid",
    });
    expect((await refusal(clientId)).text).toContain("invalid_client");
    // oidc-provider uses the machine's clock. The clock of this test starts at the time of the demo data, so
    // it is behind by minutes in a long run.
    const { at } = world().clock;
    world().clock.at = new Date(Date.now() + 600_000);
    const late = await callTool(world(), bearer(body["access_token"]));
    world().clock.at = at;
    expectError(late, { status: 401, code: "oauth_token_expired" });
  });
});

describe("the MCP server", () => {
  it("names its metadata in the challenge, from which clients find the authorization server", async () => {
    const { headers } = await callTool(world(), {});
    const url = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
    expect(headers["www-authenticate"]).toMatch(/^Bearer /);
    expect(headers["www-authenticate"]).toContain(`resource_metadata="${url}"`);
    const { body } = await world().get(new URL(url).pathname);
    expect(body).toMatchObject({
      resource: mcpUrl,
      authorization_servers: [publicUrl],
      dpop_bound_access_tokens_required: false,
    });
    expect((await world().get("/.well-known/oauth-authorization-server")).body).toMatchObject({
      registration_endpoint: `${publicUrl}/oauth/register`,
      client_id_metadata_document_supported: true,
    });
  });

  it("refuses a token for the REST API or for another service, and a bound token without a proof", async () => {
    const oauth = await createTokenClient(world());
    for (const aud of [`${publicUrl}/api`, "https://other.example/mcp", publicUrl]) {
      const token = await oauth.token({ claims: { aud } });
      const dpop = await oauth.proof({ method: "POST", url: "/mcp" }, token);
      expectError(await callTool(world(), { authorization: `DPoP ${token}`, dpop }), {
        status: 401,
        code: "oauth_token_invalid",
      });
      const unbound = await oauth.token({ claims: { aud, cnf: undefined } });
      expect((await callTool(world(), bearer(unbound))).status).toBe(401);
    }
    const bound = await oauth.token({ claims: { aud: mcpUrl } });
    const answer = await callTool(world(), bearer(bound));
    expect([answer.status, answer.body.error.message]).toEqual([
      401,
      expect.stringContaining("The access token is bound to a key"),
    ]);
  });

  it("gives apps of operators tokens for /mcp that are bound to their key", async () => {
    const app = await createClient(world());
    const allowed = await letIn(world(), { client: app });
    expect((await redeem(world(), allowed)).body["token_type"]).toBe("DPoP");
    const asked = await askAuthorization(app, { resource: mcpUrl });
    const person = await createPerson(world());
    const answer = await signInAndAllow(createBrowser(world()), asked.url, {
      email: person.email,
      scopes: ["catalog:read"],
    });
    const code = answer.searchParams.get("code") ?? "";
    const fields = { ...allowed.fields, code, code_verifier: asked.verifier };
    expect((await askToken(world(), fields)).body).toMatchObject({ error: "invalid_grant" });
  });
});

describe("an agent with a metadata document", () => {
  const publish = (changed: object = {}, url = documentUrl): void => {
    documents.set(url, () => Response.json(createMetadataDocument(url, changed)));
  };

  it("connects with the flow of the official client; the document's host is its publisher", async () => {
    publish();
    const { client, clientId } = await connectAgent(world(), { metadataUrl: documentUrl });
    expect(clientId).toBe(documentUrl);
    const { structuredContent } = await client.callTool({ name: "getApiKeyIdentity", arguments: {} });
    await client.close();
    expect(structuredContent).toMatchObject({
      data: { app: { name: "Document agent", publisher: "agent.example" } },
    });
    const again = await connectAgent(world(), { metadataUrl: documentUrl });
    await again.client.close();
    const rows = await world()
      .database.db.selectFrom("oauthClient")
      .select("id")
      .where("metadataUrl", "=", documentUrl)
      .execute();
    expect(rows).toEqual([{ id: expect.stringMatching(/^oac_/) }]);
  });

  it.each([
    ["another client_id", { client_id: "https://other.example/client.json" }],
    ["a secret", { client_secret: "x" }],
    ["a shared secret", { token_endpoint_auth_method: "client_secret_basic" }],
    ["a redirect URI elsewhere without TLS", { redirect_uris: ["http://agent.example/callback"] }],
    ["more than 5 KiB", { client_name: "x".repeat(6000) }],
  ])("is refused if its document has %s", async (name, changed) => {
    const url = `https://agent.example/${encodeURIComponent(name)}.json`;
    publish(changed, url);
    const page = await refusal(url);
    expect([page.status, page.text]).toEqual([400, expect.stringMatching(/invalid_(client|redirect)/)]);
  });

  it("is refused if the document is a redirect, not JSON, or cannot be fetched", async () => {
    const answers: readonly (() => Response)[] = [
      () => new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } }),
      () => new Response("<html>"),
      () => Response.json([]),
      () => new Response("{}", { status: 500 }),
    ];
    for (const [index, answer] of answers.entries()) {
      const url = `https://agent.example/answer-${index}.json`;
      documents.set(url, answer);
      expect((await refusal(url)).text).toContain("invalid_client");
    }
    expect((await refusal("https://agent.example/missing.json")).text).toContain("invalid_client");
    expect(fetched).not.toContain("http://169.254.169.254/");
  });

  it("cannot make itself a client that an operator created", async () => {
    const url = "https://agent.example/operator.json";
    publish({ registration: "operator" }, url);
    const asked = await askAuthorization(
      { clientId: url, appId: "", appName: "", privateKey: null },
      { redirect_uri: agentRedirectUri, resource: `${publicUrl}/api` },
    );
    expect((await createBrowser(world()).open(asked.url)).url).toContain("error=invalid_target");
  });

  it("is refused after an operator has disabled it", async () => {
    const url = "https://agent.example/disabled.json";
    publish({}, url);
    const { client } = await connectAgent(world(), { metadataUrl: url });
    await client.close();
    const { id } = await world()
      .database.db.selectFrom("oauthClient")
      .select("id")
      .where("metadataUrl", "=", url)
      .executeTakeFirstOrThrow();
    await runInTransaction(world().database.db, (transaction) =>
      disableOauthClient(transaction, { merchantId: null, now: world().clock.now() }, id),
    );
    expect((await refusal(url)).text).toContain("invalid_client");
  });
});
