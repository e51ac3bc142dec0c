/**
 * The whole graph: imports every part for its effect on the builder. GraphQL Mesh loads this file by
 * .meshrc.yaml.
 */
import "./scalars.ts";
import "./catalog/money.ts";
import "./catalog/products.ts";
import "./catalog/product-detail.ts";
import "./access/identity.ts";
import "./access/oauth.ts";
import "./access/merchants.ts";
import "./access/installation-health.ts";
import "./markets/markets.ts";
import "./catalog/admin-products.ts";
import "./catalog/admin-variants.ts";
import "./catalog/search.ts";
import "./catalog/mutations.ts";
import "./catalog/import.ts";
import "./markets/mutations.ts";
import "./access/merchant-mutations.ts";
import "./access/credentials.ts";
import "./access/oauth-clients.ts";
import "./access/staff.ts";
import "./access/audit.ts";
import "./promotions/promotions.ts";
import "./promotions/mutations.ts";
import "./carts/promotion-state.ts";
import "./carts/carts.ts";
import "./carts/cart-queries.ts";
import "./carts/mutations.ts";
import "./carts/addresses.ts";
import "./checkout/sessions.ts";
import "./checkout/mutations.ts";
import "./checkout/payment-mutations.ts";
import "./orders/order-parts.ts";
import "./orders/orders.ts";
import "./orders/order-queries.ts";
import "./orders/cancellation-eligibility.ts";
import "./orders/after-sales-eligibility.ts";
import "./orders/order-mutations.ts";
import "./orders/payment-mutations.ts";
import "./after-sales/returns.ts";
import "./after-sales/warranties.ts";
import "./webhooks/endpoints.ts";
import "./webhooks/mutations.ts";
import "./webhooks/event-log.ts";
import "./webhooks/fixture.ts";
import "./webhooks/replay.ts";
import "./reports/sales.ts";
import "./reports/funnel.ts";
import "./reports/promotion-report.ts";
import "./reports/returns.ts";
import "./reports/searches.ts";
import "./reports/webhook-health.ts";
import "./live/subscriptions.ts";
import { builder } from "./builder.ts";
import { requireDefinedMutations } from "./mutation.ts";

builder.queryType({ description: "Everything that can be read." });
builder.mutationType({
  description:
    "Everything that can be changed. Each mutation is one transaction: all of it happens, or nothing.",
});
builder.subscriptionType({
  description:
    "What can be followed: server-sent events, for a POST with `Accept: text/event-stream`. Each begins with the present state. An answer of null is the last: it is not there, or not for the asker.",
});

export default requireDefinedMutations(builder.toSchema({ sortSchema: false }));
