/**
 * The steps that all changes of a cart have in common: lock the cart, read it, check its status and version,
 * price the whole cart again, save it if anything differs, and publish the events. If a change has no effect,
 * the version stays and no event is published.
 */

import { type RawBuilder, sql } from "kysely";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { AmountOutOfRangeError } from "#commerce/pricing/discounts.ts";
import type { PromotionRefusal } from "#commerce/promotions/choose-promotions.ts";
import { prepareStatementTemplate, createNamedSqlTemplateParameter } from "#database/prepared-template.ts";
import { runStatementsPipelined, type Transaction } from "#database/transaction.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { expireCheckoutSessionOfCart } from "#commerce/checkout/end-session.ts";
import type { CartAggregate, StoredCartWarning } from "./cart-aggregate.ts";
import {
  type BuyerRepresentedByCaller,
  type ExpectedVersionInput,
  isCartOfOtherBuyer,
  isCartPastRetention,
  requireChangeableCart,
} from "./cart-status.ts";
import { type UnpricedCartDraft, isCartUnchanged, type RepricedCart } from "./cart-draft.ts";
import {
  loadCurrentCartPricingData,
  type LoadCurrentCartPricingDataOptions,
  type SendOfferStatement,
} from "./load-offer.ts";
import type { CurrentCartPricingData } from "./pricing-data.ts";
import { takePreloadedCart, takePreloadedCartPricingData } from "./open-cart.ts";
import { repriceCart } from "./reprice.ts";
import { getPromotionCodeEventTypes, publishCartEvents, updateCart } from "./save-cart.ts";
import { buildCartAggregateAfterChange, type LockingSessionState } from "./to-saved-cart.ts";
import { buildCartsByIdSqlQuery, findCarts } from "./find-carts.ts";

/**
 * The context of commands that change carts. If `BuyerRepresentedByCaller` names a buyer, the commands do not
 * find carts of other buyers.
 */
export interface CartCommandContext extends MerchantCommandContext, BuyerRepresentedByCaller {
  readonly keyring: EncryptionKeyring;
  /**
   * True if the service itself runs the command, and no caller. The command then finds the carts of all
   * buyers, and also carts that ended more than 90 days ago.
   */
  readonly isSystem?: boolean | undefined;
  /** Base URL of this service, which completes the image paths in published cart events. */
  readonly publicUrl: string;
  readonly events: InProcessEventEmitter;
}

export interface CartIdAndExpectedVersion extends ExpectedVersionInput {
  readonly cartId: string;
}

export interface CartChangePlan {
  readonly draft: UnpricedCartDraft;
  /**
   * The event to publish if the change is saved, besides the events about the promotion code; null if the
   * change has no other event.
   */
  readonly event: EventType | null;
  /**
   * The promotion code that the buyer entered, in normalized form; it is loaded with the prices. If left out,
   * the promotion code in the cart draft is loaded.
   */
  readonly codeNormalized?: string;
  /** The buyer's new e-mail address, of which the draft has the id; left out if the address stays. */
  readonly buyerEmail?: CartAggregate["buyerEmail"];
  /**
   * Checks the cart draft against the current prices, stock and promotions, and may throw a failure. Returns
   * the cart draft whose prices are then calculated.
   */
  readonly reviewOffer?: (offer: CurrentCartPricingData) => UnpricedCartDraft;
  /**
   * Checks the priced cart before the cart is saved; may throw a failure. `refusal` is the reason why the
   * cart's promotion code does not apply; null if the cart has no code or the code applies.
   */
  readonly checkResult?: (next: RepricedCart, refusal: PromotionRefusal | null) => void;
}

/**
 * A function that plans a change of a locked cart: it returns the new values of the cart, or null if the cart
 * needs no change. It must not save the cart.
 */
export type CartChangePlanner = (cart: CartAggregate) => CartChangePlan | null;

export interface CartChangeRequest {
  readonly target: CartIdAndExpectedVersion;
  readonly plan: CartChangePlanner;
}

/** Locks a cart, checks its status and version, and applies the planned change. */
export async function changeCart(
  transaction: Transaction,
  context: CartCommandContext,
  { target, plan }: CartChangeRequest,
): Promise<CartAggregate> {
  const cart = await lockAndReadCart(transaction, context, target.cartId);
  requireChangeableCart(cart, target, context.now);
  return applyCartChangePlan(transaction, context, { cart, plan, target });
}

