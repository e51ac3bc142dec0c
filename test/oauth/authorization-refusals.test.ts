/**
 * Refusals of the authorization endpoint: sent to the app if its redirect address is verified, and shown to
 * the person otherwise.
 */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { createBrowser, createClient, createPerson, redirectUri, signInAndAllow } from "./people.ts";
import { askAuthorization } from "./token-requests.ts";

const world = useWorld();

it.each([
  ["no code challenge", { code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
  ["a plain code challenge", { code_challenge_method: "plain" }, "invalid_request"],
  ["a code challenge without its method", { code_challenge_method: undefined }, "invalid_request"],
  ["a code challenge that is no digest", { code_challenge: "short" }, "invalid_request"],
  ["an implicit response", { response_type: "token" }, "invalid_request"],
  ["an id token", { response_type: "id_token", nonce: "n" }, "invalid_request"],
  ["a hybrid response", { response_type: "code id_token", nonce: "n" }, "invalid_request"],
  ["no response", { response_type: "none" }, "unsupported_response_type"],
  ["an answer by a form", { response_mode: "form_post" }, "unsupported_response_mode"],
  ["an answer behind the number sign", { response_mode: "fragment" }, "invalid_request"],
  ["the scope openid", { scope: "openid catalog:read" }, "invalid_scope"],
  ["an unknown scope", { scope: "catalog:read catalog:write" }, "invalid_scope"],
  ["no state", { state: undefined }, "invalid_request"],
  ["an answer without asking anybody", { prompt: "none" }, "login_required"],
  ["another resource", { resource: "https://api.example/" }, "invalid_target"],
  ["one more resource", { resource: `${publicUrl}/graphql` }, "invalid_target"],
  ["a request object", { request: "e30.e30." }, "request_not_supported"],
  ["a request by reference", { request_uri: "https://app.example/request" }, "request_uri_not_supported"],
  [
    "an unknown pushed request",
    { request_uri: "urn:ietf:params:oauth:request_uri:unknown" },
    "invalid_request_uri",
  ],
])("the authorization endpoint sends the error %s back to the app", async (_what, changed, error) => {
  const client = await createClient(world());
  const asked = await askAuthorization(client, changed);
  const { url } = await createBrowser(world()).open(asked.url);
  expect(url).toMatch(new RegExp(`^${redirectUri}[?#]`));
  const answer = new URLSearchParams(url.slice(redirectUri.length + 1));
  expect(answer.get("error")).toBe(error);
  expect(answer.get("iss")).toBe(publicUrl);
  expect(answer.get("state")).toBe("state" in changed ? null : asked.state);
  expect(answer.get("code")).toBeNull();
});

describe("the browser is not redirected", () => {
  it.each([
    "https://other.example/callback",
    `${redirectUri}/more`,
    `${redirectUri}?more=1`,
    "https://app.example:444/callback",
    "https://app.example/Callback",
    "http://app.example/callback",
    "https://app.example@other.example/callback",
    "//app.example/callback",
    "javascript:alert(1)",
  ])("to an address that is not the app's: %s", async (address) => {
    const { url } = await askAuthorization(await createClient(world()), { redirect_uri: address });
    const shown = await createBrowser(world()).open(url);
    expect([shown.url, shown.status, shown.headers.get("content-type")]).toEqual([
      url,
      400,
      "text/html; charset=utf-8",
    ]);
    expect(shown.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(shown.headers.get("x-request-id")).toMatch(/^req_/);
    expect(shown.text).not.toContain("other.example");
  });

  it.each([
    { redirect_uri: undefined },
    { client_id: "oac_00000000000000000000000000" },
    { client_id: undefined },
  ])("to an address of an unknown or missing app: %j", async (changed) => {
    const { url } = await askAuthorization(await createClient(world()), changed);
    expect(await createBrowser(world()).open(url)).toMatchObject({ url, status: 400 });
  });

  it("to an address of a disabled app", async () => {
    const client = await createClient(world());
    await world()
      .database.db.updateTable("oauthClient")
      .set({ disabledAt: world().clock.now() })
      .where("id", "=", client.clientId)
      .execute();
    const { url } = await askAuthorization(client);
    expect(await createBrowser(world()).open(url)).toMatchObject({ url, status: 400 });
  });
});

it("the authorization endpoint redirects a native app to any port of its loopback address", async () => {
  const { email } = await createPerson(world());
  const client = await createClient(world(), { redirectUris: ["http://127.0.0.1/callback"] });
  const { url } = await askAuthorization(client, { redirect_uri: "http://127.0.0.1:51234/callback" });
  const answer = await signInAndAllow(createBrowser(world()), url, { email, scopes: ["catalog:read"] });
  expect([answer.origin, answer.pathname, answer.searchParams.has("code")]).toEqual([
    "http://127.0.0.1:51234",
    "/callback",
    true,
  ]);
  for (const other of [
    "http://localhost:51234/callback",
    "http://127.0.0.1:51234/other",
    "http://127.0.0.2:51234/callback",
  ]) {
    const { url: wrong } = await askAuthorization(client, { redirect_uri: other });
    expect(await createBrowser(world()).open(wrong)).toMatchObject({ url: wrong, status: 400 });
  }
});

it("the authorization endpoint accepts a pushed request once", async () => {
  const { email } = await createPerson(world());
  const client = await createClient(world());
  const asked = await askAuthorization(client);
  const pushed = await world().send({
    method: "POST",
    url: "/oauth/par",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URL(asked.url).search.slice(1),
  });
  expect([pushed.status, pushed.body.expires_in]).toEqual([201, 60]);
  const query = new URLSearchParams({ client_id: client.clientId, request_uri: pushed.body.request_uri });
  const url = `${publicUrl}/oauth/authorize?${query}`;
  const answers = [];
  for (let time = 0; time < 2; time += 1)
    answers.push(
      await signInAndAllow(createBrowser(world()), url, { email, scopes: ["catalog:read"] }).catch(String),
    );
  const [first, second] = answers as [URL, URL];
  expect(first.searchParams.has("code")).toBe(true);
  expect(String(second)).not.toContain("code=");
});
