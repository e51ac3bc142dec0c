/**
 * Internal tokens, `cit_{role}_{id}_{secret}{checksum}`, with which internal frontends and people call the
 * internal GraphQL API.
 */
import { createFailure, type Failure, createFailureWithDetail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { AccessManagementCommandContext } from "./manage-keys.ts";
import { invalidateCachedCredentials } from "#access/credential-changes.ts";
import {
  createMalformedCredentialSecretFailure,
  sha256Base64,
  matchesSecretDigest,
  generateCredentialSecret,
  recordCredentialUseOncePerMinute,
  parseCredentialSecret,
} from "./verify-keys.ts";
import type { InternalTokenRole, GraphqlDocumentPermission, InternalTokenViewer } from "#access/viewer.ts";

/** The state of an internal token and of its merchant, as stored in the database. */
export interface InternalTokenVerificationData {
  readonly id: string;
  readonly role: InternalTokenRole;
  readonly merchantId: string | null;
  readonly documents: GraphqlDocumentPermission;
  readonly digest: Uint8Array;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Status of the token's merchant; null if the token belongs to the platform. */
  readonly merchantStatus: string | null;
  /** The origins whose pages may send the token; null unless the role is `browser`. */
  readonly allowedOrigins: readonly string[] | null;
}

export interface InternalTokenSentByCaller {
  readonly tokenId: string;
  /** SHA-256 of the whole token in base64. The cache uses it as the key, so that no secrets are cached. */
  readonly digest: string;
}

/**
 * Verifies an internal token. Returns the same failure for every wrong secret, so that callers cannot probe
 * for tokens. Returns "revoked" or "expired" only if the secret is right.
 */
export async function authenticateInternalToken(
  value: string,
  now: Date,
  find: (presented: InternalTokenSentByCaller) => Promise<InternalTokenVerificationData | undefined>,
): Promise<InternalTokenViewer> {
  const parsed = parseCredentialSecret("cit", value);
  if (parsed === undefined) throw createMalformedCredentialSecretFailure("cit", value);
  const row = await find({ tokenId: parsed.id, digest: sha256Base64(value) });
  if (row === undefined)
    throw createFailure("api_key_invalid", { message: "This service has no such internal token." });
  requireUsableInternalToken(row, now);
  return toInternalTokenViewer(row);
}

/** Returns the viewer (identity and permissions of the caller) for requests that send this internal token. */
export const toInternalTokenViewer = ({
  id: tokenId,
  role,
  merchantId,
  documents,
  allowedOrigins,
}: InternalTokenVerificationData): InternalTokenViewer => ({
  kind: "internal",
  tokenId,
  role,
  merchantId,
  documents,
  ...(allowedOrigins === null ? {} : { allowedOrigins }),
});

/** Throws a failure if the internal token is revoked or expired, or if its merchant is suspended. */
export function requireUsableInternalToken(
  row: Pick<InternalTokenVerificationData, "revokedAt" | "expiresAt" | "merchantStatus">,
  now: Date,
): void {
  // The time of the revocation is not compared with `now`, because the clock of the process that revoked the
  // token may be ahead. A revoked token is always refused.
  if (row.revokedAt !== null)
    throw createFailure("api_key_revoked", { message: "The internal token was revoked." });
  if (row.expiresAt !== null && row.expiresAt <= now)
    throw createFailure("api_key_expired", { message: "The internal token has expired." });
  if (row.merchantStatus === "suspended") throw createFailure("merchant_suspended");
}

/**
 * Reads the state of an internal token; undefined if the id is unknown or the token does not match the stored
 * digest. The comparison takes the same time in both cases.
 */
export async function findInternalTokenVerificationData(
  reader: DatabaseOrTransaction,
  tokenId: string,
  value: string,
): Promise<InternalTokenVerificationData | undefined> {
  const row = await selectTokenState(reader).where("tokenId", "=", tokenId).executeTakeFirst();
  return matchesSecretDigest(value, row?.digest) ? row : undefined;
}

/** Reads the state of the internal token with this id, `tok_…`; undefined if there is none. */
export const findInternalTokenVerificationDataById = (
  reader: DatabaseOrTransaction,
  internalTokenId: string,
): Promise<InternalTokenVerificationData | undefined> =>
  selectTokenState(reader).where("internalToken.id", "=", internalTokenId).executeTakeFirst();

/**
 * Finds a publishable token that web pages of the given origin may send, and that is neither revoked nor
 * expired.
 */
export const findPublishableTokenAllowedForOrigin = (
  reader: DatabaseOrTransaction,
  origin: string,
  now: Date,
): Promise<Pick<InternalTokenVerificationData, "id" | "merchantId"> | undefined> =>
  reader
    .selectFrom("internalToken")
    .select(["id", "merchantId"])
    .where(sql<boolean>`allowed_origins @> array[${origin}]::text[]`)
    .where("revokedAt", "is", null)
    .where((eb) => eb.or([eb("expiresAt", "is", null), eb("expiresAt", ">", now)]))
    .limit(1)
    .executeTakeFirst();

const selectTokenState = (reader: DatabaseOrTransaction) =>
  reader
    .selectFrom("internalToken")
    .leftJoin("merchant", "merchant.id", "internalToken.merchantId")
    .select([
      "internalToken.id",
      "internalToken.role",
      "internalToken.merchantId",
      "documents",
      "digest",
      "expiresAt",
      "revokedAt",
      "allowedOrigins",
    ])
    .select("merchant.status as merchantStatus");

export interface NewInternalToken {
  readonly name: string;
  readonly role: InternalTokenRole;
  /**
   * Id of the merchant to which the internal token belongs; null for a token of the platform, which must have
   * the role analyst or operator.
   */
  readonly merchantId: string | null;
  /**
   * The GraphQL documents that the internal token may run; all documents if left out. `trusted_only` is
   * allowed only for tokens that belong to a merchant.
   */
  readonly documents?: GraphqlDocumentPermission;
  readonly expiresAt: Date | null;
  /**
   * The web origins whose pages may send the internal token. Required for the role `browser`; null or left
   * out for other roles.
   */
  readonly allowedOrigins?: readonly string[] | null;
}

export const allowedOriginsMax = 20;

export async function createInternalToken(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewInternalToken,
): Promise<{ internalTokenId: string; value: string }> {
  requireOwner(access, input);
  requireOrigins(input);
  if (input.merchantId !== null) {
    const merchant = await transaction
      .selectFrom("merchant")
      .select("id")
      .where("id", "=", input.merchantId)
      .executeTakeFirst();
    if (merchant === undefined) throw createFailure("merchant_not_found");
  }
  const generated = generateCredentialSecret("cit", input.role);
  const internalTokenId = createId("internalToken", access.now.getTime());
  await transaction
    .insertInto("internalToken")
    .values({
      id: internalTokenId,
      merchantId: input.merchantId,
      tokenId: generated.id,
      name: input.name,
      role: input.role,
      documents: input.documents ?? "any",
      digest: generated.digest,
      lastFour: generated.lastFour,
      createdAt: access.now,
      expiresAt: input.expiresAt,
      allowedOrigins:
        typeof input.allowedOrigins === "object" && input.allowedOrigins !== null
          ? [...input.allowedOrigins]
          : null,
    })
    .execute();
  return { internalTokenId, value: generated.value };
}

/**
 * Checks the merchant of a new token. An operator token has no merchant, an analyst token may have one, and
 * every other token must have one. A caller that belongs to a merchant can create only tokens of this
 * merchant, and therefore no operator tokens.
 */
function requireOwner(access: AccessManagementCommandContext, input: NewInternalToken): void {
  if (access.merchantId !== null) return requireOwnMerchant(access.merchantId, input);
  const rule = input.role === "operator" ? "none" : input.role === "analyst" ? "either" : "one";
  if ((rule === "none" && input.merchantId !== null) || (rule === "one" && input.merchantId === null)) {
    const message =
      rule === "none"
        ? "A token of the role operator must have no merchant."
        : `A token of the role ${input.role} needs a merchant: give its id.`;
    throw createFailure("invalid_field", {
      message,
      details: [{ in: "body", field: "/merchantId", code: "not_allowed", message }],
    });
  }
  if (input.documents === "trusted_only" && input.merchantId === null)
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/documents",
      code: "not_allowed",
      message:
        "A token of the platform must have the documents ANY, because trusted documents belong to merchants.",
    });
}

