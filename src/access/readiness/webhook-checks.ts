/**
 * The readiness checks of webhook endpoints: whether the installation has one, whether deliveries succeed,
 * and how old the signing secrets are.
 */
import {
  type InstallationReadinessCheckResult,
  createPassedReadinessCheckResult,
  createFailedCheckResult,
  createSkippedReadinessCheckResult,
  createWarningCheckResult,
} from "./check-results.ts";
import {
  compareInstallationAndCredentialScopes,
  type WebhookEndpointReadinessData,
  type ReadinessCheckInput,
} from "./readiness-data.ts";

const dayMs = 86_400_000;
const secretAgeMsMax = 365 * dayMs;

export function assessWebhookEndpointPresence(data: ReadinessCheckInput): InstallationReadinessCheckResult {
  const { endpoints } = data;
  const needsWebhooks = compareInstallationAndCredentialScopes(data).requiredScopes.some((scope) =>
    scope.startsWith("webhooks:"),
  );
  if (endpoints.length === 0) {
    if (!needsWebhooks)
      return createSkippedReadinessCheckResult("The installation has no scope for webhooks.");
    return createWarningCheckResult("There is no webhook endpoint.", {
      remedy: "Create a webhook endpoint, or poll the API for changes.",
    });
  }
  if (endpoints.some(({ status }) => status === "enabled"))
    return createPassedReadinessCheckResult("At least one webhook endpoint is enabled.");
  const times = endpoints.flatMap(({ disabledAt }) => (disabledAt === null ? [] : [disabledAt.getTime()]));
  return createWarningCheckResult("No webhook endpoint is enabled.", {
    remedy: `Enable ${nameEndpoints(endpoints)}, or create another endpoint.`,
    since: times.length === 0 ? null : new Date(Math.max(...times)),
  });
}

/**
 * Lists endpoints by their ids. Their URLs are not listed: a URL may contain secrets, and every key of the
 * installation can read this text.
 */
function nameEndpoints(endpoints: readonly WebhookEndpointReadinessData[]): string {
  const ids = endpoints.map(({ id }) => id).join(", ");
  return endpoints.length === 1 ? `the webhook endpoint ${ids}` : `the webhook endpoints ${ids}`;
}

/**
 * Returns the webhook endpoints to check: all endpoints except those that the merchant or the app has
 * disabled.
 */
const checkedEndpoints = ({ endpoints }: ReadinessCheckInput): readonly WebhookEndpointReadinessData[] =>
  endpoints.filter(({ status }) => status !== "disabled");
const noEndpoint = createSkippedReadinessCheckResult("There is no webhook endpoint to check.");

export function assessWebhookDeliveryHealth(data: ReadinessCheckInput): InstallationReadinessCheckResult {
  const endpoints = checkedEndpoints(data);
  if (endpoints.length === 0) return noEndpoint;
  const failing = endpoints.filter(
    ({ status, health }) => status === "auto_disabled" || health.state === "failing",
  );
  if (failing.length > 0) {
    const isOff = failing.some(({ status }) => status === "auto_disabled");
    const named = nameEndpoints(failing);
    const message = isOff
      ? `Deliveries failed to ${named}, and at least one endpoint was disabled for this reason.`
      : `Deliveries fail to ${named}.`;
    return createFailedCheckResult(message, {
      remedy: isOff ? "Repair the receiver and enable the endpoint." : "Repair the receiver.",
      since: failingSince(failing),
    });
  }
  const degraded = endpoints.filter(({ health }) => health.state === "degraded");
  if (degraded.length === 0)
    return createPassedReadinessCheckResult("Deliveries to all webhook endpoints succeed.");
  return createWarningCheckResult(`No delivery has succeeded for a day to ${nameEndpoints(degraded)}.`, {
    remedy: "Repair the receiver.",
    since: failingSince(degraded),
  });
}

/**
 * Returns the time since which webhook endpoints have had problems: the earliest time of all given endpoints.
 * For a disabled endpoint, the time is when it was disabled. For an enabled endpoint, it is the last
 * successful delivery or, without one, the creation of the endpoint.
 */
function failingSince(endpoints: readonly WebhookEndpointReadinessData[]): Date {
  const times = endpoints.map(
    ({ disabledAt, health, createdAt }) => disabledAt ?? health.lastSuccessAt ?? createdAt,
  );
  return new Date(Math.min(...times.map((time) => time.getTime())));
}

export function assessWebhookSecretAge(data: ReadinessCheckInput): InstallationReadinessCheckResult {
  const endpoints = checkedEndpoints(data);
  const current = endpoints.flatMap((endpoint) =>
    endpoint.secrets
      .filter(({ expiresAt }) => expiresAt === null)
      .map(({ createdAt }) => ({ endpoint, createdAt: new Date(createdAt).getTime() })),
  );
  if (current.length === 0) return noEndpoint;
  const oldestAtMs = Math.min(...current.map(({ createdAt }) => createdAt));
  const oldFrom = new Date(oldestAtMs + secretAgeMsMax);
  if (data.now <= oldFrom)
    return createPassedReadinessCheckResult("All webhook signing secrets are less than a year old.", oldFrom);
  const old = current.filter(({ createdAt }) => createdAt + secretAgeMsMax < data.now.getTime());
  return createWarningCheckResult("A webhook signing secret is more than a year old.", {
    remedy: `Rotate the secret of ${nameEndpoints(old.map(({ endpoint }) => endpoint))}.`,
    since: oldFrom,
  });
}
