/** Who is signed in on the way to an app: what a session of the authorization server is made of, and whether it still holds. */
import type { InteractionResults } from "oidc-provider";
import { findActiveStaff, type StaffViewer } from "#access/people/staff.ts";
import type { Reader } from "#database/transaction.ts";

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
