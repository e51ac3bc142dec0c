/**
 * Determines the contact e-mail address of a checkout: the e-mail address of the cart, or else the e-mail
 * address in the cart's address. In the second case, the e-mail address is also stored in the cart, so that
 * the order and the checkout page have it.
 */
import { decryptPersonalData, type EncryptedPersonalDataRow } from "#commerce/addresses/personal-data.ts";
import type { PostalAddress } from "#commerce/addresses/postal-address.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { CartCommandContext } from "#commerce/carts/change-cart.ts";
import { replaceBuyerEmailOfCart } from "#commerce/carts/market-and-buyer.ts";
import type { Transaction } from "#database/transaction.ts";

interface CartWithAddressRow {
  readonly cart: CartAggregate;
  /** The row with the cart's postal address; undefined if the cart has no address or its address has expired. */
  readonly addressRow: EncryptedPersonalDataRow | undefined;
}

/**
 * Returns the cart's stored e-mail address, with its masked form. If the cart has none, first copies the
 * e-mail address from the cart's postal address to the cart. Returns null if neither exists.
 */
export async function findOrStoreContactEmail(
  transaction: Transaction,
  context: CartCommandContext,
  { cart, addressRow }: CartWithAddressRow,
): Promise<CartAggregate["buyerEmail"]> {
  if (cart.buyerEmail !== null) return cart.buyerEmail;
  const opened = addressRow === undefined ? undefined : decryptPersonalData(context.keyring, addressRow);
  if (opened?.kind !== "address") return null;
  return replaceBuyerEmailOfCart(transaction, context, { cart, email: opened.address.email ?? null });
}

/**
 * A new address for a checkout, and the contact e-mail address that the caller gave together with the
 * address.
 */
interface AddressWithContact {
  readonly contactEmail: string | null | undefined;
  readonly address: Pick<PostalAddress, "email">;
}

/**
 * Returns the e-mail address that a cart gets together with a new address. The caller's contact e-mail
 * address comes first. Without it, a cart that has no e-mail address gets the e-mail address in the new
 * address. Returns null if the cart's e-mail address does not change.
 */
export function chooseContactEmail(
  { buyerEmail }: Pick<CartAggregate, "buyerEmail">,
  { contactEmail, address }: AddressWithContact,
): string | null {
  return contactEmail ?? (buyerEmail === null ? (address.email ?? null) : null);
}
