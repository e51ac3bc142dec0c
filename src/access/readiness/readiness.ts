/**
 * The readiness of an installation, which says whether the app can work with the merchant: the results of all
 * checks, in a fixed order, and an overall result. All functions are pure: they take even the current time
 * from the readiness data.
 */
import {
  type InstallationForReadinessCheck,
  type ApiKeyForReadinessCheck,
  type ReadinessCheckInput,
  compareInstallationAndCredentialScopes,
} from "./readiness-data.ts";
import {
  type InstallationReadinessCheckResult,
  createPassedReadinessCheckResult,
  createFailedCheckResult,
  createSkippedReadinessCheckResult,
  createWarningCheckResult,
} from "./check-results.ts";
import {
  assessWebhookDeliveryHealth,
  assessWebhookEndpointPresence,
  assessWebhookSecretAge,
} from "./webhook-checks.ts";

type Severity = "blocking" | "advisory";

/**
 * The severity of each readiness check. `blocking`: the installation cannot do its work while the check
 * fails. `advisory`: the installation works, but something should be corrected.
 */
const severities = {
  api_key_active: "blocking",
  api_key_expiry: "advisory",
  scopes_granted: "blocking",
  merchant_active: "blocking",
  webhook_endpoint_present: "advisory",
  webhook_delivery_healthy: "advisory",
  webhook_secret_rotation: "advisory",
  payment_provider_connected: "blocking",
  tax_configured: "advisory",
  market_configured: "blocking",
  policy_return_configured: "advisory",
  clock_skew: "advisory",
} as const satisfies Record<string, Severity>;

type CheckCode = keyof typeof severities;

type RunCheck = (data: ReadinessCheckInput) => InstallationReadinessCheckResult;

const checksByCode: Readonly<Record<CheckCode, RunCheck>> = {
  api_key_active: checkApiKeyActive,
  api_key_expiry: checkApiKeyExpiry,
  scopes_granted: checkScopes,
  merchant_active: checkMerchantActive,
  webhook_endpoint_present: assessWebhookEndpointPresence,
  webhook_delivery_healthy: assessWebhookDeliveryHealth,
  webhook_secret_rotation: assessWebhookSecretAge,
  payment_provider_connected: checkPaymentProvider,
  tax_configured: checkTaxRates,
  market_configured: checkMarkets,
  policy_return_configured: checkReturnPolicies,
  clock_skew: checkClockSkew,
};

const dayMs = 86_400_000;
const keyWarningMs = 14 * dayMs;
const skewMs = { warn: 2_000, fail: 30_000 };

const skippedForOauth = createSkippedReadinessCheckResult(
  "The call was made with an OAuth access token, so no API key is checked.",
);

