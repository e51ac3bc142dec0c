/** Making merchants, apps, installations, keys and tokens from the command line: the same rules as the graph's mutations. */
import { Command, InvalidArgumentError, Option } from "commander";
import type { AccessHappening } from "#access/access-happening.ts";
import { type Access, createApiKey, revokeApiKey } from "#access/keys/api-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { apiKeyList, internalTokenList } from "#access/tenants/read-tenants.ts";
import { isScope, type Role, roles, type Scope, scopes } from "#access/scopes.ts";
import { createApp, createInstallation, createMerchant } from "#access/tenants/tenants.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { isCountry, parseLocale } from "#foundation/locales.ts";
import { isSlug } from "#foundation/text.ts";
import { printResult } from "./output.ts";
import { tellFromCommand } from "./tell-access.ts";
import { withDatabase } from "./with-database.ts";

interface Json {
  readonly json?: boolean;
}

export function addAccessCommands(program: Command): void {
  program.addCommand(new Command("merchant").description("Merchants.").addCommand(merchantCreate()));
  program.addCommand(new Command("app").description("Apps that can be installed.").addCommand(appCreate()));
  program.addCommand(new Command("installation").description("Installations of apps with merchants.").addCommand(installationCreate()));
  program.addCommand(
    new Command("key").description("API keys of installations.").addCommand(keyCreate()).addCommand(keyRevoke()).addCommand(keyList()),
  );
  program.addCommand(
    new Command("token").description("Internal tokens.").addCommand(tokenCreate()).addCommand(tokenRevoke()).addCommand(tokenList()),
  );
}

const command = (name: string, description: string): Command => new Command(name).description(description).option("--json", "as JSON").exitOverride();

interface CommandAccess extends Access {
  /** Takes what became of installations and keys. */
  readonly tell: (happened: readonly AccessHappening[]) => void;
}

/** The platform's own hands: no merchant is foreign to the command line. */
async function write<Result extends Readonly<Record<string, unknown>>>(
  { json }: Json,
  work: (transaction: Transaction, access: CommandAccess) => Promise<Result>,
): Promise<void> {
  await withDatabase(async ({ db }, settings) => {
    const now = new Date();
    const happened: AccessHappening[] = [];
    const done = await inTransaction(db, async (transaction) => {
      const result = await work(transaction, { merchantId: null, now, tell: (more) => void happened.push(...more) });
      await tellFromCommand(transaction, happened, { db, settings, now });
      return result;
    });
    printResult(done, json === true);
  });
}

function merchantCreate(): Command {
  return command("create", "Makes a merchant.")
    .requiredOption("--slug <slug>", "its name in addresses", parse(isSlug, "It must be 1 to 96 lower-case letters, digits and single hyphens."))
    .requiredOption("--name <name>", "its name")
    .addOption(new Option("--mode <mode>", "whether real money moves").choices(["live", "test"]).default("test"))
    .requiredOption(
      "--locale <locale>",
      "the locale that texts fall back to",
      parse((text) => parseLocale(text) !== undefined, "It must be a BCP 47 tag."),
    )
    .requiredOption(
      "--market <country>",
      "the country whose prices are shown by default",
      parse(isCountry, "It must be an ISO 3166-1 alpha-2 code in upper case."),
    )
    .action(async (given: Json & { slug: string; name: string; mode: "live" | "test"; locale: string; market: string }) => {
      const { slug, name, mode, market } = given;
      const input = { slug, name, mode, defaultLocale: parseLocale(given.locale) ?? given.locale, defaultMarket: market };
      await write(given, async (transaction, access) => ({ id: await createMerchant(transaction, access, input), slug }));
    });
}

function appCreate(): Command {
  return command("create", "Registers an app.")
    .requiredOption("--name <name>", "its name")
    .option("--publisher <publisher>", "who makes it")
    .action(async (given: Json & { name: string; publisher?: string }) => {
      await write(given, async (transaction, access) => ({
        id: await createApp(transaction, access, { name: given.name, publisher: given.publisher ?? null }),
      }));
    });
}

