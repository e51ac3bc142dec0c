/** Chooses how a cart is delivered, among what is offered for its address. */
import { refuseAt } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import type { CartAggregate } from "./cart-aggregate.ts";
import { draftOf } from "./cart-draft.ts";
import { type Expected, refuse } from "./cart-status.ts";
import { type CartCommandContext, changeCart, type PlanCart } from "./change-cart.ts";
import { atTime } from "./render-cart.ts";

export interface CartDeliveryOptionSelectInput extends Expected {
  /** Null: none. */
  readonly optionId?: string | null | undefined;
}

export function selectDelivery(
  transaction: Transaction,
  tenant: CartCommandContext,
  input: CartDeliveryOptionSelectInput & { readonly cartId: string },
): Promise<CartAggregate> {
  return changeCart(transaction, tenant, { target: input, plan: deliveryPlan(input, tenant.now) });
}

/** Also for a cart that is being checked out. */
export function deliveryPlan(input: Pick<CartDeliveryOptionSelectInput, "optionId">, now: Date): PlanCart {
  const optionId = input.optionId ?? null;
  return (cart) => {
    if (optionId !== null && atTime(cart, now).address === null) throw refuse("invalid_state", cart, { now, reason: "address_required" });
    return {
      event: "cart.updated",
      draft: { ...draftOf(cart), deliveryMethodId: optionId },
      // Against what is offered after the change, not before it.
      accept: ({ deliveryMethodId, deliveryOptions }) => {
        if (deliveryMethodId === optionId) return;
        const allowed = (deliveryOptions ?? []).map(({ id }) => id);
        throw refuseAt("invalid_field", "/optionId", {
          code: "unknown",
          message: `It is not offered for the cart; offered are: ${allowed.join(", ") || "none"}.`,
        });
      },
    };
  };
}
