/** The whole graph: imports every part for its effect on the builder. GraphQL Mesh loads this file by .meshrc.yaml. */
import "./scalars.ts";
import "#graph/catalog/money.ts";
import "#graph/catalog/products.ts";
import "#graph/catalog/product-detail.ts";
import "#graph/access/identity.ts";
import "#graph/access/oauth.ts";
import "#graph/access/tenants.ts";
import "#graph/access/readiness.ts";
import "#graph/access/requests.ts";
import "#graph/markets/markets.ts";
import "#graph/catalog/kept-products.ts";
import "#graph/catalog/search.ts";
import "#graph/catalog/mutations.ts";
import "#graph/catalog/import.ts";
import "#graph/markets/mutations.ts";
import "#graph/access/mutations.ts";
import "#graph/access/credential-mutations.ts";
import "#graph/access/oauth-clients.ts";
import "#graph/access/people.ts";
import "#graph/access/audit.ts";
import "#graph/promotions/promotions.ts";
import "#graph/promotions/mutations.ts";
import "#graph/carts/promotion-state.ts";
import "#graph/carts/carts.ts";
import "#graph/carts/mutations.ts";
import "#graph/carts/addresses.ts";
import "#graph/checkout/sessions.ts";
import "#graph/checkout/mutations.ts";
import "#graph/checkout/payment-mutations.ts";
import "#graph/orders/order-parts.ts";
import "#graph/orders/orders.ts";
import "#graph/orders/order-recipient.ts";
import "#graph/orders/order-queries.ts";
import "#graph/orders/cancellation-eligibility.ts";
import "#graph/orders/after-sales-eligibility.ts";
import "#graph/orders/order-life-mutations.ts";
import "#graph/orders/fulfillment-mutations.ts";
import "#graph/orders/cancel-mutations.ts";
import "#graph/orders/payment-mutations.ts";
import "#graph/orders/refund-mutations.ts";
import "#graph/after-sales/returns.ts";
import "#graph/after-sales/warranties.ts";
import "#graph/webhooks/endpoints.ts";
import "#graph/webhooks/mutations.ts";
import "#graph/webhooks/catalogue.ts";
import "#graph/webhooks/deliveries.ts";
import "#graph/webhooks/log.ts";
import "#graph/webhooks/fixture.ts";
import "#graph/webhooks/replay.ts";
import "#graph/reports/sales.ts";
import "#graph/reports/funnel.ts";
import "#graph/reports/promotions.ts";
import "#graph/reports/returns.ts";
import "#graph/reports/searches.ts";
import "#graph/reports/webhook-health.ts";
import "#graph/live/subscriptions.ts";
import { builder } from "./builder.ts";
import { nameMutations } from "./name-mutations.ts";

builder.queryType({ description: "Everything that can be read." });
builder.mutationType({ description: "Everything that can be changed. Each mutation is one transaction: all of it happens, or nothing." });
builder.subscriptionType({
  description:
    "What can be followed: server-sent events, for a POST with `Accept: text/event-stream`. Each begins with the present state. An answer of null is the last: it is not there, or not for the asker.",
});

export default nameMutations(builder.toSchema({ sortSchema: false }));
