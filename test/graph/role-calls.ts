/** A call of every root field of the graph, with ids that do not exist. */

const id = '"prd_00000000000000000000000000"';
const names = '[{ locale: "en", text: "x" }]';

const cartCall = (field: string, input: string, answer = "id"): string =>
  `${field}(merchantId: ${id}, cartId: ${id}, input: { ${input} }) { ${answer} }`;

const keyedCall = (field: string, on: string, input: string): string =>
  `${field}(merchantId: ${id}, ${on}: ${id}, idempotencyKey: "k", input: { ${input} }) { id }`;

const payCall = (field: string, input: string): string =>
  `${field}(merchantId: ${id}, sessionId: ${id}, idempotencyKey: "roles", input: { ${input} }) { id }`;

const sessionCall = (field: string, input: string): string =>
  `${field}(merchantId: ${id}, sessionId: ${id}, input: { ${input} }) { id }`;

/** Arguments that pass GraphQL's validation and identify nothing. */
export const roleCalls: Readonly<Record<string, string>> = {
  publicProduct: 'publicProduct(merchantSlug: "x", productSlug: "x") { id }',
  productSearch:
    'productSearch(q: "", locale: "en", market: "DE", sort: NEWEST, page: 1, pageSize: 1) { meta { page } }',
  viewer: "viewer { role }",
  oauthAuthorization: "oauthAuthorization { issuer }",
  installation: `installation(id: ${id}) { id }`,
  merchant: `merchant(id: ${id}) { id }`,
  merchants: "merchants { totalCount }",
  apps: "apps { totalCount }",
  installations: "installations { totalCount }",
  apiKey: `apiKey(id: ${id}) { id }`,
  apiKeys: "apiKeys { totalCount }",
  internalTokens: "internalTokens { totalCount }",
  trustedDocuments: `trustedDocuments(merchantId: ${id}) { totalCount }`,
  staffAccounts: "staffAccounts { totalCount }",
  oauthGrants: "oauthGrants { totalCount }",
  oauthClients: "oauthClients { totalCount }",
  auditEntries: 'auditEntries(actor: STAFF, targetId: "x") { totalCount }',
  apiRequest: `apiRequest(id: ${id}) { id }`,
  apiRequests: "apiRequests(statusFrom: 400) { totalCount }",
  markets: `markets { id }`,
  policies: `policies { id }`,
  product: `product(id: ${id}) { id }`,
  variant: `variant(id: ${id}) { id }`,
  products: "products { totalCount }",
  stockMovements: "stockMovements { totalCount }",
  priceHistory: "priceHistory { totalCount }",
  promotionRedemptions: "promotionRedemptions { totalCount }",
  events: "events { totalCount }",
  eventFeed: "eventFeed { cursor }",
  categories: "categories { totalCount }",
  category: `category(merchantId: ${id}, slug: "x") { id }`,
  categoryTree: `categoryTree(merchantId: ${id}) { id }`,
  merchantCreate:
    'merchantCreate(input: { slug: "lindenhof", name: "x", mode: TEST, defaultLocale: "en", ' +
    'defaultMarket: "DE" }) { id }',
  merchantUpdate: `merchantUpdate(input: { merchantId: ${id} }) { id }`,
  merchantBrandingUpdate: `merchantBrandingUpdate(input: { merchantId: ${id} }) { id }`,
  paymentProviderConnect: `paymentProviderConnect(merchantId: ${id}, input: { secretKey: "x" }) { id }`,
  paymentProviderDisconnect: `paymentProviderDisconnect(merchantId: ${id}, input: { connectionId: ${id} }) { id }`,
  merchantSuspend: `merchantSuspend(input: { merchantId: ${id} }) { id }`,
  merchantResume: `merchantResume(input: { merchantId: ${id} }) { id }`,
  appCreate: 'appCreate(input: { name: "x" }) { id }',
  installationCreate: `installationCreate(input: { merchantId: ${id}, appId: ${id}, scopes: [] }) { id }`,
  installationScopesSet: `installationScopesSet(input: { installationId: ${id}, scopes: [] }) { id }`,
  installationSuspend: `installationSuspend(input: { installationId: ${id} }) { id }`,
  installationResume: `installationResume(input: { installationId: ${id} }) { id }`,
  installationUninstall: `installationUninstall(input: { installationId: ${id} }) { id }`,
  apiKeyCreate: `apiKeyCreate(input: { installationId: ${id}, name: "x", scopes: [] }) { value }`,
  apiKeyRotate: `apiKeyRotate(input: { apiKeyId: ${id} }) { value }`,
  apiKeyRevoke: `apiKeyRevoke(input: { apiKeyId: ${id} }) { id }`,
  internalTokenCreate: `internalTokenCreate(input: { name: "x", role: OPERATOR, merchantId: ${id} }) { value }`,
  staffCreate: `staffCreate(input: { merchantId: ${id}, email: "a@b.example", name: "x" }) { password }`,
  staffPasswordSet: `staffPasswordSet(input: { staffId: ${id} }) { password }`,
  staffRoleSet: `staffRoleSet(input: { staffId: ${id}, role: ANALYST }) { id }`,
  staffEnable: `staffEnable(input: { staffId: ${id} }) { id }`,
  staffDisable: `staffDisable(input: { staffId: ${id} }) { id }`,
  oauthGrantRevoke: `oauthGrantRevoke(input: { grantId: ${id} }) { id }`,
  buyerSessionCreate: "buyerSessionCreate(input: {}) { id }",
  oauthClientCreate: `oauthClientCreate(input: { appId: ${id}, redirectUris: ["https://x.example/x"] }) { id }`,
  oauthClientDisable: `oauthClientDisable(input: { clientId: ${id} }) { id }`,
  oauthClientEnable: `oauthClientEnable(input: { clientId: ${id} }) { id }`,
  trustedDocumentsRegister:
    `trustedDocumentsRegister(merchantId: ${id}, input: { documents: [{ document: "query A { viewer { ` +
    `role } }" }] }) { added }`,
  trustedDocumentRemove: `trustedDocumentRemove(merchantId: ${id}, input: { trustedDocumentId: ${id} }) { id }`,
  internalTokenRevoke: `internalTokenRevoke(input: { internalTokenId: ${id} }) { id }`,
  productCreate:
    `productCreate(merchantId: ${id}, input: { translations: [{ locale: "en", slug: "x", ` +
    `title: "x" }] }) { id }`,
  productUpdate: `productUpdate(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productPublish: `productPublish(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productUnpublish: `productUnpublish(merchantId: ${id}, input: { productId: ${id} }) { id }`,
  productDelete: `productDelete(merchantId: ${id}, input: { productId: ${id} }) { archived }`,
  productTranslationUpsert:
    `productTranslationUpsert(merchantId: ${id}, input: { productId: ${id}, translation: { ` +
    `locale: "en", slug: "x", title: "x" } }) { id }`,
  variantUpsert: `variantUpsert(merchantId: ${id}, input: { productId: ${id}, sku: "x", options: [] }) { id }`,
  pricesSet:
    `pricesSet(merchantId: ${id}, input: { prices: [{ variantId: ${id}, marketId: ${id}, ` +
    "amountMinor: 1 }] }) { id }",
  mediaAttach:
    `mediaAttach(merchantId: ${id}, input: { productId: ${id}, type: IMAGE, url: ` +
    `"https://x.example/x", alts: [], width: 1, height: 1 }) { id }`,
  mediaRemove: `mediaRemove(merchantId: ${id}, input: { productId: ${id}, mediaId: ${id} }) { id }`,
  categoryUpsert: `categoryUpsert(merchantId: ${id}, input: { slug: "x", names: ${names} }) { id }`,
  categoryDelete: `categoryDelete(merchantId: ${id}, input: { categoryId: ${id} }) { categoryId }`,
  productsImport:
    `productsImport(merchantId: ${id}, input: { items: [{ translations: [], variants: [] }] }) ` +
    "{ results { index } }",
  marketUpsert:
    `marketUpsert(merchantId: ${id}, input: { handle: "x", name: "x", currency: "EUR", ` +
    `taxIncluded: true, defaultLocale: "en", timeZone: "UTC", countries: ["CH"] }) { id }`,
  taxClassUpsert: `taxClassUpsert(merchantId: ${id}, input: { code: "x", name: "x" }) { code }`,
  taxClasses: `taxClasses(merchantId: ${id}) { code }`,
  taxRateUpsert:
    `taxRateUpsert(merchantId: ${id}, input: { marketId: ${id}, country: "DE", name: "x", ` +
    "basisPoints: 1, appliesToShipping: true }) { id }",
  taxRateUpdate: `taxRateUpdate(merchantId: ${id}, input: { taxRateId: ${id}, basisPoints: 1 }) { id }`,
  taxRateDelete: `taxRateDelete(merchantId: ${id}, input: { taxRateId: ${id} }) { taxRateId }`,
  taxRateOverlaps:
    `taxRateOverlaps(merchantId: ${id}, input: { marketId: ${id}, country: "DE", name: "x", ` +
    "basisPoints: 1, appliesToShipping: true }) { taxRate { id } }",
  deliveryMethodUpsert:
    `deliveryMethodUpsert(merchantId: ${id}, input: { marketId: ${id}, code: "x", names: ` +
    `${names}, pickup: false, priceMinor: 1, minDays: 1, maxDays: 1 }) { id }`,
  policyUpsert: `policyUpsert(merchantId: ${id}, input: { type: RETURN, summaries: ${names} }) { id }`,
  salesReport: 'salesReport(from: "2026-01-01", to: "2026-01-01") { currencies { currency } }',
  funnelReport: 'funnelReport(from: "2026-01-01", to: "2026-01-01") { totals { carts } }',
  inventoryReport: "inventoryReport { totals { variants } }",
  productReport: 'productReport(from: "2026-01-01", to: "2026-01-01") { totals { units } }',
  refundReport: 'refundReport(from: "2026-01-01", to: "2026-01-01") { totals { refunds } }',
  buyerReport: 'buyerReport(from: "2026-01-01", to: "2026-01-01") { totals { buyers } }',
  fulfillmentReport: 'fulfillmentReport(from: "2026-01-01", to: "2026-01-01") { carriers { parcels } }',
  promotionReport: 'promotionReport(from: "2026-01-01", to: "2026-01-01") { totals { orders } }',
  returnReport: 'returnReport(from: "2026-01-01", to: "2026-01-01") { totals { returns } }',
  searchReport: 'searchReport(from: "2026-01-01", to: "2026-01-01") { totals { searches } }',
  export: 'export(id: "x") { status }',
  exports: "exports { totalCount }",
  // The period ends before it begins, so that no call creates an export.
  exportCreate:
    `exportCreate(merchantId: ${id}, input: { kind: ORDERS, from: "2026-01-02T00:00:00Z", ` +
    'to: "2026-01-01T00:00:00Z" }) { id }',
  exportCancel: `exportCancel(merchantId: ${id}, input: { exportId: ${id} }) { id }`,
  webhookHealthReport: 'webhookHealthReport(from: "2026-01-01", to: "2026-01-01") { totals { attempts } }',
  stockAdjust:
    `stockAdjust(merchantId: ${id}, idempotencyKey: "k", input: { variantId: ${id}, delta: 1, ` +
    "reason: RECEIVED }) { id }",
  searchSynonyms: `searchSynonyms(merchantId: ${id}) { locale }`,
  searchSynonymsSet: `searchSynonymsSet(merchantId: ${id}, input: { locale: "en", rules: [] }) { version }`,
  promotion: `promotion(id: ${id}) { id }`,
  promotions: "promotions { totalCount }",
  promotionCreate:
    `promotionCreate(merchantId: ${id}, input: { trigger: CODE, kind: FREE_SHIPPING, titles: ` +
    `${names} }) { id }`,
  promotionUpdate: `promotionUpdate(merchantId: ${id}, input: { promotionId: ${id}, priority: 1 }) { id }`,
  promotionActivate: `promotionActivate(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionPause: `promotionPause(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionEnd: `promotionEnd(merchantId: ${id}, input: { promotionId: ${id} }) { id }`,
  promotionCodesGenerate:
    `promotionCodesGenerate(merchantId: ${id}, input: { promotionId: ${id}, count: 1 }) { ` +
    "codes { id } }",
  cart: `cart(id: ${id}) { id }`,
  carts: "carts { totalCount }",
  deliveryOptions: `deliveryOptions(merchantId: ${id}, addressToken: ${id}) { id }`,
  savedAddresses: `savedAddresses(merchantId: ${id}, buyerReference: "x") { id }`,
  cartCreate: `cartCreate(merchantId: ${id}, input: { market: "DE" }) { id }`,
  cartLinesAdd: cartCall("cartLinesAdd", `lines: [{ variantId: ${id}, quantity: 1 }]`),
  cartLinesUpdate: cartCall("cartLinesUpdate", `lines: [{ lineId: ${id}, quantity: 1 }]`),
  cartLinesRemove: cartCall("cartLinesRemove", `lineIds: [${id}]`),
  cartBuyerSet: cartCall("cartBuyerSet", 'buyerReference: "x"'),
  cartMarketChange: cartCall("cartMarketChange", 'market: "AT"'),
  cartDeliveryOptionSelect: cartCall("cartDeliveryOptionSelect", `optionId: ${id}`),
  cartAddressSet: cartCall(
    "cartAddressSet",
    'address: { recipientName: "x", line1: "x", city: "x", postalCode: "10115", countryCode: "DE" }',
    "cartId",
  ),
  cartSavedAddressSet: cartCall("cartSavedAddressSet", `savedAddressId: ${id}`, "cartId"),
  savedAddressRemove: `savedAddressRemove(merchantId: ${id}, input: { savedAddressId: ${id}, buyerReference: "x" })`,
  cartPromotionApply: cartCall("cartPromotionApply", 'code: "x"', "cartId"),
  cartPromotionRemove: cartCall("cartPromotionRemove", "expectedVersion: 1", "cartId"),
  cartMerge: cartCall("cartMerge", 'sourceCartId: "cart_x"'),
  cartRevoke: cartCall("cartRevoke", "expectedVersion: 1"),
  hostedCheckoutSession: `hostedCheckoutSession(id: ${id}) { id }`,
  hostedCheckoutSessions: "hostedCheckoutSessions { totalCount }",
  hostedCheckoutSessionCreate:
    `hostedCheckoutSessionCreate(merchantId: ${id}, input: { cartId: ${id}, successUrl: ` +
    `"https://x.example", cancelUrl: "https://x.example" }) { id }`,
  hostedCheckoutSessionAddressSet: sessionCall(
    "hostedCheckoutSessionAddressSet",
    'address: { recipientName: "x", line1: "x", city: "x", postalCode: "10115", countryCode: "DE" }',
  ),
  hostedCheckoutSessionDeliveryOptionSelect: sessionCall(
    "hostedCheckoutSessionDeliveryOptionSelect",
    `optionId: ${id}`,
  ),
  hostedCheckoutSessionPromotionApply: sessionCall("hostedCheckoutSessionPromotionApply", 'code: "x"'),
  hostedCheckoutSessionContactSet: sessionCall(
    "hostedCheckoutSessionContactSet",
    `email: "erika@example.com"`,
  ),
  hostedCheckoutSessionPromotionRemove: sessionCall(
    "hostedCheckoutSessionPromotionRemove",
    "expectedVersion: 1",
  ),
  hostedCheckoutSessionCancel: sessionCall("hostedCheckoutSessionCancel", "reason: TEST"),
  hostedCheckoutSessionSubmit: payCall(
    "hostedCheckoutSessionSubmit",
    'expectedAmount: { amountMinor: 1, currency: "EUR" }, paymentToken: "x"',
  ),
  hostedCheckoutSessionComplete: payCall("hostedCheckoutSessionComplete", "expectedVersion: 1"),
  hostedCheckoutSessionFail: payCall("hostedCheckoutSessionFail", "reason: OTHER"),
  order: `order(id: ${id}) { id }`,
  orders: "orders { totalCount }",
  payments: "payments { totalCount }",
  refunds: "refunds { totalCount }",
  returns: "returns { totalCount }",
  fulfillments: "fulfillments { totalCount }",
  warranties: "warranties { totalCount }",
  fulfillment: `fulfillment(id: ${id}) { id }`,
  payment: `payment(id: ${id}) { id }`,
  refund: `refund(id: ${id}) { id }`,
  return: `return(id: ${id}) { id }`,
  warranty: `warranty(id: ${id}) { id }`,
  orderConfirm: keyedCall("orderConfirm", "orderId", ""),
  orderHold: keyedCall("orderHold", "orderId", 'reason: "x"'),
  orderRelease: keyedCall("orderRelease", "orderId", ""),
  fulfillmentCreate: keyedCall("fulfillmentCreate", "orderId", ""),
  fulfillmentPack: keyedCall("fulfillmentPack", "fulfillmentId", ""),
  fulfillmentShip: keyedCall("fulfillmentShip", "fulfillmentId", ""),
  fulfillmentTrack: keyedCall("fulfillmentTrack", "fulfillmentId", "status: IN_TRANSIT"),
  fulfillmentDeliver: keyedCall("fulfillmentDeliver", "fulfillmentId", ""),
  fulfillmentFail: keyedCall("fulfillmentFail", "fulfillmentId", ""),
  fulfillmentCancel: keyedCall("fulfillmentCancel", "fulfillmentId", ""),
  orderCancel: keyedCall("orderCancel", "orderId", "reason: OTHER"),
  orderCancellationApprove: keyedCall("orderCancellationApprove", "orderId", ""),
  orderCancellationDecline: keyedCall("orderCancellationDecline", "orderId", ""),
  paymentCapture: keyedCall("paymentCapture", "paymentId", ""),
  paymentVoid: keyedCall("paymentVoid", "paymentId", ""),
  paymentDisputeOpen: keyedCall("paymentDisputeOpen", "paymentId", "reason: OTHER"),
  paymentDisputeClose: keyedCall("paymentDisputeClose", "paymentId", "outcome: WON"),
  refundCreate: keyedCall("refundCreate", "orderId", "shipping: true, reason: OTHER"),
  returnRequest: keyedCall(
    "returnRequest",
    "orderId",
    `kind: RETURN_REFUND, reason: UNWANTED, lines: [{ lineId: ${id}, quantity: 1 }]`,
  ),
  returnApprove: keyedCall("returnApprove", "returnId", ""),
  returnDecline: keyedCall("returnDecline", "returnId", 'reason: "x"'),
  returnTrack: keyedCall("returnTrack", "returnId", ""),
  returnReceive: keyedCall("returnReceive", "returnId", "lines: []"),
  returnInspect: keyedCall("returnInspect", "returnId", "lines: []"),
  returnClose: keyedCall("returnClose", "returnId", ""),
  returnCancel: keyedCall("returnCancel", "returnId", ""),
  warrantyRegister: keyedCall("warrantyRegister", "orderId", `lineId: ${id}`),
  warrantyClaimOpen: keyedCall("warrantyClaimOpen", "warrantyId", 'kind: REPAIR, description: "x"'),
  warrantyClaimResolve: keyedCall("warrantyClaimResolve", "claimId", 'outcome: ACCEPTED, resolution: "x"'),
  webhookEndpoint: `webhookEndpoint(id: ${id}) { id }`,
  webhookEndpointCreate:
    `webhookEndpointCreate(merchantId: ${id}, installationId: ${id}, idempotencyKey: "k", ` +
    `input: { url: "https://x.example.com", eventTypes: ["*"] }) { endpoint { id } }`,
  webhookEndpointUpdate: keyedCall("webhookEndpointUpdate", "endpointId", 'description: "x"'),
  webhookEndpointEnable: keyedCall("webhookEndpointEnable", "endpointId", ""),
  webhookEndpointDisable: keyedCall("webhookEndpointDisable", "endpointId", ""),
  webhookEndpointDelete: keyedCall("webhookEndpointDelete", "endpointId", "").replace(
    "{ id }",
    "{ endpointId }",
  ),
  webhookEndpointTest: keyedCall("webhookEndpointTest", "endpointId", ""),
  webhookSecretRotate: keyedCall("webhookSecretRotate", "endpointId", "").replace(
    "{ id }",
    "{ secret { version } }",
  ),
  webhookDelivery: `webhookDelivery(id: ${id}) { id }`,
  webhookDeliveries: `webhookDeliveries(endpointId: ${id}) { totalCount }`,
  webhookReplayPreview:
    `webhookReplayPreview(endpointId: ${id}, since: "2026-01-01T00:00:00Z", until: ` +
    '"2026-01-02T00:00:00Z", status: SKIPPED) { replayable }',
  webhookDeliveryRetry:
    `webhookDeliveryRetry(merchantId: ${id}, deliveryId: ${id}, idempotencyKey: "k", input: { ` +
    "expectedAttemptCount: 1 }) { id }",
  webhookDeliveryReplay:
    `webhookDeliveryReplay(merchantId: ${id}, deliveryId: ${id}, idempotencyKey: "k", input: { ` +
    "reason: TESTING }) { delivery { id } }",
  webhookDeliveriesReplay:
    `webhookDeliveriesReplay(merchantId: ${id}, idempotencyKey: "k", input: { endpointId: ` +
    `${id}, since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z", status: SKIPPED, ` +
    "reason: TESTING }) { replayed }",
};
