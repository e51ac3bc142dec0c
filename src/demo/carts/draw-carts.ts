/**
 * Turns carts as they are written in data/sales.json or in a story into priced carts. What is for sale is
 * read once for each market, however many carts there are. Has the rules of sales.json: addresses,
 * promotions, carts and searches.
 */
import { z } from "zod";
import { checkAddress } from "#commerce/addresses/check-address.ts";
import type { PostalAddressInput } from "#commerce/addresses/postal-address.ts";
import { loadOffer, type CartOffer } from "#commerce/carts/load-offer.ts";
import { normalizePromotionCode } from "#commerce/promotions/choose-promotions.ts";
import {
  promotionKinds,
  type PromotionRule,
  promotionStatuses,
} from "#commerce/promotions/promotion-rule.ts";
import type { Transaction } from "#database/transaction.ts";
import {
  cartNames,
  type PromotionCodeName,
  promotionCodeNames,
  type PromotionCodes,
} from "#demo/demo-file.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { count, parseFile, readOnce, readText, text, words } from "#demo/demo-data.ts";
import { type NewCart, newCart } from "#demo/rows/cart-rows.ts";

const ownerName = z.enum(["first", "second"]);

/** The names of the carts in demo.json, without the two that checkouts create. */
export const plainCartNames = cartNames.filter((name) => name !== "locked" && name !== "completed");
const cartKey = z.enum([...plainCartNames, "mergedInto", "american", "japanese"]);
export type CartKey = z.infer<typeof cartKey>;

/**
 * A cart that nobody checks out: one in every status, two to try requests with, and two that show what other
 * markets do to a cart.
 */
const cart = z.strictObject({
  /** A name of demo.json, or of a cart that is only found in lists. */
  key: cartKey,
  owner: ownerName,
  country: text,
  lines: z.array(z.tuple([text, count.min(1)])),
  buyer: z.strictObject({ reference: text, email: text }).exactOptional(),
  isAddressed: z.literal(true).exactOptional(),
  code: z.enum(promotionCodeNames).exactOptional(),
  state: z.discriminatedUnion("status", [
    z.strictObject({ status: z.enum(["active", "expired"]) }),
    z.strictObject({ status: z.literal("revoked"), note: text }),
    z.strictObject({ status: z.literal("merged"), into: cartKey }),
  ]),
  quietMinutes: count,
  livedMinutes: count,
});
export type CartEntry = z.infer<typeof cart>;

const promotion = z.strictObject({
  /** Null if the promotion is automatic. */
  code: z.strictObject({ name: z.enum(promotionCodeNames), text }).nullable(),
  owner: ownerName,
  kind: z.enum(promotionKinds),
  status: z.enum(promotionStatuses),
  titles: words,
  values: z
    .strictObject({
      basisPoints: count,
      amountMinor: count,
      currency: text,
      minimumSubtotalMinor: count,
      usageLimit: count,
    })
    .exactPartial(),
  /** Holds in the market of this country alone; without it in every market. */
  country: text.exactOptional(),
  /** How many days ago its window began and ended. */
  windowDaysAgo: z.tuple([count, count]).exactOptional(),
});
export type PromotionEntry = z.infer<typeof promotion>;

/** How often something is searched for on an ordinary day. */
const searches = z.array(z.strictObject({ query: text, country: text, perDay: count }));

const salesFile = z.strictObject({
  /**
   * Where the buyers live: public places, and nobody's name. One address for each country that the merchants
   * sell to.
   */
  addresses: z.array(
    z.strictObject({
      recipientName: text,
      line1: text,
      postalCode: text,
      city: text,
      regionCode: text.exactOptional(),
      countryCode: text,
    }),
  ),
  promotions: z.array(promotion),
  carts: z.array(cart),
  /** Searches for what the merchants sell, and for what they do not. */
  searches: z.strictObject({ found: searches, missed: searches }),
});

export const demoSales = readOnce(() => parseFile("sales.json", salesFile, readText("sales")));

export interface DemoOwners {
  readonly first: { readonly id: string };
  readonly second: { readonly id: string };
}

/** Which market of a merchant sells to a country. */
export type FindMarket = (merchantId: string, country: string) => string | undefined;

export interface CartToDraw {
  readonly owner: "first" | "second";
  readonly country: string;
  readonly lines: readonly (readonly [sku: string, quantity: number])[];
  readonly buyer?: { readonly reference: string; readonly email: string };
  /** Ships to its country's address of the demo, by the first of the methods. */
  readonly isAddressed?: true;
  readonly code?: PromotionCodeName;
  /** Since its last change, and from its first to its last. */
  readonly quietMinutes: number;
  readonly livedMinutes: number;
}

export interface CartsPlace {
  readonly owners: DemoOwners;
  readonly keyring: Keyring;
  readonly now: Date;
}

export interface Drawing<Entry extends CartToDraw> extends CartsPlace {
  readonly entries: readonly Entry[];
  readonly markets: Markets;
  readonly promotionCodes: PromotionCodes;
}

