/**
 * The objects of a fake Stripe account and the changes that they go through. The objects have the fields that
 * the service reads, in the types of the package `stripe`.
 */
import { randomBytes } from "node:crypto";
import { Stripe } from "stripe";

export type FakeSession = Pick<
  Stripe.Checkout.Session,
  | "id"
  | "object"
  | "status"
  | "url"
  | "amount_total"
  | "currency"
  | "client_reference_id"
  | "metadata"
  | "success_url"
  | "cancel_url"
  | "expires_at"
> & { payment_intent: string | null };

export type FakeCharge = Pick<Stripe.Charge, "id" | "object" | "amount_refunded" | "metadata"> & {
  payment_intent: string;
};

export type FakeIntent = Pick<
  Stripe.PaymentIntent,
  | "id"
  | "object"
  | "amount"
  | "amount_received"
  | "amount_capturable"
  | "currency"
  | "capture_method"
  | "metadata"
  | "status"
> & {
  latest_charge: string | null;
  last_payment_error: Pick<Stripe.PaymentIntent.LastPaymentError, "code" | "decline_code" | "type"> | null;
};

export type FakeRefund = Pick<
  Stripe.Refund,
  "id" | "object" | "amount" | "currency" | "status" | "metadata" | "created"
> & { payment_intent: string; failure_reason?: string };

export type FakeDispute = Pick<
  Stripe.Dispute,
  "id" | "object" | "amount" | "currency" | "reason" | "status"
> & { payment_intent: string };

type FakeObject = FakeSession | FakeIntent | FakeCharge | FakeRefund | FakeDispute;

/** An event as Stripe sends it: the object in it is as it was at the time of the event. */
export type FakeEvent = Pick<
  Stripe.Event,
  "id" | "object" | "type" | "created" | "livemode" | "api_version" | "pending_webhooks" | "request"
> & {
  readonly data: { readonly object: FakeObject };
};

const randomId = (prefix: string): string => `${prefix}_${randomBytes(12).toString("hex")}`;

export interface FakeAccount {
  readonly id: string;
  readonly name: string;
  readonly isLive: boolean;
}

/** Stripe's name for a card with which a buyer pays. */
export type FakeCard = "success" | "decline" | "challenge";

export class FakeStripeState {
  readonly sessions = new Map<string, FakeSession>();
  /** The metadata that the PaymentIntent of each session gets. */
  readonly intentMetadata = new Map<string, Record<string, string>>();
  readonly intents = new Map<string, FakeIntent>();
  readonly charges = new Map<string, FakeCharge>();
  readonly refunds = new Map<string, FakeRefund>();
  readonly disputes = new Map<string, FakeDispute>();
  readonly events: FakeEvent[] = [];
  /** The status of new refunds. */
  newRefundStatus: "succeeded" | "pending" = "succeeded";
  /** The start of the URLs of payment pages; the id of the session follows. */
  pageBase = "";
  readonly now: () => Date;
  readonly isLive: boolean;

  constructor(now: () => Date, isLive: boolean) {
    this.now = now;
    this.isLive = isLive;
  }

  private seconds(): number {
    return Math.floor(this.now().getTime() / 1000);
  }

  private publish(type: Stripe.Event.Type, object: FakeObject): void {
    this.events.push({
      id: randomId("evt"),
      object: "event",
      type,
      created: this.seconds(),
      livemode: this.isLive,
      api_version: Stripe.API_VERSION,
      pending_webhooks: 1,
      request: null,
      data: { object: structuredClone(object) },
    });
  }

  openSession(
    given: Pick<
      FakeSession,
      | "amount_total"
      | "currency"
      | "client_reference_id"
      | "metadata"
      | "success_url"
      | "cancel_url"
      | "expires_at"
    >,
    intentMetadata: Record<string, string>,
  ): FakeSession {
    const id = randomId(this.isLive ? "cs_live" : "cs_test");
    const session: FakeSession = {
      ...given,
      id,
      object: "checkout.session",
      status: "open",
      url: `${this.pageBase}${id}`,
      payment_intent: null,
    };
    this.sessions.set(id, session);
    this.intentMetadata.set(id, intentMetadata);
    return session;
  }

  /** The buyer enters a card on the page. Returns the URL to which the page leads; undefined if it stays open. */
  pay(session: FakeSession, card: FakeCard): string | undefined {
    if (session.status !== "open") throw new Error(`The page ${session.id} is ${session.status}.`);
    const intent = this.intentOf(session);
    intent.last_payment_error = null;
    if (card === "challenge") {
      intent.status = "requires_action";
      this.publish("payment_intent.requires_action", intent);
      return undefined;
    }
    if (card === "decline") return this.decline(intent);
    return this.authorize(session, intent);
  }

  /** The buyer answers the bank's question (3-D Secure). */
  answerChallenge(session: FakeSession, isConfirmed: boolean): string | undefined {
    const intent = this.intentOf(session);
    if (intent.status !== "requires_action") throw new Error(`${intent.id} has no challenge.`);
    return isConfirmed ? this.authorize(session, intent) : this.decline(intent);
  }

