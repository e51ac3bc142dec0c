/**
 * A cart as the contract shows it: status and address by the clock, money with its currency, nothing
 * personal. Pure; what is read from the database a moment later is shown the same.
 */
import { absoluteUrl, type ImageView } from "#commerce/catalog/render-product.ts";
import { type Availability, availabilityOf } from "#commerce/catalog/availability.ts";
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import { type Money, money } from "#foundation/money.ts";
import {
  withoutExpiredAddress,
  type CartAggregate,
  type CartStatus,
  hasCartSessionEnded,
  type CartLineDisplay,
  type CartLineWithStock,
  type CartRevocationReason,
  cartStatusAt,
  type StoredCartWarning,
  type CartWarningCode,
} from "./cart-aggregate.ts";
import {
  type CartTotals,
  type PromotionStateView,
  toPromotionStateView,
  toCartTotals,
} from "./render-promotion-state.ts";

export interface CartLineView {
  readonly id: string;
  readonly position: number;
  readonly productId: string;
  readonly variantId: string;
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly image: ImageView | null;
  readonly quantity: number;
  readonly unitPrice: Money;
  readonly compareAtUnitPrice: Money | null;
  readonly subtotal: Money;
  readonly discount: Money;
  readonly tax: Money | null;
  readonly total: Money;
  readonly discountAllocations: readonly {
    readonly source: "code" | "automatic";
    readonly promotionId: string;
    readonly amount: Money;
  }[];
  readonly availability: Availability;
  readonly availableQuantity: number | null;
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
}

export interface DeliveryOptionView {
  readonly id: string;
  readonly name: string;
  readonly carrier: string | null;
  readonly price: Money;
  readonly minDays: number;
  readonly maxDays: number;
  readonly pickup: boolean;
}

export interface CartView {
  readonly id: string;
  readonly version: number;
  readonly status: CartStatus;
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string };
  readonly market: string;
  readonly currency: string;
  readonly locale: string;
  readonly lines: readonly CartLineView[];
  readonly totalQuantity: number;
  readonly totals: CartTotals;
  readonly promotion: PromotionStateView;
  readonly address: MaskedAddress | null;
  readonly addressTokenExpiresAt: string | null;
  readonly delivery: {
    readonly selectedOptionId: string | null;
    readonly options: readonly DeliveryOptionView[];
  } | null;
  readonly checkout: {
    readonly sessionId: string;
    readonly status: "open" | "processing" | "completed";
  } | null;
  readonly orderId: string | null;
  readonly warnings: readonly CartWarningView[];
  readonly revocation: {
    readonly reason: CartRevocationReason;
    readonly note: string | null;
    readonly at: string;
  } | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
}

export interface CartRenderContext {
  readonly now: Date;
  /** Put before the paths of our own pictures. */
  readonly publicUrl: string;
}

export function toCartView(stored: CartAggregate, light: CartRenderContext): CartView {
  const { now } = light;
  const cart = withoutExpiredAddress(stored, now);
  const { id, version, merchant, country, currency, locale, address, revocation } = cart;
  return {
    id,
    version,
    status: cartStatusAt(cart, now),
    merchant: { id: merchant.id, slug: merchant.slug, name: merchant.name },
    market: country,
    currency,
    locale,
    lines: cart.lines.map((line) => toCartLineView(line, cart, light)),
    totalQuantity: cart.lines.reduce((sum, { quantity }) => sum + quantity, 0),
    totals: toCartTotals(cart),
    promotion: toPromotionStateView(cart),
    address: address?.masked ?? null,
    addressTokenExpiresAt: address?.expiresAt ?? null,
    delivery:
      cart.deliveryOptions === null
        ? null
        : { selectedOptionId: cart.deliveryMethodId, options: toDeliveryOptionViews(cart) },
    checkout: toCheckoutView(cart, now),
    orderId: cart.orderId,
    warnings: cart.warnings.map(toCartWarningView),
    revocation: revocation === null || cart.endedAt === null ? null : { ...revocation, at: cart.endedAt },
    createdAt: cart.createdAt,
    updatedAt: cart.updatedAt,
    expiresAt: cart.expiresAt,
  };
}

