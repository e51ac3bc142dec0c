/**
 * Opens a checkout session for a cart: prices the cart again, locks the cart, reserves its items, and creates
 * the secret URL of the checkout page. If one of these steps fails, nothing is changed.
 */
import { randomBytes } from "node:crypto";
import { getPersonalDataIdsOfCartOrOrder } from "#commerce/addresses/personal-data.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import {
  omitExpiredCartAddress,
  type ExpectedVersionInput,
  createCartConflictFailure,
  requireChangeableCart,
  getCartStatusAtTime,
} from "#commerce/carts/cart-status.ts";
import { toUnpricedCartDraft, type RepricedCart } from "#commerce/carts/cart-draft.ts";
import { applyCartChangePlan, lockAndReadCart } from "#commerce/carts/change-cart.ts";
import { findCartIdByAddressToken } from "#commerce/carts/find-carts.ts";
import {
  type InputFieldErrors,
  getIntegerFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
} from "#foundation/faults.ts";
import { replaceStockHolds } from "#commerce/inventory/stock-holds.ts";
import { choosePaymentProvider } from "#commerce/payments/connections.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import {
  type LockedCartAndCheckoutSession,
  loadCheckoutSession,
  type CheckoutSessionCommandContext,
} from "./change-session.ts";
import {
  requireAvailableCartLines,
  requireNoStockShortage,
  requireStockForAllCartLines,
} from "./session-stock.ts";
import { findOrStoreContactEmailId } from "./contact-email.ts";
import { extendPersonalDataRetentionForCheckoutSession } from "./keep-personal-data.ts";
import { findCheckoutReturnUrlFaults, hashCheckoutPageSecret } from "./session-page.ts";
import { getCheckoutPageSecretEncryptionContext } from "./session-aggregate.ts";

export interface CreateCheckoutSessionInput extends ExpectedVersionInput {
  readonly cartId: string;
  /**
   * The address token of the cart. If left out, the session uses the cart's address if there is one;
   * otherwise the checkout page asks for an address.
   */
  readonly addressToken?: string | null | undefined;
  /** URL of the page to which the buyer returns after the order is placed. */
  readonly successUrl: string;
  /** URL of the page to which the buyer returns after giving up the checkout. */
  readonly cancelUrl: string;
  readonly lifetimeMinutes?: number | null | undefined;
}

/** Minimum, maximum and default duration for which a checkout session stays open, in minutes. */
export const sessionLifetimeMinutes = { min: 30, max: 1440, default: 60 } as const;

export async function createCheckoutSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  input: CreateCheckoutSessionInput,
): Promise<LockedCartAndCheckoutSession> {
  requireNoInputFieldErrors(sessionCreateFaults(input));
  const { now } = context;
  const cart = await lockAndReadCart(transaction, context, input.cartId);
  requireUnlockedCart(cart, now);
  requireChangeableCart(cart, input, now);
  if (cart.lines.length === 0) throw createCartConflictFailure("cart_empty", cart, { now });
  await requirePaymentProvider(transaction, context, cart);
  await requireTokenOfCart(transaction, context, { cart, addressToken: input.addressToken ?? null });
  const sessionId = createId("checkoutSession", now.getTime());
  const expiresAt = new Date(
    now.getTime() + (input.lifetimeMinutes ?? sessionLifetimeMinutes.default) * 60_000,
  );
  const buyerEmailId = await findOrStoreContactEmailId(transaction, context, cart);
  const after = await applyCartChangePlan(transaction, context, {
    cart,
    target: input,
    plan: () => ({
      event: "cart.locked",
      draft: { ...toUnpricedCartDraft(cart), buyerEmailId },
      checkResult: ({ warnings }) => {
        requireAvailableCartLines(cart, warnings, now);
        requireStockForAllCartLines(cart, warnings, now);
      },
    }),
    lockingSession: {
      sessionId,
      create: (next) => startSession(transaction, context, { cart, next, input, sessionId, expiresAt }),
    },
  });
  context.outbox.append({ type: "checkout_session.created", id: sessionId });
  return { cart: after, session: await loadCheckoutSession(transaction, sessionId) };
}

