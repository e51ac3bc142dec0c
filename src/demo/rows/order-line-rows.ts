/**
 * Creates the lines of a generated order. The order's stage determines how many units of each line are
 * shipped, canceled and returned.
 */
import type { OrderLine } from "#commerce/orders/order-aggregate.ts";
import { createId } from "#foundation/ids.ts";
import type { UnsavedDemoCart } from "./cart-rows.ts";
import {
  computeCanceledOrReturnedLineAmountMinor,
  countShippedLines,
  type DemoOrderHistory,
  type DemoOrderStage,
} from "./order-stages.ts";

/** The values of an order to create: its cart, the steps that it has gone through, and data of the catalog. */
export interface DemoOrderToSeed {
  readonly cart: UnsavedDemoCart;
  /** The order number that buyers see, unique among the merchant's orders. */
  readonly number: string;
  readonly timeZone: string;
  /** The category ids of each product (its categories and all their ancestors), by product id. */
  readonly categoryIds: ReadonlyMap<string, readonly string[]>;
  readonly history: DemoOrderHistory;
}

/**
 * Creates the order lines from the lines of the cart. In a canceled order, all units of all lines are
 * canceled. In a returned order, one unit of the first line is returned.
 */
export function createDemoOrderLines({ cart, categoryIds, history }: DemoOrderToSeed): OrderLine[] {
  const ids = cart.next.lines.map(() => createId("orderLine", history.timeOf("place").getTime())).toSorted();
  const shippedCount = countShippedLines(history.stage, cart.next.lines.length);
  return cart.next.lines.map((line, position) => {
    const isShipped = position < shippedCount;
    const counts = createLineCounts(history.stage, {
      quantity: line.quantity,
      isShipped,
      isFirst: position === 0,
    });
    return {
      id: ids[position] ?? "",
      position,
      productId: line.productId,
      variantId: line.variantId,
      categoryIds: categoryIds.get(line.productId) ?? [],
      display: line.display,
      requiresShipping: line.requiresShipping,
      restrictions: line.restrictions,
      unitPriceMinor: line.unitPriceMinor,
      subtotalMinor: line.subtotalMinor,
      discountMinor: line.discountMinor,
      taxRate: line.taxRate,
      taxMinor: line.taxMinor,
      totalMinor: line.totalMinor,
      reducedMinor: computeCanceledOrReturnedLineAmountMinor(history.stage, {
        totalMinor: line.totalMinor,
        ordered: line.quantity,
        isFirst: position === 0,
      }),
      ordered: line.quantity,
      ...counts,
    };
  });
}

type OrderLineCounts = Pick<
  OrderLine,
  "canceled" | "allocated" | "shipped" | "delivered" | "returnRequested" | "returned" | "refunded"
>;

interface LineCountInput {
  readonly quantity: number;
  readonly isShipped: boolean;
  readonly isFirst: boolean;
}

function createLineCounts(
  stage: DemoOrderStage,
  { quantity, isShipped, isFirst }: LineCountInput,
): OrderLineCounts {
  const notShipped = {
    canceled: 0,
    allocated: quantity,
    shipped: 0,
    delivered: 0,
    returnRequested: 0,
    returned: 0,
    refunded: 0,
  };
  if (stage === "canceled" || stage === "refunded")
    return { ...notShipped, canceled: quantity, allocated: 0 };
  if (!isShipped) return notShipped;
  const shipped = { ...notShipped, shipped: quantity };
  if (stage === "shipped" || stage === "partlyShipped") return shipped;
  const delivered = { ...shipped, delivered: quantity };
  if (!isFirst || stage === "delivered") return delivered;
  return stage === "returned"
    ? { ...delivered, returned: 1, refunded: 1 }
    : { ...delivered, returnRequested: 1 };
}
