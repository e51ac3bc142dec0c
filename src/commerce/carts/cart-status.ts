/**
 * The status of a cart counts from the clock: one whose checkout session has run out is active again, one that nobody changed for 30 days has
 * expired, whether or not anybody has written that yet. What may be done in which status stands here alone.
 */
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";
import type { CartAggregate, CartStatus } from "./cart-aggregate.ts";

const dayMs = 86_400_000;
export const cartLifeMs = 30 * dayMs;
/** Ended carts can still be read for so long. */
export const endedLifeMs = 90 * dayMs;
/** Kept for as long as the cart can be read, counted from each change of it; an order keeps its own. */
export const emailLifeMs = cartLifeMs + endedLifeMs;

type Dated = Pick<CartAggregate, "status" | "session" | "expiresAt" | "endedAt">;

export function statusOf(cart: Dated, now: Date): CartStatus {
  if (cart.status === "locked" && !isSessionOver(cart, now)) return "locked";
  if (cart.status !== "active" && cart.status !== "locked") return cart.status;
  return new Date(cart.expiresAt) <= now ? "expired" : "active";
}

/** Locked by a session that has ended, by the clock alone as well. */
export function isSessionOver({ session }: Pick<Dated, "session">, now: Date): boolean {
  if (session === null) return true;
  return session.status === "open" ? new Date(session.expiresAt) <= now : session.status !== "processing";
}

/** Ended so long ago that it is as if it had never been. */
export function isGone(cart: Dated, now: Date): boolean {
  const status = statusOf(cart, now);
  if (status === "active" || status === "locked") return false;
  const endedAt = new Date(cart.endedAt ?? cart.expiresAt);
  return endedAt.getTime() + endedLifeMs <= now.getTime();
}

const refusals: Readonly<Record<Exclude<CartStatus, "active">, FailureCode>> = {
  locked: "cart_locked",
  completed: "cart_completed",
  revoked: "cart_revoked",
  expired: "cart_expired",
  merged: "cart_merged",
};

export interface Expected {
  readonly expectedVersion?: number | null | undefined;
}

/** State before version: of a cart that has ended the version is of no interest. */
export function requireChangeable(cart: CartAggregate, { expectedVersion }: Expected, now: Date): void {
  const status = statusOf(cart, now);
  if (status !== "active") throw refuse(refusals[status], cart, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== cart.version)
    throw refuse("cart_version_conflict", cart, { now });
}

interface Refused {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** A 409 that says what the cart is like, so that the caller need not ask. */
export function refuse(code: FailureCode, cart: CartAggregate, refused: Refused): Failure {
  return fail(code, { conflict: cartConflict(cart, refused) });
}

export function cartConflict(cart: CartAggregate, { now, reason = null, data = {} }: Refused): FailureConflict {
  return { resource: "cart", id: cart.id, currentStatus: statusOf(cart, now), currentVersion: cart.version, reason, data };
}
