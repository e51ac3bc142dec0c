/** The contract's tables of operations, written by hand from it. */

export interface ContractRow {
  readonly method: string;
  readonly path: string;
  readonly stability: "stable" | "candidate";
  readonly scope: string;
  readonly idempotency: "none" | "required";
  readonly isAnonymous?: true;
  readonly body?: string;
  readonly response: string;
  /** Name, place and JSON type; all but those with `?` are required. */
  readonly parameters: readonly string[];
}

const idempotencyKey = "Idempotency-Key header string";
const cartPath = "/api/v1/open/storefront/carts/{cartId}";
const cartId = "cartId path string";
const cart = { stability: "candidate" } as const;
const cartChange = { ...cart, idempotency: "required", parameters: [cartId, idempotencyKey] } as const;
const orderPath = "/api/v1/open/storefront/orders/{orderId}";
const order = { method: "GET", stability: "candidate", scope: "catalog:read", idempotency: "none", parameters: ["orderId path string"] } as const;
const webhook = { stability: "stable", response: "OperationResponse" } as const;
const search = ["q", "locale", "market", "category?", "merchant?", "sort"].map((name) => `${name} query string`);

export const contractTable: Readonly<Record<string, ContractRow>> = {
  getApiKeyIdentity: {
    method: "GET",
    path: "/api/v1/open/identity",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "ApiKeyIdentityResponse",
    parameters: [],
  },
  describeOAuthAuthorization: {
    method: "GET",
    path: "/api/v1/oauth/authorize",
    stability: "candidate",
    scope: "none",
    idempotency: "none",
    response: "OperationResponse",
    parameters: [],
  },
  getInstallationCredentialReadiness: {
    method: "GET",
    path: "/api/v1/open/installation/readiness",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "InstallationCredentialReadinessResponse",
    parameters: [],
  },
  listApiKeyCatalogProducts: {
    method: "GET",
    path: "/api/v1/open/catalog/products",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "PublicCatalogProductListResponse",
    parameters: [],
  },
  searchPublicProducts: {
    method: "GET",
    path: "/api/v1/search",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicProductSearchResponse",
    parameters: [...search, "page query integer", "pageSize query integer"],
  },
  getPublicMerchantProduct: {
    method: "GET",
    path: "/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicCatalogProductDetailResponse",
    parameters: ["merchantSlug path string", "productSlug path string"],
  },
  getPublicCart: {
    ...cart,
    method: "GET",
    path: cartPath,
    scope: "catalog:read",
    idempotency: "none",
    response: "PublicCartResponse",
    parameters: [cartId],
  },
  setPublicCartAddress: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/address`,
    scope: "checkout:quote",
    body: "PublicCartAddressSetRequest",
    response: "PublicCartAddressTokenResponse",
  },
  applyPublicCartPromotion: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartPromotionApplyRequest",
    response: "PublicCartPromotionStateResponse",
  },
  removePublicCartPromotion: {
    ...cartChange,
    method: "DELETE",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartTransitionRequest",
    response: "PublicCartPromotionStateResponse",
  },
  revokePublicCart: {
    ...cartChange,
    method: "POST",
    path: `${cartPath}/revoke`,
    scope: "catalog:read",
    body: "PublicCartTransitionRequest",
    response: "PublicCartResponse",
  },
  getStorefrontOrder: {
    ...order,
    path: orderPath,
    response: "StorefrontOrderDetailResponse",
  },
  getStorefrontOrderCancellationEligibility: {
    ...order,
    path: `${orderPath}/cancellation-eligibility`,
    response: "StorefrontOrderEligibilityResponse",
  },
  getStorefrontOrderAfterSalesEligibility: {
    ...order,
    path: `${orderPath}/after-sales-eligibility`,
    response: "StorefrontAfterSalesEligibilityResponse",
  },
  listInstallationWebhooks: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
  },
  createInstallationWebhook: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookCreateRequest",
    parameters: [idempotencyKey],
  },
  getInstallationWebhookSignatureFixture: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints/{id}/signature-fixture",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: ["id path string"],
  },
  listInstallationWebhookEvents: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/events",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
  },
  replayInstallationWebhookDelivery: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/deliveries/{id}/replay",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookReplayRequest",
    parameters: ["id path string", idempotencyKey],
  },
  cancelHostedCheckoutSession: {
    method: "POST",
    path: "/api/v1/open/hosted/checkout/sessions/{sessionId}/cancel",
    stability: "stable",
    scope: "catalog:read",
    idempotency: "required",
    body: "HostedCheckoutCancelRequest",
    response: "HostedCheckoutSessionResponse",
    parameters: ["sessionId path string", idempotencyKey],
  },
};
