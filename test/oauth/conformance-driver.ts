/**
 * Plays the client of the modules of the OpenID Foundation's conformance suite: a client that authenticates
 * with `private_key_jwt`, sends pushed authorization requests, and binds its tokens with DPoP. A person in a
 * browser signs in and consents. Each request can differ from a valid one in one part.
 */
import { createHash, randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type CryptoKey } from "jose";
import * as oauth from "oauth4webapi";
import { expect } from "vitest";
import { type JwtOverrides, sign } from "#test/support/token-client.ts";
import { type Answer, publicUrl, type World } from "#test/support/world.ts";
import {
  type Browser,
  type ClientMade,
  createBrowser,
  createClient,
  createPerson,
  password,
  type Person,
  redirectUri,
} from "./people.ts";

export const parUrl = `${publicUrl}/oauth/par`;
export const tokenUrl = `${publicUrl}/oauth/token`;
/** The protected resource that the modules read with their access tokens. */
export const resourcePath = "/api/v1/open/identity";
export const requestedScopes = ["catalog:read", "checkout:quote"] as const;

/** Form fields or parameters; an undefined value removes the field. */
export type Fields = Readonly<Record<string, string | undefined>>;

/** A client of the suite with the person who consents. The person's browser stays signed in. */
export interface SuiteClient {
  readonly world: World;
  readonly client: ClientMade;
  readonly person: Person;
  readonly browser: Browser;
}

export interface DpopKey {
  readonly thumbprint: string;
  readonly prove: (request: DpopRequest, changed?: JwtOverrides) => Promise<string>;
}

interface DpopRequest {
  readonly method: string;
  readonly url: string;
  /** The access token that the request has, if any. */
  readonly token?: string;
  /** Seconds since 1970 of `iat`. */
  readonly at?: number;
}

/** The real time in seconds, which the authorization server uses. */
export const realSeconds = (): number => Math.floor(Date.now() / 1000);

export async function createDpopKey(): Promise<DpopKey> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    prove: ({ method, url, token, at = realSeconds() }, { header = {}, claims = {}, key } = {}) => {
      const ath = token === undefined ? undefined : createHash("sha256").update(token).digest("base64url");
      const usual = { htm: method, htu: url, jti: randomUUID(), iat: at, ath };
      return sign(
        { alg: "ES256", typ: "dpop+jwt", jwk, ...header },
        { ...usual, ...claims },
        key ?? privateKey,
      );
    },
  };
}

export async function createSuiteClient(world: World, person?: Person): Promise<SuiteClient> {
  return {
    world,
    client: await createClient(world, { authMethod: "private_key_jwt" }),
    person: person ?? (await createPerson(world)),
    browser: createBrowser(world),
  };
}

/** Creates the form fields with which a client authenticates; parts of the assertion can be changed. */
export async function assertClient(
  { client }: Pick<SuiteClient, "client">,
  { header = {}, claims = {}, key }: JwtOverrides = {},
): Promise<Record<string, string>> {
  const at = realSeconds();
  const usual = { iss: client.clientId, sub: client.clientId, aud: publicUrl, jti: randomUUID() };
  const signed = await sign(
    { alg: "ES256", kid: "one", ...header },
    { ...usual, iat: at, exp: at + 60, ...claims },
    key ?? (client.privateKey as CryptoKey),
  );
  return {
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: signed,
  };
}

const toForm = (fields: Fields): string =>
  new URLSearchParams(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  ).toString();

/** Sends a form to an endpoint of the authorization server. */
export const postForm = (
  world: World,
  url: string,
  { fields, proof, method = "POST" }: { fields: Fields; proof?: string | undefined; method?: string },
): Promise<Answer> =>
  world.send({
    method,
    url: url.slice(publicUrl.length),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(proof === undefined ? {} : { dpop: proof }),
    },
    body: toForm(fields),
  });

export interface AuthorizationRequest {
  readonly parameters: Fields;
  readonly verifier: string;
  readonly state: string | undefined;
}

