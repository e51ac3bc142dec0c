/**
 * Commands by which a buyer changes the address, e-mail address, delivery option or promotion code of a
 * checkout session. The rules are the same as for a cart.
 */
import type { LockedCartAndCheckoutSession } from "./session-aggregate.ts";
import {
  type ApplyCartPromotionInput,
  planAddingPromotionCode,
  planPromotionCodeRemoval,
} from "#commerce/carts/cart-promotion.ts";
import {
  type SetCartAddressInput,
  normalizeCartAddressInput,
  saveCartAddressForBuyer,
  encryptAndStoreCartAddress,
} from "#commerce/carts/set-cart-address.ts";
import {
  type SelectCartDeliveryOptionInput,
  planDeliveryOptionSelection,
} from "#commerce/carts/select-delivery.ts";
import { findEmailAddressFaults, replaceBuyerEmailOfCart } from "#commerce/carts/market-and-buyer.ts";
import { toUnpricedCartDraft } from "#commerce/carts/cart-draft.ts";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import type { CartCommandContext, CartChangePlanner } from "#commerce/carts/change-cart.ts";
import type { Transaction } from "#database/transaction.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { changeCartOfCheckoutSession, type CheckoutSessionIdAndExpectedVersion } from "./change-session.ts";
import { chooseContactEmail } from "./contact-email.ts";
import { extendPersonalDataRetentionForCheckoutSession } from "./keep-personal-data.ts";

export interface SetCheckoutSessionAddressInput
  extends SetCartAddressInput, CheckoutSessionIdAndExpectedVersion {
  /**
   * The buyer's e-mail address, which replaces the cart's e-mail address. If left out, the cart keeps its
   * e-mail address; a cart without one gets the e-mail address in the new address.
   */
  readonly contactEmail?: string | null | undefined;
}

export function setCheckoutSessionAddress(
  transaction: Transaction,
  context: CartCommandContext,
  input: SetCheckoutSessionAddressInput,
): Promise<LockedCartAndCheckoutSession> {
  const checked = normalizeCartAddressInput(input);
  const { contactEmail } = input;
  requireNoInputFieldErrors(findEmailAddressFaults("/contactEmail", contactEmail));
  return changeCartOfCheckoutSession(transaction, context, {
    target: input,
    prepare: async (cart, { expiresAt }) => {
      await saveCartAddressForBuyer(transaction, context, { cart, input, checked });
      const { plan } = await encryptAndStoreCartAddress(transaction, context, { cart, ...checked });
      const email = chooseContactEmail(cart, { contactEmail, address: checked.address });
      if (email === null) return plan;
      const buyerEmail = await replaceBuyerEmailOfCart(transaction, context, { cart, email });
      await extendPersonalDataRetentionForCheckoutSession(
        transaction,
        buyerEmail === null ? [] : [buyerEmail.id],
        new Date(expiresAt),
      );
      return withBuyerEmail(plan, buyerEmail);
    },
  });
}

/** Adds the buyer's e-mail address to the planned change of a cart, so that one save of the cart changes both. */
const withBuyerEmail =
  (plan: CartChangePlanner, buyerEmail: CartAggregate["buyerEmail"]): CartChangePlanner =>
  (cart) => {
    const planned = plan(cart);
    if (planned === null) return null;
    return { ...planned, draft: { ...planned.draft, buyerEmailId: buyerEmail?.id ?? null }, buyerEmail };
  };

export interface SetCheckoutSessionContactInput extends CheckoutSessionIdAndExpectedVersion {
  readonly email: string;
}

export function setCheckoutSessionContact(
  transaction: Transaction,
  context: CartCommandContext,
  input: SetCheckoutSessionContactInput,
): Promise<LockedCartAndCheckoutSession> {
  requireNoInputFieldErrors(findEmailAddressFaults("/email", input.email));
  return changeCartOfCheckoutSession(transaction, context, {
    target: input,
    prepare: async (cart, { expiresAt }) => {
      const buyerEmail = await replaceBuyerEmailOfCart(transaction, context, { cart, email: input.email });
      await extendPersonalDataRetentionForCheckoutSession(
        transaction,
        buyerEmail === null ? [] : [buyerEmail.id],
        new Date(expiresAt),
      );
      return withBuyerEmail(() => ({ event: "cart.updated", draft: toUnpricedCartDraft(cart) }), buyerEmail);
    },
  });
}

export function selectCheckoutSessionDeliveryOption(
  transaction: Transaction,
  context: CartCommandContext,
  input: SelectCartDeliveryOptionInput & CheckoutSessionIdAndExpectedVersion,
): Promise<LockedCartAndCheckoutSession> {
  return changeCartOfCheckoutSession(transaction, context, {
    target: input,
    prepare: () => planDeliveryOptionSelection(input, context.now),
  });
}

export function applyCheckoutSessionPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: ApplyCartPromotionInput & CheckoutSessionIdAndExpectedVersion,
): Promise<LockedCartAndCheckoutSession> {
  const { plan } = planAddingPromotionCode(input, context);
  return changeCartOfCheckoutSession(transaction, context, { target: input, prepare: () => plan });
}

export function removeCheckoutSessionPromotion(
  transaction: Transaction,
  context: CartCommandContext,
  input: CheckoutSessionIdAndExpectedVersion,
): Promise<LockedCartAndCheckoutSession> {
  return changeCartOfCheckoutSession(transaction, context, {
    target: input,
    prepare: () => planPromotionCodeRemoval(context.now),
  });
}
