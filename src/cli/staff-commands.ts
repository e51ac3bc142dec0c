/** The commands `staff` and `signing-key`: staff accounts of merchants, and the keys that sign access tokens. */
import { Argument, Command, Option } from "commander";
import { generatePassword } from "#access/people/passwords.ts";
import { rotateOauthSigningKeys } from "#access/oauth/signing-keys.ts";
import {
  createStaffAccount,
  disableStaffAccount,
  enableStaffAccount,
  findStaffPasswordSalt,
  validateAndHashNewStaffPassword,
  validateStaffFieldsAndHashPassword,
  setStaffPassword,
  setStaffRole,
  buildStaffAccountSqlQuery,
} from "#access/people/staff.ts";
import { type StaffRole, staffRoles } from "#access/viewer.ts";
import { createEncryptionKeyringFromSettings } from "#app/encryption-keys.ts";
import { getCliCommandEnvironment } from "./command-session.ts";
import { printCommandResult } from "./output.ts";
import {
  createCliCommand,
  type JsonOutputOption,
  runFunctionWithMigratedDatabase,
  runAuditedCliCommand,
} from "./command.ts";

export function addStaffCommands(program: Command): void {
  program.addCommand(
    new Command("staff")
      .description("Creates, changes and lists staff accounts of merchants.")
      .addCommand(staffCreate())
      .addCommand(staffPassword())
      .addCommand(staffRole())
      .addCommand(staffDisable())
      .addCommand(staffEnable())
      .addCommand(listCommand("staff accounts", buildStaffAccountSqlQuery)),
  );
  program.addCommand(
    new Command("signing-key")
      .description("Rotates the keys that sign OAuth access tokens.")
      .addCommand(signingKeyRotate()),
  );
}

function staffCreate(): Command {
  return createCliCommand(
    "create",
    "Creates an account for a merchant's staff member. Generates a password, which is printed only once, " +
      "unless one is read from standard input.",
  )
    .requiredOption("--merchant <id>", "the merchant's id, mer_…")
    .requiredOption("--email <address>", "the e-mail address to sign in with")
    .requiredOption("--name <name>", "the staff member's name")
    .addOption(new Option("--role <role>", roleText).choices(staffRoles).default("admin"))
    .option("--password-stdin", passwordStdinText)
    .action(async (given: NewStaff) => {
      const { merchant: merchantId, email, name, role } = given;
      const { password, printed } = await readOrGeneratePassword(given);
      await runAuditedCliCommand(given, "staffCreate", async (transaction, access) => {
        const salt = await findStaffPasswordSalt(transaction, { email });
        const person = await validateStaffFieldsAndHashPassword({ email, name, password }, salt);
        const id = await createStaffAccount(transaction, access, { merchantId, role, ...person });
        return { id, email, ...printed };
      });
    });
}

interface NewStaff extends JsonOutputOption, PasswordStdin {
  readonly merchant: string;
  readonly email: string;
  readonly name: string;
  readonly role: StaffRole;
}

const roleText =
  "admin reads and changes all data of the merchant; analyst reads reports and data without personal data";

const passwordStdinText =
  "read the password from standard input (other users of the machine can see arguments)";

interface PasswordStdin {
  readonly passwordStdin?: boolean;
}

/**
 * Reads the password of a staff account from standard input; if there is none, generates a password, which is
 * then printed.
 */
async function readOrGeneratePassword({
  passwordStdin,
}: PasswordStdin): Promise<{ readonly password: string; readonly printed: { readonly password?: string } }> {
  if (passwordStdin === true)
    return { password: (await getCliCommandEnvironment().readInput()).replace(/\r?\n$/, ""), printed: {} };
  const password = generatePassword();
  return { password, printed: { password } };
}

function staffPassword(): Command {
  return createCliCommand(
    "password",
    "Sets the password of a staff account and ends its sessions. Generates a password, which is printed " +
      "only once, unless one is read from standard input.",
  )
    .argument("<id>", "the account's id, stf_…")
    .option("--password-stdin", passwordStdinText)
    .option(
      "--revoke-grants",
      "also revoke the grants that the staff member gave to apps; without it, they stay in force",
    )
    .action(async (id: string, given: JsonOutputOption & PasswordStdin & { revokeGrants?: boolean }) => {
      const isRevokingGrants = given.revokeGrants === true;
      const { password, printed } = await readOrGeneratePassword(given);
      await runAuditedCliCommand(given, "staffPasswordSet", async (transaction, access) => {
        const salt = await findStaffPasswordSalt(transaction, { staffId: id });
        const passwordHash = await validateAndHashNewStaffPassword(password, salt);
        await setStaffPassword(transaction, access, { staffId: id, passwordHash, isRevokingGrants });
        return { id, ...printed, ...(isRevokingGrants ? { grantsRevoked: true } : {}) };
      });
    });
}

function staffRole(): Command {
  return createCliCommand(
    "role",
    "Sets the role of a staff account and ends its sessions. The grants that it gave stay in force.",
  )
    .argument("<id>", "the account's id, stf_…")
    .addArgument(new Argument("<role>", roleText).choices(staffRoles))
    .action(async (id: string, role: StaffRole, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "staffRoleSet", async (transaction, access) => {
        await setStaffRole(transaction, access, { staffId: id, role });
        return { id, role };
      });
    });
}

function staffDisable(): Command {
  return createCliCommand(
    "disable",
    "Disables a staff account: it cannot sign in, its sessions end, and the grants that it gave are revoked.",
  )
    .argument("<id>", "the account's id, stf_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "staffDisable", async (transaction, access) => {
        await disableStaffAccount(transaction, access, id);
        return { id, disabled: true };
      });
    });
}

function staffEnable(): Command {
  return createCliCommand("enable", "Enables a disabled staff account. Its revoked grants stay revoked.")
    .argument("<id>", "the account's id, stf_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "staffEnable", async (transaction, access) => {
        await enableStaffAccount(transaction, access, id);
        return { id, disabled: false };
      });
    });
}

function listCommand(objects: string, list: typeof buildStaffAccountSqlQuery): Command {
  return createCliCommand("list", `Lists ${objects}, including disabled ones.`)
    .option("--merchant <id>", "only those of the merchant with this id")
    .action(async ({ merchant, json }: JsonOutputOption & { merchant?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }) => {
        const rows = await list(db, merchant ?? null).execute();
        printCommandResult(
          rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
          json === true,
        );
      });
    });
}

function signingKeyRotate(): Command {
  return createCliCommand(
    "rotate",
    "Creates new signing keys, which sign tokens one minute later. Tokens of the old keys stay valid " +
      "until they expire.",
  ).action(async (given: JsonOutputOption) => {
    await runAuditedCliCommand(
      given,
      { name: "signingKeyRotate", targetType: "signing_key" },
      async (transaction, { now, settings }) => ({
        id: await rotateOauthSigningKeys(transaction, createEncryptionKeyringFromSettings(settings), now),
      }),
    );
  });
}