export async function createAuthorizationRequest(
  { client }: Pick<SuiteClient, "client">,
  changed: Fields = {},
): Promise<AuthorizationRequest> {
  const verifier = oauth.generateRandomCodeVerifier();
  const parameters: Fields = {
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: requestedScopes.join(" "),
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state: oauth.generateRandomState(),
    ...changed,
  };
  return { parameters, verifier, state: parameters["state"] };
}

/** Pushes an authorization request, authenticated unless the fields say otherwise. */
export async function push(
  suite: SuiteClient,
  { parameters }: AuthorizationRequest,
  options: { readonly assertion?: Fields; readonly proof?: string; readonly method?: string } = {},
): Promise<Answer> {
  const fields = { ...parameters, ...(options.assertion ?? (await assertClient(suite))) };
  return postForm(suite.world, parUrl, { fields, proof: options.proof, ...pick(options.method) });
}

const pick = (method: string | undefined): { method?: string } => (method === undefined ? {} : { method });

/** Returns the address that the browser opens for a pushed request. */
export const authorizeUrl = (parameters: Fields): string =>
  `${publicUrl}/oauth/authorize?${toForm(parameters)}`;

export const pushedUrl = ({ client }: SuiteClient, pushed: Answer, more: Fields = {}): string =>
  authorizeUrl({ client_id: client.clientId, request_uri: pushed.body.request_uri, ...more });

/**
 * Opens an address as the person, who signs in if asked and then allows the requested scopes. Returns the
 * address at which the browser ends, and its text if the service shows a page.
 */
export async function consent(
  { browser, person }: Pick<SuiteClient, "browser" | "person">,
  url: string,
  action: "allow" | "deny" = "allow",
): Promise<{ readonly url: URL; readonly text: string; readonly isSignInAsked: boolean }> {
  let page = await browser.open(url);
  const isSignInAsked = page.text.includes('name="password"');
  if (isSignInAsked) page = await browser.submit(page, { email: person.email, password, action: "sign-in" });
  if (page.text.includes('value="allow"'))
    page = await browser.submit(page, { action, ...(action === "allow" ? { scope: requestedScopes } : {}) });
  return { url: new URL(page.url), text: page.text, isSignInAsked };
}

/** Checks a successful authorization response and returns its code. */
export function expectCode(answer: URL, state: string | undefined): string {
  const parameters = answer.searchParams;
  expect(answer.href.startsWith(`${redirectUri}?`)).toBe(true);
  expect(answer.hash).toBe("");
  expect(parameters.get("error")).toBeNull();
  expect(parameters.get("iss")).toBe(publicUrl);
  expect(parameters.get("state")).toBe(state ?? null);
  expect([...parameters.keys()].filter((name) => !["code", "iss", "state"].includes(name))).toEqual([]);
  const code = parameters.get("code") ?? "";
  expect(code.length).toBeGreaterThanOrEqual(43);
  return code;
}

export interface Granted {
  readonly suite: SuiteClient;
  readonly key: DpopKey;
  readonly code: string;
  readonly verifier: string;
}

/** Pushes a request, lets the person consent, and returns the code. */
export async function getCode(
  suite: SuiteClient,
  {
    changed = {},
    parProof = false,
    key,
  }: { readonly changed?: Fields; readonly parProof?: boolean; readonly key?: DpopKey } = {},
): Promise<Granted> {
  const dpop = key ?? (await createDpopKey());
  const request = await createAuthorizationRequest(suite, changed);
  const proof = parProof ? { proof: await dpop.prove({ method: "POST", url: parUrl }) } : {};
  const pushed = await push(suite, request, proof);
  expect([pushed.status, pushed.headers["content-type"], pushed.body.expires_in]).toEqual([
    201,
    expect.stringContaining("application/json"),
    60,
  ]);
  expect(pushed.body.request_uri).toMatch(/^urn:ietf:params:oauth:request_uri:.{21,}$/);
  const { url } = await consent(suite, pushedUrl(suite, pushed));
  return { suite, key: dpop, code: expectCode(url, request.state), verifier: request.verifier };
}

