/** What the authorization server is given by the roof, which alone knows the floors beside it. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { RevokedGrant } from "#access/credential-changes.ts";
import type { CreateGrantResult } from "#access/oauth/grants.ts";
import type { Scope } from "#access/viewer.ts";
import type { SigningKeys } from "#access/oauth/signing-keys.ts";
import type { LoginLimit } from "#access/people/staff-sessions.ts";
import type { SignedInStaff } from "#access/people/staff.ts";
import type { Database } from "#database/connect.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";

export interface GrantCreation extends CreateGrantResult {
  readonly staff: SignedInStaff;
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  readonly now: Date;
  readonly requestId: string;
}

export interface GrantRevocation extends RevokedGrant {
  /**
   * Given back by its app, ended because something of it was used twice, or denied after a consent that was
   * cut short.
   */
  readonly why: "given_back" | "used_twice" | "denied";
  readonly now: Date;
  readonly requestId: string | null;
}

export interface OauthServices {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly publicUrl: string;
  readonly signingKeys: SigningKeys;
  readonly loginLimit: LoginLimit;
  /**
   * Counts a request that anybody may send by the address it comes from; fails with `rate_limited` when there
   * were too many.
   */
  readonly limitAddress: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
  /** Counts a use of a grant's refresh token. Seconds to wait where there were too many. */
  readonly limitGrant: (grantId: string) => Promise<number | undefined>;
  readonly log: Log;
  /** In the transaction in which a person lets an app in. */
  readonly onGranted: (transaction: Transaction, granted: GrantCreation) => Promise<void>;
  /**
   * In the transaction in which a grant ends: given back by its app, or because something of it was used
   * twice.
   */
  readonly onRevoked: (transaction: Transaction, revoked: GrantRevocation) => Promise<void>;
}
