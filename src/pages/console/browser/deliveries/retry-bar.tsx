/**
 * Shows the state of a webhook delivery in a sentence. For a delivery that waits for its next attempt, a
 * button makes the attempt immediately.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import type { ConsoleWebhookEndpoint } from "#pages/console/browser/endpoints/endpoint-documents.ts";
import { assessEndpointHealth } from "#pages/console/browser/endpoints/judge-health.ts";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import { FormattedTime } from "#pages/console/browser/parts/formats.tsx";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";
import { type ConsoleWebhookDeliveryDetails, retryDocument } from "./delivery-documents.ts";
import { describeDeliveryStatus } from "./delivery-texts.tsx";

interface RetryBarProps {
  readonly delivery: ConsoleWebhookDeliveryDetails;
  /** The webhook endpoint; null if it was deleted or has not been loaded yet. */
  readonly endpoint: ConsoleWebhookEndpoint | null;
  readonly onRetried: () => void;
}

export function RetryDeliveryBar({ delivery, endpoint, onRetried }: RetryBarProps): JSX.Element {
  const { id, attemptCount, nextAttemptAt, status } = delivery;
  const { isBusy, failure, run } = useGraphqlMutation(retryDocument);
  const [retriedAfter, setRetriedAfter] = useState<number>();
  // True from a click on “Retry now” until the attempt has begun. The page then shows that the next attempt
  // is due now.
  const isRetried = retriedAfter === attemptCount && nextAttemptAt !== null;
  const retry = async (): Promise<void> => {
    const result = await run({ deliveryId: id, input: { expectedAttemptCount: attemptCount } });
    if (result !== undefined) setRetriedAfter(attemptCount);
    // Loads the delivery again, even after a refused retry. The service refuses a retry if another attempt
    // was made meanwhile, so the shown state is outdated.
    onRetried();
  };
  return (
    <div class="doings">
      <FailureBanner failure={failure} />
      <div class="actions">
        {nextAttemptAt !== null && endpoint?.status === "ENABLED" ? (
          <button
            type="button"
            aria-disabled={isBusy || isRetried}
            onClick={() => isBusy || isRetried || void retry()}
          >
            {isBusy ? "One moment …" : "Retry now"}
          </button>
        ) : null}
        <span role="status">
          {isRetried ? "The next attempt is due now." : describeDeliveryStatus(status)}{" "}
          {nextAttemptAt === null ? null : <HoldBack endpoint={endpoint} />}
        </span>
      </div>
    </div>
  );
}

/** Shows the reason why a waiting delivery gets no attempt: its endpoint is disabled or paused. */
function HoldBack({ endpoint }: Pick<RetryBarProps, "endpoint">): JSX.Element | null {
  if (endpoint === null) return null;
  if (endpoint.status !== "ENABLED")
    return (
      <>
        The endpoint is disabled. <ConsoleLink to={`/endpoints/${endpoint.id}`}>Enable it</ConsoleLink> to
        continue.
      </>
    );
  const { pausedUntil } = assessEndpointHealth(endpoint);
  if (pausedUntil === null) return null;
  return (
    <>
      The endpoint is paused until <FormattedTime at={pausedUntil} isMinute />, because too many attempts
      failed.
    </>
  );
}