/** Returns the form fields that redeem a code, without the client's authentication. */
export const codeFields = ({ suite, code, verifier }: Granted): Record<string, string> => ({
  grant_type: "authorization_code",
  client_id: suite.client.clientId,
  code,
  redirect_uri: redirectUri,
  code_verifier: verifier,
});

interface TokenRequestParts {
  /** Fields that replace the usual ones. */
  readonly changed?: Fields;
  readonly assertion?: Fields;
  /** The DPoP proof; null for a request without one. */
  readonly proof?: string | null;
}

/** Sends fields to the token endpoint, with the client's authentication and a proof unless changed. */
export async function requestToken(
  { suite, key }: Pick<Granted, "suite" | "key">,
  fields: Fields,
  { changed = {}, assertion, proof }: TokenRequestParts = {},
): Promise<Answer> {
  const made = proof === undefined ? await key.prove({ method: "POST", url: tokenUrl }) : proof;
  return postForm(suite.world, tokenUrl, {
    fields: { ...fields, ...(assertion ?? (await assertClient(suite))), ...changed },
    proof: made ?? undefined,
  });
}

export const redeemCode = (granted: Granted, parts: TokenRequestParts = {}): Promise<Answer> =>
  requestToken(granted, codeFields(granted), parts);

/** Checks a successful token response, which must not be cached and has no ID token. */
export function expectTokens(answer: Answer): { readonly access: string; readonly refresh: string } {
  expect([answer.status, answer.body.error]).toEqual([200, undefined]);
  expect(answer.headers).toMatchObject({
    "content-type": expect.stringContaining("application/json"),
    "cache-control": "no-store",
  });
  expect(answer.body).toMatchObject({ token_type: "DPoP", expires_in: 600 });
  expect(answer.body).not.toHaveProperty("id_token");
  expect(answer.body.refresh_token).toMatch(/^[\w~.-]{43,}$/);
  return { access: answer.body.access_token, refresh: answer.body.refresh_token };
}

/** Checks a refusal of the token or PAR endpoint: its status, one of the allowed errors, and its form. */
export function expectRefusal(answer: Answer, errors: readonly string[], statuses = [400, 401]): void {
  expect(errors).toContain(answer.body?.error);
  expect(statuses).toContain(answer.status);
  expect(answer.headers["content-type"]).toContain("application/json");
  expect(answer.body.error_description ?? "").toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]*$/);
  expect(answer.body).not.toHaveProperty("access_token");
  expect(answer.body).not.toHaveProperty("request_uri");
}

/** Reads the protected resource. */
export async function readResource(
  { suite, key }: Pick<Granted, "suite" | "key">,
  token: string,
  options: { readonly scheme?: string; readonly proof?: string | readonly string[] | null } = {},
): Promise<Answer> {
  const { world } = suite;
  const proof = options.proof === undefined ? await proveResource({ suite, key }, token) : options.proof;
  const response = await world.app.server.inject({
    method: "GET",
    url: resourcePath,
    headers: {
      authorization: `${options.scheme ?? "DPoP"} ${token}`,
      ...(proof === null ? {} : { dpop: typeof proof === "string" ? proof : [...proof] }),
    },
  });
  return {
    status: response.statusCode,
    headers: response.headers as Answer["headers"],
    text: response.body,
    body: response.json(),
  };
}

/** Creates a proof for the protected resource, which uses the clock of the test world. */
export const proveResource = (
  { suite, key }: Pick<Granted, "suite" | "key">,
  token: string,
  changed: JwtOverrides = {},
): Promise<string> =>
  key.prove(
    {
      method: "GET",
      url: publicUrl + resourcePath,
      token,
      at: Math.floor(suite.world.clock.now().getTime() / 1000),
    },
    changed,
  );
