/**
 * Whether an installation can do its work with its credential: the checks, in the order in which they are
 * shown, and their result. Pure: time is a fact.
 */
import {
  type EndpointFacts,
  type InstallationFacts,
  type KeyFacts,
  type ReadinessFacts,
  compareScopes,
} from "./readiness-facts.ts";

type Severity = "blocking" | "advisory";

/** Without what is blocking an installation cannot do its work. */
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

interface Verdict {
  readonly status: "pass" | "warn" | "fail" | "skipped";
  readonly message: string;
  /** What to do about it; null where nothing is to be done. */
  readonly remedy: string | null;
  /** Since when it has not been well, where that is known. */
  readonly since: Date | null;
  /** By when somebody has to act. */
  readonly dueAt: Date | null;
}

type Judge = (facts: ReadinessFacts) => Verdict;

const judges: Readonly<Record<CheckCode, Judge>> = {
  api_key_active: judgeKey,
  api_key_expiry: judgeKeyExpiry,
  scopes_granted: judgeScopes,
  merchant_active: judgeMerchant,
  webhook_endpoint_present: judgeEndpoints,
  webhook_delivery_healthy: judgeDelivery,
  webhook_secret_rotation: judgeSecrets,
  payment_provider_connected: judgeProvider,
  tax_configured: judgeTax,
  market_configured: judgeMarkets,
  policy_return_configured: judgeReturnPolicy,
  clock_skew: judgeClock,
};

const dayMs = 86_400_000;
const keyWarningMs = 14 * dayMs;
const secretAgeMsMax = 365 * dayMs;
const skewMs = { warn: 2_000, fail: 30_000 };

const pass = (message: string, dueAt: Date | null = null): Verdict => ({
  status: "pass",
  message,
  remedy: null,
  since: null,
  dueAt,
});
const skip = (message: string): Verdict => ({
  status: "skipped",
  message,
  remedy: null,
  since: null,
  dueAt: null,
});

interface Trouble {
  readonly remedy: string;
  readonly since?: Date | null;
  readonly dueAt?: Date | null;
}

const trouble =
  (status: "warn" | "fail") =>
  (message: string, { remedy, since = null, dueAt = null }: Trouble): Verdict => ({
    status,
    message,
    remedy,
    since,
    dueAt,
  });
const warn = trouble("warn");
const refuse = trouble("fail");

const byToken = skip("The call came with an OAuth access token.");

function judgeKey({ installation: { keys, grants, lastKeyEndedAt }, credential }: ReadinessFacts): Verdict {
  if (credential?.kind === "oauth") return byToken;
  if (credential === null && keys.length === 0 && grants.length > 0)
    return skip("The installation has OAuth access tokens in place of API keys.");
  const isThere = credential === null ? keys.length > 0 : keys.some(({ id }) => id === credential.apiKeyId);
  if (isThere)
    return pass(
      credential === null ? "The installation has an API key that is in force." : "The API key is in force.",
    );
  return refuse("There is no API key in force.", {
    remedy: "Make an API key for the installation.",
    since: lastKeyEndedAt,
  });
}

function judgeKeyExpiry({ now, installation: { keys }, credential }: ReadinessFacts): Verdict {
  if (credential?.kind === "oauth") return byToken;
  const inUse =
    credential === null
      ? keys.filter(({ rotatesTo }) => rotatesTo === null)
      : keys.filter(({ id }) => id === credential.apiKeyId);
  if (inUse.length === 0) return skip("There is no API key in force that could end.");
  const [first] = inUse.flatMap(endingKey).toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  if (first === undefined) return pass("The API key does not end.");
  const { expiresAt, createdAt, rotatesTo } = first;
  const message = `The API key ends at ${expiresAt.toISOString()}.`;
  const warnsFrom = new Date(expiresAt.getTime() - keyWarningMs);
  if (now <= warnsFrom) return pass(message, expiresAt);
  if (rotatesTo !== null)
    return warn(message, { remedy: `Use the key that takes its place, ${rotatesTo}.`, dueAt: expiresAt });
  return warn(message, {
    remedy: "Rotate it before then.",
    since: createdAt > warnsFrom ? createdAt : warnsFrom,
    dueAt: expiresAt,
  });
}

const endingKey = ({ expiresAt, ...key }: KeyFacts): (KeyFacts & { readonly expiresAt: Date })[] =>
  expiresAt === null ? [] : [{ ...key, expiresAt }];

