/** The readable titles of the operations, which the table of contents and the headings show. */

const titles: Readonly<Record<string, string>> = {
  searchPublicProducts: "Search products",
  getPublicMerchantProduct: "Get a product",
  listApiKeyCatalogProducts: "List the catalog",
  getPublicCart: "Get a cart",
  setPublicCartAddress: "Set a cart's address",
  applyPublicCartPromotion: "Apply a promotion code",
  removePublicCartPromotion: "Remove a promotion code",
  revokePublicCart: "Revoke a cart",
  cancelHostedCheckoutSession: "Cancel a checkout session",
  getStorefrontOrder: "Get an order",
  getStorefrontOrderAfterSalesEligibility: "Get after-sales eligibility",
  getStorefrontOrderCancellationEligibility: "Get cancellation eligibility",
  createInstallationWebhook: "Create a webhook endpoint",
  listInstallationWebhooks: "List webhook endpoints",
  listInstallationWebhookEvents: "List event types and events",
  getInstallationWebhookSignatureFixture: "Get a signature fixture",
  replayInstallationWebhookDelivery: "Replay a webhook delivery",
  getApiKeyIdentity: "Get the key's identity",
  getInstallationCredentialReadiness: "Check an installation's readiness",
  describeOAuthAuthorization: "Describe the authorization server",
};

/**
 * Returns the readable title of an operation. The title is the operation id if no title is defined, for
 * example for an operation from another source of GraphQL Mesh.
 */
export const getOperationTitle = (operationId: string): string => titles[operationId] ?? operationId;
