/**
 * Inspects and closes returns. The inspection divides the units of a return into accepted and refused units.
 * Accepted units count as returned and may be added to the stock; the buyer keeps the refused units. A
 * replacement that was not sent yet is reduced to the accepted units. Closing a return refunds the accepted
 * units. A return for an exchange or replacement can be closed only after the new item was sent. The buyer
 * can later return a repaired or replaced item again.
 */
import type {
  OrderAndIdOfChangedPart,
  OrderColumnUpdateAndEvents,
  OrderCommandContext,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import type {
  OrderLineIdAndQuantity,
  OrderAggregate,
  OrderReturn,
  OrderWarranty,
} from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { type InputFieldErrors, requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import { restockReturnedUnits } from "#commerce/inventory/order-stock.ts";
import { noteLengthMax } from "#commerce/orders/order-checks.ts";
import {
  removeUnitsFromUnsentReplacement,
  isReplacementSent,
  isExchangeOrReplacementReturn,
  isRepairOrReplacementReturn,
} from "./replacement-fulfillments.ts";
import {
  runReturnStep,
  type ReturnWithLockedOrder,
  type ReturnIdAndExpectedVersion,
} from "./return-steps.ts";
import { type CountedReturnLine, findReturnedUnitCountFaults } from "./return-line-counts.ts";
import {
  updateReturnLineUnitCounts,
  incrementOrderLineReturnsAndRefunds,
  updateReturnStatus,
} from "./return-rows.ts";
import { createReturnConflictFailure } from "./return-rules.ts";
import { requireRefundNotDisputed, settleReturn } from "./settle-return.ts";
import { subtractUsedWarrantyRemedies, voidWarranties } from "./warranty-claims.ts";

export function closeReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  target: ReturnIdAndExpectedVersion,
): Promise<OrderAndIdOfChangedPart> {
  return runReturnStep(transaction, context, {
    target,
    step: "close",
    requireState: requireClosable,
    work: (found) => closeLockedReturn(transaction, context, found),
  });
}

function requireClosable({ order, found }: ReturnWithLockedOrder): void {
  requireReplacementSent(order, found);
  if (found.kind !== "repair" && !isExchangeOrReplacementReturn(found))
    requireRefundNotDisputed({ order, found, units: acceptedUnits(found) });
}

async function closeLockedReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found }: ReturnWithLockedOrder,
): Promise<OrderColumnUpdateAndEvents> {
  const closed: OrderEvent = { type: "return.closed", id: found.id };
  await updateReturnStatus(transaction, context, { id: found.id, status: "closed" });
  if (isRepairOrReplacementReturn(found)) {
    await incrementOrderLineReturnsAndRefunds(
      transaction,
      found.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity })),
    );
    return { events: [closed] };
  }
  if (isExchangeOrReplacementReturn(found)) {
    const isExchanged = found.kind === "exchange" && countAcceptedUnits(found) > 0;
    return {
      events: [closed, ...(isExchanged ? [{ type: "exchange.completed" as const, id: found.id }] : [])],
    };
  }
  await voidWarranties(transaction, context, findFullyReturnedWarranties(order, found));
  const { events, ...patch } = await settleReturn(transaction, context, {
    order,
    found,
    units: acceptedUnits(found),
  });
  return { ...patch, events: [closed, ...events] };
}

/** Throws if an exchange or replacement is closed before the new item was sent. */
function requireReplacementSent(order: OrderAggregate, found: OrderReturn): void {
  if (
    !isExchangeOrReplacementReturn(found) ||
    countAcceptedUnits(found) === 0 ||
    isReplacementSent(order, found)
  )
    return;
  throw createReturnConflictFailure("invalid_state", found, {
    reason: "replacement_not_sent",
    message: "The replacement has not been sent yet.",
    data: {
      fulfillmentIds: order.fulfillments.filter(({ returnId }) => returnId === found.id).map(({ id }) => id),
    },
  });
}

