/**
 * Buyer sessions: tokens with which the browser of a single buyer calls `/graphql` directly, without a
 * backend of the frontend in between. A session token is `cbs_` followed by a JWT (RFC 7519, HS256). The JWT
 * contains the id of the session, the id of the internal token that created the session, and the buyer
 * reference. The service stores no row for a session. A session ends when its token expires, or when its
 * internal token is revoked.
 */
import { type JWTPayload, jwtVerify, SignJWT } from "jose";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId, isIdOfKind } from "#foundation/ids.ts";
import {
  type InternalTokenVerificationData,
  requireUsableInternalToken,
  toInternalTokenViewer,
} from "./keys/internal-tokens.ts";
import type { BuyerSession, InternalTokenViewer } from "./viewer.ts";

export const buyerSessionPrefix = "cbs_";

/**
 * Lifetimes of a session token in minutes: the minimum, the maximum, the default for guests, and the default
 * for signed-in buyers.
 */
export const buyerSessionMinutes = {
  min: 5,
  max: 30 * 24 * 60,
  /** A guest's buyer session is valid for 30 days by default, the same time as a cart. */
  guest: 30 * 24 * 60,
  signedIn: 24 * 60,
} as const;

const tokenType = "buyer-session+jwt";
const keyPurpose = "buyer sessions";

export interface NewBuyerSession {
  /** The buyer reference that the frontend gave to the buyer; null for a guest. */
  readonly buyerReference: string | null;
  /** The buyer session that the new token continues; null to begin a new buyer session. */
  readonly continued: BuyerSession | null;
  readonly minutes: number;
}

export interface BuyerSessionWithToken extends BuyerSession {
  readonly token: string;
  readonly expiresAt: Date;
}

/** Signs the token of a buyer session with the first key of the keyring. */
export async function createBuyerSessionToken(
  { keyring, internalTokenId, now }: { keyring: EncryptionKeyring; internalTokenId: string; now: Date },
  { buyerReference, continued, minutes }: NewBuyerSession,
): Promise<BuyerSessionWithToken> {
  const [key] = keyring.derive(keyPurpose);
  if (key === undefined) throw new Error("The keyring has no key.");
  const id = continued?.id ?? createId("buyerSession", now.getTime());
  const issuedAt = Math.floor(now.getTime() / 1000);
  const expiresAt = issuedAt + minutes * 60;
  const token = await new SignJWT({
    tok: internalTokenId,
    ...(buyerReference === null ? {} : { buyerReference }),
  })
    .setProtectedHeader({ alg: "HS256", typ: tokenType })
    .setSubject(id)
    .setIssuedAt(issuedAt)
    .setExpirationTime(expiresAt)
    .sign(key);
  return { id, buyerReference, token: buyerSessionPrefix + token, expiresAt: new Date(expiresAt * 1000) };
}

/**
 * The content of a buyer session token after its signature and expiry have been checked. The internal token
 * that created the buyer session must still be checked.
 */
export interface VerifiedBuyerSessionToken extends BuyerSession {
  readonly internalTokenId: string;
}

/**
 * Verifies the signature and the expiry of a session token, with all keys of the keyring. Throws
 * `api_key_invalid` or `api_key_expired`.
 */
export async function verifyBuyerSessionToken(
  value: string,
  { keyring, now }: { readonly keyring: EncryptionKeyring; readonly now: Date },
): Promise<VerifiedBuyerSessionToken> {
  for (const key of keyring.derive(keyPurpose)) {
    const payload = await verifyWithKey(value.slice(buyerSessionPrefix.length), key);
    if (payload === undefined) continue;
    if ((payload.exp ?? 0) * 1000 <= now.getTime())
      throw createFailure("api_key_expired", { message: "The buyer session has expired: create a new one." });
    return toSession(payload);
  }
  throw createInvalidFailure();
}

/**
 * Returns the claims of a buyer session token if the token was signed with the given key, even if the token
 * has expired. Returns undefined for all other tokens.
 */
async function verifyWithKey(token: string, key: Uint8Array): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, key, {
      algorithms: ["HS256"],
      typ: tokenType,
      currentDate: new Date(0),
      requiredClaims: ["sub", "exp", "tok"],
    });
    return payload;
  } catch {
    return undefined;
  }
}

function toSession({ sub, tok, buyerReference = null }: JWTPayload): VerifiedBuyerSessionToken {
  const isComplete =
    typeof sub === "string" &&
    isIdOfKind("buyerSession", sub) &&
    typeof tok === "string" &&
    (buyerReference === null || typeof buyerReference === "string");
  if (!isComplete) throw createInvalidFailure();
  return { id: sub, buyerReference, internalTokenId: tok };
}

const createInvalidFailure = (): Error =>
  createFailure("api_key_invalid", { message: "The buyer session token is not valid." });

/**
 * Verifies a session token and the internal token that created the session. Returns a viewer with the role
 * `storefront` that is restricted to the buyer of the session.
 */
export async function authenticateBuyerSession(
  value: string,
  { keyring, now }: { readonly keyring: EncryptionKeyring; readonly now: Date },
  findToken: (internalTokenId: string) => Promise<InternalTokenVerificationData | undefined>,
): Promise<InternalTokenViewer> {
  const { internalTokenId, ...buyerSession } = await verifyBuyerSessionToken(value, { keyring, now });
  const token = await findToken(internalTokenId);
  if (token === undefined) throw createInvalidFailure();
  requireUsableInternalToken(token, now);
  return { ...toInternalTokenViewer(token), role: "storefront", buyerSession };
}
