/**
 * DPoP proofs (RFC 9449 section 4.3): an app proves with each request that it has the private key to which
 * its access token is bound. A proof is a JWT that is signed with this key, names the request and the token,
 * and can be used only once. All functions of this file refuse a proof with `dpop_proof_invalid` and say
 * which check failed.
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
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import { type Failure, createFailure } from "#foundation/failure.ts";
import { dpopProofAlgorithms, tokenSigningAlgorithms } from "#access/authorization.ts";

/** Maximum difference in seconds between the time in the proof (`iat`) and the server's time. */
const skewSeconds = 60;
const replayWindowMs = 300_000;
const jtiLengthMax = 256;

export interface DpopProtectedRequest {
  readonly method: string;
  /** The URL that the proof must name: PUBLIC_URL followed by the path of the request. */
  readonly url: string;
  readonly token: string;
  /**
   * Thumbprint (RFC 7638) of the key to which the access token is bound; the proof must be signed with this
   * key.
   */
  readonly thumbprint: string;
  readonly now: Date;
}

export interface VerifiedDpopProof {
  readonly thumbprint: string;
  readonly jti: string;
}

/**
 * Checks a DPoP proof against the request and the token. The caller must then record the use of the proof
 * (`recordFirstUseOfDpopProof`).
 */
export async function verifyDpopProof(
  proof: string,
  request: DpopProtectedRequest,
): Promise<VerifiedDpopProof> {
  const { protectedHeader, payload } = await verifySignature(proof, request.now);
  const { jwk } = protectedHeader;
  if (jwk === undefined || privateMembers.some((member) => Object.hasOwn(jwk, member)))
    throw proofFailure('The "jwk" in its header must be a public key.');
  if ((await calculateJwkThumbprint(jwk)) !== request.thumbprint)
    throw proofFailure("It must be signed with the key that the access token is bound to.");
  requireFresh(payload, request.now);
  if (payload["htm"] !== request.method) throw proofFailure('Its "htm" must be the request\'s HTTP method.');
  if (!isSameUrl(payload["htu"], request.url))
    throw proofFailure(`Its "htu" must be the request's URL at ${new URL(request.url).origin}.`);
  if (payload["ath"] !== createHash("sha256").update(request.token).digest("base64url"))
    throw proofFailure('Its "ath" must be the SHA-256 hash of the access token in base64url.');
  const { jti } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > jtiLengthMax)
    throw proofFailure(`Its "jti" must have 1 to ${jtiLengthMax} characters.`);
  return { thumbprint: request.thumbprint, jti };
}

const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];

async function verifySignature(proof: string, now: Date): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...dpopProofAlgorithms],
      typ: "dpop+jwt",
      currentDate: now,
      clockTolerance: skewSeconds,
      requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
    });
  } catch (cause) {
    throw proofFailure(reasonOf(cause));
  }
}

/**
 * Explains why a proof was refused. The library's messages are not used, because they may contain text that
 * the caller sent.
 */
function reasonOf(cause: unknown): string {
  if (cause instanceof errors.JOSEAlgNotAllowed)
    return `Its "alg" must be ${tokenSigningAlgorithms.join(" or ")}.`;
  if (cause instanceof errors.JWSSignatureVerificationFailed)
    return "Its signature must match the key in its header.";
  if (cause instanceof errors.JWTExpired) return 'Its "exp" is in the past.';
  if (cause instanceof errors.JWTClaimValidationFailed) return `Its "${cause.claim}" is missing or wrong.`;
  return "It must be a JWT with a public key in its header.";
}

function requireFresh({ iat }: JWTPayload, now: Date): void {
  const isFresh = typeof iat === "number" && Math.abs(now.getTime() / 1000 - iat) <= skewSeconds;
  if (!isFresh)
    throw proofFailure(
      `Its "iat" must be at most ${skewSeconds} s from the server's time, ${now.toISOString()}.`,
    );
}

const proofFailure = (reason: string): Failure =>
  createFailure("dpop_proof_invalid", { message: `The DPoP proof is not valid. ${reason}` });

function isSameUrl(claimed: unknown, url: string): boolean {
  return (
    typeof claimed === "string" &&
    normalizeDpopProofUrl(claimed) !== undefined &&
    normalizeDpopProofUrl(claimed) === normalizeDpopProofUrl(url)
  );
}

const httpUrlFormat = /^https?:\/\/[!-[\]-~]+$/i;

/**
 * Normalizes a URL by RFC 3986 sections 6.2.2 and 6.2.3, without query and fragment. Returns undefined if the
 * text is not an HTTP URL. Percent-encodings are normalized here, because the URL parser leaves them
 * unchanged.
 */
export function normalizeDpopProofUrl(text: string): string | undefined {
  if (!httpUrlFormat.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  url.search = "";
  url.hash = "";
  return url.href.replaceAll(/%[\da-f]{2}/gi, (encoded) => {
    const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
  });
}

/**
 * Records the use of a proof. Refuses a proof that has been used before; if several requests use a proof at
 * the same time, all but one are refused.
 */
export async function recordFirstUseOfDpopProof(
  db: Database,
  { thumbprint, jti }: VerifiedDpopProof,
  now: Date,
): Promise<void> {
  const digest = createHash("sha256").update(`${thumbprint}.${jti}`).digest();
  const first = await db
    .insertInto("dpopProof")
    .values({ digest, expiresAt: new Date(now.getTime() + replayWindowMs) })
    .onConflict((conflict) => conflict.column("digest").doNothing())
    .returning("digest")
    .executeTakeFirst();
  if (first === undefined) throw proofFailure("It was already used: create a new proof for every request.");
}

/**
 * Deletes the records of used DPoP proofs that are too old to be accepted again. Returns the number of
 * deleted records.
 */
export async function deleteExpiredDpopProofs(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return deleteRowsInBatches(
    db,
    { table: "dpop_proof", where: sql`expires_at <= ${now}`, orderBy: sql`expires_at` },
    signal,
  );
}
