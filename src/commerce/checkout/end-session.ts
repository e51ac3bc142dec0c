/** Ends a session without an order: what it held is free, and its cart is the buyer's again. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import { endSession, type SessionCancellation } from "#commerce/carts/session-end.ts";
import { unlockCart } from "#commerce/carts/cart-transitions.ts";
import type { Transaction } from "#database/transaction.ts";
import { type LockedSession, readSession, tellSession } from "./change-session.ts";

export type SessionRelease = LockedSession &
  ({ readonly status: "expired" } | { readonly status: "canceled"; readonly cancellation: SessionCancellation });

type Releaser = Pick<CartCommandContext, "merchantId" | "outbox" | "now" | "publicUrl">;

/** Both are locked, and the session open or processing; uses of promotions that it took are given back by who knows of them. */
export async function releaseSession(transaction: Transaction, tenant: Releaser, release: SessionRelease): Promise<LockedSession> {
  const { cart, session, status } = release;
  const sessionId = session.id;
  await endSession(transaction, tenant, status === "canceled" ? { sessionId, status, cancellation: release.cancellation } : { sessionId, status });
  const after = await readSession(transaction, sessionId);
  const unlocked: CartAggregate = await unlockCart(transaction, tenant, { cart, isAsked: status === "canceled" });
  tellSession(tenant, `checkout_session.${status}`, { before: session, after, carts: { before: cart, after: unlocked } });
  return { cart: unlocked, session: after };
}
