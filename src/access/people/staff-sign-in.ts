/** Finds the account of a staff member who signs in, and records the sign-in. */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { findMatchingPasswordHashes, passwordLength } from "./passwords.ts";
import { normalizeStaffEmail, type SignedInStaff, type StaffRow } from "./staff.ts";

/**
 * Returns the account with this e-mail address and this password. If several accounts have both, returns the
 * account that signed in last. Returns undefined for a wrong password, an unknown address and a disabled
 * account. All cases take the same time, so that callers cannot find out which addresses exist.
 */
export async function authenticateStaffByPassword(
  reader: DatabaseOrTransaction,
  email: string,
  password: string,
): Promise<SignedInStaff | undefined> {
  const rows = await reader
    .selectFrom("staffAccount")
    .select([...viewerColumns, "passwordHash"])
    .where("emailNormalized", "=", normalizeStaffEmail(email))
    .where("disabledAt", "is", null)
    .orderBy("lastSignedInAt", (order) => order.desc().nullsLast())
    .orderBy("id")
    .execute();
  const matching = await findMatchingPasswordHashes(
    password.slice(0, passwordLength.max + 1),
    rows.map(({ passwordHash }) => passwordHash),
  );
  const row = rows.find(({ passwordHash }) => matching.includes(passwordHash));
  return row === undefined ? undefined : toViewer(row);
}

/** Returns a staff account; undefined if no account has the id or the account is disabled. */
export async function findActiveStaffAccount(
  reader: DatabaseOrTransaction,
  staffId: string,
): Promise<SignedInStaff | undefined> {
  const row = await reader
    .selectFrom("staffAccount")
    .select(viewerColumns)
    .where("id", "=", staffId)
    .where("disabledAt", "is", null)
    .executeTakeFirst();
  return row === undefined ? undefined : toViewer(row);
}

export function recordLastStaffSignInTime(
  reader: DatabaseOrTransaction,
  staffId: string,
  now: Date,
): Promise<unknown> {
  return sql`update staff_account set last_signed_in_at = ${now} where id = ${staffId}`.execute(reader);
}

const viewerColumns = ["id", "merchantId", "email", "name", "role", "version"] as const;

const toViewer = ({
  id,
  merchantId,
  email,
  name,
  role,
  version,
}: Pick<StaffRow, (typeof viewerColumns)[number]>): SignedInStaff => ({
  kind: "staff",
  staffId: id,
  merchantId,
  email,
  name,
  role,
  version,
});