function judgeScopes(facts: ReadinessFacts): Verdict {
  const { missingScopes, grantedScopes } = compareScopes(facts);
  if (missingScopes.length === 0) {
    return pass(
      grantedScopes.length === 0
        ? "No scope is needed."
        : `All scopes that are needed are granted: ${grantedScopes.join(", ")}.`,
    );
  }
  const { scopes } = facts.installation;
  const [lost, unused] = [
    missingScopes.filter((scope) => !scopes.includes(scope)),
    missingScopes.filter((scope) => scopes.includes(scope)),
  ];
  const remedies = [
    ...(lost.length === 0 ? [] : [`Ask the merchant to grant ${lost.join(", ")}.`]),
    ...(unused.length === 0 ? [] : [`Use a credential that has ${unused.join(", ")}.`]),
  ];
  return refuse(`Missing: ${missingScopes.join(", ")}.`, { remedy: remedies.join(" ") });
}

function judgeMerchant({ installation }: ReadinessFacts): Verdict {
  const { status, suspendedAt, updatedAt, merchantStatus, merchantSuspendedAt } = installation;
  if (merchantStatus === "suspended") {
    return refuse("The merchant is suspended.", {
      remedy: "The platform has to resume the merchant.",
      since: merchantSuspendedAt,
    });
  }
  if (status === "suspended") {
    return refuse("The installation is suspended.", {
      remedy: "The merchant has to resume the installation.",
      since: suspendedAt,
    });
  }
  // Nothing changes an installation after its end.
  if (status === "uninstalled")
    return refuse("The app is uninstalled.", {
      remedy: "The merchant has to install the app again.",
      since: updatedAt,
    });
  return pass("Merchant and installation are active.");
}

function judgeEndpoints(facts: ReadinessFacts): Verdict {
  const { endpoints } = facts;
  const isMeant = compareScopes(facts).requiredScopes.some((scope) => scope.startsWith("webhooks:"));
  if (endpoints.length === 0) {
    if (!isMeant) return skip("The installation has no scope for webhooks.");
    return warn("There is no webhook endpoint.", {
      remedy: "Create one, or read what has changed from time to time.",
    });
  }
  if (endpoints.some(({ status }) => status === "enabled"))
    return pass("There is a webhook endpoint that is enabled.");
  const times = endpoints.flatMap(({ disabledAt }) => (disabledAt === null ? [] : [disabledAt.getTime()]));
  return warn("No webhook endpoint is enabled.", {
    remedy: "Enable one.",
    since: times.length === 0 ? null : new Date(Math.max(...times)),
  });
}

/** What somebody switched off is not looked after. */
const lookedAfter = ({ endpoints }: ReadinessFacts): readonly EndpointFacts[] =>
  endpoints.filter(({ status }) => status !== "disabled");
const noEndpoint = skip("There is no webhook endpoint that could be judged.");

function judgeDelivery(facts: ReadinessFacts): Verdict {
  const endpoints = lookedAfter(facts);
  if (endpoints.length === 0) return noEndpoint;
  const failing = endpoints.filter(
    ({ status, health }) => status === "auto_disabled" || health.state === "failing",
  );
  if (failing.length > 0) {
    const isOff = failing.some(({ status }) => status === "auto_disabled");
    const message = isOff
      ? "A webhook endpoint was switched off because it did not work."
      : "A webhook endpoint fails.";
    return refuse(message, {
      remedy: isOff ? "Mend the receiver and enable the endpoint." : "Mend the receiver.",
      since: notWellSince(failing),
    });
  }
  const degraded = endpoints.filter(({ health }) => health.state === "degraded");
  if (degraded.length === 0) return pass("No webhook endpoint fails.");
  return warn("Nothing has arrived at a webhook endpoint for a day.", {
    remedy: "Mend the receiver.",
    since: notWellSince(degraded),
  });
}

/** Switched off then, or nothing has arrived since. */
function notWellSince(endpoints: readonly EndpointFacts[]): Date {
  const times = endpoints.map(
    ({ disabledAt, health, createdAt }) => disabledAt ?? health.lastSuccessAt ?? createdAt,
  );
  return new Date(Math.min(...times.map((time) => time.getTime())));
}

