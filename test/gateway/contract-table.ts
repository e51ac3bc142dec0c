/**
 * The contract's operations, written by hand from the contract, not from the service. Each row has a valid
 * request. A new operation that stays in the contract is added here.
 */
import type { PermissionScope } from "#access/viewer.ts";
import { callCart, makeCart } from "#test/operations/cart-calls.ts";
import { makeSession } from "#test/operations/checkout-calls.ts";
import { receiver } from "#test/operations/webhook-calls.ts";
import { makeDelivery } from "#test/webhooks/delivery-rows.ts";
import type { World } from "#test/support/world.ts";

export interface CallParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly body?: unknown;
}

export interface ContractRow {
  readonly method: string;
  readonly path: string;
  readonly stability: "stable" | "candidate";
  /** The scope that an API key needs, or `none`; left out if the operation accepts no API key. */
  readonly scope?: PermissionScope | "none";
  readonly idempotency: "none" | "required";
  readonly isAnonymous?: true;
  readonly body?: string;
  readonly response: string;
  /** Name, location and JSON type of each parameter. `?` marks optional ones. */
  readonly parameters: readonly string[];
  /** Set if the operation requires an access token with any scope and refuses API keys. */
  readonly credential?: "token";
  /** Creates the data that the request needs and returns the request, which may be sent once. */
  readonly call: (world: World) => CallParts | Promise<CallParts>;
}

const idempotencyKey = "Idempotency-Key header string";
const cartPath = "/api/v1/open/storefront/carts/{cartId}";
const cartId = "cartId path string";
const cart = { stability: "candidate" } as const;
const cartChange = { ...cart, idempotency: "required", parameters: [cartId, idempotencyKey] } as const;
const orderPath = "/api/v1/open/storefront/orders/{orderId}";
const order = {
  method: "GET",
  stability: "candidate",
  scope: "catalog:read",
  idempotency: "none",
  parameters: ["orderId path string"],
} as const;
const webhook = { stability: "stable", response: "OperationResponse" } as const;
const search = ["q", "locale", "market", "category?", "merchant?", "sort"].map(
  (name) => `${name} query string`,
);

const newCart = async (world: World): Promise<string> =>
  (await makeCart(world, { lines: { "KIT-KVERN": 1 } })).id;
const address = {
  recipientName: "Anna Beispiel",
  line1: "Musterweg 1",
  postalCode: "10115",
  city: "Berlin",
  countryCode: "DE",
};
const ofOrder = ({ demo }: World): CallParts => ({ path: { orderId: demo.orders.delivered } });

