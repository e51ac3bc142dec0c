/** Changes of carts. Four of them are REST operations; all of them are for internal frontends. */
import type { InputRef, ShapeFromTypeParam, TypeParam } from "@pothos/core";
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { applyPromotion, removePromotion } from "#commerce/carts/cart-promotion.ts";
import type { CartTenant } from "#commerce/carts/change-cart.ts";
import { addLines, removeLines, updateLines } from "#commerce/carts/change-lines.ts";
import { changeMarket } from "#commerce/carts/change-market.ts";
import { createCart } from "#commerce/carts/create-cart.ts";
import { revokeCart } from "#commerce/carts/end-carts.ts";
import { mergeCarts } from "#commerce/carts/merge-carts.ts";
import { selectDelivery } from "#commerce/carts/select-delivery.ts";
import { type CartAddressToken, setAddress } from "#commerce/carts/set-address.ts";
import { setBuyer } from "#commerce/carts/set-buyer.ts";
import type { Transaction } from "#database/transaction.ts";
import { builder, type Caller, staff } from "#graph/builder.ts";
import type { GraphContext } from "#graph/context.ts";
import { changeOf, idempotencyKeyArgument, idempotencyKeyDescription } from "#graph/mutation.ts";
import { CartRef, type CartShown, CartTotalsRef, DeliveryOptionRef, MaskedAddressRef, PromotionStateRef } from "#graph/refs.ts";
import { tenantOf } from "#graph/tenancy.ts";
import { AddressLevelEnum, ServiceabilityEnum } from "./cart-enums.ts";
import {
  AddressSetInput,
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
} from "./cart-inputs.ts";
import { show } from "./carts.ts";

const AddressCheck = builder.objectRef<CartAddressToken["validation"]>("AddressCheck").implement({
  description: "How an address was checked.",
  fields: (t) => ({
    level: t.expose("level", { type: AddressLevelEnum, description: "How thoroughly." }),
    corrected: t.stringList({
      description: "What was put right: JSON Pointers into the request.",
      complexity: { multiplier: 1 },
      resolve: ({ corrected }) => [...corrected],
    }),
  }),
});

const Serviceability = builder.objectRef<CartAddressToken["serviceability"]>("Serviceability").implement({
  description: "Whether an address can be delivered to.",
  fields: (t) => ({
    status: t.expose("status", { type: ServiceabilityEnum, description: "All, some or none of the cart." }),
    undeliverableLineIds: t.idList({
      description: "The lines that cannot be delivered.",
      complexity: { multiplier: 1 },
      resolve: ({ undeliverableLineIds }) => [...undeliverableLineIds],
    }),
  }),
});

const Quote = builder.objectRef<NonNullable<CartAddressToken["quote"]>>("CartQuote").implement({
  description: "What a cart costs at an address, and how it can be delivered.",
  fields: (t) => ({
    totals: t.expose("totals", { type: CartTotalsRef, description: "The cart's sums." }),
    deliveryOptions: t.field({
      type: [DeliveryOptionRef],
      description: "How it can be delivered.",
      complexity: { multiplier: 5 },
      resolve: ({ deliveryOptions }) => [...deliveryOptions],
    }),
    quotedAt: t.expose("quotedAt", { type: "DateTime", description: "When this was found." }),
    validUntil: t.expose("validUntil", { type: "DateTime", description: "When the address ends, and this with it." }),
  }),
});

const AddressToken = builder.objectRef<CartAddressToken>("CartAddressToken").implement({
  description: "A token that stands for an address of a cart; the address itself is not shown again.",
  fields: (t) => ({
    addressToken: t.exposeID("addressToken", { description: "The token, `adt_…`: it ends with the cart, the next address, or `expiresAt`." }),
    cartId: t.exposeID("cartId", { description: "The cart, `cart_…`." }),
    cartVersion: t.exposeInt("cartVersion", { description: "The cart's version." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description: "30 minutes after the cart's last change, 24 hours after it was set at most.",
    }),
    address: t.expose("address", { type: MaskedAddressRef, description: "As much of it as may be shown." }),
    validation: t.expose("validation", { type: AddressCheck, description: "How it was checked." }),
    serviceability: t.expose("serviceability", { type: Serviceability, description: "Whether it can be delivered to." }),
    quote: t.expose("quote", { type: Quote, nullable: true, description: "What the cart costs there; null for an empty cart." }),
  }),
});

type Types = (typeof builder)["$inferSchemaTypes"];

interface CartMutation<Input extends object, Changed, Type extends TypeParam<Types>> {
  readonly description: string;
  readonly callers: readonly Caller[];
  readonly input: InputRef<Input>;
  readonly type: Type;
  readonly change: (transaction: Transaction, tenant: CartTenant, input: Input & { readonly cartId: string }) => Promise<Changed>;
  readonly answer: (context: GraphContext, changed: Changed) => ShapeFromTypeParam<Types, Type, false>;
}

const frontends: readonly Caller[] = ["storefront", ...staff];
const everyClient: readonly Caller[] = ["api_key", ...frontends];

function cartMutation<Input extends object, Changed, Type extends TypeParam<Types>>(name: string, parts: CartMutation<Input, Changed, Type>): void {
  const { description, callers, input, type, change, answer } = parts;
  builder.mutationField(name, (t) =>
    t.field({
      type,
      description,
      authScopes: { callers },
      args: {
        merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
        cartId: t.arg.id({ required: true, description: "The cart, `cart_…`." }),
        [idempotencyKeyArgument]: t.arg.string({ description: idempotencyKeyDescription }),
        input: t.arg({ type: input, required: true, description: "What shall change." }),
      },
      resolve: (async (_root: unknown, args: { merchantId?: string | null; cartId: string; input: Input }, context: GraphContext) => {
        const { cartId } = args;
        return answer(
          context,
          await changeCartOf(context, args.merchantId, (transaction, tenant) => change(transaction, tenant, { ...args.input, cartId })),
        );
      }) as never,
    }),
  );
}

function changeCartOf<Changed>(
  context: GraphContext,
  merchantId: string | null | undefined,
  work: (transaction: Transaction, tenant: CartTenant) => Promise<Changed>,
): Promise<Changed> {
  const { services, publicUrl, buyerReference } = context;
  return changeOf(context, tenantOf(context, merchantId), (transaction, tenant) =>
    work(transaction, { ...tenant, keyring: services.keyring, publicUrl, buyerReference }),
  );
}

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

cartMutation("cartAddressSet", {
  description: "Says where a cart goes, and answers with a token that stands for the address.",
  callers: everyClient,
  input: AddressSetInput,
  type: AddressToken,
  change: setAddress,
  answer: (_context, token) => token,
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
