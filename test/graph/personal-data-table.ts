/**
 * What each text that an analyst's query can reach may hold: decided by hand, field by field; a field that is
 * missing here fails the test beside.
 */

export interface Decision {
  /** May be anybody's: analysts get null, or are refused. */
  readonly withheld?: string;
  /** Of a person, and shown to all as little as it is: initials, half of a postal code, a pseudonym. */
  readonly masked?: string;
  /** Of who asks: a token has none. */
  readonly own?: string;
  /** The merchant's, the platform's or the program's own texts. */
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
  CartRevocation: { withheld: "note" },
  CartWarning: { impersonal: "message data" },
  CatalogProductsMeta: { impersonal: "notice" },
  Category: { impersonal: "names" },
  CategoryLabel: { impersonal: "name" },
  DeliveryMethod: { impersonal: "code names carrier" },
  DeliveryOption: { impersonal: "name carrier" },
  Event: { impersonal: "type" },
  EventSubject: { impersonal: "type" },
  EventType: { impersonal: "name group description payloadSchema example" },
  Fulfillment: { withheld: "trackingNumber trackingUrl", impersonal: "carrier" },
  HostedCheckoutCancellation: { withheld: "note" },
  // Without query and fragment; and the page's own address only for the token that opened the session, which
  // is never an analyst's.
  HostedCheckoutSession: { masked: "successUrl cancelUrl", own: "url", impersonal: "paymentFailureCode" },
  Image: { impersonal: "url alt" },
  Installation: { impersonal: "scopes" },
  InstallationReadiness: { impersonal: "requiredScopes grantedScopes missingScopes" },
  Market: { impersonal: "handle name timeZone" },
  MaskedAddress: { masked: "regionCode city postalCodePrefix recipientInitials" },
  Media: { impersonal: "url alts" },
  Merchant: { impersonal: "name" },
  MerchantSummary: { impersonal: "name" },
  OAuthAuthorization: {
    impersonal:
      "issuer authorizationEndpoint tokenEndpoint revocationEndpoint introspectionEndpoint pushedAuthorizationRequestEndpoint jwksUri responseTypesSupported grantTypesSupported codeChallengeMethodsSupported dpopSigningAlgValuesSupported tokenEndpointAuthMethodsSupported requiredParameters documentationUrl",
  },
  OAuthClient: { impersonal: "redirectUris" },
  OAuthGrant: { impersonal: "scopes" },
  OAuthScope: { impersonal: "name description" },
  OptionChoice: { impersonal: "code labels" },
  OptionDefinition: { impersonal: "code names" },
  Order: { withheld: "buyerReference holdReason buyerEmail", impersonal: "number" },
  OrderBuyer: { masked: "reference emailHint" },
  OrderCancellation: { withheld: "note", impersonal: "reason" },
  OrderCancellationRequest: { withheld: "note", impersonal: "reason" },
  OrderLine: { impersonal: "sku title variantTitle" },
  OrderLinks: { impersonal: "cancellationEligibility afterSalesEligibility" },
  OrderPolicy: { impersonal: "summary" },
  OrderPromotion: { impersonal: "code title" },
  OrderTimelineEntry: { impersonal: "type" },
  Payment: { impersonal: "methodType failureCode disputeReason" },
  Policy: { impersonal: "summaries url rules" },
  Product: { impersonal: "brand" },
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
  Refund: { withheld: "note", impersonal: "reason" },
  ReplacedPromotion: { impersonal: "code" },
  ReportPeriod: { impersonal: "timeZone" },
  Return: { withheld: "note declineReason inspectionNote", impersonal: "reason" },
  SearchFacetBucket: { impersonal: "value label" },
  SearchHighlights: { impersonal: "title" },
  SearchQuery: { impersonal: "normalized corrected" },
  // What fewer than three have asked for is not kept.
  SearchReportRow: { masked: "query" },
  SignatureFixture: { impersonal: "algorithm scheme signedContentTemplate secretEncoding signatureEncoding" },
  SignatureHeaders: { impersonal: "id timestamp signature" },
  SignatureRequest: { impersonal: "method headers bodyUtf8 bodyBase64" },
  SignatureVector: {
    impersonal:
      "name purpose secret headers bodyUtf8 bodyBase64 bodySha256Hex signedContentBase64 expectedHmacHex expectedSignature",
  },
  StaffAccount: { own: "email name" },
  TaxRate: { impersonal: "regionCode name" },
  Variant: { impersonal: "sku gtin options" },
  Viewer: { impersonal: "role" },
  WarrantyClaim: { withheld: "description resolution" },
  WarrantyRegistration: { withheld: "serialNumber" },
  WebhookDelivery: { withheld: "replayNote" },
  WebhookEndpoint: { impersonal: "url description eventTypes apiVersion metadata" },
  WebhookEndpointFailure: { impersonal: "code" },
  WebhookSecret: { impersonal: "hint" },
};

/** Nothing of these may be told: what leads to them answers null for who is not staff. */
export const withheldTypes: Readonly<Record<string, readonly string[]>> = {
  PostalAddress: ["Order.shippingAddress"],
};