  private intentOf(session: FakeSession): FakeIntent {
    const known = session.payment_intent === null ? undefined : this.intents.get(session.payment_intent);
    if (known !== undefined) return known;
    const intent: FakeIntent = {
      id: randomId("pi"),
      object: "payment_intent",
      amount: session.amount_total ?? 0,
      amount_received: 0,
      amount_capturable: 0,
      currency: session.currency ?? "",
      capture_method: "manual",
      metadata: this.intentMetadata.get(session.id) ?? {},
      status: "requires_payment_method",
      latest_charge: null,
      last_payment_error: null,
    };
    this.intents.set(intent.id, intent);
    session.payment_intent = intent.id;
    return intent;
  }

  private decline(intent: FakeIntent): undefined {
    intent.status = "requires_payment_method";
    intent.last_payment_error = {
      type: "card_error",
      code: "card_declined",
      decline_code: "generic_decline",
    };
    this.publish("payment_intent.payment_failed", intent);
  }

  private authorize(session: FakeSession, intent: FakeIntent): string {
    const charge: FakeCharge = {
      id: randomId("ch"),
      object: "charge",
      amount_refunded: 0,
      metadata: intent.metadata,
      payment_intent: intent.id,
    };
    this.charges.set(charge.id, charge);
    Object.assign(intent, {
      status: "requires_capture",
      amount_capturable: intent.amount,
      latest_charge: charge.id,
    });
    Object.assign(session, { status: "complete", url: null });
    this.publish("payment_intent.amount_capturable_updated", intent);
    this.publish("checkout.session.completed", session);
    return session.success_url ?? "";
  }

  expireSession(session: FakeSession): void {
    session.status = "expired";
    session.url = null;
    const intent = session.payment_intent === null ? undefined : this.intents.get(session.payment_intent);
    if (intent !== undefined) intent.status = "canceled";
    this.publish("checkout.session.expired", session);
  }

  /** Captures a part of a payment, releases the rest, and adds metadata to the PaymentIntent. */
  capture(intent: FakeIntent, amount: number, metadata: Record<string, string> = {}): void {
    Object.assign(intent, {
      status: "succeeded",
      amount_received: amount,
      amount_capturable: 0,
      metadata: { ...intent.metadata, ...metadata },
    });
    this.publish("payment_intent.succeeded", intent);
  }

  cancel(intent: FakeIntent): void {
    Object.assign(intent, { status: "canceled", amount_capturable: 0 });
    this.publish("payment_intent.canceled", intent);
  }

  private chargeOf(intent: FakeIntent): FakeCharge {
    const charge = this.charges.get(intent.latest_charge ?? "");
    if (charge === undefined) throw new Error(`${intent.id} has no charge.`);
    return charge;
  }

  refundableOf(intent: FakeIntent): number {
    return intent.amount_received - this.refundedOf(intent);
  }

  /** Returns the sum of the refunds that have not failed. */
  refundedOf(intent: FakeIntent): number {
    return [...this.refunds.values()]
      .filter(({ payment_intent: id, status }) => id === intent.id && status !== "failed")
      .reduce((sum, { amount }) => sum + amount, 0);
  }

  refund(intent: FakeIntent, amount: number, metadata: Record<string, string> = {}): FakeRefund {
    const charge = this.chargeOf(intent);
    const refund: FakeRefund = {
      id: randomId("re"),
      object: "refund",
      amount,
      currency: intent.currency,
      status: this.newRefundStatus,
      metadata,
      created: this.seconds(),
      payment_intent: intent.id,
    };
    this.refunds.set(refund.id, refund);
    charge.amount_refunded += amount;
    this.publish("charge.refunded", charge);
    return refund;
  }

  /**
   * Ends a pending refund. `amount_refunded` of the charge keeps a refund that has failed, because Stripe
   * does not document when it subtracts the amount, so the service must not depend on it.
   */
  endRefund(refund: FakeRefund, status: "succeeded" | "failed"): void {
    refund.status = status;
    if (status === "failed") {
      refund.failure_reason = "expired_or_canceled_card";
      this.publish("refund.failed", refund);
    }
    this.publish("refund.updated", refund);
  }

  dispute(intent: FakeIntent, amount = intent.amount_received): FakeDispute {
    const dispute: FakeDispute = {
      id: randomId("dp"),
      object: "dispute",
      amount,
      currency: intent.currency,
      reason: "product_not_received",
      status: "needs_response",
      payment_intent: intent.id,
    };
    this.disputes.set(dispute.id, dispute);
    this.publish("charge.dispute.created", dispute);
    return dispute;
  }

  endDispute(dispute: FakeDispute, status: "won" | "lost"): void {
    dispute.status = status;
    this.publish("charge.dispute.closed", dispute);
  }
}
