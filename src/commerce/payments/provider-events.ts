/**
 * The events of a payment provider, as the rules of orders use them. An event only says which objects of the
 * provider have changed: the present state is always read from the provider, because events can arrive twice,
 * late and in any order.
 */
import type { PaymentDisputeReasonCode } from "#commerce/orders/payment/disputes.ts";
import type { ProviderPaymentIds } from "./payment-pages.ts";

export interface ProviderEvent {
  /** The provider's id of the event. */
  readonly id: string;
  readonly type: string;
  readonly createdAt: Date;
  /** The ids of the payment that the event is about; all are undefined if it is about something else. */
  readonly payment: ProviderPaymentIds;
  readonly disputeId?: string | undefined;
  readonly refundId?: string | undefined;
}

/** The present state of a dispute (chargeback) at the provider. */
export interface ProviderDispute {
  readonly id: string;
  /** `ignored` if the bank only asks a question, so that no money is claimed back. */
  readonly status: "open" | "won" | "lost" | "ignored";
  readonly amountMinor: number;
  readonly reason: PaymentDisputeReasonCode;
}

export interface ProviderRefund {
  /** The id of the payment operation that has made the refund; null if the refund was made at the provider. */
  readonly operationId: string | null;
  readonly hasFailed: boolean;
}

/** The provider does not accept the key of a connection, for example because the key was revoked. */
export class ProviderKeyRefusedError extends Error {}

/** The path at which the service receives the events of a connection. */
export const providerEventsPath = "/payments/stripe/:connectionId/events";

/** Returns the URL that a merchant enters at the provider as the address of its events. */
export const createProviderEventsUrl = (publicUrl: string, connectionId: string): string =>
  `${publicUrl}${providerEventsPath.replace(":connectionId", connectionId)}`;

/** The connection to which an event was sent. */
export interface ConnectionOfEvent {
  readonly id: string;
  readonly merchantId: string;
}

/** An event whose signature was verified with the signing secret of a connection. */
export interface VerifiedProviderEvent {
  readonly event: ProviderEvent;
  readonly connection: ConnectionOfEvent;
}

export interface SignedProviderEvent {
  readonly body: Buffer;
  readonly signature: string;
}

/** The requests about events that a provider accepts. */
export interface PaymentProviderEventSource {
  /**
   * Verifies and parses an event, and returns it with its connection. Returns undefined if the signature is
   * wrong, or if there is no connection with this id or it has no signing secret.
   */
  readonly verify: (
    connectionId: string,
    event: SignedProviderEvent,
  ) => Promise<VerifiedProviderEvent | undefined>;
  /** Lists the events since a time, newest first. Throws ProviderKeyRefusedError for a key that does not work. */
  readonly list: (connectionId: string, since: Date) => AsyncIterable<ProviderEvent>;
  readonly readDispute: (connectionId: string, id: string) => Promise<ProviderDispute>;
  readonly readRefund: (connectionId: string, id: string) => Promise<ProviderRefund>;
}
