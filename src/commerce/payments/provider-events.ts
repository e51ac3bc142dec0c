/**
 * Defines the events of payment providers. An event only says which objects of the provider have changed. The
 * present state is always read from the provider, because events can arrive twice, late and in any order.
 */
import type { PaymentDisputeReasonCode } from "#commerce/orders/payment/disputes.ts";
import type { PaymentIdsInProviderEvent } from "./payment-pages.ts";

export interface PaymentProviderEvent {
  /** The id that the payment provider has given to the event. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /**
   * The ids of the payment that the event is about. All of them are undefined if the event is not about a
   * payment.
   */
  readonly payment: PaymentIdsInProviderEvent;
  readonly disputeId?: string | undefined;
  readonly refundId?: string | undefined;
}

/** The present state of a dispute (chargeback) at the payment provider. */
export interface PaymentProviderDispute {
  readonly id: string;
  /** `ignored` if no money is claimed back, for example because the bank only asks a question. */
  readonly status: "open" | "won" | "lost" | "ignored";
  readonly amountMinor: number;
  readonly reason: PaymentDisputeReasonCode;
}

export interface PaymentProviderRefund {
  /** Id of the payment operation that made the refund; null if the merchant made the refund at the provider. */
  readonly operationId: string | null;
  readonly hasFailed: boolean;
}

/**
 * Thrown if the payment provider does not accept the key of a connection, for example because the key was
 * revoked.
 */
export class PaymentProviderKeyRefusedError extends Error {}

/** Path of the HTTP route that receives the payment provider's events for a connection. */
export const providerEventsPath = "/payments/stripe/:connectionId/events";

/** Returns the URL for the events of a connection. The merchant enters this URL at the payment provider. */
export const createPaymentProviderEventsUrl = (publicUrl: string, connectionId: string): string =>
  `${publicUrl}${providerEventsPath.replace(":connectionId", connectionId)}`;

/** The payment connection to which a provider's event was sent. */
export interface PaymentConnectionOfProviderEvent {
  readonly id: string;
  readonly merchantId: string;
}

/** An event whose signature was verified with the signing secret of a connection. */
export interface VerifiedPaymentProviderEvent {
  readonly event: PaymentProviderEvent;
  readonly connection: PaymentConnectionOfProviderEvent;
}

export interface SignedPaymentProviderEvent {
  readonly body: Buffer;
  readonly signature: string;
}

/** Reads the events of a payment provider, and the disputes and refunds that events name. */
export interface PaymentProviderEventReader {
  /**
   * Verifies the signature of an event and parses the event. Returns undefined if the signature is wrong, or
   * if there is no connection with this id and a signing secret.
   */
  readonly verify: (
    connectionId: string,
    event: SignedPaymentProviderEvent,
  ) => Promise<VerifiedPaymentProviderEvent | undefined>;
  /**
   * Lists the events since a time, newest first. Throws PaymentProviderKeyRefusedError if the provider does
   * not accept the key of the connection.
   */
  readonly list: (connectionId: string, since: Date) => AsyncIterable<PaymentProviderEvent>;
  readonly readDispute: (connectionId: string, id: string) => Promise<PaymentProviderDispute>;
  readonly readRefund: (connectionId: string, id: string) => Promise<PaymentProviderRefund>;
}
