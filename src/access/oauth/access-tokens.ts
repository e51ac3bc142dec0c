/**
 * Verification of OAuth access tokens by the API. An access token is a JWT that the authorization server of
 * this service has issued (RFC 9068) for one protected resource, and is valid until it expires or its grant
 * ends. A token for the REST API is bound to a key of the client (RFC 9449). A token for the MCP server may
 * be a bearer token, because most agents do not support DPoP. Tokens are verified with the package jose. The
 * function validateJwtAccessToken of the package oauth4webapi is not used for three reasons. It does not say
 * whether the token or the proof is wrong, cannot use the clock of the service, and accepts proofs that are
 * five minutes old.
 */
import { decodeProtectedHeader, errors, type JWK, type JWTPayload, jwtVerify } from "jose";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { type Failure, createFailure } from "#foundation/failure.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { recordCredentialUseOncePerMinute, getApiKeySuspensionCause } from "#access/keys/verify-keys.ts";
import { verifyDpopProof, recordFirstUseOfDpopProof } from "./dpop.ts";
import {
  type BearerOrDpopScheme,
  getAccessTokenAudience,
  type OauthProtectedResourceName,
  tokenSigningAlgorithms,
} from "#access/authorization.ts";
import { isPermissionScope, type OauthViewer } from "#access/viewer.ts";
import type { OauthSigningKeyProvider } from "./signing-keys.ts";

export interface AccessTokenSentByCaller {
  readonly token: string;
  /** The scheme of the request's Authorization header. */
  readonly scheme: BearerOrDpopScheme;
  /**
   * The protected resource (REST API or MCP server) to which the request was sent. Access tokens for the
   * other resource are refused.
   */
  readonly resource: OauthProtectedResourceName;
  /** The values of all headers `DPoP` of the request; each value should be a DPoP proof. */
  readonly proofs: readonly string[];
  readonly method: string;
  /** The path of the request's URL, without the query. */
  readonly path: string;
}

export interface AccessTokenVerifierServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly signingKeys: Pick<OauthSigningKeyProvider, "publicJwks">;
  /**
   * Reads the state of a grant, for example from a cache. If omitted, each verification reads it from the
   * database.
   */
  readonly findGrant?: (grantId: string) => Promise<OauthGrantVerificationData | undefined>;
}

/**
 * A check that runs after a caller's credential has been verified, for example whether the caller exceeds its
 * rate limit. The check refuses the request by throwing a failure.
 */
export type CheckAfterAuthentication<Viewer> = (viewer: Viewer) => Promise<void> | void;

export type AccessTokenVerifier = (
  presented: AccessTokenSentByCaller,
  admit?: CheckAfterAuthentication<OauthViewer>,
) => Promise<OauthViewer>;

/**
 * Creates the verifier of access tokens. The verifier checks the token before the proof, so that proofs are
 * checked only for valid tokens. It stores the use of the proof last, so that refused requests store no row.
 */
export function createAccessTokenVerifier({
  db,
  clock,
  publicUrl,
  signingKeys,
  findGrant = (id) => findOauthGrantVerificationData(db, id),
}: AccessTokenVerifierServices): AccessTokenVerifier {
  return async (presented, admit) => {
    const { token, scheme, resource } = presented;
    const now = clock.now();
    const proof = scheme === "dpop" ? getOnlyProof(presented) : undefined;
    const claims = await readToken(token, { publicUrl, resource, now, signingKeys });
    requireSchemeOfToken(claims, presented);
    const used =
      proof === undefined || claims.thumbprint === undefined
        ? undefined
        : await verifyDpopProof(proof, {
            method: presented.method,
            url: publicUrl + presented.path,
            token,
            thumbprint: claims.thumbprint,
            now,
          });
    const viewer = toViewer(claims, await findGrant(claims.grantId), now);
    await admit?.(viewer);
    if (used !== undefined) await recordFirstUseOfDpopProof(db, used, now);
    return viewer;
  };
}

function getOnlyProof({ proofs: [proof, second] }: AccessTokenSentByCaller): string {
  if (proof === undefined) throw createFailure("dpop_proof_missing");
  if (second !== undefined)
    throw createFailure("dpop_proof_invalid", {
      message: "There is more than one DPoP header: send exactly one.",
    });
  return proof;
}

/**
 * Refuses tokens that were sent in the wrong way. A token that is bound to a key must be sent with a DPoP
 * proof. A token that is not bound to a key is accepted only as a bearer token, and only by the MCP server.
 */
function requireSchemeOfToken(
  { thumbprint }: TokenClaims,
  { scheme, resource }: AccessTokenSentByCaller,
): void {
  if (thumbprint !== undefined && scheme === "bearer")
    throw createFailure("oauth_token_invalid", {
      message: "The access token is bound to a key: send it as `Authorization: DPoP` with a DPoP proof.",
    });
  if (thumbprint === undefined && (scheme === "dpop" || resource === "api")) throw invalid();
}

interface TokenClaims {
  readonly grantId: string;
  readonly clientId: string;
  readonly staffId: string;
  readonly scopes: readonly string[];
  /**
   * Thumbprint of the client key to which the access token is bound; undefined for a bearer token, which is
   * bound to no key.
   */
  readonly thumbprint: string | undefined;
}

