/**
 * The stages of a cart change: the draft (all values that callers choose), the repriced cart (the draft with
 * current prices), and the comparison that decides whether the repriced cart differs from the stored cart.
 */
import type { PricedCart } from "#commerce/pricing/price-cart.ts";
import {
  type CartAggregate,
  type CartTableColumn,
  cartColumns,
  type CartMarketLocaleAndBuyer,
  findPromotionAddedByCode,
  type StoredCartAddress,
  type StoredCartLine,
  type StoredDeliveryOption,
  type StoredCartPromotion,
  type StoredCartWarning,
} from "./cart-aggregate.ts";

/** How long the address of a cart stays valid if the cart is not changed, in milliseconds. */
export const cartAddressLifetimeMs = 30 * 60_000;

export interface UnpricedCartDraftLine {
  readonly id: string;
  readonly variantId: string;
  readonly quantity: number;
  /**
   * The quantity that the buyer wanted. Set if an earlier change reduced the quantity and the buyer may not
   * have seen the warning about it; otherwise the buyer wanted `quantity`.
   */
  readonly wantedQuantity?: number;
  /** The stored cart line from which this line of the draft was made; null if the line is new. */
  readonly before: StoredCartLine | null;
}

export interface UnpricedCartDraft extends CartMarketLocaleAndBuyer {
  readonly buyerEmailId: string | null;
  readonly lines: readonly UnpricedCartDraftLine[];
  readonly deliveryMethodId: string | null;
  readonly address: StoredCartAddress | null;
  /** The digest of the new address token; undefined if the token of the cart's address does not change. */
  readonly addressTokenDigest: Uint8Array | undefined;
  /** The id of the cart's promotion code; null if the cart has no code. */
  readonly promotionCodeId: string | null;
  /** Warnings that this change of the cart causes, besides those that the price calculation returns. */
  readonly warnings: readonly StoredCartWarning[];
}

/**
 * Copies the settings of a cart. Every setting is listed by name, so that the compiler reports a setting that
 * is missing here.
 */
export function pickCartMarketLocaleAndBuyer({
  marketId,
  country,
  locale,
  buyerReference,
  buyerSessionId,
}: CartMarketLocaleAndBuyer): CartMarketLocaleAndBuyer {
  return { marketId, country, locale, buyerReference, buyerSessionId };
}

/** Returns an empty cart draft, from which a new cart is created. */
export function createEmptyUnpricedCartDraft(settings: CartMarketLocaleAndBuyer): UnpricedCartDraft {
  return {
    ...settings,
    buyerEmailId: null,
    lines: [],
    deliveryMethodId: null,
    address: null,
    addressTokenDigest: undefined,
    promotionCodeId: null,
    warnings: [],
  };
}

/**
 * Copies the content of a stored cart into a cart draft. The change of the cart then modifies the draft, not
 * the stored cart.
 */
export function toUnpricedCartDraft(cart: CartAggregate): UnpricedCartDraft {
  return {
    ...pickCartMarketLocaleAndBuyer(cart),
    buyerEmailId: cart.buyerEmail?.id ?? null,
    lines: cart.lines.map((line) => ({
      id: line.id,
      variantId: line.variantId,
      quantity: line.quantity,
      before: line,
    })),
    deliveryMethodId: cart.deliveryMethodId,
    address: cart.address,
    addressTokenDigest: undefined,
    promotionCodeId: findPromotionAddedByCode(cart)?.promotionCodeId ?? null,
    warnings: [],
  };
}

/**
 * The values of a cart that are saved after its prices were calculated again: every column except the status
 * and the times.
 */
export interface RepricedCart extends CartMarketLocaleAndBuyer {
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly buyerEmailId: string | null;
  readonly priced: Omit<PricedCart, "lines" | "discounts">;
  readonly lines: readonly StoredCartLine[];
  readonly promotions: readonly StoredCartPromotion[];
  readonly deliveryMethodId: string | null;
  readonly deliveryOptions: readonly StoredDeliveryOption[] | null;
  readonly address: StoredCartAddress | null;
  readonly addressTokenDigest: Uint8Array | undefined;
  /** The warnings that this change of the cart caused. */
  readonly warnings: readonly StoredCartWarning[];
  /**
   * Warnings about quantities that earlier changes reduced. They are repeated until the quantity changes
   * again, or until a caller names the cart's version and so shows that it has read the cart.
   */
  readonly unseenWarnings: readonly StoredCartWarning[];
}

