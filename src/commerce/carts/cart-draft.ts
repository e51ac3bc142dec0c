/** What is wanted of a cart, before it is known what it costs: the part of it that callers decide. */
import type { PricedCart } from "#commerce/pricing/price-cart.ts";
import {
  type CartAggregate,
  codeOf,
  type StoredAddress,
  type StoredLine,
  type StoredOption,
  type StoredPromotion,
  type StoredWarning,
} from "./cart-aggregate.ts";

export interface DraftLine {
  readonly id: string;
  readonly variantId: string;
  readonly quantity: number;
  /** As it was; null: new. */
  readonly before: StoredLine | null;
}

/** `code`: the id of a promotion code. */
export interface CartDraft {
  readonly marketId: string;
  readonly country: string;
  readonly locale: string;
  readonly buyerReference: string | null;
  readonly buyerEmailId: string | null;
  readonly lines: readonly DraftLine[];
  readonly deliveryMethodId: string | null;
  readonly address: StoredAddress | null;
  /** What the address is found by; undefined: as it was. */
  readonly addressTokenDigest: Uint8Array | undefined;
  readonly promotionCodeId: string | null;
  /** What the change itself has to say. */
  readonly warnings: readonly StoredWarning[];
}

export function draftOf(cart: CartAggregate): CartDraft {
  return {
    marketId: cart.marketId,
    country: cart.country,
    locale: cart.locale,
    buyerReference: cart.buyerReference,
    buyerEmailId: cart.buyerEmail?.id ?? null,
    lines: cart.lines.map((line) => ({ id: line.id, variantId: line.variantId, quantity: line.quantity, before: line })),
    deliveryMethodId: cart.deliveryMethodId,
    address: cart.address,
    addressTokenDigest: undefined,
    promotionCodeId: codeOf(cart)?.promotionCodeId ?? null,
    warnings: [],
  };
}

export const addressLifeMs = 30 * 60_000;

/** What is stored of a cart but for its status and times. */
export interface NextCart {
  readonly marketId: string;
  readonly country: string;
  readonly currency: string;
  readonly taxIncluded: boolean;
  readonly locale: string;
  readonly buyerReference: string | null;
  readonly buyerEmailId: string | null;
  readonly priced: Omit<PricedCart, "lines" | "discounts">;
  readonly lines: readonly StoredLine[];
  readonly promotions: readonly StoredPromotion[];
  readonly deliveryMethodId: string | null;
  readonly deliveryOptions: readonly StoredOption[] | null;
  readonly address: StoredAddress | null;
  readonly addressTokenDigest: Uint8Array | undefined;
  readonly warnings: readonly StoredWarning[];
}
