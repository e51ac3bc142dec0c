/**
 * Signing in with e-mail and password, wherever a page asks for them. An attempt is counted before its password is looked at, so that of many at once none
 * slips past the limit; what turns out right, or is not looked at after all, is given back.
 */
import { createHash } from "node:crypto";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import { Failure, type FailureCode, retryAfterSecondsOf } from "#foundation/failure.ts";
import { normalizeEmail, recordSignIn, type StaffViewer, verifyPassword } from "./staff.ts";

export interface LoginAttempt {
  /** A digest of the address that was typed. */
  readonly account: string;
  /** Where it comes from. */
  readonly address: string;
}

/** Guessing passwords has an end. */
export interface LoginLimit {
  /** Counts an attempt that is about to be made. Seconds to wait where none may be made before: then it is not counted. */
  take(attempt: LoginAttempt): Promise<number | undefined>;
  /** It was not a failed one. */
  giveBack(attempt: LoginAttempt): Promise<void>;
}

export interface SignInInput {
  readonly email: string;
  readonly password: string;
  readonly address: string;
}

export type SignInOutcome =
  | { readonly kind: "signed_in"; readonly staff: StaffViewer }
  | { readonly kind: "refused" }
  /** Too many attempts that failed. */
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  /** Too many at this moment, of whomever. */
  | { readonly kind: "busy"; readonly retryAfterSeconds: number };

export type SignIn = (input: SignInInput) => Promise<SignInOutcome>;

export interface SignInParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly loginLimit: LoginLimit;
}

export function createSignIn({ db, clock, loginLimit }: SignInParts): SignIn {
  return async ({ email, password, address }) => {
    // A digest: where attempts are counted, no address of a person's lies about.
    const attempt: LoginAttempt = { account: createHash("sha256").update(normalizeEmail(email)).digest("base64url"), address };
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
export const typedIn = (form: URLSearchParams): Pick<SignInInput, "email" | "password"> => ({
  email: (form.get("email") ?? "").slice(0, textLengthMax),
  password: (form.get("password") ?? "").slice(0, textLengthMax),
});

/** What a page says of an outcome that is none to go on with. */
export interface SignInFault {
  readonly status: 400 | 429 | 503;
  readonly message: string;
  /** For the log; null where somebody mistyped. */
  readonly code: FailureCode | null;
  /** Null where it may be tried again at once. */
  readonly retryAfterSeconds: number | null;
}

const mistyped = (message: string): SignInFault => ({ status: 400, message, code: null, retryAfterSeconds: null });

/** Said before anything was looked at. */
export const nothingTyped = mistyped("Enter your e-mail address and your password.");

export function signInFault(outcome: Exclude<SignInOutcome, { readonly kind: "signed_in" }>): SignInFault {
  if (outcome.kind === "refused") return mistyped("The e-mail address or the password is not right.");
  const { kind, retryAfterSeconds } = outcome;
  if (kind === "busy") {
    const message = "Too many people are signing in at the moment. Try again in a few seconds.";
    return { status: 503, message, code: "service_unavailable", retryAfterSeconds };
  }
  const message = `There were too many attempts. Try again in ${Math.ceil(retryAfterSeconds / 60)} min.`;
  return { status: 429, message, code: "too_many_failed_attempts", retryAfterSeconds };
}
