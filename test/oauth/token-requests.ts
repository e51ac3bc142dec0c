/** Builds requests to the token endpoint by hand, so that each part of them can be wrong. */
import { randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, SignJWT } from "jose";
import * as oauth from "oauth4webapi";
import { publicUrl, type World } from "#test/support/world.ts";
import {
  type Browser,
  type ClientMade,
  createBrowser,
  createClient,
  createPerson,
  fetchIn,
  type Person,
  redirectUri,
  signInAndAllow,
} from "./people.ts";

export interface ProofKey {
  readonly thumbprint: string;
  /** Creates a DPoP proof for one request. */
  prove(method: string, url: string, claims?: Readonly<Record<string, string>>): Promise<string>;
}

export async function createProofKey(): Promise<ProofKey> {
  const { publicKey, privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    prove: (method, url, claims = {}) =>
      new SignJWT({ htm: method, htu: url, jti: randomUUID(), ...claims })
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk })
        .setIssuedAt()
        .sign(privateKey),
  };
}

export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, string>>;
}

export const tokenUrl = `${publicUrl}/oauth/token`;

export async function askToken(
  world: World,
  fields: Readonly<Record<string, string>>,
  proof?: string,
): Promise<TokenAnswer> {
  const response = await fetchIn(world)(`${world.app.publicUrl}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(fields).toString(),
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      ...(proof === undefined ? {} : { dpop: proof }),
    },
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, string>,
  };
}

export interface Asked {
  readonly url: string;
  readonly verifier: string;
  readonly state: string;
}

/** Sends an authorization request; an undefined part is omitted. */
export async function askAuthorization(
  client: ClientMade,
  changed: Readonly<Record<string, string | undefined>> = {},
  base = publicUrl,
): Promise<Asked> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const parameters: Record<string, string | undefined> = {
    client_id: client.clientId,
    redirect_uri: redirectUri,
    response_type: "code",
    scope: "catalog:read checkout:quote",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    ...changed,
  };
  const present = Object.entries(parameters).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  return { url: `${base}/oauth/authorize?${new URLSearchParams(present)}`, verifier, state };
}

export interface LetIn {
  readonly person: Person;
  readonly client: ClientMade;
  readonly browser: Browser;
  readonly key: ProofKey;
  readonly asked: Asked;
  readonly code: string;
  /** The form fields that redeem the code. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface LetInOptions {
  readonly person?: Person;
  readonly client?: ClientMade;
  readonly scopes?: readonly string[];
  /** The address of the person's browser, as a proxy reports it. */
  readonly from?: string;
}

/** Creates an app to which a person has just consented; its code is not redeemed yet. */
export async function letIn(world: World, options: LetInOptions = {}): Promise<LetIn> {
  const person = options.person ?? (await createPerson(world));
  const client = options.client ?? (await createClient(world));
  const browser = createBrowser(world, options.from === undefined ? {} : { "x-forwarded-for": options.from });
  const asked = await askAuthorization(client, {}, world.app.publicUrl);
  const answer = await signInAndAllow(browser, asked.url, {
    email: person.email,
    scopes: options.scopes ?? ["catalog:read", "checkout:quote"],
  });
  const code = answer.searchParams.get("code") ?? "";
  const fields = {
    grant_type: "authorization_code",
    client_id: client.clientId,
    code,
    redirect_uri: redirectUri,
    code_verifier: asked.verifier,
  };
  return { person, client, browser, key: await createProofKey(), asked, code, fields };
}

export async function redeem(
  world: World,
  { fields, key }: Pick<LetIn, "fields" | "key">,
): Promise<TokenAnswer> {
  return askToken(world, fields, await key.prove("POST", `${world.app.publicUrl}/oauth/token`));
}

export const refreshFields = (
  { client }: Pick<LetIn, "client">,
  refreshToken: string,
): Record<string, string> => ({
  grant_type: "refresh_token",
  client_id: client.clientId,
  refresh_token: refreshToken,
});

export async function refresh(
  world: World,
  { client, key }: Pick<LetIn, "client" | "key">,
  refreshToken: string,
): Promise<TokenAnswer> {
  return askToken(
    world,
    refreshFields({ client }, refreshToken),
    await key.prove("POST", `${world.app.publicUrl}/oauth/token`),
  );
}

export const isRevoked = async (world: World, client: ClientMade): Promise<boolean[]> => {
  const rows = await world.database.db
    .selectFrom("oauthGrant")
    .select("revokedAt")
    .where("clientId", "=", client.clientId)
    .execute();
  return rows.map(({ revokedAt }) => revokedAt !== null);
};
