/**
 * The commands `oauth-client` and `grant`: OAuth clients of apps, and the access that staff members granted
 * to them.
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { buildOauthGrantSqlQuery, revokeOauthGrant } from "#access/oauth/grants.ts";
import {
  createOauthClient,
  disableOauthClient,
  enableOauthClient,
  isJsonWebKeySet,
  buildOauthClientSqlQuery,
  type NewOauthClient,
} from "#access/oauth/oauth-clients.ts";
import { clientAuthMethods } from "#access/authorization.ts";
import { printCommandResult } from "./output.ts";
import {
  createCliCommand,
  type JsonOutputOption,
  runFunctionWithMigratedDatabase,
  runAuditedCliCommand,
} from "./command.ts";

export function addOauthCommands(program: Command): void {
  program.addCommand(
    new Command("oauth-client")
      .description("Creates, disables, enables and lists OAuth clients of apps.")
      .addCommand(clientCreate())
      .addCommand(clientDisable())
      .addCommand(clientEnable())
      .addCommand(clientList()),
  );
  program.addCommand(
    new Command("grant")
      .description("Revokes and lists the grants that merchants' staff gave to OAuth clients.")
      .addCommand(grantRevoke())
      .addCommand(grantList()),
  );
}

function clientCreate(): Command {
  return createCliCommand("create", "Creates an OAuth client for an app and prints its id.")
    .requiredOption("--app <id>", "the app's id, app_…")
    .requiredOption(
      "--redirect-uri <uri...>",
      "the URIs to which the browser may be sent back, compared character by character",
    )
    .addOption(
      new Option("--auth <method>", "how the client authenticates at the token endpoint")
        .choices(clientAuthMethods)
        .default("none"),
    )
    .option(
      "--jwks <json>",
      "the client's public keys as a JSON Web Key Set; required with --auth private_key_jwt",
      parseJwks,
    )
    .action(
      async (
        given: JsonOutputOption & {
          app: string;
          redirectUri: string[];
          auth: NewOauthClient["authMethod"];
          jwks?: NewOauthClient["jwks"];
        },
      ) => {
        const input = {
          appId: given.app,
          redirectUris: given.redirectUri,
          authMethod: given.auth,
          jwks: given.jwks ?? null,
        };
        await runAuditedCliCommand(given, "oauthClientCreate", async (transaction, access) => ({
          id: await createOauthClient(transaction, access, input),
          app: given.app,
        }));
      },
    );
}

function parseJwks(json: string): NewOauthClient["jwks"] {
  try {
    const value: unknown = JSON.parse(json);
    if (isJsonWebKeySet(value)) return value;
  } catch {
    // A text that is not JSON is reported with the same error as JSON that is not a JSON Web Key Set.
  }
  throw new InvalidArgumentError('It must be a JSON Web Key Set: {"keys":[…]}.');
}

function clientDisable(): Command {
  return createCliCommand(
    "disable",
    "Disables an OAuth client for all merchants at once and revokes all its grants permanently.",
  )
    .argument("<id>", "the client's id, oac_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "oauthClientDisable", async (transaction, access) => {
        await disableOauthClient(transaction, access, id);
        return { id, disabled: true };
      });
    });
}

function clientEnable(): Command {
  return createCliCommand("enable", "Enables a disabled OAuth client. Its revoked grants stay revoked.")
    .argument("<id>", "the client's id, oac_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "oauthClientEnable", async (transaction) => {
        await enableOauthClient(transaction, id);
        return { id, disabled: false };
      });
    });
}

function clientList(): Command {
  return createCliCommand("list", "Lists OAuth clients, including disabled ones.")
    .option("--app <id>", "only those of the app with this id")
    .action(async ({ app, json }: JsonOutputOption & { app?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }) => {
        const clients = buildOauthClientSqlQuery(db).$if(app !== undefined, (query) =>
          query.where("appId", "=", app ?? ""),
        );
        printCommandResult(await clients.orderBy("id").execute(), json === true);
      });
    });
}

function grantRevoke(): Command {
  return createCliCommand("revoke", "Revokes a grant: its tokens are refused at once.")
    .argument("<id>", "the grant's id, grt_…")
    .action(async (id: string, given: JsonOutputOption) => {
      await runAuditedCliCommand(given, "oauthGrantRevoke", async (transaction, access) => {
        access.publish(await revokeOauthGrant(transaction, access, id));
        return { id, revoked: true };
      });
    });
}

function grantList(): Command {
  return createCliCommand("list", "Lists grants, including expired and revoked ones.")
    .option("--merchant <id>", "only those of the merchant with this id")
    .option("--client <id>", "only those of the OAuth client with this id")
    .action(async ({ merchant, client, json }: JsonOutputOption & { merchant?: string; client?: string }) => {
      await runFunctionWithMigratedDatabase(async ({ db }) => {
        const grants = buildOauthGrantSqlQuery(db, merchant ?? null).$if(client !== undefined, (query) =>
          query.where("clientId", "=", client ?? ""),
        );
        printCommandResult(await grants.orderBy("id").execute(), json === true);
      });
    });
}
