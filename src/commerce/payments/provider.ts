/**
 * What a payment provider can be asked, and all that it may answer. An error or no answer at all says nothing
 * about what happened: the same is asked again, with the same key, until the outcome is known. Never called
 * inside a transaction.
 */
export interface Asked {
  /** The payment, by our id of it. */
  readonly reference: string;
  /** The provider does the same thing once, however often it is asked under this key. */
  readonly idempotencyKey: string;
  readonly amountMinor: number;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface AuthorizationAsked extends Asked {
  readonly currency: string;
  /** What the buyer's page gave to be paid with. */
  readonly token: string;
}

/** What the provider has of a payment. */
export interface Amounts {
  readonly amountMinor: number;
  readonly capturedMinor: number;
  readonly voidedMinor: number;
  readonly refundedMinor: number;
}

/** It went through. */
export interface Held extends Amounts {
  readonly outcome: "authorized";
}

/** All of it was let go; where nothing of it had been heard before, that is nothing. */
export interface LetGo extends Amounts {
  readonly outcome: "voided";
}

export interface Declined {
  readonly outcome: "declined";
  /** Why, lower_snake_case. */
  readonly code: string;
}

/** It is under way, and nobody can tell yet how it ends. */
export interface Undecided {
  readonly outcome: "pending";
}

export type Authorization = Held | Declined | Undecided;
export type Movement = { readonly outcome: "succeeded" } | Declined | Undecided;
export type Found = { readonly outcome: "unknown" } | LetGo | Authorization;

export interface PaymentProvider {
  readonly authorize: (asked: AuthorizationAsked) => Promise<Authorization>;
  readonly capture: (asked: Asked) => Promise<Movement>;
  /**
   * Lets go what was authorised and not captured. Of a payment nobody knows: an authorisation that comes
   * after it is declined.
   */
  readonly void: (asked: Asked) => Promise<Movement>;
  readonly refund: (asked: Asked) => Promise<Movement>;
  readonly lookup: (asked: Pick<Asked, "reference" | "signal">) => Promise<Found>;
}
