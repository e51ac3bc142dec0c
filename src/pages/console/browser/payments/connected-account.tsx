/**
 * Shows the account at Stripe that a merchant has connected, says how to set up its webhooks, and disconnects
 * it.
 */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation } from "#pages/console/browser/graph/hooks.ts";
import { ConfirmDialog, CopyableSecretField } from "#pages/console/browser/parts/dialogs.tsx";
import { StatusBadge } from "#pages/console/browser/parts/formats.tsx";
import { DescriptionListRow } from "#pages/console/browser/parts/tables.tsx";
import {
  type ConsolePaymentConnection,
  disconnectProviderDocument,
  type MerchantWithPaymentConnection,
} from "./payment-documents.ts";

interface ConnectedAccountProps {
  readonly connection: ConsolePaymentConnection;
  readonly onDisconnected: (merchant: MerchantWithPaymentConnection) => void;
}

export function ConnectedPaymentAccountSection(props: ConnectedAccountProps): JSX.Element {
  const [isDisconnecting, setIsDisconnecting] = useState(false);
  const { accountId, accountName, mode, keyHint, hasSigningSecret } = props.connection;
  return (
    <section aria-labelledby="connected">
      <h2 id="connected">Connected account</h2>
      <dl class="facts">
        <DescriptionListRow name="Account">
          {accountName ?? "Stripe"} <code>{accountId}</code>
        </DescriptionListRow>
        <DescriptionListRow name="Mode">{mode === "LIVE" ? "Live" : "Test"}</DescriptionListRow>
        <DescriptionListRow name="Secret key">
          ends with <code>{keyHint}</code>
        </DescriptionListRow>
        <DescriptionListRow name="Signing secret">
          {hasSigningSecret ? (
            <StatusBadge value="STORED" tone="good" />
          ) : (
            <StatusBadge value="MISSING" tone="warn" />
          )}
        </DescriptionListRow>
      </dl>
      <WebhookSetup connection={props.connection} />
      <button type="button" class="second danger" onClick={() => setIsDisconnecting(true)}>
        Disconnect the account
      </button>
      {isDisconnecting ? <DisconnectDialog {...props} onClose={() => setIsDisconnecting(false)} /> : null}
    </section>
  );
}

/**
 * Shows the URL and the event types that the merchant enters at Stripe to receive webhooks. This section is
 * expanded until the merchant has saved the signing secret from Stripe.
 */
function WebhookSetup({ connection }: { readonly connection: ConsolePaymentConnection }): JSX.Element {
  const { hasSigningSecret, webhookUrl, webhookEventTypes } = connection;
  return (
    <details class="webhook-setup" open={!hasSigningSecret}>
      <summary>Webhook endpoint at Stripe</summary>
      <p>
        Create a webhook endpoint in the dashboard of Stripe, with this URL and these events. Stripe then
        shows the signing secret of the endpoint: enter it below, together with the secret key.
        {hasSigningSecret ? "" : " Until then, orders and refunds appear here up to five minutes later."}
      </p>
      <CopyableSecretField label="Endpoint URL" value={webhookUrl} />
      <p class="label">Events</p>
      <p class="scopes">
        {webhookEventTypes.map((type) => (
          <code key={type}>{type}</code>
        ))}
      </p>
    </details>
  );
}

function DisconnectDialog({
  connection: { id, accountId, accountName, mode },
  onDisconnected,
  onClose,
}: ConnectedAccountProps & { readonly onClose: () => void }): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(disconnectProviderDocument);
  const disconnect = async (): Promise<void> => {
    const done = await run({ input: { connectionId: id } });
    if (done === undefined) return;
    onClose();
    onDisconnected(done.paymentProviderDisconnect);
  };
  return (
    <ConfirmDialog
      title="Disconnect the account?"
      action="Disconnect"
      isBusy={isBusy}
      failure={failure}
      onConfirm={() => void disconnect()}
      onClose={onClose}
    >
      <p>
        <strong>{accountName ?? accountId}</strong> gets no more payments:{" "}
        {mode === "LIVE"
          ? "buyers cannot check out until you connect an account again."
          : "payments are simulated until you connect an account again."}{" "}
        Payments that were made before can still be captured and refunded.
      </p>
    </ConfirmDialog>
  );
}
