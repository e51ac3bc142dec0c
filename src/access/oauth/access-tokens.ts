/**
 * Access tokens at the resource server: JWTs of our own authorization server (RFC 9068), each bound to a key
 * of the client (RFC 9449) and good for as long as the grant behind it is. jose verifies them: oauth4webapi's
 * validateJwtAccessToken tells neither token from proof in its refusals nor the injected clock's time, and
 * lets a proof be five minutes old.
 */
import { decodeProtectedHeader, errors, type JWK, type JWTPayload, jwtVerify } from "jose";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Reader } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { type Failure, fail } from "#foundation/failure.ts";
import { isId } from "#foundation/ids.ts";
import { recordUseOncePerMinute, credentialSuspension } from "#access/keys/verify-keys.ts";
import { verifyDpopProof, consumeDpopProof } from "./dpop.ts";
import { accessTokenAudience, tokenSigningAlgorithms } from "#access/authorization.ts";
import { isScope, type OAuthViewer } from "#access/viewer.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface PresentedAccessToken {
  readonly token: string;
  /** The values of all DPoP header lines. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** As it was called, without the query. */
  readonly path: string;
}

export interface AccessTokenServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly signingKeys: Pick<SigningKeys, "publicJwks">;
  /** The database unless told. */
  readonly findGrant?: (grantId: string) => Promise<GrantState | undefined>;
}

/** Throws where the viewer is not served whatever else is true. */
export type AdmitViewer<Viewer> = (viewer: Viewer) => Promise<void> | void;

export type VerifyAccessToken = (
  presented: PresentedAccessToken,
  admit?: AdmitViewer<OAuthViewer>,
) => Promise<OAuthViewer>;

/**
 * The token first, so that a proof is only ever read for one that is ours; its use is noted last, so that
 * nothing is written for a token that is wrong, revoked or not admitted.
 */
export function createAccessTokenVerifier({
  db,
  clock,
  publicUrl,
  signingKeys,
  findGrant = (id) => findGrantState(db, id),
}: AccessTokenServices): VerifyAccessToken {
  return async ({ token, proofs, method, path }, admit) => {
    const now = clock.now();
    const [proof, second] = proofs;
    if (proof === undefined) throw fail("dpop_proof_missing");
    if (second !== undefined)
      throw fail("dpop_proof_invalid", { message: "There is more than one DPoP header." });
    const claims = await readToken(token, { publicUrl, now, signingKeys });
    const used = await verifyDpopProof(proof, {
      method,
      url: publicUrl + path,
      token,
      thumbprint: claims.thumbprint,
      now,
    });
    const viewer = viewerOf(claims, await findGrant(claims.grantId), now);
    await admit?.(viewer);
    await consumeDpopProof(db, used, now);
    return viewer;
  };
}

interface TokenClaims {
  readonly grantId: string;
  readonly clientId: string;
  readonly staffId: string;
  readonly scopes: readonly string[];
  readonly thumbprint: string;
}

const requiredClaims = ["iss", "aud", "exp", "iat", "jti", "sub", "client_id", "cnf", "grant_id"];

async function readToken(
  token: string,
  {
    publicUrl,
    now,
    signingKeys,
  }: Pick<AccessTokenServices, "publicUrl" | "signingKeys"> & { readonly now: Date },
): Promise<TokenClaims> {
  const key = await keyOf(token, signingKeys);
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [...tokenSigningAlgorithms],
      typ: "at+jwt",
      issuer: publicUrl,
      audience: accessTokenAudience(publicUrl),
      currentDate: now,
      requiredClaims,
    });
    return claimsOf(payload);
  } catch (cause) {
    throw fail(cause instanceof errors.JWTExpired ? "oauth_token_expired" : "oauth_token_invalid", { cause });
  }
}

/** By its id alone: what the token's header says of keys beside that is not looked at. */
async function keyOf(token: string, signingKeys: AccessTokenServices["signingKeys"]): Promise<JWK> {
  const kid = keyIdOf(token);
  if (kid === undefined) throw invalid();
  const { keys } = await signingKeys.publicJwks(kid);
  const key = keys.find((candidate) => candidate.kid === kid);
  if (key === undefined) throw invalid();
  return key;
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}

