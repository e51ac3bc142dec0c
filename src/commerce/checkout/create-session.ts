/**
 * Opens a checkout session for a cart: prices the cart again, locks the cart, reserves its items, and creates
 * the secret URL of the checkout page. If one of these steps fails, nothing is changed.
 */
import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import {
  buildEncryptedPersonalDataSqlQuery,
  type EncryptedPersonalDataRow,
  getPersonalDataIdsOfCartOrOrder,
} from "#commerce/addresses/personal-data.ts";
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
import { replaceStockHolds, type StockHoldsAndLockedStockLevels } from "#commerce/inventory/stock-holds.ts";
import { buildStockLevelLockSqlQuery, toLockedStockLevels } from "#commerce/inventory/stock-levels.ts";
import {
  buildPaymentSetupSqlQuery,
  type MerchantPaymentSetup,
  toPaymentModeAndProvider,
} from "#commerce/payments/connections.ts";
import { bufferInsertUntilNextStatement } from "#database/prepared-template.ts";
import { runStatementsPipelined, type Transaction } from "#database/transaction.ts";
import type { EncryptedValue } from "#foundation/encryption.ts";
import { createId, blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import { type CheckoutSessionCommandContext } from "./change-session.ts";
import {
  requireAvailableCartLines,
  requireNoStockShortage,
  requireStockForAllCartLines,
} from "./session-stock.ts";
import { findOrStoreContactEmail } from "./contact-email.ts";
import { extendPersonalDataRetentionForCheckoutSession } from "./keep-personal-data.ts";
import { findCheckoutReturnUrlFaults, hashCheckoutPageSecret } from "./session-page.ts";
import {
  type CheckoutSessionAggregate,
  getCheckoutPageSecretEncryptionContext,
  type LockedCartAndCheckoutSession,
} from "./session-aggregate.ts";

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
  const read = await readForNewSession(transaction, context, cart);
  if (read.paymentSetup.chosen === null)
    throw createCartConflictFailure("invalid_state", cart, { now, reason: "payment_provider_missing" });
  await requireTokenOfCart(transaction, context, { cart, addressToken: input.addressToken ?? null });
  const sessionId = createId("checkoutSession", now.getTime());
  const expiresAt = new Date(
    now.getTime() + (input.lifetimeMinutes ?? sessionLifetimeMinutes.default) * 60_000,
  );
  const secret = createPageSecret(context, sessionId);
  const buyerEmail = await findOrStoreContactEmail(transaction, context, {
    cart,
    addressRow: read.addressRow,
  });
  const after = await applyCartChangePlan(transaction, context, {
    cart,
    target: input,
    plan: () => ({
      event: "cart.locked",
      draft: { ...toUnpricedCartDraft(cart), buyerEmailId: buyerEmail?.id ?? null },
      buyerEmail,
      checkResult: ({ warnings }) => {
        requireAvailableCartLines(cart, warnings, now);
        requireStockForAllCartLines(cart, warnings, now);
      },
    }),
    lockingSession: {
      sessionId,
      status: "open",
      expiresAt: expiresAt.toISOString(),
      create: (next) =>
        startSession(transaction, context, {
          cart,
          next,
          input,
          sessionId,
          expiresAt,
          secret,
          held: read.held,
        }),
    },
  });
  const created = {
    cart: after,
    session: toNewSession(context, { cart: after, input, sessionId, expiresAt, secret, read }),
  };
  context.outbox.append({ type: "checkout_session.created", id: sessionId, object: created });
  return created;
}

interface DataForNewSession {
  readonly paymentSetup: MerchantPaymentSetup;
  /** The row with the cart's postal address, if its e-mail address may become that of the buyer. */
  readonly addressRow: EncryptedPersonalDataRow | undefined;
  /**
   * The locked stock levels of the cart's variants; undefined if the cart has an expired checkout session,
   * which must release its stock first.
   */
  readonly held: StockHoldsAndLockedStockLevels | undefined;
}

