/**
 * Finds the problems of an app installation, each with a link to the page that solves it. Problems are failed
 * readiness checks, webhook endpoints that fail or were disabled automatically, and failed deliveries that
 * were not sent again.
 */
import type { ConsoleWebhookEndpoint } from "#pages/console/browser/endpoints/endpoint-documents.ts";
import { assessEndpointHealth } from "#pages/console/browser/endpoints/judge-health.ts";
import type { InstallationWithReadiness } from "#pages/console/browser/installations/installation-documents.ts";
import type { EventWithDeliveryStatuses } from "./overview-documents.ts";

export interface InstallationProblem {
  readonly key: string;
  readonly tone: "fault" | "warn";
  /** One or two words that summarize the problem. They are shown in a coloured badge beside the problem. */
  readonly label: string;
  readonly text: string;
  /** The link to the page that solves the problem: the text of the link, and the path below /console. */
  readonly link: { readonly name: string; readonly to: string };
}

type CheckedInstallation = Pick<InstallationWithReadiness, "id" | "readiness">;

interface ProblemSources {
  readonly installation: CheckedInstallation;
  readonly endpoints: readonly ConsoleWebhookEndpoint[];
  readonly events: readonly EventWithDeliveryStatuses[];
  readonly nowMs: number;
  /** Returns the title of a readiness check by its code. */
  readonly titleOf: (code: string) => string;
}

/** Returns the problems of one installation, the most serious ones first. */
export function findInstallationProblems(sources: ProblemSources): readonly InstallationProblem[] {
  const { endpoints, events, nowMs } = sources;
  const ofEndpoints = endpoints.flatMap((endpoint) => endpointProblem(endpoint, nowMs) ?? []);
  const ofDeliveries = endpoints.flatMap((endpoint) => deliveryProblems(endpoint, events));
  const ofChecks = readinessProblems(sources, ofEndpoints.length > 0);
  const all = [...ofChecks, ...ofEndpoints, ...ofDeliveries];
  return [...all.filter(({ tone }) => tone === "fault"), ...all.filter(({ tone }) => tone === "warn")];
}

/**
 * Returns a problem for each readiness check with the status FAIL or WARN. Leaves out the check of webhook
 * deliveries if webhook endpoints have problems, because the list has a separate entry for each such
 * endpoint.
 */
function readinessProblems(
  { installation: { id, readiness }, titleOf }: Pick<ProblemSources, "installation" | "titleOf">,
  hasEndpoints: boolean,
): readonly InstallationProblem[] {
  return readiness.checks
    .filter(({ status }) => status === "FAIL" || status === "WARN")
    .filter(({ code }) => !(hasEndpoints && code === "WEBHOOK_DELIVERY_HEALTHY"))
    .map(({ code, status, severity, message }) => {
      const isBlocking = status === "FAIL" && severity !== "ADVISORY";
      return {
        key: `${id} ${code}`,
        tone: isBlocking ? "fault" : "warn",
        label: isBlocking ? "To be done" : "Look at this",
        text: `${titleOf(code)}: ${message}`,
        link: { name: "Open the check", to: `/installations/${id}` },
      };
    });
}

const problemLabels = {
  FAILING: "Failing",
  DEGRADED: "Degraded",
  SOME_FAILURES: "Some failures",
} as const;

/** An endpoint that staff or an app have disabled on purpose is not a problem. */
function endpointProblem(endpoint: ConsoleWebhookEndpoint, nowMs: number): InstallationProblem | undefined {
  const { id, url, status, disabledReason } = endpoint;
  const link = { name: "Open the endpoint", to: `/endpoints/${id}` };
  if (status === "DISABLED") return undefined;
  if (status === "AUTO_DISABLED") {
    const cause =
      disabledReason === "GONE" ? "the receiver answered 410" : "no delivery succeeded for five days";
    const text = `${url} was switched off, because ${cause}. Repair the receiver, then enable the endpoint.`;
    return { key: id, tone: "fault", label: "Disabled", text, link };
  }
  const { state, reason, pausedUntil } = assessEndpointHealth(endpoint, nowMs);
  if (state === "DISABLED" || state === "UNKNOWN" || state === "HEALTHY") return undefined;
  const text = `${url}: ${pausedUntil === null ? "" : "paused "}${reason}.`;
  return {
    key: id,
    tone: state === "FAILING" ? "fault" : "warn",
    label: problemLabels[state],
    text,
    link,
  };
}

type LoggedDelivery = EventWithDeliveryStatuses["deliveries"][number];

const settling: ReadonlySet<LoggedDelivery["status"]> = new Set([
  "SUCCEEDED",
  "PENDING",
  "SENDING",
  "RETRYING",
]);

/**
 * Returns true if all attempts of a delivery failed, and no replay of the delivery has succeeded or is in
 * progress. Staff must then send the delivery again.
 */
const isLost = (delivery: LoggedDelivery, { deliveries }: EventWithDeliveryStatuses): boolean =>
  delivery.replayOf === null &&
  delivery.status === "EXHAUSTED" &&
  !deliveries.some(({ replayOf, status }) => replayOf === delivery.id && settling.has(status));

function deliveryProblems(
  { id, url }: ConsoleWebhookEndpoint,
  events: readonly EventWithDeliveryStatuses[],
): readonly InstallationProblem[] {
  const own = events.flatMap((event) =>
    event.deliveries
      .filter(({ endpointId }) => endpointId === id)
      .map((delivery) => ({ isLost: isLost(delivery, event), status: delivery.status })),
  );
  const lost = own.filter((delivery) => delivery.isLost).length;
  const retried = own.filter(({ status }) => status === "RETRYING").length;
  const problem = (count: number, status: string, words: string): readonly InstallationProblem[] => {
    if (count === 0) return [];
    const deliveries = count === 1 ? "1 delivery" : `${count.toLocaleString()} deliveries`;
    const text = `${deliveries} to ${url} ${words}`;
    const link = { name: "See these deliveries", to: `/endpoints/${id}?status=${status}` };
    const isLast = status === "exhausted";
    const [tone, label] = isLast ? (["fault", "Failed"] as const) : (["warn", "Retrying"] as const);
    return [{ key: `${id} ${status}`, tone, label, text, link }];
  };
  return [
    ...problem(
      lost,
      "exhausted",
      `failed and will not be retried. Repair the receiver, then replay ${lost === 1 ? "it" : "them"}.`,
    ),
    ...problem(retried, "retrying", "failed and will be retried."),
  ];
}
