/**
 * A cart made whole at once, priced by the rules that every change of a cart is priced by. The database lets a cart be saved only once in a
 * transaction, so what a buyer would do in several steps is one here. An address lives as long as one can: the demo shows it for a day.
 */
import { maskAddress, sealPersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import type { CartDraft, NextCart } from "#commerce/carts/cart-draft.ts";
import type { Offer } from "#commerce/carts/offer.ts";
import { reprice } from "#commerce/carts/reprice.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import type { Row } from "#demo/rows/insert-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { createId } from "#foundation/ids.ts";
import { tokenDigest } from "#commerce/carts/find-carts.ts";

export interface CartWish {
  readonly merchantId: string;
  readonly offer: Offer;
  readonly country: string;
  readonly lines: readonly { readonly variantId: string; readonly quantity: number }[];
  readonly buyer: { readonly reference: string; readonly email: string | null } | null;
  /** It ships there by the first of the market's methods. */
  readonly address: PostalAddress | null;
  /** Left out where it does not apply. */
  readonly code: PromotionRule | null;
  readonly createdAt: Date;
  /** Of its last change. */
  readonly updatedAt: Date;
}

export interface NewCart {
  readonly id: string;
  readonly merchantId: string;
  readonly next: NextCart;
  readonly personalData: readonly Row<"personalData">[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

const dayMs = 86_400_000;
const addressLifeMsMax = dayMs;
/** What is sealed outlives its use by so long. */
const erasedAfterMs = dayMs;
const emailLifeMs = 120 * dayMs;

export function newCart(keyring: Keyring, wish: CartWish): NewCart {
  const { merchantId, offer, createdAt, updatedAt } = wish;
  const draft = draftOf(wish);
  const basis = { before: undefined, now: updatedAt };
  const priced = reprice({ ...basis, draft, offer: { ...offer, code: wish.code ?? undefined } });
  const { next } = priced.refusal === null ? priced : reprice({ ...basis, draft: { ...draft, promotionCodeId: null }, offer });
  const cart = { id: createId("cart", createdAt.getTime()), merchantId, next: withLongestLife(next), createdAt, updatedAt };
  return { ...cart, personalData: sealAll(keyring, wish, cart) };
}

function draftOf({ offer, country, lines, buyer, address, code, updatedAt }: CartWish): CartDraft {
  const { market } = offer;
  const at = updatedAt.getTime();
  return {
    marketId: market.id,
    country,
    locale: market.defaultLocale,
    buyerReference: buyer?.reference ?? null,
    buyerEmailId: typeof buyer?.email === "string" ? createId("personalData", at) : null,
    lines: lines.map(({ variantId, quantity }) => ({ id: createId("cartLine", at), variantId, quantity, before: null })),
    ...deliveryOf(address, market, at),
    promotionCodeId: code?.code?.id ?? null,
    warnings: [],
  };
}

function deliveryOf(
  address: PostalAddress | null,
  { deliveries: [first] }: Offer["market"],
  at: number,
): Pick<CartDraft, "address" | "addressTokenDigest" | "deliveryMethodId"> {
  if (address === null) return { address: null, addressTokenDigest: undefined, deliveryMethodId: null };
  const expiresAt = new Date(at + addressLifeMsMax).toISOString();
  return {
    address: { id: createId("personalData", at), masked: maskAddress(address), level: "strict", expiresAt, expiresAtMax: expiresAt },
    // Nobody knows the token: who needs one gives the address again.
    addressTokenDigest: tokenDigest(createId("addressToken", at)),
    deliveryMethodId: first?.id ?? null,
  };
}

function withLongestLife({ address, ...next }: NextCart): NextCart {
  return { ...next, address: address === null ? null : { ...address, expiresAt: address.expiresAtMax } };
}

/** Of what the cart has come to have: an address outside of its market is none. */
function sealAll(
  keyring: Keyring,
  { address, buyer }: CartWish,
  { id: cartId, merchantId, next, updatedAt: now }: Omit<NewCart, "personalData">,
): Row<"personalData">[] {
  const rows: Row<"personalData">[] = [];
  const place = { merchantId, cartId, now };
  if (address !== null && next.address !== null) {
    const eraseAfter = new Date(now.getTime() + addressLifeMsMax + erasedAfterMs);
    rows.push(toRow(sealPersonalData(keyring, { ...place, id: next.address.id, kind: "address", address, level: "strict", eraseAfter })));
  }
  if (next.buyerEmailId !== null && typeof buyer?.email === "string") {
    const eraseAfter = new Date(now.getTime() + emailLifeMs);
    rows.push(toRow(sealPersonalData(keyring, { ...place, id: next.buyerEmailId, kind: "buyer_email", email: buyer.email, eraseAfter })));
  }
  return rows;
}

function toRow(sealed: ReturnType<typeof sealPersonalData>): Row<"personalData"> {
  return { ...sealed, masked: JSON.parse(sealed.masked) as unknown };
}
