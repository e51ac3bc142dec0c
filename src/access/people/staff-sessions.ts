/**
 * Signing in and sessions of people at the console. The browser holds a secret of 256 bits, the database its
 * digest. Each request reads the session with the account and its merchant, so that a session is over in
 * every process from the commit on that ends it.
 */
import { createHash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import { sha256Digest, recordUseOncePerMinute } from "#access/keys/verify-keys.ts";
import type { Database } from "#database/connect.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import { Failure, type FailureCode, retryAfterSecondsOf } from "#foundation/failure.ts";
import { normalizeEmail, recordSignIn, type SignedInStaff, verifyPassword } from "./staff.ts";

const secretBytes = 32;
const lifeMs = 12 * 3_600_000;
const idleMs = 3_600_000;

export interface StaffSession {
  readonly staff: SignedInStaff;
  readonly merchantName: string;
  /**
   * While its merchant is, the session is of no use; it comes back with the merchant unless its time is over
   * by then.
   */
  readonly isSuspended: boolean;
}

/** Its secret, which is for the browser alone. */
export async function createStaffSession(
  transaction: Transaction,
  { staffId, version }: SignedInStaff,
  now: Date,
): Promise<string> {
  const secret = randomBytes(secretBytes).toString("base64url");
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

const secretForm = /^[\w-]{43}$/;

/** Looks like one; only then is it looked up. */
export const isSessionSecret = (text: string | undefined): text is string =>
  text !== undefined && secretForm.test(text);

/**
 * Undefined where there is none, or it is over: signed out, too old, unused for too long, its account
 * disabled or given another password.
 */
export async function findStaffSession(
  reader: Reader,
  secret: string | undefined,
  now: Date,
): Promise<StaffSession | undefined> {
  if (!isSessionSecret(secret)) return undefined;
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
      "staffAccount.version",
    ])
    .select(["merchant.name as merchantName", "merchant.status as merchantStatus"])
    .where("digest", "=", sha256Digest(secret))
    .where("staffAccount.disabledAt", "is", null)
    .where("expiresAt", ">", now)
    .where("lastUsedAt", ">", new Date(now.getTime() - idleMs))
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id: staffId, merchantId, email, name, version, merchantName, merchantStatus } = row;
  return {
    staff: { kind: "staff", staffId, merchantId, email, name, version },
    merchantName,
    isSuspended: merchantStatus === "suspended",
  };
}

/** At most one write per session and minute; nobody need wait for it. */
export function recordSessionUse(db: Database, secret: string, now: Date): Promise<void> {
  const digest = sha256Digest(secret);
  const minuteAgo = new Date(now.getTime() - 60_000);
  return recordUseOncePerMinute(db, { credentialId: digest.toString("base64"), now }, () =>
    sql`update staff_session set last_used_at = ${now} where digest = ${digest} and last_used_at <= ${minuteAgo}`.execute(
      db,
    ),
  );
}

/** False when it was over already. */
export async function endStaffSession(transaction: Transaction, secret: string): Promise<boolean> {
  const { numDeletedRows } = await transaction
    .deleteFrom("staffSession")
    .where("digest", "=", sha256Digest(secret))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

const sweptAtOnce = 500;

/** Those that are over by their time. How many that were. */
export async function sweepStaffSessions(db: Database, now: Date, signal?: AbortSignal): Promise<number> {
  for (let total = 0; ;) {
    const { numAffectedRows } = await sql`
      delete from staff_session where digest in (select digest from staff_session where expires_at <= ${now} order by expires_at limit ${sweptAtOnce})`.execute(
      db,
    );
    const deleted = Number(numAffectedRows);
    total += deleted;
    if (deleted < sweptAtOnce || signal?.aborted === true) return total;
  }
}

/**
 * Signing in with e-mail and password, wherever a page asks for them. An attempt is counted before its
 * password is looked at, so that of many at once none slips past the limit; what turns out right, or is not
 * looked at after all, is given back.
 */
interface LoginAttempt {
  /** A digest of the address that was typed. */
  readonly account: string;
  /** Where it comes from. */
  readonly address: string;
}

/** Guessing passwords has an end. */
export interface LoginLimit {
  /**
   * Counts an attempt that is about to be made. Seconds to wait where none may be made before: then it is not
   * counted.
   */
  take(attempt: LoginAttempt): Promise<number | undefined>;
  /** It was not a failed one. */
  giveBack(attempt: LoginAttempt): Promise<void>;
}

interface SignInInput {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

type SignInOutcome =
  | { readonly kind: "signed_in"; readonly staff: SignedInStaff }
  | { readonly kind: "refused" }
  /** Too many attempts that failed. */
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  /** Too many at this moment, of whomever. */
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

export type SignIn = (input: SignInInput) => Promise<SignInOutcome>;

interface SignInParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly loginLimit: LoginLimit;
}

export function createSignIn({ db, clock, loginLimit }: SignInParts): SignIn {
  return async ({ email, password, address }) => {
    // A digest: where attempts are counted, no address of a person's lies about.
    const attempt: LoginAttempt = {
      account: createHash("sha256").update(normalizeEmail(email)).digest("base64url"),
      address,
    };
    const retryAfterSeconds = await loginLimit.take(attempt);
    if (retryAfterSeconds !== undefined) return { kind: "throttled", retryAfterSeconds };
    let hasFailed = false;
    try {
      const staff = await verifyPassword(db, email, password);
      hasFailed = staff === undefined;
      if (staff === undefined) return { kind: "refused" };
      await recordSignIn(db, staff.staffId, clock.now());
      return { kind: "signed_in", staff };
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== "service_unavailable") throw error;
      return { kind: "busy", retryAfterSeconds: retryAfterSecondsOf(error) ?? 1 };
    } finally {
      if (!hasFailed) await loginLimit.giveBack(attempt);
    }
  };
}

const textLengthMax = 512;

/** What was typed into the form of a page. */
export const readSignInForm = (form: URLSearchParams): Pick<SignInInput, "email" | "password"> => ({
  email: (form.get("email") ?? "").slice(0, textLengthMax),
  password: (form.get("password") ?? "").slice(0, textLengthMax),
});

/** What a page says of an outcome that is none to go on with. */
export interface SignInError {
  readonly status: 400 | 429 | 503;
  readonly message: string;
  /** For the log; null where somebody mistyped. */
  readonly code: FailureCode | null;
  /** Null where it may be tried again at once. */
  readonly retryAfterSeconds: number | null;
}

const mistyped = (message: string): SignInError => ({
  status: 400,
  message,
  code: null,
  retryAfterSeconds: null,
});

/** Said before anything was looked at. */
export const emptySignInError = mistyped("Enter your e-mail address and your password.");

export function signInError(outcome: Exclude<SignInOutcome, { readonly kind: "signed_in" }>): SignInError {
  if (outcome.kind === "refused") return mistyped("The e-mail address or the password is not right.");
  const { kind, retryAfterSeconds } = outcome;
  if (kind === "busy") {
    const message = "Too many people are signing in at the moment. Try again in a few seconds.";
    return { status: 503, message, code: "service_unavailable", retryAfterSeconds };
  }
  const message = `There were too many attempts. Try again in ${Math.ceil(retryAfterSeconds / 60)} min.`;
  return { status: 429, message, code: "too_many_failed_attempts", retryAfterSeconds };
}
