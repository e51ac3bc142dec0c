/** The page on which a merchant connects an account at Stripe, replaces its keys, or disconnects it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { QueryResultView } from "#pages/console/browser/parts/tables.tsx";
import {
  connectProviderDocument,
  type ConsolePaymentConnection,
  disconnectProviderDocument,
  type MerchantWithPayments,
  paymentsDocument,
} from "./payment-documents.ts";

export function PaymentsPage(): JSX.Element {
  const query = useGraphqlQuery(paymentsDocument, {});
  return (
    <>
      <PageHeading title="Payments" />
      <p class="lead">
        Buyers pay on a page of Stripe, with your Stripe account. Card data never reaches this service.
      </p>
      <QueryResultView query={query} what="payment provider">
        {({ viewer: { merchant } }) => (merchant === null ? null : <PaymentProvider loaded={merchant} />)}
      </QueryResultView>
    </>
  );
}

function PaymentProvider({ loaded }: { readonly loaded: MerchantWithPayments }): JSX.Element {
  const [merchant, setMerchant] = useState(loaded);
  const { paymentConnection, mode } = merchant;
  return (
    <>
      {paymentConnection === null ? (
        <p>
          {mode === "TEST"
            ? "Your shop is in test mode: without an account at Stripe, payments are simulated."
            : "No account is connected, so buyers cannot check out."}
        </p>
      ) : (
        <ConnectedAccount connection={paymentConnection} onDisconnected={setMerchant} />
      )}
      <ConnectForm merchant={merchant} onConnected={setMerchant} />
    </>
  );
}

interface ConnectedAccountProps {
  readonly connection: ConsolePaymentConnection;
  readonly onDisconnected: (merchant: MerchantWithPayments) => void;
}

function ConnectedAccount({ connection, onDisconnected }: ConnectedAccountProps): JSX.Element {
  const { isBusy, failure, run } = useGraphqlMutation(disconnectProviderDocument);
  const { id, accountId, accountName, mode, keyHint, hasSigningSecret, webhookUrl, webhookEventTypes } =
    connection;
  const disconnect = async (): Promise<void> => {
    const done = await run({ input: { connectionId: id } });
    if (done !== undefined) onDisconnected(done.paymentProviderDisconnect);
  };
  return (
    <section aria-labelledby="connected">
      <h2 id="connected">Connected account</h2>
      <FailureBanner failure={failure} shown={[]} />
      <dl>
        <dt>Account</dt>
        <dd>
          {accountName ?? "Stripe"} ({accountId}), {mode === "LIVE" ? "live mode" : "test mode"}
        </dd>
        <dt>Secret key</dt>
        <dd>ends with {keyHint}</dd>
        <dt>Webhook endpoint at Stripe</dt>
        <dd>
          <code>{webhookUrl}</code>
        </dd>
        <dt>Its events</dt>
        <dd>{webhookEventTypes.join(", ")}</dd>
        <dt>Signing secret</dt>
        <dd>{hasSigningSecret ? "stored" : "missing: enter it below, so that webhooks are accepted"}</dd>
      </dl>
      <button type="button" class="second" disabled={isBusy} onClick={() => void disconnect()}>
        Disconnect the account
      </button>
    </section>
  );
}

interface ConnectFormProps {
  readonly merchant: MerchantWithPayments;
  readonly onConnected: (merchant: MerchantWithPayments) => void;
}

function ConnectForm({ merchant, onConnected }: ConnectFormProps): JSX.Element {
  const [secretKey, setSecretKey] = useState("");
  const [signingSecret, setSigningSecret] = useState("");
  const [isSaved, setIsSaved] = useState(false);
  const { isBusy, failure, run } = useGraphqlMutation(connectProviderDocument);
  const mode = merchant.mode === "LIVE" ? "live" : "test";
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    const secret = signingSecret.trim();
    const done = await run({
      input: { secretKey: secretKey.trim(), ...(secret === "" ? {} : { webhookSigningSecret: secret }) },
    });
    if (done === undefined) return;
    setSecretKey("");
    setSigningSecret("");
    setIsSaved(true);
    onConnected(done.paymentProviderConnect);
  };
  return (
    <form onSubmit={(event) => void save(event)} noValidate>
      <h2>{merchant.paymentConnection === null ? "Connect an account" : "Replace the keys"}</h2>
      <FailureBanner failure={failure} shown={["/secretKey", "/webhookSigningSecret"]} />
      <TextField
        label="Secret key"
        hint={`A secret or restricted key of Stripe: sk_${mode}_… or rk_${mode}_…. It is stored encrypted and never shown.`}
        pointer="/secretKey"
        failure={failure}
        name="secretKey"
        value={secretKey}
        input={{ type: "password", autoComplete: "off" }}
        onChange={setSecretKey}
      />
      <TextField
        label="Signing secret of the webhook endpoint"
        hint="whsec_…, from the webhook endpoint at Stripe. You can enter it later, together with the key."
        pointer="/webhookSigningSecret"
        failure={failure}
        name="webhookSigningSecret"
        value={signingSecret}
        input={{ type: "password", autoComplete: "off" }}
        onChange={setSigningSecret}
      />
      <div class="actions">
        <button disabled={isBusy}>{isBusy ? "Asking Stripe …" : "Connect"}</button>
        <span role="status">{isSaved ? "Connected." : ""}</span>
      </div>
    </form>
  );
}
