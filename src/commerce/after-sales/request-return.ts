/**
 * A buyer asks for something after the sale, or the merchant for the buyer. The function that answers whether that is possible decides here too, on
 * the same facts; what needs nobody's consent is approved in the same transaction.
 */
import { type Faults, faultAt, requireNoFaults, textFaults } from "#foundation/faults.ts";
import { changeLocked, lockOrder, type OrderOutcome, type OrderTarget, type OrderTenant } from "#commerce/orders/change-order.ts";
import { chosenFaults, noteMax } from "#commerce/orders/order-checks.ts";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import type { ChangedPart } from "./change-part.ts";
import { type PlannedReturn, planReturn, type ReturnRequest } from "./plan-return.ts";
import { readAfterSalesFacts } from "./read-facts.ts";
import { approve } from "./return-life.ts";
import { holdsUnits, insertReturn, moveOrderLines } from "./return-rows.ts";

export type ReturnRequestInput = OrderTarget & ReturnRequest;

export async function requestReturn(transaction: Transaction, tenant: OrderTenant, input: ReturnRequestInput): Promise<ChangedPart> {
  requireNoFaults(requestFaults(input));
  const id = createId("return", tenant.now.getTime());
  const found = await lockOrder(transaction, tenant, input.orderId);
  const facts = await readAfterSalesFacts(transaction, found, tenant.now);
  const plan = planReturn(found, { facts, input });
  const order = await changeLocked(transaction, tenant, {
    order: found,
    expectedVersion: input.expectedVersion,
    work: () => request(transaction, tenant, { order: found, input, id, plan }),
  });
  return { order, id };
}

/** What can be told without the order. */
function requestFaults({ kind, lines, note, exchangeVariantId }: ReturnRequest): Faults {
  const isExchange = kind === "exchange";
  const isGiven = exchangeVariantId !== null && exchangeVariantId !== undefined;
  return [
    ...chosenFaults(lines),
    ...textFaults("/note", note, { max: noteMax, lines: "many" }),
    ...(isExchange && lines.length > 1 ? [faultAt("/lines", "too_long", "An exchange is of one line.")] : []),
    ...(isExchange && !isGiven ? [faultAt("/exchangeVariantId", "required", "An exchange needs what shall be sent instead.")] : []),
    ...(!isExchange && isGiven ? [faultAt("/exchangeVariantId", "not_allowed", "Only an exchange has it.")] : []),
  ];
}

interface Requested {
  readonly order: OrderAggregate;
  readonly input: ReturnRequestInput;
  readonly id: string;
  readonly plan: PlannedReturn;
}

async function request(
  transaction: Transaction,
  tenant: OrderTenant,
  { order, input, id, plan: { decision, ...plan } }: Requested,
): Promise<OrderOutcome> {
  const { kind, reason, note = null, exchangeVariantId = null } = input;
  const row = { id, kind, reason, note, exchangeVariantId, ...plan };
  await insertReturn(transaction, tenant, { ...row, orderId: order.id, status: "requested" });
  if (holdsUnits(row))
    await moveOrderLines(
      transaction,
      row.lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: quantity })),
    );
  const requested = { type: "return.requested" as const, id };
  if (decision === "request_required") return { happenings: [requested] };
  const { happenings, ...outcome } = await approve(transaction, tenant, { order, found: row });
  return { ...outcome, happenings: [requested, ...happenings] };
}