const acceptedUnits = ({ lines }: OrderReturn): OrderLineIdAndQuantity[] =>
  lines.map(({ lineId, accepted: quantity }) => ({ lineId, quantity }));

function countAcceptedUnits({ lines }: OrderReturn): number {
  return lines.reduce((sum, { accepted }) => sum + accepted, 0);
}

/** Returns the active warranties of those order lines in the return whose units have all been returned. */
function findFullyReturnedWarranties(
  { lines, warranties }: OrderAggregate,
  found: OrderReturn,
): OrderWarranty[] {
  const returned = lines.filter(
    ({ id, ordered, canceled, returned: units }) =>
      found.lines.some(({ lineId }) => lineId === id) && units === ordered - canceled,
  );
  return warranties.filter(
    ({ lineId, status }) => status === "active" && returned.some(({ id }) => id === lineId),
  );
}

interface InspectedLine extends CountedReturnLine {
  readonly accepted: number;
  /** Number of accepted units that are in a condition to be sold again; they are added to the stock. */
  readonly restock: number;
}

interface ReturnInspectInput extends ReturnIdAndExpectedVersion {
  readonly lines: readonly InspectedLine[];
  readonly note?: string | null | undefined;
}

export function recordReturnInspection(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ReturnInspectInput,
): Promise<OrderAndIdOfChangedPart> {
  requireNoInputFieldErrors(getTextFieldErrors("/note", input.note, { max: noteLengthMax, lines: "many" }));
  return runReturnStep(transaction, context, {
    target: input,
    step: "inspect",
    work: (found) => inspectLockedReturn(transaction, context, { ...found, input }),
  });
}

interface Inspection extends ReturnWithLockedOrder {
  readonly input: ReturnInspectInput;
}

async function inspectLockedReturn(
  transaction: Transaction,
  context: OrderCommandContext,
  { order, found, input }: Inspection,
): Promise<OrderColumnUpdateAndEvents> {
  requireNoInputFieldErrors(inspectedFaults(found, input.lines));
  const { id, lines } = found;
  const acceptedByLine = new Map(input.lines.map(({ lineId, accepted }) => [lineId, accepted]));
  const accepted = lines.map(({ lineId }) => ({ lineId, quantity: acceptedByLine.get(lineId) ?? 0 }));
  await updateReturnLineUnitCounts(transaction, {
    returnId: id,
    lines: input.lines.map(({ restock: restocked, ...line }) => ({ ...line, restocked })),
  });
  await updateReturnStatus(transaction, context, {
    id,
    status: "inspected",
    inspectionNote: input.note ?? null,
  });
  if (!isRepairOrReplacementReturn(found))
    await incrementOrderLineReturnsAndRefunds(
      transaction,
      lines.map(({ lineId, quantity }) => ({
        lineId,
        returnRequested: -quantity,
        returned: acceptedByLine.get(lineId) ?? 0,
      })),
    );
  await subtractUsedWarrantyRemedies(transaction, context, { order, found, accepted });
  const cut = isExchangeOrReplacementReturn(found)
    ? await removeUnitsFromUnsentReplacement(transaction, context, { order, found, keep: accepted })
    : [];
  await restockReturnedUnits(transaction, context, toStock(order.lines, input.lines), order.number);
  return { events: [{ type: "return.inspected", id }, ...cut] };
}

function inspectedFaults(found: OrderReturn, lines: readonly InspectedLine[]): InputFieldErrors {
  return findReturnedUnitCountFaults(found, lines, {
    accepted: ({ received }) => received,
    // Repaired units cannot be added to the stock, because the buyer gets the repaired item back.
    restock: (_line, { accepted }) => (found.kind === "repair" ? 0 : accepted),
  });
}

function toStock(
  lines: readonly { readonly id: string; readonly variantId: string }[],
  inspected: readonly InspectedLine[],
): { variantId: string; quantity: number }[] {
  return inspected.flatMap(({ lineId, restock: quantity }) => {
    const line = lines.find(({ id }) => id === lineId);
    return line === undefined || quantity === 0 ? [] : [{ variantId: line.variantId, quantity }];
  });
}
