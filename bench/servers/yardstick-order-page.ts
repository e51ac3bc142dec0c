/** Converts the yardstick's order row to the order of the contract. */
import { createHmac } from "node:crypto";
import { joinLocaleChains, type Money, toMoney, findName, type Names } from "./yardstick-parts.ts";

interface OrderLine {
  readonly id: string;
  readonly productId: string;
  readonly variantId: string;
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
  readonly restrictions: readonly string[];
  readonly unit: number;
  readonly subtotal: number;
  readonly discount: number;
  readonly tax: number | null;
  readonly total: number;
  readonly reduced: number;
  readonly quantities: { readonly ordered: number; readonly canceled: number; readonly refunded: number };
  readonly warranty: unknown;
}

interface Payment {
  readonly id: string;
  readonly status: string;
  readonly methodType: string;
  readonly amount: number;
  readonly captured: number;
  readonly refunded: number;
  readonly createdAt: string;
}

interface Refund {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly reason: string;
  readonly createdAt: string;
}

/** A row of the order statement. An empty list is null. */
export interface OrderRow {
  readonly id: string;
  readonly number: string;
  readonly version: number;
  readonly status: string;
  readonly payment_status: string;
  readonly fulfillment_status: string;
  readonly return_status: string;
  readonly country: string;
  readonly currency: string;
  readonly locale: string;
  readonly tax_included: boolean;
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly shipping_minor: number | null;
  readonly tax_minor: number | null;
  readonly total_minor: number;
  readonly reduced_minor: number;
  readonly promotions: readonly {
    readonly code: string | null;
    readonly titles: Names;
    readonly discountMinor: number;
  }[];
  readonly cart_id: string;
  readonly session_id: string;
  readonly buyer_reference: string | null;
  readonly canceled_reason: string | null;
  readonly canceled_actor: string | null;
  readonly canceled_at: string | null;
  readonly placed_at: string;
  readonly updated_at: string;
  readonly merchant_id: string;
  readonly merchant_slug: string;
  readonly merchant_name: string;
  readonly default_locale: string;
  readonly reference_key: string;
  readonly email_hint: string | null;
  readonly address: unknown;
  readonly lines: readonly OrderLine[];
  readonly fulfillments: readonly unknown[] | null;
  readonly payments: readonly Payment[] | null;
  readonly refunds: readonly Refund[] | null;
  readonly returns: readonly unknown[] | null;
  readonly policies: readonly unknown[] | null;
  readonly timeline: readonly unknown[] | null;
}

const referenceDigits = 26;
const orNull = (amountMinor: number | null, currency: string): Money | null =>
  amountMinor === null ? null : toMoney(amountMinor, currency);

export function toOrderPage(row: OrderRow, publicUrl: string): Readonly<Record<string, unknown>> {
  const { currency, locale, default_locale: merchantLocale } = row;
  const [payments, refunds] = [row.payments ?? [], row.refunds ?? []];
  const keptMinor = payments.reduce((sum, { captured, refunded }) => sum + captured - refunded, 0);
  const address = `${publicUrl}/api/v1/open/storefront/orders/${row.id}`;
  const chain = joinLocaleChains([locale, merchantLocale]);
  return {
    id: row.id,
    number: row.number,
    version: row.version,
    status: row.status,
    paymentStatus: row.payment_status,
    fulfillmentStatus: row.fulfillment_status,
    returnStatus: row.return_status,
    merchant: { id: row.merchant_id, slug: row.merchant_slug, name: row.merchant_name },
    market: row.country,
    currency,
    locale,
    lines: row.lines.map((line) => writeLine(line, { currency, keptMinor, publicUrl })),
    totals: totalsOf(row, keptMinor),
    promotions: row.promotions.map(({ code, titles, discountMinor }) => ({
      code,
      title: findName(titles, chain) ?? "",
      discount: toMoney(discountMinor, currency),
    })),
    fulfillments: row.fulfillments ?? [],
    payments: payments.map(({ id, status, methodType, amount, captured, refunded, createdAt }) => ({
      id,
      status,
      methodType,
      amount: toMoney(amount, currency),
      capturedAmount: toMoney(captured, currency),
      refundedAmount: toMoney(refunded, currency),
      createdAt,
    })),
    refunds: refunds.map(({ id, status, amount, reason, createdAt }) => ({
      id,
      status,
      amount: toMoney(amount, currency),
      reason,
      createdAt,
    })),
    returns: row.returns ?? [],
    buyer: { reference: referenceOf(row), guest: row.buyer_reference === null, emailHint: row.email_hint },
    deliveryAddress: row.address,
    policies: row.policies ?? [],
    cartId: row.cart_id,
    checkoutSessionId: row.session_id,
    cancellation:
      row.canceled_at === null
        ? null
        : { reason: row.canceled_reason, actor: row.canceled_actor, at: row.canceled_at },
    timeline: row.timeline ?? [],
    links: {
      cancellationEligibility: `${address}/cancellation-eligibility`,
      afterSalesEligibility: `${address}/after-sales-eligibility`,
    },
    placedAt: row.placed_at,
    updatedAt: row.updated_at,
  };
}

interface Light {
  readonly currency: string;
  readonly keptMinor: number;
  readonly publicUrl: string;
}

function writeLine(line: OrderLine, { currency, keptMinor, publicUrl }: Light): unknown {
  const { productSlug, sku, title, variantTitle, image } = line.display;
  return {
    id: line.id,
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
    unitPrice: toMoney(line.unit, currency),
    quantities: line.quantities,
    subtotal: toMoney(line.subtotal, currency),
    discount: toMoney(line.discount, currency),
    tax: toMoney(line.tax ?? 0, currency),
    total: toMoney(line.total, currency),
    refundable: toMoney(refundableMinor(line, keptMinor), currency),
    restrictions: line.restrictions,
    warranty: line.warranty,
  };
}

/**
 * Returns the amount of the remaining units, rounded so that the amounts of all units add up to the total of
 * the line.
 */
function refundableMinor(
  { total, reduced, quantities: { ordered, canceled, refunded } }: OrderLine,
  keptMinor: number,
): number {
  const gone = canceled + refunded;
  const worth = gone >= ordered ? 0 : total - Math.floor((total * gone) / ordered);
  return Math.max(0, Math.min(worth, total - reduced, keptMinor));
}

function totalsOf(row: OrderRow, keptMinor: number): unknown {
  const { currency } = row;
  const refundedMinor = (row.payments ?? []).reduce((sum, { refunded }) => sum + refunded, 0);
  return {
    subtotal: toMoney(row.subtotal_minor, currency),
    discount: toMoney(row.discount_minor, currency),
    shipping: orNull(row.shipping_minor, currency),
    tax: orNull(row.tax_minor, currency),
    taxIncluded: row.tax_included,
    total: toMoney(row.total_minor, currency),
    estimated: false,
    refunded: toMoney(refundedMinor, currency),
    outstanding: toMoney(row.total_minor - row.reduced_minor - keptMinor, currency),
  };
}

function referenceOf({ id, reference_key: key, buyer_reference: buyer }: OrderRow): string {
  const known = buyer === null ? `order:${id}` : `buyer:${buyer}`;
  return `byr_${createHmac("sha256", key).update(known).digest("hex").slice(0, referenceDigits)}`;
}
