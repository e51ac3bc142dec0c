/** Selects the delivery option of a cart, among the delivery options that exist for the cart's address. */
import { createInvalidFieldFailure } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import {
  omitExpiredCartAddress,
  type ExpectedVersionInput,
  createCartConflictFailure,
} from "./cart-status.ts";
import { toUnpricedCartDraft } from "./cart-draft.ts";
import { type CartCommandContext, changeCart, type CartChangePlanner } from "./change-cart.ts";

export interface SelectCartDeliveryOptionInput extends ExpectedVersionInput {
  /** The id of the delivery option; null to remove the cart's selected delivery option. */
  readonly optionId?: string | null | undefined;
}

/** Selects one of the delivery options for the cart's address. */
export function selectCartDeliveryOption(
  transaction: Transaction,
  context: CartCommandContext,
  input: SelectCartDeliveryOptionInput & { readonly cartId: string },
): Promise<CartAggregate> {
  return changeCart(transaction, context, {
    target: input,
    plan: planDeliveryOptionSelection(input, context.now),
  });
}

/**
 * Returns a function that plans the selection of a delivery option for a cart. The function works for active
 * carts and for carts in checkout.
 */
export function planDeliveryOptionSelection(
  input: Pick<SelectCartDeliveryOptionInput, "optionId">,
  now: Date,
): CartChangePlanner {
  const optionId = input.optionId ?? null;
  return (cart) => {
    if (optionId !== null && omitExpiredCartAddress(cart, now).address === null)
      throw createCartConflictFailure("invalid_state", cart, { now, reason: "address_required" });
    return {
      event: "cart.updated",
      draft: { ...toUnpricedCartDraft(cart), deliveryMethodId: optionId },
      // The selected option must be one of the delivery options of the repriced cart, because the stored
      // options may be outdated.
      checkResult: ({ deliveryMethodId, deliveryOptions }) => {
        if (deliveryMethodId === optionId) return;
        const allowed = (deliveryOptions ?? []).map(({ id }) => id);
        throw createInvalidFieldFailure("invalid_field", "/optionId", {
          code: "unknown",
          message: `The option is not offered for the cart. Offered options: ${allowed.join(", ") || "none"}.`,
        });
      },
    };
  };
}
