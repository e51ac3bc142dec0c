/**
 * The people of merchants who sign in. One address is one account, of one merchant; a disabled account signs
 * in nowhere, what it let in is out, and its address is free for another.
 */
import { type SelectQueryBuilder, type Selectable, sql, type Updateable } from "kysely";
import { brokenConstraint } from "#database/database-errors.ts";
import type { StaffAccountTable, Tables } from "#database/tables.ts";
import type { Reader, Transaction } from "#database/transaction.ts";
import { fail, failAt } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import type { AccessCommandContext } from "#access/keys/manage-keys.ts";
import { hashPassword, matchesPassword, passwordLength } from "./passwords.ts";
import { revokeGrants } from "#access/credential-changes.ts";

export interface SignedInStaff {
  readonly kind: "staff";
  readonly staffId: string;
  readonly merchantId: string;
  readonly email: string;
  readonly name: string;
  /** Of the account: what began under another is over. */
  readonly version: number;
}

export interface StaffInput {
  readonly merchantId: string;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
}

/**
 * Hashes the password of a new account, which takes long: before any transaction. What breaks a rule is
 * refused first.
 */
export async function prepareStaffInput(
  person: Pick<StaffInput, "email" | "name"> & { readonly password: string },
): Promise<Omit<StaffInput, "merchantId">> {
  const { email, name, password } = person;
  requireWritten(person);
  return { email, name, passwordHash: await preparePasswordHash(password) };
}

/** The same of a password alone. */
export async function preparePasswordHash(password: string): Promise<string> {
  const { min, max } = passwordLength;
  if (password.length < min || password.length > max)
    throw broken("/password", "length", `A password has ${min} to ${max} characters.`);
  return hashPassword(password);
}

export async function createStaff(
  transaction: Transaction,
  access: AccessCommandContext,
  input: StaffInput,
): Promise<string> {
  if (access.merchantId !== null && access.merchantId !== input.merchantId) throw fail("merchant_not_found");
  requireWritten(input);
  const merchant = await transaction
    .selectFrom("merchant")
    .select("id")
    .where("id", "=", input.merchantId)
    .executeTakeFirst();
  if (merchant === undefined) throw fail("merchant_not_found");
  const id = createId("staff", access.now.getTime());
  await transaction
    .insertInto("staffAccount")
    .values({
      id,
      merchantId: merchant.id,
      email: input.email,
      emailNormalized: normalizeEmail(input.email),
      name: input.name.trim(),
      passwordHash: input.passwordHash,
      createdAt: access.now,
    })
    .execute()
    .catch(refuseTaken("/email", "There is an account with this e-mail address."));
  return id;
}

/** Of those that sign in, each has its address to itself. */
const refuseTaken =
  (field: string, message: string) =>
  (error: unknown): never => {
    if (brokenConstraint(error) !== "staff_account_by_email") throw error;
    throw failAt("already_exists", { in: "body", field, code: "duplicate", message });
  };

const emailForm = /^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+\.[^\s@\p{Cc}]+$/u;
const nameLengthMax = 200;

function requireWritten({ email, name }: Pick<StaffInput, "email" | "name">): void {
  if (email.length > 254 || !emailForm.test(email))
    throw broken("/email", "pattern_mismatch", "That is no e-mail address.");
  if (name.trim() === "" || name.length > nameLengthMax)
    throw broken("/name", "length", `A name has 1 to ${nameLengthMax} characters.`);
}

const broken = (field: string, code: string, message: string): Error =>
  failAt("invalid_field", { in: "body", field, code, message });

/** What accounts are told apart by. */
export function normalizeEmail(email: string): string {
  return email.normalize("NFC").trim().toLowerCase();
}

/** From its commit on the account signs in nowhere, also where it had, and the grants it gave are revoked. */
export async function disableStaff(
  transaction: Transaction,
  access: AccessCommandContext,
  staffId: string,
): Promise<void> {
  const account = await lockStaff(transaction, access, staffId);
  if (account.disabledAt !== null) return;
  await changeStaff(transaction, account.id, { disabledAt: access.now });
  await revokeGrants(transaction, access, { column: "staffId", value: account.id, why: "person_disabled" });
}

