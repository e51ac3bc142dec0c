/**
 * Renders the totals and the promotions of a cart as the API shows them: the promotion code with its amounts,
 * and the automatic promotions.
 */
import type { PromotionKind, PromotionRefusalReason } from "#commerce/promotions/promotion-rule.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import { type Money, createMoney } from "#foundation/money.ts";
import {
  type CartAggregate,
  findPromotionAddedByCode,
  type CartPromotionWithShownFields,
} from "./cart-aggregate.ts";

export interface CartCodePromotionView {
  readonly id: string;
  readonly code: string;
  readonly title: string;
  readonly kind: PromotionKind;
  readonly value: { readonly basisPoints: number | null; readonly amount: Money | null };
  readonly startsAt: string | null;
  readonly endsAt: string | null;
  readonly combinesWithAutomatic: boolean;
}

export interface CartPromotionsAndDiscountsView {
  readonly cartId: string;
  readonly cartVersion: number;
  readonly state: "none" | "applied" | "suspended";
  readonly suspendedReason: PromotionRefusalReason | null;
  readonly promotion: CartCodePromotionView | null;
  readonly automatic: readonly { readonly id: string; readonly title: string; readonly discount: Money }[];
  readonly discount: Money;
  readonly allocations: readonly {
    readonly target: "line" | "shipping";
    readonly lineId: string | null;
    readonly promotionId: string;
    readonly amount: Money;
  }[];
  readonly replaced: { readonly code: string } | null;
  readonly totals: CartTotals;
}

/**
 * Renders the promotions of a cart. `replaced` is the cart's earlier promotion code if this request replaced
 * it by another code, otherwise null.
 */
export function toCartPromotionsAndDiscountsView(
  cart: CartAggregate,
  { replaced = null }: { readonly replaced?: string | null } = {},
): CartPromotionsAndDiscountsView {
  const { currency } = cart;
  const code = findPromotionAddedByCode(cart);
  return {
    cartId: cart.id,
    cartVersion: cart.version,
    state: code?.state ?? "none",
    suspendedReason: code?.suspendedReason ?? null,
    promotion: code === undefined ? null : toCartPromotionView(code, cart),
    automatic: cart.promotions
      .filter(({ trigger }) => trigger === "automatic")
      .map((promotion) => ({
        id: promotion.promotionId,
        title: promotionTitle(promotion, cart),
        discount: createMoney(promotion.discountMinor, currency),
      })),
    discount: createMoney(code?.discountMinor ?? 0, currency),
    allocations: code === undefined ? [] : toAllocationViews(code, currency),
    replaced: replaced === null ? null : { code: replaced },
    totals: toCartTotals(cart),
  };
}

function toAllocationViews(
  { promotionId, allocations }: CartPromotionWithShownFields,
  currency: string,
): CartPromotionsAndDiscountsView["allocations"] {
  return allocations.map(({ lineId, amountMinor }) => ({
    target: lineId === null ? "shipping" : "line",
    lineId,
    promotionId,
    amount: createMoney(amountMinor, currency),
  }));
}

function toCartPromotionView(
  promotion: CartPromotionWithShownFields,
  cart: CartAggregate,
): CartCodePromotionView {
  const { amountMinor, basisPoints, kind, startsAt, endsAt } = promotion;
  const amount =
    amountMinor === null || promotion.currency === null ? null : createMoney(amountMinor, promotion.currency);
  return {
    id: promotion.promotionId,
    code: promotion.code ?? "",
    title: promotionTitle(promotion, cart),
    kind,
    value: { basisPoints, amount },
    startsAt,
    endsAt,
    combinesWithAutomatic: !promotion.isExclusive,
  };
}

function promotionTitle(
  { titles }: CartPromotionWithShownFields,
  { locale, merchant }: CartAggregate,
): string {
  return titles[chooseBestLocale(Object.keys(titles), [locale], [merchant.defaultLocale]) ?? ""] ?? "";
}

/** The totals of a cart: total = subtotal − discount + shipping, plus tax if the prices do not include tax. */
export interface CartTotals {
  readonly subtotal: Money;
  readonly discount: Money;
  readonly shipping: Money | null;
  readonly tax: Money | null;
  readonly taxIncluded: boolean;
  readonly total: Money;
  readonly estimated: boolean;
}

export function toCartTotals(cart: CartAggregate): CartTotals {
  const { currency, shippingMinor, taxMinor } = cart;
  return {
    subtotal: createMoney(cart.subtotalMinor, currency),
    discount: createMoney(cart.discountMinor, currency),
    shipping: shippingMinor === null ? null : createMoney(shippingMinor, currency),
    tax: taxMinor === null ? null : createMoney(taxMinor, currency),
    taxIncluded: cart.taxIncluded,
    total: createMoney(cart.totalMinor, currency),
    estimated: shippingMinor === null || taxMinor === null,
  };
}
