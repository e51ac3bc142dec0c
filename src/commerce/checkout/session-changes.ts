/**
 * What a buyer may still change while checking out, by the rules of carts: the address, the e-mail, how it is
 * delivered, the code.
 */
import { type CartPromotionApplyInput, promotionPlan, removalPlan } from "#commerce/carts/cart-promotion.ts";
import {
  type CartAddressSetInput,
  type CartDeliveryOptionSelectInput,
  checkInput,
  deliveryPlan,
  keepForBuyer,
  sealAddress,
} from "#commerce/carts/set-delivery.ts";
import { emailFaults, replaceEmail } from "#commerce/carts/market-and-buyer.ts";
import { draftOf } from "#commerce/carts/cart-draft.ts";
import type { CartCommandContext, PlanCart } from "#commerce/carts/change-cart.ts";
import type { Transaction } from "#database/transaction.ts";
import { requireNoFaults } from "#foundation/faults.ts";
import { changeSession, type LockedSession, type SessionTarget } from "./change-session.ts";
import { keepUntilOver } from "./keep-personal-data.ts";

export interface SessionAddressSetInput extends CartAddressSetInput, SessionTarget {
  /** Of the buyer, in place of the one that the cart has; left out: that one stays. */
  readonly contactEmail?: string | null | undefined;
}

export function setSessionAddress(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: SessionAddressSetInput,
): Promise<LockedSession> {
  const checked = checkInput(input);
  const email = input.contactEmail ?? null;
  requireNoFaults(emailFaults("/contactEmail", email));
  return changeSession(transaction, tenant, {
    target: input,
    work: async (cart, { expiresAt }) => {
      await keepForBuyer(transaction, tenant, { cart, input, checked });
      const { plan } = await sealAddress(transaction, tenant, { cart, ...checked });
      if (email === null) return plan;
      const buyerEmailId = await replaceEmail(transaction, tenant, { cart, email });
      await keepUntilOver(transaction, buyerEmailId === null ? [] : [buyerEmailId], new Date(expiresAt));
      return withEmail(plan, buyerEmailId);
    },
  });
}

/** One change of the cart for both. */
const withEmail =
  (plan: PlanCart, buyerEmailId: string | null): PlanCart =>
  (cart) => {
    const planned = plan(cart);
    return planned === null ? null : { ...planned, draft: { ...planned.draft, buyerEmailId } };
  };

export interface SessionContactSetInput extends SessionTarget {
  readonly email: string;
}

export function setSessionContact(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: SessionContactSetInput,
): Promise<LockedSession> {
  requireNoFaults(emailFaults("/email", input.email));
  return changeSession(transaction, tenant, {
    target: input,
    work: async (cart, { expiresAt }) => {
      const buyerEmailId = await replaceEmail(transaction, tenant, { cart, email: input.email });
      await keepUntilOver(transaction, buyerEmailId === null ? [] : [buyerEmailId], new Date(expiresAt));
      return () => ({ event: "cart.updated", draft: { ...draftOf(cart), buyerEmailId } });
    },
  });
}

export function selectSessionDelivery(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartDeliveryOptionSelectInput & SessionTarget,
): Promise<LockedSession> {
  return changeSession(transaction, tenant, { target: input, work: () => deliveryPlan(input, tenant.now) });
}

export function applySessionPromotion(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartPromotionApplyInput & SessionTarget,
): Promise<LockedSession> {
  const { plan } = promotionPlan(input, tenant);
  return changeSession(transaction, tenant, { target: input, work: () => plan });
}

export function removeSessionPromotion(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: SessionTarget,
): Promise<LockedSession> {
  return changeSession(transaction, tenant, { target: input, work: () => removalPlan(tenant.now) });
}
