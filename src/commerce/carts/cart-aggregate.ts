/**
 * The types of a stored cart, of its settings (market, buyer), and of the columns that a change of the cart
 * writes. Prices and texts are those of the cart's last change; only the stock of the lines is current.
 * cart-status.ts computes the status of a cart, which also depends on the time.
 */

import type { AppliedTaxRate, ShippingTax } from "#commerce/pricing/tax-amounts.ts";
import type { PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";
import type { PromotionFieldsShownToBuyers } from "#commerce/promotions/read-promotions.ts";
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { CartTable } from "#database/tables.ts";

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

export interface CartLineDisplayFields {
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  /**
   * The image of the cart line; null if the line has none. The URL of an image that this service serves is a
   * path without a host.
   */
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
  /** The tax rate of the cart line; null if the cart has no address. */
  readonly taxRate: AppliedTaxRate | null;
  readonly taxMinor: number | null;
  readonly totalMinor: number;
  readonly display: CartLineDisplayFields;
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
  /**
   * The amounts that the promotion deducts from each cart line. The entry with `lineId` null is the amount
   * that the promotion deducts from the shipping price.
   */
  readonly allocations: readonly { readonly lineId: string | null; readonly amountMinor: number }[];
}

/** A promotion in a cart, together with the texts and rules of the promotion. */
export type CartPromotionWithShownFields = StoredCartPromotion & PromotionFieldsShownToBuyers;

export interface StoredCartAddress {
  readonly id: string;
  readonly masked: MaskedAddress;
  readonly level: "strict" | "basic";
  readonly expiresAt: string;
  readonly expiresAtMax: string;
}

export const cartRevocationNoteLengthMax = 280;

export type CartRevocationReason =
  | "buyer_request"
  | "merchant_request"
  | "security"
  | "duplicate"
  | "test"
  | "other";

/**
 * The settings of a cart: market, country, locale and buyer. Calculating the prices again does not change
 * them.
 */
export interface CartMarketLocaleAndBuyer {
  readonly marketId: string;
  readonly country: string;
  readonly locale: string;
  readonly buyerReference: string | null;
  /** The id of the buyer session that created the cart; null if the creator had no buyer session. */
  readonly buyerSessionId: string | null;
}

export interface CartAggregate extends CartMarketLocaleAndBuyer {
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
  /** The parts of the shipping price after discounts, each with its tax rate; null if the cart has no address. */
  readonly shippingTaxes: readonly ShippingTax[] | null;
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
  readonly promotions: readonly CartPromotionWithShownFields[];
}

/**
 * The stored cart fields that a change of the cart sets, each with the SQL type of its column. This list is
 * used by the statements that read and save carts, and by the comparison that decides whether a cart has
 * changed.
 */
export const cartColumnTypes = {
  marketId: "text",
  country: "text",
  currency: "text",
  taxIncluded: "boolean",
  locale: "text",
  buyerReference: "text",
  buyerSessionId: "text",
  subtotalMinor: "bigint",
  discountMinor: "bigint",
  shippingMinor: "bigint",
  shippingDiscountMinor: "bigint",
  shippingTaxes: "jsonb",
  taxMinor: "bigint",
  totalMinor: "bigint",
  deliveryMethodId: "text",
  deliveryOptions: "jsonb",
  warnings: "jsonb",
} as const satisfies Partial<
  Record<keyof CartAggregate & keyof CartTable, "text" | "boolean" | "bigint" | "jsonb">
> &
  Record<keyof CartMarketLocaleAndBuyer & keyof CartTable, "text" | "boolean" | "bigint" | "jsonb">;

export type CartTableColumn = keyof typeof cartColumnTypes;

export const cartColumns = Object.keys(cartColumnTypes) as readonly CartTableColumn[];

/** Converts a property name to a column name, for example `marketId` to `market_id`. */
export const toSnakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns the cart's promotion that was added by a code, if any; a cart has at most one. */
export function findPromotionAddedByCode(
  cart: CartAggregate,
): CartAggregate["promotions"][number] | undefined {
  return cart.promotions.find(({ trigger }) => trigger === "code");
}

export function createCartWarning(
  code: CartWarningCode,
  lineId: string | null,
  data: Readonly<Record<string, unknown>>,
): StoredCartWarning {
  return { code, lineId, data };
}
