/** `oauth-client`, `grant`: apps as OAuth clients, and what merchants' people granted to them. */
import { Command, InvalidArgumentError, Option } from "commander";
import { selectGrants, revokeGrant } from "#access/oauth/grants.ts";
import {
  createOauthClient,
  disableOauthClient,
  enableOauthClient,
  selectOauthClients,
  type OauthClientInput,
} from "#access/oauth/oauth-clients.ts";
import { clientAuthMethods } from "#access/authorization.ts";
import { printResult } from "./output.ts";
import { createCommand, type JsonOption, withDatabase, runAccessChange } from "./command.ts";

export function addOauthCommands(program: Command): void {
  program.addCommand(
    new Command("oauth-client")
      .description("Apps as OAuth clients.")
      .addCommand(clientCreate())
      .addCommand(clientDisable())
      .addCommand(clientEnable())
      .addCommand(clientList()),
  );
  program.addCommand(
    new Command("grant")
      .description("What merchants granted to OAuth clients.")
      .addCommand(grantRevoke())
      .addCommand(grantListing()),
  );
}

function clientCreate(): Command {
  return createCommand("create", "Makes an OAuth client of an app.")
    .requiredOption("--app <id>", "the app's id")
    .requiredOption(
      "--redirect-uri <uri...>",
      "where its users may be sent back to, compared character by character",
    )
    .addOption(
      new Option("--auth <method>", "how it proves who it is").choices(clientAuthMethods).default("none"),
    )
    .option("--jwks <json>", "its public keys, with private_key_jwt", parseJwks)
    .action(
      async (
        given: JsonOption & {
          app: string;
          redirectUri: string[];
          auth: OauthClientInput["authMethod"];
          jwks?: OauthClientInput["jwks"];
        },
      ) => {
        const input = {
          appId: given.app,
          redirectUris: given.redirectUri,
          authMethod: given.auth,
          jwks: given.jwks ?? null,
        };
        await runAccessChange(given, "oauthClientCreate", async (transaction, access) => ({
          id: await createOauthClient(transaction, access, input),
          app: given.app,
        }));
      },
    );
}

function parseJwks(json: string): OauthClientInput["jwks"] {
  try {
    const value: unknown = JSON.parse(json);
    if (isKeySet(value)) return value;
  } catch {
    // The error below says what is expected.
  }
  throw new InvalidArgumentError('It must be a JSON Web Key Set: {"keys":[…]}.');
}

const isKeySet = (value: unknown): value is NonNullable<OauthClientInput["jwks"]> =>
  typeof value === "object" && value !== null && "keys" in value && Array.isArray(value.keys);

function clientDisable(): Command {
  return createCommand(
    "disable",
    "Switches an OAuth client off for all merchants at once, and revokes what it was granted.",
  )
    .argument("<id>", "the client's id, oac_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "oauthClientDisable", async (transaction, access) => {
        await disableOauthClient(transaction, access, id);
        return { id, disabled: true };
      });
    });
}

function clientEnable(): Command {
  return createCommand("enable", "Lets an OAuth client ask again. What it was granted before stays revoked.")
    .argument("<id>", "the client's id, oac_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "oauthClientEnable", async (transaction) => {
        await enableOauthClient(transaction, id);
        return { id, disabled: false };
      });
    });
}

function clientList(): Command {
  return createCommand("list", "Lists OAuth clients, those that are disabled included.")
    .option("--app <id>", "only of this app")
    .action(async ({ app, json }: JsonOption & { app?: string }) => {
      await withDatabase(async ({ db }) => {
        const clients = selectOauthClients(db).$if(app !== undefined, (query) =>
          query.where("appId", "=", app ?? ""),
        );
        printResult(await clients.orderBy("id").execute(), json === true);
      });
    });
}

function grantRevoke(): Command {
  return createCommand("revoke", "Revokes a grant at once.")
    .argument("<id>", "the grant's id, grt_…")
    .action(async (id: string, given: JsonOption) => {
      await runAccessChange(given, "oauthGrantRevoke", async (transaction, access) => {
        access.tell(await revokeGrant(transaction, access, id));
        return { id, revoked: true };
      });
    });
}

function grantListing(): Command {
  return createCommand("list", "Lists grants, those that are over included.")
    .option("--merchant <id>", "only of this merchant")
    .option("--client <id>", "only of this client")
    .action(async ({ merchant, client, json }: JsonOption & { merchant?: string; client?: string }) => {
      await withDatabase(async ({ db }) => {
        const grants = selectGrants(db, merchant ?? null).$if(client !== undefined, (query) =>
          query.where("clientId", "=", client ?? ""),
        );
        printResult(await grants.orderBy("id").execute(), json === true);
      });
    });
}