/** Returns the values of a repriced cart for those columns that the list `cartColumnTypes` contains. */
export function toCartColumnValues({
  priced,
  unseenWarnings,
  ...next
}: RepricedCart): Pick<CartAggregate, CartTableColumn> {
  return { ...next, ...priced, warnings: [...unseenWarnings, ...next.warnings] };
}

/**
 * Returns true if all compared fields of the repriced cart and of the stored cart are equal. The repriced
 * cart is then not saved.
 */
export function isCartUnchanged(cart: CartAggregate, next: RepricedCart): boolean {
  // Comparing one amount first is much faster than comparing all fields.
  if (cart.totalMinor !== next.priced.totalMinor) return false;
  const { lines, promotions, address, buyerEmailId } = next;
  const after = { ...toCartColumnValues(next), lines, promotions, address, buyerEmailId };
  return (
    createCartComparisonKey({ ...cart, buyerEmailId: cart.buyerEmail?.id ?? null }) ===
    createCartComparisonKey(after)
  );
}

export type CartFieldsComparedForChanges = Pick<CartAggregate, CartTableColumn> &
  Pick<RepricedCart, "lines" | "promotions" | "buyerEmailId"> & {
    readonly address: Pick<StoredCartAddress, "id"> | null;
  };

/**
 * Columns that are ignored when a repriced cart is compared with the stored cart. A cart with nothing but new
 * warnings counts as unchanged. The shipping discount need not be compared, because it is part of the total
 * discount, which is compared.
 */
const notCompared: ReadonlySet<CartTableColumn> = new Set<CartTableColumn>([
  "warnings",
  "shippingDiscountMinor",
]);
const comparedColumns = cartColumns.filter((name) => !notCompared.has(name));

/**
 * The fields of a cart line. `true` means that a different value counts as a change of the cart. The compiler
 * reports a field that is missing in this list.
 */
const lineFields: Readonly<Record<keyof StoredCartLine, boolean>> = {
  id: true,
  variantId: true,
  quantity: true,
  unitPriceMinor: true,
  compareAtMinor: true,
  discountMinor: true,
  taxRate: true,
  taxMinor: true,
  display: true,
  // The following fields of a cart line are ignored when two versions of a cart are compared, because their
  // values follow from the compared fields or from the variant. If only these fields differ, the cart counts
  // as unchanged; the next change of the cart saves their new values.
  position: false,
  productId: false,
  subtotalMinor: false,
  totalMinor: false,
  requiresShipping: false,
  restrictions: false,
};

const promotionFields: Readonly<Record<keyof StoredCartPromotion, boolean>> = {
  promotionId: true,
  promotionCodeId: true,
  state: true,
  suspendedReason: true,
  discountMinor: true,
  // The following fields of a promotion are ignored when two versions of a cart are compared, because their
  // values follow from the promotion and the cart lines.
  trigger: false,
  allocations: false,
};

const storedLineFields = Object.keys(lineFields) as readonly (keyof StoredCartLine)[];

/** Returns true if the line is stored with exactly these values, so that it need not be written. */
export const isStoredCartLineUnchanged = (
  line: StoredCartLine,
  stored: StoredCartLine | undefined,
): boolean =>
  stored !== undefined &&
  line.totalMinor === stored.totalMinor &&
  storedLineFields.every(
    (name) =>
      line[name] === stored[name] ||
      JSON.stringify(toCanonicalJson(line[name])) === JSON.stringify(toCanonicalJson(stored[name])),
  );

const comparedLineFields = comparedFieldNames(lineFields);
const comparedPromotionFields = comparedFieldNames(promotionFields);

function comparedFieldNames<Field extends string>(
  fields: Readonly<Record<Field, boolean>>,
): readonly Field[] {
  return (Object.keys(fields) as Field[]).filter((name) => fields[name]);
}

/**
 * Returns a text that describes the content and the prices of a cart. Two carts have the same text if a buyer
 * would see no difference between them.
 */
export function createCartComparisonKey(cart: CartFieldsComparedForChanges): string {
  return JSON.stringify([
    comparedColumns.map((name) => toCanonicalJson(cart[name])),
    [cart.buyerEmailId, cart.address?.id],
    cart.lines.map((line) => comparedLineFields.map((name) => toCanonicalJson(line[name]))),
    cart.promotions.map((promotion) =>
      comparedPromotionFields.map((name) => toCanonicalJson(promotion[name])),
    ),
  ]);
}

/**
 * Returns a JSON value with sorted keys and without null fields, so that two equal values have the same text.
 * PostgreSQL returns the keys of a jsonb value in its own order.
 */
function toCanonicalJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCanonicalJson);
  return Object.entries(value)
    .filter(([, field]) => field !== null && field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [name, toCanonicalJson(field)]);
}
