/**
 * Staff accounts, with which employees of merchants sign in. An e-mail address belongs to only one enabled
 * account of a merchant. If an account is disabled, its owner cannot sign in and the grants that the owner
 * gave are revoked. The e-mail address can then be used for another account. A person who works for several
 * merchants has an account with the same e-mail address at each of them.
 */
import { type SelectQueryBuilder, type Selectable, sql, type Updateable } from "kysely";
import { getViolatedConstraintName } from "#database/database-errors.ts";
import type { StaffAccountTable, Tables } from "#database/tables.ts";
import type { DatabaseOrTransaction, Transaction } from "#database/transaction.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { StaffRole } from "#access/viewer.ts";
import type { AccessManagementCommandContext } from "#access/keys/manage-keys.ts";
import { hashPassword, passwordLength, getSaltOfPasswordHash } from "./passwords.ts";
import { revokeOauthGrants } from "#access/credential-changes.ts";

export interface SignedInStaff {
  readonly kind: "staff";
  readonly staffId: string;
  readonly merchantId: string;
  readonly email: string;
  readonly name: string;
  readonly role: StaffRole;
  /**
   * Version of the staff account. It increases when the account is disabled or enabled, or when its role or
   * password changes. Sessions that began under an earlier version have ended.
   */
  readonly version: number;
}

export interface NewStaffAccount {
  readonly merchantId: string;
  readonly email: string;
  readonly name: string;
  /** Role of the new staff account; `admin` if left out. */
  readonly role?: StaffRole;
  readonly passwordHash: string;
}

/**
 * Checks the fields of a new account and hashes its password, with the salt that `findStaffPasswordSalt` has
 * found for the e-mail address. Must be called before the transaction, because hashing takes about 50 ms.
 */
export async function validateStaffFieldsAndHashPassword(
  person: Pick<NewStaffAccount, "email" | "name"> & { readonly password: string },
  salt?: Buffer,
): Promise<Omit<NewStaffAccount, "merchantId" | "role">> {
  const { email, name, password } = person;
  requireValidFields(person);
  return { email, name, passwordHash: await validateAndHashNewStaffPassword(password, salt) };
}

/**
 * Returns the password salt of the given account, or of the newest account with the given e-mail address at
 * any merchant. Returns undefined if there is no account. All accounts of an e-mail address have the same
 * salt, so that a sign-in computes only one hash. The time of a sign-in then does not show how many merchants
 * have an account with this address.
 */
export async function findStaffPasswordSalt(
  reader: DatabaseOrTransaction,
  account: { readonly email: string } | { readonly staffId: string },
): Promise<Buffer | undefined> {
  const row = await reader
    .selectFrom("staffAccount")
    .select("passwordHash")
    .where((where) =>
      "email" in account
        ? where("emailNormalized", "=", normalizeStaffEmail(account.email))
        : where("id", "=", account.staffId),
    )
    .orderBy("createdAt", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : getSaltOfPasswordHash(row.passwordHash);
}

/**
 * Checks the length of a password and hashes the password, with the salt that `findStaffPasswordSalt` has
 * found for the account. Must be called before the transaction, because hashing takes about 50 ms.
 */
export async function validateAndHashNewStaffPassword(password: string, salt?: Buffer): Promise<string> {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max)
    throw fieldFailure("/password", "length", `The password must have ${min} to ${max} characters.`);
  return hashPassword(password, salt);
}

export async function createStaffAccount(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: NewStaffAccount,
): Promise<string> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId)
    throw createFailure("merchant_not_found");
  requireValidFields(input);
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", input.merchantId)
    .executeTakeFirst();
  if (merchant === undefined) throw createFailure("merchant_not_found");
  const id = createId("staff", access.now.getTime());
  await transaction
    .insertInto("staffAccount")
    .values({
      id,
      merchantId: merchant.id,
      email: input.email,
      emailNormalized: normalizeStaffEmail(input.email),
      name: input.name.trim(),
      role: input.role ?? "admin",
      passwordHash: input.passwordHash,
      createdAt: access.now,
    })
    .execute()
    .catch(refuseDuplicateEmail("/email", "Another account has this e-mail address."));
  return id;
}

/**
 * Returns an error handler for a database write. It throws `already_exists` if another enabled account of the
 * merchant has the same e-mail address. It rethrows every other error.
 */
const refuseDuplicateEmail =
  (field: string, message: string) =>
  (error: unknown): never => {
    if (getViolatedConstraintName(error) !== "staff_account_by_merchant_email") throw error;
    throw createFailureWithDetail("already_exists", { in: "body", field, code: "duplicate", message });
  };

const emailFormat = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;
const nameLengthMax = 200;

