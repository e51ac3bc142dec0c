/**
 * Ends checkout sessions without an order and unlocks their carts: sessions that the buyer or the merchant
 * cancels, and sessions that have expired. A session whose payment is being processed does not expire; the
 * result of the payment ends it.
 */
import { sql } from "kysely";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import type { Database } from "#database/connect.ts";
import { processDueRows } from "#database/due-rows.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import { findCarts } from "#commerce/carts/find-carts.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import {
  type CheckoutSessionCancelReason,
  endCheckoutSession,
  type CheckoutSessionCancellation,
} from "./end-session.ts";
import { unlockCartAfterCheckout } from "#commerce/carts/cart-transitions.ts";
import { requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import {
  lockCartAndCheckoutSession,
  loadCheckoutSession,
  type CheckoutSessionCommandContext,
  publishCheckoutSessionEvent,
} from "./change-session.ts";
import { requireOpenCheckoutSession, type LockedCartAndCheckoutSession } from "./session-aggregate.ts";

interface SessionExpiryServices {
  readonly db: Database;
  readonly now: Date;
  readonly publicUrl: string;
  readonly render: EventSubjectRenderer;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Ends all checkout sessions whose expiry time has passed, and returns their number. Skips rows that another
 * process has locked.
 */
export function expireCheckoutSessions({
  db,
  now,
  publicUrl,
  render,
  signal,
}: SessionExpiryServices): Promise<number> {
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  return processDueRows({
    find: (after: DueSession | undefined, rowsMax) => findDueSessions(db, { now, after, rowsMax }),
    handle: ({ id, cartId, merchantId }) =>
      runInTransaction(db, (transaction) =>
        runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause, render }, (outbox) =>
          expireDueSession(transaction, { merchantId, outbox, now, publicUrl }, { id, cartId }),
        ),
      ),
    signal,
  });
}

interface DueSession {
  readonly id: string;
  readonly cartId: string;
  readonly merchantId: string;
  /**
   * The session's expiry time as a text with microseconds, from which the next batch of sessions continues.
   * With a JavaScript Date, which has only milliseconds, the next batch could repeat or skip a session.
   */
  readonly expiresAt: string;
}

async function findDueSessions(
  db: Database,
  {
    now,
    after,
    rowsMax,
  }: { readonly now: Date; readonly after: DueSession | undefined; readonly rowsMax: number },
): Promise<readonly DueSession[]> {
  const { rows } = await sql<DueSession>`
    select id, cart_id, merchant_id, expires_at::text as expires_at from hosted_checkout_session
    where status = 'open' and expires_at <= ${now}
      and (expires_at, id) > (${after?.expiresAt ?? "-infinity"}::text::timestamptz, ${after?.id ?? ""})
    order by expires_at, id limit ${rowsMax}`.execute(db);
  return rows;
}

async function expireDueSession(
  transaction: Transaction,
  context: Pick<CartCommandContext, "merchantId" | "outbox" | "now" | "publicUrl">,
  { id, cartId }: Pick<DueSession, "id" | "cartId">,
): Promise<boolean> {
  const locked = await transaction
    .selectFrom("cart")
    .select("id")
    .where("id", "=", cartId)
    .forNoKeyUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (locked === undefined) return false;
  await transaction
    .selectFrom("hostedCheckoutSession")
    .select("id")
    .where("id", "=", id)
    .forNoKeyUpdate()
    .execute();
  const session = await loadCheckoutSession(transaction, id);
  const cart = (await findCarts(transaction, [cartId], context.now)).get(cartId);
  if (cart === undefined || session.status !== "open" || new Date(session.expiresAt) > context.now)
    return false;
  await endCheckoutSessionAndUnlockCart(transaction, context, { cart, session, status: "expired" });
  return true;
}

type SessionRelease = LockedCartAndCheckoutSession &
  (
    | { readonly status: "expired" }
    | { readonly status: "canceled"; readonly cancellation: CheckoutSessionCancellation }
  );

type SessionReleaseContext = Pick<CartCommandContext, "merchantId" | "outbox" | "now" | "publicUrl">;

/**
 * Ends a checkout session without an order, unlocks its cart and publishes the events. The caller must have
 * locked the cart and the session; the session must be open or processing. If the session has taken promotion
 * uses, the caller must release them.
 */
export async function endCheckoutSessionAndUnlockCart(
  transaction: Transaction,
  context: SessionReleaseContext,
  release: SessionRelease,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session, status } = release;
  const sessionId = session.id;
  await endCheckoutSession(
    transaction,
    context,
    status === "canceled" ? { sessionId, status, cancellation: release.cancellation } : { sessionId, status },
  );
  const after = await loadCheckoutSession(transaction, sessionId);
  const unlocked: CartAggregate = await unlockCartAfterCheckout(transaction, context, {
    cart,
    isRequested: status === "canceled",
  });
  publishCheckoutSessionEvent(context, `checkout_session.${status}`, {
    before: session,
    after,
    carts: { before: cart, after: unlocked },
  });
  return { cart: unlocked, session: after };
}

interface SessionCancelInput extends ExpectedVersionInput {
  readonly reason: CheckoutSessionCancelReason;
  readonly note?: string | null | undefined;
}

export const sessionCancelNoteLengthMax = 500;

/** Cancels a checkout session that was not submitted. */
export async function cancelCheckoutSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  input: SessionCancelInput & { readonly sessionId: string },
): Promise<LockedCartAndCheckoutSession> {
  requireNoInputFieldErrors(
    getTextFieldErrors("/note", input.note, { min: 0, max: sessionCancelNoteLengthMax, lines: "many" }),
  );
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, input.sessionId);
  requireOpenCheckoutSession(session, input, context.now);
  const cancellation = { reason: input.reason, note: input.note ?? null, actor: context.cancelActor };
  return endCheckoutSessionAndUnlockCart(transaction, context, {
    cart,
    session,
    status: "canceled",
    cancellation,
  });
}
