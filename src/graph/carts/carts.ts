/** The object types of carts, and the queries that find carts and their delivery options. */
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
  description:
    "The part of an address that may be shown, without name, street and full postal code. All " +
    "fields except `countryCode` and `complete` are null after the address is erased.",
  fields: (t) => ({
    countryCode: t.expose("countryCode", {
      type: "CountryCode",
      description: "Country of the address, ISO 3166-1 alpha-2.",
    }),
    regionCode: t.exposeString("regionCode", {
      nullable: true,
      description: "Region of the address, ISO 3166-2; null if the address has none.",
    }),
    city: t.exposeString("city", {
      nullable: true,
      description: "City of the address; null if the address has none.",
    }),
    postalCodePrefix: t.exposeString("postalCodePrefix", {
      nullable: true,
      description: "First half of the postal code; null if the address has none.",
    }),
    recipientInitials: t.exposeString("recipientInitials", {
      nullable: true,
      description: "Initials of the recipient's first and last name; null if the name has no initials.",
    }),
    complete: t.exposeBoolean("complete", {
      description: "Whether the address has all fields that its country requires.",
    }),
  }),
});

DeliveryOptionRef.implement({
  description: "A delivery option that is offered for a cart and its address.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description: "Id of the delivery option, `dlm_…`. Pass it as `optionId` to select the option.",
    }),
    name: t.exposeString("name", { description: "Name of the delivery option in the cart's locale." }),
    carrier: t.exposeString("carrier", {
      nullable: true,
      description: "Name of the carrier; null if the merchant has not set one.",
    }),
    price: t.expose("price", {
      type: MoneyRef,
      description:
        "Price of the delivery option for this cart; 0 if the cart's subtotal reaches the limit " +
        "for free delivery.",
    }),
    minDays: t.exposeInt("minDays", { description: "Shortest delivery time in days." }),
    maxDays: t.exposeInt("maxDays", { description: "Longest delivery time in days." }),
    pickup: t.exposeBoolean("pickup", {
      description: "Whether the buyer picks the order up instead of having it delivered.",
    }),
  }),
});

const DiscountAllocation = builder
  .objectRef<CartLineView["discountAllocations"][number]>("DiscountAllocation")
  .implement({
    description: "The discount of one promotion on a cart line.",
    fields: (t) => ({
      source: t.expose("source", {
        type: DiscountSourceEnum,
        description: "Whether the promotion was added by a code or applies automatically.",
      }),
      promotionId: t.exposeID("promotionId", { description: "Id of the promotion, `prm_…`." }),
      amount: t.expose("amount", { type: MoneyRef, description: "The discount on the whole line." }),
    }),
  });

