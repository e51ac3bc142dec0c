/** What is wanted of a cart, before it is known what it costs: the part of it that callers decide. */
import type { CartAggregate, StoredAddress, StoredLine, StoredWarning } from "./cart-aggregate.ts";

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

export function codeOf(cart: CartAggregate): CartAggregate["promotions"][number] | undefined {
  return cart.promotions.find(({ trigger }) => trigger === "code");
}
