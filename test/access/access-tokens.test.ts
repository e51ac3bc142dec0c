/**
 * The checks of a request with an access token, one by one and without the service: the proof (RFC 9449
 * section 4.3), the token (RFC 9068) and the current state of its grant.
 */
import { createHash } from "node:crypto";
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, type JWK } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import {
  createAccessTokenVerifier,
  type OauthGrantVerificationData,
  type AccessTokenSentByCaller,
} from "#access/oauth/access-tokens.ts";
import { verifyDpopProof } from "#access/oauth/dpop.ts";
import { createId } from "#foundation/ids.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { openFresh } from "#test/support/databases.ts";
import { type JwtOverrides, sign } from "#test/support/token-client.ts";

const publicUrl = "https://api.test";
const path = "/api/v1/open/carts";
const now = new Date("2026-06-01T00:00:00.000Z");
const seconds = now.getTime() / 1000;
const later = (ms: number): Date => new Date(now.getTime() + ms);
const token = "the.access.token";
const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url");

interface KeyPair {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
  readonly thumbprint: string;
}
const pairOf = async (algorithm: string): Promise<KeyPair> => {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { privateKey, jwk, thumbprint: await calculateJwkThumbprint(jwk) };
};
let client: KeyPair;
let server: KeyPair;
let other: KeyPair;
beforeAll(async () => {
  [client, server, other] = await Promise.all([pairOf("ES256"), pairOf("ES256"), pairOf("EdDSA")]);
});

const codeAndMessage = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "good",
    ({ code, message }: { code: string; message: string }) => [code, message],
  );

let jti = 0;
const proofOf = (shown: string, { header = {}, claims = {}, key }: JwtOverrides = {}): Promise<string> =>
  sign(
    { alg: "ES256", typ: "dpop+jwt", jwk: client.jwk, ...header },
    {
      htm: "GET",
      htu: publicUrl + path,
      ath: hashOf(shown),
      jti: `proof-${(jti += 1)}`,
      iat: seconds,
      ...claims,
    },
    key ?? client.privateKey,
  );