/**
 * It signs in again, with the password that it had; what was revoked stays so. Refused where somebody else
 * has its address by now.
 */
export async function enableStaff(
  transaction: Transaction,
  access: AccessCommandContext,
  staffId: string,
): Promise<void> {
  const account = await lockStaff(transaction, access, staffId);
  if (account.disabledAt === null) return;
  await changeStaff(transaction, account.id, { disabledAt: null }).catch(
    refuseTaken("/staffId", "Another account has the e-mail address of this one by now."),
  );
}

export interface StaffPasswordInput {
  readonly staffId: string;
  /** Of `preparePassword`. */
  readonly passwordHash: string;
  /** Else what the person granted to apps stays in force. */
  readonly isRevokingGrants: boolean;
}

/** From its commit on the password before it is none any more, and whoever had signed in is asked again. */
export async function setStaffPassword(
  transaction: Transaction,
  access: AccessCommandContext,
  input: StaffPasswordInput,
): Promise<void> {
  const account = await lockStaff(transaction, access, input.staffId);
  await changeStaff(transaction, account.id, { passwordHash: input.passwordHash });
  if (input.isRevokingGrants)
    await revokeGrants(transaction, access, {
      column: "staffId",
      value: account.id,
      why: "password_changed",
    });
}

async function lockStaff(
  transaction: Transaction,
  access: AccessCommandContext,
  staffId: string,
): Promise<{ readonly id: string; readonly disabledAt: Date | null }> {
  const account = await transaction
    .selectFrom("staffAccount")
    .select(["id", "disabledAt"])
    .where("id", "=", staffId)
    .$if(access.merchantId !== null, (query) => query.where("merchantId", "=", access.merchantId ?? ""))
    .forUpdate()
    .executeTakeFirst();
  if (account === undefined) throw fail("resource_not_found", { message: "There is no such account." });
  return account;
}

/** Its new version ends every session that began before. */
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

/** Undefined for a wrong password, an unknown address and a disabled account alike, and as slowly for each. */
export async function verifyPassword(
  reader: Reader,
  email: string,
  password: string,
): Promise<SignedInStaff | undefined> {
  const row = await reader
    .selectFrom("staffAccount")
    .select([...viewerColumns, "passwordHash"])
    .where("emailNormalized", "=", normalizeEmail(email))
    .where("disabledAt", "is", null)
    .executeTakeFirst();
  const isRight = await matchesPassword(password.slice(0, passwordLength.max + 1), row?.passwordHash);
  return isRight && row !== undefined ? toViewer(row) : undefined;
}

/** Undefined when there is none, or none that may sign in. */
export async function findActiveStaff(reader: Reader, staffId: string): Promise<SignedInStaff | undefined> {
  const row = await reader
    .selectFrom("staffAccount")
    .select(viewerColumns)
    .where("id", "=", staffId)
    .where("disabledAt", "is", null)
    .executeTakeFirst();
  return row === undefined ? undefined : toViewer(row);
}

export function recordSignIn(reader: Reader, staffId: string, now: Date): Promise<unknown> {
  return sql`update staff_account set last_signed_in_at = ${now} where id = ${staffId}`.execute(reader);
}

const viewerColumns = ["id", "merchantId", "email", "name", "version"] as const;

const toViewer = ({
  id,
  merchantId,
  email,
  name,
  version,
}: Pick<StaffRow, (typeof viewerColumns)[number]>): SignedInStaff => ({
  kind: "staff",
  staffId: id,
  merchantId,
  email,
  name,
  version,
});

export type StaffRow = Omit<Selectable<StaffAccountTable>, "emailNormalized" | "passwordHash">;

const staffColumns = [
  "id",
  "merchantId",
  "email",
  "name",
  "version",
  "createdAt",
  "disabledAt",
  "lastSignedInAt",
] as const;

/** Still to be paged or counted. Null: of all merchants. */
export const selectStaffAccounts = (
  reader: Reader,
  owner: string | null,
): SelectQueryBuilder<Tables, "staffAccount", StaffRow> =>
  reader
    .selectFrom("staffAccount")
    .select(staffColumns)
    .$if(owner !== null, (query) => query.where("merchantId", "=", owner ?? ""));
