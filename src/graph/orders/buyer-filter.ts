/**
 * The filter by buyer of the list of orders. A buyer is named either by the frontend's buyer reference or by
 * the opaque reference that analysts see.
 */
import type { OrderFilter } from "#commerce/orders/list-orders.ts";
import {
  createOpaqueBuyerReferenceSqlCondition,
  isOpaqueBuyerReference,
} from "#commerce/orders/opaque-buyers.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import { getCallerKindOfViewer, type GraphqlContext, resolveMerchantIdOfRequest } from "#graph/context.ts";

type BuyerFilter = Pick<OrderFilter, "buyer" | "opaqueBuyer">;

interface BuyerArgs {
  readonly merchantId?: string | null | undefined;
  readonly buyerReference?: string | null | undefined;
}

/**
 * Returns the SQL conditions of a list of one buyer's orders. A storefront may only list the orders of the
 * buyer whose session or reference its request contains. An analyst may only use the opaque reference: with
 * the frontend's reference, an analyst could find out whether a certain person bought something.
 */
export async function resolveOrderListBuyerFilter(
  context: GraphqlContext,
  { merchantId, buyerReference }: BuyerArgs,
): Promise<BuyerFilter> {
  const requested = buyerReference ?? null;
  const caller = getCallerKindOfViewer(context.viewer);
  const byReference = { buyer: { buyerReference: requested, buyerSessionId: null }, opaqueBuyer: null };
  if (caller === "storefront") return getStorefrontFilter(context, { requested, byReference });
  if (requested === null) return byReference;
  if (isOpaqueBuyerReference(requested))
    return {
      buyer: { buyerReference: null, buyerSessionId: null },
      opaqueBuyer: await createOpaqueBuyerReferenceSqlCondition(context.db, {
        merchantId: resolveMerchantIdOfRequest(context, merchantId),
        reference: requested,
      }),
    };
  if (caller === "analyst")
    throw createFailureWithDetail("invalid_field", {
      in: "body",
      field: "/buyerReference",
      code: "pattern_mismatch",
      message:
        '"buyerReference" must be an opaque reference of a buyer as in Order.buyer.reference, "byr_" and 26 ' +
        "hexadecimal digits, because the frontend's reference is hidden from analysts.",
    });
  return byReference;
}

interface StorefrontRequest {
  readonly requested: string | null;
  readonly byReference: BuyerFilter;
}

function getStorefrontFilter(
  { buyerReference, buyerSessionId }: GraphqlContext,
  { requested, byReference }: StorefrontRequest,
): BuyerFilter {
  const hasNoBuyer = buyerReference === null && buyerSessionId === null;
  if (hasNoBuyer || (requested !== null && requested !== buyerReference))
    throw createFailure("role_not_allowed", {
      message:
        "A storefront can only list orders of its buyer: the buyer of its buyer session, or the buyer in the " +
        "header X-Buyer-Reference.",
    });
  return requested === null ? { buyer: { buyerReference, buyerSessionId }, opaqueBuyer: null } : byReference;
}
