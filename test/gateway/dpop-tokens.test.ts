/**
 * Invalid access tokens, each with an otherwise valid DPoP proof, are refused with their error code and
 * change nothing.
 */
import { randomUUID } from "node:crypto";
import { exportJWK, generateKeyPair } from "jose";
import { beforeAll, describe, expect, it } from "vitest";
import { createOauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import type { FailureCode } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { cartsUrl, makeCart } from "#test/operations/cart-calls.ts";
import { dpopChallengeFor, expectError } from "#test/support/expect-error.ts";
import {
  type JwtOverrides,
  type ClientOptions,
  createTokenClient,
  type TokenClient,
  unsigned,
} from "#test/support/token-client.ts";
import { statementsAndAnswerOf, useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";

const world = useWorld();
const identityUrl = "/api/v1/open/identity";
const seconds = (): number => Math.floor(world().clock.now().getTime() / 1000);

interface Wrong {
  readonly make: (client: TokenClient) => Promise<string> | string;
  readonly code?: FailureCode;
}

const altered = (parts: JwtOverrides | (() => JwtOverrides)): Wrong => ({
  make: (client) => client.token(typeof parts === "function" ? parts() : parts),
});
const claims = (
  parts: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>),
): Wrong => altered(() => ({ claims: typeof parts === "function" ? parts() : parts }));
const usualClaims = ({
  staffId,
  clientId,
  grantId,
  thumbprint,
}: TokenClient): Readonly<Record<string, unknown>> => ({
  iss: publicUrl,
  aud: `${publicUrl}/api`,
  sub: staffId,
  client_id: clientId,
  grant_id: grantId,
  scope: "catalog:read",
  cnf: { jkt: thumbprint },
  jti: randomUUID(),
  iat: seconds(),
  exp: seconds() + 600,
});
const kidOf = async (client: TokenClient): Promise<string> =>
  (
    JSON.parse(Buffer.from((await client.token()).split(".")[0] ?? "", "base64url").toString()) as {
      kid: string;
    }
  ).kid;
const otherKey = async (): Promise<{
  key: Awaited<ReturnType<typeof generateKeyPair>>["privateKey"];
  jwk: object;
}> => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  return { key: privateKey, jwk: await exportJWK(publicKey) };
};

