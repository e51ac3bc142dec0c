/**
 * Signing in with e-mail and password. An attempt is counted before its password is looked at, so that of many at once none slips past the limit; what
 * turns out right, or is not looked at after all, is given back.
 */
import { createHash } from "node:crypto";
import type { InteractionResults } from "oidc-provider";
import { findActiveStaff, normalizeEmail, recordSignIn, type StaffViewer, verifyPassword } from "#access/people/staff.ts";
import type { Reader } from "#database/transaction.ts";
import { Failure, retryAfterSecondsOf } from "#foundation/failure.ts";
import type { LoginAttempt, OauthServices } from "./oauth-services.ts";

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

export function createSignIn({ db, clock, loginLimit }: Pick<OauthServices, "db" | "clock" | "loginLimit">): SignIn {
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

export interface SignedIn {
  readonly accountId: string;
  /** Of OpenID Connect: what the sign-in was. Here: the version that the account had. */
  readonly acr?: string | undefined;
}

/** What a session is made of. */
export const loginOf = ({ staffId, version }: StaffViewer): NonNullable<InteractionResults["login"]> => ({
  accountId: staffId,
  acr: String(version),
  remember: false,
  amr: ["pwd"],
});

/** Undefined where the account may not sign in any more, or has got another password since. */
export async function findSignedIn(reader: Reader, { accountId, acr }: SignedIn): Promise<StaffViewer | undefined> {
  const staff = await findActiveStaff(reader, accountId);
  return staff !== undefined && String(staff.version) === acr ? staff : undefined;
}
