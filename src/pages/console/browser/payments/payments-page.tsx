/** The page on which a merchant connects an account at Stripe, replaces its keys, or disconnects it. */
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { basePath } from "#pages/console/browser/graph/client.ts";
import { useGraphqlMutation, useGraphqlQuery } from "#pages/console/browser/graph/hooks.ts";
import { PageHeading } from "#pages/console/browser/navigation.tsx";
import { FailureBanner, TextField } from "#pages/console/browser/parts/fields.tsx";
import { QueryResultOrLoadingNote } from "#pages/console/browser/parts/tables.tsx";
import { ConnectedPaymentAccountSection } from "./connected-account.tsx";
import {
  connectProviderDocument,
  type MerchantWithPaymentConnection,
  paymentsDocument,
} from "./payment-documents.ts";
import "./payments.css";

export function PaymentsPage(): JSX.Element {
  const query = useGraphqlQuery(paymentsDocument, {});
  return (
    <>
      <PageHeading title="Payments" />
      <p class="lead">
        Buyers pay on a page of Stripe, with your Stripe account. Card data never reaches this service.{" "}
        <a href={`${basePath}/docs/guides/live-payments`}>How to set up payments</a>
      </p>
      <QueryResultOrLoadingNote query={query} what="payment provider">
        {({ viewer: { merchant } }) => (merchant === null ? null : <PaymentProvider loaded={merchant} />)}
      </QueryResultOrLoadingNote>
    </>
  );
}

function PaymentProvider({ loaded }: { readonly loaded: MerchantWithPaymentConnection }): JSX.Element {
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
        <ConnectedPaymentAccountSection connection={paymentConnection} onDisconnected={setMerchant} />
      )}
      <KeysForm merchant={merchant} onConnected={setMerchant} />
    </>
  );
}

interface KeysFormProps {
  readonly merchant: MerchantWithPaymentConnection;
  readonly onConnected: (merchant: MerchantWithPaymentConnection) => void;
}

function KeysForm({ merchant, onConnected }: KeysFormProps): JSX.Element {
  const [secretKey, setSecretKey] = useState("");
  const [signingSecret, setSigningSecret] = useState("");
  const [isSaved, setIsSaved] = useState(false);
  const { isBusy, failure, run } = useGraphqlMutation(connectProviderDocument);
  const mode = merchant.mode === "LIVE" ? "live" : "test";
  const isConnected = merchant.paymentConnection !== null;
  const save = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isBusy) return;
    setIsSaved(false);
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
  const action = isConnected ? "Replace the keys" : "Connect the account";
  return (
    <form class="payment-keys" onSubmit={(event) => void save(event)} noValidate>
      <h2>{isConnected ? "Replace the keys" : "Connect an account"}</h2>
      <FailureBanner failure={failure} shown={["/secretKey", "/webhookSigningSecret"]} />
      <TextField
        label="Secret key"
        hint={
          `The secret or restricted key of your account at Stripe. It starts with sk_${mode}_ or rk_${mode}_. ` +
          "It is stored encrypted and never shown."
        }
        pointer="/secretKey"
        failure={failure}
        name="secretKey"
        value={secretKey}
        input={{ type: "password", autoComplete: "off" }}
        onChange={setSecretKey}
      />
      <TextField
        label="Signing secret of the webhook endpoint"
        hint={`It starts with whsec_. ${getSigningSecretHint(merchant)}`}
        pointer="/webhookSigningSecret"
        failure={failure}
        name="webhookSigningSecret"
        value={signingSecret}
        input={{ type: "password", autoComplete: "off" }}
        onChange={setSigningSecret}
      />
      <div class="actions">
        <button disabled={isBusy}>{isBusy ? "Asking Stripe …" : action}</button>
        <span role="status">{isSaved && isConnected ? "Saved." : ""}</span>
      </div>
    </form>
  );
}

function getSigningSecretHint({ paymentConnection }: MerchantWithPaymentConnection): string {
  if (paymentConnection === null)
    return "Enter it later: the URL of the endpoint is shown here after you have connected the account.";
  return paymentConnection.hasSigningSecret
    ? "Leave it empty to keep the stored signing secret."
    : "Stripe shows it after you have created the endpoint.";
}
