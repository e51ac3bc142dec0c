/** The rows of carts that are made whole, and the statements that write any number of them: one a table. */
import { cartLifeMs, type CartStatus, type RevocationReason } from "#commerce/carts/cart-aggregate.ts";
import type { NewCart } from "#demo/carts/new-cart.ts";
import type { Transaction } from "#database/transaction.ts";
import { insertRows, type Row } from "./insert-rows.ts";

/** How far it has come. */
export interface CartLife {
  readonly status: CartStatus;
  readonly version: number;
  readonly orderId?: string;
  readonly mergedIntoCartId?: string;
  readonly revocation?: { readonly reason: RevocationReason; readonly note: string };
}

export interface CartRows {
  readonly cart: Row<"cart">;
  readonly cartLine: readonly Row<"cartLine">[];
  readonly cartPromotion: readonly Row<"cartPromotion">[];
  readonly personalData: readonly Row<"personalData">[];
}

export function cartRows(cart: NewCart, life: CartLife): CartRows {
  const { id: cartId, merchantId, next, updatedAt, personalData } = cart;
  return {
    cart: cartRow(cart, life),
    cartLine: next.lines.map((line) => Object.assign({ cartId, merchantId, createdAt: updatedAt }, line, { restrictions: [...line.restrictions] })),
    cartPromotion: next.promotions.map((promotion, position) => Object.assign({ cartId, position }, promotion)),
    personalData,
  };
}

function cartRow({ id, merchantId, next, createdAt, updatedAt }: NewCart, life: CartLife): Row<"cart"> {
  const { priced, lines: _lines, promotions: _promotions, address: _address, addressTokenDigest: _digest, ...own } = next;
  return {
    ...own,
    ...priced,
    ...addressColumns(next),
    id,
    merchantId,
    ...endColumns(life, updatedAt),
    createdAt,
    updatedAt,
    expiresAt: new Date(updatedAt.getTime() + cartLifeMs),
  };
}

type Columns<Name extends keyof Row<"cart">> = Required<Pick<Row<"cart">, Name>>;

function addressColumns({
  address,
  addressTokenDigest,
}: NewCart["next"]): Columns<"addressId" | "addressTokenDigest" | "addressExpiresAt" | "addressExpiresAtMax"> {
  if (address === null) return { addressId: null, addressTokenDigest: null, addressExpiresAt: null, addressExpiresAtMax: null };
  return {
    addressId: address.id,
    addressTokenDigest: addressTokenDigest ?? null,
    addressExpiresAt: new Date(address.expiresAt),
    addressExpiresAtMax: new Date(address.expiresAtMax),
  };
}

function endColumns(
  { status, version, orderId, mergedIntoCartId, revocation }: CartLife,
  at: Date,
): Columns<"status" | "version" | "orderId" | "mergedIntoCartId" | "revocationReason" | "revocationNote" | "endedAt"> {
  const isLiving = status === "active" || status === "locked" || status === "expired";
  return {
    status,
    version,
    orderId: orderId ?? null,
    mergedIntoCartId: mergedIntoCartId ?? null,
    revocationReason: revocation?.reason ?? null,
    revocationNote: revocation?.note ?? null,
    endedAt: isLiving ? null : at,
  };
}

export function insertCarts(transaction: Transaction, carts: readonly CartRows[]): Promise<void> {
  return insertRows(transaction, {
    cart: carts.map(({ cart }) => cart),
    cartLine: carts.flatMap(({ cartLine }) => cartLine),
    cartPromotion: carts.flatMap(({ cartPromotion }) => cartPromotion),
    personalData: carts.flatMap(({ personalData }) => personalData),
  });
}
