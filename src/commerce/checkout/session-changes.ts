/** What a buyer may still change while checking out, by the rules of carts: the address, how it is delivered, the code. */
import { type CartPromotionApplyInput, promotionPlan, removalPlan } from "#commerce/carts/cart-promotion.ts";
import { type CartDeliveryOptionSelectInput, deliveryPlan } from "#commerce/carts/select-delivery.ts";
import { type CartAddressSetInput, checkInput, keepForBuyer, sealAddress } from "#commerce/carts/set-address.ts";
import type { CartTenant } from "#commerce/carts/change-cart.ts";
import type { Transaction } from "#database/transaction.ts";
import { changeSession, type LockedSession, type SessionTarget } from "./change-session.ts";

export function setSessionAddress(transaction: Transaction, tenant: CartTenant, input: CartAddressSetInput & SessionTarget): Promise<LockedSession> {
  const checked = checkInput(input);
  return changeSession(transaction, tenant, {
    target: input,
    work: async (cart) => {
      await keepForBuyer(transaction, tenant, { cart, input, checked });
      return (await sealAddress(transaction, tenant, { cart, ...checked })).plan;
    },
  });
}

export function selectSessionDelivery(
  transaction: Transaction,
  tenant: CartTenant,
  input: CartDeliveryOptionSelectInput & SessionTarget,
): Promise<LockedSession> {
  return changeSession(transaction, tenant, { target: input, work: () => deliveryPlan(input, tenant.now) });
}

export function applySessionPromotion(
  transaction: Transaction,
  tenant: CartTenant,
  input: CartPromotionApplyInput & SessionTarget,
): Promise<LockedSession> {
  const { plan } = promotionPlan(input, tenant);
  return changeSession(transaction, tenant, { target: input, work: () => plan });
}

export function removeSessionPromotion(transaction: Transaction, tenant: CartTenant, input: SessionTarget): Promise<LockedSession> {
  return changeSession(transaction, tenant, { target: input, work: () => removalPlan(tenant.now) });
}
