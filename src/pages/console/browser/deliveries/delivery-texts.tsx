/**
 * Short texts about webhook deliveries: when the next attempt is made, the result of an attempt, and how the
 * developers of the receiver can avoid a failure.
 */
import type { JSX } from "preact";
import { getDeliveryFailureLabel, FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import type { ConsoleDeliveryAttempt, ConsoleDeliveryStatus } from "./delivery-documents.ts";

interface NextAttemptProps {
  readonly at: string | null;
  readonly otherwise?: string;
}

/**
 * Shows when the next attempt of a delivery is made. If this time has passed but the attempt has not begun,
 * shows that the attempt is due.
 */
export function NextDeliveryAttemptTime({ at, otherwise = "–" }: NextAttemptProps): JSX.Element {
  if (at !== null && Date.parse(at) <= Date.now()) return <>Due now</>;
  return <FormattedTime at={at} otherwise={otherwise} />;
}

/** Shows the result of one attempt to deliver a webhook. */
export function DeliveryAttemptOutcomeText({
  attempt,
}: {
  readonly attempt: ConsoleDeliveryAttempt | null;
}): JSX.Element {
  if (attempt === null) return <span class="soft">–</span>;
  const { errorCode, httpStatus } = attempt;
  if (errorCode === null) return <>Answered {httpStatus}</>;
  return <span class="fault">{getDeliveryFailureLabel(errorCode, httpStatus)}</span>;
}

const outcomes: Readonly<Record<ConsoleDeliveryStatus, string>> = {
  PENDING: "The first attempt is due.",
  SENDING: "An attempt is in progress.",
  SUCCEEDED: "The receiver accepted the delivery.",
  RETRYING: "The last attempt failed; another attempt follows.",
  EXHAUSTED: "The delivery failed, and no further attempt follows. You can replay it.",
  SKIPPED: "The endpoint was disabled when the delivery was due. You can replay it.",
  CANCELED: "The endpoint was deleted before the delivery succeeded.",
};

/** Returns a sentence that says what a delivery's status means. */
export const describeDeliveryStatus = (status: ConsoleDeliveryStatus): string => outcomes[status];

const advice: Readonly<Record<string, string>> = {
  TIMEOUT:
    "The receiver has 5 seconds to accept the connection and 15 seconds to answer. Store the event, answer " +
    "with a 2xx status, and process the event afterwards.",
  DNS: "The host name of the endpoint’s address could not be resolved. Correct the address or the DNS record.",
  TLS: "The receiver needs a valid certificate for its host name, and TLS 1.2 or higher.",
  CONNECTION:
    "The connection was refused or interrupted. Check that the receiver runs and that its firewall allows the " +
    "connection.",
  BLOCKED_ADDRESS: "The host name leads to a blocked address. Use an address that is public on the Internet.",
  REDIRECT: "Redirects are not followed. Change the endpoint’s address to the address of the redirect.",
};

const statusAdvice: Readonly<Record<number, string>> = {
  401: "The receiver refused the signature or needs a login. Check that it has the present signing secret.",
  403: "The receiver refused the signature or needs a login. Check that it has the present signing secret.",
  404: "The receiver has no page at this address. Correct the endpoint’s address.",
  405: "The receiver does not accept POST requests at this address.",
  410: "The receiver answered 410 (Gone), which switches the endpoint off.",
  429: "The receiver has too many requests. Lower the endpoint’s number of events per second.",
};

/**
 * Returns a sentence that says how the receiver can avoid the failure of a delivery attempt; undefined for an
 * unknown error code.
 */
export function getDeliveryFailureAdvice(errorCode: string, httpStatus: number | null): string | undefined {
  if (errorCode !== "HTTP_STATUS") return advice[errorCode];
  if (httpStatus !== null && httpStatus >= 500)
    return "The receiver failed while it processed the event. Look for the event’s id in the receiver’s log.";
  return statusAdvice[httpStatus ?? 0] ?? "The receiver must answer with a 2xx status.";
}
