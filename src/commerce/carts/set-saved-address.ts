/** Gives a cart an address that its buyer has kept, without its being typed again. The cart has a copy of its own, which goes with it. */
import { openPersonalData } from "#commerce/addresses/personal-data.ts";
import { refuseAt } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { toId } from "#foundation/ids.ts";
import { type Expected, requireChangeable } from "./cart-status.ts";
import { type CartCommandContext, lockCart } from "./change-cart.ts";
import { type CartAddressToken, saveAddress } from "./set-address.ts";

export interface CartSavedAddressSetInput extends Expected {
  readonly savedAddressId: string;
}

export async function setSavedAddress(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartSavedAddressSetInput & { readonly cartId: string },
): Promise<CartAddressToken> {
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  const row = await transaction
    .selectFrom("personalData")
    .selectAll()
    .where("id", "=", toId(input.savedAddressId))
    .where("merchantId", "=", tenant.merchantId)
    .where("buyerReference", "=", cart.buyerReference)
    .executeTakeFirst();
  const kept = row === undefined ? undefined : openPersonalData(tenant.keyring, row);
  if (kept?.kind !== "address") {
    throw refuseAt("resource_not_found", "/savedAddressId", { code: "unknown", message: "The cart's buyer keeps no such address." });
  }
  return saveAddress(transaction, tenant, { cart, address: kept.address, level: kept.level, corrected: [] });
}
