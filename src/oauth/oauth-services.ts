/**
 * The services that the authorization server gets from the rest of the application, for example the database
 * and rate limits.
 */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RevokedOauthGrant } from "#access/credential-changes.ts";
import type { CreatedOauthGrant } from "#access/oauth/grants.ts";
import type { PermissionScope } from "#access/viewer.ts";
import type { OauthSigningKeyProvider } from "#access/oauth/signing-keys.ts";
import type { StaffLoginRateLimiter } from "#access/people/staff-sessions.ts";
import type { SignedInStaff } from "#access/people/staff.ts";
import type { Database } from "#database/connect.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";

export interface OauthGrantCreationToAudit extends CreatedOauthGrant {
  readonly staff: SignedInStaff;
  readonly clientId: string;
  readonly scopes: readonly PermissionScope[];
  readonly now: Date;
  readonly requestId: string;
}

export interface OauthGrantRevocationToAudit extends RevokedOauthGrant {
  /**
   * Why a grant ended. `given_back`: the app revoked its token. `used_twice`: a code or refresh token was
   * used a second time. `denied`: the staff member denied access after an interrupted consent.
   */
  readonly reason: "given_back" | "used_twice" | "denied";
  readonly now: Date;
  readonly requestId: string | null;
}

export interface OauthServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: EncryptionKeyring;
  readonly publicUrl: string;
  readonly signingKeys: OauthSigningKeyProvider;
  readonly loginLimit: StaffLoginRateLimiter;
  /**
   * Counts an unauthenticated request against the limit of its IP address. Fails with `rate_limited` if the
   * address has sent too many requests.
   */
  readonly limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /**
   * Counts a use of a refresh token against the limit of its grant. Returns undefined if the use is allowed,
   * otherwise the seconds after which the app may try again.
   */
  readonly limitGrant: (grantId: string) => Promise<number | undefined>;
  /**
   * Counts a registration of an OAuth client (an AI agent) against the limit of the caller's IP address.
   * Fails with `rate_limited` if the limit is exceeded.
   */
  readonly limitRegistrations: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /**
   * Counts a fetch of an OAuth client's metadata document against the same limit as a registration. Returns
   * false if the limit is exceeded.
   */
  readonly mayFetchMetadata: (request: FastifyRequest) => Promise<boolean>;
  /** Fetches the metadata document of an agent. Rejects URLs and addresses that are not public. */
  readonly fetchDocument: (url: string, init?: RequestInit) => Promise<Response>;
  readonly log: Log;
  /** Writes the audit entries of a new grant, in the transaction that creates the grant. */
  readonly onGranted: (transaction: Transaction, granted: OauthGrantCreationToAudit) => Promise<void>;
  /** Writes the audit entry of a revoked grant, in the transaction that revokes the grant. */
  readonly onRevoked: (transaction: Transaction, revoked: OauthGrantRevocationToAudit) => Promise<void>;
}
