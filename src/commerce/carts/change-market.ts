/** Takes a cart to another country: its lines are priced anew, and what is not sold there leaves it. */
import { erasePersonalData } from "#commerce/addresses/personal-data.ts";
import { faultAt, requireNoFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { isCountry } from "#foundation/locales.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { draftOf } from "./cart-draft.ts";
import { type Expected, requireChangeable } from "./cart-status.ts";
import { applyPlan, type CartCommandContext, lockCart } from "./change-cart.ts";
import { requireCountry } from "./create-cart.ts";
import { warning } from "./price-lines.ts";

export interface CartMarketChangeInput extends Expected {
  /** ISO 3166-1 alpha-2. */
  readonly market: string;
}

export async function changeMarket(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartMarketChangeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  if (!isCountry(input.market)) requireNoFaults([faultAt("/market", "unknown_country", "It is not a country code of ISO 3166-1, in capitals.")]);
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  const market = await requireCountry(transaction, tenant, input.market);
  // An address in another country than the cart's would be taxed as neither: it ends, and is erased at once.
  const ended = cart.address !== null && cart.address.masked.countryCode !== input.market ? cart.address : null;
  if (ended !== null) await erasePersonalData(transaction, [ended.id], tenant.now);
  const draft = draftOf(cart);
  const address = ended === null ? draft.address : null;
  const warnings = ended === null ? [] : [warning("address_expired", null, {})];
  return applyPlan(transaction, tenant, {
    cart,
    plan: () => ({ event: "cart.updated", draft: { ...draft, marketId: market.id, country: input.market, address, warnings } }),
  });
}
