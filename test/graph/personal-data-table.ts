/**
 * The decision for each text field that an analyst's query can reach: what it may contain. A field that is
 * missing here fails personal-data.test.ts.
 */

export interface Decision {
  /** Fields that may contain personal data: analysts get null or an error. */
  readonly withheld?: string;
  /** Fields with masked personal data for all readers: initials, half of a postal code, a pseudonym. */
  readonly masked?: string;
  /** Fields with data of the caller. A token's owner has no personal data. */
  readonly own?: string;
  /** Texts of the merchant, the platform or the program. */
  readonly impersonal?: string;
}

export const decisions: Readonly<Record<string, Decision>> = {
  AfterSalesPolicy: { impersonal: "summary url" },
  AfterSalesReason: { impersonal: "message data" },
  ApiInfo: { impersonal: "version" },
  ApiKey: { own: "name prefix lastFour scopes" },
  ApiRequest: { impersonal: "operation method errorCode docUrl" },
  App: { impersonal: "name publisher" },
  AttributeDefinition: { impersonal: "code names value unit" },
  AutomaticPromotion: { impersonal: "title" },
  CancellationPolicy: { impersonal: "summary" },
  CancellationReason: { impersonal: "message data" },
  CancellationReasonChoice: { impersonal: "label" },
  CartBuyer: { withheld: "reference", masked: "emailHint" },
  CartLine: { impersonal: "sku title variantTitle" },
  CartPromotion: { impersonal: "code title" },
  CartTaxLine: { impersonal: "taxClass name" },
  CartRevocation: { withheld: "note" },
  CartWarning: { impersonal: "message data" },
  CatalogProductsMeta: { impersonal: "notice" },
  Category: { impersonal: "names" },
  CategoryLabel: { impersonal: "name" },
  DeliveryMethod: { impersonal: "code names carrier taxClass" },
  DeliveryOption: { impersonal: "name names carrier" },
  Event: { impersonal: "type" },
  EventSubject: { impersonal: "type" },
  EventType: { impersonal: "name group description payloadSchema example" },
  Export: { impersonal: "columns url" },
  Fulfillment: { withheld: "trackingNumber trackingUrl", impersonal: "carrier" },
  HostedCheckoutCancellation: { withheld: "note" },
  // The return URLs are shown without query and fragment. The page's URL is shown only to the token that
  // opened the session, which is never an analyst's.
  HostedCheckoutSession: { masked: "successUrl cancelUrl", own: "url", impersonal: "paymentFailureCode" },
  Image: { impersonal: "url alt" },
  Installation: { impersonal: "scopes" },
  InstallationReadiness: { impersonal: "requiredScopes grantedScopes missingScopes" },
  Market: { impersonal: "handle name timeZone" },
  MaskedAddress: { masked: "regionCode city postalCodePrefix recipientInitials" },
  Media: { impersonal: "url alts" },
  Merchant: { impersonal: "name" },
  MerchantBranding: {
    impersonal:
      "displayName color textColor supportEmail supportPhone supportUrl termsUrl privacyUrl imprintUrl",
  },
  MerchantLogo: { impersonal: "url" },
  MerchantSummary: { impersonal: "displayName name" },
  OAuthAuthorization: {
    impersonal:
      "issuer authorizationEndpoint tokenEndpoint revocationEndpoint introspectionEndpoint " +
      "pushedAuthorizationRequestEndpoint jwksUri responseTypesSupported grantTypesSupported " +
      "codeChallengeMethodsSupported dpopSigningAlgValuesSupported tokenEndpointAuthMethodsSupported " +
      "requiredParameters documentationUrl",
  },
  OAuthClient: { impersonal: "redirectUris metadataUrl" },
  OAuthGrant: { impersonal: "scopes" },
  OAuthScope: { impersonal: "name description" },
  OptionChoice: { impersonal: "code labels" },
  OptionDefinition: { impersonal: "code names" },
  Order: { withheld: "buyerReference holdReason buyerEmail", impersonal: "number" },
  OrderBuyer: { masked: "reference emailHint" },
  OrderCancellation: { withheld: "note" },
  OrderCancellationRequest: { withheld: "note" },
  OrderLine: { impersonal: "sku title variantTitle" },
  OrderLinks: { impersonal: "cancellationEligibility afterSalesEligibility" },
  OrderPolicy: { impersonal: "summary" },
  OrderPromotion: { impersonal: "code title" },
  OrderTaxLine: { impersonal: "taxClass name" },
  OrderTimelineEntry: { impersonal: "type" },
  Payment: { impersonal: "methodType failureCode disputeReason" },
  PaymentProviderAccount: {
    impersonal: "accountId accountName keyHint webhookEventTypes webhookUrl",
  },
  Policy: { impersonal: "summaries url rules" },
  Product: { impersonal: "brand taxClass" },
  ProductAttribute: { impersonal: "code name value unit" },
  ProductDescription: { impersonal: "text" },
  ProductDetail: { impersonal: "title summary brand structuredData" },
  ProductMedia: { impersonal: "url alt" },
  ProductOption: { impersonal: "code name" },
  ProductOptionValue: { impersonal: "code label" },
  ProductPolicy: { impersonal: "summary url" },
  ProductSearchItem: { impersonal: "title summary brand" },
  ProductSeo: { impersonal: "title description" },
  ProductSummary: { impersonal: "title summary brand" },
  ProductTranslation: { impersonal: "title summary description seoTitle seoDescription" },
  ProductVariant: { impersonal: "sku gtin title options" },
  Promotion: { withheld: "buyerReferences", impersonal: "titles" },
  PromotionCode: { impersonal: "code" },
  RateLimit: { impersonal: "bucket" },
  ReadinessCheck: { impersonal: "message remedy" },
  Refund: { withheld: "note" },
  ReplacedPromotion: { impersonal: "code" },
  CarrierFigures: { impersonal: "carrier" },
  InventoryReportRow: { impersonal: "sku title" },
  EventFeedPage: { impersonal: "cursor" },
  MerchantEvent: { withheld: "body", impersonal: "type" },
  ProductReportRow: { impersonal: "key title sku" },
  PromotionRedemption: { withheld: "buyerReference", impersonal: "code" },
  PromotionReportRow: { impersonal: "title" },
  RefundReportRow: { impersonal: "reason" },
  UnshippedOrder: { impersonal: "number" },
  ReportPeriod: { impersonal: "timeZone" },
  Return: { withheld: "note declineReason inspectionNote" },
  SearchFacetAttribute: { impersonal: "code value" },
  SearchFacetBucket: { impersonal: "value label" },
  SearchHighlights: { impersonal: "title" },
  SearchQuery: { impersonal: "normalized corrected dropped" },
  SearchSynonymRule: { impersonal: "terms replacements" },
  // Queries of fewer than three clients are not stored.
  SearchReportRow: { masked: "query" },
  SignatureFixture: { impersonal: "algorithm scheme signedContentTemplate secretEncoding signatureEncoding" },
  SignatureHeaders: { impersonal: "id timestamp signature" },
  SignatureRequest: { impersonal: "method headers bodyUtf8 bodyBase64" },
  SignatureVector: {
    impersonal:
      "name purpose secret headers bodyUtf8 bodyBase64 bodySha256Hex signedContentBase64 expectedHmacHex " +
      "expectedSignature",
  },
  StaffAccount: { own: "email name" },
  StockMovement: { withheld: "note" },
  TaxClass: { impersonal: "code name" },
  TaxOfCountry: { impersonal: "taxClass name" },
  TaxRate: { impersonal: "regionCode taxClass name" },
  Variant: { impersonal: "sku gtin options" },
  Viewer: { impersonal: "role" },
  WarrantyClaim: { withheld: "description resolution" },
  WarrantyRegistration: { withheld: "serialNumber" },
  WebhookDelivery: { withheld: "replayNote body" },
  WebhookEndpoint: { impersonal: "url description eventTypes apiVersion metadata" },
  WebhookFieldFilter: { impersonal: "eventType fields" },
  WebhookEndpointFailure: { impersonal: "code" },
  WebhookSecret: { impersonal: "hint" },
};

/**
 * Types without any field for analysts: the fields that return these types answer null to roles other than
 * staff.
 */
export const withheldTypes: Readonly<Record<string, readonly string[]>> = {
  PostalAddress: ["Order.shippingAddress"],
};