/**
 * Locks the cart until the end of the transaction, then reads it. Throws `cart_not_found` if no cart has this
 * id, or if the caller may not use the cart.
 */
export async function lockAndReadCart(
  transaction: Transaction,
  context: CartCommandContext,
  cartId: string,
): Promise<CartAggregate> {
  const id = blankIdWithForbiddenCharacters(cartId);
  const cart = takePreloadedCart(transaction, id) ?? (await lockAndReadCartById(transaction, context, id));
  if (cart === undefined || !canCallerUseCart(context, cart)) throw createFailure("cart_not_found");
  return cart;
}

/** Returns whether a command finds the cart for its caller. */
export const canCallerUseCart = (context: CartCommandContext, cart: CartAggregate): boolean =>
  context.isSystem === true ||
  (!isCartPastRetention(cart, context.now) && !isCartOfOtherBuyer(cart, context));

async function lockAndReadCartById(
  transaction: Transaction,
  context: CartCommandContext,
  id: string,
): Promise<CartAggregate | undefined> {
  // One statement locks the cart, the next statement reads it. A single statement that waits for the lock
  // would return the cart lines from before the wait. Both statements are sent in one round trip.
  const lock = prepareStatementTemplate(transaction, {
    form: "lock cart",
    write: lockStatement,
    values: { id, merchantId: context.merchantId },
  });
  const [locked, read] = await runStatementsPipelined(transaction, [
    lock,
    buildCartsByIdSqlQuery(transaction, [id], context.now),
  ]);
  const [found] = locked.rows.length === 1 ? read.rows : [];
  return found?.cart;
}

const lockStatement = (): RawBuilder<unknown> =>
  sql`select c.id from cart c where c.id = ${createNamedSqlTemplateParameter("id")} and c.merchant_id = ${createNamedSqlTemplateParameter("merchantId")}
    for no key update`;

/** The checkout session for which the cart stays locked after the change. */
export interface CheckoutSessionThatLocksCart extends LockingSessionState {
  /**
   * Creates the checkout session for the priced cart. Left out if the cart was already locked for the session
   * before this change.
   */
  readonly create?: (next: RepricedCart) => Promise<void>;
  /** Sends the statement that reads the current prices together with statements of the checkout. */
  readonly sendOfferStatement?: SendOfferStatement;
}

export interface LockedCartAndChangePlanner {
  /**
   * The cart, locked by this transaction. The cart must be active, or locked by the running checkout session
   * that `lockingSession` names.
   */
  readonly cart: CartAggregate;
  readonly plan: CartChangePlanner;
  /** The checkout session for which the cart stays locked. If left out, the cart is active after the change. */
  readonly lockingSession?: CheckoutSessionThatLocksCart;
  /**
   * The cart version that the caller expects. A caller who names the current version has read the cart and
   * its warnings, so earlier warnings are not returned again.
   */
  readonly target?: ExpectedVersionInput;
}

/**
 * Plans the change of a cart and calculates its prices. If the result differs from the stored cart, saves the
 * result and publishes the events.
 */
export async function applyCartChangePlan(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, plan, lockingSession, target }: LockedCartAndChangePlanner,
): Promise<CartAggregate> {
  const planned = plan(cart);
  if (planned === null) return cart;
  const { draft, event, codeNormalized, reviewOffer, checkResult, buyerEmail } = planned;
  const request = toOfferRequest(context, draft, { codeNormalized, lockingSession });
  const offer =
    takePreloadedCartPricingData(transaction, cart.id, request) ??
    (await loadCurrentCartPricingData(transaction, request, lockingSession?.sendOfferStatement));
  const isInCheckout = isLockedBefore(lockingSession);
  const areWarningsSeen = typeof target?.expectedVersion === "number";
  const basis = { before: cart, offer, now: context.now, isInCheckout, areWarningsSeen };
  const { next, refusal } = repriceCartOrThrowFailure(
    reviewOffer === undefined ? draft : reviewOffer(offer),
    basis,
  );
  checkResult?.(next, refusal);
  const isFree = cart.status === "active" && lockingSession === undefined;
  if ((isFree || isLockedBefore(lockingSession)) && isCartUnchanged(cart, next))
    return withCurrentWarnings(cart, next.warnings);
  return saveCartChange(transaction, context, { cart, lockingSession, next, event, offer, buyerEmail });
}

