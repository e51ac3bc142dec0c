/**
 * The steps that all changes of a checkout session have in common. A change locks the cart and then the
 * session, and checks the status and version of the session. It prices the whole cart again, keeps the cart
 * locked, and reserves the stock that the cart needs. If the cart contains items that cannot be bought now,
 * the change is refused. A change that alters something raises the versions of cart and session by one; a
 * change that alters nothing does not raise them.
 */

import { sql } from "kysely";
import type { CartAggregate, StoredCartWarning } from "#commerce/carts/cart-aggregate.ts";
import { type ExpectedVersionInput, getCartStatusAtTime } from "#commerce/carts/cart-status.ts";
import { type UnpricedCartDraft, toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import {
  applyCartChangePlan,
  type CartCommandContext,
  type CartChangePlanner,
  canCallerUseCart,
} from "#commerce/carts/change-cart.ts";
import { replaceStockHolds, type StockHoldsAndLockedStockLevels } from "#commerce/inventory/stock-holds.ts";
import { bufferWriteUntilNextStatement, lockAndReadRow, type Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { createMoney } from "#foundation/money.ts";
import type { EventType } from "#webhooks/event-types.ts";
import type { CheckoutSessionCancelActor } from "./end-session.ts";
import { getCheckoutSessionPaymentStatus } from "./render-session.ts";
import {
  findCheckoutSessions,
  requireOpenCheckoutSession,
  type CheckoutSessionAggregate,
  type CheckoutSessionStatus,
  type LockedCartAndCheckoutSession,
} from "./session-aggregate.ts";
import { createCheckoutSessionLockAndPreloadQuery, takePreloadedCheckoutSession } from "./open-session.ts";
import {
  lockStockAndReadOffer,
  requireNoStockShortage,
  toSellableVariantQuantities,
} from "./session-stock.ts";

/** Locks the cart, then the checkout session, until the end of the transaction, and reads both. */
export async function lockCartAndCheckoutSession(
  transaction: Transaction,
  context: CartCommandContext,
  sessionId: string,
): Promise<LockedCartAndCheckoutSession> {
  const preloaded = takePreloadedCheckoutSession(transaction, sessionId);
  const locked = preloaded ?? (await lockAndReadSession(transaction, context, sessionId));
  if (locked === undefined || !canCallerUseCart(context, locked.cart))
    throw createFailure("checkout_session_not_found");
  return locked;
}

async function lockAndReadSession(
  transaction: Transaction,
  { merchantId, now }: CartCommandContext,
  sessionId: string,
): Promise<LockedCartAndCheckoutSession | undefined> {
  await lockAndReadRow(
    transaction,
    createCheckoutSessionLockAndPreloadQuery(transaction, { sessionId, merchantId, now }),
  );
  return takePreloadedCheckoutSession(transaction, sessionId);
}

export async function loadCheckoutSession(
  transaction: Transaction,
  sessionId: string,
): Promise<CheckoutSessionAggregate> {
  const session = (await findCheckoutSessions(transaction, [sessionId])).get(sessionId);
  if (session === undefined) throw new Error(`Session ${sessionId} was locked, but was not found.`);
  return session;
}

/**
 * The columns of a checkout session that an update sets; columns that are left out stay unchanged. The end of
 * a session without an order is saved by `endCheckoutSessionAndUnlockCart` instead.
 */
export interface CheckoutSessionColumnUpdate {
  readonly status?: Extract<CheckoutSessionStatus, "open" | "processing" | "completed">;
  readonly country?: string;
  readonly currency?: string;
  readonly locale?: string;
  readonly amountTotalMinor?: number;
  readonly submittedAt?: Date | null;
  readonly completedAt?: Date;
  readonly orderId?: string;
}

/**
 * Updates the locked checkout session, and raises its version by one, with the next statement of the
 * transaction or with its COMMIT. The update fails if the stored version is not that of `session`. If the
 * update completes the session, also deletes the secret in the URL of the checkout page. Returns the updated
 * session.
 */
export async function saveCheckoutSession(
  transaction: Transaction,
  { now }: Pick<CartCommandContext, "now">,
  {
    session,
    patch,
  }: { readonly session: CheckoutSessionAggregate; readonly patch: CheckoutSessionColumnUpdate },
): Promise<CheckoutSessionAggregate> {
  const clearedSecret =
    patch.status === "completed" ? { urlSealed: null, urlDataKey: null, urlKeyId: null } : {};
  // The number of updated rows of a buffered statement is not known here. If the version has changed, the
  // expression is null, which the column refuses.
  const nextVersion = sql<number>`case when version = ${session.version} then version + 1 end`;
  const query = transaction
    .updateTable("hostedCheckoutSession")
    .set({ ...patch, ...clearedSecret, version: nextVersion, updatedAt: now })
    .where("id", "=", session.id)
    .compile();
  await bufferWriteUntilNextStatement(transaction, { query, tables: ["hostedCheckoutSession"] });
  const { submittedAt, completedAt, ...columns } = patch;
  return {
    ...session,
    ...columns,
    ...(submittedAt === undefined ? {} : { submittedAt: submittedAt?.toISOString() ?? null }),
    ...(completedAt === undefined ? {} : { completedAt: completedAt.toISOString() }),
    ...(patch.status === "completed" ? { secret: null } : {}),
    version: session.version + 1,
    updatedAt: now.toISOString(),
  };
}

/** Returns those columns of a checkout session whose values are copied from the cart. */
export function copyCheckoutSessionFieldsFromCart({
  country,
  currency,
  locale,
  totalMinor,
}: CartAggregate): CheckoutSessionColumnUpdate {
  return { country, currency, locale, amountTotalMinor: totalMinor };
}

export interface PublishCheckoutSessionEventInput {
  readonly before: CheckoutSessionAggregate;
  readonly after: CheckoutSessionAggregate;
  /** The cart before and after this change of its checkout session; left out if the cart did not change. */
  readonly carts?: { readonly before: CartAggregate; readonly after: CartAggregate };
  /**
   * The session and its cart at the end of the transaction, if neither changes again; if left out, the event
   * reads both at the end of the transaction.
   */
  readonly final?: LockedCartAndCheckoutSession | undefined;
}

/**
 * Publishes an event about a checkout session, with the previous values of the changed fields of the session
 * and its cart.
 */
export function publishCheckoutSessionEvent(
  { outbox, now }: Pick<CartCommandContext, "outbox" | "now">,
  type: EventType,
  { before, after, carts, final }: PublishCheckoutSessionEventInput,
): void {
  const [previousFields, currentFields] = [changeableFields(before), changeableFields(after)];
  const sessionChanges = Object.entries(previousFields).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(currentFields[name]),
  );
  const cartChanges = carts === undefined ? [] : cartDifferences(carts, now);
  outbox.append({
    type,
    id: after.id,
    previous: Object.fromEntries([...sessionChanges, ...cartChanges]),
    ...(final === undefined ? {} : { object: final }),
  });
}

/** Returns those fields of a rendered checkout session whose values a change of the session can alter. */
function changeableFields(session: CheckoutSessionAggregate): Record<string, unknown> {
  const {
    version,
    status,
    orderId,
    country: market,
    currency,
    locale,
    amountTotalMinor,
    completedAt,
    canceledAt,
    cancellation,
  } = session;
  const [amountTotal, paymentStatus] = [
    createMoney(amountTotalMinor, currency),
    getCheckoutSessionPaymentStatus(session),
  ];
  return {
    version,
    status,
    orderId,
    market,
    currency,
    locale,
    amountTotal,
    paymentStatus,
    completedAt,
    canceledAt,
    cancellation,
  };
}

function cartDifferences(
  { before, after }: NonNullable<PublishCheckoutSessionEventInput["carts"]>,
  now: Date,
): [string, unknown][] {
  const status: [string, unknown][] =
    before.status === getCartStatusAtTime(after, now) ? [] : [["cartStatus", before.status]];
  return [
    ...(before.version === after.version ? [] : [["cartVersion", before.version] as [string, unknown]]),
    ...status,
  ];
}

export interface RepriceCheckoutSessionCartInput extends LockedCartAndCheckoutSession {
  /**
   * Function that plans the change of the session's cart, for example of its address. If left out, the cart
   * is only priced again.
   */
  readonly plan?: CartChangePlanner;
  /** The version of the checkout session that the caller expects; if left out, all versions are accepted. */
  readonly target?: ExpectedVersionInput;
  /**
   * True if the session is submitted. The promotions of the cart are then locked, and the reserved items do
   * not expire, because the payment is processed. False if left out.
   */
  readonly isSubmitted?: boolean;
}

export interface CheckoutSessionRepriceResult {
  /**
   * The cart with its new prices; it was saved if it has changed. The cart stays locked for the checkout
   * session.
   */
  readonly cart: CartAggregate;
  /**
   * Warnings from the new calculation of the cart's prices. They can be newer than the stored warnings of the
   * cart, because an unchanged cart is not saved.
   */
  readonly warnings: readonly StoredCartWarning[];
  readonly isChanged: boolean;
}

/**
 * Calculates the prices of the cart of an open checkout session again, and reserves exactly the items that
 * the cart contains. The caller must save the session.
 */
export async function repriceCheckoutSessionCart(
  transaction: Transaction,
  context: CartCommandContext,
  input: RepriceCheckoutSessionCartInput,
): Promise<CheckoutSessionRepriceResult> {
  const { cart, session, target = {}, isSubmitted = false } = input;
  const plan: CartChangePlanner = input.plan ?? planNoChange;
  let held: StockHoldsAndLockedStockLevels | undefined;
  let warnings: readonly StoredCartWarning[] = cart.warnings;
  const planWithWarnings: CartChangePlanner = (before) => {
    const planned = plan(before);
    return planned === null
      ? null
      : {
          ...planned,
          checkResult: (next, refusal) => {
            planned.checkResult?.(next, refusal);
            ({ warnings } = next);
          },
        };
  };
  const after = await applyCartChangePlan(transaction, context, {
    cart,
    target,
    plan: planWithWarnings,
    lockingSession: {
      sessionId: session.id,
      status: isSubmitted ? "processing" : "open",
      expiresAt: session.expiresAt,
      sendOfferStatement: async (_transaction, offerQuery) => {
        const read = await lockStockAndReadOffer(transaction, context, {
          cart,
          session,
          isSubmitted,
          offerQuery,
        });
        ({ held } = read);
        return read.offer;
      },
    },
  });
  const shortages = await replaceStockHolds(transaction, context, {
    sessionId: session.id,
    expiresAt: isSubmitted ? null : new Date(session.expiresAt),
    held,
    lines: toSellableVariantQuantities(after.lines, warnings),
  });
  // A shortage of stock causes a failure, which rolls back this change of the cart. The failure therefore
  // contains the version that the cart had before the change.
  requireNoStockShortage({ ...after, version: cart.version }, shortages, context.now);
  return { cart: after, warnings, isChanged: after.version !== cart.version };
}

const planNoChange = (
  cart: CartAggregate,
): { readonly draft: UnpricedCartDraft; readonly event: "cart.updated" } => ({
  draft: toUnpricedCartDraft(cart),
  event: "cart.updated",
});

export interface CheckoutSessionIdAndExpectedVersion extends ExpectedVersionInput {
  readonly sessionId: string;
}

export interface CheckoutSessionChangeRequest {
  readonly target: CheckoutSessionIdAndExpectedVersion;
  /**
   * Returns a function that plans the change of the session's cart. `prepare` runs before the cart is priced,
   * and may write rows that belong to the change, for example an encrypted address.
   */
  readonly prepare: (
    cart: CartAggregate,
    session: CheckoutSessionAggregate,
  ) => CartChangePlanner | Promise<CartChangePlanner>;
}

/** Changes the cart of an open checkout session, for example its address or promotion code. */
export async function changeCartOfCheckoutSession(
  transaction: Transaction,
  context: CartCommandContext,
  { target, prepare }: CheckoutSessionChangeRequest,
): Promise<LockedCartAndCheckoutSession> {
  const { cart, session } = await lockCartAndCheckoutSession(transaction, context, target.sessionId);
  requireOpenCheckoutSession(session, target, context.now);
  const { cart: after, isChanged } = await repriceCheckoutSessionCart(transaction, context, {
    cart,
    session,
    target,
    plan: await prepare(cart, session),
  });
  if (!isChanged) return { cart: after, session };
  return {
    cart: after,
    session: await saveCheckoutSession(transaction, context, {
      session,
      patch: copyCheckoutSessionFieldsFromCart(after),
    }),
  };
}

/**
 * The context of the commands that create or cancel a checkout session: the cart command context, and data on
 * the caller.
 */
export interface CheckoutSessionCommandContext extends CartCommandContext {
  /** The kind of caller, which is stored as the actor if the caller cancels a checkout session. */
  readonly cancelActor: CheckoutSessionCancelActor;
  /** The id of the caller's internal token; null if the caller uses another kind of credential. */
  readonly tokenId: string | null;
}
