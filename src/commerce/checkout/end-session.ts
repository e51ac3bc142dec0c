/**
 * Saves the end of a checkout session without an order: releases the reserved stock and deletes the secret in
 * the URL of the checkout page. The caller updates the cart. Used by the commands in release-sessions.ts, and
 * by changes of a cart whose checkout session has expired.
 */
import { releaseStockHolds } from "#commerce/inventory/stock-holds.ts";
import type { StockCommandContext } from "#commerce/inventory/stock-levels.ts";
import type { Transaction } from "#database/transaction.ts";
import type { EventOutbox } from "#webhooks/outbox.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";

export const sessionCancelReasons = [
  "buyer_abandoned",
  "buyer_changed_mind",
  "merchant_request",
  "price_changed",
  "out_of_stock",
  "fraud_suspected",
  "duplicate",
  "test",
  "other",
] as const;
export type CheckoutSessionCancelReason = (typeof sessionCancelReasons)[number];

export type CheckoutSessionCancelActor = "api_key" | "oauth_client" | "buyer" | "staff" | "system";

export interface CheckoutSessionCancellation {
  readonly reason: CheckoutSessionCancelReason;
  readonly note: string | null;
  readonly actor: CheckoutSessionCancelActor;
}

export type EndCheckoutSessionInput =
  | { readonly sessionId: string; readonly status: "expired" }
  | {
      readonly sessionId: string;
      readonly status: "canceled";
      readonly cancellation: CheckoutSessionCancellation;
    };

/**
 * Ends the checkout session and returns its new version. The caller must have locked the cart and checked
 * that the session has not ended.
 */
export async function endCheckoutSession(
  transaction: Transaction,
  owner: StockCommandContext,
  end: EndCheckoutSessionInput,
): Promise<number> {
  const { sessionId, status } = end;
  const { now } = owner;
  const canceled =
    end.status === "canceled"
      ? {
          canceledAt: now,
          cancelReason: end.cancellation.reason,
          cancelNote: end.cancellation.note,
          cancelActor: end.cancellation.actor,
        }
      : {};
  const ended = await transaction
    .updateTable("hostedCheckoutSession")
    .set((session) => ({
      status,
      version: session("version", "+", 1),
      updatedAt: now,
      urlSealed: null,
      urlDataKey: null,
      urlKeyId: null,
      ...canceled,
    }))
    .where("id", "=", sessionId)
    .where("status", "in", ["open", "processing"])
    .returning("version")
    .executeTakeFirst();
  if (ended === undefined)
    throw new Error(`Session ${sessionId} was locked with its cart, but has already ended.`);
  await releaseStockHolds(transaction, owner, { sessionId });
  return ended.version;
}

export interface CheckoutSessionEventPublishContext extends StockCommandContext {
  readonly outbox: EventOutbox;
}

/**
 * Saves that the checkout session of a cart has expired, and publishes an event about it. Does nothing if the
 * stored status of the session is not `open`.
 */
export async function expireCheckoutSessionOfCart(
  transaction: Transaction,
  context: CheckoutSessionEventPublishContext,
  { session, version }: CartAggregate,
): Promise<void> {
  if (session === null || session.status !== "open") return;
  const sessionVersion = await endCheckoutSession(transaction, context, {
    sessionId: session.id,
    status: "expired",
  });
  const previous = {
    version: sessionVersion - 1,
    status: session.status,
    cartVersion: version,
    cartStatus: "locked",
  };
  context.outbox.append({ type: "checkout_session.expired", id: session.id, previous });
}
