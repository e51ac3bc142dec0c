/**
 * A change of a cart, before it is saved: the draft (what callers decide), the next cart (the draft with
 * today's prices), and the comparison that decides whether the next cart differs from the stored one.
 */
import type { PricedCart } from "#commerce/pricing/price-cart.ts";
import {
  type CartAggregate,
  type CartColumn,
  cartColumns,
  type CartSettings,
  findCodePromotion,
  type StoredCartAddress,
  type StoredCartLine,
  type StoredDeliveryOption,
  type StoredCartPromotion,
  type StoredCartWarning,
} from "./cart-aggregate.ts";

export const cartAddressLifetimeMs = 30 * 60_000;

export interface CartDraftLine {
  readonly id: string;
  readonly variantId: string;
  readonly quantity: number;
  /** The stored line; null if the line is new. */
  readonly before: StoredCartLine | null;
}

export interface CartDraft extends CartSettings {
  readonly buyerEmailId: string | null;
  readonly lines: readonly CartDraftLine[];
  readonly deliveryMethodId: string | null;
  readonly address: StoredCartAddress | null;
  /** The digest of a new address token; undefined if the address keeps its token. */
  readonly addressTokenDigest: Uint8Array | undefined;
  /** The id of a promotion code. */
  readonly promotionCodeId: string | null;
  /** Warnings that the change itself causes. */
  readonly warnings: readonly StoredCartWarning[];
}

/** Names every setting, so that a setting that is added to the type is missing here at compile time. */
export function pickCartSettings({ marketId, country, locale, buyerReference }: CartSettings): CartSettings {
  return { marketId, country, locale, buyerReference };
}

/** The draft of a cart that does not exist yet, without lines. */
export function newCartDraft(settings: CartSettings): CartDraft {
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

/** The draft that leaves a cart as it is. */
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
    promotionCodeId: findCodePromotion(cart)?.promotionCodeId ?? null,
    warnings: [],
  };
}

/** What is stored of a cart, except for its status and times. */
export interface NextCart extends CartSettings {
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
  readonly warnings: readonly StoredCartWarning[];
}

/** The values of the columns that are saved as they are in the cart. */
export function cartColumnValues({ priced, ...next }: NextCart): Pick<CartAggregate, CartColumn> {
  return { ...next, ...priced };
}

/** Whether a change leaves everything that is compared as it was; then nothing is saved. */
export function isCartUnchanged(cart: CartAggregate, next: NextCart): boolean {
  const { lines, promotions, address, buyerEmailId } = next;
  const after = { ...cartColumnValues(next), lines, promotions, address, buyerEmailId };
  return (
    comparableCartState({ ...cart, buyerEmailId: cart.buyerEmail?.id ?? null }) === comparableCartState(after)
  );
}

export type ComparableCart = Pick<CartAggregate, CartColumn> &
  Pick<NextCart, "lines" | "promotions" | "buyerEmailId"> & {
    readonly address: Pick<StoredCartAddress, "id"> | null;
  };

/**
 * A new column is compared unless it is named here. Warnings alone are no change, and the other is part of
 * the discount.
 */
const notCompared: ReadonlySet<CartColumn> = new Set<CartColumn>(["warnings", "shippingDiscountMinor"]);
const comparedColumns = cartColumns.filter((name) => !notCompared.has(name));

/** Fields of a line and whether they count. A field that is added to the type is missing here at compile time. */
const lineFields: Readonly<Record<keyof StoredCartLine, boolean>> = {
  id: true,
  variantId: true,
  quantity: true,
  unitPriceMinor: true,
  compareAtMinor: true,
  discountMinor: true,
  taxMinor: true,
  display: true,
  // These follow from the fields above or from the variant; a change of them alone is saved with the next
  // change.
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
  // These follow from the promotion and the lines.
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

/** Two carts with the same text are the same to buyers: what they want and what it costs. */
export function comparableCartState(cart: ComparableCart): string {
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
 * The same value with sorted keys, because jsonb has an order of its own; a field that is null counts as
 * absent.
 */
function toCanonicalJson(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toCanonicalJson);
  return Object.entries(value)
    .filter(([, field]) => field !== null && field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [name, toCanonicalJson(field)]);
}