function requireOwnMerchant(merchantId: string, input: NewInternalToken): void {
  if (input.merchantId !== merchantId) throw createFailure("merchant_not_found");
  if (input.role === "operator")
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/role",
      code: "not_allowed",
      message: "Only a token of the platform can create tokens of the role OPERATOR.",
    });
}

/**
 * Checks the origins of a new token. A publishable token needs 1 to 20 origins; every other token must have
 * none. An origin is a scheme with a host and an optional port (RFC 6454 section 6.1), in the form in which
 * browsers send it in the header Origin. The scheme http is allowed only for pages on the developer's own
 * machine.
 */
function requireOrigins({ role, allowedOrigins = null }: NewInternalToken): void {
  if (role !== "browser") {
    if (allowedOrigins !== null)
      throw failAtOrigins("", "not_allowed", '"allowedOrigins" is allowed only for the role browser.');
    return;
  }
  if (allowedOrigins === null || allowedOrigins.length === 0 || allowedOrigins.length > allowedOriginsMax)
    throw failAtOrigins(
      "",
      "required",
      `"allowedOrigins" must have 1 to ${allowedOriginsMax} origins for the role browser.`,
    );
  for (const [index, origin] of allowedOrigins.entries())
    if (!isAllowedOrigin(origin))
      throw failAtOrigins(
        `/${index}`,
        "pattern_mismatch",
        "An origin must have the form https://shop.example, with a port if it is not 443, and without a " +
          "path. Only the hosts localhost and 127.0.0.1 may use http.",
      );
}

const failAtOrigins = (path: string, code: string, message: string): Failure =>
  createFailureWithDetail("invalid_field", { in: "body", field: `/allowedOrigins${path}`, code, message });

function isAllowedOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  const isLoopback = hostname === "localhost" || hostname === "127.0.0.1";
  return origin === text && (protocol === "https:" || (protocol === "http:" && isLoopback));
}

export async function revokeInternalToken(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  internalTokenId: string,
): Promise<void> {
  const { numUpdatedRows } = await transaction
    .updateTable("internalToken")
    .set((eb) => ({ revokedAt: eb.fn.coalesce("revokedAt", eb.val(access.now)) }))
    .where("id", "=", internalTokenId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .executeTakeFirst();
  if (numUpdatedRows === 0n)
    throw createFailure("resource_not_found", { message: "There is no internal token with this id." });
  await invalidateCachedCredentials(transaction, { credentialId: internalTokenId });
}

/** Records the time of the last use of the token, if the stored time is at least one minute old. */
export function recordInternalTokenUse(db: Database, internalTokenId: string, now: Date): Promise<void> {
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordCredentialUseOncePerMinute(db, { credentialId: internalTokenId, now }, () =>
    sql`update internal_token set last_used_at = ${now} where id = ${internalTokenId}
      and (last_used_at is null or last_used_at <= ${minuteAgo})`.execute(db),
  );
}