function judgeSecrets(facts: ReadinessFacts): Verdict {
  const current = lookedAfter(facts).flatMap(({ secrets }) =>
    secrets.filter(({ expiresAt }) => expiresAt === null),
  );
  if (current.length === 0) return noEndpoint;
  const oldestAtMs = Math.min(...current.map(({ createdAt }) => new Date(createdAt).getTime()));
  const isOldAt = new Date(oldestAtMs + secretAgeMsMax);
  if (facts.now <= isOldAt) return pass("The secrets that sign webhooks are less than a year old.", isOldAt);
  return warn("A secret that signs webhooks is more than a year old.", {
    remedy: "Rotate it.",
    since: isOldAt,
  });
}

/** The built-in provider is for test mode, and there is no other yet. */
function judgeProvider({ installation }: ReadinessFacts): Verdict {
  if (installation.merchantMode === "test") return pass("Test mode has its built-in payment provider.");
  return refuse("No payment provider is connected.", {
    remedy: "The merchant has to connect a payment provider.",
  });
}

const noMarket = skip("The merchant has no market.");

function judgeTax({ installation: { marketCount, untaxedCountries } }: ReadinessFacts): Verdict {
  if (marketCount === 0) return noMarket;
  if (untaxedCountries.length === 0) return pass("Every country that is sold to has a tax rate.");
  return warn(`There is no tax rate for ${untaxedCountries.join(", ")}.`, {
    remedy: "The merchant has to set the tax rates.",
  });
}

function judgeMarkets({
  installation: { marketCount, isDefaultMarketServed, defaultMarket },
}: ReadinessFacts): Verdict {
  if (marketCount === 0)
    return refuse("The merchant has no market.", { remedy: "The merchant has to set up a market." });
  if (isDefaultMarketServed) return pass("The merchant has a market, and its default country is in one.");
  const remedy = "The merchant has to put it into a market, or choose another default.";
  return warn(`The merchant's default country, ${defaultMarket}, is in no market.`, { remedy });
}

function judgeReturnPolicy({
  installation: { marketCount, marketsWithoutReturnPolicy },
}: ReadinessFacts): Verdict {
  if (marketCount === 0) return noMarket;
  if (marketsWithoutReturnPolicy.length === 0) return pass("Every market has a return policy.");
  return warn(`There is no return policy for ${marketsWithoutReturnPolicy.join(", ")}.`, {
    remedy: "The merchant has to write one.",
  });
}

function judgeClock({ installation: { clockSkewMs } }: ReadinessFacts): Verdict {
  if (clockSkewMs <= skewMs.warn) return pass("The clocks of server and database agree.");
  const seconds = Math.round(clockSkewMs / 100) / 10;
  const judged = clockSkewMs > skewMs.fail ? refuse : warn;
  return judged(`The clocks of server and database are ${seconds} s apart.`, {
    remedy: "Tell the platform: its clocks have to be set.",
  });
}

export interface ReadinessCheck extends Omit<Verdict, "dueAt"> {
  readonly code: CheckCode;
  readonly severity: Severity;
}

export interface InstallationReadiness {
  readonly status: "ready" | "degraded" | "action_required" | "blocked";
  readonly evaluatedAt: Date;
  readonly installationId: string;
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
  readonly checks: readonly ReadinessCheck[];
  readonly nextActionAt: Date | null;
}

const codes = Object.keys(judges) as CheckCode[];

export function assessReadiness(facts: ReadinessFacts): InstallationReadiness {
  const { now, installation } = facts;
  const judged = codes.map((code) => ({ code, verdict: judges[code](facts) }));
  const checks = judged.map(({ code, verdict: { status, message, remedy, since } }) => ({
    code,
    severity: severities[code],
    status,
    message,
    remedy,
    since,
  }));
  const due = judged.flatMap(({ verdict: { dueAt } }) =>
    dueAt === null || dueAt <= now ? [] : [dueAt.getTime()],
  );
  return {
    status: statusOf(installation, checks),
    evaluatedAt: now,
    installationId: installation.installationId,
    ...compareScopes(facts),
    checks,
    nextActionAt: due.length === 0 ? null : new Date(Math.min(...due)),
  };
}

function statusOf(
  { status, merchantStatus }: InstallationFacts,
  checks: readonly ReadinessCheck[],
): InstallationReadiness["status"] {
  if (status !== "active" || merchantStatus !== "active") return "blocked";
  if (checks.some((check) => check.severity === "blocking" && check.status === "fail"))
    return "action_required";
  return checks.some((check) => check.status === "warn" || check.status === "fail") ? "degraded" : "ready";
}
