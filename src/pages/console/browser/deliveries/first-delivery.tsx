/**
 * The panel that the page shows instead of the list of deliveries while an endpoint has no deliveries. It
 * says how to cause a first delivery, for example with the button that sends a test event.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { basePath } from "#pages/console/browser/graph/client.ts";
import {
  type ConsoleWebhookEndpoint,
  testEndpointDocument,
} from "#pages/console/browser/endpoints/endpoint-documents.ts";
import { FailureBanner } from "#pages/console/browser/parts/fields.tsx";
import { ConsoleLink } from "#pages/console/browser/navigation.tsx";

export function FirstTestDeliveryPanel({
  endpoint,
}: {
  readonly endpoint: ConsoleWebhookEndpoint | undefined;
}): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(testEndpointDocument);
  const [isSent, setSent] = useState(false);
  const send = async (endpointId: string): Promise<void> => {
    if ((await run({ endpointId, input: {} })) !== undefined) setSent(true);
  };
  return (
    <div class="empty">
      <FailureBanner failure={failure} />
      <p>Nothing has been sent to this endpoint yet.</p>
      {endpoint === undefined ? (
        <p>
          <ConsoleLink to="/endpoints">Register an endpoint</ConsoleLink> to receive events.
        </p>
      ) : endpoint.status === "ENABLED" ? (
        <>
          <p>Send a test event to see whether the receiver accepts it. The delivery appears here.</p>
          <div class="actions">
            <button
              type="button"
              aria-disabled={isBusy || isSent}
              onClick={() => isBusy || isSent || void send(endpoint.id)}
            >
              {isBusy ? "One moment …" : isSent ? "The test event is being sent" : "Send a test event"}
            </button>
            <a href={`${basePath}/docs/guides/webhooks`}>How to receive events</a>
          </div>
        </>
      ) : (
        <p>The endpoint is disabled. Enable it, and a test event is sent.</p>
      )}
    </div>
  );
}
