/** The titles of operations in words, as the contents and headings show them. */

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

/** Returns the operation's title; its id if it has none, for example an operation of another Mesh source. */
export const getOperationTitle = (operationId: string): string => titles[operationId] ?? operationId;
