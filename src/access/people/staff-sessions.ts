/**
 * The sign-in of staff members, and their sessions in the console. The browser has a secret of 256 bits, the
 * database has the digest of the secret. Every request reads the session with its account and its merchant,
 * so every process refuses an ended session from the commit on.
 */
import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { sha256Digest, recordCredentialUseOncePerMinute } from "#access/keys/verify-keys.ts";
import type { Database } from "#database/connect.ts";
import { deleteRowsInBatches } from "#database/delete-rows.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { Failure, type FailureCode, getRetryAfterSeconds } from "#foundation/failure.ts";
import { normalizeStaffEmail, type SignedInStaff } from "./staff.ts";
import { authenticateStaffByPassword, recordLastStaffSignInTime } from "./staff-sign-in.ts";

const secretBytes = 32;
const lifeMs = 12 * 3_600_000;
const idleMs = 3_600_000;

export interface StaffSession {
  readonly staff: SignedInStaff;
  readonly merchantName: string;
  /**
   * True if the merchant is suspended. The session cannot be used while the merchant is suspended. When the
   * merchant is resumed, the session can be used again, unless it has expired.
   */
  readonly isSuspended: boolean;
}

export const createStaffSessionSecret = (): string => randomBytes(secretBytes).toString("base64url");

/**
 * Creates a session of a staff member and returns the session's secret. Only the browser or the command line
 * stores the secret.
 */
export async function createStaffSession(
  transaction: Transaction,
  { staffId, version }: Pick<SignedInStaff, "staffId" | "version">,
  { now, secret = createStaffSessionSecret() }: { readonly now: Date; readonly secret?: string },
): Promise<string> {
  await transaction
    .insertInto("staffSession")
    .values({
      digest: sha256Digest(secret),
      staffId,
      staffVersion: version,
      createdAt: now,
      lastUsedAt: now,
      expiresAt: new Date(now.getTime() + lifeMs),
    })
    .execute();
  return secret;
}

const secretFormat = /^[\w-]{43}$/;

/**
 * Returns whether the text has the format of a session secret. For other texts, the caller can skip the
 * search in the database.
 */
export const hasStaffSessionSecretFormat = (text: string | undefined): text is string =>
  text !== undefined && secretFormat.test(text);

/**
 * Returns the session of a secret; undefined if there is no session or the session has ended. A session ends
 * at sign-out, 12 hours after the sign-in, or one hour after its last use. It also ends when the account is
 * disabled or gets another password or role.
 */
export async function findStaffSession(
  reader: DatabaseOrTransaction,
  secret: string | undefined,
  now: Date,
): Promise<StaffSession | undefined> {
  if (!hasStaffSessionSecretFormat(secret)) return undefined;
  const row = await reader
    .selectFrom("staffSession")
    .innerJoin("staffAccount", (join) =>
      join
        .onRef("staffAccount.id", "=", "staffSession.staffId")
        .onRef("staffAccount.version", "=", "staffSession.staffVersion"),
    )
    .innerJoin("merchant", "merchant.id", "staffAccount.merchantId")
    .select([
      "staffAccount.id",
      "staffAccount.merchantId",
      "staffAccount.email",
      "staffAccount.name",
      "staffAccount.role",
      "staffAccount.version",
    ])
    .select(["merchant.name as merchantName", "merchant.status as merchantStatus"])
    .where("digest", "=", sha256Digest(secret))
    .where("staffAccount.disabledAt", "is", null)
    .where("expiresAt", ">", now)
    .where("lastUsedAt", ">", new Date(now.getTime() - idleMs))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id: staffId, merchantId, email, name, role, version, merchantName, merchantStatus } = row;
  return {
    staff: { kind: "staff", staffId, merchantId, email, name, role, version },
    merchantName,
    isSuspended: merchantStatus === "suspended",
  };
}

/**
 * Records the last use of the session, with at most one write per session and minute. A request does not need
 * to wait for the write.
 */
export function recordStaffSessionUse(db: Database, secret: string, now: Date): Promise<void> {
  const digest = sha256Digest(secret);
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordCredentialUseOncePerMinute(db, { credentialId: digest.toString("base64"), now }, () =>
    sql`update staff_session set last_used_at = ${now} where digest = ${digest}
      and last_used_at <= ${minuteAgo}`.execute(db),
  );
}

/** Ends a session of a staff member. Returns false if the session had already ended. */
export async function endStaffSession(transaction: Transaction, secret: string): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("staffSession")
    .where("digest", "=", sha256Digest(secret))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes expired sessions of staff members. Returns the number of deleted sessions. */
