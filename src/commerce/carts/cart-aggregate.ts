/**
 * The cart as stored: its types, its status and its conflict errors. Prices and texts are those of the last
 * change of the cart; only the stock of a line is current. The status depends on the clock: a cart whose
 * checkout session has run out counts as active again, and a cart that has not been changed for 30 days
 * counts as expired, even before a maintenance job stores that status.
 */
import type { LocalizedMap } from "#commerce/catalog/read-products.ts";
import type { PromotionKind, PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { CartTable } from "#database/tables.ts";
import { fail, type Failure, type FailureCode, type FailureConflict } from "#foundation/failure.ts";

export const cartStatuses = ["active", "locked", "completed", "revoked", "expired", "merged"] as const;
export type CartStatus = (typeof cartStatuses)[number];

export const cartWarningCodes = [
  "price_changed",
  "quantity_reduced",
  "out_of_stock",
  "line_unavailable",
  "promotion_suspended",
  "promotion_removed",
  "address_expired",
  "currency_changed",
  "market_changed",
] as const;
export type CartWarningCode = (typeof cartWarningCodes)[number];

export interface StoredCartWarning {
  readonly code: CartWarningCode;
  readonly lineId: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface StoredDeliveryOption {
  readonly id: string;
  readonly name: string;
  readonly carrier: string | null;
  readonly priceMinor: number;
  readonly minDays: number;
  readonly maxDays: number;
  readonly pickup: boolean;
}

export interface CartLineDisplay {
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  /** The URL of an image that this service serves is a path without a host. */
  readonly image: {
    readonly url: string;
    readonly alt: string | null;
    readonly width: number;
    readonly height: number;
  } | null;
}

export interface StoredCartLine {
  readonly id: string;
  readonly position: number;
  readonly productId: string;
  readonly variantId: string;
  readonly quantity: number;
  readonly unitPriceMinor: number;
  readonly compareAtMinor: number | null;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly display: CartLineDisplay;
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
}

/**
 * A cart line with the current stock of its variant. `stock` is null if the variant was deleted or its
 * product is not published.
 */
export interface CartLineWithStock extends StoredCartLine {
  readonly stock: {
    readonly onHand: number;
    readonly reserved: number;
    readonly backorderLimit: number;
    readonly lowStockThreshold: number;
    readonly discontinued: boolean;
    readonly availableFrom: string | null;
  } | null;
}

export interface StoredCartPromotion {
  readonly promotionId: string;
  readonly trigger: "code" | "automatic";
  readonly promotionCodeId: string | null;
  readonly state: "applied" | "suspended";
  readonly suspendedReason: PromotionRefusalReason | null;
  readonly discountMinor: number;
  /** How the discount is divided. `lineId` is null for the part that reduces the shipping price. */
  readonly allocations: readonly { readonly lineId: string | null; readonly amountMinor: number }[];
}

/** A promotion of a cart, together with the texts and rules of the promotion itself. */
export interface CartPromotionWithRule extends StoredCartPromotion {
  readonly code: string | null;
  readonly titles: LocalizedMap;
  readonly kind: PromotionKind;
  readonly basisPoints: number | null;
  readonly amountMinor: number | null;
  readonly currency: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly isExclusive: boolean;
}

export interface StoredCartAddress {
  readonly id: string;
  readonly masked: MaskedAddress;
  readonly level: "strict" | "basic";
  readonly expiresAt: string;
  readonly expiresAtMax: string;
}

export const cartRevocationNoteMax = 280;
export type CartRevocationReason =
  | "buyer_request"
  | "merchant_request"
  | "security"
  | "duplicate"
  | "test"
  | "other";

/**
 * Settings that callers choose and that pricing leaves as they are: they pass from the cart to its draft and
 * back.
 */
export interface CartSettings {
  readonly marketId: string;
  readonly country: string;
  readonly locale: string;
  readonly buyerReference: string | null;
}

export interface CartAggregate extends CartSettings {
  readonly id: string;
  readonly status: CartStatus;
  readonly version: number;
  readonly merchant: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly defaultLocale: string;
  };
  /** ISO 3166-1 codes of all countries of the cart's market. */
  readonly countries: readonly string[];
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly buyerEmail: { readonly id: string; readonly hint: string } | null;
  readonly subtotalMinor: number;
  readonly discountMinor: number;
  readonly shippingMinor: number | null;
  readonly shippingDiscountMinor: number;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly deliveryMethodId: string | null;
  readonly deliveryOptions: readonly StoredDeliveryOption[] | null;
  readonly warnings: readonly StoredCartWarning[];
  readonly address: StoredCartAddress | null;
  readonly session: {
    readonly id: string;
    readonly status: "open" | "processing" | "completed" | "canceled" | "expired";
    readonly expiresAt: string;
  } | null;
  readonly orderId: string | null;
  readonly mergedIntoCartId: string | null;
  readonly revocation: { readonly reason: CartRevocationReason; readonly note: string | null } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly endedAt: string | null;
  /** The lines of the cart, ordered by position. */
  readonly lines: readonly CartLineWithStock[];
  /** The promotions of the cart, in the order in which they are applied. */
  readonly promotions: readonly CartPromotionWithRule[];
}

/**
 * Fields that a change of the cart sets and that are one column each, with the SQL type of the column. The
 * statements that read and save carts, and the comparison that decides whether a cart has changed, derive
 * from this list.
 */
export const cartColumnTypes = {
  marketId: "text",
  country: "text",
  currency: "text",
  taxIncluded: "boolean",
  locale: "text",
  buyerReference: "text",
  subtotalMinor: "bigint",
  discountMinor: "bigint",
  shippingMinor: "bigint",
  shippingDiscountMinor: "bigint",
  taxMinor: "bigint",
  totalMinor: "bigint",
  deliveryMethodId: "text",
  deliveryOptions: "jsonb",
  warnings: "jsonb",
} as const satisfies Partial<
  Record<keyof CartAggregate & keyof CartTable, "text" | "boolean" | "bigint" | "jsonb">
> &
  Record<keyof CartSettings & keyof CartTable, "text" | "boolean" | "bigint" | "jsonb">;

export type CartColumn = keyof typeof cartColumnTypes;

export const cartColumns = Object.keys(cartColumnTypes) as readonly CartColumn[];

/** `marketId` → `market_id`. */
export const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const dayMs = 86_400_000;
export const cartLifetimeMs = 30 * dayMs;
/** How long a cart can still be read after its end. */
export const endedCartRetentionMs = 90 * dayMs;
/**
 * How long the e-mail of a cart's buyer is kept, counted from the last change of the cart: as long as the
 * cart can be read. An order keeps the e-mail longer.
 */
export const buyerEmailRetentionMs = cartLifetimeMs + endedCartRetentionMs;

type CartLifetime = Pick<CartAggregate, "status" | "session" | "expiresAt" | "endedAt">;

/** Returns the status of a cart at the time `now`, which may differ from the stored status. */
export function cartStatusAt(cart: CartLifetime, now: Date): CartStatus {
  if (cart.status === "locked" && !hasCartSessionEnded(cart, now)) return "locked";
  if (cart.status !== "active" && cart.status !== "locked") return cart.status;
  return new Date(cart.expiresAt) <= now ? "expired" : "active";
}

/**
 * Whether the cart has no running checkout session. A session that is stored as open counts as ended once its
 * time is over.
 */
export function hasCartSessionEnded({ session }: Pick<CartLifetime, "session">, now: Date): boolean {
  if (session === null) return true;
  return session.status === "open" ? new Date(session.expiresAt) <= now : session.status !== "processing";
}

/** Whether the cart ended more than 90 days ago. Callers then get "not found", as if the cart did not exist. */
export function isCartPastRetention(cart: CartLifetime, now: Date): boolean {
  const status = cartStatusAt(cart, now);
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
  /** The version that the caller has seen. No version is checked if the field is left out. */
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
  const status = cartStatusAt(cart, now);
  if (status !== "active") throw cartFailure(failureCodeOfStatus[status], cart, { now });
  if (expectedVersion !== null && expectedVersion !== undefined && expectedVersion !== cart.version)
    throw cartFailure("cart_version_conflict", cart, { now });
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
export function cartFailure(code: FailureCode, cart: CartAggregate, details: CartConflictDetails): Failure {
  return fail(code, { conflict: cartConflict(cart, details) });
}

export function cartConflict(
  cart: CartAggregate,
  { now, reason = null, data = {} }: CartConflictDetails,
): FailureConflict {
  return {
    resource: "cart",
    id: cart.id,
    currentStatus: cartStatusAt(cart, now),
    currentVersion: cart.version,
    reason,
    data,
  };
}

/** Returns the promotion that a code added to the cart; a cart has at most one. */
export function findCodePromotion(cart: CartAggregate): CartAggregate["promotions"][number] | undefined {
  return cart.promotions.find(({ trigger }) => trigger === "code");
}

/**
 * Whether the cart belongs to another buyer than the one that the caller acts for. Always false for a caller
 * without a buyer and for a cart without a buyer: everyone who knows the id of such a cart can use the cart.
 */
export function belongsToOtherBuyer(
  cart: Pick<CartAggregate, "buyerReference">,
  buyerReference: string | null,
): boolean {
  return buyerReference !== null && cart.buyerReference !== null && cart.buyerReference !== buyerReference;
}

export function cartWarning(
  code: CartWarningCode,
  lineId: string | null,
  data: Readonly<Record<string, unknown>>,
): StoredCartWarning {
  return { code, lineId, data };
}

/**
 * Statuses in which the address of a cart expires. A locked cart keeps its address for the checkout, and a
 * completed cart keeps its amounts.
 */
const statusesWithExpiringAddress: ReadonlySet<CartStatus> = new Set(["active", "expired"]);

/**
 * Returns the cart as it is without its address if the address has expired: without tax, shipping price and
 * delivery options, which depend on the address. Returns other carts unchanged.
 */
export function withoutExpiredAddress(cart: CartAggregate, now: Date): CartAggregate {
  if (
    cart.address === null ||
    new Date(cart.address.expiresAt) > now ||
    !statusesWithExpiringAddress.has(cartStatusAt(cart, now))
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
    warnings: [...cart.warnings, cartWarning("address_expired", null, {})],
  };
}
