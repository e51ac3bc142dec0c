/**
 * The attempts of the module `fapi2-security-profile-final-dpop-negative-tests`: a protected resource is read
 * with proofs that are wrong in one part, or unusual in one part and still right.
 */
import { exportJWK, generateKeyPair } from "jose";
import { expect } from "vitest";
import { type JwtOverrides, unsigned } from "#test/support/token-client.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  createDpopKey,
  expectTokens,
  getCode,
  type Granted,
  proveResource,
  readResource,
  redeemCode,
  resourcePath,
  type SuiteClient,
} from "./conformance-driver.ts";

const url = publicUrl + resourcePath;
const { host } = new URL(publicUrl);

/** Changes of a proof with which the resource must be refused, by the block of the module. */
const refused: Readonly<Record<string, (now: number) => JwtOverrides>> = {
  "typ is missing": () => ({ header: { typ: undefined } }),
  "jwk is missing": () => ({ header: { jwk: undefined } }),
  "jti is missing": () => ({ claims: { jti: undefined } }),
  "htm is missing": () => ({ claims: { htm: undefined } }),
  "htu is missing": () => ({ claims: { htu: undefined } }),
  "iat is missing": () => ({ claims: { iat: undefined } }),
  "ath is missing": () => ({ claims: { ath: undefined } }),
  "invalid typ": () => ({ header: { typ: "JWT" } }),
  "incorrect htm": () => ({ claims: { htm: "PUT" } }),
  "htu of another URL": () => ({ claims: { htu: `${url}/other` } }),
  "iat one hour in the future": (now) => ({ claims: { iat: now + 3600 } }),
  "iat one hour in the past": (now) => ({ claims: { iat: now - 3600 } }),
  "incorrect ath": () => ({ claims: { ath: "YQ" } }),
};

/** Changes of a proof with which the resource must be given. */
const accepted: Readonly<Record<string, JwtOverrides>> = {
  "htu with a query and a fragment": { claims: { htu: `${url}?query=1#fragment` } },
  "htu without the query": {},
  "unknown header and claim": { header: { unknown: "1" }, claims: { unknown: "1" } },
  "scheme and host in upper case": { claims: { htu: `HTTPS://${host.toUpperCase()}${resourcePath}` } },
  "the default port": { claims: { htu: `https://${host}:443${resourcePath}` } },
};

type Proof = string | readonly string[] | null;

/** Proofs that are wrong as a whole. */
async function createWrongProofs(granted: Granted, token: string): Promise<Record<string, Proof>> {
  const good = await proveResource(granted, token);
  const [head = "", claims = "", signature = ""] = good.split(".");
  const header = JSON.parse(Buffer.from(head, "base64url").toString()) as Record<string, unknown>;
  const body: unknown = JSON.parse(Buffer.from(claims, "base64url").toString());
  const { alg: _alg, ...withoutAlg } = header;
  const rsa = await generateKeyPair("RS256", { extractable: true });
  const pair = await generateKeyPair("ES256", { extractable: true });
  return {
    "more than one proof": [good, await proveResource(granted, token)],
    "not a JWT": good.replaceAll(".", ""),
    "alg is missing": unsigned(withoutAlg, body, signature),
    RS256: await proveResource(granted, token, {
      header: { alg: "RS256", jwk: await exportJWK(rsa.publicKey) },
      key: rsa.privateKey,
    }),
    "alg none": unsigned({ ...header, alg: "none" }, body),
    "invalid signature": `${head}.${claims}.${Buffer.alloc(64, 1).toString("base64url")}`,
    "private key in jwk": await proveResource(granted, token, {
      header: { jwk: await exportJWK(pair.privateKey) },
      key: pair.privateKey,
    }),
    "another key": await proveResource({ ...granted, key: await createDpopKey() }, token),
    "no proof": null,
  };
}

export async function checkDpopProofRefusals(suite: SuiteClient): Promise<void> {
  const granted = await getCode(suite);
  const { access } = expectTokens(await redeemCode(granted));
  const read = async (proof: Proof, scheme = "DPoP"): Promise<number> =>
    (await readResource(granted, access, { proof, scheme })).status;
  const now = Math.floor(suite.world.clock.now().getTime() / 1000);
  const answers: [string, number][] = [];
  for (const [name, change] of Object.entries(refused))
    answers.push([name, await read(await proveResource(granted, access, change(now)))]);
  for (const [name, proof] of Object.entries(await createWrongProofs(granted, access)))
    answers.push([name, await read(proof)]);
  answers.push(["no proof, Bearer", await read(null, "Bearer")]);
  expect(answers.filter(([, status]) => ![400, 401].includes(status))).toEqual([]);
  expect(answers.length).toBe(Object.keys(refused).length + 10);

  for (const [name, change] of Object.entries(accepted))
    expect([name, await read(await proveResource(granted, access, change))]).toEqual([name, 200]);
  const once = await proveResource(granted, access);
  expect([await read(once), await read(once)]).toEqual([200, 401]);
  expect(await read(await proveResource(granted, access))).toBe(200);
}
