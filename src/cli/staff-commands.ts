/** `staff`, `signing-key`: the people of merchants, and what tokens are signed with. */
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { generatePassword } from "#access/people/passwords.ts";
import { rotateSigningKeys } from "#access/oauth/signing-keys.ts";
import {
  createStaff,
  disableStaff,
  enableStaff,
  preparePasswordHash,
  prepareStaffInput,
  setStaffPassword,
  selectStaffAccounts,
} from "#access/people/staff.ts";
import { readKeyring } from "#app/encryption-keys.ts";
import { printResult } from "./output.ts";
import { createCommand, type JsonOption, withDatabase, runAccessChange } from "./command.ts";

export function addStaffCommands(program: Command): void {
  program.addCommand(
    new Command("staff")
      .description("People of merchants.")
      .addCommand(staffCreate())
      .addCommand(staffPassword())
      .addCommand(staffDisable())
      .addCommand(staffEnable())
      .addCommand(listOf("accounts", selectStaffAccounts)),
  );
  program.addCommand(
    new Command("signing-key")
      .description("What access tokens are signed with.")
      .addCommand(signingKeyRotate()),
  );
}

function staffCreate(): Command {
  return createCommand(
    "create",
    "Makes an account for a person of a merchant. Its password is made and shown once, or read.",
  )
    .requiredOption("--merchant <id>", "the merchant's id")
    .requiredOption("--email <address>", "what the person signs in with")
    .requiredOption("--name <name>", "what the person is called")
    .option("--password-stdin", passwordStdinText)
    .action(async (given: JsonOption & PasswordStdin & { merchant: string; email: string; name: string }) => {
      const { merchant: merchantId, email, name } = given;
      const { password, shown } = await passwordOf(given);
      const person = await prepareStaffInput({ email, name, password });
      await runAccessChange(given, "staffCreate", async (transaction, access) => ({
        id: await createStaff(transaction, access, { merchantId, ...person }),
        email,
        ...shown,
      }));
    });
}

const passwordStdinText = "read the password from standard input: arguments can be seen by others";

interface PasswordStdin {
  readonly passwordStdin?: boolean;
}

/** Read, or made; what was made is shown. */
async function passwordOf({
  passwordStdin,
}: PasswordStdin): Promise<{ readonly password: string; readonly shown: { readonly password?: string } }> {
  if (passwordStdin === true)
    return { password: (await text(process.stdin)).replace(/\r?\n$/, ""), shown: {} };
  const password = generatePassword();
  return { password, shown: { password } };
}

function staffPassword(): Command {
  return createCommand(
    "password",
    "Gives an account another password, made and shown once, or read. Whoever had signed in is asked again.",
  )
    .argument("<id>", "the account's id, stf_…")
    .option("--password-stdin", passwordStdinText)
    .option("--revoke-grants", "also end what the person granted to apps, which else stays in force")
    .action(async (id: string, given: JsonOption & PasswordStdin & { revokeGrants?: boolean }) => {
      const isRevokingGrants = given.revokeGrants === true;
      const { password, shown } = await passwordOf(given);
      const passwordHash = await preparePasswordHash(password);
      await runAccessChange(given, "staffPasswordSet", async (transaction, access) => {
        await setStaffPassword(transaction, access, { staffId: id, passwordHash, isRevokingGrants });
        return { id, ...shown, ...(isRevokingGrants ? { grantsRevoked: true } : {}) };
      });
    });
}

function staffDisable(): Command {
  return createCommand("disable", "Disables an account at once, and revokes the grants it gave.")
    .argument("<id>", "the account's id, stf_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "staffDisable", async (transaction, access) => {
        await disableStaff(transaction, access, id);
        return { id, disabled: true };
      });
    });
}

function staffEnable(): Command {
  return createCommand(
    "enable",
    "Lets a disabled account sign in again. The grants that were revoked stay so.",
  )
    .argument("<id>", "the account's id, stf_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "staffEnable", async (transaction, access) => {
        await enableStaff(transaction, access, id);
        return { id, disabled: false };
      });
    });
}

function listOf(things: string, list: typeof selectStaffAccounts): Command {
  return createCommand("list", `Lists ${things}, those that are over included.`)
    .option("--merchant <id>", "only of this merchant")
    .action(async ({ merchant, json }: JsonOption & { merchant?: string }) => {
      await withDatabase(async ({ db }) => {
        const rows = await list(db, merchant ?? null).execute();
        printResult(
          rows.toSorted((one, other) => (one.id < other.id ? -1 : 1)),
          json === true,
        );
      });
    });
}

function signingKeyRotate(): Command {
  return createCommand(
    "rotate",
    "Makes new signing keys, which sign from a minute later on. Tokens of the old ones stay good until they end.",
  ).action(async (given: JsonOption) => {
    await runAccessChange(
      given,
      { name: "signingKeyRotate", targetType: "signing_key" },
      async (transaction, { now, settings }) => ({
        id: await rotateSigningKeys(transaction, readKeyring(settings), now),
      }),
    );
  });
}
