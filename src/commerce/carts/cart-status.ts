/**
 * The status of a cart at a given time, the lifetimes that decide it, and the conflict errors about a cart's
 * status and version. A cart whose checkout session has run out counts as active again, and a cart that has
 * not been changed for 30 days counts as expired, even before a maintenance job stores that status.
 */
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";
import { type CartStatus, type CartAggregate, createCartWarning } from "./cart-aggregate.ts";

const dayMs = 86_400_000;

export const cartLifetimeMs = 30 * dayMs;

/** How long an ended cart can still be read, in milliseconds after its end. */
export const endedCartRetentionMs = 90 * dayMs;

/**
 * How long the e-mail of a cart's buyer is kept, counted from the last change of the cart: as long as the
 * cart can be read. An order keeps the e-mail longer.
 */
export const buyerEmailRetentionMs = cartLifetimeMs + endedCartRetentionMs;

type CartLifetime = Pick<CartAggregate, "status" | "session" | "expiresAt" | "endedAt">;

/** Returns the status of a cart at the time `now`, which may differ from the stored status. */
export function getCartStatusAt(cart: CartLifetime, now: Date): CartStatus {
  if (cart.status === "locked" && !hasCartSessionEnded(cart, now)) return "locked";
  if (cart.status !== "active" && cart.status !== "locked") return cart.status;
  return new Date(cart.expiresAt) <= now ? "expired" : "active";
}

/**
 * Returns true if no checkout session of the cart is running. A session that is stored as open counts as
 * ended once its expiry time has passed.
 */
export function hasCartSessionEnded({ session }: Pick<CartLifetime, "session">, now: Date): boolean {
  if (session === null) return true;
  return session.status === "open" ? new Date(session.expiresAt) <= now : session.status !== "processing";
}

/** Whether the cart ended more than 90 days ago. Callers then get "not found", as if the cart did not exist. */
export function isCartPastRetention(cart: CartLifetime, now: Date): boolean {
  const status = getCartStatusAt(cart, now);
  if (status === "active" || status === "locked") return false;
  const endedAt = new Date(cart.endedAt ?? cart.expiresAt);
  return endedAt.getTime() + endedCartRetentionMs <= now.getTime();
}

const failureCodeOfStatus: Readonly<Record<Exclude<CartStatus, "active">, FailureCode>> = {
  locked: "cart_locked",
  completed: "cart_completed",
  revoked: "cart_revoked",
  expired: "cart_expired",
  merged: "cart_merged",
};

export interface ExpectedVersionInput {
  /** The version of the cart that the caller has read. If left out, the command does not check the version. */
  readonly expectedVersion?: number | null | undefined;
}

/**
 * Throws unless the cart is active and has the version that the caller expects. Checks the status first,
 * because the version of an ended cart does not matter.
 */
export function requireChangeableCart(
  cart: CartAggregate,
  { expectedVersion }: ExpectedVersionInput,
  now: Date,
): void {
  const status = getCartStatusAt(cart, now);
  if (status !== "active") throw createCartFailure(failureCodeOfStatus[status], cart, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== cart.version)
    throw createCartFailure("cart_version_conflict", cart, { now });
}

interface CartConflictDetails {
  readonly now: Date;
  readonly reason?: string | null;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Returns a 409 failure with the status and version of the cart, so that the caller need not read the cart
 * again.
 */
export function createCartFailure(
  code: FailureCode,
  cart: CartAggregate,
  details: CartConflictDetails,
): Failure {
  return fail(code, { conflict: createCartConflict(cart, details) });
}

export function createCartConflict(
  cart: CartAggregate,
  { now, reason = null, data = {} }: CartConflictDetails,
): FailureConflict {
  return {
    resource: "cart",
    id: cart.id,
    currentStatus: getCartStatusAt(cart, now),
    currentVersion: cart.version,
    reason,
    data,
  };
}

/**
 * The buyer that a caller acts for. A caller with a buyer session acts only for the buyer of the session. Any
 * other caller may act for the buyer that it names, or for no buyer.
 */
export interface ActingBuyer {
  /** The frontend's reference of the buyer; null if the caller acts for no buyer or for a guest. */
  readonly buyerReference: string | null;
  /** The id of the caller's buyer session; null if the caller has no buyer session. */
  readonly buyerSessionId: string | null;
}

/**
 * Returns true if the cart belongs to another buyer than the one that the caller acts for. A cart without a
 * buyer reference belongs to the buyer session that created it, so other buyer sessions must not use it;
 * frontends with a secret token may use every cart without a buyer reference. A caller that acts for no buyer
 * may use the carts of all buyers.
 */
export function isCartOfOtherBuyer(
  cart: Pick<CartAggregate, "buyerReference" | "buyerSessionId">,
  { buyerReference, buyerSessionId }: ActingBuyer,
): boolean {
  if (cart.buyerReference === null) return buyerSessionId !== null && cart.buyerSessionId !== buyerSessionId;
  const actsForBuyer = buyerReference !== null || buyerSessionId !== null;
  return actsForBuyer && cart.buyerReference !== buyerReference;
}

/**
 * Statuses in which the address of a cart expires. The address of a locked cart does not expire, because the
 * checkout needs the address. A completed cart keeps its amounts, which depend on the address.
 */
const statusesWithExpiringAddress: ReadonlySet<CartStatus> = new Set(["active", "expired"]);

/**
 * Removes an expired address from the returned cart, and with it the tax, the shipping price and the delivery
 * options, which depend on the address. Returns a cart without an expired address unchanged.
 */
export function omitExpiredAddress(cart: CartAggregate, now: Date): CartAggregate {
  if (
    cart.address === null ||
    new Date(cart.address.expiresAt) > now ||
    !statusesWithExpiringAddress.has(getCartStatusAt(cart, now))
  )
    return cart;
  return {
    ...cart,
    address: null,
    deliveryOptions: null,
    deliveryMethodId: null,
    shippingMinor: null,
    shippingDiscountMinor: 0,
    taxMinor: null,
    discountMinor: cart.discountMinor - cart.shippingDiscountMinor,
    totalMinor: cart.subtotalMinor - cart.discountMinor + cart.shippingDiscountMinor,
    lines: cart.lines.map((line) => ({
      ...line,
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
