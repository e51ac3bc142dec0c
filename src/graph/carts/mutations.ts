/** Changes of carts. Four of them are REST operations; all of them are for internal frontends. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { applyCartPromotion, removeCartPromotion } from "#commerce/carts/cart-promotion.ts";
import { addCartLines, removeCartLines, updateCartLines } from "#commerce/carts/change-lines.ts";
import { changeCartMarket, createCart, setCartBuyer } from "#commerce/carts/market-and-buyer.ts";
import { mergeCarts, revokeCart } from "#commerce/carts/cart-transitions.ts";
import { selectCartDelivery } from "#commerce/carts/set-delivery.ts";
import { everyClient, frontends, type GraphContext } from "#graph/context.ts";
import { anyCartChange, cartChange } from "#graph/change-kinds.ts";
import { changeMutation } from "#graph/mutation.ts";
import { CartRef, type CartShown, PromotionStateRef } from "#graph/refs.ts";
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
} from "./cart-types.ts";
import { toCartNode } from "./carts.ts";

const answerCart = (context: GraphContext, cart: CartAggregate): CartShown => toCartNode(cart, context);

changeMutation({
  ...anyCartChange,
  name: "cartCreate",
  description: "Opens a cart.",
  callers: frontends,
  input: CartCreateInputType,
  inputDescription: "The cart.",
  type: CartRef,
  run: createCart,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartLinesAdd",
  description:
    "Puts things into a cart. There is never more of one than can be bought: a warning says where it was made less.",
  callers: frontends,
  input: CartLinesAddInputType,
  type: CartRef,
  run: addCartLines,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartLinesUpdate",
  description: "Changes how many of some lines there are.",
  callers: frontends,
  input: CartLinesUpdateInputType,
  type: CartRef,
  run: updateCartLines,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartLinesRemove",
  description: "Takes lines out of a cart.",
  callers: frontends,
  input: CartLinesRemoveInputType,
  type: CartRef,
  run: removeCartLines,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartBuyerSet",
  description: "Says whose a cart is.",
  callers: frontends,
  input: CartBuyerSetInputType,
  type: CartRef,
  run: setCartBuyer,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartMarketChange",
  description: "Takes a cart to another country: it is priced anew, and what is not sold there leaves it.",
  callers: frontends,
  input: CartMarketChangeInputType,
  type: CartRef,
  run: changeCartMarket,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartDeliveryOptionSelect",
  description: "Chooses how a cart is delivered, among what is offered for its address.",
  callers: frontends,
  input: CartDeliverySelectInputType,
  type: CartRef,
  run: selectCartDelivery,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartMerge",
  description:
    "Puts what is in another cart into this one; the other ends as merged. Address, market and code of this one stay.",
  callers: frontends,
  input: CartMergeInputType,
  type: CartRef,
  run: mergeCarts,
  answer: answerCart,
});

changeMutation({
  ...cartChange,
  name: "cartPromotionApply",
  description: "Gives a cart a promotion code in place of the one it has. Refused, the old one stays.",
  callers: everyClient,
  input: CartPromotionApplyInputType,
  type: PromotionStateRef,
  run: applyCartPromotion,
});

changeMutation({
  ...cartChange,
  name: "cartPromotionRemove",
  description: "Takes a cart's promotion code away.",
  callers: everyClient,
  input: CartTransitionInputType,
  type: PromotionStateRef,
  run: removeCartPromotion,
});

changeMutation({
  ...cartChange,
  name: "cartRevoke",
  description: "Ends a cart: its address token ends at once, what is stored of the address a day later.",
  callers: everyClient,
  input: CartTransitionInputType,
  type: CartRef,
  run: revokeCart,
  answer: answerCart,
});