const wrongTokens: Readonly<Record<string, Wrong>> = {
  "no JWT": { make: () => "token" },
  "an API key": { make: () => world().demo.keys.full },
  "an internal token": { make: () => world().demo.tokens.admin },
  "an encrypted JWT": { make: () => "a.b.c.d.e" },
  "a JWT without JSON": { make: () => "YQ.YQ.YQ" },
  "no type": altered({ header: { typ: undefined } }),
  "the type JWT, as of an ID token": altered({ header: { typ: "JWT" } }),
  "a proof's type": altered({ header: { typ: "dpop+jwt" } }),
  "the algorithm none": {
    make: async (client) =>
      unsigned({ alg: "none", typ: "at+jwt", kid: await kidOf(client) }, usualClaims(client)),
  },
  "a symmetric algorithm, keyed with the public key": {
    make: async (client) => {
      const { db } = world().database;
      const rows = await db.selectFrom("oauthSigningKey").select("publicJwk").execute();
      return client.token({
        header: { alg: "HS256" },
        key: new TextEncoder().encode(JSON.stringify(rows[0]?.publicJwk)),
      });
    },
  },
  "a critical extension": altered({ header: { crit: ["exp"], exp: 1 } }),
  "no key id": altered({ header: { kid: undefined } }),
  "an unknown key id": altered({ header: { kid: "unknown" } }),
  "a key id that is a number": altered({ header: { kid: 7 } }),
  "the id of the key for the other algorithm": {
    make: async (client) => {
      const other = await createTokenClient(world(), { algorithm: "EdDSA" });
      return client.token({ header: { kid: await kidOf(other) } });
    },
  },
  "another key under a known id": { make: async (client) => client.token({ key: (await otherKey()).key }) },
  "another key in its header": {
    make: async (client) => {
      const { key, jwk } = await otherKey();
      return client.token({ header: { jwk }, key });
    },
  },
  "the client's own key": {
    make: (client) => client.token({ key: client.privateKey, header: { jwk: client.publicJwk } }),
  },
  "another key in its header without a key id": {
    make: async (client) => {
      const { key, jwk } = await otherKey();
      return client.token({ header: { jwk, kid: undefined }, key });
    },
  },
  "an empty signature": {
    make: async (client) => `${(await client.token()).split(".").slice(0, 2).join(".")}.`,
  },
  "claims with the signature of others": {
    make: async (client) => {
      const [one, other] = await Promise.all([
        client.token(),
        client.token({ claims: { scope: "catalog:read" } }),
      ]);
      return [one.split(".")[0], other.split(".")[1], one.split(".")[2]].join(".");
    },
  },
  "another issuer": claims({ iss: "https://evil.test" }),
  "the issuer with a slash": claims({ iss: `${publicUrl}/` }),
  "no issuer": claims({ iss: undefined }),
  "another audience": claims({ aud: "https://evil.test/api" }),
  "the issuer for an audience": claims({ aud: publicUrl }),
  "a list of other audiences": claims({ aud: ["https://evil.test", publicUrl] }),
  "no audience": claims({ aud: undefined }),
  "an expiry that is now": { ...claims(() => ({ exp: seconds() })), code: "oauth_token_expired" },
  "an expiry in the past": { ...claims(() => ({ exp: seconds() - 86_400 })), code: "oauth_token_expired" },
  "an expiry in the past and another audience": claims(() => ({
    exp: seconds() - 86_400,
    aud: "https://evil.test",
  })),
  "no expiry": claims({ exp: undefined }),
  "an expiry that is text": claims(() => ({ exp: String(seconds() + 600) })),
  "a start in the future": claims(() => ({ nbf: seconds() + 60 })),
  "no person": claims({ sub: undefined }),
  "another person": claims(() => ({ sub: createId("staff") })),
  "no client": claims({ client_id: undefined }),
  "another client": claims(() => ({ client_id: createId("oauthClient") })),
  "no grant": claims({ grant_id: undefined }),
  "a malformed grant id": claims({ grant_id: "1" }),
  "a grant that is a list": claims(() => ({ grant_id: [createId("oauthGrant")] })),
  "an unknown grant": claims(() => ({ grant_id: createId("oauthGrant") })),
  "another person's grant": {
    make: async (client) =>
      client.token({ claims: { grant_id: (await createTokenClient(world())).grantId } }),
  },
  "no binding to a key": claims({ cnf: undefined }),
  "a binding to nothing": claims({ cnf: {} }),
  "a binding to null": claims({ cnf: null }),
  "a binding that is text": claims({ cnf: "key" }),
  "an additional binding to a certificate": {
    make: (client) => client.token({ claims: { cnf: { jkt: client.thumbprint, "x5t#S256": "a" } } }),
  },
  "no token id": claims({ jti: undefined }),
  "an id that is null": claims({ jti: null }),
  "a binding to a certificate": claims({ cnf: { "x5t#S256": "a" } }),
  "a binding to another key": {
    make: async (client) =>
      client.token({ claims: { cnf: { jkt: (await createTokenClient(world())).thumbprint } } }),
    code: "dpop_proof_invalid",
  },
};