export async function deleteExpiredStaffSessions(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  return deleteRowsInBatches(
    db,
    { table: "staff_session", where: sql`expires_at <= ${now}`, orderBy: sql`expires_at` },
    signal,
  );
}

/**
 * An attempt to sign in with an e-mail address and a password. The attempt is counted as failed before its
 * password is checked, so that many attempts at the same time cannot exceed the limit. It is removed from the
 * count if it succeeds, or if the password could not be checked.
 */
interface LoginAttempt {
  /** Digest of the e-mail address that was entered on the sign-in page. */
  readonly account: string;
  /** The IP address from which the sign-in was attempted. */
  readonly address: string;
}

/** Limits the failed sign-in attempts in two ways: per account and per IP address. */
export interface StaffLoginRateLimiter {
  /**
   * Counts the sign-in attempt and returns undefined. If the limit is already reached, does not count the
   * attempt and returns the number of seconds to wait.
   */
  take(attempt: LoginAttempt): Promise<number | undefined>;
  /**
   * Removes an attempt from the counts of failed sign-ins of its account and its IP address, because the
   * attempt did not fail.
   */
  subtract(attempt: LoginAttempt): Promise<void>;
}

interface SignInInput {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

type SignInOutcome =
  | { readonly kind: "signed_in"; readonly staff: SignedInStaff }
  | { readonly kind: "refused" }
  /** The sign-in was refused because of too many failed attempts for this account or IP address. */
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  /** The sign-in was refused because too many passwords are being checked at the moment. */
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

export type StaffSignInFunction = (input: SignInInput) => Promise<SignInOutcome>;

interface SignInParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly loginLimit: StaffLoginRateLimiter;
}

export function createStaffSignInFunction({ db, clock, loginLimit }: SignInParts): StaffSignInFunction {
  return async ({ email, password, address }) => {
    // The rate limiter gets a digest of the e-mail address, so that it stores no e-mail addresses.
    const attempt: LoginAttempt = {
      account: createHash("sha256").update(normalizeStaffEmail(email)).digest("base64url"),
      address,
    };
    const retryAfterSeconds = await loginLimit.take(attempt);
    if (retryAfterSeconds !== undefined) return { kind: "throttled", retryAfterSeconds };
    let hasFailed = false;
    try {
      const staff = await authenticateStaffByPassword(db, email, password);
      hasFailed = staff === undefined;
      if (staff === undefined) return { kind: "refused" };
      await recordLastStaffSignInTime(db, staff.staffId, clock.now());
      return { kind: "signed_in", staff };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "service_unavailable") throw error;
      return { kind: "busy", retryAfterSeconds: getRetryAfterSeconds(error) ?? 1 };
    } finally {
      if (!hasFailed) await loginLimit.subtract(attempt);
    }
  };
}

const textLengthMax = 512;

/** Returns the e-mail address and the password of a submitted sign-in form. Each is cut to 512 characters. */
export const parseStaffSignInForm = (form: URLSearchParams): Pick<SignInInput, "email" | "password"> => ({
  email: (form.get("email") ?? "").slice(0, textLengthMax),
  password: (form.get("password") ?? "").slice(0, textLengthMax),
});

/** The error of a sign-in that the sign-in page displays. */
export interface StaffSignInPageError {
  readonly status: 400 | 429 | 503;
  readonly message: string;
  /** Error code for the log; null if the e-mail address or the password is wrong. */
  readonly code: FailureCode | null;
  /**
   * The number of seconds until the next sign-in attempt is allowed; null if another attempt is allowed at
   * once.
   */
  readonly retryAfterSeconds: number | null;
}

const wrongInput = (message: string): StaffSignInPageError => ({
  status: 400,
  message,
  code: null,
  retryAfterSeconds: null,
});

/** The error that the sign-in page shows if the e-mail address or the password was left empty. */
export const emptySignInPageError = wrongInput("Enter your e-mail address and your password.");

export function createStaffSignInPageError(
  outcome: Exclude<SignInOutcome, { readonly kind: "signed_in" }>,
): StaffSignInPageError {
  if (outcome.kind === "refused") return wrongInput("The e-mail address or the password is wrong.");
  const { kind, retryAfterSeconds } = outcome;
  if (kind === "busy") {
    const message = "Too many people are signing in at the moment. Try again in a few seconds.";
    return { status: 503, message, code: "service_unavailable", retryAfterSeconds };
  }
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const message = `There were too many failed attempts. Try again in ${minutes} min.`;
  return { status: 429, message, code: "too_many_failed_attempts", retryAfterSeconds };
}
