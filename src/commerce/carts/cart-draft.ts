/**
 * The stages of a cart change: the draft (everything that callers choose), the repriced cart (the draft with
 * current prices), and the comparison that decides whether the repriced cart differs from the stored cart.
 */
import type { PricedCart } from "#commerce/pricing/price-cart.ts";
import {
  type CartAggregate,
  type CartColumn,
  cartColumns,
  type CartBuyerContext,
  findPromotionWithCode,
  type StoredCartAddress,
  type StoredCartLine,
  type StoredDeliveryOption,
  type StoredCartPromotion,
  type StoredCartWarning,
} from "./cart-aggregate.ts";

/** How long the address of a cart is valid after the last change of the cart, in milliseconds. */
export const cartAddressLifetimeMs = 30 * 60_000;

export interface CartDraftLine {
  readonly id: string;
  readonly variantId: string;
  readonly quantity: number;
  /**
   * The quantity that the buyer wanted, if the line has fewer units because an earlier quantity was reduced
   * and the buyer may not know it. `quantity` if left out.
   */
  readonly wantedQuantity?: number;
  /** The stored cart line that this draft line changes; null if the line is new. */
  readonly before: StoredCartLine | null;
}

export interface CartDraft extends CartBuyerContext {
  readonly buyerEmailId: string | null;
  readonly lines: readonly CartDraftLine[];
  readonly deliveryMethodId: string | null;
  readonly address: StoredCartAddress | null;
  /** The digest of a new address token; undefined if the cart's address keeps its token. */
  readonly addressTokenDigest: Uint8Array | undefined;
  /** The id of the promotion code; null if the cart has no code. */
  readonly promotionCodeId: string | null;
  /** Warnings that the change of the cart itself causes, in addition to the warnings of its pricing. */
  readonly warnings: readonly StoredCartWarning[];
}

/**
 * Copies the settings of a cart. The function lists every setting by name, so that the compiler reports a
 * setting that the function forgets to copy.
 */
export function pickCartSettings({
  marketId,
  country,
  locale,
  buyerReference,
  buyerSessionId,
}: CartBuyerContext): CartBuyerContext {
  return { marketId, country, locale, buyerReference, buyerSessionId };
}

/** Returns the draft of a new cart without lines. */
export function createCartDraft(settings: CartBuyerContext): CartDraft {
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

/** Returns a draft with the same content as the stored cart, which a change then modifies. */
export function toCartDraft(cart: CartAggregate): CartDraft {
  return {
    ...pickCartSettings(cart),
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
    promotionCodeId: findPromotionWithCode(cart)?.promotionCodeId ?? null,
    warnings: [],
  };
}

/** The priced cart that a change stores: every column except for status and times. */
export interface RepricedCart extends CartBuyerContext {
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
  /** The warnings of this change and pricing. */
  readonly warnings: readonly StoredCartWarning[];
  /** Earlier warnings about reduced quantities that no caller is known to have read. */
  readonly unseenWarnings: readonly StoredCartWarning[];
}

/** Returns the values of the columns that `cartColumnTypes` lists. */
export function toCartColumnValues({
  priced,
  unseenWarnings,
  ...next
}: RepricedCart): Pick<CartAggregate, CartColumn> {
  return { ...next, ...priced, warnings: [...unseenWarnings, ...next.warnings] };
}

/**
 * Returns true if the repriced cart equals the stored cart in every compared field. The cart is then not
 * saved.
 */
export function isCartUnchanged(cart: CartAggregate, next: RepricedCart): boolean {
  const { lines, promotions, address, buyerEmailId } = next;
  const after = { ...toCartColumnValues(next), lines, promotions, address, buyerEmailId };
  return (
    toComparableCartState({ ...cart, buyerEmailId: cart.buyerEmail?.id ?? null }) ===
    toComparableCartState(after)
  );
}

export type ComparableCart = Pick<CartAggregate, CartColumn> &
  Pick<RepricedCart, "lines" | "promotions" | "buyerEmailId"> & {
    readonly address: Pick<StoredCartAddress, "id"> | null;
  };

/**
 * Columns that are left out when a repriced cart is compared with the stored cart. Warnings are left out,
 * because new warnings alone are no change of the cart. The shipping discount is left out, because the
 * compared total discount contains it.
 */
const notCompared: ReadonlySet<CartColumn> = new Set<CartColumn>(["warnings", "shippingDiscountMinor"]);
const comparedColumns = cartColumns.filter((name) => !notCompared.has(name));

/**
 * States for each field of a cart line whether a different value counts as a change of the cart. The compiler
 * reports a field of a cart line that this list does not mention.
 */
const lineFields: Readonly<Record<keyof StoredCartLine, boolean>> = {
  id: true,
  variantId: true,
  quantity: true,
  unitPriceMinor: true,
  compareAtMinor: true,
  discountMinor: true,
  taxMinor: true,
  display: true,
  // Differences in these fields of a cart line do not count as a change of the cart, because the fields
  // follow from the compared fields or from the variant. New values are saved with the next change of the
  // cart.
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
  // Differences in these fields of a cart's promotion do not count as a change of the cart, because the
  // fields follow from the promotion and the cart lines.
  trigger: false,
  allocations: false,
};

const comparedLineFields = comparedFieldNames(lineFields);
const comparedPromotionFields = comparedFieldNames(promotionFields);

function comparedFieldNames<Field extends string>(
  fields: Readonly<Record<Field, boolean>>,
): readonly Field[] {
  return (Object.keys(fields) as Field[]).filter((name) => fields[name]);
}

/**
 * Returns a text that is equal for two carts if a buyer would see no difference: the same content and the
 * same prices.
 */
export function toComparableCartState(cart: ComparableCart): string {
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
 * Returns the JSON value with sorted keys and without null fields. Two equal values then have the same text,
 * although PostgreSQL returns the keys of jsonb in its own order.
 */
function toCanonicalJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCanonicalJson);
  return Object.entries(value)
    .filter(([, field]) => field !== null && field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [name, toCanonicalJson(field)]);
}
