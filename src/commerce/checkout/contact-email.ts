/**
 * The contact e-mail of a checkout: the cart's own e-mail, else the e-mail of the cart's address. An e-mail
 * that comes from the address becomes the cart's own e-mail, so that the order and the checkout page have
 * it.
 */
import { findPersonalData, decryptPersonalData } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { omitExpiredAddress } from "#commerce/carts/cart-status.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import { replaceBuyerEmail } from "#commerce/carts/market-and-buyer.ts";
import type { Transaction } from "#database/transaction.ts";

/**
 * Returns the id of the cart's e-mail. If the cart has none, stores the e-mail of the cart's address; null if
 * there is no address, or no e-mail in the address.
 */
export async function resolveContactEmailId(
  transaction: Transaction,
  context: CartCommandContext,
  cart: CartAggregate,
): Promise<string | null> {
  if (cart.buyerEmail !== null) return cart.buyerEmail.id;
  const { address } = omitExpiredAddress(cart, context.now);
  if (address === null) return null;
  const row = (await findPersonalData(transaction, [address.id])).get(address.id);
  const opened = row === undefined ? undefined : decryptPersonalData(context.keyring, row);
  if (opened?.kind !== "address") return null;
  return replaceBuyerEmail(transaction, context, { cart, email: opened.address.email ?? null });
}

/** An address that a checkout gets, and the contact e-mail that the caller sends with the address, if any. */
interface AddressWithContact {
  readonly contactEmail: string | null | undefined;
  readonly address: Pick<PostalAddress, "email">;
}

/**
 * Returns the e-mail that a cart gets together with a new address: the contact e-mail that the caller sends,
 * else the e-mail of the address if the cart has no e-mail. Null if the cart's e-mail stays as it is.
 */
export function chooseContactEmail(
  { buyerEmail }: Pick<CartAggregate, "buyerEmail">,
  { contactEmail, address }: AddressWithContact,
): string | null {
  return contactEmail ?? (buyerEmail === null ? (address.email ?? null) : null);
}