const CartLine = builder.objectRef<CartLineView>("CartLine").implement({
  description:
    "A quantity of one product variant in a cart. Prices and texts are those of the cart's " +
    "last change; the stock is current.",
  fields: (t) => ({
    id: t.exposeID("id", { description: "Id of the cart line, `cln_…`." }),
    position: t.exposeInt("position", { description: "Position of the line in the cart, starting at 0." }),
    productId: t.exposeID("productId", { description: "Id of the product, `prd_…`." }),
    variantId: t.exposeID("variantId", { description: "Id of the product variant, `var_…`." }),
    productSlug: t.expose("productSlug", {
      type: "Slug",
      description: "Slug of the product: its name in URLs.",
    }),
    sku: t.exposeString("sku", {
      description: "The merchant's own number of the variant (stock keeping unit).",
    }),
    title: t.exposeString("title", { description: "Title of the product in the cart's locale." }),
    variantTitle: t.exposeString("variantTitle", {
      nullable: true,
      description:
        "The option values of the variant, for example `Blue / M`; null if the product has no options.",
    }),
    image: t.expose("image", {
      type: ImageRef,
      nullable: true,
      description:
        "Image of the variant, or of the product if the variant has none; null if there is no image.",
    }),
    quantity: t.exposeInt("quantity", { description: "Quantity of the variant, 1 to 9999." }),
    unitPrice: t.expose("unitPrice", { type: MoneyRef, description: "Price of one item." }),
    compareAtUnitPrice: t.expose("compareAtUnitPrice", {
      type: MoneyRef,
      nullable: true,
      description: "Former price of one item, shown for comparison; null if the price is not reduced.",
    }),
    subtotal: t.expose("subtotal", {
      type: MoneyRef,
      description: "Unit price × quantity, before discounts.",
    }),
    discount: t.expose("discount", { type: MoneyRef, description: "Sum of all discounts on the line." }),
    tax: t.expose("tax", {
      type: MoneyRef,
      nullable: true,
      description: "Tax of the line; null if the cart has no address.",
    }),
    total: t.expose("total", {
      type: MoneyRef,
      description: "Subtotal − discount, plus tax if the prices do not include tax.",
    }),
    discountAllocations: t.field({
      type: [DiscountAllocation],
      description: "The discount of each promotion on the line; the amounts add up to `discount`.",
      complexity: { multiplier: 2 },
      resolve: ({ discountAllocations }) => [...discountAllocations],
    }),
    availability: t.expose("availability", {
      type: AvailabilityEnum,
      description:
        "Current availability of the variant; `discontinued` if the product is no longer published.",
    }),
    availableQuantity: t.exposeInt("availableQuantity", {
      nullable: true,
      description:
        "Number of items that can be bought now, at most 100 even if there are more; 0 if the " +
        "variant is no longer sold.",
    }),
    requiresShipping: t.exposeBoolean("requiresShipping", {
      description: "Whether the variant must be shipped.",
    }),
    restrictions: t.field({
      type: [RestrictionEnum],
      description: "Restrictions on the sale, shipping or return of the variant; empty if there are none.",
      complexity: { multiplier: 1 },
      resolve: ({ restrictions }) => restrictions as Restriction[],
    }),
  }),
});

const CartDelivery = builder.objectRef<NonNullable<CartView["delivery"]>>("CartDelivery").implement({
  description: "The delivery options of a cart and the selected option.",
  fields: (t) => ({
    selectedOptionId: t.exposeID("selectedOptionId", {
      nullable: true,
      description: "Id of the selected delivery option, `dlm_…`; null if none is selected.",
    }),
    options: t.field({
      type: [DeliveryOptionRef],
      description:
        "The delivery options that are offered for the cart's address; empty if no line requires " +
        "shipping or the merchant does not deliver there.",
      complexity: { multiplier: 5 },
      resolve: ({ options }) => [...options],
    }),
  }),
});

const CartCheckout = builder.objectRef<NonNullable<CartView["checkout"]>>("CartCheckout").implement({
  description: "The checkout session of a cart.",
  fields: (t) => ({
    sessionId: t.exposeID("sessionId", { description: "Id of the checkout session, `chs_…`." }),
    status: t.expose("status", {
      type: CartCheckoutStatusEnum,
      description: "Status of the checkout session.",
    }),
  }),
});

const CartWarning = builder.objectRef<CartWarningView>("CartWarning").implement({
  description:
    "A difference in a cart that no caller requested, found at the cart's last change or " +
    "caused by time, for example a changed price.",
  fields: (t) => ({
    code: t.expose("code", { type: CartWarningCodeEnum, description: "Kind of the warning." }),
    lineId: t.exposeID("lineId", {
      nullable: true,
      description:
        "Id of the line that the warning is about, `cln_…`; null if the warning is about the whole " +
        "cart.",
    }),
    message: t.exposeString("message", {
      description: "Explanation in English, for developers. Programs should use `code`.",
    }),
    data: t.field({
      type: "JSON",
      description: "Details of the warning. Each value of `CartWarningCode` describes its fields.",
      resolve: ({ data }) => data,
    }),
  }),
});

