/** The GraphQL types and mutations of a merchant's connection to a payment provider. */
import {
  connectPaymentProvider,
  disconnectPaymentProvider,
  findSigningSecretFaults,
  parseConnectablePaymentProviderName,
  type PaymentConnectionRow,
  type VerifiedPaymentProviderAccount,
} from "#commerce/payments/connections.ts";
import { createPaymentProviderEventsUrl } from "#commerce/payments/provider-events.ts";
import type { PaymentProviderName } from "#commerce/payments/provider-list.ts";
import { stripeEventTypes } from "#commerce/payments/stripe/stripe-events.ts";
import { verifyStripeKey } from "#commerce/payments/stripe/verify-key.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { builder, defineGraphqlEnum } from "#graph/builder.ts";
import { merchantSecretMutationKind } from "#graph/mutation-kinds.ts";
import type { WorkBeforeMutationTransaction } from "#graph/mutation-options.ts";
import { defineMutation, reloadChangedRow } from "#graph/mutation.ts";
import { MerchantRef } from "#graph/refs.ts";
import { ModeEnum } from "./identity.ts";

export const PaymentProviderEnum = defineGraphqlEnum<PaymentProviderName>("PaymentProvider", {
  description:
    "A payment provider: an outside service that moves the buyers' money, or the built-in test provider.",
  values: {
    test: "The built-in provider, which moves no money. Only merchants in test mode use it.",
    stripe: "Stripe, with the account that the merchant has connected. The buyer pays on a page of Stripe.",
  },
});

const PaymentProviderAccount = builder.objectRef<PaymentConnectionRow>("PaymentProviderAccount").implement({
  description: "The account at a payment provider that a merchant has connected. Its keys cannot be read.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The connection's id, `pcn_…`." }),
    provider: t.field({
      type: PaymentProviderEnum,
      description: "The payment provider at which the merchant has the account.",
      resolve: ({ provider }) => parseConnectablePaymentProviderName(provider),
    }),
    mode: t.expose("mode", {
      type: ModeEnum,
      description: "The mode of the key, which is the merchant's mode.",
    }),
    accountId: t.exposeString("accountId", {
      description: "The account's id at the provider, for example `acct_…`.",
    }),
    accountName: t.exposeString("accountName", {
      nullable: true,
      description: "The account's name at the provider; null if the account has no name.",
    }),
    keyHint: t.exposeString("keyHint", { description: "The last four characters of the secret key." }),
    hasSigningSecret: t.exposeBoolean("hasSigningSecret", {
      description:
        "Whether the service has the signing secret of the provider's webhooks. Without the secret, the " +
        "service refuses the provider's webhooks and reads the provider's events every five minutes.",
    }),
    webhookUrl: t.field({
      type: "URL",
      description:
        "The URL that the merchant must enter at the provider as the address of the provider's webhooks.",
      resolve: ({ id }, _args, { services }) => createPaymentProviderEventsUrl(services.publicUrl, id),
    }),
    webhookEventTypes: t.stringList({
      description:
        "The types of events that the merchant must select at the provider for the provider's webhooks.",
      resolve: () => [...stripeEventTypes],
    }),
    version: t.exposeInt("version", {
      description: "The connection's version; increases by 1 with every change.",
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When the account was connected." }),
    updatedAt: t.expose("updatedAt", {
      type: "DateTime",
      description: "When the connection was last changed.",
    }),
  }),
});

builder.objectField(MerchantRef, "paymentConnection", (t) =>
  t.field({
    type: PaymentProviderAccount,
    nullable: true,
    description:
      "The account at a payment provider that the merchant has connected; null if the merchant has " +
      "connected none.",
    resolve: ({ id }, _args, { loaders }) => loaders.paymentConnections.load(id),
  }),
);

const PaymentProviderConnectInput = builder.inputType("PaymentProviderConnectInput", {
  description: "The keys of the account at the payment provider.",
  fields: (t) => ({
    secretKey: t.string({
      required: true,
      description:
        "A secret or restricted key of Stripe: `sk_live_…` or `rk_live_…` for merchants in live mode, " +
        "`sk_test_…` or `rk_test_…` for merchants in test mode. Stripe is asked whether the key works.",
    }),
    webhookSigningSecret: t.string({
      description:
        "The signing secret of the webhook endpoint at Stripe, `whsec_…`. If left out, the stored secret of the " +
        "same account stays.",
    }),
  }),
});

interface ConnectInput {
  readonly secretKey: string;
  readonly webhookSigningSecret?: string | null | undefined;
}

/**
 * Requests the provider account to which the secret key belongs. Runs before the mutation's transaction,
 * because the network request can be slow.
 */
const verifyKey: WorkBeforeMutationTransaction<ConnectInput, VerifiedPaymentProviderAccount> = async (
  { secretKey, webhookSigningSecret },
  { stripeApiBase },
) => {
  requireNoInputFieldErrors(findSigningSecretFaults("/webhookSigningSecret", webhookSigningSecret));
  return verifyStripeKey(secretKey, stripeApiBase);
};

defineMutation({
  ...merchantSecretMutationKind,
  name: "paymentProviderConnect",
  description:
    "Connects an account at Stripe, with which the merchant takes payments from now on, or replaces the " +
    "keys of the connected account. The service stores the keys encrypted and never returns them.",
  failures: ["upstream_timeout"],
  input: PaymentProviderConnectInput,
  type: MerchantRef,
  prepare: verifyKey,
  run: async (transaction, context, { secretKey, webhookSigningSecret, prepared: account }) => {
    const { merchantId } = context;
    await connectPaymentProvider(transaction, context, {
      merchantId,
      account,
      secretKey,
      signingSecret: webhookSigningSecret ?? null,
    });
    return merchantId;
  },
  answer: async ({ loaders }, id) => {
    loaders.paymentConnections.clear(id);
    return reloadChangedRow(loaders.merchants, id);
  },
});

const PaymentProviderDisconnectInput = builder.inputType("PaymentProviderDisconnectInput", {
  description: "The connection to end.",
  fields: (t) => ({
    connectionId: t.id({ required: true, description: "The id of the active connection, `pcn_…`." }),
  }),
});

defineMutation({
  ...merchantSecretMutationKind,
  name: "paymentProviderDisconnect",
  description:
    "Ends the merchant's connection to a payment provider. The provider gets no new payments, but its " +
    "earlier payments can still be captured, voided and refunded. To end that too, the merchant must " +
    "revoke the key at the provider.",
  failures: ["invalid_state"],
  input: PaymentProviderDisconnectInput,
  type: MerchantRef,
  run: async (transaction, context, { connectionId }) => {
    await disconnectPaymentProvider(transaction, context, { merchantId: context.merchantId, connectionId });
    return context.merchantId;
  },
  answer: async ({ loaders }, id) => {
    loaders.paymentConnections.clear(id);
    return reloadChangedRow(loaders.merchants, id);
  },
});
