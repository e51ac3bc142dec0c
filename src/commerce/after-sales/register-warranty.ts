/**
 * Registers the merchant's warranty for a delivered order line. The terms of the warranty are those with
 * which the order was placed.
 */
import {
  type InputFieldErrors,
  createInvalidFieldFailure,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import {
  type OrderAndIdOfChangedPart,
  applyChangeToLockedOrder,
  lockOrder,
  type OrderIdAndExpectedVersion,
  type OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import { createOrderConflictFailure } from "#commerce/orders/order-checks.ts";
import {
  calculateEndOfDayAfterDuration,
  getOrderLineDeliveryTime,
  getOrderPolicy,
} from "#commerce/orders/order-terms.ts";
import type { OrderAggregate, OrderLine } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";

export interface RegisterWarrantyInput extends OrderIdAndExpectedVersion {
  readonly lineId: string;
  readonly serialNumber?: string | null | undefined;
}

export const serialNumberLengthMax = 100;

export async function registerWarranty(
  transaction: Transaction,
  context: OrderCommandContext,
  input: RegisterWarrantyInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(serialNumberFaults(input));
  const id = createId("warranty", context.now.getTime());
  const { lineId, serialNumber = null, expectedVersion } = input;
  const found = await lockOrder(transaction, context, input.orderId);
  const term = calculateWarrantyCoverage(found, lineId);
  const order = await applyChangeToLockedOrder(transaction, context, {
    order: found,
    expectedVersion,
    work: async () => {
      const { merchantId, now } = context;
      await transaction
        .insertInto("warrantyRegistration")
        .values({
          id,
          orderId: found.id,
          orderLineId: lineId,
          merchantId,
          serialNumber,
          ...term,
          startsAt: new Date(term.startsAt),
          endsAt: new Date(term.endsAt),
          createdAt: now,
          updatedAt: now,
        })
        .execute();
      return { events: [{ type: "warranty.registered", id }] };
    },
  });
  return { order, id };
}

function serialNumberFaults({ serialNumber }: RegisterWarrantyInput): InputFieldErrors {
  return getTextFieldErrors("/serialNumber", serialNumber, { max: serialNumberLengthMax });
}

/** The start and end of a warranty, and the number of repairs and replacements that it grants. */
export interface WarrantyCoverage {
  readonly startsAt: string;
  readonly endsAt: string;
  readonly repairsLeft: number;
  readonly replacementsLeft: number;
}

/**
 * Computes the start and end of an order line's warranty. Pure. The warranty starts with the last delivery of
 * the line, so that a buyer with several deliveries loses no time.
 */
export function calculateWarrantyCoverage(order: OrderAggregate, lineId: string): WarrantyCoverage {
  const line = order.lines.find(({ id }) => id === lineId);
  if (line === undefined)
    throw createInvalidFieldFailure("resource_not_found", "/lineId", {
      code: "unknown",
      message: '"lineId" is not a line of this order.',
    });
  const registered = order.warranties.find((warranty) => warranty.lineId === lineId);
  if (registered !== undefined)
    throw createOrderConflictFailure("already_exists", order, {
      data: { lineId, warrantyId: registered.id },
    });
  const { months, repairs, replacements } = getOrderPolicy(order, "warranty").rules;
  if (months === 0)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "warranty_not_offered",
      data: { lineId },
    });
  const startsAt = warrantyStart(order, line);
  return {
    startsAt,
    endsAt: calculateEndOfDayAfterDuration(startsAt, { months }, order.timeZone),
    repairsLeft: repairs,
    replacementsLeft: replacements,
  };
}

function warrantyStart(order: OrderAggregate, line: OrderLine): string {
  const deliveredAt = getOrderLineDeliveryTime(order, line);
  if (line.delivered === 0 || deliveredAt === null)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "not_delivered_yet",
      data: { lineId: line.id },
    });
  if (line.delivered === line.returned)
    throw createOrderConflictFailure("invalid_state", order, {
      reason: "already_returned",
      data: { lineId: line.id },
    });
  return deliveredAt;
}
