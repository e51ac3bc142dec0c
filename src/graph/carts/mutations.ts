/** Changes of carts. Four of them are REST operations; all of them are for internal frontends. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { applyPromotion, removePromotion } from "#commerce/carts/cart-promotion.ts";
import { addLines, removeLines, updateLines } from "#commerce/carts/change-lines.ts";
import { changeMarket, createCart, setBuyer } from "#commerce/carts/market-and-buyer.ts";
import { mergeCarts, revokeCart } from "#commerce/carts/cart-transitions.ts";
import { selectDelivery } from "#commerce/carts/set-delivery.ts";
import { builder } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";
import { CartRef, type CartShown, PromotionStateRef } from "#graph/refs.ts";
import {
  BuyerSetInput,
  CreateInput,
  DeliverySelectInput,
  LinesAddInput,
  LinesRemoveInput,
  LinesUpdateInput,
  MarketChangeInput,
  MergeInput,
  PromotionApplyInput,
  TransitionInput,
} from "./cart-types.ts";
import { cartMutation, changeCartOf, everyClient, frontends } from "./cart-mutation.ts";
import { show } from "./carts.ts";

const answerCart = (context: GraphContext, cart: CartAggregate): CartShown => show(cart, context);

builder.mutationField("cartCreate", (t) =>
  t.field({
    type: CartRef,
    description: "Opens a cart.",
    authScopes: { callers: frontends },
    args: {
      merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
      [idempotencyKeyArgument]: t.arg.string({ description: idempotencyKeyDescription }),
      input: t.arg({ type: CreateInput, required: true, description: "The cart." }),
    },
    resolve: async (_root, { merchantId, input }, context) =>
      answerCart(context, await changeCartOf(context, merchantId, (transaction, tenant) => createCart(transaction, tenant, input))),
  }),
);

cartMutation("cartLinesAdd", {
  description: "Puts things into a cart. There is never more of one than can be bought: a warning says where it was made less.",
  callers: frontends,
  input: LinesAddInput,
  type: CartRef,
  change: addLines,
  answer: answerCart,
});

cartMutation("cartLinesUpdate", {
  description: "Changes how many of some lines there are.",
  callers: frontends,
  input: LinesUpdateInput,
  type: CartRef,
  change: updateLines,
  answer: answerCart,
});

cartMutation("cartLinesRemove", {
  description: "Takes lines out of a cart.",
  callers: frontends,
  input: LinesRemoveInput,
  type: CartRef,
  change: removeLines,
  answer: answerCart,
});

cartMutation("cartBuyerSet", {
  description: "Says whose a cart is.",
  callers: frontends,
  input: BuyerSetInput,
  type: CartRef,
  change: setBuyer,
  answer: answerCart,
});

cartMutation("cartMarketChange", {
  description: "Takes a cart to another country: it is priced anew, and what is not sold there leaves it.",
  callers: frontends,
  input: MarketChangeInput,
  type: CartRef,
  change: changeMarket,
  answer: answerCart,
});

cartMutation("cartDeliveryOptionSelect", {
  description: "Chooses how a cart is delivered, among what is offered for its address.",
  callers: frontends,
  input: DeliverySelectInput,
  type: CartRef,
  change: selectDelivery,
  answer: answerCart,
});

cartMutation("cartMerge", {
  description: "Puts what is in another cart into this one; the other ends as merged. Address, market and code of this one stay.",
  callers: frontends,
  input: MergeInput,
  type: CartRef,
  change: mergeCarts,
  answer: answerCart,
});

cartMutation("cartPromotionApply", {
  description: "Gives a cart a promotion code in place of the one it has. Refused, the old one stays.",
  callers: everyClient,
  input: PromotionApplyInput,
  type: PromotionStateRef,
  change: applyPromotion,
  answer: (_context, state) => state,
});

cartMutation("cartPromotionRemove", {
  description: "Takes a cart's promotion code away.",
  callers: everyClient,
  input: TransitionInput,
  type: PromotionStateRef,
  change: removePromotion,
  answer: (_context, state) => state,
});

cartMutation("cartRevoke", {
  description: "Ends a cart: its address token ends at once, what is stored of the address a day later.",
  callers: everyClient,
  input: TransitionInput,
  type: CartRef,
  change: revokeCart,
  answer: answerCart,
});