/** Throws `cart_locked`, with the id of the checkout session, if the cart has a running checkout session. */
function requireUnlockedCart(cart: CartAggregate, now: Date): void {
  if (cart.session === null || getCartStatusAtTime(cart, now) !== "locked") return;
  throw createCartConflictFailure("cart_locked", cart, { now, data: { sessionId: cart.session.id } });
}

function sessionCreateFaults({
  successUrl,
  cancelUrl,
  lifetimeMinutes: lifetime,
}: CreateCheckoutSessionInput): InputFieldErrors {
  return [
    ...findCheckoutReturnUrlFaults("/successUrl", successUrl),
    ...findCheckoutReturnUrlFaults("/cancelUrl", cancelUrl),
    ...getIntegerFieldErrors("/lifetimeMinutes", lifetime, sessionLifetimeMinutes),
  ];
}

/** Throws if the merchant's mode is `live` and the merchant has connected no payment provider. */
async function requirePaymentProvider(
  transaction: Transaction,
  { merchantId, now }: CheckoutSessionCommandContext,
  cart: CartAggregate,
): Promise<void> {
  if ((await choosePaymentProvider(transaction, merchantId)) === null)
    throw createCartConflictFailure("invalid_state", cart, { now, reason: "payment_provider_missing" });
}

async function requireTokenOfCart(
  transaction: Transaction,
  { merchantId, now }: CheckoutSessionCommandContext,
  { cart, addressToken }: { readonly cart: CartAggregate; readonly addressToken: string | null },
): Promise<void> {
  if (addressToken === null) return;
  const cartId = await findCartIdByAddressToken(transaction, {
    merchantId,
    addressToken: blankIdWithForbiddenCharacters(addressToken),
  });
  if (cartId === cart.id && omitExpiredCartAddress(cart, now).address !== null) return;
  throw createInvalidFieldFailure("invalid_field", "/addressToken", {
    code: "unknown",
    message: "The token does not belong to the cart's current address, or it has expired.",
  });
}

interface NewSession {
  readonly cart: CartAggregate;
  readonly next: RepricedCart;
  readonly input: CreateCheckoutSessionInput;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

async function startSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  newSession: NewSession,
): Promise<void> {
  const { cart, next, sessionId, expiresAt } = newSession;
  await insertSession(transaction, context, newSession);
  const lines = next.lines.map(({ variantId, quantity }) => ({ variantId, quantity }));
  requireNoStockShortage(
    cart,
    await replaceStockHolds(transaction, context, { sessionId, expiresAt, lines }),
    context.now,
  );
  const { address, buyerEmailId } = next;
  await extendPersonalDataRetentionForCheckoutSession(
    transaction,
    getPersonalDataIdsOfCartOrOrder({
      address,
      buyerEmail: buyerEmailId === null ? null : { id: buyerEmailId },
    }),
    expiresAt,
  );
}

const secretBytes = 32;

async function insertSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  { cart, next, input, sessionId, expiresAt }: NewSession,
): Promise<void> {
  const { merchantId, now, keyring, tokenId } = context;
  const secret = randomBytes(secretBytes).toString("base64url");
  const { sealed, dataKey, keyId } = keyring.seal(secret, getCheckoutPageSecretEncryptionContext(sessionId));
  await transaction
    .insertInto("hostedCheckoutSession")
    .values({
      id: sessionId,
      merchantId,
      cartId: cart.id,
      status: "open",
      country: next.country,
      currency: next.currency,
      locale: next.locale,
      amountTotalMinor: next.priced.totalMinor,
      successUrl: input.successUrl,
      cancelUrl: input.cancelUrl,
      urlDigest: hashCheckoutPageSecret(secret),
      urlSealed: sealed,
      urlDataKey: dataKey,
      urlKeyId: keyId,
      createdBy: tokenId,
      expiresAt,
      createdAt: now,
      updatedAt: now,
    })
    .execute();
}
