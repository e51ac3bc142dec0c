/**
 * Proofs of possession (RFC 9449 section 4.3): a JWT per request, signed with the key that the access token
 * is bound to, which names the request and the token and is good for one use. Everything here refuses with
 * `dpop_proof_invalid`, saying which check it was.
 */
import { createHash } from "node:crypto";
import {
  calculateJwkThumbprint,
  EmbeddedJWK,
  errors,
  type JWTPayload,
  type JWTVerifyResult,
  jwtVerify,
} from "jose";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { type Failure, fail } from "#foundation/failure.ts";
import { dpopProofAlgorithms, tokenSigningAlgorithms } from "#access/authorization.ts";

/** How far the proof's clock may be from ours. */
const skewSeconds = 60;
const usedForMs = 300_000;
const jtiLengthMax = 256;

export interface ProvenRequest {
  readonly method: string;
  /** As the client must have called it: the public address and the path. */
  readonly url: string;
  readonly token: string;
  /** The thumbprint of the key that the token is bound to (RFC 7638). */
  readonly thumbprint: string;
  readonly now: Date;
}

export interface VerifiedProof {
  readonly thumbprint: string;
  readonly jti: string;
}

/** What is left to do is to take note of its use. */
export async function verifyDpopProof(proof: string, request: ProvenRequest): Promise<VerifiedProof> {
  const { protectedHeader, payload } = await verified(proof, request.now);
  const { jwk } = protectedHeader;
  if (jwk === undefined || privateMembers.some((member) => Object.hasOwn(jwk, member)))
    throw refused("Its header's jwk must be a public key.");
  if ((await calculateJwkThumbprint(jwk)) !== request.thumbprint)
    throw refused("It was signed with another key than the one the token is bound to.");
  requireFresh(payload, request.now);
  if (payload["htm"] !== request.method) throw refused("Its htm is not the request's method.");
  if (!isSameAddress(payload["htu"], request.url))
    throw refused(`Its htu is not the request's address at ${new URL(request.url).origin}.`);
  if (payload["ath"] !== createHash("sha256").update(request.token).digest("base64url"))
    throw refused("Its ath is not the access token's hash.");
  const { jti } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > jtiLengthMax)
    throw refused(`Its jti must have 1 to ${jtiLengthMax} characters.`);
  return { thumbprint: request.thumbprint, jti };
}

const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

async function verified(proof: string, now: Date): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...dpopProofAlgorithms],
      typ: "dpop+jwt",
      currentDate: now,
      clockTolerance: skewSeconds,
      requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
    });
  } catch (cause) {
    throw refused(reasonOf(cause));
  }
}

/** In our own words: the library's may have the caller's in them. */
function reasonOf(cause: unknown): string {
  if (cause instanceof errors.JOSEAlgNotAllowed)
    return `Its alg must be ${tokenSigningAlgorithms.join(" or ")}.`;
  if (cause instanceof errors.JWSSignatureVerificationFailed)
    return "Its signature is not of the key in its header.";
  if (cause instanceof errors.JWTExpired) return "Its exp is over.";
  if (cause instanceof errors.JWTClaimValidationFailed)
    return `Its ${cause.claim} is missing or is not what it must be.`;
  return "It is not a JWT with a public key in its header.";
}

function requireFresh({ iat }: JWTPayload, now: Date): void {
  const isFresh = typeof iat === "number" && Math.abs(now.getTime() / 1000 - iat) <= skewSeconds;
  if (!isFresh)
    throw refused(`Its iat is more than ${skewSeconds} s away from the server's time, ${now.toISOString()}.`);
}

const refused = (why: string): Failure =>
  fail("dpop_proof_invalid", { message: `The DPoP proof does not hold. ${why}` });

function isSameAddress(claimed: unknown, url: string): boolean {
  return (
    typeof claimed === "string" &&
    normalizeProofUrl(claimed) !== undefined &&
    normalizeProofUrl(claimed) === normalizeProofUrl(url)
  );
}

const httpAddress = /^https?:\/\/[!-[\]-~]+$/i;

/**
 * RFC 3986 section 6.2.2 and 6.2.3, without query and fragment; undefined where it is no address. The parser
 * leaves percent-encodings as they are.
 */
export function normalizeProofUrl(text: string): string | undefined {
  if (!httpAddress.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.search = "";
  url.hash = "";
  return url.href.replaceAll(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/** Refused when it was used before: of any number at once, whose row is first wins. */
export async function consumeDpopProof(
  db: Database,
  { thumbprint, jti }: VerifiedProof,
  now: Date,
): Promise<void> {
  const digest = createHash("sha256").update(`${thumbprint}.${jti}`).digest();
  const first = await db
    .insertInto("dpopProof")
    .values({ digest, expiresAt: new Date(now.getTime() + usedForMs) })
    .onConflict((conflict) => conflict.column("digest").doNothing())
    .returning("digest")
    .executeTakeFirst();
  if (first === undefined) throw refused("It was used before.");
}

const sweptAtOnce = 1000;

/** Proofs that are too old to be used again anyway. */
export async function sweepDpopProofs(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from dpop_proof where digest in (
        select digest from dpop_proof where expires_at <= ${now} order by expires_at limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}
