/**
 * Renders a cart as the API shows it: status and address at a given time, amounts with their currency, no
 * personal data. The functions are pure: the same cart and context always give the same result.
 */
import { isDeepStrictEqual } from "node:util";
import { toAbsoluteMediaUrl, type RenderedProductImage } from "#commerce/catalog/render-product.ts";
import { type StockAvailability, computeStockAvailability } from "#commerce/catalog/availability.ts";
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import { type Money, createMoney } from "#foundation/money.ts";
import type {
  CartAggregate,
  CartStatus,
  CartLineDisplayFields,
  CartLineWithStock,
  CartRevocationReason,
  StoredCartWarning,
  CartWarningCode,
} from "./cart-aggregate.ts";
import { omitExpiredCartAddress, hasNoRunningCheckoutSession, getCartStatusAtTime } from "./cart-status.ts";
import {
  type CartTotals,
  type CartPromotionsAndDiscountsView,
  toCartPromotionsAndDiscountsView,
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
  readonly image: RenderedProductImage | null;
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
  readonly availability: StockAvailability;
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
  readonly promotion: CartPromotionsAndDiscountsView;
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
  readonly warnings: readonly RenderedCartWarning[];
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
  /** Base URL of this service, which completes image paths to absolute URLs. */
  readonly publicUrl: string;
}

export function toCartView(stored: CartAggregate, context: CartRenderContext): CartView {
  const { now } = context;
  const cart = omitExpiredCartAddress(stored, now);
  const { id, version, merchant, country, currency, locale, address, revocation } = cart;
  return {
    id,
    version,
    status: getCartStatusAtTime(cart, now),
    merchant: { id: merchant.id, slug: merchant.slug, name: merchant.name },
    market: country,
    currency,
    locale,
    lines: cart.lines.map((line) => toCartLineView(line, cart, context)),
    totalQuantity: cart.lines.reduce((sum, { quantity }) => sum + quantity, 0),
    totals: toCartTotals(cart),
    promotion: toCartPromotionsAndDiscountsView(cart),
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

/**
 * Compares a cart before and after a change. Returns the top-level fields of the rendered cart that the
 * change has altered, each with its value before the change.
 */
export function getPreviousValuesOfChangedCartFields(
  { before, after }: { readonly before: CartAggregate; readonly after: CartAggregate },
  context: CartRenderContext,
): Record<string, unknown> {
  // The cart before the change is rendered with its stored status, because the event must report the status
  // that the change replaced. The computed status at the time `now` may already differ, for example because
  // the checkout session has run out.
  const previous: CartView = { ...toCartView(before, context), status: before.status };
  const current = toCartView(after, context);
  // The promotion state contains the cart's version, which every change of the cart raises. The comparison
  // ignores this version; otherwise every change of the cart would also be reported as a change of the
  // promotion.
  const compared: Readonly<Record<string, unknown>> = {
    ...previous,
    promotion: { ...previous.promotion, cartVersion: current.version },
  };
  const now: Readonly<Record<string, unknown>> = { ...current };
  return Object.fromEntries(
    Object.entries(previous).filter(([name]) => !isDeepStrictEqual(compared[name], now[name])),
  );
}

/**
 * Maximum number of available units that the API reports for a cart line, so that the merchant's exact stock
 * stays private. For a line with a higher quantity, the API reports at most this higher quantity.
 */
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
    unitPrice: createMoney(line.unitPriceMinor, currency),
    compareAtUnitPrice: line.compareAtMinor === null ? null : createMoney(line.compareAtMinor, currency),
    subtotal: createMoney(line.subtotalMinor, currency),
    discount: createMoney(line.discountMinor, currency),
    tax: line.taxMinor === null ? null : createMoney(line.taxMinor, currency),
    total: createMoney(line.totalMinor, currency),
    discountAllocations: promotions.flatMap(({ trigger, promotionId, allocations }) =>
      allocations
        .filter(({ lineId }) => lineId === line.id)
        .map(({ amountMinor }) => ({
          source: trigger,
          promotionId,
          amount: createMoney(amountMinor, currency),
        })),
    ),
    availability:
      stock === null
        ? "discontinued"
        : computeStockAvailability(
            { ...stock, availableFrom: stock.availableFrom === null ? null : new Date(stock.availableFrom) },
            now,
          ),
    availableQuantity:
      stock === null || stock.discontinued
        ? 0
        : Math.min(
            Math.max(availableQuantityMax, line.quantity),
            Math.max(0, stock.onHand - stock.reserved + stock.backorderLimit),
          ),
    requiresShipping: line.requiresShipping,
    restrictions: line.restrictions,
  };
}

/**
 * Returns the fields of a stored image in the documented order, because PostgreSQL does not keep the key
 * order of a jsonb value.
 */
function toImageView(
  { url, alt, width, height }: NonNullable<CartLineDisplayFields["image"]>,
  publicUrl: string,
): RenderedProductImage {
  return { url: toAbsoluteMediaUrl(url, publicUrl), alt, width, height };
}

export function toDeliveryOptionViews({ deliveryOptions, currency }: CartAggregate): DeliveryOptionView[] {
  return (deliveryOptions ?? []).map(({ id, name, carrier, priceMinor, minDays, maxDays, pickup }) => ({
    id,
    name,
    carrier,
    price: createMoney(priceMinor, currency),
    minDays,
    maxDays,
    pickup,
  }));
}

/**
 * Returns the delivery options for the cart's current address; undefined if the cart has no valid address or
 * has ended.
 */
export function getCurrentDeliveryOptions(cart: CartAggregate, now: Date): DeliveryOptionView[] | undefined {
  const status = getCartStatusAtTime(cart, now);
  const present = omitExpiredCartAddress(cart, now);
  return present.address === null || (status !== "active" && status !== "locked")
    ? undefined
    : toDeliveryOptionViews(present);
}

/** Returns the cart's checkout session as the API shows it; null if the session was canceled or has run out. */
function toCheckoutView(cart: CartAggregate, now: Date): CartView["checkout"] {
  const { session } = cart;
  if (session === null || session.status === "canceled" || session.status === "expired") return null;
  if (session.status === "open" && hasNoRunningCheckoutSession(cart, now)) return null;
  return { sessionId: session.id, status: session.status };
}

/**
 * For each warning code, a text for developers and support staff. Programs should use the code and the data
 * of a warning.
 */
const warningMessages: Readonly<Record<CartWarningCode, string>> = {
  price_changed: "The price of a line has changed.",
  quantity_reduced: "Not enough stock: the quantity of a line was reduced.",
  out_of_stock: "A line is out of stock.",
  line_unavailable: "The variant of a line is no longer sold in the cart's market.",
  promotion_suspended: "The promotion code does not apply to the cart at the moment.",
  promotion_removed: "A promotion code was removed.",
  address_expired: "The address has expired and must be set again.",
  currency_changed: "The cart's currency has changed.",
  market_changed: "The cart's country has changed.",
};

export interface RenderedCartWarning extends StoredCartWarning {
  readonly message: string;
}

export function toCartWarningView({ code, lineId, data }: StoredCartWarning): RenderedCartWarning {
  return { code, lineId, message: warningMessages[code], data };
}
