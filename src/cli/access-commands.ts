/**
 * Making merchants, apps, installations, keys and tokens from the command line: the same rules as the graph's
 * mutations.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { createApiKey, revokeApiKey, keyOverlapHours, rotateApiKey } from "#access/keys/manage-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { selectApiKeys, selectInternalTokens } from "#access/keys/read-credentials.ts";
import { registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import { isScope, type InternalRole, internalRoles, type Scope, integratorScopes } from "#access/viewer.ts";
import { isCountry, isSlug, parseLocale } from "#foundation/text.ts";
import { printResult } from "./output.ts";
import { createCommand, type JsonOption, parseTimeOption, withDatabase, runAccessChange } from "./command.ts";

export function addAccessCommands(program: Command): void {
  program.addCommand(new Command("merchant").description("Merchants.").addCommand(merchantCreate()));
  program.addCommand(new Command("app").description("Apps that can be installed.").addCommand(appCreate()));
  program.addCommand(
    new Command("installation")
      .description("Installations of apps with merchants.")
      .addCommand(installationCreate()),
  );
  program.addCommand(
    new Command("key")
      .description("API keys of installations.")
      .addCommand(keyCreate())
      .addCommand(keyRotate())
      .addCommand(keyRevoke())
      .addCommand(keyList()),
  );
  program.addCommand(
    new Command("token")
      .description("Internal tokens.")
      .addCommand(tokenCreate())
      .addCommand(tokenRevoke())
      .addCommand(tokenList()),
  );
}

function merchantCreate(): Command {
  return createCommand("create", "Makes a merchant.")
    .requiredOption(
      "--slug <slug>",
      "its name in addresses",
      parse(isSlug, "It must be 1 to 96 lower-case letters, digits and single hyphens."),
    )
    .requiredOption("--name <name>", "its name")
    .addOption(
      new Option("--mode <mode>", "whether real money moves").choices(["live", "test"]).default("test"),
    )
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
    .action(
      async (
        given: JsonOption & {
          slug: string;
          name: string;
          mode: "live" | "test";
          locale: string;
          market: string;
        },
      ) => {
        const { slug, name, mode, market } = given;
        const input = {
          slug,
          name,
          mode,
          defaultLocale: parseLocale(given.locale) ?? given.locale,
          defaultMarket: market,
        };
        await runAccessChange(given, "merchantCreate", async (transaction, access) => ({
          id: await createMerchant(transaction, access, input),
          slug,
        }));
      },
    );
}

function appCreate(): Command {
  return createCommand("create", "Registers an app.")
    .requiredOption("--name <name>", "its name")
    .option("--publisher <publisher>", "who makes it")
    .action(async (given: JsonOption & { name: string; publisher?: string }) => {
      await runAccessChange(given, "appCreate", async (transaction, access) => ({
        id: await registerApp(transaction, access, { name: given.name, publisher: given.publisher ?? null }),
      }));
    });
}

function installationCreate(): Command {
  return createCommand("create", "Installs an app with a merchant.")
    .requiredOption("--merchant <id>", "the merchant's id")
    .requiredOption("--app <id>", "the app's id")
    .option("--scopes <list>", "comma-separated", parseScopes, [...integratorScopes])
    .action(async (given: JsonOption & { merchant: string; app: string; scopes: Scope[] }) => {
      const input = { merchantId: given.merchant, appId: given.app, scopes: given.scopes };
      await runAccessChange(given, "installationCreate", async (transaction, access) => ({
        id: await createInstallation(transaction, access, input),
      }));
    });
}

function keyCreate(): Command {
  return createCommand("create", "Makes an API key. It is shown once.")
    .requiredOption("--installation <id>", "the installation's id")
    .requiredOption("--name <name>", "what it is for")
    .option("--scopes <list>", "comma-separated", parseScopes, [...integratorScopes])
    .option("--expires <time>", "when it ends, RFC 3339", parseTimeOption)
    .action(
      async (given: JsonOption & { installation: string; name: string; scopes: Scope[]; expires?: Date }) => {
        const input = {
          installationId: given.installation,
          name: given.name,
          scopes: given.scopes,
          expiresAt: given.expires ?? null,
        };
        await runAccessChange(given, "apiKeyCreate", async (transaction, access) => {
          const { apiKeyId, value, events } = await createApiKey(transaction, access, input);
          access.tell(events);
          return { id: apiKeyId, key: value };
        });
      },
    );
}

function keyRotate(): Command {
  return createCommand(
    "rotate",
    "Makes an API key's successor, which is shown once. Both work for the overlap.",
  )
    .argument("<id>", "the key's id, key_…")
    .option(
      "--overlap <hours>",
      `how long the old key goes on working, 0 to ${keyOverlapHours.max} hours`,
      parseOverlap,
      keyOverlapHours.standard,
    )
    .option("--expires <time>", "when the successor ends, RFC 3339", parseTimeOption)
    .action(async (id: string, given: JsonOption & { overlap: number; expires?: Date }) => {
      await runAccessChange(given, "apiKeyRotate", async (transaction, access) => {
        const made = await rotateApiKey(transaction, access, {
          apiKeyId: id,
          overlapHours: given.overlap,
          expiresAt: given.expires,
        });
        access.tell(made.events);
        return { id: made.apiKeyId, key: made.value, rotated: id };
      });
    });
}

function keyRevoke(): Command {
  return createCommand("revoke", "Revokes an API key at once.")
    .argument("<id>", "the key's id, key_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "apiKeyRevoke", async (transaction, access) => {
        access.tell(await revokeApiKey(transaction, access, id));
        return { id, revoked: true };
      });
    });
}

function keyList(): Command {
  return createCommand("list", "Lists API keys, without their secrets.")
    .option("--merchant <id>", "only of this merchant")
    .action(async ({ merchant, json }: JsonOption & { merchant?: string }) => {
      await withDatabase(async ({ db }) =>
        printResult(
          await selectApiKeys(db, merchant ?? null)
            .orderBy("id")
            .execute(),
          json === true,
        ),
      );
    });
}

function tokenCreate(): Command {
  return createCommand("create", "Makes an internal token. It is shown once.")
    .addOption(new Option("--role <role>", "what it may do").choices(internalRoles).makeOptionMandatory())
    .requiredOption("--name <name>", "what it is for")
    .option("--merchant <id>", "the merchant it is for; without it the platform's")
    .option("--expires <time>", "when it ends, RFC 3339", parseTimeOption)
    .action(
      async (given: JsonOption & { role: InternalRole; name: string; merchant?: string; expires?: Date }) => {
        const input = {
          name: given.name,
          role: given.role,
          merchantId: given.merchant ?? null,
          expiresAt: given.expires ?? null,
        };
        await runAccessChange(given, "internalTokenCreate", async (transaction, access) => {
          const { internalTokenId, value } = await createInternalToken(transaction, access, input);
          return { id: internalTokenId, token: value };
        });
      },
    );
}

function tokenRevoke(): Command {
  return createCommand("revoke", "Revokes an internal token at once.")
    .argument("<id>", "the token's id, tok_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "internalTokenRevoke", async (transaction, access) => {
        await revokeInternalToken(transaction, access, id);
        return { id, revoked: true };
      });
    });
}

function tokenList(): Command {
  return createCommand("list", "Lists internal tokens, without their secrets.")
    .option("--merchant <id>", "only of this merchant")
    .action(async ({ merchant, json }: JsonOption & { merchant?: string }) => {
      await withDatabase(async ({ db }) =>
        printResult(
          await selectInternalTokens(db, merchant ?? null)
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
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown} is no scope: there are ${integratorScopes.join(", ")}.`);
  return list.filter(isScope);
}

function parseOverlap(text: string): number {
  const hours = Number(text);
  if (!/^\d{1,3}$/.test(text) || hours > keyOverlapHours.max)
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${keyOverlapHours.max}.`);
  return hours;
}
