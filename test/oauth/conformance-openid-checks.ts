/**
 * The checks of those modules of the OpenID Foundation's conformance suite for OpenID Connect that concern
 * OAuth, by the name of the module without the prefix `oidcc-`. The service issues no ID tokens, so a check
 * covers the rest of its module. conformance-modules.ts says what each module expects.
 */
import { expect } from "vitest";
import { createOauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  assertClient,
  authorizeUrl,
  consent,
  createAuthorizationRequest,
  expectCode,
  expectRefusal,
  expectTokens,
  type Fields,
  getCode,
  readResource,
  redeemCode,
  requestedScopes,
  requestToken,
  type SuiteClient,
} from "./conformance-driver.ts";
import type { ConformanceCheck } from "./conformance-fapi-checks.ts";
import { createBrowser, createClient, redirectUri } from "./people.ts";

/** Opens an authorization request in the browser, without PAR as OpenID Connect does. */
async function authorize(
  suite: SuiteClient,
  changed: Fields = {},
): Promise<Awaited<ReturnType<typeof consent>> & { readonly state: string | undefined }> {
  const request = await createAuthorizationRequest(suite, changed);
  return { ...(await consent(suite, authorizeUrl(request.parameters))), state: request.state };
}

/** A request with additional parameters succeeds, and the answer has none of them. */
const isAnswered =
  (changed: Fields): ConformanceCheck =>
  async ({ first }) => {
    const { url, state } = await authorize(first, changed);
    expectCode(url, state);
  };

/** A refusal that is sent to the app, with the state of the request. */
const isRefusedByRedirect =
  (changed: Fields, errors: readonly string[]): ConformanceCheck =>
  async ({ first }) => {
    const { url, state } = await authorize(first, changed);
    expect(url.href.startsWith(`${redirectUri}?`)).toBe(true);
    expect(errors).toContain(url.searchParams.get("error"));
    expect([url.searchParams.get("state"), url.searchParams.get("iss")]).toEqual([state, publicUrl]);
    expect(url.searchParams.has("code")).toBe(false);
  };

/** Checks that a page of the service names the fault, and that the browser is not sent to the app. */
async function expectFaultPage(suite: SuiteClient, changed: Fields): Promise<void> {
  const { url, text } = await authorize(suite, changed);
  expect(url.origin + url.pathname).toBe(`${publicUrl}/oauth/authorize`);
  expect(text).toContain("redirect_uri");
}

/** Returns a client of the same person, with other redirect URIs. */
const withRedirectUris = async (
  { world, person }: SuiteClient,
  redirectUris: readonly string[],
): Promise<SuiteClient> => ({
  world,
  person,
  client: await createClient(world, { authMethod: "private_key_jwt", redirectUris }),
  browser: createBrowser(world),
});

const queryUri = `${redirectUri}?foo=bar`;

/** Authorizes twice with a signed-in browser. */
async function authorizeTwice(
  suite: SuiteClient,
  changed: Fields,
): Promise<Awaited<ReturnType<typeof authorize>>> {
  const fresh = { ...suite, browser: createBrowser(suite.world) };
  const first = await authorize(fresh);
  expect(first.isSignInAsked).toBe(true);
  expectCode(first.url, first.state);
  return authorize(fresh, changed);
}

/** Departs from the suite: the server names a parameter whose meaning needs the scope openid. */
const isRefusedByName =
  (name: string, value: string): ConformanceCheck =>
  async (suites) => {
    await isRefusedByRedirect({ [name]: value }, ["invalid_request"])(suites);
    const { url } = await authorize(suites.first, { [name]: value });
    expect(url.searchParams.get("error_description")).toContain(name);
  };

const reuseCodeAfter =
  (seconds: number): ConformanceCheck =>
  async ({ world, first }) => {
    const granted = await getCode(first);
    const { access } = expectTokens(await redeemCode(granted));
    world.clock.advance(seconds * 1000);
    expectRefusal(await redeemCode(granted), ["invalid_grant"], [400]);
    expect((await readResource(granted, access)).status).toBe(401);
  };

