/** GraphQL documents and result types of the page on which a merchant connects a payment provider. */
import { createConsoleGraphqlDocument } from "#pages/console/browser/graph/documents.ts";
import type { GraphqlVariablesWithIdempotencyKey } from "#pages/console/browser/graph/hooks.ts";

export interface ConsolePaymentConnection {
  readonly id: string;
  readonly mode: "LIVE" | "TEST";
  readonly accountId: string;
  readonly accountName: string | null;
  readonly keyHint: string;
  readonly hasSigningSecret: boolean;
  readonly webhookUrl: string;
  readonly webhookEventTypes: readonly string[];
}

export interface MerchantWithPaymentConnection {
  readonly id: string;
  readonly mode: "LIVE" | "TEST";
  readonly paymentConnection: ConsolePaymentConnection | null;
}

const fields = `id mode paymentConnection { id mode accountId accountName keyHint hasSigningSecret webhookUrl
  webhookEventTypes }`;

export const paymentsDocument = createConsoleGraphqlDocument<{
  readonly viewer: { readonly merchant: MerchantWithPaymentConnection | null };
}>(`query ConsolePayments { viewer { merchant { ${fields} } } }`);

interface ConnectInput {
  readonly secretKey: string;
  readonly webhookSigningSecret?: string;
}

export const connectProviderDocument = createConsoleGraphqlDocument<
  { readonly paymentProviderConnect: MerchantWithPaymentConnection },
  GraphqlVariablesWithIdempotencyKey & { readonly input: ConnectInput }
>(`
  mutation ConsolePaymentProviderConnect($idempotencyKey: String!, $input: PaymentProviderConnectInput!) {
    paymentProviderConnect(idempotencyKey: $idempotencyKey, input: $input) { ${fields} }
  }
`);

export const disconnectProviderDocument = createConsoleGraphqlDocument<
  { readonly paymentProviderDisconnect: MerchantWithPaymentConnection },
  GraphqlVariablesWithIdempotencyKey & { readonly input: { readonly connectionId: string } }
>(`
  mutation ConsolePaymentProviderDisconnect($idempotencyKey: String!, $input: PaymentProviderDisconnectInput!) {
    paymentProviderDisconnect(idempotencyKey: $idempotencyKey, input: $input) { ${fields} }
  }
`);
