/** Creates the fulfillments and returns of a generated order. */
import type {
  OrderAggregate,
  OrderFulfillment,
  OrderLine,
  OrderReturn,
} from "#commerce/orders/order-aggregate.ts";
import { calculateLineAmountOfUnits } from "#commerce/orders/order-value.ts";
import { createId } from "#foundation/ids.ts";
import { hashTextToNumber } from "#demo/random.ts";
import type { DemoTableRowToInsert } from "./insert-rows.ts";
import { type DemoOrderRowIds, type DemoOrderHistory, countShippedLines } from "./order-stages.ts";

export interface DemoFulfillmentAndReturnRows {
  readonly fulfillment: readonly DemoTableRowToInsert<"fulfillment">[];
  readonly fulfillmentLine: readonly DemoTableRowToInsert<"fulfillmentLine">[];
  readonly orderReturn: readonly DemoTableRowToInsert<"orderReturn">[];
  readonly returnLine: readonly DemoTableRowToInsert<"returnLine">[];
  /** The order's fulfillments (parcels) as part of the order. The order's statuses are derived from them. */
  readonly orderFulfillments: readonly OrderFulfillment[];
  /** The order's returns as part of the order. The order's statuses are derived from them. */
  readonly orderReturns: readonly OrderReturn[];
}

/** The values of an order from which its fulfillments and returns are created. */
export interface CreateFulfillmentAndReturnRowsInput {
  readonly ids: DemoOrderRowIds;
  readonly history: DemoOrderHistory;
  readonly lines: readonly OrderLine[];
  readonly delivery: OrderAggregate["delivery"];
}

export function createDemoFulfillmentAndReturnRows(
  input: CreateFulfillmentAndReturnRowsInput,
): DemoFulfillmentAndReturnRows {
  const fulfillment = createFulfillmentRows(input);
  const orderReturn = createReturnRows(input);
  const shippedLines = input.lines.slice(
    0,
    countShippedLines(input.history.stage, input.lines.length) || input.lines.length,
  );
  const isReturned = input.history.stage === "returned";
  return {
    fulfillment,
    fulfillmentLine: fulfillment.flatMap(({ id }) =>
      shippedLines.map((line) => ({
        fulfillmentId: id,
        orderLineId: line.id,
        quantity: line.ordered - line.canceled,
      })),
    ),
    orderReturn,
    returnLine: orderReturn.flatMap(({ id: returnId }) =>
      input.lines.slice(0, 1).map((line) => ({
        returnId,
        orderLineId: line.id,
        quantity: 1,
        received: isReturned ? 1 : 0,
        accepted: isReturned ? 1 : 0,
      })),
    ),
    orderFulfillments: fulfillment.map(({ id, status }) =>
      Object.assign({ id, status: status ?? "pending" }, emptyFulfillment),
    ),
    orderReturns: orderReturn.map(({ id, status }) => Object.assign({ id, status }, emptyReturn)),
  };
}

const statusOfStage: Partial<Record<DemoOrderHistory["stage"], OrderFulfillment["status"]>> = {
  packing: "packing",
  partlyShipped: "in_transit",
  shipped: "in_transit",
  delivered: "delivered",
  returnRequested: "delivered",
  returned: "delivered",
};

const dayMs = 86_400_000;

function createFulfillmentRows({
  ids: { orderId, merchantId },
  history,
  delivery,
}: CreateFulfillmentAndReturnRowsInput): DemoTableRowToInsert<"fulfillment">[] {
  const { steps, timeOf } = history;
  const status = statusOfStage[history.stage];
  if (status === undefined) return [];
  const [packedAt, shippedAt] = [timeOf("pack"), steps.includes("ship") ? timeOf("ship") : null];
  const deliveredAt = steps.includes("deliver") ? timeOf("deliver") : null;
  const id = createId("fulfillment", packedAt.getTime());
  return [
    {
      id,
      orderId,
      merchantId,
      status,
      type: "shipping",
      carrier: delivery?.carrier ?? null,
      packingStartedAt: packedAt,
      ...createTracking(id, { shippedAt, delivery }),
      deliveredAt,
      version: 1 + [packedAt, shippedAt, deliveredAt].filter((time) => time !== null).length,
      createdAt: packedAt,
      updatedAt: deliveredAt ?? shippedAt ?? packedAt,
    },
  ];
}

type Tracking = Pick<
  DemoTableRowToInsert<"fulfillment">,
  "trackingNumber" | "shippedAt" | "estimatedDeliveryAt"
>;

function createTracking(
  id: string,
  {
    shippedAt,
    delivery,
  }: Pick<CreateFulfillmentAndReturnRowsInput, "delivery"> & { readonly shippedAt: Date | null },
): Tracking {
  if (shippedAt === null) return { trackingNumber: null, shippedAt, estimatedDeliveryAt: null };
  const days = delivery?.maxDays ?? 1;
  return {
    trackingNumber: `LH${String(hashTextToNumber(id)).padStart(10, "0")}`,
    shippedAt,
    estimatedDeliveryAt: new Date(shippedAt.getTime() + days * dayMs),
  };
}

/**
 * Creates the rows of the order's return, with one unit of the first order line; no rows if the order has no
 * return.
 */
function createReturnRows({
  ids,
  history,
  lines: [line],
}: CreateFulfillmentAndReturnRowsInput): DemoTableRowToInsert<"orderReturn">[] {
  const { orderId, merchantId, returnId } = ids;
  if (returnId === null || line === undefined) return [];
  const isClosed = history.steps.includes("closeReturn");
  const closedAt = isClosed ? history.timeOf("closeReturn") : null;
  const requestedAt = history.timeOf("requestReturn");
  return [
    {
      id: returnId,
      orderId,
      merchantId,
      kind: "return_refund",
      status: isClosed ? "closed" : "requested",
      reason: "unwanted",
      method: "mail",
      settlement: "original_payment",
      refundMinor: calculateLineAmountOfUnits({
        amountMinor: line.totalMinor,
        ordered: line.ordered,
        gone: 0,
        quantity: 1,
      }),
      requestedAt,
      closedAt,
      version: isClosed ? 5 : 1,
      updatedAt: closedAt ?? requestedAt,
    },
  ];
}

const emptyFulfillment: Omit<OrderFulfillment, "id" | "status"> = {
  returnId: null,
  type: "shipping",
  carrier: null,
  trackingNumber: null,
  trackingUrl: null,
  packingStartedAt: null,
  shippedAt: null,
  estimatedDeliveryAt: null,
  deliveredAt: null,
  version: 1,
  createdAt: "",
  updatedAt: "",
  lines: [],
};

const emptyReturn: Omit<OrderReturn, "id" | "status"> = {
  kind: "return_refund",
  reason: "unwanted",
  note: null,
  declineReason: null,
  inspectionNote: null,
  method: "mail",
  settlement: "original_payment",
  refundMinor: 0,
  feeMinor: 0,
  exchangeVariantId: null,
  policyId: null,
  requestedAt: "",
  closedAt: null,
  version: 1,
  updatedAt: "",
  lines: [],
};
