/** What the provider has said of an operation, on its way to what it changes; and a refund's end, which is the same with an order and without. */
import type { Outcome } from "#commerce/payments/ask-provider.ts";
import type { ClaimedOperation } from "#commerce/payments/payment-operations.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Log } from "#foundation/log.ts";
import type { OrderHappening } from "./change-order.ts";

export interface Settling {
  readonly operation: ClaimedOperation;
  readonly outcome: Outcome;
  readonly log: Log;
}

/** Null: it did what it was asked for. */
export function failureOf(outcome: Outcome): string | null {
  if (outcome.outcome === "succeeded") return null;
  return outcome.outcome === "declined" ? outcome.code : "unresolved";
}

export interface RefundEnd {
  readonly operationId: string;
  readonly status: "succeeded" | "failed";
  readonly now: Date;
}

export async function endRefund(transaction: Transaction, { operationId, status, now }: RefundEnd): Promise<OrderHappening> {
  const { id } = await transaction
    .updateTable("refund")
    .set((refund) => ({ status, version: refund("version", "+", 1), updatedAt: now }))
    .where("operationId", "=", operationId)
    .returning("id")
    .executeTakeFirstOrThrow();
  return { type: `refund.${status}`, id, previous: { status: "pending" } };
}
