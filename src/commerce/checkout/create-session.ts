/**
 * Opens a checkout for a cart: the cart is priced anew and locked, what is in it is kept back from the stock,
 * and the session's page gets an address that nobody can guess. All of it, or nothing.
 */
import { randomBytes } from "node:crypto";
import { personalDataIds } from "#commerce/addresses/personal-data.ts";
import {
  withoutExpiredAddress,
  type CartAggregate,
  type ExpectedVersionInput,
  cartFailure,
  requireChangeableCart,
  cartStatusAt,
} from "#commerce/carts/cart-aggregate.ts";
import { toCartDraft, type NextCart } from "#commerce/carts/cart-draft.ts";
import { applyCartPlan, lockCart } from "#commerce/carts/change-cart.ts";
import { findCartByAddressToken } from "#commerce/carts/find-carts.ts";
import { type Faults, integerFaults, refuseAt, requireNoFaults } from "#foundation/faults.ts";
import { holdStock } from "#commerce/inventory/stock-holds.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId, toId } from "#foundation/ids.ts";
import {
  type LockedSession,
  readSession,
  requireAvailableLines,
  requireStockHeld,
  requireFullQuantities,
  type SessionCommandContext,
} from "./change-session.ts";
import { keepUntilSessionEnd } from "./keep-personal-data.ts";
import { returnUrlFaults, digestPageSecret } from "./session-page.ts";
import { sessionSecretSealContext } from "./session-aggregate.ts";

export interface SessionCreateInput extends ExpectedVersionInput {
  readonly cartId: string;
  /** Without it the cart's address is taken, where it has one: the page can ask for it. */
  readonly addressToken?: string | null | undefined;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly lifetimeMinutes?: number | null | undefined;
}

export const sessionLifetimeMinutes = { min: 30, max: 1440, usual: 60 } as const;

export async function createSession(
  transaction: Transaction,
  context: SessionCommandContext,
  input: SessionCreateInput,
): Promise<LockedSession> {
  requireNoFaults(sessionCreateFaults(input));
  const { now } = context;
  const cart = await lockCart(transaction, context, input.cartId);
  requireUnlockedCart(cart, now);
  requireChangeableCart(cart, input, now);
  if (cart.lines.length === 0) throw cartFailure("cart_empty", cart, { now });
  await requirePaymentProvider(transaction, context, cart);
  await requireTokenOfCart(transaction, context, { cart, addressToken: input.addressToken ?? null });
  const sessionId = createId("checkoutSession", now.getTime());
  const expiresAt = new Date(
    now.getTime() + (input.lifetimeMinutes ?? sessionLifetimeMinutes.usual) * 60_000,
  );
  const after = await applyCartPlan(transaction, context, {
    cart,
    plan: () => ({
      event: "cart.locked",
      draft: toCartDraft(cart),
      accept: ({ warnings }) => {
        requireAvailableLines(cart, warnings, now);
        requireFullQuantities(cart, warnings, now);
      },
    }),
    holder: {
      sessionId,
      begin: (next) => startSession(transaction, context, { cart, next, input, sessionId, expiresAt }),
    },
  });
  context.outbox.append({ type: "checkout_session.created", id: sessionId });
  return { cart: after, session: await readSession(transaction, sessionId) };
}

/** Whoever comes second is told which session has the cart. */
function requireUnlockedCart(cart: CartAggregate, now: Date): void {
  if (cart.session === null || cartStatusAt(cart, now) !== "locked") return;
  throw cartFailure("cart_locked", cart, { now, data: { sessionId: cart.session.id } });
}

function sessionCreateFaults({
  successUrl,
  cancelUrl,
  lifetimeMinutes: lifetime,
}: SessionCreateInput): Faults {
  return [
    ...returnUrlFaults("/successUrl", successUrl),
    ...returnUrlFaults("/cancelUrl", cancelUrl),
    ...integerFaults("/lifetimeMinutes", lifetime, sessionLifetimeMinutes),
  ];
}

/** The built-in provider is for trying out: it moves no money. */
async function requirePaymentProvider(
  transaction: Transaction,
  { merchantId, now }: SessionCommandContext,
  cart: CartAggregate,
): Promise<void> {
  const { mode } = await transaction
    .selectFrom("merchant")
    .select("mode")
    .where("id", "=", merchantId)
    .executeTakeFirstOrThrow();
  if (mode === "live") throw cartFailure("invalid_state", cart, { now, reason: "payment_provider_missing" });
}

async function requireTokenOfCart(
  transaction: Transaction,
  { merchantId, now }: SessionCommandContext,
  { cart, addressToken }: { readonly cart: CartAggregate; readonly addressToken: string | null },
): Promise<void> {
  if (addressToken === null) return;
  const cartId = await findCartByAddressToken(transaction, { merchantId, addressToken: toId(addressToken) });
  if (cartId === cart.id && withoutExpiredAddress(cart, now).address !== null) return;
  throw refuseAt("invalid_field", "/addressToken", {
    code: "unknown",
    message: "It is not the token of an address that the cart has now.",
  });
}

interface NewSession {
  readonly cart: CartAggregate;
  readonly next: NextCart;
  readonly input: SessionCreateInput;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

async function startSession(
  transaction: Transaction,
  context: SessionCommandContext,
  beginning: NewSession,
): Promise<void> {
  const { cart, next, sessionId, expiresAt } = beginning;
  await insertSession(transaction, context, beginning);
  const lines = next.lines.map(({ variantId, quantity }) => ({ variantId, quantity }));
  requireStockHeld(cart, await holdStock(transaction, context, { sessionId, expiresAt, lines }), context.now);
  const { address, buyerEmailId } = next;
  await keepUntilSessionEnd(
    transaction,
    personalDataIds({ address, buyerEmail: buyerEmailId === null ? null : { id: buyerEmailId } }),
    expiresAt,
  );
}

const secretBytes = 32;

async function insertSession(
  transaction: Transaction,
  context: SessionCommandContext,
  { cart, next, input, sessionId, expiresAt }: NewSession,
): Promise<void> {
  const { merchantId, now, keyring, tokenId } = context;
  const secret = randomBytes(secretBytes).toString("base64url");
  const { sealed, dataKey, keyId } = keyring.seal(secret, sessionSecretSealContext(sessionId));
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
      urlDigest: digestPageSecret(secret),
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