const requiredClaims = ["iss", "aud", "exp", "iat", "jti", "sub", "client_id", "grant_id"];

async function readToken(
  token: string,
  {
    publicUrl,
    resource,
    now,
    signingKeys,
  }: Pick<AccessTokenVerifierServices, "publicUrl" | "signingKeys"> &
    Pick<AccessTokenSentByCaller, "resource"> & { readonly now: Date },
): Promise<TokenClaims> {
  const key = await findKey(token, signingKeys);
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: [...tokenSigningAlgorithms],
      typ: "at+jwt",
      issuer: publicUrl,
      audience: getAccessTokenAudience(publicUrl, resource),
      currentDate: now,
      requiredClaims,
    });
    return toClaims(payload);
  } catch (cause) {
    throw createFailure(cause instanceof errors.JWTExpired ? "oauth_token_expired" : "oauth_token_invalid", {
      cause,
    });
  }
}

/**
 * Finds the signing key that the parameter `kid` of the access token's header names. All other key parameters
 * of the header are ignored.
 */
async function findKey(token: string, signingKeys: AccessTokenVerifierServices["signingKeys"]): Promise<JWK> {
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

function toClaims({ grant_id: grantId, client_id: clientId, sub, jti, scope, cnf }: JWTPayload): TokenClaims {
  const thumbprint = cnf === undefined ? undefined : thumbprintOf(cnf);
  if (typeof grantId !== "string" || !isIdOfKind("oauthGrant", grantId) || typeof jti !== "string")
    throw invalid();
  if (typeof clientId !== "string" || typeof sub !== "string") throw invalid();
  // An access token without scopes has no claim `scope`, so a missing claim means an empty list of scopes.
  return {
    grantId,
    clientId,
    staffId: sub,
    scopes: typeof scope === "string" ? scope.split(" ") : [],
    thumbprint,
  };
}

/**
 * Returns the thumbprint (`cnf.jkt`, RFC 9449) of the key that the token is bound to. Refuses a claim `cnf`
 * of another form, which this service never issues.
 */
function thumbprintOf(cnf: unknown): string {
  if (typeof cnf !== "object" || cnf === null || !("jkt" in cnf) || Object.keys(cnf).length !== 1)
    throw invalid();
  if (typeof cnf.jkt !== "string") throw invalid();
  return cnf.jkt;
}

const invalid = (): Failure => createFailure("oauth_token_invalid");

export interface OauthGrantVerificationData {
  readonly grantId: string;
  readonly clientId: string;
  /**
   * The URL of the client's metadata document, which the client sends as its client id; null for clients
   * without a metadata document.
   */
  readonly clientMetadataUrl: string | null;
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

/**
 * Reads the current state of a grant, its client, installation and merchant; undefined if no grant has this
 * id.
 */
export function findOauthGrantVerificationData(
  reader: DatabaseOrTransaction,
  grantId: string,
): Promise<OauthGrantVerificationData | undefined> {
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
      "oauthClient.metadataUrl as clientMetadataUrl",
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

/**
 * Builds the viewer of a token. The viewer gets the scopes that the token, the grant and the installation
 * have in common. Throws `oauth_token_invalid` if the grant is not in force or belongs to another client or
 * person.
 */
function toViewer(
  claims: TokenClaims,
  grant: OauthGrantVerificationData | undefined,
  now: Date,
): OauthViewer {
  if (grant === undefined || !isInForce(grant, now)) throw invalid();
  if ((grant.clientMetadataUrl ?? grant.clientId) !== claims.clientId) throw invalid();
  if (grant.staffId !== claims.staffId) throw invalid();
  const { grantId, clientId, installationId, appId, merchantId } = grant;
  const isGranted = (scope: string): boolean =>
    grant.scopes.includes(scope) && grant.installationScopes.includes(scope);
  const scopes = new Set(claims.scopes.filter(isPermissionScope).filter(isGranted));
  return {
    kind: "oauth",
    grantId,
    clientId,
    installationId,
    appId,
    merchantId,
    scopes,
    suspended: getApiKeySuspensionCause(grant),
  };
}

/**
 * Returns whether the grant is in force: it is neither revoked nor expired, its client is enabled, and the
 * app is installed. The time of the revocation is not compared with `now`, because the clock of the process
 * that revoked the grant may be ahead.
 */
function isInForce(
  { revokedAt, expiresAt, clientDisabledAt, installationStatus }: OauthGrantVerificationData,
  now: Date,
): boolean {
  if (installationStatus === "uninstalled" || revokedAt !== null || clientDisabledAt !== null) return false;
  return expiresAt > now;
}

/**
 * Records the last use of the grant, with at most one write per grant and minute. Requests do not wait for
 * the write.
 */
export function recordOauthGrantUse(db: Database, grantId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordCredentialUseOncePerMinute(db, { credentialId: grantId, now }, () =>
    sql`update oauth_grant set last_used_at = ${now} where id = ${grantId} and (last_used_at is null
      or last_used_at <= ${minuteAgo})`.execute(db),
  );
}
