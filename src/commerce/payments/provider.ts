/**
 * Defines the requests that a payment provider accepts, and the results that it returns. After an error or a
 * timeout, the caller does not know whether the provider has acted. It therefore repeats the request with the
 * same idempotency key until the outcome is known. A provider is never called inside a database transaction.
 */
export interface PaymentProviderRequest {
  /** The id that this service has given to the payment. The provider stores the payment under this id. */
  readonly reference: string;
  /**
   * Identifies the request to the payment provider. If the provider gets several requests with the same key,
   * it acts only once and returns its first result again.
   */
  readonly idempotencyKey: string;
  readonly amountMinor: number;
  /** Signal that aborts the request when the caller no longer waits for the provider's answer. */
  readonly signal: AbortSignal;
}

export interface PaymentProviderAuthorizationRequest extends PaymentProviderRequest {
  readonly currency: string;
  /** The payment token that the checkout page submitted, for example `tok_success`. */
  readonly token: string;
}

/** The amounts that the payment provider has recorded for a payment, in minor units of the currency. */
export interface ProviderPaymentAmounts {
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
}

/**
 * The state of a payment that was authorized. The payment may also have been captured, voided or refunded, in
 * full or in part.
 */
export interface AuthorizedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "authorized";
}

/**
 * The state of a payment whose whole authorized amount is voided. All amounts are 0 if the payment provider
 * received the void before an authorization.
 */
export interface VoidedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "voided";
}

export interface DeclinedPaymentResult {
  readonly outcome: "declined";
  /** The reason why the payment provider declined, in lower_snake_case, for example `card_declined`. */
  readonly code: string;
}

/** The payment provider is still processing the payment, so the result is not known yet. */
export interface PendingPaymentResult {
  readonly outcome: "pending";
}

export type PaymentAuthorizationResult =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | PendingPaymentResult;
/** The result that a payment provider returns for a capture, a void or a refund. */
export type CaptureVoidOrRefundResult =
  | { readonly outcome: "succeeded" }
  | DeclinedPaymentResult
  | PendingPaymentResult;
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
   * authorization of this payment.
   */
  readonly void: (request: PaymentProviderRequest) => Promise<CaptureVoidOrRefundResult>;
  readonly refund: (request: PaymentProviderRequest) => Promise<CaptureVoidOrRefundResult>;
  readonly lookup: (
    request: Pick<PaymentProviderRequest, "reference" | "signal">,
  ) => Promise<PaymentLookupResult>;
}
