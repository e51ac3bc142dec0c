/**
 * Computes the status of a cart at a given time, and creates the conflict errors about a cart's status and
 * version. A background job updates the stored status, so the computed status can be newer. A locked cart
 * whose checkout session has run out counts as active. A cart without a change for 30 days counts as
 * expired.
 */
import {
  createFailure,
  type Failure,
  type FailureCode,
  type ConflictErrorDetails,
} from "#foundation/failure.ts";
import { type CartStatus, type CartAggregate, createCartWarning } from "./cart-aggregate.ts";

const dayMs = 86_400_000;

export const cartLifetimeMs = 30 * dayMs;

/** How long a cart can still be read after its end, in milliseconds. */
export const endedCartRetentionMs = 90 * dayMs;

/**
 * Time from the last change of a cart to the erasure of the buyer's e-mail address, in milliseconds. The
 * e-mail address is kept as long as the cart can be read, or longer if the cart becomes an order.
 */
export const buyerEmailRetentionMs = cartLifetimeMs + endedCartRetentionMs;

type CartLifetime = Pick<CartAggregate, "status" | "session" | "expiresAt" | "endedAt">;

/** Computes the status of a cart at the time `now`. The stored status may be outdated. */
export function getCartStatusAtTime(cart: CartLifetime, now: Date): CartStatus {
  if (cart.status === "locked" && !hasNoRunningCheckoutSession(cart, now)) return "locked";
  if (cart.status !== "active" && cart.status !== "locked") return cart.status;
  return new Date(cart.expiresAt) <= now ? "expired" : "active";
}

/**
 * Returns true if the cart has no running checkout session. A session whose expiry time has passed counts as
 * ended, even if it is still stored as open.
 */
export function hasNoRunningCheckoutSession({ session }: Pick<CartLifetime, "session">, now: Date): boolean {
  if (session === null) return true;
  return session.status === "open" ? new Date(session.expiresAt) <= now : session.status !== "processing";
}

/** Returns true if the cart ended more than 90 days ago. Callers who read such a cart get "not found". */
export function isCartPastRetention(cart: CartLifetime, now: Date): boolean {
  const status = getCartStatusAtTime(cart, now);
  if (status === "active" || status === "locked") return false;
  const endedAt = new Date(cart.endedAt ?? cart.expiresAt);
  return endedAt.getTime() + endedCartRetentionMs <= now.getTime();
}

/**
 * Returns the next time after `now` at which the rendered cart changes although no data changes, or at which
 * the cart can no longer be read: when the cart, its address or its checkout session expires, when a preorder
 * becomes available, and 90 days after the cart's end. Returns null if there is no such time.
 */
export function findTimeOfNextCartChange(cart: CartAggregate, now: Date): Date | null {
  const end = new Date(cart.endedAt ?? cart.expiresAt).getTime();
  const times = [
    cart.expiresAt,
    cart.session?.expiresAt,
    cart.address?.expiresAt,
    ...cart.lines.map(({ stock }) => stock?.availableFrom),
  ].map((time) => (time === undefined || time === null ? Number.NaN : new Date(time).getTime()));
  const next = [...times, end + endedCartRetentionMs].filter((time) => time > now.getTime());
  return next.length === 0 ? null : new Date(Math.min(...next));
}

const failureCodeOfStatus: Readonly<Record<Exclude<CartStatus, "active">, FailureCode>> = {
  locked: "cart_locked",
  completed: "cart_completed",
  revoked: "cart_revoked",
  expired: "cart_expired",
  merged: "cart_merged",
};

