/** Carts as REST integrators and storefronts see them, and how they are found. */
import {
  type CartAggregate,
  belongsToOtherBuyer,
  isCartPastRetention,
} from "#commerce/carts/cart-aggregate.ts";
import { cartListQuery, findCartByAddressToken } from "#commerce/carts/find-carts.ts";
import {
  type CartLineView,
  type CartView,
  currentDeliveryOptions,
  toCartView,
  type CartWarningView,
} from "#commerce/carts/render-cart.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  type Caller,
  callerOf,
  type GraphContext,
  integrators,
  listedOwner,
  ownerOf,
  readers,
  tenantOf,
  unlessAnalyst,
} from "#graph/context.ts";
import { AvailabilityEnum, type Restriction, RestrictionEnum } from "#graph/catalog/products.ts";
import { connectionOf, pageCost, listTypes } from "#graph/connections.ts";
import {
  CartRef,
  type CartShown,
  CartTotalsRef,
  DeliveryOptionRef,
  ImageRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  MoneyRef,
  PromotionStateRef,
} from "#graph/refs.ts";
import {
  CartStatusEnum,
  CartCheckoutStatusEnum,
  DiscountSourceEnum,
  CartRevocationReasonEnum,
  CartWarningCodeEnum,
} from "./cart-types.ts";

MaskedAddressRef.implement({
  description: "As much of an address as may be shown.",
  fields: (t) => ({
    countryCode: t.expose("countryCode", { type: "CountryCode", description: "The country." }),
    regionCode: t.exposeString("regionCode", { nullable: true, description: "The region, ISO 3166-2." }),
    city: t.exposeString("city", { nullable: true, description: "The town." }),
    postalCodePrefix: t.exposeString("postalCodePrefix", {
      nullable: true,
      description: "The first half of the postal code.",
    }),
    recipientInitials: t.exposeString("recipientInitials", {
      nullable: true,
      description: "The initials of the recipient.",
    }),
    complete: t.exposeBoolean("complete", { description: "Whether it has all that its country asks for." }),
  }),
});

DeliveryOptionRef.implement({
  description: "A way that a cart can be delivered.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "What it is chosen by, `dlm_…`." }),
    name: t.exposeString("name", { description: "Its name in the cart's locale." }),
    carrier: t.exposeString("carrier", { nullable: true, description: "Who carries it." }),
    price: t.expose("price", { type: MoneyRef, description: "What it costs this cart." }),
    minDays: t.exposeInt("minDays", { description: "The shortest time in days." }),
    maxDays: t.exposeInt("maxDays", { description: "The longest time in days." }),
    pickup: t.exposeBoolean("pickup", { description: "Whether the buyer fetches it." }),
  }),
});

const DiscountAllocation = builder
  .objectRef<CartLineView["discountAllocations"][number]>("DiscountAllocation")
  .implement({
    description: "What one promotion takes off a line.",
    fields: (t) => ({
      source: t.expose("source", { type: DiscountSourceEnum, description: "Where it comes from." }),
      promotionId: t.exposeID("promotionId", { description: "The promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "How much." }),
    }),
  });

const CartLine = builder.objectRef<CartLineView>("CartLine").implement({
  description: "So many of one variant. Prices and texts are those of the cart's last change.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "The line's id, `cln_…`." }),
    position: t.exposeInt("position", { description: "Its place in the cart, from 0." }),
    productId: t.exposeID("productId", { description: "The product, `prd_…`." }),
    variantId: t.exposeID("variantId", { description: "The variant, `var_…`." }),
    productSlug: t.expose("productSlug", { type: "Slug", description: "The product's name in addresses." }),
    sku: t.exposeString("sku", { description: "The merchant's own number for the variant." }),
    title: t.exposeString("title", { description: "The product's title in the cart's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description: "The variant's choices, for example `Blue / M`; null when there are none.",
    }),
    image: t.expose("image", { type: ImageRef, nullable: true, description: "A picture of it." }),
    quantity: t.exposeInt("quantity", { description: "How many, 1 to 9999." }),
    unitPrice: t.expose("unitPrice", { type: MoneyRef, description: "The price of one." }),
    compareAtUnitPrice: t.expose("compareAtUnitPrice", {
      type: MoneyRef,
      nullable: true,
      description: "The price before a reduction.",
    }),
    subtotal: t.expose("subtotal", { type: MoneyRef, description: "Price × quantity." }),
    discount: t.expose("discount", { type: MoneyRef, description: "What promotions take off." }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "The tax; null without an address.",
    }),
    total: t.expose("total", {
      type: MoneyRef,
      description: "Subtotal − discount, and tax where prices do not include it.",
    }),
    discountAllocations: t.field({
      type: [DiscountAllocation],
      description: "Which promotion takes how much off; adds up to `discount`.",
      complexity: { multiplier: 2 },
      resolve: ({ discountAllocations }) => [...discountAllocations],
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description: "Whether it can be bought now.",
    }),
    availableQuantity: t.exposeInt("availableQuantity", {
      nullable: true,
      description: "How many could be bought now, told up to 100.",
    }),
    requiresShipping: t.exposeBoolean("requiresShipping", { description: "Whether it is sent." }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "What limits how it may be sold, shipped or returned.",
      complexity: { multiplier: 1 },
      resolve: ({ restrictions }) => restrictions as Restriction[],
    }),
  }),
});