/** Returns true if the cart was already locked for the checkout session before this change. */
const isLockedBefore = (lockingSession: CheckoutSessionThatLocksCart | undefined): boolean =>
  lockingSession !== undefined && lockingSession.create === undefined;

interface ChangeToSave {
  readonly cart: CartAggregate;
  readonly lockingSession: CheckoutSessionThatLocksCart | undefined;
  readonly next: RepricedCart;
  readonly event: EventType | null;
  readonly offer: CurrentCartPricingData;
  readonly buyerEmail: CartAggregate["buyerEmail"] | undefined;
}

async function saveCartChange(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, lockingSession, next, event, offer, buyerEmail }: ChangeToSave,
): Promise<CartAggregate> {
  const { now } = context;
  // If the expiry time of the cart's checkout session has passed, the session may still be stored as open. In
  // this case, the change of the cart also stores that the session has expired.
  const isUnlocked = cart.status === "locked" && !isLockedBefore(lockingSession);
  if (isUnlocked) await expireCheckoutSessionOfCart(transaction, context, cart);
  await lockingSession?.create?.(next);
  const status = lockingSession === undefined ? "active" : "locked";
  await updateCart(transaction, { before: cart, next, now, status });
  // If the change has expired the cart's checkout session, the cart is read again.
  const saved = isUnlocked
    ? undefined
    : buildCartAggregateAfterChange({ before: cart, next, offer, now, buyerEmail, lockingSession });
  const after = saved ?? (await reloadCartAfterSave(transaction, cart.id, now));
  const types: EventType[] = [
    ...(isUnlocked ? (["cart.unlocked"] as const) : []),
    ...getPromotionCodeEventTypes(cart, after),
    ...(event === null ? [] : [event]),
  ];
  publishCartEvents(context, types, { before: cart, after });
  return after;
}

/**
 * Returns the unchanged cart with its stored warnings and the warnings of this attempt, for example that
 * fewer items are available than the caller wanted. The warnings of this attempt are not saved.
 */
function withCurrentWarnings(cart: CartAggregate, found: readonly StoredCartWarning[]): CartAggregate {
  const otherWarnings = cart.warnings.filter(
    ({ code, lineId }) => !found.some((warning) => warning.code === code && warning.lineId === lineId),
  );
  return { ...cart, warnings: [...otherWarnings, ...found] };
}

export async function reloadCartAfterSave(
  transaction: Transaction,
  cartId: string,
  now: Date,
): Promise<CartAggregate> {
  const cart = (await findCarts(transaction, [cartId], now)).get(cartId);
  if (cart === undefined) throw new Error(`Cart ${cartId} was saved and was not found.`);
  return cart;
}

export function repriceCartOrThrowFailure(
  draft: UnpricedCartDraft,
  basis: {
    readonly before: CartAggregate | undefined;
    readonly offer: CurrentCartPricingData;
    readonly now: Date;
    readonly isInCheckout?: boolean;
    readonly areWarningsSeen?: boolean;
  },
): ReturnType<typeof repriceCart> {
  try {
    return repriceCart({ draft, ...basis });
  } catch (error) {
    if (!(error instanceof AmountOutOfRangeError)) throw error;
    const message = "An amount of the cart would be too large. Reduce the quantities.";
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/lines",
      code: "out_of_range",
      message,
    });
  }
}

function toOfferRequest(
  { merchantId, now }: CartCommandContext,
  draft: UnpricedCartDraft,
  {
    codeNormalized,
    lockingSession,
  }: {
    readonly codeNormalized: string | undefined;
    readonly lockingSession: CheckoutSessionThatLocksCart | undefined;
  },
): LoadCurrentCartPricingDataOptions {
  const { marketId, country, address, buyerReference, promotionCodeId } = draft;
  const code =
    codeNormalized !== undefined
      ? { normalized: codeNormalized }
      : promotionCodeId === null
        ? null
        : { id: promotionCodeId };
  const variantIds = draft.lines.map(({ variantId }) => variantId);
  return {
    merchantId,
    marketId,
    variantIds,
    taxCountry: address?.masked.countryCode ?? country,
    hasAddress: address !== null,
    buyerReference,
    code,
    // A checkout session that this change creates holds no stock yet.
    heldBySessionId: isLockedBefore(lockingSession) ? (lockingSession?.sessionId ?? null) : null,
    now,
  };
}