export const openidChecks: Readonly<Record<string, ConformanceCheck>> = {
  "refresh-token": async ({ first, second }) => {
    const granted = await getCode(first);
    const { access, refresh } = expectTokens(await redeemCode(granted));
    const fields = {
      grant_type: "refresh_token",
      client_id: first.client.clientId,
      refresh_token: refresh,
    };
    const { access: next, refresh: successor } = expectTokens(await requestToken(granted, fields));
    expect(next).not.toBe(access);
    expect((await readResource(granted, next)).status).toBe(200);
    const stolen = { ...fields, client_id: second.client.clientId, refresh_token: successor };
    expectRefusal(await requestToken({ suite: second, key: granted.key }, stolen), ["invalid_grant"], [400]);
  },
  "ensure-request-without-nonce-succeeds-for-code-flow": isAnswered({ nonce: undefined }),
  "alternate-happy-flow": async ({ first }) => {
    const { parameters, state } = await createAuthorizationRequest(first, {
      scope: requestedScopes.toReversed().join(" "),
    });
    const reversed = Object.fromEntries(Object.entries(parameters).toReversed());
    expectCode((await consent(first, authorizeUrl(reversed))).url, state);
  },
  "prompt-login": async ({ first }) => {
    const { url, state, isSignInAsked } = await authorizeTwice(first, { prompt: "login" });
    expect(isSignInAsked).toBe(true);
    expectCode(url, state);
  },
  // Departs from the suite: every authorization needs a new consent.
  "prompt-none-logged-in": async ({ first }) => {
    const { url, state } = await authorizeTwice(first, { prompt: "none" });
    expect(Object.fromEntries(url.searchParams)).toMatchObject({ error: "consent_required", state });
  },
  "prompt-none-not-logged-in": async ({ first, ...suite }) => {
    const fresh = { ...first, browser: createBrowser(first.world) };
    const errors = ["login_required", "interaction_required"];
    await isRefusedByRedirect({ prompt: "none" }, errors)({ ...suite, first: fresh });
  },
  "redirect-uri-query-OK": async ({ first }) => {
    const { url, state } = await authorize(await withRedirectUris(first, [queryUri]), {
      redirect_uri: queryUri,
    });
    expect(url.href.startsWith(`${queryUri}&`)).toBe(true);
    expect([url.searchParams.get("state"), url.searchParams.has("code")]).toEqual([state, true]);
  },
  "claims-locales": isRefusedByName("claims_locales", "se"),
  "login-hint": async ({ first }) => {
    const fresh = { ...first, browser: createBrowser(first.world) };
    const { url, state } = await authorize(fresh, { login_hint: "buffy@shop.example" });
    expectCode(url, state);
  },
  "max-age-1": isRefusedByName("max_age", "1"),
  "max-age-10000": isRefusedByName("max_age", "10000"),
  "ensure-request-with-acr-values-succeeds": isRefusedByName("acr_values", "1 2"),
  "ensure-request-with-unknown-parameter-succeeds": isAnswered({ extra: "foobar" }),
  "ui-locales": isAnswered({ ui_locales: "se" }),
  "display-page": isAnswered({ display: "page" }),
  "display-popup": isAnswered({ display: "popup" }),
  "unsigned-request-object-supported-correctly-or-rejected-as-unsupported": isRefusedByRedirect(
    { request: "eyJhbGciOiJub25lIn0.e30." },
    ["request_not_supported"],
  ),
  "request-uri-unsigned-supported-correctly-or-rejected-as-unsupported": isRefusedByRedirect(
    { request_uri: "https://app.example/request.jwt" },
    ["request_uri_not_supported"],
  ),
  "server-rotate-keys": async ({ world }) => {
    const kidsOf = async (): Promise<string[]> =>
      (await world.get("/oauth/jwks")).body.keys.map(({ kid }: { kid: string }) => kid);
    const before = await kidsOf();
    const { database, app, clock } = world;
    const keys = createOauthSigningKeyProvider({ db: database.db, keyring: app.services.keyring, clock });
    await keys.rotate();
    // Processes read the keys again after some seconds.
    clock.advance(60_000);
    const after = await kidsOf();
    expect(after.length).toBeGreaterThan(before.length);
    expect(after).toEqual(expect.arrayContaining(before));
  },
  "ensure-request-with-valid-pkce-succeeds": async ({ first }) => {
    expectTokens(await redeemCode(await getCode(first)));
  },
  "ensure-client-assertion-with-iss-aud-succeeds": async ({ first }) => {
    const assertion = await assertClient(first, { claims: { aud: publicUrl } });
    expectTokens(await redeemCode(await getCode(first), { assertion }));
  },
  codereuse: reuseCodeAfter(0),
  "codereuse-30seconds": reuseCodeAfter(30),
  "ensure-redirect-uri-in-authorization-request": async ({ first }) => {
    const client = await withRedirectUris(first, [redirectUri, `${redirectUri}/second`]);
    await expectFaultPage(client, { redirect_uri: undefined });
  },
  "ensure-registered-redirect-uri": ({ first }) =>
    expectFaultPage(first, { redirect_uri: `${redirectUri}/unregistered` }),
  "redirect-uri-query-added": ({ first }) => expectFaultPage(first, { redirect_uri: queryUri }),
  "redirect-uri-query-mismatch": async ({ first }) =>
    expectFaultPage(await withRedirectUris(first, [queryUri]), { redirect_uri: `${redirectUri}?foo=baz` }),
  "redirect-uri-regfrag": async ({ world }) => {
    const answer = await world.send({
      method: "POST",
      url: "/oauth/register",
      body: { redirect_uris: ["http://127.0.0.1:33418/callback#fragment"] },
    });
    expectRefusal(answer, ["invalid_redirect_uri", "invalid_client_metadata"], [400]);
  },
  "response-type-missing": isRefusedByRedirect({ response_type: undefined }, [
    "unsupported_response_type",
    "invalid_request",
  ]),
  // Departs from the suite: RFC 6749 leaves POST to the server.
  "ensure-post-request-succeeds": async ({ world, first }) => {
    const { parameters } = await createAuthorizationRequest(first);
    const { status, headers } = await world.send({
      method: "POST",
      url: "/oauth/authorize",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: authorizeUrl(parameters).split("?")[1],
    });
    expect([status, headers["allow"]]).toEqual([405, "GET, HEAD"]);
  },
};
