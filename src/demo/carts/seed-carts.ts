/**
 * Gives the demo's merchants their promotions and one cart in every state, all in the transaction of the caller: the names of demo.json stand
 * for what is there whole. Done again, it makes new carts: those from before may have become anything.
 */
import { checkAddress } from "#commerce/addresses/check-address.ts";
import { loadOffer, type Offer } from "#commerce/carts/offer.ts";
import { normalizeCode } from "#commerce/promotions/promotion-codes.ts";
import type { PromotionRule } from "#commerce/promotions/promotion-rule.ts";
import { redeemUses, takeUses } from "#commerce/promotions/promotion-uses.ts";
import type { Transaction } from "#database/transaction.ts";
import { type CartName, cartNames, type DemoFile, type PromotionCodes } from "#demo/demo-file.ts";
import { type CartLife, type CartRows, cartRows, insertCarts } from "#demo/rows/cart-rows.ts";
import { insertRows, type Row } from "#demo/rows/insert-rows.ts";
import type { Keyring } from "#foundation/encryption.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import { demoAddresses } from "./addresses.ts";
import { cartEntries, type CartEntry, type CartKey } from "./cart-entries.ts";
import { type NewCart, newCart } from "./new-cart.ts";
import { type DemoOwners, type FindMarket, seedPromotions } from "./seed-promotions.ts";

export interface CartsPlace {
  readonly owners: DemoOwners;
  readonly keyring: Keyring;
  readonly now: Date;
}

export type SeededCarts = Pick<DemoFile, "carts" | "promotionCodes">;

interface Drawn {
  readonly entry: CartEntry;
  readonly cart: NewCart;
}

export async function seedCarts(transaction: Transaction, { owners, keyring, now }: CartsPlace): Promise<SeededCarts> {
  const markets = await readMarkets(transaction, owners);
  const promotionCodes = await seedPromotions(transaction, { owners, findMarket: markets.ofCountry, now });
  const shelves = await readShelves(transaction, { owners, markets, promotionCodes });
  const drawn = cartEntries.map((entry) => ({ entry, cart: draw(entry, { owners, keyring, now, shelves }) }));
  await save(transaction, drawn);
  const idOf = new Map(drawn.map(({ entry, cart }) => [entry.key, cart.id]));
  return {
    carts: Object.fromEntries(cartNames.map((name) => [name, requireId(idOf, name)])) as Record<CartName, string>,
    promotionCodes,
  };
}

interface Markets {
  readonly ofCountry: FindMarket;
  /** Any of a merchant's. */
  readonly anyOf: (merchantId: string) => { readonly id: string; readonly country: string };
}

async function readMarkets(transaction: Transaction, { first, second }: DemoOwners): Promise<Markets> {
  const rows = await transaction
    .selectFrom("marketCountry")
    .select(["merchantId", "marketId", "country"])
    .where("merchantId", "in", [first.id, second.id])
    .orderBy("marketId")
    .orderBy("position")
    .execute();
  return {
    ofCountry: (merchantId, country) => rows.find((row) => row.merchantId === merchantId && row.country === country)?.marketId,
    anyOf: (merchantId) => {
      const row = rows.find((candidate) => candidate.merchantId === merchantId);
      if (row === undefined) throw new Error(`The demo's merchant ${merchantId} sells to no country any more.`);
      return { id: row.marketId, country: row.country };
    },
  };
}

/** What an entry can take from. */
interface Shelf {
  readonly country: string;
  readonly offer: Offer;
  readonly variantIds: ReadonlyMap<string, string>;
  readonly code: PromotionRule | null;
}

interface Wanted {
  readonly owners: DemoOwners;
  readonly markets: Markets;
  readonly promotionCodes: PromotionCodes;
}

/** One statement for each market and for each code, however many carts there are. */
async function readShelves(transaction: Transaction, { owners, markets, promotionCodes }: Wanted): Promise<ReadonlyMap<CartKey, Shelf>> {
  const variantIds = await readVariants(transaction, owners);
  const offers = new Map<string, Offer>();
  const shelves = new Map<CartKey, Shelf>();
  for (const { key, owner, country, code } of cartEntries) {
    const merchantId = owners[owner].id;
    // A merchant who no longer sells to the country has its carts elsewhere.
    const ofCountry = markets.ofCountry(merchantId, country);
    const market = ofCountry === undefined ? markets.anyOf(merchantId) : { id: ofCountry, country };
    const own = variantIds[owner];
    const asked = { merchantId, marketId: market.id, variantIds: [], buyerReference: null };
    const offer = offers.get(market.id) ?? (await loadOffer(transaction, { ...asked, variantIds: [...own.values()], code: null }));
    offers.set(market.id, offer);
    const codeNormalized = code === undefined ? undefined : normalizeCode(promotionCodes[code]);
    const rule = codeNormalized === undefined ? undefined : (await loadOffer(transaction, { ...asked, code: { normalized: codeNormalized } })).code;
    shelves.set(key, { country: market.country, offer, variantIds: own, code: rule ?? null });
  }
  return shelves;
}

