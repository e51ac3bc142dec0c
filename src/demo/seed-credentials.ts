/** Creates the demo's API keys, internal tokens, staff account and OAuth client. */
import { type AccessManagementCommandContext, createApiKey, revokeApiKey } from "#access/keys/manage-keys.ts";
import { createInternalToken } from "#access/keys/internal-tokens.ts";
import { createOauthClient } from "#access/oauth/oauth-clients.ts";
import { generatePassword } from "#access/people/passwords.ts";
import { createStaffAccount, validateStaffFieldsAndHashPassword } from "#access/people/staff.ts";
import { type InternalTokenRole, type PermissionScope, integratorScopes } from "#access/viewer.ts";
import type { Transaction } from "#database/transaction.ts";
import type { DemoJsonFileContent } from "./demo-file.ts";

export interface DemoMerchantsWithInstalledApp {
  readonly first: InstalledDemoMerchant;
  readonly second: InstalledDemoMerchant;
}

interface InstalledDemoMerchant {
  readonly id: string;
  readonly slug: string;
  readonly installationId: string;
}

export interface DemoCredentialSeedContext {
  readonly merchants: DemoMerchantsWithInstalledApp;
  readonly now: Date;
}

/** The origins of the web pages that may use the demo's publishable token: local development servers. */
const demoBrowserOrigins = ["http://localhost:5173", "http://127.0.0.1:5173"] as const;

/** Creates the API keys and internal tokens that demo.json lists. */
export async function createDemoCredentials(
  transaction: Transaction,
  { merchants, now }: DemoCredentialSeedContext,
): Promise<Pick<DemoJsonFileContent, "keys" | "tokens">> {
  const access: AccessManagementCommandContext = { merchantId: null, now };
  const createKey = (
    name: string,
    granted: readonly PermissionScope[],
    owner = merchants.first,
  ): Promise<{ apiKeyId: string; value: string }> =>
    createApiKey(transaction, access, {
      installationId: owner.installationId,
      name: `Demo: ${name}`,
      scopes: granted,
      expiresAt: null,
    });
  const createToken = async (role: InternalTokenRole): Promise<string> =>
    (
      await createInternalToken(transaction, access, {
        name: `Demo: ${role}`,
        role,
        merchantId: role === "operator" ? null : merchants.first.id,
        expiresAt: null,
        allowedOrigins: role === "browser" ? demoBrowserOrigins : null,
      })
    ).value;

  const revoked = await createKey("revoked", integratorScopes);
  await revokeApiKey(transaction, access, revoked.apiKeyId);
  return {
    keys: {
      full: (await createKey("full", integratorScopes)).value,
      catalogRead: (await createKey("catalogRead", ["catalog:read"])).value,
      checkoutQuote: (await createKey("checkoutQuote", ["checkout:quote"])).value,
      webhooksRead: (await createKey("webhooksRead", ["webhooks:read"])).value,
      webhooksWrite: (await createKey("webhooksWrite", ["webhooks:write"])).value,
      noScope: (await createKey("noScope", [])).value,
      expired: await createExpiredKey(transaction, { access, merchants }),
      revoked: revoked.value,
      otherMerchant: (await createKey("otherMerchant", integratorScopes, merchants.second)).value,
    },
    tokens: {
      storefront: await createToken("storefront"),
      browser: await createToken("browser"),
      admin: await createToken("admin"),
      analyst: await createToken("analyst"),
      operator: await createToken("operator"),
    },
  };
}

async function createExpiredKey(
  transaction: Transaction,
  { access, merchants }: { access: AccessManagementCommandContext; merchants: DemoMerchantsWithInstalledApp },
): Promise<string> {
  const yesterday = new Date(access.now.getTime() - 86_400_000);
  const input = {
    installationId: merchants.first.installationId,
    name: "Demo: expired",
    scopes: integratorScopes,
    expiresAt: yesterday,
  };
  return (await createApiKey(transaction, access, input)).value;
}

/**
 * The redirect URI of the demo's OAuth client, to which staff are sent after they have authorized the app. No
 * server listens there until a developer starts one.
 */
const redirectUri = "http://127.0.0.1:4010/callback";

interface AccountSeedContext {
  readonly owner: { readonly id: string; readonly slug: string; readonly installationId: string };
  readonly now: Date;
}

/**
 * Creates a staff account and an OAuth client. Every call creates a new account and client, because the
 * secrets of existing ones cannot be read from the database.
 */
export async function seedDemoStaffAndOauthClient(
  transaction: Transaction,
  { owner, now }: AccountSeedContext,
): Promise<Pick<DemoJsonFileContent, "staff" | "oauthClient">> {
  const access = { merchantId: null, now };
  const existingAccounts = await transaction
    .selectFrom("staffAccount")
    .select("id")
    .where("merchantId", "=", owner.id)
    .execute();
  const email = `demo${existingAccounts.length === 0 ? "" : `.${existingAccounts.length + 1}`}@${owner.slug}.example`;
  const password = generatePassword();
  await createStaffAccount(transaction, access, {
    merchantId: owner.id,
    ...(await validateStaffFieldsAndHashPassword({ email, name: "Demo", password })),
  });
  const { appId } = await transaction
    .selectFrom("installation")
    .select("appId")
    .where("id", "=", owner.installationId)
    .executeTakeFirstOrThrow();
  const clientId = await createOauthClient(transaction, access, {
    appId,
    redirectUris: [redirectUri],
    authMethod: "none",
    jwks: null,
  });
  return { staff: { email, password }, oauthClient: { clientId, redirectUri } };
}