export const contractTable: Readonly<Record<string, ContractRow>> = {
  getApiKeyIdentity: {
    method: "GET",
    path: "/api/v1/open/identity",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "ApiKeyIdentityResponse",
    parameters: [],
    call: () => ({}),
  },
  describeOAuthAuthorization: {
    method: "GET",
    path: "/api/v1/oauth/authorize",
    stability: "candidate",
    idempotency: "none",
    response: "OperationResponse",
    parameters: [],
    credential: "token",
    call: () => ({}),
  },
  getInstallationCredentialReadiness: {
    method: "GET",
    path: "/api/v1/open/installation/readiness",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "InstallationCredentialReadinessResponse",
    parameters: [],
    call: () => ({}),
  },
  listApiKeyCatalogProducts: {
    method: "GET",
    path: "/api/v1/open/catalog/products",
    stability: "stable",
    scope: "none",
    idempotency: "none",
    response: "PublicCatalogProductListResponse",
    parameters: [],
    call: () => ({}),
  },
  searchPublicProducts: {
    method: "GET",
    path: "/api/v1/search",
    stability: "stable",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicProductSearchResponse",
    parameters: [...search, "page query integer", "pageSize query integer"],
    call: () => ({ query: "q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=2" }),
  },
  getPublicMerchantProduct: {
    method: "GET",
    path: "/api/v1/catalog/merchants/{merchantSlug}/products/{productSlug}",
    stability: "stable",
    idempotency: "none",
    isAnonymous: true,
    response: "PublicCatalogProductDetailResponse",
    parameters: ["merchantSlug path string", "productSlug path string"],
    call: ({ demo }) => ({
      path: {
        merchantSlug: demo.products[0]?.merchantSlug ?? "",
        productSlug: demo.products[0]?.productSlug ?? "",
      },
    }),
  },
  getPublicCart: {
    ...cart,
    method: "GET",
    path: cartPath,
    scope: "catalog:read",
    idempotency: "none",
    response: "PublicCartResponse",
    parameters: [cartId],
    call: ({ demo }) => ({ path: { cartId: demo.carts.active } }),
  },
  setPublicCartAddress: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/address`,
    scope: "checkout:quote",
    body: "PublicCartAddressSetRequest",
    response: "PublicCartAddressTokenResponse",
    call: async (world) => ({ path: { cartId: await newCart(world) }, body: { address } }),
  },
  applyPublicCartPromotion: {
    ...cartChange,
    method: "PUT",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartPromotionApplyRequest",
    response: "PublicCartPromotionStateResponse",
    call: async (world) => ({
      path: { cartId: await newCart(world) },
      body: { code: world.demo.promotionCodes.percentage },
    }),
  },
  removePublicCartPromotion: {
    ...cartChange,
    method: "DELETE",
    path: `${cartPath}/promotion`,
    scope: "checkout:quote",
    body: "PublicCartTransitionRequest",
    response: "PublicCartPromotionStateResponse",
    call: async (world) => {
      const id = await newCart(world);
      const { body } = await callCart(world, "applyPublicCartPromotion", {
        cartId: id,
        body: { code: world.demo.promotionCodes.percentage },
      });
      return { path: { cartId: id }, body: { expectedVersion: body.data.cartVersion } };
    },
  },
  revokePublicCart: {
    ...cartChange,
    method: "POST",
    path: `${cartPath}/revoke`,
    scope: "catalog:read",
    body: "PublicCartTransitionRequest",
    response: "PublicCartResponse",
    call: async (world) => {
      const { id, version } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
      return { path: { cartId: id }, body: { expectedVersion: version } };
    },
  },
  getStorefrontOrder: {
    ...order,
    path: orderPath,
    response: "StorefrontOrderDetailResponse",
    call: ofOrder,
  },
  getStorefrontOrderCancellationEligibility: {
    ...order,
    path: `${orderPath}/cancellation-eligibility`,
    response: "StorefrontOrderEligibilityResponse",
    call: ofOrder,
  },
  getStorefrontOrderAfterSalesEligibility: {
    ...order,
    path: `${orderPath}/after-sales-eligibility`,
    response: "StorefrontAfterSalesEligibilityResponse",
    call: ofOrder,
  },
  listInstallationWebhooks: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
    call: () => ({}),
  },
  createInstallationWebhook: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/endpoints",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookCreateRequest",
    parameters: [idempotencyKey],
    call: async (world) => {
      await deleteEndpoints(world);
      return { body: { url: receiver(), eventTypes: ["*"] } };
    },
  },
  getInstallationWebhookSignatureFixture: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/endpoints/{id}/signature-fixture",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: ["id path string"],
    call: ({ demo }) => ({ path: { id: demo.webhooks.endpoint } }),
  },
  listInstallationWebhookEvents: {
    ...webhook,
    method: "GET",
    path: "/api/v1/open/webhooks/events",
    scope: "webhooks:read",
    idempotency: "none",
    parameters: [],
    call: () => ({}),
  },
  replayInstallationWebhookDelivery: {
    ...webhook,
    method: "POST",
    path: "/api/v1/open/webhooks/deliveries/{id}/replay",
    scope: "webhooks:write",
    idempotency: "required",
    body: "PublicWebhookReplayRequest",
    parameters: ["id path string", idempotencyKey],
    call: async (world) => ({
      path: { id: await makeDelivery(world, { endpointId: world.demo.webhooks.endpoint }) },
      body: { reason: "testing" },
    }),
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
    call: async (world) => ({ path: { sessionId: (await makeSession(world)).id }, body: { reason: "test" } }),
  },
};

/**
 * Deletes the endpoints that earlier requests created: an installation has at most 16. The endpoint of the
 * demo stays.
 */
async function deleteEndpoints({ database, demo }: World): Promise<void> {
  await database.db
    .updateTable("webhookEndpoint")
    .set({ status: "deleted" })
    .where("id", "!=", demo.webhooks.endpoint)
    .execute();
}

/** The facts that the OpenAPI document states about an operation. */
export type DescribedRow = Omit<ContractRow, "call" | "credential">;

export const describedRows: Readonly<Record<string, DescribedRow>> = Object.fromEntries(
  Object.entries(contractTable).map(([id, { call: _call, credential: _credential, ...row }]) => [id, row]),
);

export const operationCount = Object.keys(contractTable).length;
