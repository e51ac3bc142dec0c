/**
 * What came back is looked at: what is accepted counts as returned and may be sold again, what is refused stays the buyer's. Of an exchange no more
 * is sent than was accepted. A thing in repair, or that is being replaced, counts as asked for until its buyer has it, or another like it, again.
 */
import { requireNoFaults, type Faults, textFaults } from "#foundation/faults.ts";
import { restock } from "#commerce/inventory/reservations.ts";
import type { OrderOutcome, OrderTenant } from "#commerce/orders/change-order.ts";
import { noteMax } from "#commerce/orders/order-checks.ts";
import type { OrderReturn } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import type { ChangedPart } from "./change-part.ts";
import { cutReplacement, sendsReplacement, staysWithBuyer } from "./exchange.ts";
import { countedFaults, type LineCount } from "./return-counts.ts";
import { changeReturn, type FoundReturn, type ReturnTarget } from "./return-life.ts";
import { countReturnLines, moveOrderLines, moveReturn } from "./return-rows.ts";
import { useBenefits } from "./warranty-benefits.ts";

export interface InspectedLine extends LineCount {
  readonly accepted: number;
  /** Of those accepted, what can be sold again. */
  readonly restock: number;
}

export interface ReturnInspectInput extends ReturnTarget {
  readonly lines: readonly InspectedLine[];
  readonly note?: string | null | undefined;
}

export function inspectReturn(transaction: Transaction, tenant: OrderTenant, input: ReturnInspectInput): Promise<ChangedPart> {
  requireNoFaults(textFaults("/note", input.note, { max: noteMax, lines: "many" }));
  return changeReturn(transaction, tenant, {
    target: input,
    step: "inspect",
    work: (found) => inspect(transaction, tenant, { ...found, input }),
  });
}

interface Inspection extends FoundReturn {
  readonly input: ReturnInspectInput;
}

async function inspect(transaction: Transaction, tenant: OrderTenant, { order, found, input }: Inspection): Promise<OrderOutcome> {
  requireNoFaults(inspectedFaults(found, input.lines));
  const { id, lines } = found;
  const acceptedOf = new Map(input.lines.map(({ lineId, accepted }) => [lineId, accepted]));
  const accepted = lines.map(({ lineId }) => ({ lineId, quantity: acceptedOf.get(lineId) ?? 0 }));
  await countReturnLines(transaction, { returnId: id, lines: input.lines.map(({ restock: restocked, ...line }) => ({ ...line, restocked })) });
  await moveReturn(transaction, tenant, { id, status: "inspected", inspectionNote: input.note ?? null });
  if (!staysWithBuyer(found))
    await moveOrderLines(
      transaction,
      lines.map(({ lineId, quantity }) => ({ lineId, returnRequested: -quantity, returned: acceptedOf.get(lineId) ?? 0 })),
    );
  await useBenefits(transaction, tenant, { order, found, accepted });
  const cut = sendsReplacement(found) ? await cutReplacement(transaction, tenant, { order, found, keep: accepted }) : [];
  await restock(transaction, tenant, toStock(order.lines, input.lines), order.number);
  return { happenings: [{ type: "return.inspected", id }, ...cut] };
}

function inspectedFaults(found: OrderReturn, lines: readonly InspectedLine[]): Faults {
  return countedFaults(found, lines, {
    accepted: ({ received }) => received,
    // What is repaired goes back to its buyer.
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
