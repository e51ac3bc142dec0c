/** Converts the yardstick's cart row to the cart and the promotion state of the contract. */
import { toCartWarningView } from "#commerce/carts/render-cart.ts";
import {
  availabilities,
  joinLocaleChains,
  type Money,
  toMoney,
  findName,
  type Names,
} from "./yardstick-parts.ts";

interface Allocation {
  readonly lineId: string | null;
  readonly amountMinor: number;
}

export interface CartLine {
  readonly id: string;
  readonly position: number;
  readonly productId: string;
  readonly variantId: string;
  readonly quantity: number;
  readonly unit: number;
  readonly compareAt: number | null;
  readonly subtotal: number;
  readonly discount: number;
  readonly tax: number | null;
  readonly total: number;
  readonly display: {
    readonly productSlug: string;
    readonly sku: string;
    readonly title: string;
    readonly variantTitle: string | null;
    readonly image: {
      readonly url: string;
      readonly alt: string | null;
      readonly width: number;
      readonly height: number;
    } | null;
  };
  readonly requiresShipping: boolean;
  readonly restrictions: readonly string[];
  readonly rank: number;
  readonly available: number;
}

export interface CartPromotion {
  readonly promotionId: string;
  readonly trigger: "code" | "automatic";
  readonly state: string;
  readonly suspendedReason: string | null;
  readonly discount: number;
  readonly allocations: readonly Allocation[];
  readonly code: string | null;
  readonly titles: Names;
  readonly kind: string;
  readonly basisPoints: number | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly isExclusive: boolean;
}

/** A row of the cart statement. An empty list is null. */
export interface CartRow {
  readonly id: string;
  readonly version: number;
  readonly status: string;
  readonly country: string;
  readonly currency: string;
  readonly tax_included: boolean;
  readonly locale: string;
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly shipping_minor: number | null;
  readonly tax_minor: number | null;
  readonly total_minor: number;
  readonly delivery_method_id: string | null;
  readonly delivery_options:
    | readonly {
        id: string;
        name: string;
        carrier: string | null;
        priceMinor: number;
        minDays: number;
        maxDays: number;
        pickup: boolean;
      }[]
    | null;
  readonly warnings: readonly Parameters<typeof toCartWarningView>[0][];
  readonly order_id: string | null;
  readonly address_expires_at: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly expires_at: string;
  readonly merchant_id: string;
  readonly merchant_slug: string;
  readonly merchant_name: string;
  readonly default_locale: string;
  readonly mode: string;
  readonly address: unknown;
  readonly checkout: unknown;
  readonly lines: readonly CartLine[] | null;
  readonly promotions: readonly CartPromotion[] | null;
}

const orNull = (amountMinor: number | null, currency: string): Money | null =>
  amountMinor === null ? null : toMoney(amountMinor, currency);

export function toCartPage(row: CartRow, publicUrl: string): Readonly<Record<string, unknown>> {
  const { currency, delivery_options: options } = row;
  const lines = row.lines ?? [];
  return {
    id: row.id,
    version: row.version,
    status: row.status,
    merchant: { id: row.merchant_id, slug: row.merchant_slug, name: row.merchant_name },
    market: row.country,
    currency,
    locale: row.locale,
    lines: lines.map((line) => writeLine(line, row, publicUrl)),
    totalQuantity: lines.reduce((sum, { quantity }) => sum + quantity, 0),
    totals: totalsOf(row),
    promotion: toPromotionState(row, null),
    address: row.address,
    addressTokenExpiresAt: row.address_expires_at,
    delivery:
      options === null
        ? null
        : {
            selectedOptionId: row.delivery_method_id,
            options: options.map(({ id, name, carrier, priceMinor, minDays, maxDays, pickup }) => ({
              id,
              name,
              carrier,
              price: toMoney(priceMinor, currency),
              minDays,
              maxDays,
              pickup,
            })),
          },
    checkout: row.checkout,
    orderId: row.order_id,
    warnings: row.warnings.map(toCartWarningView),
    revocation: null,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
  };
}

function writeLine(line: CartLine, { currency, promotions }: CartRow, publicUrl: string): unknown {
  const { productSlug, sku, title, variantTitle, image } = line.display;
  return {
    id: line.id,
    position: line.position,
    productId: line.productId,
    variantId: line.variantId,
    productSlug,
    sku,
    title,
    variantTitle,
    image:
      image === null
        ? null
        : {
            url: image.url.startsWith("/") ? publicUrl + image.url : image.url,
            alt: image.alt,
            width: image.width,
            height: image.height,
          },
    quantity: line.quantity,
    unitPrice: toMoney(line.unit, currency),
    compareAtUnitPrice: orNull(line.compareAt, currency),
    subtotal: toMoney(line.subtotal, currency),
    discount: toMoney(line.discount, currency),
    tax: orNull(line.tax, currency),
    total: toMoney(line.total, currency),
    discountAllocations: (promotions ?? []).flatMap(({ trigger, promotionId, allocations }) =>
      allocations
        .filter(({ lineId }) => lineId === line.id)
        .map(({ amountMinor }) => ({ source: trigger, promotionId, amount: toMoney(amountMinor, currency) })),
    ),
    availability: availabilities[line.rank - 1],
    availableQuantity: line.available,
    requiresShipping: line.requiresShipping,
    restrictions: line.restrictions,
  };
}

function totalsOf({
  currency,
  subtotal_minor,
  discount_minor,
  shipping_minor,
  tax_minor,
  tax_included,
  total_minor,
}: CartRow): unknown {
  return {
    subtotal: toMoney(subtotal_minor, currency),
    discount: toMoney(discount_minor, currency),
    shipping: orNull(shipping_minor, currency),
    tax: orNull(tax_minor, currency),
    taxIncluded: tax_included,
    total: toMoney(total_minor, currency),
    estimated: shipping_minor === null || tax_minor === null,
  };
}

/** Converts a cart row to the promotion state. `replaced` is the code that the change replaced. */
export function toPromotionState(row: CartRow, replaced: string | null): unknown {
  const { currency, locale, default_locale: merchantLocale } = row;
  const promotions = row.promotions ?? [];
  const titleOf = ({ titles }: CartPromotion): string =>
    findName(titles, joinLocaleChains([locale, merchantLocale])) ?? "";
  const code = promotions.find(({ trigger }) => trigger === "code");
  return {
    cartId: row.id,
    cartVersion: row.version,
    state: code?.state ?? "none",
    suspendedReason: code?.suspendedReason ?? null,
    promotion: code === undefined ? null : writePromotion(code, titleOf(code)),
    automatic: promotions
      .filter(({ trigger }) => trigger === "automatic")
      .map((promotion) => ({
        id: promotion.promotionId,
        title: titleOf(promotion),
        discount: toMoney(promotion.discount, currency),
      })),
    discount: toMoney(code?.discount ?? 0, currency),
    allocations: (code?.allocations ?? []).map(({ lineId, amountMinor }) => ({
      target: lineId === null ? "shipping" : "line",
      lineId,
      promotionId: code?.promotionId,
      amount: toMoney(amountMinor, currency),
    })),
    replaced: replaced === null ? null : { code: replaced },
    totals: totalsOf(row),
  };
}

function writePromotion(code: CartPromotion, title: string): unknown {
  return {
    id: code.promotionId,
    code: code.code,
    title,
    kind: code.kind,
    value: {
      basisPoints: code.basisPoints,
      amount: code.currency === null ? null : orNull(code.amount, code.currency),
    },
    startsAt: code.startsAt,
    endsAt: code.endsAt,
    combinesWithAutomatic: !code.isExclusive,
  };
}
