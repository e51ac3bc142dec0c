/**
 * Renders a checkout session as the API shows it: the status at a given time, and amounts with their
 * currency. The URL of the checkout page is rendered separately, because only the creator of the session may
 * see it.
 */
import type { CartAggregate, CartStatus } from "#commerce/carts/cart-aggregate.ts";
import { getCartStatusAtTime } from "#commerce/carts/cart-status.ts";
import type { CheckoutSessionCancellation } from "./end-session.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import { type Money, createMoney } from "#foundation/money.ts";
import {
  getCheckoutPageSecretEncryptionContext,
  type CheckoutSessionAggregate,
  type CheckoutSessionStatus,
  getCheckoutSessionStatusAtTime,
} from "./session-aggregate.ts";

export type CheckoutSessionPaymentStatus = "unpaid" | "processing" | "paid" | "not_required";

export interface CheckoutSessionView {
  readonly id: string;
  readonly version: number;
  readonly status: CheckoutSessionStatus;
  readonly cartId: string;
  readonly cartVersion: number;
  readonly orderId: string | null;
  readonly merchant: CheckoutSessionAggregate["merchant"];
  readonly paymentSetup: CheckoutSessionAggregate["paymentSetup"];
  readonly market: string;
  readonly currency: string;
  readonly locale: string;
  readonly amountTotal: Money;
  readonly paymentStatus: CheckoutSessionPaymentStatus;
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly canceledAt: string | null;
  readonly cancellation: CheckoutSessionCancellation | null;
  readonly cartStatus: CartStatus;
}

export function toCheckoutSessionView(
  session: CheckoutSessionAggregate,
  cart: CartAggregate,
  { now }: { readonly now: Date },
): CheckoutSessionView {
  const {
    id,
    version,
    orderId,
    merchant,
    paymentSetup,
    successUrl,
    cancelUrl,
    expiresAt,
    createdAt,
    completedAt,
    canceledAt,
    cancellation,
  } = session;
  return {
    id,
    version,
    status: getCheckoutSessionStatusAtTime(session, now),
    cartId: cart.id,
    cartVersion: cart.version,
    orderId,
    merchant,
    paymentSetup,
    market: session.country,
    currency: session.currency,
    locale: session.locale,
    amountTotal: createMoney(session.amountTotalMinor, session.currency),
    paymentStatus: getCheckoutSessionPaymentStatus(session),
    successUrl,
    cancelUrl,
    expiresAt,
    createdAt,
    completedAt,
    canceledAt,
    cancellation,
    cartStatus: getCartStatusAtTime(cart, now),
  };
}

export function getCheckoutSessionPaymentStatus({
  status,
  amountTotalMinor,
}: Pick<CheckoutSessionAggregate, "status" | "amountTotalMinor">): CheckoutSessionPaymentStatus {
  if (status === "processing") return "processing";
  if (status !== "completed") return "unpaid";
  return amountTotalMinor === 0 ? "not_required" : "paid";
}

interface PageUrlContext {
  /**
   * The id of the internal token or staff member that makes the request; null if the caller uses another kind
   * of credential.
   */
  readonly tokenId: string | null;
  readonly keyring: EncryptionKeyring;
  readonly publicUrl: string;
  readonly now: Date;
}

/**
 * Returns the URL of the checkout page if the caller created the session and the session is open; otherwise
 * null. Everyone who knows the URL can check out in the buyer's place.
 */
export function getCheckoutPageUrlForCreator(
  session: CheckoutSessionAggregate,
  { tokenId, ...context }: PageUrlContext,
): string | null {
  const isCreator = session.createdBy !== null && session.createdBy === tokenId;
  return isCreator ? getCheckoutPageUrlIfOpen(session, context) : null;
}

/** Returns the URL of the checkout page; null if the session is not open. */
export function getCheckoutPageUrlIfOpen(
  session: CheckoutSessionAggregate,
  { keyring, publicUrl, now }: Omit<PageUrlContext, "tokenId">,
): string | null {
  const { secret } = session;
  if (secret === null || getCheckoutSessionStatusAtTime(session, now) !== "open") return null;
  return `${publicUrl}/checkout/${keyring.open(secret, getCheckoutPageSecretEncryptionContext(session.id)).toString("utf8")}`;
}
