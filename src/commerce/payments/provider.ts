/**
 * The requests that a payment provider accepts, and the results that it returns. An error or a timeout does
 * not say whether the provider acted, so the caller repeats the request with the same idempotency key until
 * the outcome is known. A provider is never called inside a database transaction.
 */
export interface ProviderRequest {
  /** This service's id of the payment. The provider stores the payment under this id. */
  readonly reference: string;
  /** The provider carries out requests with the same key only once, and returns the first result again. */
  readonly idempotencyKey: string;
  readonly amountMinor: number;
  /** Signal that aborts the request when the caller stops waiting for the provider's answer. */
  readonly signal: AbortSignal;
}

export interface ProviderAuthorizationRequest extends ProviderRequest {
  readonly currency: string;
  /** The payment method token that the checkout page submitted, for example `tok_success`. */
  readonly token: string;
}

/** The amounts that the provider has recorded for a payment, in the currency's minor unit. */
export interface ProviderPaymentAmounts {
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
}

/** The payment is authorized. It may also be captured or voided in part or in full, or refunded. */
export interface AuthorizedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "authorized";
}

/**
 * The result of a payment whose full authorized amount is voided. All amounts are 0 if the provider received
 * the void before any authorization.
 */
export interface VoidedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "voided";
}

export interface DeclinedPaymentResult {
  readonly outcome: "declined";
  /** The provider's reason in lower_snake_case, for example `card_declined`. */
  readonly code: string;
}

/** The provider is still processing the payment, so its result is not known yet. */
export interface PendingPaymentResult {
  readonly outcome: "pending";
}

export type PaymentAuthorizationResult =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | PendingPaymentResult;
/** Result of a capture, a void or a refund. */
export type PaymentMovementResult =
  | { readonly outcome: "succeeded" }
  | DeclinedPaymentResult
  | PendingPaymentResult;
/** The provider's current state of a payment; `unknown` if the provider never received the payment. */
export type PaymentLookupResult =
  | { readonly outcome: "unknown" }
  | VoidedPaymentResult
  | PaymentAuthorizationResult;

export interface PaymentProvider {
  readonly authorize: (request: ProviderAuthorizationRequest) => Promise<PaymentAuthorizationResult>;
  readonly capture: (request: ProviderRequest) => Promise<PaymentMovementResult>;
  /**
   * Voids the requested amount of the authorization, at most the part that is neither captured nor voided. If
   * the provider does not know the payment, the void succeeds, and the provider declines a later
   * authorization of the payment.
   */
  readonly void: (request: ProviderRequest) => Promise<PaymentMovementResult>;
  readonly refund: (request: ProviderRequest) => Promise<PaymentMovementResult>;
  readonly lookup: (request: Pick<ProviderRequest, "reference" | "signal">) => Promise<PaymentLookupResult>;
}
