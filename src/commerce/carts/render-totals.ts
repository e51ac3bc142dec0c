/** A cart's sums. Total = subtotal − discount + shipping + the tax that prices do not include. */
import { type Money, money } from "#foundation/money.ts";
import type { CartAggregate } from "./cart-aggregate.ts";

export interface CartTotals {
  readonly subtotal: Money;
  readonly discount: Money;
  readonly shipping: Money | null;
  readonly tax: Money | null;
  readonly taxIncluded: boolean;
  readonly total: Money;
  readonly estimated: boolean;
}

export function toTotals(cart: CartAggregate): CartTotals {
  const { currency, shippingMinor, taxMinor } = cart;
  return {
    subtotal: money(cart.subtotalMinor, currency),
    discount: money(cart.discountMinor, currency),
    shipping: shippingMinor === null ? null : money(shippingMinor, currency),
    tax: taxMinor === null ? null : money(taxMinor, currency),
    taxIncluded: cart.taxIncluded,
    total: money(cart.totalMinor, currency),
    estimated: shippingMinor === null || taxMinor === null,
  };
}
