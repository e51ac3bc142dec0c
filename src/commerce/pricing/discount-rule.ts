/** What a promotion makes cheaper and by how much: the part of it that arithmetic needs. */
import type { Entitlement } from "./entitlement.ts";

/** X units that are bought make Y of the entitled cheaper, again and again; no unit counts twice. */
export interface BuyXGetY {
  readonly kind: "buy_x_get_y";
  readonly buyQuantity: number;
  readonly getQuantity: number;
  /** Off each of the Y; the cheapest are taken. */
  readonly basisPoints: number;
  /** Both lists empty: the same as what is entitled. */
  readonly buy: Entitlement;
}

/** `id` is the promotion's. */
export type DiscountRule = { readonly id: string; readonly entitled: Entitlement } & (
  | { readonly kind: "percentage"; readonly basisPoints: number }
  /** Off the entitled lines together. */
  | { readonly kind: "fixed_amount"; readonly amountMinor: number }
  | { readonly kind: "free_shipping" }
  | BuyXGetY
  /** So many of the entitled units, the cheapest, cost nothing. */
  | { readonly kind: "gift"; readonly getQuantity: number }
);
