/** How many units of a line something can still be asked for, and why for none. */
import { unsentIntangibles } from "#commerce/orders/cancellation/eligibility.ts";
import type { OrderAggregate, OrderLine, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { ReturnStatus } from "#commerce/orders/order-states.ts";
import { wantedOf } from "#commerce/orders/order-statuses.ts";
import { type AfterSalesReason, obstacle } from "./reasons.ts";

type Returns = Pick<OrderAggregate, "returns">;

/** In the buyer's hands and paid for: neither returned nor about to be, nor given back the money for. */
export function returnableUnits(order: Returns, line: OrderLine): number {
  const { delivered, returnRequested, returned } = line;
  return Math.max(0, Math.min(delivered - returnRequested - returned, wantedOf(line) - returnRequested - settledUnits(order, line)));
}

/** Given the money for, or something else, or about to be. */
function settledUnits(order: Returns, line: OrderLine): number {
  return Math.max(line.returned, line.refunded + acceptedUnits(order, line, isExchanged) + acceptedUnits(order, line, isUnpaid));
}

/** Of them, those that no money is kept for: what was exchanged is paid for as before. */
export function paidBackUnits(order: Returns, line: OrderLine): number {
  return settledUnits(order, line) - acceptedUnits(order, line, isExchanged);
}

/** What nobody sends, or has sent yet, and nobody has asked for to be taken off. */
export function withdrawableUnsent({ returns }: Returns, line: OrderLine): number {
  const asked = returns.filter((found) => found.status === "requested" && isOfUnsent(found));
  return Math.max(0, unsentIntangibles(line) - unitsOf(asked, line));
}

/** Withdrawn from before anything was sent: nothing comes back, so it is settled with its approval. */
export const isOfUnsent = ({ kind, method }: Pick<OrderReturn, "kind" | "method">): boolean => kind === "withdrawal" && method === "keep_item";

/** Sent and not arrived, and not told to be lost before. */
export function undeliveredUnits({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): number {
  const told = unitsOf(
    returns.filter(({ reason, status }) => reason === "not_received" && status !== "declined" && status !== "canceled"),
    line,
  );
  return Math.max(0, Math.min(line.shipped - line.delivered - told, wantedOf(line) - line.refunded));
}

export function noUnitsReason(order: Pick<OrderAggregate, "returns">, line: OrderLine): AfterSalesReason {
  const { shipped, delivered, returned, returnRequested } = line;
  if (wantedOf(line) === 0) return obstacle("quantity_exhausted");
  if (shipped === 0) return obstacle("not_fulfilled");
  if (delivered === 0) return obstacle("not_delivered_yet");
  if (returnRequested > 0) return obstacle("return_in_progress", { data: { returnIds: openReturnIds(order, line) } });
  return obstacle(returned >= delivered ? "already_returned" : "quantity_exhausted");
}

const over: ReadonlySet<ReturnStatus> = new Set(["declined", "closed", "canceled"]);

export const isOpenCase = ({ status }: Pick<OrderReturn, "status">): boolean => !over.has(status);

function openReturnIds({ returns }: Pick<OrderAggregate, "returns">, line: OrderLine): string[] {
  return returns.filter((found) => isOpenCase(found) && unitsOf([found], line) > 0).map(({ id }) => id);
}

/** Came back, and something else went out for them: no money did. */
const isExchanged = ({ kind, status }: OrderReturn): boolean => kind === "exchange" && (status === "inspected" || status === "closed");

/** Came back and was accepted; the money for them has not gone back yet. */
const isUnpaid = ({ kind, status }: OrderReturn): boolean => (kind === "return_refund" || kind === "withdrawal") && status === "inspected";

function acceptedUnits({ returns }: Returns, { id }: OrderLine, isMeant: (found: OrderReturn) => boolean): number {
  const lines = returns.filter(isMeant).flatMap((found) => found.lines);
  return lines.reduce((sum, { lineId, accepted }) => (lineId === id ? sum + accepted : sum), 0);
}

function unitsOf(returns: readonly OrderReturn[], { id }: OrderLine): number {
  return returns.flatMap(({ lines }) => lines).reduce((sum, { lineId, quantity }) => (lineId === id ? sum + quantity : sum), 0);
}
