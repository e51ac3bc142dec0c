/**
 * Renders an order as the API shows it: amounts with their currency, the masked address, and an opaque buyer
 * reference that is valid only with this merchant. Pure; uses only data that is stored with the order, not
 * the current catalog.
 */
import type { MaskedAddress } from "#commerce/addresses/personal-data.ts";
import type { CartTotals } from "#commerce/carts/render-promotion-state.ts";
import { toAbsoluteMediaUrl, type RenderedProductImage } from "#commerce/catalog/render-product.ts";
import type { PolicyType } from "#commerce/markets/change-policy.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import { type Money, createMoney } from "#foundation/money.ts";
import type { OrderAggregate, OrderLine, OrderPromotion } from "./order-aggregate.ts";
import { createOpaqueBuyerReference } from "./opaque-buyers.ts";
import { computeValueOfOrderLineUnitsMinor } from "./order-value.ts";
import {
  computeNetCapturedAmountMinor,
  computeOutstandingAmountMinor,
  getUncanceledQuantity,
} from "./order-statuses.ts";
import { type OrderPartViewsByKind, toOrderPartViews } from "./render-parts.ts";

const quantityNames = [
  "ordered",
  "canceled",
  "allocated",
  "shipped",
  "delivered",
  "returnRequested",
  "returned",
  "refunded",
] as const;
export type OrderLineUnitCountsByState = Readonly<Record<(typeof quantityNames)[number], number>>;

export interface OrderLineView {
  readonly id: string;
  readonly productId: string;
  readonly variantId: string;
  readonly productSlug: string;
  readonly sku: string;
  readonly title: string;
  readonly variantTitle: string | null;
  readonly image: RenderedProductImage | null;
  readonly unitPrice: Money;
  readonly quantities: OrderLineUnitCountsByState;
  readonly subtotal: Money;
  readonly discount: Money;
  readonly tax: Money;
  readonly total: Money;
  readonly refundable: Money;
  readonly restrictions: readonly string[];
  readonly warranty: { readonly id: string; readonly endsAt: string } | null;
}

export interface OrderTotals extends CartTotals {
  readonly refunded: Money;
  readonly outstanding: Money;
}

export interface OrderView extends Pick<
  OrderAggregate,
  | "id"
  | "number"
  | "version"
  | "status"
  | "paymentStatus"
  | "fulfillmentStatus"
  | "returnStatus"
  | "currency"
  | "locale"
  | "cartId"
  | "timeline"
  | "placedAt"
  | "updatedAt"
> {
  readonly merchant: { readonly id: string; readonly slug: string; readonly name: string };
  readonly market: string;
  readonly lines: readonly OrderLineView[];
  readonly totals: OrderTotals;
  readonly promotions: readonly {
    readonly code: string | null;
    readonly title: string;
    readonly discount: Money;
  }[];
  readonly fulfillments: readonly OrderPartViewsByKind["fulfillments"][];
  readonly payments: readonly OrderPartViewsByKind["payments"][];
  readonly refunds: readonly OrderPartViewsByKind["refunds"][];
  readonly returns: readonly OrderPartViewsByKind["returns"][];
  readonly buyer: { readonly reference: string; readonly guest: boolean; readonly emailHint: string | null };
  readonly deliveryAddress: MaskedAddress | null;
  readonly policies: readonly {
    readonly id: string;
    readonly type: PolicyType;
    readonly summary: string;
    readonly capturedAt: string;
  }[];
  readonly checkoutSessionId: string;
  readonly links: { readonly cancellationEligibility: string; readonly afterSalesEligibility: string };
}

export interface OrderRenderContext {
  /** Base URL of this service, which is put before the paths of images and links. */
  readonly publicUrl: string;
}

