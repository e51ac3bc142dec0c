/**
 * Creates a fulfillment: units of an order that go to the buyer together. No unit is in two fulfillments that
 * both may still bring it.
 */
import { type Faults, faultAt, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { createId } from "#foundation/ids.ts";
import {
  type ChangedPart,
  changeLocked,
  lockOrder,
  type OrderTarget,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import {
  chosenFaults,
  orderConflict,
  refuseOrder,
  requireKnownLines,
} from "#commerce/orders/order-checks.ts";
import { needsFulfillment, unitsIn, unsendableUnits, wantedOf } from "#commerce/orders/order-statuses.ts";
import { type FulfillmentType, isLive, requireStanding } from "./fulfillment-rules.ts";
import type {
  FulfillmentLine,
  LineQuantity,
  OrderAggregate,
  OrderLine,
} from "#commerce/orders/order-aggregate.ts";

export interface FulfillmentCreateInput extends OrderTarget {
  /** Left out: everything that is open. */
  readonly lines?: readonly LineQuantity[] | null | undefined;
  /** Left out: what the lines need. */
  readonly type?: FulfillmentType | null | undefined;
  /** Left out: who carries the delivery chosen. */
  readonly carrier?: string | null | undefined;
}

export const carrierMax = 80;
/** Of one order, whatever became of them. */
export const fulfillmentsMax = 200;

export async function createFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: FulfillmentCreateInput,
): Promise<ChangedPart> {
  requireNoFaults([
    ...chosenFaults(input.lines),
    ...textFaults("/carrier", input.carrier, { max: carrierMax }),
  ]);
  const id = createId("fulfillment", context.now.getTime());
  const found = await lockOrder(transaction, context, input.orderId);
  const { lines, type } = plannedFor(found, input);
  const order = await changeLocked(transaction, context, {
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
      return { happenings: [{ type: "fulfillment.created", id }] };
    },
  });
  return { order, id };
}

function plannedFor(
  order: OrderAggregate,
  input: FulfillmentCreateInput,
): Pick<NewFulfillment, "lines" | "type"> {
  requireStanding(order, { returnId: null });
  if (order.fulfillments.length >= fulfillmentsMax) {
    const message = `An order has ${fulfillmentsMax} fulfillments at most.`;
    throw refuseOrder("invalid_state", order, {
      reason: "too_many_fulfillments",
      message,
      data: { max: fulfillmentsMax },
    });
  }
  const lines = linesFor(order, input);
  return { lines, type: typeFor(order, { lines, asked: input.type ?? null }) };
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

/** Wanted, in no fulfillment that has brought it or still may, and not paid back. */
export function openUnits(
  order: Pick<OrderAggregate, "fulfillments" | "refunds" | "returns">,
  line: OrderLine,
): number {
  if (!needsFulfillment(line)) return 0;
  return Math.max(
    0,
    wantedOf(line) - unitsIn(order.fulfillments.filter(isLive), line.id) - unsendableUnits(order, line),
  );
}

function linesFor(order: OrderAggregate, { lines, type }: FulfillmentCreateInput): readonly LineQuantity[] {
  const open = order.lines.map((line) => ({
    lineId: line.id,
    quantity: openUnits(order, line),
    requiresShipping: line.requiresShipping,
  }));
  if (lines === null || lines === undefined) {
    const fitting = open.filter(
      ({ quantity, requiresShipping }) => quantity > 0 && !(type === "digital" && requiresShipping),
    );
    if (fitting.length > 0) return fitting.map(({ lineId, quantity }) => ({ lineId, quantity }));
    throw refuseOrder("invalid_state", order, {
      reason: "nothing_open",
      message: "Nothing is left that could be put into a fulfillment.",
    });
  }
  requireKnownLines(order, lines);
  requireOpen(order, lines, new Map(open.map(({ lineId, quantity }) => [lineId, quantity])));
  return lines;
}

/** Refused with every line of which there is less than was asked for, and with what is left of it. */
function requireOpen(
  order: OrderAggregate,
  lines: readonly LineQuantity[],
  open: ReadonlyMap<string, number>,
): void {
  const short = lines.flatMap(({ lineId, quantity }, index) => {
    const left = open.get(lineId) ?? 0;
    return quantity <= left ? [] : [{ index, lineId, quantity: left }];
  });
  if (short.length === 0) return;
  throw fail("invalid_state", {
    message: "There is less left of some lines than was asked for.",
    details: short.map(({ index, quantity }) =>
      faultAt(`/lines/${index}/quantity`, "too_large", `There are ${quantity} of it left.`),
    ),
    conflict: orderConflict(order, {
      reason: "quantity_not_open",
      data: { lines: short.map(({ lineId, quantity }) => ({ lineId, quantity })) },
    }),
  });
}

interface Typed {
  readonly lines: readonly LineQuantity[];
  readonly asked: FulfillmentType | null;
}

function typeFor({ lines: all, delivery }: OrderAggregate, { lines, asked }: Typed): FulfillmentType {
  const isCarried = lines.some(
    ({ lineId }) => all.find(({ id }) => id === lineId)?.requiresShipping === true,
  );
  if (asked === null) return !isCarried ? "digital" : delivery?.pickup === true ? "pickup" : "shipping";
  requireNoFaults(asked === "digital" && isCarried ? typeFaults : []);
  return asked;
}

const typeFaults: Faults = [faultAt("/type", "not_allowed", "Some of the lines have to be carried.")];
