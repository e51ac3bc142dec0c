/** One cart of the bulk: what is in it follows from the seed and its number alone; what it costs, from the rules that price every cart. */
import { checkAddress } from "#commerce/addresses/check-address.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import type { Offer } from "#commerce/carts/offer.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import { addressOf } from "#demo/carts/draw-carts.ts";
import { type CartWish, type NewCart, newCart } from "#demo/carts/new-cart.ts";
import { hashOf, pick, randomFrom } from "#demo/random.ts";
import type { Keyring } from "#foundation/encryption.ts";

/** What a market's carts can have. */
export interface BulkMarketOffer {
  readonly offer: Offer;
  /** On sale there and plenty of it, always in the same order. */
  readonly variantIds: readonly string[];
}

export interface BulkCartPlace {
  readonly merchantId: string;
  readonly markets: readonly BulkMarketOffer[];
  /** The merchant's that apply now; which of them to a cart is for the rules. */
  readonly codes: readonly PromotionRule[];
  readonly keyring: Keyring;
  readonly now: Date;
  readonly seed: number;
}

const hourMs = 3_600_000;
/** Younger than the age at which carts expire. */
const agesHours = 25 * 24;
/** There is that much of each line: none is cut, whatever it is. */
export const bulkQuantityMax = 3;
const [linesMin, linesMax] = [2, 5];
/** The tenth that is about to check out. */
const deliveredShare = 0.1;
const knownShare = 0.4;

export function bulkCart(number: number, place: BulkCartPlace): NewCart {
  const random = randomFrom(hashOf(`cart/${place.seed}/${number}`));
  const { offer, variantIds } = pick(random, place.markets);
  const country = pick(random, offer.market.countries);
  const lines = linesFrom(random, variantIds);
  const isDelivered = random() < deliveredShare;
  const isKnown = random() < knownShare;
  const createdAt = new Date(place.now.getTime() - Math.floor(random() * agesHours * hourMs) - hourMs);
  // An address is of today, else it would have run out.
  const updatedAt = isDelivered ? place.now : new Date(createdAt.getTime() + Math.floor(random() * hourMs));
  const wish: CartWish = {
    merchantId: place.merchantId,
    offer,
    country,
    lines,
    buyer: isKnown ? { reference: `buyer-${place.seed}-${number}`, email: isDelivered ? `buyer-${number}@example.com` : null } : null,
    address: isDelivered ? addressIn(country) : null,
    code: isDelivered && place.codes.length > 0 ? pick(random, place.codes) : null,
    createdAt,
    updatedAt,
  };
  return newCart(place.keyring, wish);
}

/** Different ones, as far as there are any. */
export function linesFrom(random: () => number, variantIds: readonly string[]): CartWish["lines"] {
  const count = linesMin + Math.floor(random() * (linesMax - linesMin + 1));
  const chosen = new Set<string>();
  while (chosen.size < Math.min(count, variantIds.length)) chosen.add(pick(random, variantIds));
  return [...chosen].map((variantId) => ({ variantId, quantity: 1 + Math.floor(random() * bulkQuantityMax) }));
}

const checked = new Map<string, PostalAddress | null>();

/** The demo's address there; null: it has none. */
export function addressIn(country: string): PostalAddress | null {
  let address = checked.get(country);
  if (address === undefined) {
    const known = addressOf(country);
    address = known === undefined ? null : checkAddress(known, "strict").address;
    checked.set(country, address);
  }
  return address;
}