const CartRevocation = builder.objectRef<NonNullable<CartView["revocation"]>>("CartRevocation").implement({
  description: "The reason and the time of a cart's revocation.",
  fields: (t) => ({
    reason: t.expose("reason", {
      type: CartRevocationReasonEnum,
      description: "The reason that the caller gave; `other` if none was given.",
    }),
    note: t.string({
      nullable: true,
      description: "Note of the caller, at most 280 characters; null if there is none. Hidden from analysts.",
      resolve: ({ note }, _args, context) => unlessAnalyst(note, context),
    }),
    at: t.expose("at", { type: "DateTime", description: "Time of the revocation." }),
  }),
});

/**
 * Callers that must not see the buyer reference of a cart: analysts, because it identifies a person, and the
 * checkout page, because everyone who knows its URL can read it.
 */
const callersWithoutBuyer: ReadonlySet<Caller> = new Set(["analyst", "buyer"]);

const CartBuyer = builder.objectRef<CartShown>("CartBuyer").implement({
  description: "The buyer of a cart.",
  fields: (t) => ({
    reference: t.string({
      nullable: true,
      description:
        "The frontend's own stable id of the buyer; null if the buyer is not known. Hidden from " +
        "analysts and from the checkout page.",
      resolve: ({ stored }, _args, { viewer }) =>
        callersWithoutBuyer.has(callerOf(viewer)) ? null : stored.buyerReference,
    }),
    guest: t.boolean({
      description: "Whether the buyer is a guest: the cart has no buyer reference.",
      resolve: ({ stored }) => stored.buyerReference === null,
    }),
    emailHint: t.string({
      nullable: true,
      description: "The buyer's e-mail, masked, for example `a•••@e•••.com`; null if the cart has no e-mail.",
      resolve: ({ stored }) => stored.buyerEmail?.hint ?? null,
    }),
  }),
});

CartRef.implement({
  description: "A shopping cart at one merchant, with the prices of one country.",
  fields: (t) => ({
    id: t.exposeID("id", {
      description:
        "Id of the cart, `cart_…`. Keep it secret: a caller that knows the id can read the cart, " +
        "with masked personal data.",
    }),
    version: t.exposeInt("version", {
      description: "Version of the cart, starting at 1 and raised by one with every change.",
    }),
    status: t.expose("status", {
      type: CartStatusEnum,
      description:
        "Current status of the cart. The status takes effect at its time, for example at `expiresAt`.",
    }),
    merchant: t.expose("merchant", { type: MerchantSummaryRef, description: "The merchant of the cart." }),
    market: t.expose("market", {
      type: "CountryCode",
      description: "Country whose prices the cart has, ISO 3166-1 alpha-2.",
    }),
    currency: t.expose("currency", {
      type: "CurrencyCode",
      description: "Currency of all amounts of the cart, ISO 4217.",
    }),
    locale: t.expose("locale", {
      type: "LocaleCode",
      description: "Language of the texts of the cart, for example of titles.",
    }),
    lines: t.field({
      type: [CartLine],
      description: "The lines of the cart, ordered by position, at most 200.",
      complexity: { multiplier: 10 },
      resolve: ({ lines }) => [...lines],
    }),
    totalQuantity: t.exposeInt("totalQuantity", { description: "Sum of the quantities of all lines." }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "Totals of the cart." }),
    promotion: t.expose("promotion", {
      type: PromotionStateRef,
      description: "Promotions of the cart: its promotion code and the automatic promotions.",
    }),
    address: t.expose("address", {
      type: MaskedAddressRef,
      nullable: true,
      description: "Delivery address, masked; null if the cart has no address or the address has expired.",
    }),
    addressTokenExpiresAt: t.expose("addressTokenExpiresAt", {
      type: "DateTime",
      nullable: true,
      description: "Time when the address and its token expire; null if the cart has no address.",
    }),
    delivery: t.expose("delivery", {
      type: CartDelivery,
      nullable: true,
      description: "Delivery options of the cart; null if the cart has no address.",
    }),
    checkout: t.expose("checkout", {
      type: CartCheckout,
      nullable: true,
      description: "The checkout session of the cart; null if no session is running or completed.",
    }),
    orderId: t.exposeID("orderId", {
      nullable: true,
      description: "Id of the order, `ord_…`; null unless the cart is completed.",
    }),
    warnings: t.field({
      type: [CartWarning],
      description:
        "Differences that no caller requested, for example changed prices; empty if there are none.",
      complexity: { multiplier: 5 },
      resolve: ({ warnings }) => [...warnings],
    }),
    revocation: t.expose("revocation", {
      type: CartRevocation,
      nullable: true,
      description: "Reason and time of the revocation; null unless the cart is revoked.",
    }),
    buyer: t.field({ type: CartBuyer, description: "The buyer of the cart.", resolve: (cart) => cart }),
    mergedIntoCartId: t.id({
      nullable: true,
      description:
        "Id of the cart that took over the lines of this cart, `cart_…`; null unless this cart is " +
        "merged.",
      resolve: ({ stored }) => stored.mergedIntoCartId,
    }),
    createdAt: t.expose("createdAt", { type: "DateTime", description: "Time when the cart was created." }),
    updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Time of the cart's last change." }),
    expiresAt: t.expose("expiresAt", {
      type: "DateTime",
      description: "Time when the cart expires, 30 days after its last change.",
    }),
  }),
});