type VariantIds = Readonly<Record<CartEntry["owner"], ReadonlyMap<string, string>>>;

async function readVariants(transaction: Transaction, { first, second }: DemoOwners): Promise<VariantIds> {
  const skus = cartEntries.flatMap(({ lines }) => lines.map(([sku]) => sku));
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

interface Studio extends CartsPlace {
  readonly shelves: ReadonlyMap<CartKey, Shelf>;
}

const minuteMs = 60_000;

function draw(entry: CartEntry, { owners, keyring, now, shelves }: Studio): NewCart {
  const shelf = shelves.get(entry.key);
  if (shelf === undefined) throw new Error(`Nothing was read for the cart ${entry.key}.`);
  const { offer, country, variantIds, code } = shelf;
  const address = entry.isAddressed === true ? demoAddresses.get(country) : undefined;
  const updatedAt = new Date(now.getTime() - entry.quietMinutes * minuteMs);
  const cart = newCart(keyring, {
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
  return entry.state.status === "completed" ? withoutAddress(cart) : cart;
}

/** An order has the address of its own; the cart keeps what was paid. */
function withoutAddress({ next, personalData, ...cart }: NewCart): NewCart {
  return {
    ...cart,
    next: { ...next, address: null, addressTokenDigest: undefined, deliveryOptions: null },
    personalData: personalData.filter(({ kind }) => kind !== "address"),
  };
}

async function save(transaction: Transaction, drawn: readonly Drawn[]): Promise<void> {
  const idOf = new Map(drawn.map(({ entry, cart }) => [entry.key, cart.id]));
  const rows = drawn.map(({ entry, cart }) => cartRows(cart, lifeOf(entry, cart, idOf)));
  await insertCarts(transaction, rows);
  const sessions = rows.flatMap(({ cart }) => sessionsOf(cart));
  await insertRows(transaction, { hostedCheckoutSession: sessions });
  for (const session of sessions) await redeem(transaction, session, requireRows(rows, session.cartId));
}

/** The version counts the steps that a buyer would have taken. */
function lifeOf({ state, lines }: CartEntry, { createdAt, updatedAt, next }: NewCart, idOf: ReadonlyMap<CartKey, string>): CartLife {
  const isChanged = createdAt < updatedAt && lines.length > 0;
  const steps = [isChanged, next.buyerReference !== null, next.deliveryMethodId !== null, next.promotions.length > 0, state.status !== "active"];
  const version = 1 + steps.filter(Boolean).length;
  const { status } = state;
  if (status === "completed") return { status, version, orderId: createId("order", updatedAt.getTime()) };
  if (status === "revoked") return { status, version, revocation: { reason: "buyer_request", note: state.note } };
  if (status === "merged") return { status, version, mergedIntoCartId: requireId(idOf, state.into) };
  return { status, version };
}

/** The longest that a session can live. */
const sessionLifeMs = 24 * 60 * minuteMs;

function sessionsOf({ id: cartId, merchantId, status, updatedAt }: Row<"cart">): Row<"hostedCheckoutSession">[] {
  if (status !== "locked" && status !== "completed") return [];
  const isOpen = status === "locked";
  const at = updatedAt.getTime();
  return [
    {
      id: createId("checkoutSession", at),
      merchantId,
      cartId,
      status: isOpen ? "open" : "completed",
      // Opened, submitted, paid.
      version: isOpen ? 1 : 3,
      expiresAt: new Date(at + sessionLifeMs),
      createdAt: updatedAt,
      updatedAt,
    },
  ];
}

/** What the order of a completed session has used of its promotions. */
async function redeem(transaction: Transaction, session: Row<"hostedCheckoutSession">, { cart, cartPromotion }: CartRows): Promise<void> {
  const { orderId, merchantId, updatedAt: now, buyerReference } = cart;
  if (typeof orderId !== "string" || cartPromotion.length === 0) return;
  const tenant = { merchantId, now, reindex: () => Promise.resolve(), outbox: { append: () => undefined } };
  await takeUses(transaction, {
    tenant,
    sessionId: session.id,
    buyerReference: buyerReference ?? null,
    promotions: cartPromotion.map(({ promotionId, promotionCodeId }) => ({ promotionId, promotionCodeId: promotionCodeId ?? null })),
    refusal: (reason) => fail("promotion_not_applicable", { message: `The demo's own code is refused: ${reason}.` }),
  });
  await redeemUses(transaction, { sessionId: session.id, orderId, now });
}

function requireId(idOf: ReadonlyMap<CartKey, string>, key: CartKey): string {
  const id = idOf.get(key);
  if (id === undefined) throw new Error(`The demo has no cart ${key}.`);
  return id;
}

function requireRows(rows: readonly CartRows[], cartId: string): CartRows {
  const found = rows.find(({ cart }) => cart.id === cartId);
  if (found === undefined) throw new Error(`Cart ${cartId} was not drawn.`);
  return found;
}
