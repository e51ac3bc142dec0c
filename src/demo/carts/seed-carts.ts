/**
 * Gives the demo's merchants their promotions and a cart in every state but those that checkouts bring about, all in the transaction of the caller:
 * the names of demo.json stand for what is there whole. Done again, it makes new carts: those from before may have become anything.
 */
import type { Transaction } from "#database/transaction.ts";
import type { DemoFile } from "#demo/demo-file.ts";
import { type CartLife, cartRows, insertCarts } from "#demo/rows/cart-rows.ts";
import { type CartEntry, type CartKey, demoSales, plainCartNames } from "#demo/demo-data.ts";
import { type CartsPlace, type Drawn, drawCarts, readMarkets } from "./draw-carts.ts";
import type { NewCart } from "./new-cart.ts";
import { seedPromotions } from "./seed-promotions.ts";

type PlainCartName = (typeof plainCartNames)[number];

export interface SeededCarts extends Pick<DemoFile, "promotionCodes"> {
  readonly carts: Readonly<Record<PlainCartName, string>>;
}

export async function seedCarts(transaction: Transaction, { owners, keyring, now }: CartsPlace): Promise<SeededCarts> {
  const markets = await readMarkets(transaction, owners);
  const promotionCodes = await seedPromotions(transaction, { owners, findMarket: markets.ofCountry, now });
  const drawn = await drawCarts(transaction, { owners, keyring, now, markets, promotionCodes, entries: demoSales().carts });
  const idOf = new Map(drawn.map(({ entry, cart }) => [entry.key, cart.id]));
  await insertCarts(
    transaction,
    drawn.map(({ entry, cart }: Drawn<CartEntry>) => cartRows(cart, lifeOf(entry, cart, idOf))),
  );
  return {
    carts: Object.fromEntries(plainCartNames.map((name) => [name, requireId(idOf, name)])) as Record<PlainCartName, string>,
    promotionCodes,
  };
}

/** The version counts the steps that a buyer would have taken. */
function lifeOf({ state, lines }: CartEntry, { createdAt, updatedAt, next }: NewCart, idOf: ReadonlyMap<CartKey, string>): CartLife {
  const isChanged = createdAt < updatedAt && lines.length > 0;
  const steps = [isChanged, next.buyerReference !== null, next.deliveryMethodId !== null, next.promotions.length > 0, state.status !== "active"];
  const version = 1 + steps.filter(Boolean).length;
  const { status } = state;
  if (status === "revoked") return { status, version, revocation: { reason: "buyer_request", note: state.note } };
  if (status === "merged") return { status, version, mergedIntoCartId: requireId(idOf, state.into) };
  return { status, version };
}

function requireId(idOf: ReadonlyMap<CartKey, string>, key: CartKey): string {
  const id = idOf.get(key);
  if (id === undefined) throw new Error(`The demo has no cart ${key}.`);
  return id;
}
