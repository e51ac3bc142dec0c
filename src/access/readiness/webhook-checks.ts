/**
 * The readiness checks of webhook endpoints: whether the installation has one, whether deliveries succeed,
 * and how old the signing secrets are.
 */
import { formatCountWithNoun } from "#foundation/text.ts";
import {
  type InstallationReadinessCheckResult,
  createPassedReadinessCheckResult,
  createFailedCheckResult,
  createSkippedReadinessCheckResult,
  createWarningCheckResult,
} from "./check-results.ts";
import {
  compareInstallationAndCredentialScopes,
  retryingDeliveriesMax,
  type WebhookEndpointForReadinessCheck,
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
 * Returns a text that lists endpoints by their ids. It does not contain the URLs, which may have secrets,
 * because every API key of the installation can read the text.
 */
function nameEndpoints(endpoints: readonly WebhookEndpointForReadinessCheck[]): string {
  const ids = endpoints.map(({ id }) => id).join(", ");
  return endpoints.length === 1 ? `the webhook endpoint ${ids}` : `the webhook endpoints ${ids}`;
}

/**
 * Returns the webhook endpoints to check: all endpoints except those that the merchant or the app has
 * disabled.
 */
const checkedEndpoints = ({ endpoints }: ReadinessCheckInput): readonly WebhookEndpointForReadinessCheck[] =>
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
  if (degraded.length === 0) return assessRetryingDeliveries(endpoints, data.installation.retryingDeliveries);
  return createWarningCheckResult(`No delivery has succeeded for a day to ${nameEndpoints(degraded)}.`, {
    remedy: "Repair the receiver.",
    since: failingSince(degraded),
  });
}

/**
 * Reports the deliveries that wait for a retry. If the last attempt to each endpoint succeeded, the check
 * passes: the service retries the waiting deliveries without further action.
 */
function assessRetryingDeliveries(
  endpoints: readonly WebhookEndpointForReadinessCheck[],
  retrying: Readonly<Record<string, number>>,
): InstallationReadinessCheckResult {
  const waiting = endpoints.flatMap((endpoint) => {
    const count = retrying[endpoint.id];
    return count === undefined ? [] : [{ endpoint, count }];
  });
  if (waiting.length === 0)
    return createPassedReadinessCheckResult("No delivery to a webhook endpoint is failing.");
  const counts = waiting.map(
    ({ endpoint, count }) => `${formatRetrying(count)} to ${nameEndpoints([endpoint])}`,
  );
  const message = `Waiting for a retry after a failed attempt: ${counts.join(", ")}.`;
  const advice =
    "The service retries these deliveries by itself; listInstallationWebhookEvents and the console show why " +
    "they failed.";
  const failing = waiting
    .map(({ endpoint }) => endpoint)
    .filter(({ health }) => health.consecutiveFailures > 0);
  return failing.length === 0
    ? createPassedReadinessCheckResult(`${message} ${advice}`)
    : createWarningCheckResult(message, {
        remedy: `Repair the receiver of ${nameEndpoints(failing)}. ${advice}`,
      });
}

const formatRetrying = (count: number): string =>
  count < retryingDeliveriesMax
    ? formatCountWithNoun(count, "delivery", "deliveries")
    : `${retryingDeliveriesMax} or more deliveries`;

/**
 * Returns the earliest time since which one of the endpoints has had problems. For a disabled endpoint, this
 * is the time when it was disabled. For an enabled endpoint, it is the last successful delivery, or the
 * creation if no delivery has succeeded.
 */
function failingSince(endpoints: readonly WebhookEndpointForReadinessCheck[]): Date {
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