function requireValidFields({ email, name }: Pick<NewStaffAccount, "email" | "name">): void {
  if (email.length > 254 || !emailFormat.test(email))
    throw fieldFailure(
      "/email",
      "pattern_mismatch",
      "The e-mail address must have the form name@domain.example, with at most 254 characters.",
    );
  if (name.trim() === "" || name.length > nameLengthMax)
    throw fieldFailure("/name", "length", `The name must have 1 to ${nameLengthMax} characters.`);
}

const fieldFailure = (field: string, code: string, message: string): Error =>
  createFailureWithDetail("invalid_field", { in: "body", field, code, message });

/** Normalizes an e-mail address for comparison: NFC, trimmed, in lower case. */
export function normalizeStaffEmail(email: string): string {
  return email.normalize("NFC").trim().toLowerCase();
}

/**
 * Disables an account. From the commit on, all sessions of the account have ended, signing in is refused, and
 * the grants that the account's owner gave are revoked.
 */
export async function disableStaffAccount(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  staffId: string,
): Promise<void> {
  const account = await lockStaff(transaction, access, staffId);
  if (account.disabledAt !== null) return;
  await changeStaff(transaction, account.id, { disabledAt: access.now });
  await revokeOauthGrants(transaction, access, {
    column: "staffId",
    value: account.id,
    reason: "person_disabled",
  });
}

/**
 * Enables an account. The account has the same password as before. The grants that were revoked when the
 * account was disabled stay revoked. Throws `already_exists` if by now another account of the merchant that
 * is not disabled has the same e-mail address.
 */
export async function enableStaffAccount(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  staffId: string,
): Promise<void> {
  const account = await lockStaff(transaction, access, staffId);
  if (account.disabledAt === null) return;
  await changeStaff(transaction, account.id, { disabledAt: null }).catch(
    refuseDuplicateEmail("/staffId", "Another account has the e-mail address of this one by now."),
  );
}

export interface SetStaffRoleInput {
  readonly staffId: string;
  readonly role: StaffRole;
}

/**
 * Sets the role of an account. From the commit on, all sessions of the account have ended. Grants that its
 * owner gave to apps stay in force. Nothing changes if the account already has the role.
 */
export async function setStaffRole(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  { staffId, role }: SetStaffRoleInput,
): Promise<void> {
  const account = await lockStaff(transaction, access, staffId);
  if (account.role !== role) await changeStaff(transaction, account.id, { role });
}

export interface SetStaffPasswordInput {
  readonly staffId: string;
  /** The hash of the new password, as `validateAndHashNewStaffPassword` returns it. */
  readonly passwordHash: string;
  /**
   * True to revoke the OAuth grants with which the account's owner gave apps access; false to leave them in
   * force.
   */
  readonly isRevokingGrants: boolean;
}

/**
 * Sets the password of an account. From the commit on, the old password is refused and all sessions of the
 * account have ended.
 */
export async function setStaffPassword(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  input: SetStaffPasswordInput,
): Promise<void> {
  const account = await lockStaff(transaction, access, input.staffId);
  await changeStaff(transaction, account.id, { passwordHash: input.passwordHash });
  if (input.isRevokingGrants)
    await revokeOauthGrants(transaction, access, {
      column: "staffId",
      value: account.id,
      reason: "password_changed",
    });
}

async function lockStaff(
  transaction: Transaction,
  access: AccessManagementCommandContext,
  staffId: string,
): Promise<Pick<StaffRow, "id" | "role" | "disabledAt">> {
  const account = await transaction
    .selectFrom("staffAccount")
    .select(["id", "role", "disabledAt"])
    .where("id", "=", staffId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (account === undefined)
    throw createFailure("resource_not_found", { message: "There is no staff account with this id." });
  return account;
}

/** Changes a staff account and increases its version, which ends every session that began before. */
function changeStaff(
  transaction: Transaction,
  staffId: string,
  change: Updateable<StaffAccountTable>,
): Promise<unknown> {
  return transaction
    .updateTable("staffAccount")
    .set((row) => ({ ...change, version: row("version", "+", 1) }))
    .where("id", "=", staffId)
    .execute();
}

export type StaffRow = Omit<Selectable<StaffAccountTable>, "emailNormalized" | "passwordHash">;

const staffColumns = [
  "id",
  "merchantId",
  "email",
  "name",
  "role",
  "version",
  "createdAt",
  "disabledAt",
  "lastSignedInAt",
] as const;

export const findStaffAccounts = (
  reader: DatabaseOrTransaction,
  ids: readonly string[],
): Promise<StaffRow[]> =>
  reader
    .selectFrom("staffAccount")
    .select(staffColumns)
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .execute();

/**
 * Builds the query for the staff accounts of a merchant, or of all merchants if `owner` is null. The caller
 * adds the order or page, or counts the rows.
 */
export const buildStaffAccountSqlQuery = (
  reader: DatabaseOrTransaction,
  owner: string | null,
): SelectQueryBuilder<Tables, "staffAccount", StaffRow> =>
  reader
    .selectFrom("staffAccount")
    .select(staffColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));