/** Locks the stock of the cart's variants and reads the data for a new session, in one round trip. */
async function readForNewSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  cart: CartAggregate,
): Promise<DataForNewSession> {
  const { address } = omitExpiredCartAddress(cart, context.now);
  const isStockLocked = cart.status !== "locked";
  const variantIds = isStockLocked ? cart.lines.map(({ variantId }) => variantId) : [];
  const [setups, addresses, levels] = await runStatementsPipelined(transaction, [
    buildPaymentSetupSqlQuery(transaction, context.merchantId),
    buildEncryptedPersonalDataSqlQuery(transaction, address === null ? [] : [address.id]),
    buildStockLevelLockSqlQuery(transaction, context, sql`any(${variantIds}::text[])`),
  ]);
  const [setup] = setups.rows;
  const [addressRow] = addresses.rows;
  if (setup === undefined) throw new Error(`The merchant ${context.merchantId} was not found.`);
  return {
    paymentSetup: toPaymentModeAndProvider(setup),
    addressRow,
    held: isStockLocked ? { levels: toLockedStockLevels(levels.rows), holds: new Map() } : undefined,
  };
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
  readonly secret: PageSecret;
  readonly held: StockHoldsAndLockedStockLevels | undefined;
}

async function startSession(
  transaction: Transaction,
  context: CheckoutSessionCommandContext,
  newSession: NewSession,
): Promise<void> {
  const { cart, next, sessionId, expiresAt, held } = newSession;
  await insertSession(transaction, context, newSession);
  const lines = next.lines.map(({ variantId, quantity }) => ({ variantId, quantity }));
  requireNoStockShortage(
    cart,
    await replaceStockHolds(transaction, context, { sessionId, expiresAt, lines, held }),
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

/** The secret in the URL of the checkout page: encrypted, and as the digest by which the session is found. */
interface PageSecret {
  readonly encrypted: EncryptedValue;
  readonly digest: Buffer;
}

function createPageSecret({ keyring }: CheckoutSessionCommandContext, sessionId: string): PageSecret {
  const secret = randomBytes(secretBytes).toString("base64url");
  const encrypted = keyring.seal(secret, getCheckoutPageSecretEncryptionContext(sessionId));
  return { encrypted, digest: hashCheckoutPageSecret(secret) };
}

function insertSession(
  transaction: Transaction,
  { merchantId, now, tokenId }: CheckoutSessionCommandContext,
  { cart, next, input, sessionId, expiresAt, secret }: NewSession,
): Promise<void> {
  const { sealed, dataKey, keyId } = secret.encrypted;
  const row = {
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
    urlDigest: secret.digest,
    urlSealed: sealed,
    urlDataKey: dataKey,
    urlKeyId: keyId,
    createdBy: tokenId,
    expiresAt,
    createdAt: now,
    updatedAt: now,
  } as const;
  return bufferInsertUntilNextStatement(transaction, "hostedCheckoutSession", [row]);
}

interface InsertedSession extends Pick<NewSession, "cart" | "input" | "sessionId" | "expiresAt" | "secret"> {
  readonly read: DataForNewSession;
}

/** Returns the new session as it is stored. `cart` is the cart after the session has locked it. */
function toNewSession(
  { now, tokenId }: CheckoutSessionCommandContext,
  { cart, input, sessionId, expiresAt, secret, read }: InsertedSession,
): CheckoutSessionAggregate {
  const { id, slug, name } = cart.merchant;
  return {
    id: sessionId,
    status: "open",
    version: 1,
    merchant: { id, slug, name },
    paymentSetup: read.paymentSetup,
    cartId: cart.id,
    orderId: null,
    country: cart.country,
    currency: cart.currency,
    locale: cart.locale,
    amountTotalMinor: cart.totalMinor,
    successUrl: input.successUrl,
    cancelUrl: input.cancelUrl,
    createdBy: tokenId,
    secret: secret.encrypted,
    cancellation: null,
    createdAt: now.toISOString(),
    updatedAt: now.toISOString(),
    expiresAt: expiresAt.toISOString(),
    submittedAt: null,
    completedAt: null,
    canceledAt: null,
  };
}