function claimsOf({ grant_id: grantId, client_id: clientId, sub, jti, scope, cnf }: JWTPayload): TokenClaims {
  const thumbprint = thumbprintOf(cnf);
  if (typeof grantId !== "string" || !isId("oauthGrant", grantId) || typeof jti !== "string") throw invalid();
  if (typeof clientId !== "string" || typeof sub !== "string" || thumbprint === undefined) throw invalid();
  // Left out where nothing was granted.
  return {
    grantId,
    clientId,
    staffId: sub,
    scopes: typeof scope === "string" ? scope.split(" ") : [],
    thumbprint,
  };
}

/** A token that is bound in another way beside is not one of ours. */
function thumbprintOf(cnf: unknown): string | undefined {
  if (typeof cnf !== "object" || cnf === null || !("jkt" in cnf) || Object.keys(cnf).length !== 1)
    return undefined;
  return typeof cnf.jkt === "string" ? cnf.jkt : undefined;
}

const invalid = (): Failure => fail("oauth_token_invalid");

export interface GrantState {
  readonly grantId: string;
  readonly clientId: string;
  readonly staffId: string;
  readonly scopes: string[];
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  readonly clientDisabledAt: Date | null;
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly installationScopes: string[];
  readonly installationStatus: string;
  readonly merchantStatus: string;
}

/** What a grant is worth now; undefined when there is none. */
export function findGrantState(reader: Reader, grantId: string): Promise<GrantState | undefined> {
  return reader
    .selectFrom("oauthGrant")
    .innerJoin("oauthClient", "oauthClient.id", "oauthGrant.clientId")
    .innerJoin("installation", "installation.id", "oauthGrant.installationId")
    .innerJoin("merchant", "merchant.id", "oauthGrant.merchantId")
    .select([
      "oauthGrant.id as grantId",
      "oauthGrant.clientId",
      "oauthGrant.staffId",
      "oauthGrant.scopes",
      "oauthGrant.expiresAt",
      "oauthGrant.revokedAt",
    ])
    .select([
      "oauthGrant.installationId",
      "oauthGrant.merchantId",
      "oauthClient.disabledAt as clientDisabledAt",
      "installation.appId",
    ])
    .select([
      "installation.scopes as installationScopes",
      "installation.status as installationStatus",
      "merchant.status as merchantStatus",
    ])
    .where("oauthGrant.id", "=", grantId)
    .executeTakeFirst();
}

/** A token is worth what it says, as far as its grant and the installation still go. */
function viewerOf(claims: TokenClaims, grant: GrantState | undefined, now: Date): OAuthViewer {
  if (grant === undefined || !isInForce(grant, now)) throw invalid();
  if (grant.clientId !== claims.clientId || grant.staffId !== claims.staffId) throw invalid();
  const { grantId, clientId, installationId, appId, merchantId } = grant;
  const isHeld = (scope: string): boolean =>
    grant.scopes.includes(scope) && grant.installationScopes.includes(scope);
  const scopes = new Set(claims.scopes.filter(isScope).filter(isHeld));
  return {
    kind: "oauth",
    grantId,
    clientId,
    installationId,
    appId,
    merchantId,
    scopes,
    suspended: credentialSuspension(grant),
  };
}

/** Not when it was revoked, but that it was: the clock of the process that did it may be ahead of this one's. */
function isInForce(
  { revokedAt, expiresAt, clientDisabledAt, installationStatus }: GrantState,
  now: Date,
): boolean {
  if (installationStatus === "uninstalled" || revokedAt !== null || clientDisabledAt !== null) return false;
  return expiresAt > now;
}

/** At most one write per grant and minute; the request does not wait for it. */
export function recordGrantUse(db: Database, grantId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordUseOncePerMinute(db, { credentialId: grantId, now }, () =>
    sql`update oauth_grant set last_used_at = ${now} where id = ${grantId} and (last_used_at is null or last_used_at <= ${minuteAgo})`.execute(
      db,
    ),
  );
}
