/**
 * The GraphQL mutations of carts. Internal frontends may run all of them. Apps may run only those that are
 * also REST operations.
 */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { applyCartPromotion, removeCartPromotion } from "#commerce/carts/cart-promotion.ts";
import { addCartLines, removeCartLines, updateCartLines } from "#commerce/carts/change-lines.ts";
import { changeCartMarket, createCart, setCartBuyer } from "#commerce/carts/market-and-buyer.ts";
import { revokeCart } from "#commerce/carts/cart-transitions.ts";
import { mergeCarts } from "#commerce/carts/merge-carts.ts";
import { selectCartDeliveryOption } from "#commerce/carts/select-delivery.ts";
import { cartCallers, frontendCallers, type GraphqlContext } from "#graph/context.ts";
import { cartMutationKind, existingCartMutationKind } from "#graph/mutation-kinds.ts";
import { defineMutation } from "#graph/mutation.ts";
import { CartRef, type GraphqlCart, PromotionStateRef } from "#graph/refs.ts";
import {
  CartBuyerSetInputType,
  CartCreateInputType,
  CartDeliverySelectInputType,
  CartLinesAddInputType,
  CartLinesRemoveInputType,
  CartLinesUpdateInputType,
  CartMarketChangeInputType,
  CartMergeInputType,
  CartPromotionApplyInputType,
  CartTransitionInputType,
} from "./cart-inputs.ts";
import { toGraphqlCart } from "./carts.ts";

const answerCart = (context: GraphqlContext, cart: CartAggregate): GraphqlCart =>
  toGraphqlCart(cart, context);

defineMutation({
  ...cartMutationKind,
  name: "cartCreate",
  description:
    "Creates a cart, optionally with its first lines, and returns it. Refuses variants that " +
    "are unknown, not sold in the market or out of stock.",
  failures: ["invalid_locale", "invalid_state"],
  callers: frontendCallers,
  input: CartCreateInputType,
  inputDescription: "The cart to create.",
  type: CartRef,
  run: createCart,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartLinesAdd",
  description:
    "Adds lines to a cart. A quantity above the available stock is reduced, with the warning " +
    "`quantity_reduced`. Refuses variants that are out of stock (409 invalid_state).",
  failures: [...existingCartMutationKind.failures, "invalid_state"],
  callers: frontendCallers,
  input: CartLinesAddInputType,
  type: CartRef,
  run: addCartLines,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartLinesUpdate",
  description:
    "Sets the quantities of cart lines. A quantity above the available stock is reduced, with " +
    "the warning `quantity_reduced`.",
  callers: frontendCallers,
  input: CartLinesUpdateInputType,
  type: CartRef,
  run: updateCartLines,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartLinesRemove",
  description: "Removes lines from a cart.",
  callers: frontendCallers,
  input: CartLinesRemoveInputType,
  type: CartRef,
  run: removeCartLines,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartBuyerSet",
  description: "Replaces the buyer reference and the e-mail of a cart.",
  callers: frontendCallers,
  input: CartBuyerSetInputType,
  type: CartRef,
  run: setCartBuyer,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartMarketChange",
  description:
    "Moves a cart to another country: all lines get the prices of that country, and lines that " +
    "are not sold there are removed with a warning.",
  callers: frontendCallers,
  input: CartMarketChangeInputType,
  type: CartRef,
  run: changeCartMarket,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartDeliveryOptionSelect",
  description:
    "Selects one of the delivery options that are offered for the cart's address, or clears " +
    "the selection.",
  failures: [...existingCartMutationKind.failures, "invalid_state"],
  callers: frontendCallers,
  input: CartDeliverySelectInputType,
  type: CartRef,
  run: selectCartDeliveryOption,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  // The command locks both carts itself, in the order of their ids, so that two merges cannot block each other.
  opening: undefined,
  name: "cartMerge",
  description:
    "Adds the lines of a source cart to this cart and ends the source cart as merged. This cart keeps its " +
    "address, market and promotion code; if this cart has no promotion code, this cart gets the code of " +
    "the source cart.",
  callers: frontendCallers,
  input: CartMergeInputType,
  type: CartRef,
  run: mergeCarts,
  answer: answerCart,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartPromotionApply",
  description:
    "Applies a promotion code to a cart. By default the new code replaces the present code. If " +
    "the new code is refused, the present code stays.",
  failures: [
    ...existingCartMutationKind.failures,
    "promotion_code_not_found",
    "cart_empty",
    "promotion_not_applicable",
    "promotion_already_applied",
  ],
  callers: cartCallers,
  input: CartPromotionApplyInputType,
  type: PromotionStateRef,
  run: applyCartPromotion,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartPromotionRemove",
  description:
    "Removes the promotion code of a cart. Refused if the cart has no code (409 promotion_not_present).",
  failures: [...existingCartMutationKind.failures, "promotion_not_present"],
  callers: cartCallers,
  input: CartTransitionInputType,
  type: PromotionStateRef,
  run: removeCartPromotion,
});

defineMutation({
  ...existingCartMutationKind,
  name: "cartRevoke",
  description:
    "Revokes a cart, which can then no longer be changed. Its address token becomes invalid at " +
    "once; the stored address is erased a day later.",
  callers: cartCallers,
  input: CartTransitionInputType,
  type: CartRef,
  run: revokeCart,
  answer: answerCart,
});
