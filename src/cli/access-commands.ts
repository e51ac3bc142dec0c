/**
 * The commands `merchant`, `app`, `installation`, `key` and `token`. The commands apply the same rules as the
 * GraphQL mutations for the same changes.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { createApiKey, revokeApiKey, keyOverlapHours, rotateApiKey } from "#access/keys/manage-keys.ts";
import { createInternalToken, revokeInternalToken } from "#access/keys/internal-tokens.ts";
import { buildApiKeySqlQuery, buildInternalTokenSqlQuery } from "#access/keys/read-credentials.ts";
import { registerApp, createInstallation } from "#access/installations.ts";
import { createMerchant } from "#access/merchants.ts";
import {
  isPermissionScope,
  type InternalTokenRole,
  internalTokenRoles,
  type PermissionScope,
  integratorScopes,
} from "#access/viewer.ts";
import { isCountryCode, isSlug, parseLocale } from "#foundation/text.ts";
import { printCommandResult } from "./output.ts";
import {
  createCliCommand,
  type JsonOutputOption,
  parseTimeOption,
  runFunctionWithMigratedDatabase,
  runAuditedCliCommand,
} from "./command.ts";

export function addAccessCommands(program: Command): void {
  program.addCommand(new Command("merchant").description("Creates merchants.").addCommand(merchantCreate()));
  program.addCommand(
    new Command("app").description("Registers apps that merchants can install.").addCommand(appCreate()),
  );
  program.addCommand(
    new Command("installation").description("Installs apps with merchants.").addCommand(installationCreate()),
  );
  program.addCommand(
    new Command("key")
      .description("Creates, rotates, revokes and lists API keys of installations.")
      .addCommand(keyCreate())
      .addCommand(keyRotate())
      .addCommand(keyRevoke())
      .addCommand(keyList()),
  );
  program.addCommand(
    new Command("token")
      .description("Creates, revokes and lists internal tokens.")
      .addCommand(tokenCreate())
      .addCommand(tokenRevoke())
      .addCommand(tokenList()),
  );
}

function merchantCreate(): Command {
  return createCliCommand("create", "Creates a merchant and prints its id.")
    .requiredOption(
      "--slug <slug>",
      "the merchant's name in URLs; unique",
      parse(isSlug, "It must have 1 to 96 lower-case letters, digits and single hyphens."),
    )
    .requiredOption("--name <name>", "the merchant's display name")
    .addOption(
      new Option("--mode <mode>", "live: real payments; test: simulated payments")
        .choices(["live", "test"])
        .default("test"),
    )
    .requiredOption(
      "--locale <locale>",
      "the locale whose texts are used if a requested locale has none, for example de-DE",
      parse((text) => parseLocale(text) !== undefined, "It must be a BCP 47 tag, for example de-DE."),
    )
    .requiredOption(
      "--market <country>",
      "the country whose prices are used if a request names none, for example DE",
      parse(isCountryCode, "It must be an ISO 3166-1 alpha-2 code in upper case, for example DE."),
    )
    .action(
      async (
        given: JsonOutputOption & {
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
        await runAuditedCliCommand(given, "merchantCreate", async (transaction, access) => ({
          id: await createMerchant(transaction, access, input),
          slug,
        }));
      },
    );
}

function appCreate(): Command {
  return createCliCommand("create", "Registers an app and prints its id.")
    .requiredOption("--name <name>", "the app's name")
    .option("--publisher <publisher>", "the company or person that publishes the app")
    .action(async (given: JsonOutputOption & { name: string; publisher?: string }) => {
      await runAuditedCliCommand(given, "appCreate", async (transaction, access) => ({
        id: await registerApp(transaction, access, { name: given.name, publisher: given.publisher ?? null }),
      }));
    });
}

function installationCreate(): Command {
  return createCliCommand("create", "Installs an app with a merchant and prints the installation's id.")
    .requiredOption("--merchant <id>", "the merchant's id, mer_…")
    .requiredOption("--app <id>", "the app's id, app_…")
    .option("--scopes <list>", "comma-separated list of scopes", parseScopes, [...integratorScopes])
    .action(
      async (given: JsonOutputOption & { merchant: string; app: string; scopes: PermissionScope[] }) => {
        const input = { merchantId: given.merchant, appId: given.app, scopes: given.scopes };
        await runAuditedCliCommand(given, "installationCreate", async (transaction, access) => ({
          id: await createInstallation(transaction, access, input),
        }));
      },
    );
}

function keyCreate(): Command {
  return createCliCommand(
    "create",
    "Creates an API key and prints its secret value, which is shown only once.",
  )
    .requiredOption("--installation <id>", "the installation's id, ins_…")
    .requiredOption("--name <name>", "a name that says what it is used for")
    .option("--scopes <list>", "comma-separated list of scopes", parseScopes, [...integratorScopes])
    .option("--expires <time>", "when it expires (RFC 3339); without it, never", parseTimeOption)
    .action(
      async (
        given: JsonOutputOption & {
          installation: string;
          name: string;
          scopes: PermissionScope[];
          expires?: Date;
        },
      ) => {
        const input = {
          installationId: given.installation,
          name: given.name,
          scopes: given.scopes,
          expiresAt: given.expires ?? null,
        };
        await runAuditedCliCommand(given, "apiKeyCreate", async (transaction, access) => {
          const { apiKeyId, value, events } = await createApiKey(transaction, access, input);
          access.publish(events);
          return { id: apiKeyId, key: value };
        });
      },
    );
}

function keyRotate(): Command {
  return createCliCommand(
    "rotate",
    "Creates the successor of an API key and prints its secret value, which is shown only once. Both " +
      "keys work until the overlap ends.",
  )
    .argument("<id>", "the key's id, key_…")
    .option(
      "--overlap <hours>",
      `how many hours the old key keeps working, 0 to ${keyOverlapHours.max}`,
      parseOverlap,
      keyOverlapHours.standard,
    )
    .option("--expires <time>", "when the successor expires (RFC 3339); without it, never", parseTimeOption)
    .action(async (id: string, given: JsonOutputOption & { overlap: number; expires?: Date }) => {
      await runAuditedCliCommand(given, "apiKeyRotate", async (transaction, access) => {
        const created = await rotateApiKey(transaction, access, {
          apiKeyId: id,
          overlapHours: given.overlap,
          expiresAt: given.expires,
        });
        access.publish(created.events);
        return { id: created.apiKeyId, key: created.value, rotated: id };
      });
    });
}

function keyRevoke(): Command {
  return createCliCommand("revoke", "Revokes an API key: requests with it are refused at once.")
    .argument("<id>", "the key's id, key_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "apiKeyRevoke", async (transaction, access) => {
        access.publish(await revokeApiKey(transaction, access, id));
        return { id, revoked: true };
      });
    });
}

function keyList(): Command {
  return createCliCommand("list", "Lists API keys, without their secrets.")
    .option("--merchant <id>", "only those of the merchant with this id")
    .action(async ({ merchant, json }: JsonOutputOption & { merchant?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }) =>
        printCommandResult(
          await buildApiKeySqlQuery(db, merchant ?? null)
            .orderBy("id")
            .execute(),
          json === true,
        ),
      );
    });
}

function tokenCreate(): Command {
  return createCliCommand(
    "create",
    "Creates an internal token and prints its secret value, which is shown only once.",
  )
    .addOption(
      new Option("--role <role>", "the role, which decides what the token may do")
        .choices(internalTokenRoles)
        .makeOptionMandatory(),
    )
    .requiredOption("--name <name>", "a name that says what it is used for")
    .option(
      "--merchant <id>",
      "the id of the token's merchant, mer_…; without it, the token belongs to the platform",
    )
    .option("--trusted-documents-only", "the token may run only the trusted documents of its merchant")
    .option("--expires <time>", "when it expires (RFC 3339); without it, never", parseTimeOption)
    .option(
      "--origin <origins...>",
      "the origins whose pages may send the token, such as https://shop.example; only for the role browser",
    )
    .action(
      async (
        given: JsonOutputOption & {
          role: InternalTokenRole;
          name: string;
          merchant?: string;
          trustedDocumentsOnly?: boolean;
          expires?: Date;
          origin?: readonly string[];
        },
      ) => {
        const input = {
          allowedOrigins: given.origin ?? null,
          name: given.name,
          role: given.role,
          merchantId: given.merchant ?? null,
          documents: given.trustedDocumentsOnly === true ? ("trusted_only" as const) : ("any" as const),
          expiresAt: given.expires ?? null,
        };
        await runAuditedCliCommand(given, "internalTokenCreate", async (transaction, access) => {
          const { internalTokenId, value } = await createInternalToken(transaction, access, input);
          return { id: internalTokenId, token: value };
        });
      },
    );
}

function tokenRevoke(): Command {
  return createCliCommand("revoke", "Revokes an internal token: requests with it are refused at once.")
    .argument("<id>", "the token's id, tok_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "internalTokenRevoke", async (transaction, access) => {
        await revokeInternalToken(transaction, access, id);
        return { id, revoked: true };
      });
    });
}

function tokenList(): Command {
  return createCliCommand("list", "Lists internal tokens, without their secrets.")
    .option("--merchant <id>", "only those of the merchant with this id")
    .action(async ({ merchant, json }: JsonOutputOption & { merchant?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }) =>
        printCommandResult(
          await buildInternalTokenSqlQuery(db, merchant ?? null)
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

function parseScopes(text: string): PermissionScope[] {
  const list = text === "" ? [] : text.split(",").map((scope) => scope.trim());
  const unknown = list.find((scope) => !isPermissionScope(scope));
  if (unknown !== undefined)
    throw new InvalidArgumentError(
      `${unknown} is not a scope. The scopes are ${integratorScopes.join(", ")}.`,
    );
  return list.filter(isPermissionScope);
}

function parseOverlap(text: string): number {
  const hours = Number(text);
  if (!/^\d{1,3}$/.test(text) || hours > keyOverlapHours.max)
    throw new InvalidArgumentError(`It must be an integer from 0 to ${keyOverlapHours.max}.`);
  return hours;
}
