/**
 * An OAuth client with a grant and a key, made without the authorization server. Tokens are signed with the
 * service's keys as RFC 9068 says, proofs as RFC 9449 says. Every part of both can be changed, so that a test
 * can make exactly one part invalid.
 */
import { createHash, randomUUID } from "node:crypto";
import {
  calculateJwkThumbprint,
  type CryptoKey,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  SignJWT,
} from "jose";
import { createOauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import { integratorScopes as allScopes, type PermissionScope } from "#access/viewer.ts";
import type { Clock } from "#foundation/clock.ts";
import { createId } from "#foundation/ids.ts";
import { type Answer, publicUrl, type World } from "./world.ts";

export type Algorithm = "ES256" | "EdDSA";

/** Overrides parts of a JWT; an undefined value removes the part. */
export interface JwtOverrides {
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly key?: CryptoKey | Uint8Array;
}

export interface TokenRequest {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
}

export interface TokenClient {
  readonly clientId: string;
  readonly staffId: string;
  readonly grantId: string;
  readonly installationId: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly thumbprint: string;
  token(bent?: JwtOverrides): Promise<string>;
  proof(request: Pick<TokenRequest, "method" | "url">, token: string, bent?: JwtOverrides): Promise<string>;
  /** Sends a request, with a new token and a new proof if it has no `authorization` header. */
  send(request: TokenRequest): Promise<Answer>;
}

export interface ClientOptions {
  readonly merchant?: "first" | "second";
  readonly scopes?: readonly PermissionScope[];
  readonly algorithm?: Algorithm;
}

export async function createTokenClient(world: World, options: ClientOptions = {}): Promise<TokenClient> {
  const { algorithm = "ES256" } = options;
  const rows = await insertGrant(world, options);
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  const thumbprint = await calculateJwkThumbprint(publicJwk);
  const seconds = (): number => Math.floor(world.clock.now().getTime() / 1000);

  const client: TokenClient = {
    ...rows,
    privateKey,
    publicKey,
    publicJwk,
    thumbprint,
    token: async ({ header = {}, claims = {}, key } = {}) => {
      const signing = await signingKeyOf(world, algorithm);
      const usual = {
        iss: publicUrl,
        aud: `${publicUrl}/api`,
        sub: rows.staffId,
        client_id: rows.clientId,
        grant_id: rows.grantId,
        scope: (options.scopes ?? allScopes).join(" "),
        cnf: { jkt: thumbprint },
        jti: randomUUID(),
        iat: seconds(),
        exp: seconds() + 600,
      };
      return sign(
        { alg: algorithm, typ: "at+jwt", kid: signing.kid, ...header },
        { ...usual, ...claims },
        key ?? signing.key,
      );
    },
    proof: ({ method = "GET", url }, token, { header = {}, claims = {}, key } = {}) => {
      const [path = ""] = url.split("?");
      const ath = createHash("sha256").update(token).digest("base64url");
      const usual = { htm: method, htu: publicUrl + path, ath, jti: randomUUID(), iat: seconds() };
      return sign(
        { alg: algorithm, typ: "dpop+jwt", jwk: publicJwk, ...header },
        { ...usual, ...claims },
        key ?? privateKey,
      );
    },
    send: async ({ method = "GET", url, headers = {}, body }) => {
      const token = "authorization" in headers ? "" : await client.token();
      const shown =
        "authorization" in headers
          ? {}
          : { authorization: `DPoP ${token}`, dpop: await client.proof({ method, url }, token) };
      return world.send({ method, url, headers: { ...shown, ...headers }, body });
    },
  };
  return client;
}

/** Inserts a grant of the demo's installation. */
export async function insertGrant(
  { database: { db }, demo, clock }: Pick<World, "database" | "demo"> & { readonly clock: Clock },
  { merchant = "first", scopes = allScopes }: ClientOptions = {},
): Promise<Pick<TokenClient, "clientId" | "staffId" | "grantId" | "installationId">> {
  const merchantId = demo.merchants[merchant].id;
  const now = clock.now();
  const [clientId, staffId, grantId] = [createId("oauthClient"), createId("staff"), createId("oauthGrant")];
  const installation = await db
    .selectFrom("installation")
    .select(["id", "appId"])
    .where("merchantId", "=", merchantId)
    .executeTakeFirstOrThrow();
  const email = `${staffId}@example.com`;
  await db
    .insertInto("staffAccount")
    .values({
      id: staffId,
      merchantId,
      email,
      emailNormalized: email,
      name: "Ada",
      passwordHash: "none",
      createdAt: now,
    })
    .execute();
  const redirectUris = ["https://client.example/callback"];
  await db
    .insertInto("oauthClient")
    .values({ id: clientId, appId: installation.appId, redirectUris, authMethod: "none", createdAt: now })
    .execute();
  const expiresAt = new Date(now.getTime() + 30 * 86_400_000);
  await db
    .insertInto("oauthGrant")
    .values({
      id: grantId,
      merchantId,
      installationId: installation.id,
      clientId,
      staffId,
      scopes: [...scopes],
      issuedAt: now,
      expiresAt,
    })
    .execute();
  return { clientId, staffId, grantId, installationId: installation.id };
}

async function signingKeyOf(
  { app, database: { db }, clock }: World,
  algorithm: Algorithm,
): Promise<{ kid: string; key: CryptoKey }> {
  const keys = await createOauthSigningKeyProvider({ db, keyring: app.services.keyring, clock }).signing();
  const jwk = keys.find(({ alg }) => alg === algorithm);
  if (jwk === undefined) throw new Error(`There is no signing key for ${algorithm}.`);
  return { kid: jwk.kid, key: (await importJWK(jwk, algorithm)) as CryptoKey };
}

/** Signs any header and claims, also invalid ones. */
export async function sign(
  header: Readonly<Record<string, unknown>>,
  claims: object,
  key: CryptoKey | Uint8Array,
): Promise<string> {
  const payload = JSON.parse(JSON.stringify(claims)) as Record<string, unknown>;
  const protectedHeader = JSON.parse(JSON.stringify(header)) as { alg: string; crit?: string[] };
  const crit = Object.fromEntries((protectedHeader.crit ?? []).map((name) => [name, true]));
  return new SignJWT(payload).setProtectedHeader(protectedHeader).sign(key, { crit });
}

/** Builds a JWT with any signature, for algorithms that no library signs with. */
export function unsigned(header: object, claims: unknown, signature = ""): string {
  const [head, body] = [header, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString("base64url"),
  );
  return `${head}.${body}.${signature}`;
}
