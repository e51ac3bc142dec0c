/** One order of the bulk: what was bought, by whom, when, and what became of it follows from the seed and its number alone. */
import type { Offer } from "#commerce/carts/offer.ts";
import { newCart } from "#demo/carts/new-cart.ts";
import { hashOf, pick, randomFrom } from "#demo/random.ts";
import { lifeOf, type OrderStage } from "#demo/rows/order-stages.ts";
import { type OrderRows, orderRows } from "#demo/rows/order-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { addressIn, type BulkMarketOffer, linesFrom } from "./bulk-cart.ts";

/** What a market's orders can have. */
export interface BulkOrderMarket extends BulkMarketOffer {
  readonly timeZone: string;
}

export interface BulkOrderPlace {
  readonly merchantId: string;
  readonly markets: readonly BulkOrderMarket[];
  /** By product: its categories and all above them. */
  readonly categoryIds: ReadonlyMap<string, readonly string[]>;
  readonly keyring: Keyring;
  readonly now: Date;
  readonly seed: number;
}

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const agesDays = 365;
/** The youngest has been there for a moment. */
const ageMsMin = 10 * minuteMs;
const buyersMax = 50_000;
/** The others are guests. */
const knownShare = 0.8;
const cartLifeMsMax = 2 * hourMs;

export function bulkOrder(number: number, place: BulkOrderPlace): OrderRows {
  const { merchantId, markets, keyring, now, seed, categoryIds } = place;
  const random = randomFrom(hashOf(`order/${seed}/${number}`));
  const { offer, variantIds, timeZone } = pick(random, markets);
  const country = pick(
    random,
    offer.market.countries.filter((code) => addressIn(code) !== null),
  );
  const lines = linesFrom(random, variantIds);
  const placedAt = new Date(now.getTime() - ageMsMin - Math.floor(random() * (agesDays * dayMs - ageMsMin)));
  const stage = stageOf(random, { ageDays: (now.getTime() - placedAt.getTime()) / dayMs, lines: lines.length });
  const buyer = Math.floor(random() * buyersMax);
  const isKnown = random() < knownShare;
  const cart = newCart(keyring, {
    merchantId,
    offer: withoutPromotions(offer),
    country,
    lines,
    buyer: isKnown ? { reference: `buyer-${seed}-${buyer}`, email: `buyer-${buyer}@example.com` } : null,
    address: addressIn(country),
    code: null,
    createdAt: new Date(placedAt.getTime() - Math.floor(random() * cartLifeMsMax) - 5 * minuteMs),
    updatedAt: placedAt,
  });
  return orderRows({ cart, number: numberOf(number, seed), timeZone, categoryIds, life: lifeOf(stage, { placedAt, now }) });
}

/** Uses of promotions are counted where they are taken; what is made here takes none. */
const withoutPromotions = (offer: Offer): Offer => ({ ...offer, automatic: [], code: undefined });

/** Of a hundred orders; the older, the more of them are done. */
const shares: readonly (readonly [untilDays: number, stages: readonly (readonly [OrderStage, number])[]])[] = [
  [
    0.5,
    [
      ["placed", 65],
      ["onHold", 5],
      ["packing", 25],
      ["canceled", 5],
    ],
  ],
  [
    2,
    [
      ["packing", 45],
      ["partlyShipped", 8],
      ["shipped", 40],
      ["canceled", 7],
    ],
  ],
  [
    6,
    [
      ["shipped", 60],
      ["partlyShipped", 5],
      ["delivered", 28],
      ["canceled", 5],
      ["refunded", 2],
    ],
  ],
  [
    28,
    [
      ["delivered", 78],
      ["returnRequested", 4],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
  [
    Infinity,
    [
      ["delivered", 82],
      ["returned", 10],
      ["canceled", 5],
      ["refunded", 3],
    ],
  ],
];

function stageOf(random: () => number, { ageDays, lines }: { readonly ageDays: number; readonly lines: number }): OrderStage {
  const stages = shares.find(([untilDays]) => ageDays < untilDays)?.[1] ?? [];
  let left = random() * 100;
  const stage = stages.find(([, share]) => (left -= share) < 0)?.[0] ?? "placed";
  // A single line goes in one parcel.
  return stage === "partlyShipped" && lines < 2 ? "shipped" : stage;
}

/** Crockford's digits, as the numbers of all orders. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const [digits, bits] = [10, 50n];
/** Odd, so that each number has another product in so many bits. */
const spread = 0x2_c5b1_7f4a_7c15n;

/** Looks random, and is another one for each of a merchant's orders. */
function numberOf(number: number, seed: number): string {
  let rest = BigInt.asUintN(Number(bits), BigInt(number) * spread + BigInt(hashOf(`orders/${seed}`)));
  let text = "";
  for (let digit = 0; digit < digits; digit += 1) {
    text = alphabet.charAt(Number(rest % 32n)) + text;
    rest /= 32n;
  }
  return `${text.slice(0, 5)}-${text.slice(5)}`;
}
