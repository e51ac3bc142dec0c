/**
 * Defines the requests that a payment provider accepts, and the results that it returns. After an error or a
 * timeout, the caller does not know whether the provider has acted. It therefore repeats the request with the
 * same idempotency key until the outcome is known. A provider is never called inside a database transaction.
 */
export interface PaymentProviderRequest {
  /**
   * The id of the merchant's connection to the provider, `pcn_…`; null for the built-in test provider, which
   * needs no connection.
   */
  readonly connectionId: string | null;
  /** The id that this service has given to the payment. The provider stores the payment under this id. */
  readonly reference: string;
  /**
   * Identifies the request to the payment provider. If the provider gets several requests with the same key,
   * it acts only once and returns its first result again.
   */
  readonly idempotencyKey: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** Aborts the request when the caller stops waiting for the provider's answer. */
  readonly signal: AbortSignal;
}

export interface PaymentProviderAuthorizationRequest extends PaymentProviderRequest {
  /**
   * The payment token that the checkout page submitted, for example `tok_success`; null if the provider has a
   * payment page of its own.
   */
  readonly token: string | null;
  /** The content of the provider's payment page; null if the provider has no payment page. */
  readonly checkout: PaymentPageContent | null;
}

/** The content of a payment page. All attempts of an authorization use the same content. */
export interface PaymentPageContent {
  readonly sessionId: string;
  /** The URL to which the provider's page leads the buyer after the payment. */
  readonly paidUrl: string;
  /** The URL to which the provider's page leads a buyer who does not pay. */
  readonly canceledUrl: string;
  /** The time at which the payment was started. The payment page is open for a fixed time after it. */
  readonly startedAt: Date;
  /**
   * Name of the whole order in the buyer's language, for a payment page that shows the order as a single
   * line.
   */
  readonly orderName: string;
  /** The lines of the payment page. Their amounts add up to the amount of the payment. */
  readonly lines: readonly { readonly name: string; readonly amountMinor: number }[];
}

/** The amounts that the payment provider has recorded for a payment, in minor units of the currency. */
export interface PaymentAmountsAtProvider {
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
}

/**
 * The state of a payment that was authorized. The payment may also have been captured, voided or refunded, in
 * full or in part.
 */
export interface AuthorizedPaymentResult extends PaymentAmountsAtProvider {
  readonly outcome: "authorized";
}

/**
 * The state of a payment whose whole authorized amount is voided. All amounts are 0 if the payment provider
 * received the void before an authorization.
 */
export interface VoidedPaymentResult extends PaymentAmountsAtProvider {
  readonly outcome: "voided";
}

export interface DeclinedPaymentResult {
  readonly outcome: "declined";
  /** The reason why the payment provider declined, in lower_snake_case, for example `card_declined`. */
  readonly code: string;
  /**
   * The part of the authorization that has ended without a capture, in minor units, for example because the
   * authorization has expired. Left out if the authorization stays as it was.
   */
  readonly releasedMinor?: number;
}

/** The payment provider is still processing the payment, so the result is not known yet. */
export interface PendingPaymentResult {
  readonly outcome: "pending";
}

export type PaymentAuthorizationResult =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | PendingPaymentResult;
/** The result of a request to capture, void or refund an amount. */
export type CaptureVoidOrRefundResult = SucceededPaymentResult | DeclinedPaymentResult | PendingPaymentResult;

export interface SucceededPaymentResult {
  readonly outcome: "succeeded";
  /**
   * The part of the authorization that the provider has released with a capture, in minor units. A provider
   * may capture a payment only once and release the rest. Left out if nothing was released.
   */
  readonly releasedMinor?: number;
}
/**
 * The present state of a payment at the payment provider; `unknown` if the provider has never received the
 * payment.
 */
export type PaymentLookupResult =
  | { readonly outcome: "unknown" }
  | VoidedPaymentResult
  | PaymentAuthorizationResult;

export interface PaymentProvider {
  readonly authorize: (request: PaymentProviderAuthorizationRequest) => Promise<PaymentAuthorizationResult>;
  readonly capture: (request: PaymentProviderRequest) => Promise<CaptureVoidOrRefundResult>;
  /**
   * Voids the requested amount of the authorization, but at most the part that is neither captured nor
   * voided. If the provider does not know the payment, the void succeeds, and the provider declines a later
   * authorization of this payment. If the payment is pending on a payment page, the provider closes the
   * page.
   */
  readonly void: (request: PaymentProviderRequest) => Promise<CaptureVoidOrRefundResult>;
  readonly refund: (request: PaymentProviderRequest) => Promise<CaptureVoidOrRefundResult>;
  readonly lookup: (
    request: Pick<PaymentProviderRequest, "connectionId" | "reference" | "currency" | "signal">,
  ) => Promise<PaymentLookupResult>;
}

/**
 * Combines several payment providers into one. The connection of a request decides which provider gets the
 * request.
 */
export function createPaymentProviderRouter(providers: {
  readonly test: PaymentProvider;
  /** The provider for merchants that have connected an account. */
  readonly connected: PaymentProvider;
}): PaymentProvider {
  const of = ({ connectionId }: Pick<PaymentProviderRequest, "connectionId">): PaymentProvider =>
    connectionId === null ? providers.test : providers.connected;
  return {
    authorize: (request) => of(request).authorize(request),
    capture: (request) => of(request).capture(request),
    void: (request) => of(request).void(request),
    refund: (request) => of(request).refund(request),
    lookup: (request) => of(request).lookup(request),
  };
}
