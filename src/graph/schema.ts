/**
 * Builds the whole GraphQL schema. Each imported file adds its types and fields to the schema builder.
 * GraphQL Mesh loads this file, which `.meshrc.yaml` names.
 */
import "./scalars.ts";
import "./catalog/money.ts";
import "./catalog/products.ts";
import "./catalog/product-detail.ts";
import "./access/identity.ts";
import "./access/oauth.ts";
import "./access/merchants.ts";
import "./access/api-requests.ts";
import "./access/installation-health.ts";
import "./markets/markets.ts";
import "./markets/taxes.ts";
import "./catalog/admin-products.ts";
import "./catalog/categories.ts";
import "./catalog/product-list.ts";
import "./catalog/stock-and-price-lists.ts";
import "./catalog/admin-variants.ts";
import "./catalog/search.ts";
import "./catalog/synonyms.ts";
import "./catalog/mutations.ts";
import "./catalog/import.ts";
import "./markets/mutations.ts";
import "./markets/tax-mutations.ts";
import "./access/merchant-mutations.ts";
import "./access/branding.ts";
import "./access/payment-connections.ts";
import "./access/credentials.ts";
import "./access/buyer-sessions.ts";
import "./access/oauth-clients.ts";
import "./access/trusted-documents.ts";
import "./access/staff.ts";
import "./access/audit.ts";
import "./promotions/promotions.ts";
import "./promotions/redemptions.ts";
import "./promotions/mutations.ts";
import "./carts/promotion-state.ts";
import "./carts/carts.ts";
import "./carts/mutations.ts";
import "./carts/addresses.ts";
import "./checkout/sessions.ts";
import "./checkout/mutations.ts";
import "./checkout/payment-mutations.ts";
import "./orders/order-parts.ts";
import "./orders/return-parts.ts";
import "./orders/orders.ts";
import "./orders/order-queries.ts";
import "./orders/order-lists.ts";
import "./orders/order-part-lists.ts";
import "./orders/cancellation-eligibility.ts";
import "./orders/after-sales-eligibility.ts";
import "./orders/order-mutations.ts";
import "./orders/payment-mutations.ts";
import "./after-sales/returns.ts";
import "./after-sales/warranties.ts";
import "./webhooks/endpoints.ts";
import "./webhooks/mutations.ts";
import "./webhooks/event-log.ts";
import "./webhooks/event-list.ts";
import "./webhooks/event-feed.ts";
import "./webhooks/fixture.ts";
import "./webhooks/replay.ts";
import "./webhooks/retry.ts";
import "./reports/sales.ts";
import "./reports/buyers.ts";
import "./reports/fulfillments.ts";
import "./reports/funnel.ts";
import "./reports/inventory.ts";
import "./reports/products.ts";
import "./reports/promotion-report.ts";
import "./reports/refunds.ts";
import "./reports/returns.ts";
import "./reports/searches.ts";
import "./reports/webhook-health.ts";
import "./reports/exports.ts";
import "./live/subscriptions.ts";
import { builder } from "./builder.ts";
import { documentRolesCostsAndErrorsOfFields } from "./field-notes.ts";
import { commonMutationFailures } from "./mutation-failures.ts";
import { requireAllMutationsUseDefineMutation } from "./mutation.ts";

builder.queryType({ description: "The fields that read data." });
builder.mutationType({
  description:
    "The fields that change data. Each mutation is one transaction: either all of its changes are " +
    "stored, or none. The description of a mutation lists its error codes. Every mutation can also answer " +
    `with ${commonMutationFailures.map((code) => `\`${code}\``).join(", ")}. A document that is refused before ` +
    "its execution has other error codes, for example `rate_limited`, or `invalid_locale` for a malformed " +
    "locale.",
});
builder.subscriptionType({
  description:
    "The fields that report changes as server-sent events. To subscribe, send a POST request with `Accept: " +
    "text/event-stream`. The first event has the current state. An event with null is the last event: the " +
    "object does not exist, or the caller may not read it.",
});

export default documentRolesCostsAndErrorsOfFields(
  requireAllMutationsUseDefineMutation(builder.toSchema({ sortSchema: false })),
);
