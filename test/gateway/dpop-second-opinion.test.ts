/**
 * Compares the check of tokens and DPoP proofs with oauth4webapi: oauth4webapi also accepts everything that
 * this service accepts, for any changed part.
 */
import fc from "fast-check";
import {
  type AuthorizationServer,
  clockSkew,
  clockTolerance,
  jwksCache,
  validateJwtAccessToken,
} from "oauth4webapi";
import { beforeAll, expect, it } from "vitest";
import { createOauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import { type JwtOverrides, createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import "#test/support/properties.ts";

const world = useWorld();
const url = "/api/v1/open/identity";
let client: TokenClient;
beforeAll(async () => {
  client = await createTokenClient(world());
});

const server: AuthorizationServer = { issuer: publicUrl, jwks_uri: `${publicUrl}/oauth/jwks` };

async function isAcceptedByLibrary(token: string, proof: string): Promise<boolean> {
  const { database, app, clock } = world();
  const { keys } = await createOauthSigningKeyProvider({
    db: database.db,
    keyring: app.services.keyring,
    clock,
  }).publicJwks();
  const realSeconds = Math.floor(Date.now() / 1000);
  const request = new Request(publicUrl + url, { headers: { authorization: `DPoP ${token}`, dpop: proof } });
  return validateJwtAccessToken({ ...server }, request, `${publicUrl}/api`, {
    requireDPoP: true,
    signingAlgorithms: ["ES256", "EdDSA", "Ed25519"],
    [jwksCache]: { jwks: structuredClone({ keys }), uat: realSeconds },
    [clockSkew]: Math.floor(clock.now().getTime() / 1000) - realSeconds,
    [clockTolerance]: 60,
  }).then(
    () => true,
    () => false,
  );
}

const now = (): number => Math.floor(world().clock.now().getTime() / 1000);
/** The values that replace a header parameter or claim, of the expected type and of others. */
const values: readonly (() => unknown)[] = [
  () => undefined,
  () => null,
  () => true,
  () => 0,
  () => -1,
  () => now(),
  () => now() - 30,
  () => now() + 30,
  () => now() + 61,
  () => now() + 600,
  () => now() + 0.5,
  () => String(now()),
  () => "",
  () => "x",
  () => "GET",
  () => "get",
  () => publicUrl,
  () => `${publicUrl}/api`,
  () => [`${publicUrl}/api`, "https://other.test"],
  () => [`${publicUrl}/api`, 7],
  () => publicUrl + url,
  () => `${publicUrl}${url}?x=1#y`,
  () => `${publicUrl.toUpperCase()}:443${url}`,
  () => ({}),
  () => ({ jkt: client.thumbprint }),
  () => ({ jkt: client.thumbprint, "x5t#S256": "x" }),
  () => ({ jkt: [client.thumbprint] }),
  () => ({ ...client.publicJwk, kid: "x", ext: true }),
  () => ({ ...client.publicJwk, use: "sig", key_ops: ["verify"] }),
  () => ({ ...client.publicJwk, use: "enc" }),
  () => ({ ...client.publicJwk, alg: "ES384" }),
  () => ({ ...client.publicJwk, d: "" }),
  () => ({ ...client.publicJwk, key_ops: ["sign"] }),
  () => "at+jwt",
  () => "application/AT+JWT",
  () => "application/dpop+jwt",
  () => "DPoP+JWT",
  () => "JWT",
];

/** Pairs of a name and the index of the value that replaces the original one. */
interface Parts {
  readonly header: readonly (readonly [string, number])[];
  readonly claims: readonly (readonly [string, number])[];
}

const alterations = (headerNames: readonly string[], claimNames: readonly string[]): fc.Arbitrary<Parts> => {
  const some = (names: readonly string[]): fc.Arbitrary<[string, number][]> =>
    fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(values.length - 1)), { maxLength: 2 });
  return fc.record({ header: some(headerNames), claims: some(claimNames) });
};
const madeOf = ({ header, claims }: Parts): JwtOverrides => {
  const made = (parts: Parts["header"]): Record<string, unknown> =>
    Object.fromEntries(parts.map(([name, index]) => [name, values[index]?.()]));
  return { header: made(header), claims: made(claims) };
};
const straight = fc.constant<Parts>({ header: [], claims: [] });
const alteredToken = alterations(
  ["typ", "jwk", "cty"],
  ["iss", "aud", "sub", "client_id", "jti", "iat", "exp", "nbf", "cnf", "scope"],
);
const alteredProof = alterations(["typ", "jwk", "kid"], ["htm", "htu", "iat", "jti", "exp", "nbf", "nonce"]);

it("the proof check refuses every proof that oauth4webapi refuses", async () => {
  const seen = { byBoth: 0, byOthersAlone: 0, byNone: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.tuple(alteredToken, straight), fc.tuple(straight, alteredProof)),
      async ([token, proof]) => {
        const presented = await client.token(madeOf(token));
        const shown = await client.proof({ url }, presented, madeOf(proof));
        const others = await isAcceptedByLibrary(presented, shown);
        const { status } = await client.send({
          url,
          headers: { authorization: `DPoP ${presented}`, dpop: shown },
        });
        if (status === 200) expect(others).toBe(true);
        else expect(status).toBe(401);
        seen[status === 200 ? "byBoth" : others ? "byOthersAlone" : "byNone"] += 1;
      },
    ),
    { numRuns: 400 },
  );
  // The comparison is only meaningful if enough proofs were accepted and refused by both.
  expect(Math.min(seen.byBoth, seen.byNone)).toBeGreaterThan(50);
});
