/**
 * Creates a fulfillment: units of an order that are sent to the buyer together. Each unit is in at most one
 * fulfillment. This rule ignores fulfillments that were canceled, have failed or came back to the sender.
 */
import {
  type InputFieldErrors,
  createRequestBodyErrorDetail,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import {
  type OrderAndIdOfChangedPart,
  applyChangeToLockedOrder,
  lockOrder,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  findOrderLineSelectionFaults,
  toOrderConflictDetail,
  createOrderConflictFailure,
  requireKnownOrderLines,
} from "#commerce/orders/order-checks.ts";
import {
  isFulfillmentNeededForLine,
  countUnitsInNonReplacementFulfillments,
  countRefundedUnitsExcludedFromShipping,
  getUncanceledQuantity,
} from "#commerce/orders/order-statuses.ts";
import { type FulfillmentType, isFulfillmentInProgress, requireShippableOrder } from "./fulfillment-rules.ts";
import type {
  FulfillmentLine,
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";

export interface CreateFulfillmentInput extends OrderIdAndExpectedVersion {
  /** The units to send. If left out: all units that still need a fulfillment. */
  readonly lines?: readonly OrderLineIdAndQuantity[] | null | undefined;
  /** The type of the fulfillment. If left out, the order lines and the delivery method determine the type. */
  readonly type?: FulfillmentType | null | undefined;
  /** The carrier that transports the fulfillment. If left out: the carrier of the order's delivery method. */
  readonly carrier?: string | null | undefined;
}

export const carrierLengthMax = 80;
/** Maximum number of fulfillments of an order, in all statuses. */
export const fulfillmentsPerOrderMax = 200;

export async function createFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: CreateFulfillmentInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors([
    ...findOrderLineSelectionFaults(input.lines),
    ...getTextFieldErrors("/carrier", input.carrier, { max: carrierLengthMax }),
  ]);
  const id = createId("fulfillment", context.now.getTime());
  const found = await lockOrder(transaction, context, input.orderId);
  const { lines, type } = planFulfillment(found, input);
  const order = await applyChangeToLockedOrder(transaction, context, {
    order: found,
    expectedVersion: input.expectedVersion,
    work: async () => {
      const carrier = input.carrier ?? (type === "shipping" ? (found.delivery?.carrier ?? null) : null);
      await insertFulfillment(transaction, context, {
        id,
        orderId: found.id,
        returnId: null,
        type,
        carrier,
        lines,
      });
      return { events: [{ type: "fulfillment.created", id }] };
    },
  });
  return { order, id };
}

function planFulfillment(
  order: OrderAggregate,
  input: CreateFulfillmentInput,
): Pick<NewFulfillment, "lines" | "type"> {
  requireShippableOrder(order, { returnId: null });
  if (order.fulfillments.length >= fulfillmentsPerOrderMax) {
    const message = `An order has ${fulfillmentsPerOrderMax} fulfillments at most.`;
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "too_many_fulfillments",
      message,
      data: { max: fulfillmentsPerOrderMax },
    });
  }
  const lines = linesFor(order, input);
  return { lines, type: typeFor(order, { lines, requestedType: input.type ?? null }) };
}

export interface NewFulfillment {
  readonly id: string;
  readonly orderId: string;
  readonly returnId: string | null;
  readonly type: FulfillmentType;
  readonly carrier: string | null;
  readonly lines: readonly FulfillmentLine[];
}

export async function insertFulfillment(
  transaction: Transaction,
  { merchantId, now }: Pick<OrderCommandContext, "merchantId" | "now">,
  { lines, ...row }: NewFulfillment,
): Promise<void> {
  await transaction
    .insertInto("fulfillment")
    .values({ ...row, merchantId, createdAt: now, updatedAt: now })
    .execute();
  await transaction
    .insertInto("fulfillmentLine")
    .values(
      lines.map(({ lineId, quantity, unreserved = 0 }) => ({
        fulfillmentId: row.id,
        orderLineId: lineId,
        quantity,
        unreserved,
      })),
    )
    .execute();
}

/**
 * Counts the units of an order line that still need a fulfillment: units that are neither canceled nor
 * refunded nor in a fulfillment. Fulfillments that were canceled, have failed or came back to the sender are
 * ignored.
 */
export function countUnfulfilledUnits(
  order: Pick<OrderAggregate, "fulfillments" | "refunds" | "returns">,
  line: OrderLine,
): number {
  if (!isFulfillmentNeededForLine(line)) return 0;
  return Math.max(
    0,
    getUncanceledQuantity(line) -
      countUnitsInNonReplacementFulfillments(order.fulfillments.filter(isFulfillmentInProgress), line.id) -
      countRefundedUnitsExcludedFromShipping(order, line),
  );
}

function linesFor(
  order: OrderAggregate,
  { lines, type }: CreateFulfillmentInput,
): readonly OrderLineIdAndQuantity[] {
  const open = order.lines.map((line) => ({
    lineId: line.id,
    quantity: countUnfulfilledUnits(order, line),
    requiresShipping: line.requiresShipping,
  }));
  if (lines === null || lines === undefined) {
    const fitting = open.filter(
      ({ quantity, requiresShipping }) => quantity > 0 && !(type === "digital" && requiresShipping),
    );
    if (fitting.length > 0) return fitting.map(({ lineId, quantity }) => ({ lineId, quantity }));
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "nothing_open",
      message: "The order has no units that need a fulfillment.",
    });
  }
  requireKnownOrderLines(order, lines);
  requireOpen(order, lines, new Map(open.map(({ lineId, quantity }) => [lineId, quantity])));
  return lines;
}

/**
 * Throws if the caller wants to send more units of a line than still need a fulfillment. The failure names
 * all such lines, and for each line the number of units that still need a fulfillment.
 */
function requireOpen(
  order: OrderAggregate,
  lines: readonly OrderLineIdAndQuantity[],
  open: ReadonlyMap<string, number>,
): void {
  const short = lines.flatMap(({ lineId, quantity }, index) => {
    const left = open.get(lineId) ?? 0;
    return quantity <= left ? [] : [{ index, lineId, quantity: left }];
  });
  if (short.length === 0) return;
  throw createFailure("invalid_state", {
    message: "Some lines have fewer unfulfilled units than requested.",
    details: short.map(({ index, quantity }) =>
      createRequestBodyErrorDetail(
        `/lines/${index}/quantity`,
        "too_large",
        quantity === 1
          ? "Only 1 unit of this line needs a fulfillment."
          : `At most ${quantity} units of this line need a fulfillment.`,
      ),
    ),
    conflict: toOrderConflictDetail(order, {
      reason: "quantity_not_open",
      data: { lines: short.map(({ lineId, quantity }) => ({ lineId, quantity })) },
    }),
  });
}

interface FulfillmentTypeInput {
  readonly lines: readonly OrderLineIdAndQuantity[];
  readonly requestedType: FulfillmentType | null;
}

function typeFor(
  { lines: all, delivery }: OrderAggregate,
  { lines, requestedType }: FulfillmentTypeInput,
): FulfillmentType {
  const needsTransport = lines.some(
    ({ lineId }) => all.find(({ id }) => id === lineId)?.requiresShipping === true,
  );
  if (requestedType === null)
    return !needsTransport ? "digital" : delivery?.pickup === true ? "pickup" : "shipping";
  requireNoInputFieldErrors(requestedType === "digital" && needsTransport ? typeFaults : []);
  return requestedType;
}

const typeFaults: InputFieldErrors = [
  createRequestBodyErrorDetail("/type", "not_allowed", "Some of the lines need shipping or pickup."),
];
