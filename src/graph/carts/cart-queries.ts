/** The queries that return a cart, list carts, and list the delivery options of an address token. */
import type { CartAggregate } from "#commerce/carts/cart-aggregate.ts";
import { cartListQuery, findCartByAddressToken } from "#commerce/carts/find-carts.ts";
import { currentDeliveryOptions } from "#commerce/carts/render-cart.ts";
import { fail } from "#foundation/failure.ts";
import { builder } from "#graph/builder.ts";
import {
  getCallerKind,
  type GraphContext,
  integratorCallers,
  getListMerchantId,
  merchantReaders,
  requireMerchantId,
} from "#graph/context.ts";
import { loadConnection, connectionCost, connectionTypeOptions } from "#graph/connections.ts";
import { CartRef, type GraphCart, DeliveryOptionRef } from "#graph/refs.ts";
import { CartStatusEnum } from "./cart-enums.ts";
import { toCartNode, isCartVisible } from "./carts.ts";

builder.queryField("cart", (t) =>
  t.field({
    type: CartRef,
    nullable: true,
    description:
      "Returns a cart by its id; null if there is no such cart or the cart ended more than 90 " +
      "days ago. REST returns 404 instead of null.",
    authScopes: { callers: [...integratorCallers, "storefront", "buyer", "system", ...merchantReaders] },
    args: { id: t.arg.id({ required: true, description: "Id of the cart, `cart_…`." }) },
    resolve: async (_root, { id }, context) => {
      const cart = await context.loaders.carts.load(id);
      return cart === null || !isCartVisible(cart, context) ? null : toCartNode(cart, context);
    },
  }),
);

builder.queryField("carts", (t) =>
  t.connection(
    {
      type: CartRef,
      description:
        "Lists carts, oldest first. A storefront must send X-Buyer-Reference and gets the carts of " +
        "this buyer only; otherwise 403 role_not_allowed.",
      authScopes: { callers: ["storefront", ...merchantReaders] },
      complexity: connectionCost,
      args: {
        merchantId: t.arg.id({
          description:
            "Id of the merchant. If left out, a token of the platform gets the carts of all merchants.",
        }),
        status: t.arg({ type: CartStatusEnum, description: "Returns only carts that have this status now." }),
      },
      resolve: async (_root, { merchantId, status, ...args }, context) => {
        const isStorefront = getCallerKind(context.viewer) === "storefront";
        if (isStorefront && context.buyerReference === null)
          throw fail("role_not_allowed", {
            message: "A storefront must send the X-Buyer-Reference header to list the carts of a buyer.",
          });
        const owner = getListMerchantId(context, merchantId);
        const filter = {
          merchantId: owner,
          status: status ?? null,
          buyerReference: isStorefront ? context.buyerReference : null,
          now: context.clock.now(),
        };
        const { edges, ...rest } = await loadConnection(args, {
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
    ...connectionTypeOptions("Cart", "carts"),
  ),
);

builder.queryField("deliveryOptions", (t) =>
  t.field({
    type: [DeliveryOptionRef],
    description:
      "Lists the delivery options of the cart and the address that a token represents. Fails " +
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
        merchantId: requireMerchantId(context, merchantId),
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
);

function toCartEdges(
  cursor: string,
  cart: CartAggregate | Error | null | undefined,
  context: GraphContext,
): { cursor: string; node: GraphCart }[] {
  if (cart instanceof Error) throw cart;
  return cart === null || cart === undefined ? [] : [{ cursor, node: toCartNode(cart, context) }];
}