export interface ExpectedVersionInput {
  /**
   * The version of the object (for example a cart or an order) that the caller has read. If the object has
   * another version now, the command fails. If null or left out, the version is not checked.
   */
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Throws if the cart is not active, or if it has another version than the caller expects. The status is
 * checked first, because the version of an ended cart does not matter.
 */
export function requireChangeableCart(
  cart: CartAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = getCartStatusAtTime(cart, now);
  if (status !== "active") throw createCartConflictFailure(failureCodeOfStatus[status], cart, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== cart.version)
    throw createCartConflictFailure("cart_version_conflict", cart, { now });
}

interface CartConflictDetails {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Creates a 409 failure that contains the current status and version of the cart, so that the caller need not
 * read the cart again.
 */
export function createCartConflictFailure(
  code: FailureCode,
  cart: CartAggregate,
  details: CartConflictDetails,
): Failure {
  return createFailure(code, { conflict: toCartConflictDetail(cart, details) });
}

export function toCartConflictDetail(
  cart: CartAggregate,
  { now, reason = null, data = {} }: CartConflictDetails,
): ConflictErrorDetails {
  return {
    resource: "cart",
    id: cart.id,
    currentStatus: getCartStatusAtTime(cart, now),
    currentVersion: cart.version,
    reason,
    data,
  };
}

/**
 * The buyer for whom a caller acts. A caller with a buyer session (a token for one buyer's browser) acts for
 * this buyer only. Any other caller acts for the buyer that the request names, or for no particular buyer.
 */
export interface BuyerRepresentedByCaller {
  /**
   * The stable id that the frontend uses for the buyer; null if the caller acts for no particular buyer or
   * for a guest.
   */
  readonly buyerReference: string | null;
  /** The id of the caller's buyer session; null if the caller has no buyer session. */
  readonly buyerSessionId: string | null;
}

/**
 * Returns true if the caller acts for a buyer and the cart belongs to another buyer. A cart without a buyer
 * reference belongs to the buyer session that created it: other buyer sessions must not use the cart, but
 * every caller without a buyer session may. A caller that acts for no particular buyer may use all carts.
 */
export function isCartOfOtherBuyer(
  cart: Pick<CartAggregate, "buyerReference" | "buyerSessionId">,
  { buyerReference, buyerSessionId }: BuyerRepresentedByCaller,
): boolean {
  if (cart.buyerReference === null) return buyerSessionId !== null && cart.buyerSessionId !== buyerSessionId;
  const actsForBuyer = buyerReference !== null || buyerSessionId !== null;
  return actsForBuyer && cart.buyerReference !== buyerReference;
}

/**
 * Cart statuses in which the address expires. The address of a locked cart does not expire, because the
 * running checkout needs it. A completed cart keeps its amounts, which depend on the address.
 */
const statusesWithExpiringAddress: ReadonlySet<CartStatus> = new Set(["active", "expired"]);

/**
 * If the address of the cart has expired, returns the cart without the address, and also without tax,
 * shipping price and delivery options, because these depend on the address. Otherwise, returns the cart
 * unchanged.
 */
export function omitExpiredCartAddress(cart: CartAggregate, now: Date): CartAggregate {
  if (
    cart.address === null ||
    new Date(cart.address.expiresAt) > now ||
    !statusesWithExpiringAddress.has(getCartStatusAtTime(cart, now))
  )
    return cart;
  return {
    ...cart,
    address: null,
    deliveryOptions: null,
    deliveryMethodId: null,
    shippingMinor: null,
    shippingDiscountMinor: 0,
    shippingTaxes: null,
    taxMinor: null,
    discountMinor: cart.discountMinor - cart.shippingDiscountMinor,
    totalMinor: cart.subtotalMinor - cart.discountMinor + cart.shippingDiscountMinor,
    lines: cart.lines.map((line) => ({
      ...line,
      taxRate: null,
      taxMinor: null,
      totalMinor: line.subtotalMinor - line.discountMinor,
    })),
    promotions: cart.promotions.map((promotion) => {
      const allocations = promotion.allocations.filter(({ lineId }) => lineId !== null);
      return {
        ...promotion,
        allocations,
        discountMinor: allocations.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
      };
    }),
    warnings: [...cart.warnings, createCartWarning("address_expired", null, {})],
  };
}
