/**
 * Invalid DPoP proofs are refused with a 401 that names the fault. Nothing is read or written, and the proof
 * is not stored as used.
 */
import { randomUUID } from "node:crypto";
import { CompactSign, exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import type { FailureCode } from "#foundation/failure.ts";
import { cartsUrl, makeCart } from "#test/operations/cart-calls.ts";
import { dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import { createTokenClient, type TokenClient, unsigned } from "#test/support/token-client.ts";
import { statementsAndAnswerOf, useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const world = useWorld();
const describeUrl = "/api/v1/oauth/authorize";

/** The value of the DPoP header: absent, one line, or several lines. */
type Sent = string | readonly string[] | undefined;

interface Attempt {
  readonly client: TokenClient;
  readonly token: string;
  readonly method: string;
  readonly url: string;
  /** The current time in seconds. */
  readonly now: number;
  /** Signs a valid proof with altered header or claims. */
  readonly altered: (altered: Parameters<TokenClient["proof"]>[2]) => Promise<string>;
}

interface Wrong {
  readonly make: (attempt: Attempt) => Promise<Sent> | Sent;
  readonly code?: FailureCode;
  /** Matches the error message of the failed check. */
  readonly says?: RegExp;
}

const noJwt = /must be a JWT with a public key in its header/;
const wrongAlg = /Its "alg" must be ES256 or EdDSA/;
const wrongSignature = /signature/;
const wrong = (claim: string): RegExp => new RegExp(`Its "${claim}" is missing or wrong`);
const claims = (
  parts: Readonly<Record<string, unknown>> | ((attempt: Attempt) => Readonly<Record<string, unknown>>),
  says: RegExp,
): Wrong => ({
  make: (attempt) => attempt.altered({ claims: typeof parts === "function" ? parts(attempt) : parts }),
  says,
});
const header = (parts: Readonly<Record<string, unknown>>, says = noJwt): Wrong => ({
  make: ({ altered }) => altered({ header: parts }),
  says,
});
const otherKey = async (
  algorithm: string,
): Promise<{ key: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"]; jwk: unknown }> => {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  return { key: privateKey, jwk: await exportJWK(publicKey) };
};

const wrongProofs: Readonly<Record<string, Wrong>> = {
  "no proof": { make: () => undefined, code: "dpop_proof_missing" },
  "two valid proofs": {
    make: ({ altered }) => Promise.all([altered({}), altered({})]),
    says: /more than one DPoP header/,
  },
  "the same valid proof twice": {
    make: async ({ altered }) => Array.from({ length: 2 }).fill(await altered({})) as string[],
    says: /more than one/,
  },
  "two proofs in one line": {
    make: async ({ altered }) => `${await altered({})}, ${await altered({})}`,
    says: noJwt,
  },
  "an empty proof": { make: () => "", says: noJwt },
  "no JWT": { make: () => "proof", says: noJwt },
  "an encrypted JWT": { make: () => "a.b.c.d.e", says: noJwt },
  "a JWT without JSON": { make: () => "YQ.YQ.YQ", says: noJwt },
  "the access token itself": { make: ({ token }) => token, says: noJwt },
  "claims that are a list": {
    make: ({ client }) =>
      new CompactSign(Buffer.from("[]"))
        .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk: client.publicJwk })
        .sign(client.privateKey),
    says: noJwt,
  },

  "no type": header({ typ: undefined }, wrong("typ")),
  "the type JWT": header({ typ: "JWT" }, wrong("typ")),
  "an access token's type": header({ typ: "at+jwt" }, wrong("typ")),
  "the algorithm none": {
    make: ({ client, method, url, token, now }) =>
      unsigned(
        { alg: "none", typ: "dpop+jwt", jwk: client.publicJwk },
        { htm: method, htu: publicUrl + url, iat: now, jti: randomUUID(), ath: token },
      ),
    says: wrongAlg,
  },
  "a symmetric algorithm, keyed with the public key": {
    make: async ({ client, altered }) =>
      altered({ header: { alg: "HS256" }, key: new TextEncoder().encode(JSON.stringify(client.publicJwk)) }),
    says: wrongAlg,
  },
  "a symmetric key in the header": {
    make: ({ altered }) =>
      altered({
        header: { alg: "HS256", jwk: { kty: "oct", k: "c2VjcmV0" } },
        key: new TextEncoder().encode("secret"),
      }),
    says: wrongAlg,
  },
  "an RSA key": {
    make: async ({ altered }) => {
      const { key, jwk } = await otherKey("RS256");
      return altered({ header: { alg: "RS256", jwk }, key });
    },
    says: wrongAlg,
  },
  "a key on another curve": {
    make: async ({ altered }) => {
      const { key, jwk } = await otherKey("ES384");
      return altered({ header: { alg: "ES384", jwk }, key });
    },
    says: wrongAlg,
  },
  "a critical extension": header({ crit: ["exp"], exp: 1 }),
  "no key": header({ jwk: undefined }),
  "only the id of a key": header({ jwk: undefined, kid: "1" }),
  "a key that is text": header({ jwk: "key" }),
  "only the URL of a key": header({ jwk: undefined, jku: "https://client.example/jwks" }),
  "a certificate": header({ jwk: undefined, x5c: ["MIIB"] }),
  "the private key in the header": {
    make: async ({ altered, client }) => altered({ header: { jwk: await exportJWK(client.privateKey) } }),
    says: noJwt,
  },
  "a private part of another key type": {
    make: ({ altered, client }) => altered({ header: { jwk: { ...client.publicJwk, k: "c2VjcmV0" } } }),
    says: /must be a public key/,
  },
  "an empty private part": {
    make: ({ altered, client }) => altered({ header: { jwk: { ...client.publicJwk, d: "" } } }),
  },
  "a point that is not on the curve": {
    make: ({ altered, client }) =>
      altered({ header: { jwk: { ...client.publicJwk, x: client.publicJwk.y } } }),
    says: noJwt,
  },
  "a key for encryption": {
    make: ({ altered, client }) => altered({ header: { jwk: { ...client.publicJwk, use: "enc" } } }),
    says: noJwt,
  },

  "another key with a valid signature": {
    make: async ({ altered }) => {
      const { key, jwk } = await otherKey("ES256");
      return altered({ header: { jwk }, key });
    },
    says: /must be signed with the key that the access token is bound to/,
  },
  "the token's key with a signature of another key": {
    make: async ({ altered }) => altered({ key: (await otherKey("ES256")).key }),
    says: wrongSignature,
  },
  "an empty signature": {
    make: async ({ altered }) => `${(await altered({})).split(".").slice(0, 2).join(".")}.`,
    says: wrongSignature,
  },
  "a signature with a flipped bit": {
    make: async ({ altered }) => {
      const [head, body, signature = ""] = (await altered({})).split(".");
      return [head, body, (signature.startsWith("A") ? "B" : "A") + signature.slice(1)].join(".");
    },
    says: wrongSignature,
  },
  "claims with the signature of others": {
    make: async ({ altered }) => {
      const [one, other] = await Promise.all([altered({ claims: { htm: "TRACE" } }), altered({})]);
      return [one.split(".")[0], other.split(".")[1], one.split(".")[2]].join(".");
    },
    says: wrongSignature,
  },

  "another method": claims({ htm: "TRACE" }, /htm/),
  "the method in lower case": claims(({ method }) => ({ htm: method.toLowerCase() }), /htm/),
  "no method": claims({ htm: undefined }, wrong("htm")),
  "a list of methods": claims(({ method }) => ({ htm: [method] }), /htm/),
  "another path": claims(({ url }) => ({ htu: `${publicUrl}${url}/x` }), /htu/),
  "another host": claims(({ url }) => ({ htu: `https://evil.test${url}` }), /htu/),
  "another scheme": claims(({ url }) => ({ htu: publicUrl.replace("https", "http") + url }), /htu/),
  "another port": claims(({ url }) => ({ htu: `${publicUrl}:8443${url}` }), /htu/),
  "only the path": claims(({ url }) => ({ htu: url }), /htu/),
  "no URL": claims({ htu: undefined }, wrong("htu")),
  "a URL that is a list": claims(({ url }) => ({ htu: [publicUrl + url] }), /htu/),
  "another path that is equal when decoded": claims(
    ({ url }) => ({ htu: publicUrl + url.replace("/v1/", "/v1%2F") }),
    /htu/,
  ),

  "a time a second too old": claims(({ now }) => ({ iat: now - 61 }), /iat/),
  "a time a second too far ahead": claims(({ now }) => ({ iat: now + 61 }), /iat/),
  "a time in milliseconds": claims(({ now }) => ({ iat: now * 1000 }), /iat/),
  "a time as text": claims(({ now }) => ({ iat: String(now) }), wrong("iat")),
  "no time": claims({ iat: undefined }, wrong("iat")),
  "an expiry in the past": claims(({ now }) => ({ exp: now - 61 }), /Its "exp" is in the past/),
  "a start in the future": claims(({ now }) => ({ nbf: now + 61 }), wrong("nbf")),

  "no id": claims({ jti: undefined }, wrong("jti")),
  "an empty id": claims({ jti: "" }, /jti/),
  "an id that is a number": claims({ jti: 7 }, /jti/),
  "an id of 257 characters": claims({ jti: "x".repeat(257) }, /jti/),

  "no hash of the token": claims({ ath: undefined }, wrong("ath")),
  "the hash of another token": {
    make: async ({ client, method, url }) => client.proof({ method, url }, await client.token()),
    says: /ath/,
  },
  "the token in place of its hash": claims(({ token }) => ({ ath: token }), /ath/),
};

describe("an invalid proof", () => {
  let client: TokenClient;
  let cartId = "";
  beforeAll(async () => {
    client = await createTokenClient(world());
    cartId = (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;
    // Loads the signing keys into the cache.
    await client.send({ url: describeUrl });
  });

  const attemptAt = async (method: string, url: string): Promise<Attempt> => {
    const token = await client.token();
    const now = Math.floor(world().clock.now().getTime() / 1000);
    return {
      client,
      token,
      method,
      url,
      now,
      altered: (altered) => client.proof({ method, url }, token, altered),
    };
  };

  const calls = (): { method: string; url: string; body?: unknown }[] => [
    { method: "GET", url: describeUrl },
    { method: "GET", url: "/api/v1/open/identity" },
    {
      method: "PUT",
      url: `${cartsUrl}/${cartId}/promotion`,
      body: { code: world().demo.promotionCodes.percentage },
    },
  ];

  it("has more than 25 variants", () => {
    expect(Object.keys(wrongProofs).length).toBeGreaterThanOrEqual(25);
  });

  it.each(Object.keys(wrongProofs))("is refused: %s", async (name) => {
    const { make, code = "dpop_proof_invalid", says = /./ } = wrongProofs[name] ?? { make: () => undefined };
    for (const { method, url, body } of calls()) {
      const attempt = await attemptAt(method, url);
      const proof = await make(attempt);
      const before = await state();
      const headers = {
        authorization: `DPoP ${attempt.token}`,
        "idempotency-key": randomUUID(),
        ...(proof === undefined ? {} : { dpop: proof as string }),
      };
      const [statements, answer] = await statementsAndAnswerOf(world(), () =>
        client.send({ method, url, headers, body }),
      );
      expect(statements).toEqual([]);
      expectError(answer, {
        status: 401,
        code,
        headers: { "www-authenticate": dpopChallengeFor("invalid_dpop_proof") },
      });
      expect(answer.body.error.message).toMatch(says);
      expect(await state()).toEqual(before);
    }
  });

  it("is the only reason for the refusals: the same calls with a valid proof succeed", async () => {
    for (const call of calls())
      expect((await client.send({ ...call, headers: { "idempotency-key": randomUUID() } })).status).toBe(200);
  });

  const state = async (): Promise<unknown> => {
    const { db } = world().database;
    const [proofs, records, carts] = await Promise.all([
      db.selectFrom("dpopProof").select("digest").execute(),
      db.selectFrom("idempotencyRecord").select("idempotencyKey").execute(),
      db.selectFrom("cart").select("version").where("id", "=", cartId).execute(),
    ]);
    return { proofs: proofs.length, records: records.length, carts };
  };
});