function checkApiKeyActive({
  installation: { keys, grants, lastKeyEndedAt },
  credential,
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (credential?.kind === "oauth") return skippedForOauth;
  if (credential === null && keys.length === 0 && grants.length > 0)
    return createSkippedReadinessCheckResult(
      "The installation uses OAuth access tokens instead of API keys.",
    );
  const isActive = credential === null ? keys.length > 0 : keys.some(({ id }) => id === credential.apiKeyId);
  if (isActive)
    return createPassedReadinessCheckResult(
      credential === null ? "The installation has an active API key." : "The API key is active.",
    );
  return createFailedCheckResult("There is no active API key.", {
    remedy: "Create an API key for the installation.",
    since: lastKeyEndedAt,
  });
}

function checkApiKeyExpiry({
  now,
  installation: { keys },
  credential,
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (credential?.kind === "oauth") return skippedForOauth;
  const inUse =
    credential === null
      ? keys.filter(({ rotatesTo }) => rotatesTo === null)
      : keys.filter(({ id }) => id === credential.apiKeyId);
  if (inUse.length === 0)
    return createSkippedReadinessCheckResult("There is no active API key that could expire.");
  const [first] = inUse.flatMap(endingKey).toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  if (first === undefined) return createPassedReadinessCheckResult("The API key does not expire.");
  const { expiresAt, createdAt, rotatesTo } = first;
  const message = `The API key expires at ${expiresAt.toISOString()}.`;
  const warnsFrom = new Date(expiresAt.getTime() - keyWarningMs);
  if (now <= warnsFrom) return createPassedReadinessCheckResult(message, expiresAt);
  if (rotatesTo !== null)
    return createWarningCheckResult(message, {
      remedy: `Use its successor, the API key ${rotatesTo}.`,
      dueAt: expiresAt,
    });
  return createWarningCheckResult(message, {
    remedy: "Rotate the API key before it expires.",
    since: createdAt > warnsFrom ? createdAt : warnsFrom,
    dueAt: expiresAt,
  });
}

const endingKey = ({
  expiresAt,
  ...key
}: ApiKeyForReadinessCheck): (ApiKeyForReadinessCheck & { readonly expiresAt: Date })[] =>
  expiresAt === null ? [] : [{ ...key, expiresAt }];

function checkScopes(data: ReadinessCheckInput): InstallationReadinessCheckResult {
  const { missingScopes, grantedScopes } = compareInstallationAndCredentialScopes(data);
  if (missingScopes.length === 0) {
    return createPassedReadinessCheckResult(
      grantedScopes.length === 0
        ? "No scope is required."
        : `All required scopes are granted: ${grantedScopes.join(", ")}.`,
    );
  }
  const { scopes } = data.installation;
  const [lost, unused] = [
    missingScopes.filter((scope) => !scopes.includes(scope)),
    missingScopes.filter((scope) => scopes.includes(scope)),
  ];
  const remedies = [
    ...(lost.length === 0 ? [] : [`Ask the merchant to grant the scopes ${lost.join(", ")}.`]),
    ...(unused.length === 0 ? [] : [`Use a credential with the scopes ${unused.join(", ")}.`]),
  ];
  return createFailedCheckResult(`Missing scopes: ${missingScopes.join(", ")}.`, {
    remedy: remedies.join(" "),
  });
}

function checkMerchantActive({ installation }: ReadinessCheckInput): InstallationReadinessCheckResult {
  const { status, suspendedAt, updatedAt, merchantStatus, merchantSuspendedAt } = installation;
  if (merchantStatus === "suspended") {
    return createFailedCheckResult("The merchant is suspended.", {
      remedy: "Ask the platform's operator to resume the merchant.",
      since: merchantSuspendedAt,
    });
  }
  if (status === "suspended") {
    return createFailedCheckResult("The installation is suspended.", {
      remedy: "Ask the merchant to resume the installation.",
      since: suspendedAt,
    });
  }
  // An installation never changes again after it was uninstalled, so `updatedAt` is the time when it was
  // uninstalled.
  if (status === "uninstalled")
    return createFailedCheckResult("The app is uninstalled from the merchant.", {
      remedy: "Ask the merchant to install the app again.",
      since: updatedAt,
    });
  return createPassedReadinessCheckResult("The merchant and the installation are active.");
}

/**
 * Checks the payment provider. Merchants in test mode can use the built-in provider; merchants in live mode
 * must connect an account.
 */
function checkPaymentProvider({
  installation: { merchantMode, paymentConnection },
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (paymentConnection === null)
    return merchantMode === "test"
      ? createPassedReadinessCheckResult("Merchants in test mode use the built-in payment provider.")
      : createFailedCheckResult("No payment provider is connected.", {
          remedy: "Ask the merchant to connect a payment provider.",
        });
  if (paymentConnection.hasSigningSecret)
    return createPassedReadinessCheckResult("A payment provider is connected.");
  return createWarningCheckResult("The connected payment provider has no signing secret for its webhooks.", {
    remedy: "Ask the merchant to enter the signing secret of the webhook endpoint at the payment provider.",
  });
}

const noMarket = createSkippedReadinessCheckResult("The merchant has no market.");

function checkTaxRates({
  installation: { marketCount, untaxedCountries },
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (marketCount === 0) return noMarket;
  if (untaxedCountries.length === 0)
    return createPassedReadinessCheckResult("Every country of the merchant's markets has a tax rate.");
  return createWarningCheckResult(`There is no tax rate for ${untaxedCountries.join(", ")}.`, {
    remedy: "Ask the merchant to set the tax rates.",
  });
}

function checkMarkets({
  installation: { marketCount, isDefaultMarketServed, defaultMarket },
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (marketCount === 0)
    return createFailedCheckResult("The merchant has no market.", {
      remedy: "Ask the merchant to create a market.",
    });
  if (isDefaultMarketServed)
    return createPassedReadinessCheckResult(
      "The merchant has a market, and a market serves the default country.",
    );
  const remedy = "Ask the merchant to add the country to a market, or to choose another default country.";
  return createWarningCheckResult(`The merchant's default country, ${defaultMarket}, belongs to no market.`, {
    remedy,
  });
}

function checkReturnPolicies({
  installation: { marketCount, marketsWithoutReturnPolicy },
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (marketCount === 0) return noMarket;
  if (marketsWithoutReturnPolicy.length === 0)
    return createPassedReadinessCheckResult("Every market has a return policy.");
  return createWarningCheckResult(`There is no return policy for ${marketsWithoutReturnPolicy.join(", ")}.`, {
    remedy: "Ask the merchant to create a return policy.",
  });
}

function checkClockSkew({
  installation: { clockSkewMs },
}: ReadinessCheckInput): InstallationReadinessCheckResult {
  if (clockSkewMs <= skewMs.warn)
    return createPassedReadinessCheckResult("The clocks of server and database agree.");
  const seconds = Math.round(clockSkewMs / 100) / 10;
  const results = clockSkewMs > skewMs.fail ? createFailedCheckResult : createWarningCheckResult;
  return results(`The clocks of server and database are ${seconds} s apart.`, {
    remedy: "Ask the platform's operator to synchronize the clocks.",
  });
}

export interface InstallationReadinessCheck extends Omit<InstallationReadinessCheckResult, "dueAt"> {
  readonly code: CheckCode;
  readonly severity: Severity;
}

export interface AppInstallationReadinessReport {
  readonly status: "ready" | "degraded" | "action_required" | "blocked";
  readonly evaluatedAt: Date;
  readonly installationId: string;
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
  readonly checks: readonly InstallationReadinessCheck[];
  readonly nextActionAt: Date | null;
}

const codes = Object.keys(checksByCode) as CheckCode[];

export function assessInstallationReadiness(data: ReadinessCheckInput): AppInstallationReadinessReport {
  const { now, installation } = data;
  const results = codes.map((code) => ({ code, result: checksByCode[code](data) }));
  const checks = results.map(({ code, result: { status, message, remedy, since } }) => ({
    code,
    severity: severities[code],
    status,
    message,
    remedy,
    since,
  }));
  const due = results.flatMap(({ result: { dueAt } }) =>
    dueAt === null || dueAt <= now ? [] : [dueAt.getTime()],
  );
  return {
    status: statusOf(installation, checks),
    evaluatedAt: now,
    installationId: installation.installationId,
    ...compareInstallationAndCredentialScopes(data),
    checks,
    nextActionAt: due.length === 0 ? null : new Date(Math.min(...due)),
  };
}

function statusOf(
  { status, merchantStatus }: InstallationForReadinessCheck,
  checks: readonly InstallationReadinessCheck[],
): AppInstallationReadinessReport["status"] {
  if (status !== "active" || merchantStatus !== "active") return "blocked";
  if (checks.some((check) => check.severity === "blocking" && check.status === "fail"))
    return "action_required";
  return checks.some((check) => check.status === "warn" || check.status === "fail") ? "degraded" : "ready";
}
