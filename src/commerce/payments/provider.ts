/**
 * What a payment provider can be asked, and all that it may answer. An error or no answer at all says nothing
 * about what happened: the same is asked again, with the same key, until the outcome is known. Never called
 * inside a transaction.
 */
export interface ProviderRequest {
  /** The payment, by our id of it. */
  readonly reference: string;
  /** The provider does the same thing once, however often it is asked under this key. */
  readonly idempotencyKey: string;
  readonly amountMinor: number;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface ProviderAuthorizationRequest extends ProviderRequest {
  readonly currency: string;
  /** What the buyer's page gave to be paid with. */
  readonly token: string;
}

/** What the provider has of a payment. */
export interface ProviderPaymentAmounts {
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
}

/** It went through. */
export interface AuthorizedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "authorized";
}

/** All of it was let go; where nothing of it had been heard before, that is nothing. */
export interface VoidedPaymentResult extends ProviderPaymentAmounts {
  readonly outcome: "voided";
}

export interface DeclinedPaymentResult {
  readonly outcome: "declined";
  /** Why, lower_snake_case. */
  readonly code: string;
}

/** It is under way, and nobody can tell yet how it ends. */
export interface PendingPaymentResult {
  readonly outcome: "pending";
}

export type PaymentAuthorizationResult =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | PendingPaymentResult;
export type PaymentMovementResult =
  | { readonly outcome: "succeeded" }
  | DeclinedPaymentResult
  | PendingPaymentResult;
export type PaymentLookupResult =
  | { readonly outcome: "unknown" }
  | VoidedPaymentResult
  | PaymentAuthorizationResult;

export interface PaymentProvider {
  readonly authorize: (asked: ProviderAuthorizationRequest) => Promise<PaymentAuthorizationResult>;
  readonly capture: (asked: ProviderRequest) => Promise<PaymentMovementResult>;
  /**
   * Lets go what was authorised and not captured. Of a payment nobody knows: an authorisation that comes
   * after it is declined.
   */
  readonly void: (asked: ProviderRequest) => Promise<PaymentMovementResult>;
  readonly refund: (asked: ProviderRequest) => Promise<PaymentMovementResult>;
  readonly lookup: (asked: Pick<ProviderRequest, "reference" | "signal">) => Promise<PaymentLookupResult>;
}
