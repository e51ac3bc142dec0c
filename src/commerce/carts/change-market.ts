/** Takes a cart to another country: its lines are priced anew, and what is not sold there leaves it. */
import { faultAt, requireNoFaults } from "#commerce/catalog/write-faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { isCountry } from "#foundation/locales.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { draftOf } from "./cart-draft.ts";
import { type Expected, requireChangeable } from "./cart-status.ts";
import { applyPlan, type CartTenant, lockCart } from "./change-cart.ts";
import { requireCountry } from "./create-cart.ts";

export interface CartMarketChangeInput extends Expected {
  /** ISO 3166-1 alpha-2. */
  readonly market: string;
}

export async function changeMarket(
  transaction: Transaction,
  tenant: CartTenant,
  input: CartMarketChangeInput & { readonly cartId: string },
): Promise<CartAggregate> {
  if (!isCountry(input.market)) requireNoFaults([faultAt("/market", "unknown_country", "It is not a country code of ISO 3166-1, in capitals.")]);
  const cart = await lockCart(transaction, tenant, input.cartId);
  requireChangeable(cart, input, tenant.now);
  const market = await requireCountry(transaction, tenant, input.market);
  return applyPlan(transaction, tenant, {
    cart,
    plan: () => {
      const draft = draftOf(cart);
      // An address in another country than the cart's would be taxed as neither.
      const address = draft.address?.masked.countryCode === input.market ? draft.address : null;
      return { event: "cart.updated", draft: { ...draft, marketId: market.id, country: input.market, address } };
    },
  });
}
