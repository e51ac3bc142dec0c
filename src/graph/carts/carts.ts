/** The GraphQL type of carts, the check that a caller may see a cart, and the queries that return carts. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import {
  type BuyerRepresentedByCaller,
  findTimeOfNextCartChange,
  isCartOfOtherBuyer,
  isCartPastRetention,
} from "#commerce/carts/cart-status.ts";
import { buildCartListSqlQuery, findCartIdByAddressToken } from "#commerce/carts/find-carts.ts";
import { getCurrentDeliveryOptions, toCartView } from "#commerce/carts/render-cart.ts";
import { createFailure } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  loadGraphqlConnection,
  computeConnectionCost,
  createGraphqlConnectionTypeOptions,
} from "#graph/connections.ts";
import { aggregateCost } from "#graph/limits.ts";
import {
  type CallerKind,
  getCallerKindOfViewer,
  getCallerMerchantId,
  getMerchantIdForListQuery,
  type GraphqlContext,
  integratorCallers,
  merchantReaders,
  resolveMerchantIdOfRequest,
} from "#graph/context.ts";
import { createKeptResultSource, resolveFromObjectAndViewer } from "#graph/kept-results.ts";
import {
  CartRef,
  type GraphqlCart,
  CartTotalsRef,
  DeliveryOptionRef,
  MaskedAddressRef,
  MerchantSummaryRef,
  PromotionStateRef,
} from "#graph/refs.ts";
import { CartStatusEnum } from "./cart-enums.ts";
import { CartCheckout, CartDelivery, CartLine, CartRevocation, CartWarning } from "./cart-parts.ts";

/**
 * The kinds of callers that must not see a cart's buyer reference: analysts, because it identifies a person,
 * and the checkout page, because everyone who knows the page's URL can read it.
 */
const callersWithoutBuyer: ReadonlySet<CallerKind> = new Set(["analyst", "buyer"]);