describe("an invalid access token", () => {
  let client: TokenClient;
  let cartId = "";
  beforeAll(async () => {
    client = await createTokenClient(world());
    cartId = (await makeCart(world(), { lines: { "KIT-KVERN": 1 } })).id;
  });

  const versions = async (): Promise<unknown> => {
    const { db } = world().database;
    const records = await db.selectFrom("idempotencyRecord").select("idempotencyKey").execute();
    return [records.length, await db.selectFrom("cart").select("version").where("id", "=", cartId).execute()];
  };

  const expectRefused = async (holder: TokenClient, token: string, code: FailureCode): Promise<void> => {
    const calls = [
      { method: "GET", url: identityUrl },
      {
        method: "PUT",
        url: `${cartsUrl}/${cartId}/promotion`,
        body: { code: world().demo.promotionCodes.percentage },
      },
    ];
    for (const { method, url, body } of calls) {
      const headers = {
        authorization: `DPoP ${token}`,
        dpop: await holder.proof({ method, url }, token),
        "idempotency-key": randomUUID(),
      };
      const before = await versions();
      const [statements, answer] = await statementsAndAnswerOf(world(), () =>
        holder.send({ method, url, headers, body }),
      );
      expect(statements.filter((text) => !/"oauth_signing_key"|oauth_grant\b/.test(text))).toEqual([]);
      const error = code.startsWith("dpop_proof_") ? "invalid_dpop_proof" : "invalid_token";
      expectError(answer, { status: 401, code, headers: { "www-authenticate": dpopChallengeFor(error) } });
      expect(await versions()).toEqual(before);
    }
  };

  it.each(Object.keys(wrongTokens))("is refused: %s", async (name) => {
    const { make, code = "oauth_token_invalid" } = wrongTokens[name] ?? { make: () => "" };
    await expectRefused(client, await make(client), code);
  });

  const ends: Readonly<Record<string, (holder: TokenClient) => Promise<unknown>>> = {
    "was revoked": ({ grantId }) => setGrant(grantId, { revokedAt: world().clock.now() }),
    "has ended": ({ grantId }) => setGrant(grantId, { expiresAt: world().clock.now() }),
    "is of a client that was disabled": ({ clientId }) =>
      world()
        .database.db.updateTable("oauthClient")
        .set({ disabledAt: world().clock.now() })
        .where("id", "=", clientId)
        .execute(),
    "is of an installation that was uninstalled": ({ installationId }) =>
      world()
        .database.db.updateTable("installation")
        .set({ status: "uninstalled" })
        .where("id", "=", installationId)
        .execute(),
  };
  const setGrant = (grantId: string, columns: { revokedAt?: Date; expiresAt?: Date }): Promise<unknown> =>
    world().database.db.updateTable("oauthGrant").set(columns).where("id", "=", grantId).execute();
  const options: ClientOptions = { merchant: "second" };

  it.each(Object.keys(ends))("is a token whose grant %s", async (name) => {
    const holder = await createTokenClient(world(), options);
    expect((await holder.send({ url: identityUrl })).status).toBe(200);
    await ends[name]?.(holder);
    await expectRefused(holder, await holder.token(), "oauth_token_invalid");
  });

  it("is refused from the second in which it expires", async () => {
    const token = await client.token();
    const send = async (): Promise<number> => {
      const headers = {
        authorization: `DPoP ${token}`,
        dpop: await client.proof({ url: identityUrl }, token),
      };
      return (await client.send({ url: identityUrl, headers })).status;
    };
    const { exp } = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
      exp: number;
    };
    world().clock.at = new Date(exp * 1000 - 1);
    expect(await send()).toBe(200);
    world().clock.advance(1);
    await expectRefused(client, token, "oauth_token_expired");
  });

  it("is a token signed with a retired signing key", async () => {
    const { database, clock, app } = world();
    const token = await client.token({ claims: { exp: seconds() + 86_400 } });
    await createOauthSigningKeyProvider({ db: database.db, keyring: app.services.keyring, clock }).rotate();
    clock.advance(120_000);
    await createTokenClient(world()).then(async (other) =>
      expect((await other.send({ url: identityUrl })).status).toBe(200),
    );
    clock.advance(3_600_000);
    await expectRefused(client, token, "oauth_token_invalid");
  });
});
