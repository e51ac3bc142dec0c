/**
 * The checks of the modules of the OpenID Foundation's conformance suite for the FAPI 2.0 Security Profile,
 * by the name of the module without the prefix `fapi2-security-profile-final-`. conformance-modules.ts says
 * what each module expects.
 */
import { generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import { expect } from "vitest";
import { publicUrl, type World } from "#test/support/world.ts";
import {
  assertClient,
  authorizeUrl,
  codeFields,
  consent,
  createAuthorizationRequest,
  createDpopKey,
  expectCode,
  expectRefusal,
  expectTokens,
  type Fields,
  getCode,
  parUrl,
  push,
  pushedUrl,
  readResource,
  realSeconds,
  redeemCode,
  requestedScopes,
  requestToken,
  resourcePath,
  type SuiteClient,
  tokenUrl,
} from "./conformance-driver.ts";
import { checkDpopProofRefusals } from "./conformance-dpop-checks.ts";
import { redirectUri } from "./people.ts";

export interface SuiteWorld {
  readonly world: World;
  readonly first: SuiteClient;
  readonly second: SuiteClient;
}

export type ConformanceCheck = (suite: SuiteWorld) => Promise<void>;

const clientErrors = ["invalid_client", "invalid_request"];
/** The errors that RFC 9449 allows for a missing or unsuitable proof at the token endpoint. */
const proofErrors = ["invalid_request", "invalid_grant", "invalid_dpop_proof"];

/** A flow in which the proofs have the given age, at the PAR, token and resource endpoints. */
async function runFlowWithProofs({ first }: SuiteWorld, ageSeconds: number): Promise<void> {
  const key = await createDpopKey();
  const iat = realSeconds() - ageSeconds;
  const request = await createAuthorizationRequest(first);
  const proof = await key.prove({ method: "POST", url: parUrl }, { claims: { iat } });
  const pushed = await push(first, request, { proof });
  expect(pushed.status).toBe(201);
  const { url } = await consent(first, pushedUrl(first, pushed));
  const granted = { suite: first, key, code: expectCode(url, request.state), verifier: request.verifier };
  const at = await key.prove({ method: "POST", url: tokenUrl }, { claims: { iat } });
  const { access } = expectTokens(await redeemCode(granted, { proof: at }));
  const worldIat = Math.floor(first.world.clock.now().getTime() / 1000) - ageSeconds;
  const atResource = await key.prove(
    { method: "GET", url: publicUrl + resourcePath, token: access },
    { claims: { iat: worldIat } },
  );
  expect((await readResource(granted, access, { proof: atResource })).status).toBe(200);
}

/** The PAR endpoint refuses a request with the changed parameters. */
const isRefusedAtPar =
  (changed: Fields, errors: readonly string[] = ["invalid_request"]): ConformanceCheck =>
  async ({ first }) =>
    expectRefusal(await push(first, await createAuthorizationRequest(first, changed)), errors, [400]);

/** An endpoint refuses a client assertion with the changed claims. */
const isAssertionRefused =
  (endpoint: "par" | "token", claims: () => Readonly<Record<string, unknown>>): ConformanceCheck =>
  async ({ first }) => {
    const assertion = await assertClient(first, { claims: claims() });
    const answer =
      endpoint === "par"
        ? await push(first, await createAuthorizationRequest(first), { assertion })
        : await redeemCode(await getCode(first), { assertion });
    expectRefusal(answer, clientErrors);
  };

/** The PAR endpoint refuses a client assertion with another audience, and names the claim. */
const isAudienceRefused =
  (aud: string | readonly string[]): ConformanceCheck =>
  async ({ first }) => {
    const assertion = await assertClient(first, { claims: { aud } });
    const answer = await push(first, await createAuthorizationRequest(first), { assertion });
    expectRefusal(answer, ["invalid_client"], [401]);
    expect(answer.body.error_description).toContain(`'aud' of the client_assertion must be`);
  };

/** The token endpoint refuses a code if fields of the request are changed. */
const isCodeRefused =
  (changed: Fields): ConformanceCheck =>
  async ({ first }) =>
    expectRefusal(await redeemCode(await getCode(first), { changed }), ["invalid_grant"], [400]);

const verifyMetadata: ConformanceCheck = async ({ world }) => {
  const { status, body } = await world.get("/.well-known/oauth-authorization-server");
  expect([status, body.issuer]).toEqual([200, publicUrl]);
  expect(body).toMatchObject({
    response_types_supported: expect.arrayContaining(["code"]),
    authorization_response_iss_parameter_supported: true,
    pushed_authorization_request_endpoint: parUrl,
    token_endpoint: tokenUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    jwks_uri: `${publicUrl}/oauth/jwks`,
    code_challenge_methods_supported: expect.arrayContaining(["S256"]),
    token_endpoint_auth_methods_supported: expect.arrayContaining(["private_key_jwt"]),
  });
  // The algorithms that FAPI 2.0 section 5.4 permits.
  const permitted = new Set(["PS256", "ES256", "EdDSA", "Ed25519"]);
  for (const name of [
    "dpop_signing_alg_values_supported",
    "token_endpoint_auth_signing_alg_values_supported",
  ])
    expect(body[name].filter((alg: string) => !permitted.has(alg))).toEqual([]);
  for (const scope of body.scopes_supported) expect(scope).toMatch(/^[\x21\x23-\x5B\x5D-\x7E]+$/);
  const { body: jwks } = await world.get("/oauth/jwks");
  for (const jwk of jwks.keys) expect(jwk).toMatchObject({ kid: expect.any(String), use: "sig" });
};

const runHappyFlow: ConformanceCheck = async ({ first, second }) => {
  const [one, two] = [await getCode(first), await getCode(second)];
  const [{ access }, { access: other }] = [
    expectTokens(await redeemCode(one)),
    expectTokens(await redeemCode(two)),
  ];
  expect(other).not.toBe(access);
  for (const [granted, token] of [
    [one, access],
    [two, other],
  ] as const)
    expect((await readResource(granted, token)).status).toBe(200);
  // The token is bound to the key of its client.
  expect((await readResource(two, access)).status).toBe(401);
};

const useRefreshTokens: ConformanceCheck = async ({ world, first, second }) => {
  const granted = await getCode(first);
  const { refresh } = expectTokens(await redeemCode(granted));
  const fields = (token: string): Fields => ({
    grant_type: "refresh_token",
    client_id: first.client.clientId,
    refresh_token: token,
    scope: requestedScopes.join(" "),
  });
  // The client authenticates itself, so the key of its proofs may change.
  const renewed = { suite: first, key: await createDpopKey() };
  const { access, refresh: next } = expectTokens(await requestToken(renewed, fields(refresh)));
  expect((await readResource(renewed, access)).status).toBe(200);
  world.clock.advance(31_000);
  const retried = { suite: first, key: await createDpopKey() };
  const { refresh: latest } = expectTokens(await requestToken(retried, fields(refresh)));
  expect(latest).toBe(next);
  expectRefusal(await requestToken(retried, fields(latest), { assertion: {} }), [
    "invalid_client",
    "invalid_grant",
    "invalid_request",
  ]);
  expectRefusal(await requestToken(retried, fields(latest), { proof: null }), proofErrors, [400]);
  const foreign = { suite: second, key: retried.key };
  const stolen = { ...fields(latest), client_id: second.client.clientId };
  expectRefusal(await requestToken(foreign, stolen), ["invalid_grant"], [400]);
};

const reuseCode: ConformanceCheck = async ({ first }) => {
  const granted = await getCode(first);
  const { access } = expectTokens(await redeemCode(granted));
  expectRefusal(await redeemCode(granted), ["invalid_grant"], [400]);
  expect((await readResource(granted, access)).status).toBe(401);
};

/** Opens a pushed request in the browser and does nothing there; returns its address. */
async function pushAndOpen(suite: SuiteClient): Promise<{ url: string; state: string | undefined }> {
  const request = await createAuthorizationRequest(suite);
  const pushed = await push(suite, request);
  const url = pushedUrl(suite, pushed);
  await suite.browser.open(url);
  return { url, state: request.state };
}

export const fapiChecks: Readonly<Record<string, ConformanceCheck>> = {
  "discovery-end-point-verification": verifyMetadata,
  "happy-flow": runHappyFlow,
  "user-rejects-authentication": async ({ first }) => {
    const request = await createAuthorizationRequest(first);
    const { url } = await consent(first, pushedUrl(first, await push(first, request)), "deny");
    expect(url.href.startsWith(`${redirectUri}?`)).toBe(true);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      error: "access_denied",
      state: request.state,
      iss: publicUrl,
    });
    expect(url.searchParams.has("code")).toBe(false);
  },
  // Departs from the suite: `state` is required, and its absence is named.
  "ensure-authorization-request-without-state-success": async ({ first }) => {
    const answer = await push(first, await createAuthorizationRequest(first, { state: undefined }));
    expectRefusal(answer, ["invalid_request"], [400]);
    expect(answer.body.error_description).toContain("'state'");
  },
  "ensure-other-scope-order-succeeds": async ({ first }) => {
    const granted = await getCode(first, { changed: { scope: requestedScopes.toReversed().join(" ") } });
    expectTokens(await redeemCode(granted));
  },
  "access-token-type-header-case-sensitivity": async ({ first }) => {
    const granted = await getCode(first);
    const { access } = expectTokens(await redeemCode(granted));
    for (const scheme of ["dpop", "DPOP", "dPoP"])
      expect((await readResource(granted, access, { scheme })).status).toBe(200);
  },
  "check-dpop-proof-nbf-exp": async ({ first }) => {
    const granted = await getCode(first);
    const at = realSeconds();
    const claims = { nbf: at, exp: at + 300 };
    const proof = await granted.key.prove({ method: "POST", url: tokenUrl }, { claims });
    const { access } = expectTokens(await redeemCode(granted, { proof }));
    const now = Math.floor(first.world.clock.now().getTime() / 1000);
    const atResource = await granted.key.prove(
      { method: "GET", url: publicUrl + resourcePath, token: access, at: now },
      { claims: { nbf: now, exp: now + 300 } },
    );
    expect((await readResource(granted, access, { proof: atResource })).status).toBe(200);
  },
  "ensure-dpopproof-with-iat-10seconds-before-succeeds": (suite) => runFlowWithProofs(suite, 10),
  "ensure-dpopproof-with-iat-10seconds-after-succeeds": (suite) => runFlowWithProofs(suite, -10),
  "ensure-mismatched-dpop-jkt-fails": async ({ first }) => {
    const [key, other] = [await createDpopKey(), await createDpopKey()];
    const request = await createAuthorizationRequest(first, { dpop_jkt: other.thumbprint });
    const proof = await key.prove({ method: "POST", url: parUrl });
    expectRefusal(await push(first, request, { proof }), ["invalid_request", "invalid_dpop_proof"], [400]);
  },
  "ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt": async ({ first }) => {
    const granted = { ...(await getCode(first, { parProof: true })), key: await createDpopKey() };
    expectRefusal(await redeemCode(granted), proofErrors, [400]);
  },
  "ensure-token-endpoint-fails-with-mismatched-dpop-jkt": async ({ first }) => {
    const { thumbprint } = await createDpopKey();
    const granted = await getCode(first, { changed: { dpop_jkt: thumbprint } });
    expectRefusal(await redeemCode(granted), proofErrors, [400]);
  },
  "ensure-dpopproof-at-par-endpoint-binding-success": async ({ first }) => {
    expectTokens(await redeemCode(await getCode(first, { parProof: true })));
  },
  "ensure-dpop-auth-code-binding-success": async ({ first }) => {
    const key = await createDpopKey();
    const changed = { dpop_jkt: key.thumbprint };
    expectTokens(await redeemCode(await getCode(first, { changed, parProof: true, key })));
  },
  "ensure-different-state-inside-and-outside-request-object": async ({ first }) => {
    const request = await createAuthorizationRequest(first);
    const pushed = await push(first, request);
    const { url } = await consent(first, pushedUrl(first, pushed, { state: "outside" }));
    expectCode(url, request.state);
  },
  "ensure-authorization-request-with-long-state": async ({ first }) => {
    await getCode(first, { changed: { state: "s".repeat(1000) } });
  },
  "state-only-outside-request-object-not-used": isRefusedAtPar({ state: undefined }),
  "ensure-request-object-without-redirect-uri-fails": isRefusedAtPar({ redirect_uri: undefined }),
  "plain-fapi-tolerate-unregistered-redirect-uri": isRefusedAtPar({ redirect_uri: `${redirectUri}/other` }),
  // Departs from the suite: a client may send its request without PAR.
  "ensure-unsigned-authorization-request-without-using-par-fails": async ({ first }) => {
    const request = await createAuthorizationRequest(first);
    const { url } = await consent(first, authorizeUrl(request.parameters));
    expectCode(url, request.state);
  },
  "ensure-redirect-uri-in-authorization-request": isRefusedAtPar({ redirect_uri: undefined }),
  "ensure-response-type-code-idtoken-fails": isRefusedAtPar({ response_type: "code id_token" }, [
    "unsupported_response_type",
    "invalid_request",
    "unauthorized_client",
  ]),
  "ensure-response-type-token-fails": isRefusedAtPar({ response_type: "token" }, [
    "unsupported_response_type",
    "invalid_request",
    "unauthorized_client",
  ]),
  "ensure-client-id-in-token-endpoint": async ({ first, second }) => {
    const granted = await getCode(first);
    const { clientId } = second.client;
    const key = first.client.privateKey ?? undefined;
    const assertion = await assertClient(second, key === undefined ? {} : { key });
    const answer = await redeemCode(granted, { assertion, changed: { client_id: clientId } });
    expectRefusal(answer, ["invalid_client", "invalid_grant"]);
  },
  "ensure-holder-of-key-required": async ({ first }) => {
    expectRefusal(await redeemCode(await getCode(first), { proof: null }), proofErrors, [400]);
  },
  "ensure-authorization-code-is-bound-to-client": async ({ first, second }) => {
    const granted = await getCode(first);
    const fields = { ...codeFields(granted), client_id: second.client.clientId };
    const answer = await requestToken({ suite: second, key: granted.key }, fields);
    expectRefusal(answer, ["invalid_grant"], [400]);
  },
  "attempt-reuse-authorization-code-after-one-second": reuseCode,
  "ensure-token-endpoint-fails-with-expired-auth-code": async ({ world, first }) => {
    const granted = await getCode(first);
    world.clock.advance(61_000);
    expectRefusal(await redeemCode(granted), ["invalid_grant"], [400]);
  },
  "ensure-signed-client-assertion-with-RS256-fails": async ({ first }) => {
    const { privateKey } = await generateKeyPair("RS256");
    const assertion = await assertClient(first, { header: { alg: "RS256" }, key: privateKey });
    expectRefusal(await redeemCode(await getCode(first), { assertion }), ["invalid_client"]);
  },
  "ensure-client-assertion-in-token-endpoint": async ({ first }) => {
    expectRefusal(await redeemCode(await getCode(first), { assertion: {} }), clientErrors);
  },
  "ensure-client-assertion-with-exp-is-5-minutes-in-past-fails": isAssertionRefused("token", () => ({
    exp: realSeconds() - 300,
  })),
  "ensure-client-assertion-with-wrong-aud-fails": isAssertionRefused("token", () => ({
    aud: "https://other.example",
  })),
  "ensure-client-assertion-with-no-sub-fails": isAssertionRefused("token", () => ({ sub: undefined })),
  "dpop-negative-tests": ({ first }) => checkDpopProofRefusals(first),
  "refresh-token": useRefreshTokens,
  "par-ensure-reused-request-uri-prior-to-auth-completion-succeeds": async ({ first }) => {
    const { url, state } = await pushAndOpen(first);
    expectCode((await consent(first, url)).url, state);
  },
  "par-attempt-reuse-request_uri": async ({ first }) => {
    const { url } = await pushAndOpen(first);
    await consent(first, url);
    const again = await consent(first, url);
    expect(again.url.searchParams.has("code")).toBe(false);
    expect(again.url.searchParams.get("error") ?? again.text).toContain("invalid_request_uri");
  },
  "par-attempt-to-use-expired-request_uri": async ({ world, first }) => {
    const pushed = await push(first, await createAuthorizationRequest(first));
    world.clock.advance(61_000);
    const { url, text } = await consent(first, pushedUrl(first, pushed));
    expect(url.searchParams.has("code")).toBe(false);
    expect(url.searchParams.get("error") ?? text).toContain("invalid_request_uri");
  },
  "par-ensure-jwt-client-assertions-nbf-8-seconds-in-the-future-is-accepted": async ({ first }) => {
    const assertion = await assertClient(first, { claims: { nbf: realSeconds() + 8 } });
    expect((await push(first, await createAuthorizationRequest(first), { assertion })).status).toBe(201);
  },
  "par-ensure-jwt-client-assertions-nbf-over-60-seconds-in-the-future-fails": isAssertionRefused(
    "par",
    () => {
      const at = realSeconds() + 70;
      return { iat: at, nbf: at, exp: at + 60 };
    },
  ),
  "par-attempt-to-use-request_uri-for-different-client": async ({ first, second }) => {
    const pushed = await push(first, await createAuthorizationRequest(first));
    const { url, text } = await consent(second, pushedUrl(second, pushed));
    expect(url.searchParams.has("code")).toBe(false);
    expect(url.searchParams.get("error") ?? text).toMatch(/invalid_request/);
  },
  "par-authorization-request-containing-request_uri-form-param": isRefusedAtPar(
    { request_uri: "urn:ietf:params:oauth:request_uri:of-the-client" },
    ["invalid_request", "invalid_request_object", "request_uri_not_supported"],
  ),
  "par-attempt-invalid-http-method": async ({ first }) => {
    const { status } = await push(first, await createAuthorizationRequest(first), { method: "PUT" });
    expect(status).toBe(405);
  },
  "par-ensure-pkce-required": isRefusedAtPar({ code_challenge: undefined, code_challenge_method: undefined }),
  "ensure-pkce-code-verifier-required": isCodeRefused({ code_verifier: undefined }),
  "incorrect-pkce-code-verifier-rejected": isCodeRefused({
    code_verifier: oauth.generateRandomCodeVerifier(),
  }),
  "par-plain-pkce-rejected": isRefusedAtPar({ code_challenge_method: "plain" }),
  "par-without-duplicate-parameters": async ({ first }) => {
    expectTokens(await redeemCode(await getCode(first)));
  },
  "par-test-array-as-audience-fails": isAudienceRefused([publicUrl, "https://other.example"]),
  "par-test-par-endpoint-url-as-audience-fails": isAudienceRefused(parUrl),
  "par-test-token-endpoint-url-as-audience-fails": isAudienceRefused(tokenUrl),
};