export function toOrderView(order: OrderAggregate, { publicUrl }: OrderRenderContext): OrderView {
  const {
    id,
    number,
    version,
    status,
    paymentStatus,
    fulfillmentStatus,
    returnStatus,
    merchant,
    currency,
    locale,
  } = order;
  return {
    id,
    number,
    version,
    status,
    paymentStatus,
    fulfillmentStatus,
    returnStatus,
    merchant: {
      id: merchant.id,
      slug: merchant.slug,
      name: merchant.name,
    },
    market: order.country,
    currency,
    locale,
    lines: order.lines.map((line) => toLine(line, order, publicUrl)),
    totals: toTotals(order),
    promotions: order.promotions.map((promotion) => ({
      code: promotion.code,
      title: titleOf(promotion, order),
      discount: createMoney(promotion.discountMinor, currency),
    })),
    fulfillments: toOrderPartViews(order, "fulfillments"),
    payments: toOrderPartViews(order, "payments"),
    refunds: toOrderPartViews(order, "refunds"),
    returns: toOrderPartViews(order, "returns"),
    buyer: {
      reference: createOpaqueBuyerReference(order),
      guest: order.buyerReference === null,
      emailHint: order.buyerEmail?.hint ?? null,
    },
    deliveryAddress: order.address?.masked ?? null,
    policies: order.policies.map((policy) => ({
      id: policy.id,
      type: policy.type,
      summary: policy.summary,
      capturedAt: policy.capturedAt,
    })),
    cartId: order.cartId,
    checkoutSessionId: order.sessionId,
    timeline: order.timeline,
    links: linksOf(order, publicUrl),
    placedAt: order.placedAt,
    updatedAt: order.updatedAt,
  };
}

function toLine(line: OrderLine, order: OrderAggregate, publicUrl: string): OrderLineView {
  const { id, productId, variantId, display, restrictions } = line;
  const { currency } = order;
  const { image } = display;
  const warranty = order.warranties.find(({ lineId, status }) => lineId === id && status === "active");
  return {
    id,
    productId,
    variantId,
    productSlug: display.productSlug,
    sku: display.sku,
    title: display.title,
    variantTitle: display.variantTitle,
    image:
      image === null
        ? null
        : {
            url: toAbsoluteMediaUrl(image.url, publicUrl),
            alt: image.alt,
            width: image.width,
            height: image.height,
          },
    unitPrice: createMoney(line.unitPriceMinor, currency),
    quantities: Object.fromEntries(
      quantityNames.map((name) => [name, line[name]]),
    ) as OrderLineUnitCountsByState,
    subtotal: createMoney(line.subtotalMinor, currency),
    discount: createMoney(line.discountMinor, currency),
    tax: createMoney(line.taxMinor ?? 0, currency),
    total: createMoney(line.totalMinor, currency),
    refundable: createMoney(computeRefundableLineAmountMinor(line, order), currency),
    restrictions,
    warranty:
      warranty === undefined
        ? null
        : {
            id: warranty.id,
            endsAt: warranty.endsAt,
          },
  };
}

/**
 * Returns the amount that can still be refunded for an order line: the value of its units that are neither
 * canceled nor refunded. The result is never more than the part of the order's captured amount that was not
 * refunded.
 */
export function computeRefundableLineAmountMinor(
  line: OrderLine,
  order: Pick<OrderAggregate, "payments">,
): number {
  return Math.max(
    0,
    Math.min(
      computeValueOfOrderLineUnitsMinor(line, Math.max(0, getUncanceledQuantity(line) - line.refunded)),
      computeNetCapturedAmountMinor(order),
    ),
  );
}

function toTotals(order: OrderAggregate): OrderTotals {
  const { currency, shippingMinor, taxMinor } = order;
  return {
    subtotal: createMoney(order.subtotalMinor, currency),
    discount: createMoney(order.discountMinor, currency),
    shipping: shippingMinor === null ? null : createMoney(shippingMinor, currency),
    tax: taxMinor === null ? null : createMoney(taxMinor, currency),
    taxIncluded: order.taxIncluded,
    total: createMoney(order.totalMinor, currency),
    // Contrary to the totals of a cart, the totals of an order are final, so they are never marked as
    // estimated.
    estimated: false,
    refunded: createMoney(
      order.payments.reduce((sum, { refundedMinor }) => sum + refundedMinor, 0),
      currency,
    ),
    outstanding: createMoney(computeOutstandingAmountMinor(order), currency),
  };
}

function titleOf({ titles }: OrderPromotion, { locale, merchant }: OrderAggregate): string {
  return titles[chooseBestLocale(Object.keys(titles), [locale], [merchant.defaultLocale]) ?? ""] ?? "";
}

function linksOf({ id }: OrderAggregate, publicUrl: string): OrderView["links"] {
  const order = `${publicUrl}/api/v1/open/storefront/orders/${id}`;
  return {
    cancellationEligibility: `${order}/cancellation-eligibility`,
    afterSalesEligibility: `${order}/after-sales-eligibility`,
  };
}