export function toCartNode(cart: CartAggregate, { clock, publicUrl }: GraphContext): CartShown {
  return { ...toCartView(cart, { now: clock.now(), publicUrl }), stored: cart };
}

/** Whether the caller may see the cart. The service itself sees every cart, however long ago the cart ended. */
export function isCartVisible(cart: CartAggregate, context: GraphContext): boolean {
  if (context.viewer.kind === "buyer" && context.viewer.cartId !== cart.id) return false;
  const owner = ownerOf(context);
  const isOfOwner = owner === null || owner === cart.merchant.id;
  const isRetained = context.viewer.kind === "system" || !isCartPastRetention(cart, context.clock.now());
  return isOfOwner && isRetained && !belongsToOtherBuyer(cart, context.buyerReference);
}

builder.queryFields((t) => ({
  cart: t.field({
    type: CartRef,
    nullable: true,
    description:
      "Returns a cart by its id; null if there is no such cart or the cart ended more than 90 " +
      "days ago. REST returns 404 instead of null.",
    authScopes: { callers: [...integrators, "storefront", "buyer", "system", ...readers] },
    args: { id: t.arg.id({ required: true, description: "Id of the cart, `cart_…`." }) },
    resolve: async (_root, { id }, context) => {
      const cart = await context.loaders.carts.load(id);
      return cart === null || !isCartVisible(cart, context) ? null : toCartNode(cart, context);
    },
  }),
  carts: t.connection(
    {
      type: CartRef,
      description:
        "Lists carts, oldest first. A storefront must send X-Buyer-Reference and gets the carts of " +
        "this buyer only; otherwise 403 role_not_allowed.",
      authScopes: { callers: ["storefront", ...readers] },
      complexity: pageCost,
      args: {
        merchantId: t.arg.id({
          description:
            "Id of the merchant. If left out, a token of the platform gets the carts of all merchants.",
        }),
        status: t.arg({ type: CartStatusEnum, description: "Returns only carts that have this status now." }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const isStorefront = callerOf(context.viewer) === "storefront";
        if (isStorefront && context.buyerReference === null)
          throw fail("role_not_allowed", {
            message: "A storefront must send the X-Buyer-Reference header to list the carts of a buyer.",
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
    description:
      "Lists the delivery options of the cart and the address that a token stands for. Fails " +
      "with 404 resource_not_found if the token is unknown or has expired.",
    authScopes: { callers: ["storefront", "admin", "operator"] },
    complexity: { multiplier: 5 },
    args: {
      merchantId: t.arg.id({ description: "Id of the merchant; required with a token of the platform." }),
      addressToken: t.arg.id({
        required: true,
        description: "The address token that setting the address returned, `adt_…`.",
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
        throw fail("resource_not_found", {
          message: "The merchant has no such address token, or the token has expired.",
        });
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