describe("a proof", () => {
  const check = async (bent: JwtOverrides = {}, at = now) =>
    verifyDpopProof(await proofOf(token, bent), {
      method: "GET",
      url: publicUrl + path,
      token,
      thumbprint: client.thumbprint,
      now: at,
    });

  it("that is valid returns its key and its id", async () => {
    expect(await check({ claims: { jti: "j" } })).toEqual({ thumbprint: client.thumbprint, jti: "j" });
    expect(await check({ claims: { jti: "j".repeat(256) } })).toMatchObject({ jti: "j".repeat(256) });
    expect(await check({ claims: { htu: `${publicUrl}${path}?page=2#top` } })).toMatchObject({
      thumbprint: client.thumbprint,
    });
  });

  it("is accepted if its time differs from the clock by at most a minute", async () => {
    const away = [-61, -60, 60, 61];
    const verdicts = away.map(async (by) => codeAndMessage(check({ claims: { iat: seconds + by } })));
    const refusal = [
      "dpop_proof_invalid",
      expect.stringContaining(
        'Its "iat" must be at most 60 s from the server\'s time, 2026-06-01T00:00:00.000Z.',
      ),
    ];
    expect(await Promise.all(verdicts)).toEqual([refusal, "good", "good", refusal]);
  });

  const publicKeyOnly = 'The "jwk" in its header must be a public key.';
  const noJwt = "It must be a JWT with a public key in its header.";
  const wrong = (claim: string): string => `Its "${claim}" is missing or wrong.`;
  it.each<[string, JwtOverrides, string]>([
    ["another method", { claims: { htm: "POST" } }, 'Its "htm" must be the request\'s HTTP method.'],
    [
      "another address",
      { claims: { htu: `${publicUrl}/else` } },
      'Its "htu" must be the request\'s URL at https://api.test.',
    ],
    [
      "an address that is none",
      { claims: { htu: "/api/v1/open/carts" } },
      'Its "htu" must be the request\'s URL at https://api.test.',
    ],
    [
      "an address that is no text",
      { claims: { htu: 1 } },
      'Its "htu" must be the request\'s URL at https://api.test.',
    ],
    [
      "another token's hash",
      { claims: { ath: hashOf("another") } },
      'Its "ath" must be the SHA-256 hash of the access token in base64url.',
    ],
    ["an empty id", { claims: { jti: "" } }, 'Its "jti" must have 1 to 256 characters.'],
    ["too long an id", { claims: { jti: "j".repeat(257) } }, 'Its "jti" must have 1 to 256 characters.'],
    ["an id that is a number", { claims: { jti: 7 } }, 'Its "jti" must have 1 to 256 characters.'],
    ["no id", { claims: { jti: undefined } }, wrong("jti")],
    ["no method", { claims: { htm: undefined } }, wrong("htm")],
    ["no address", { claims: { htu: undefined } }, wrong("htu")],
    ["no time", { claims: { iat: undefined } }, wrong("iat")],
    ["no token's hash", { claims: { ath: undefined } }, wrong("ath")],
    ["another type", { header: { typ: "JWT" } }, wrong("typ")],
    ["an end that is over", { claims: { exp: seconds - 61 } }, 'Its "exp" is in the past.'],
    ["no key", { header: { jwk: undefined } }, noJwt],
  ])("with %s is refused with that reason", async (_name, bent, why) => {
    expect(await codeAndMessage(check(bent))).toEqual([
      "dpop_proof_invalid",
      `The DPoP proof is not valid. ${why}`,
    ]);
  });

  it.each(["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])(
    "must not contain a private part of a key in its header: %s",
    async (member) => {
      const [code, message] = (await codeAndMessage(
        check({ header: { jwk: { ...client.jwk, [member]: "AA" } } }),
      )) as [string, string];
      expect(code).toBe("dpop_proof_invalid");
      expect([publicKeyOnly, noJwt].some((why) => message.endsWith(why))).toBe(true);
    },
  );

  it("must be signed with the key to which the token is bound, with a supported algorithm", async () => {
    const stranger = { header: { jwk: other.jwk, alg: "EdDSA" }, key: other.privateKey };
    expect(await codeAndMessage(check(stranger))).toEqual([
      "dpop_proof_invalid",
      "The DPoP proof is not valid. It must be signed with the key that the access token is bound to.",
    ]);
    const forged = { key: (await pairOf("ES256")).privateKey };
    expect(await codeAndMessage(check(forged))).toEqual([
      "dpop_proof_invalid",
      "The DPoP proof is not valid. Its signature must match the key in its header.",
    ]);
    const symmetric = { header: { alg: "HS256" }, key: new Uint8Array(32) };
    expect(await codeAndMessage(check(symmetric))).toEqual([
      "dpop_proof_invalid",
      'The DPoP proof is not valid. Its "alg" must be ES256 or EdDSA.',
    ]);
  });
});

describe("an access token", () => {
  const [grantId, clientId, staffId] = [createId("oauthGrant"), createId("oauthClient"), createId("staff")];
  const grant: OauthGrantVerificationData = {
    grantId,
    clientId,
    clientMetadataUrl: null,
    staffId,
    scopes: ["catalog:read", "webhooks:read"],
    expiresAt: later(1),
    revokedAt: null,
    clientDisabledAt: null,
    installationId: "ins_1",
    appId: "app_1",
    merchantId: "mer_1",
    installationScopes: ["catalog:read", "webhooks:read", "webhooks:write"],
    installationStatus: "active",
    merchantStatus: "active",
  };
  let database: OpenedDatabase;
  beforeAll(async () => {
    database = await openFresh("pglite");
    return () => database.close();
  });

  const tokenOf = ({ header = {}, claims = {}, key }: JwtOverrides = {}): Promise<string> => {
    const [usual, times] = [
      { sub: staffId, client_id: clientId, grant_id: grantId },
      { iat: seconds, exp: seconds + 600 },
    ];
    const bound = { scope: "catalog:read webhooks:write other", cnf: { jkt: client.thumbprint }, jti: "t" };
    const whole = { iss: publicUrl, aud: `${publicUrl}/api`, ...usual, ...bound, ...times, ...claims };
    return sign({ alg: "ES256", typ: "at+jwt", kid: "k1", ...header }, whole, key ?? server.privateKey);
  };
  interface Asked {
    readonly bent?: JwtOverrides;
    readonly grant?: Partial<OauthGrantVerificationData> | null;
    readonly shown?: Partial<AccessTokenSentByCaller>;
    readonly admit?: () => void;
  }
  const verify = async ({ bent, grant: change = {}, shown = {}, admit }: Asked = {}) => {
    const value = shown.token ?? (await tokenOf(bent));
    const verifier = createAccessTokenVerifier({
      db: database.db,
      clock: { now: () => now },
      publicUrl,
      signingKeys: {
        publicJwks: () =>
          Promise.resolve({
            keys: [
              { ...other.jwk, kid: "k0" },
              { ...server.jwk, kid: "k1" },
            ],
          }),
      },
      findGrant: (id) =>
        Promise.resolve(change !== null && id === grantId ? { ...grant, ...change } : undefined),
    });
    return verifier(
      {
        scheme: "dpop",
        resource: "api",
        proofs: [await proofOf(value)],
        method: "GET",
        path,
        ...shown,
        token: value,
      },
      admit,
    );
  };
  const usesKept = async (): Promise<number> =>
    (await database.db.selectFrom("dpopProof").select("digest").execute()).length;

  it("has the scopes that the token, its grant and the installation all have", async () => {
    const viewer = await verify();
    expect(viewer).toMatchObject({
      kind: "oauth",
      grantId,
      clientId,
      installationId: "ins_1",
      appId: "app_1",
      merchantId: "mer_1",
      suspended: null,
    });
    expect([...viewer.scopes]).toEqual(["catalog:read"]);
    expect([...(await verify({ bent: { claims: { scope: undefined } } })).scopes]).toEqual([]);
    expect((await verify({ grant: { installationScopes: [] } })).scopes.size).toBe(0);
    expect(await verify({ grant: { installationStatus: "suspended" } })).toMatchObject({
      suspended: "installation_suspended",
    });
    expect(await verify({ grant: { merchantStatus: "suspended" } })).toMatchObject({
      suspended: "merchant_suspended",
    });
  });

  it.each<[string, Partial<OauthGrantVerificationData> | null]>([
    ["there is none", null],
    ["it was revoked, whenever", { revokedAt: later(60_000) }],
    ["it ends now", { expiresAt: now }],
    ["its client is disabled", { clientDisabledAt: later(-1) }],
    ["its app is uninstalled", { installationStatus: "uninstalled" }],
    ["it is another client's", { clientId: "oac_other" }],
    ["it is another person's", { staffId: "stf_other" }],
  ])("has no access if, of its grant, %s", async (_name, change) => {
    const before = await usesKept();
    await expect(verify({ grant: change })).rejects.toMatchObject({
      code: "oauth_token_invalid",
      status: 401,
    });
    expect(await usesKept()).toBe(before);
  });

  it.each<[string, JwtOverrides, string?]>([
    ["of another issuer", { claims: { iss: "https://else.test" } }],
    ["for somebody else", { claims: { aud: "https://else.test/api" } }],
    ["of another type", { header: { typ: "JWT" } }],
    ["that is over", { claims: { exp: seconds } }, "oauth_token_expired"],
    ["without an end", { claims: { exp: undefined } }],
    ["without a beginning", { claims: { iat: undefined } }],
    ["without an issuer", { claims: { iss: undefined } }],
    ["for nobody named", { claims: { aud: undefined } }],
    ["without an id", { claims: { jti: undefined } }],
    ["with an id that is a number", { claims: { jti: 7 } }],
    ["without a person", { claims: { sub: undefined } }],
    ["of a person that is a number", { claims: { sub: 7 } }],
    ["without a client", { claims: { client_id: undefined } }],
    ["of a client that is a number", { claims: { client_id: 7 } }],
    ["without a grant", { claims: { grant_id: undefined } }],
    ["of a grant that is a number", { claims: { grant_id: 7 } }],
    ["of what is no grant", { claims: { grant_id: clientId } }],
    ["that is bound to nothing", { claims: { cnf: undefined } }],
    ["that is bound to null", { claims: { cnf: null } }],
    ["that is bound to a text", { claims: { cnf: "key" } }],
    ["that is bound in another way", { claims: { cnf: { kid: "k1" } } }],
    ["that is bound to a number", { claims: { cnf: { jkt: 7 } } }],
    ["without the id of its key", { header: { kid: undefined } }],
    ["of a key that is not known", { header: { kid: "k2" } }],
    ["that names a key that did not sign it", { header: { kid: "k0" } }],
  ])("%s is no access token", async (_name, bent, code = "oauth_token_invalid") => {
    await expect(verify({ bent })).rejects.toMatchObject({ code, status: 401 });
  });

  it("that is bound in two ways is unknown, and arbitrary text is no token", async () => {
    const cnf = { jkt: client.thumbprint, kid: "k1" };
    await expect(verify({ bent: { claims: { cnf } } })).rejects.toMatchObject({
      code: "oauth_token_invalid",
    });
    await expect(verify({ shown: { token: "token" } })).rejects.toMatchObject({
      code: "oauth_token_invalid",
    });
  });

  it("comes with one proof, which is used up only by a request that is accepted", async () => {
    const value = await tokenOf();
    const proof = await proofOf(value);
    const shown = { token: value, proofs: [proof] };
    await expect(verify({ shown: { ...shown, proofs: [] } })).rejects.toMatchObject({
      code: "dpop_proof_missing",
    });
    const two = verify({ shown: { ...shown, proofs: [proof, proof] } });
    await expect(two).rejects.toMatchObject({
      code: "dpop_proof_invalid",
      message: "There is more than one DPoP header: send exactly one.",
    });
    await expect(verify({ shown: { ...shown, method: "POST" } })).rejects.toMatchObject({
      code: "dpop_proof_invalid",
    });
    await expect(verify({ shown: { ...shown, path: "/else" } })).rejects.toMatchObject({
      code: "dpop_proof_invalid",
    });
    const notAdmitted = (): never => {
      throw new Error("Not here.");
    };
    await expect(verify({ shown, admit: notAdmitted })).rejects.toThrow("Not here.");
    expect(await verify({ shown })).toMatchObject({ grantId });
    await expect(verify({ shown })).rejects.toMatchObject({
      code: "dpop_proof_invalid",
      message: "The DPoP proof is not valid. It was already used: create a new proof for every request.",
    });
  });
});