function installationCreate(): Command {
  return command("create", "Installs an app with a merchant.")
    .requiredOption("--merchant <id>", "the merchant's id")
    .requiredOption("--app <id>", "the app's id")
    .option("--scopes <list>", "comma-separated", parseScopes, [...scopes])
    .action(async (given: Json & { merchant: string; app: string; scopes: Scope[] }) => {
      const input = { merchantId: given.merchant, appId: given.app, scopes: given.scopes };
      await write(given, async (transaction, access) => ({ id: await createInstallation(transaction, access, input) }));
    });
}

function keyCreate(): Command {
  return command("create", "Makes an API key. It is shown once.")
    .requiredOption("--installation <id>", "the installation's id")
    .requiredOption("--name <name>", "what it is for")
    .option("--scopes <list>", "comma-separated", parseScopes, [...scopes])
    .option("--expires <time>", "when it ends, RFC 3339", parseTime)
    .action(async (given: Json & { installation: string; name: string; scopes: Scope[]; expires?: Date }) => {
      const input = { installationId: given.installation, name: given.name, scopes: given.scopes, expiresAt: given.expires ?? null };
      await write(given, async (transaction, access) => {
        const { apiKeyId, value, happened } = await createApiKey(transaction, access, input);
        access.tell(happened);
        return { id: apiKeyId, key: value };
      });
    });
}

function keyRevoke(): Command {
  return command("revoke", "Revokes an API key at once.")
    .argument("<id>", "the key's id, key_…")
    .action(async (id: string, given: Json) => {
      await write(given, async (transaction, access) => {
        access.tell(await revokeApiKey(transaction, access, id));
        return { id, revoked: true };
      });
    });
}

function keyList(): Command {
  return command("list", "Lists API keys, without their secrets.")
    .option("--merchant <id>", "only of this merchant")
    .action(async ({ merchant, json }: Json & { merchant?: string }) => {
      await withDatabase(async ({ db }) =>
        printResult(
          await apiKeyList(db, merchant ?? null)
            .orderBy("id")
            .execute(),
          json === true,
        ),
      );
    });
}

function tokenCreate(): Command {
  return command("create", "Makes an internal token. It is shown once.")
    .addOption(new Option("--role <role>", "what it may do").choices(roles).makeOptionMandatory())
    .requiredOption("--name <name>", "what it is for")
    .option("--merchant <id>", "the merchant it is for; without it the platform's")
    .option("--expires <time>", "when it ends, RFC 3339", parseTime)
    .action(async (given: Json & { role: Role; name: string; merchant?: string; expires?: Date }) => {
      const input = { name: given.name, role: given.role, merchantId: given.merchant ?? null, expiresAt: given.expires ?? null };
      await write(given, async (transaction, access) => {
        const { internalTokenId, value } = await createInternalToken(transaction, access, input);
        return { id: internalTokenId, token: value };
      });
    });
}

function tokenRevoke(): Command {
  return command("revoke", "Revokes an internal token at once.")
    .argument("<id>", "the token's id, tok_…")
    .action(async (id: string, given: Json) => {
      await write(given, async (transaction, access) => {
        await revokeInternalToken(transaction, access, id);
        return { id, revoked: true };
      });
    });
}

function tokenList(): Command {
  return command("list", "Lists internal tokens, without their secrets.")
    .option("--merchant <id>", "only of this merchant")
    .action(async ({ merchant, json }: Json & { merchant?: string }) => {
      await withDatabase(async ({ db }) =>
        printResult(
          await internalTokenList(db, merchant ?? null)
            .orderBy("id")
            .execute(),
          json === true,
        ),
      );
    });
}

const parse =
  (isValid: (text: string) => boolean, rule: string) =>
  (text: string): string => {
    if (!isValid(text)) throw new InvalidArgumentError(rule);
    return text;
  };

function parseScopes(text: string): Scope[] {
  const list = text === "" ? [] : text.split(",").map((scope) => scope.trim());
  const unknown = list.find((scope) => !isScope(scope));
  if (unknown !== undefined) throw new InvalidArgumentError(`${unknown} is no scope: there are ${scopes.join(", ")}.`);
  return list.filter(isScope);
}

function parseTime(text: string): Date {
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError("It must be a time like 2027-01-31T09:15:00Z.");
  return time;
}