export interface Drawn<Entry extends CartToDraw> {
  readonly entry: Entry;
  readonly cart: NewCart;
}

export async function drawCarts<Entry extends CartToDraw>(
  transaction: Transaction,
  drawing: Drawing<Entry>,
): Promise<Drawn<Entry>[]> {
  const readShelf = await openShelves(transaction, drawing);
  const drawn: Drawn<Entry>[] = [];
  for (const entry of drawing.entries)
    drawn.push({ entry, cart: draw(entry, { ...drawing, shelf: await readShelf(entry) }) });
  return drawn;
}

export interface Markets {
  readonly ofCountry: FindMarket;
  /** Any of a merchant's. */
  readonly anyOf: (merchantId: string) => { readonly id: string; readonly country: string };
}

export async function readMarkets(transaction: Transaction, { first, second }: DemoOwners): Promise<Markets> {
  const rows = await transaction
    .selectFrom("marketCountry")
    .select(["merchantId", "marketId", "country"])
    .where("merchantId", "in", [first.id, second.id])
    .orderBy("marketId")
    .orderBy("position")
    .execute();
  return {
    ofCountry: (merchantId, country) =>
      rows.find((row) => row.merchantId === merchantId && row.country === country)?.marketId,
    anyOf: (merchantId) => {
      const row = rows.find((candidate) => candidate.merchantId === merchantId);
      if (row === undefined)
        throw new Error(`The demo's merchant ${merchantId} sells to no country any more.`);
      return { id: row.marketId, country: row.country };
    },
  };
}

/** What an entry can take from. */
interface Shelf {
  readonly country: string;
  readonly offer: CartOffer;
  readonly variantIds: ReadonlyMap<string, string>;
  readonly code: PromotionRule | null;
}

type ReadShelf = (entry: CartToDraw) => Promise<Shelf>;

/** One statement for each market and for each code. */
async function openShelves(
  transaction: Transaction,
  { owners, entries, markets, promotionCodes, now }: Drawing<CartToDraw>,
): Promise<ReadShelf> {
  const variantIds = await readVariants(transaction, { owners, entries });
  const offers = new Map<string, CartOffer>();
  return async ({ owner, country, code }) => {
    const merchantId = owners[owner].id;
    // A merchant who no longer sells to the country has its carts elsewhere.
    const ofCountry = markets.ofCountry(merchantId, country);
    const market = ofCountry === undefined ? markets.anyOf(merchantId) : { id: ofCountry, country };
    const own = variantIds[owner];
    const asked = {
      merchantId,
      marketId: market.id,
      variantIds: [],
      buyerReference: null,
      heldBySessionId: null,
      now,
    };
    const offer =
      offers.get(market.id) ??
      (await loadOffer(transaction, { ...asked, variantIds: [...own.values()], code: null }));
    offers.set(market.id, offer);
    const normalized = code === undefined ? undefined : normalizePromotionCode(promotionCodes[code]);
    const rule =
      normalized === undefined
        ? undefined
        : (await loadOffer(transaction, { ...asked, code: { normalized } })).code;
    return { country: market.country, offer, variantIds: own, code: rule ?? null };
  };
}

type VariantIds = Readonly<Record<CartToDraw["owner"], ReadonlyMap<string, string>>>;

async function readVariants(
  transaction: Transaction,
  { owners: { first, second }, entries }: Pick<Drawing<CartToDraw>, "owners" | "entries">,
): Promise<VariantIds> {
  const skus = entries.flatMap(({ lines }) => lines.map(([sku]) => sku));
  const rows = await transaction
    .selectFrom("variant")
    .select(["id", "merchantId", "sku"])
    .where("merchantId", "in", [first.id, second.id])
    .where("sku", "in", skus)
    .execute();
  const of = ({ id: merchantId }: DemoOwners["first"]): Map<string, string> =>
    new Map(rows.filter((row) => row.merchantId === merchantId).map(({ sku, id }) => [sku, id]));
  return { first: of(first), second: of(second) };
}

/** Where the demo's buyers in a country live; undefined if it has none there. */
export function addressOf(country: string): PostalAddressInput | undefined {
  return demoSales().addresses.find(({ countryCode }) => countryCode === country);
}

const minuteMs = 60_000;

function draw(
  entry: CartToDraw,
  { owners, keyring, now, shelf }: CartsPlace & { readonly shelf: Shelf },
): NewCart {
  const { offer, country, variantIds, code } = shelf;
  const address = entry.isAddressed === true ? addressOf(country) : undefined;
  const updatedAt = new Date(now.getTime() - entry.quietMinutes * minuteMs);
  return newCart(keyring, {
    merchantId: owners[entry.owner].id,
    offer,
    country,
    lines: entry.lines.flatMap(([sku, quantity]) => {
      const variantId = variantIds.get(sku);
      return variantId === undefined ? [] : [{ variantId, quantity }];
    }),
    buyer: entry.buyer ?? null,
    address: address === undefined ? null : checkAddress(address, "strict").address,
    code,
    createdAt: new Date(updatedAt.getTime() - entry.livedMinutes * minuteMs),
    updatedAt,
  });
}
