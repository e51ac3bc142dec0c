/**
 * What a warranty grants is counted down when a thing that came back under it is accepted. Where nothing of it is left, or it counts no longer, the
 * merchant grants what the law's guarantee asks for, and the warranty stays as it is.
 */
import type { OrderTenant } from "#commerce/orders/change-order.ts";
import type { LineQuantity, OrderAggregate, OrderReturn, OrderWarranty } from "#commerce/orders/order-aggregate.ts";
import type { Transaction } from "#database/transaction.ts";
import { benefitLeft, openGrants, touchWarranty } from "./warranty-claims.ts";

export interface Granted {
  readonly order: OrderAggregate;
  readonly found: Pick<OrderReturn, "id" | "kind">;
  /** What was accepted, by the order's lines. */
  readonly accepted: readonly LineQuantity[];
}

/** What comes back under a claim that was accepted was counted with the claim. */
export async function useBenefits(transaction: Transaction, tenant: OrderTenant, { order, found: { id, kind }, accepted }: Granted): Promise<void> {
  if (kind !== "repair" && kind !== "replacement") return;
  for (const { lineId, quantity } of accepted) {
    const warranty = order.warranties.find((candidate) => candidate.lineId === lineId && candidate.status === "active");
    if (warranty === undefined || quantity === 0) continue;
    const claims = openGrants(warranty, kind).slice(0, quantity);
    await redeemClaims(transaction, { returnId: id, claims });
    const used = Math.min(quantity - claims.length, benefitLeft(warranty, kind));
    if (used > 0 || claims.length > 0) await touchWarranty(transaction, tenant, { id: warranty.id, used: { [kind]: used } });
  }
}

async function redeemClaims(
  transaction: Transaction,
  { returnId, claims }: { readonly returnId: string; readonly claims: readonly string[] },
): Promise<void> {
  if (claims.length === 0) return;
  await transaction.updateTable("warrantyClaim").set({ returnId }).where("id", "in", claims).execute();
}

/** Nothing of these lines is with the buyer any more: what was promised for them has lost its object. */
export async function voidWarranties(transaction: Transaction, { now }: OrderTenant, warranties: readonly OrderWarranty[]): Promise<void> {
  for (const { id } of warranties)
    await transaction
      .updateTable("warrantyRegistration")
      .set((row) => ({ status: "void" as const, version: row("version", "+", 1), updatedAt: now }))
      .where("id", "=", id)
      .where("status", "=", "active")
      .execute();
}
