/**
 * The REST operations by which staff can filter the request log, with method and path. A test checks that the
 * list matches the OpenAPI document.
 */
interface ApiOperation {
  /** The id of the operation: its `operationId` in the OpenAPI document. */
  readonly id: string;
  readonly method: string;
  /** The path below /api/v1, with its parameters in braces. */
  readonly path: string;
}

const operation = (id: string, method: string, path: string): ApiOperation => ({ id, method, path });

/** The operations of the REST API in the order of their paths. */
export const apiOperations: readonly ApiOperation[] = [
  operation("getPublicMerchantProduct", "GET", "/catalog/merchants/{merchantSlug}/products/{productSlug}"),
  operation("describeOAuthAuthorization", "GET", "/oauth/authorize"),
  operation("listApiKeyCatalogProducts", "GET", "/open/catalog/products"),
  operation("cancelHostedCheckoutSession", "POST", "/open/hosted/checkout/sessions/{sessionId}/cancel"),
  operation("getApiKeyIdentity", "GET", "/open/identity"),
  operation("getInstallationCredentialReadiness", "GET", "/open/installation/readiness"),
  operation("getPublicCart", "GET", "/open/storefront/carts/{cartId}"),
  operation("setPublicCartAddress", "PUT", "/open/storefront/carts/{cartId}/address"),
  operation("removePublicCartPromotion", "DELETE", "/open/storefront/carts/{cartId}/promotion"),
  operation("applyPublicCartPromotion", "PUT", "/open/storefront/carts/{cartId}/promotion"),
  operation("revokePublicCart", "POST", "/open/storefront/carts/{cartId}/revoke"),
  operation("getStorefrontOrder", "GET", "/open/storefront/orders/{orderId}"),
  operation(
    "getStorefrontOrderAfterSalesEligibility",
    "GET",
    "/open/storefront/orders/{orderId}/after-sales-eligibility",
  ),
  operation(
    "getStorefrontOrderCancellationEligibility",
    "GET",
    "/open/storefront/orders/{orderId}/cancellation-eligibility",
  ),
  operation("replayInstallationWebhookDelivery", "POST", "/open/webhooks/deliveries/{id}/replay"),
  operation("listInstallationWebhooks", "GET", "/open/webhooks/endpoints"),
  operation("createInstallationWebhook", "POST", "/open/webhooks/endpoints"),
  operation(
    "getInstallationWebhookSignatureFixture",
    "GET",
    "/open/webhooks/endpoints/{id}/signature-fixture",
  ),
  operation("listInstallationWebhookEvents", "GET", "/open/webhooks/events"),
  operation("searchPublicProducts", "GET", "/search"),
];

/** The start of the URL path, which is the same for all REST operations. */
export const apiRoot = "/api/v1";

export const getApiOperationPath = (id: string): string | undefined =>
  apiOperations.find((one) => one.id === id)?.path;