const CartDelivery = builder.objectRef<NonNullable<CartView["delivery"]>>("CartDelivery").implement({
  description: "How a cart is delivered.",
  fields: (t) => ({
    selectedOptionId: t.exposeID("selectedOptionId", {
      nullable: true,
      description: "The option chosen; null: none yet.",
    }),
    options: t.field({
      type: [DeliveryOptionRef],
      description: "What is offered for the address; empty where nothing is sent.",
      complexity: { multiplier: 5 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

const CartCheckout = builder.objectRef<NonNullable<CartView["checkout"]>>("CartCheckout").implement({
  description: "A cart's checkout.",
  fields: (t) => ({
    sessionId: t.exposeID("sessionId", { description: "The session, `chs_…`." }),
    status: t.expose("status", { type: CartCheckoutStatusEnum, description: "Where it is." }),
  }),
});

const CartWarning = builder.objectRef<CartWarningView>("CartWarning").implement({
  description:
    "Something that became different about a cart without anybody asking, at its last change or by time.",
  fields: (t) => ({
    code: t.expose("code", { type: CartWarningCodeEnum, description: "What it is." }),
    lineId: t.exposeID("lineId", { nullable: true, description: "The line it is about, `cln_…`." }),
    message: t.exposeString("message", { description: "English, for people." }),
    data: t.field({ type: "JSON", description: "What the code says is in it.", resolve: ({ data }) => data }),
  }),
});

const CartRevocation = builder.objectRef<NonNullable<CartView["revocation"]>>("CartRevocation").implement({
  description: "Why a cart was revoked.",
  fields: (t) => ({
    reason: t.expose("reason", {
      type: CartRevocationReasonEnum,
      description: "The reason given; `other` where none was.",
    }),
    note: t.string({
      nullable: true,
      description: "At most 280 characters. Analysts are not told.",
      resolve: ({ note }, _args, context) => unlessAnalyst(note, context),
    }),
    at: t.expose("at", { type: "DateTime", description: "When." }),
  }),
});

/** The page of a checkout has no use for it, and is read by whoever has its address. */
const callersWithoutBuyer: ReadonlySet<Caller> = new Set(["analyst", "buyer"]);

const CartBuyer = builder.objectRef<CartShown>("CartBuyer").implement({
  description: "Whose cart it is.",
  fields: (t) => ({
    reference: t.string({
      nullable: true,
      description:
        "The frontend's own name for the buyer; null: nobody known. Analysts are not told, nor is the page of a checkout.",
      resolve: ({ stored }, _args, { viewer }) =>
        callersWithoutBuyer.has(callerOf(viewer)) ? null : stored.buyerReference,
    }),
    guest: t.boolean({
      description: "Whether nobody is known.",
      resolve: ({ stored }) => stored.buyerReference === null,
    }),
    emailHint: t.string({
      nullable: true,
      description: "The e-mail, masked: `a•••@e•••.com`.",
      resolve: ({ stored }) => stored.buyerEmail?.hint ?? null,
    }),
  }),
});

CartRef.implement({
  description: "What somebody is about to buy from one merchant, for one country.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "The cart's id, `cart_…`: who knows it may read the cart, masked as it is.",
    }),
    version: t.exposeInt("version", { description: "Rises by one with every change." }),
    status: t.expose("status", {
      type: CartStatusEnum,
      description: "Where it is in its life, by the clock.",
    }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "Who sells." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "The country its prices were taken for.",
    }),
    currency: t.expose("currency", { type: "CurrencyCode", description: "The currency of all its amounts." }),
    locale: t.expose("locale", { type: "LocaleCode", description: "The language of its texts." }),
    lines: t.field({
      type: [CartLine],
      description: "What is in it, 200 lines at most.",
      complexity: { multiplier: 10 },
      resolve: ({ lines }) => [...lines],
    }),
    totalQuantity: t.exposeInt("totalQuantity", { description: "How many things are in it." }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "Its sums." }),
    promotion: t.expose("promotion", { type: PromotionStateRef, description: "What promotions do to it." }),
    address: t.expose("address", {
      type: MaskedAddressRef,
      nullable: true,
      description: "Where it goes, masked; null: not known, or no longer.",
    }),
    addressTokenExpiresAt: t.expose("addressTokenExpiresAt", {
      type: "DateTime",
      nullable: true,
      description: "When the address and its token end.",
    }),
    delivery: t.expose("delivery", {
      type: CartDelivery,
      nullable: true,
      description: "How it goes there; null without an address.",
    }),
    checkout: t.expose("checkout", {
      type: CartCheckout,
      nullable: true,
      description: "Its checkout, where one is under way or done.",
    }),
    orderId: t.exposeID("orderId", { nullable: true, description: "What it became, `ord_…`." }),
    warnings: t.field({
      type: [CartWarning],
      description: "What became different without anybody asking.",
      complexity: { multiplier: 5 },
      resolve: ({ warnings }) => [...warnings],
    }),
    revocation: t.expose("revocation", {
      type: CartRevocation,
      nullable: true,
      description: "Why it was revoked.",
    }),
    buyer: t.field({ type: CartBuyer, description: "Whose it is.", resolve: (cart) => cart }),
    mergedIntoCartId: t.id({
      nullable: true,
      description: "The cart that has what was in it.",
      resolve: ({ stored }) => stored.mergedIntoCartId,
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "When it was opened." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "When it last changed." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description: "When it ends if nobody changes it: 30 days after its last change.",
    }),
  }),
});

export function toCartNode(cart: CartAggregate, { clock, publicUrl }: GraphContext): CartShown {
  return { ...toCartView(cart, { now: clock.now(), publicUrl }), stored: cart };
}

/**
 * Whether the asker may know that the cart is there. The service itself, which tells what becomes of it, may
 * however long ago it ended.
 */
export function isCartVisible(cart: CartAggregate, context: GraphContext): boolean {
  if (context.viewer.kind === "buyer" && context.viewer.cartId !== cart.id) return false;
  const owner = ownerOf(context);
  const isOurs = owner === null || owner === cart.merchant.id;
  const isThere = context.viewer.kind === "system" || !isCartPastRetention(cart, context.clock.now());
  return isOurs && isThere && !belongsToOtherBuyer(cart, context.buyerReference);
}

builder.queryFields((t) => ({
  cart: t.field({
    type: CartRef,
    nullable: true,
    description:
      "A cart by its id; null when there is none, or it ended more than 90 days ago. Over REST a 404.",
    authScopes: { callers: [...integrators, "storefront", "buyer", "system", ...readers] },
    args: { id: t.arg.id({ required: true, description: "The cart's id, `cart_…`." }) },
    resolve: async (_root, { id }, context) => {
      const cart = await context.loaders.carts.load(id);
      return cart === null || !isCartVisible(cart, context) ? null : toCartNode(cart, context);
    },
  }),
  carts: t.connection(
    {
      type: CartRef,
      description: "Carts, oldest first. A storefront sees those of the buyer that X-Buyer-Reference names.",
      authScopes: { callers: ["storefront", ...readers] },
      complexity: pageCost,
      args: {
        merchantId: t.arg.id({
          description: "The merchant; without it, with a token of the platform, all of them.",
        }),
        status: t.arg({ type: CartStatusEnum, description: "Only those in this status, by the clock." }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const isStorefront = callerOf(context.viewer) === "storefront";
        if (isStorefront && context.buyerReference === null)
          throw fail("role_not_allowed", {
            message: "A storefront lists carts of a buyer: X-Buyer-Reference says whose.",
          });
        const owner = listedOwner(context, merchantId);
        const filter = {
          merchantId: owner,
          status: status ?? null,
          buyerReference: isStorefront ? context.buyerReference : null,
          now: context.clock.now(),
        };
        const { edges, ...rest } = await connectionOf(args, {
          db: context.db,
          query: cartListQuery(context.db, filter),
          column: "cart.id",
        });
        const carts = await context.loaders.carts.loadMany(edges.map(({ node }) => node.id));
        return {
          ...rest,
          edges: edges.flatMap((edge, index) => toCartEdges(edge.cursor, carts[index], context)),
        };
      },
    },
    ...listTypes("Cart", "carts"),
  ),
  deliveryOptions: t.field({
    type: [DeliveryOptionRef],
    description: "How a cart can be delivered to the address that a token stands for.",
    authScopes: { callers: ["storefront", "admin", "operator"] },
    complexity: { multiplier: 5 },
    args: {
      merchantId: t.arg.id({ description: "The merchant; needed with a token of the platform." }),
      addressToken: t.arg.id({
        required: true,
        description: "The token that setting an address answered with, `adt_…`.",
      }),
    },
    resolve: async (_root, { merchantId, addressToken }, context) => {
      const cartId = await findCartByAddressToken(context.db, {
        merchantId: tenantOf(context, merchantId),
        addressToken,
      });
      const cart = cartId === undefined ? null : await context.loaders.carts.load(cartId);
      const options =
        cart === null || !isCartVisible(cart, context)
          ? undefined
          : currentDeliveryOptions(cart, context.clock.now());
      if (options === undefined)
        throw fail("resource_not_found", { message: "There is no such address token, or it has ended." });
      return options;
    },
  }),
}));

function toCartEdges(
  cursor: string,
  cart: CartAggregate | Error | null | undefined,
  context: GraphContext,
): { cursor: string; node: CartShown }[] {
  if (cart instanceof Error) throw cart;
  return cart === null || cart === undefined ? [] : [{ cursor, node: toCartNode(cart, context) }];
}