const CartBuyer = builder.objectRef<GraphqlCart>("CartBuyer").implement({
  description: "The buyer of a cart.",
  fields: (t) => ({
    reference: t.string({
      nullable: true,
      description:
        "The id that the frontend itself gives to the buyer and never changes; null if the buyer is not " +
        "known. Hidden from analysts and from the checkout page.",
      resolve: resolveFromObjectAndViewer(({ stored }, { viewer }) =>
        callersWithoutBuyer.has(getCallerKindOfViewer(viewer)) ? null : stored.buyerReference,
      ),
    }),
    guest: t.boolean({
      description: "Whether the buyer is a guest, which means that the cart has no buyer reference.",
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
        "The id of the cart, `cart_…`. Keep the id secret: a caller that knows the id can read the cart, " +
        "with masked personal data.",
    }),
    version: t.exposeInt("version", {
      description: "Version of the cart, starting at 1 and raised by one with every change.",
    }),
    status: t.expose("status", {
      type: CartStatusEnum,
      description: "Current status of the cart. An active cart counts as expired from `expiresAt` on.",
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
    totalQuantity: t.exposeInt("totalQuantity", {
      description: "The sum of the quantities of all lines of the cart.",
    }),
    totals: t.expose("totals", { type: CartTotalsRef, description: "Totals of the cart." }),
    promotion: t.expose("promotion", {
      type: PromotionStateRef,
      description: "Promotions of the cart: its promotion code and the automatic promotions.",
    }),
  }),
});

builder.objectFields(CartRef, (t) => ({
  address: t.expose("address", {
    type: MaskedAddressRef,
    nullable: true,
    description:
      "The masked delivery address of the cart; null if the cart has no address or the address has " +
      "expired.",
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
    description: "The checkout session of the cart; null if the cart has no running or completed session.",
  }),
  orderId: t.exposeID("orderId", {
    nullable: true,
    description: "Id of the order, `ord_…`; null unless the cart is completed.",
  }),
  warnings: t.field({
    type: [CartWarning],
    description:
      "The changes of the cart that no caller requested, for example changed prices; empty if there are " +
      "none.",
    complexity: { multiplier: 5 },
    resolve: ({ warnings }) => [...warnings],
  }),
  revocation: t.expose("revocation", {
    type: CartRevocation,
    nullable: true,
    description: "The reason and the time of the cart's revocation; null unless the cart is revoked.",
  }),
  buyer: t.field({ type: CartBuyer, description: "The buyer of the cart.", resolve: (cart) => cart }),
  mergedIntoCartId: t.id({
    nullable: true,
    description:
      "Id of the cart that took over the lines of this cart, `cart_…`; null unless this cart is merged.",
    resolve: ({ stored }) => stored.mergedIntoCartId,
  }),
  createdAt: t.expose("createdAt", { type: "DateTime", description: "Time when the cart was created." }),
  updatedAt: t.expose("updatedAt", { type: "DateTime", description: "Time of the cart's last change." }),
  expiresAt: t.expose("expiresAt", {
    type: "DateTime",
    description: "Time when the cart expires, 30 days after its last change.",
  }),
}));

export function toGraphqlCart(cart: CartAggregate, { clock, publicUrl }: GraphqlContext): GraphqlCart {
  return { ...toCartView(cart, { now: clock.now(), publicUrl }), stored: cart };
}

/**
 * Returns whether the caller may see the cart. Carts whose retention period is over are visible only to the
 * service itself.
 */
export function isCartVisibleToCaller(cart: CartAggregate, context: GraphqlContext): boolean {
  if (context.viewer.kind === "buyer" && context.viewer.cartId !== cart.id) return false;
  const owner = getCallerMerchantId(context);
  const isOfOwner = owner === null || owner === cart.merchant.id;
  const isRetained = context.viewer.kind === "system" || !isCartPastRetention(cart, context.clock.now());
  return isOfOwner && isRetained && !isCartOfOtherBuyer(cart, context);
}

builder.queryField("cart", (t) =>
  t.field({
    type: CartRef,
    nullable: true,
    description:
      "Returns a cart by its id; null if there is no such cart, or if the cart ended more than 90 days " +
      "ago. REST answers 404 in these cases.",
    authScopes: { callers: [...integratorCallers, "storefront", "buyer", "system", ...merchantReaders] },
    complexity: aggregateCost,
    args: { id: t.arg.id({ required: true, description: "Id of the cart, `cart_…`." }) },
    extensions: {
      keptResultSource: createKeptResultSource({
        load: (id, { loaders }) => loaders.carts.load(id),
        findTimeOfNextChange: findTimeOfNextCartChange,
      }),
    },
    resolve: async (_root, { id }, context) => {
      const cart = await context.loaders.carts.load(id);
      return cart === null || !isCartVisibleToCaller(cart, context) ? null : toGraphqlCart(cart, context);
    },
  }),
);

builder.queryField("carts", (t) =>
  t.connection(
    {
      type: CartRef,
      description:
        "Lists carts, oldest first. A storefront gets only the carts of its buyer: the buyer of its buyer " +
        "session, including the carts that the session created as a guest, or the buyer in the header " +
        "X-Buyer-Reference. If there is neither, the error is role_not_allowed (403).",
      authScopes: { callers: ["storefront", ...merchantReaders] },
      complexity: computeConnectionCost,
      args: {
        merchantId: t.arg.id({
          description:
            "Id of the merchant. If left out, a token of the platform gets the carts of all merchants.",
        }),
        status: t.arg({ type: CartStatusEnum, description: "Returns only carts that have this status now." }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const isStorefront = getCallerKindOfViewer(context.viewer) === "storefront";
        if (isStorefront && context.buyerReference === null && context.buyerSessionId === null)
          throw createFailure("role_not_allowed", {
            message: "A storefront must send the X-Buyer-Reference header to list the carts of a buyer.",
          });
        const owner = getMerchantIdForListQuery(context, merchantId);
        const filter = {
          merchantId: owner,
          status: status ?? null,
          buyer: isStorefront ? context : noBuyer,
          now: context.clock.now(),
        };
        const { edges, ...rest } = await loadGraphqlConnection(args, {
          db: context.db,
          query: buildCartListSqlQuery(context.db, filter),
          column: "cart.id",
          cursor: "cart",
        });
        const carts = await context.loaders.carts.loadMany(edges.map(({ node }) => node.id));
        return {
          ...rest,
          edges: edges.flatMap((edge, index) => toCartEdges(edge.cursor, carts[index], context)),
        };
      },
    },
    ...createGraphqlConnectionTypeOptions("Cart", "carts", aggregateCost),
  ),
);

builder.queryField("deliveryOptions", (t) =>
  t.field({
    type: [DeliveryOptionRef],
    description:
      "Lists the delivery options of the cart and the address that a token represents. If the token is " +
      "unknown or has expired, the error is resource_not_found (404).",
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
      const cartId = await findCartIdByAddressToken(context.db, {
        merchantId: resolveMerchantIdOfRequest(context, merchantId),
        addressToken,
      });
      const cart = cartId === undefined ? null : await context.loaders.carts.load(cartId);
      const options =
        cart === null || !isCartVisibleToCaller(cart, context)
          ? undefined
          : getCurrentDeliveryOptions(cart, context.clock.now());
      if (options === undefined)
        throw createFailure("resource_not_found", {
          message: "The merchant has no such address token, or the token has expired.",
        });
      return options;
    },
  }),
);

const noBuyer: BuyerRepresentedByCaller = { buyerReference: null, buyerSessionId: null };

function toCartEdges(
  cursor: string,
  cart: CartAggregate | Error | null | undefined,
  context: GraphqlContext,
): { cursor: string; node: GraphqlCart }[] {
  if (cart instanceof Error) throw cart;
  return cart === null || cart === undefined ? [] : [{ cursor, node: toGraphqlCart(cart, context) }];
}