/** The top-level fields of the contract that a change made different, with the values they had before. */
export function previousCartFields(
  { before, after }: { readonly before: CartAggregate; readonly after: CartAggregate },
  light: CartRenderContext,
): Record<string, unknown> {
  // The stored status, not the status by the clock: this change writes what the clock had already made of the
  // cart.
  const was: CartView = { ...toCartView(before, light), status: before.status };
  const is = toCartView(after, light);
  // Every change raises the cart's version in the promotion, which alone is no change of the promotion.
  const compared = new Map<string, unknown>(
    Object.entries({ ...was, promotion: { ...was.promotion, cartVersion: is.version } }),
  );
  const now = new Map<string, unknown>(Object.entries(is));
  return Object.fromEntries(
    Object.entries(was).filter(
      ([name]) => JSON.stringify(compared.get(name)) !== JSON.stringify(now.get(name)),
    ),
  );
}

const availableQuantityMax = 100;

function toCartLineView(
  line: CartLineWithStock,
  { currency, promotions }: CartAggregate,
  { now, publicUrl }: CartRenderContext,
): CartLineView {
  const { display, stock } = line;
  return {
    id: line.id,
    position: line.position,
    productId: line.productId,
    variantId: line.variantId,
    productSlug: display.productSlug,
    sku: display.sku,
    title: display.title,
    variantTitle: display.variantTitle,
    image: display.image === null ? null : toImageView(display.image, publicUrl),
    quantity: line.quantity,
    unitPrice: money(line.unitPriceMinor, currency),
    compareAtUnitPrice: line.compareAtMinor === null ? null : money(line.compareAtMinor, currency),
    subtotal: money(line.subtotalMinor, currency),
    discount: money(line.discountMinor, currency),
    tax: line.taxMinor === null ? null : money(line.taxMinor, currency),
    total: money(line.totalMinor, currency),
    discountAllocations: promotions.flatMap(({ trigger, promotionId, allocations }) =>
      allocations
        .filter(({ lineId }) => lineId === line.id)
        .map(({ amountMinor }) => ({ source: trigger, promotionId, amount: money(amountMinor, currency) })),
    ),
    availability:
      stock === null
        ? "discontinued"
        : availabilityOf(
            { ...stock, availableFrom: stock.availableFrom === null ? null : new Date(stock.availableFrom) },
            now,
          ),
    availableQuantity:
      stock === null || stock.discontinued
        ? 0
        : Math.min(availableQuantityMax, Math.max(0, stock.onHand - stock.reserved + stock.backorderLimit)),
    requiresShipping: line.requiresShipping,
    restrictions: line.restrictions,
  };
}

/** In the order of the contract: jsonb keeps none. */
function toImageView(
  { url, alt, width, height }: NonNullable<CartLineDisplay["image"]>,
  publicUrl: string,
): ImageView {
  return { url: absoluteUrl(url, publicUrl), alt, width, height };
}

export function toDeliveryOptionViews({ deliveryOptions, currency }: CartAggregate): DeliveryOptionView[] {
  return (deliveryOptions ?? []).map(({ id, name, carrier, priceMinor, minDays, maxDays, pickup }) => ({
    id,
    name,
    carrier,
    price: money(priceMinor, currency),
    minDays,
    maxDays,
    pickup,
  }));
}

/** What is offered for the address that a cart has now; undefined where it has none any more, or has ended. */
export function currentDeliveryOptions(cart: CartAggregate, now: Date): DeliveryOptionView[] | undefined {
  const status = cartStatusAt(cart, now);
  const present = withoutExpiredAddress(cart, now);
  return present.address === null || (status !== "active" && status !== "locked")
    ? undefined
    : toDeliveryOptionViews(present);
}

/** A session that was canceled or has run out leaves the cart as if it had not been. */
function toCheckoutView(cart: CartAggregate, now: Date): CartView["checkout"] {
  const { session } = cart;
  if (session === null || session.status === "canceled" || session.status === "expired") return null;
  if (session.status === "open" && hasCartSessionEnded(cart, now)) return null;
  return { sessionId: session.id, status: session.status };
}

/** Texts for people; programs read the code and the data of a warning. */
const warningMessages: Readonly<Record<CartWarningCode, string>> = {
  price_changed: "The price of a line has changed.",
  quantity_reduced: "There is less of a line than was wanted; its quantity was reduced.",
  out_of_stock: "A line is sold out.",
  line_unavailable: "A line is no longer sold here.",
  promotion_suspended: "The promotion code does not apply at the moment.",
  promotion_removed: "A promotion code was removed.",
  address_expired: "The address has expired and must be given again.",
  currency_changed: "The currency has changed.",
  market_changed: "The cart is now for another country.",
};

export interface CartWarningView extends StoredCartWarning {
  readonly message: string;
}

export function toCartWarningView({ code, lineId, data }: StoredCartWarning): CartWarningView {
  return { code, lineId, message: warningMessages[code], data };
}
