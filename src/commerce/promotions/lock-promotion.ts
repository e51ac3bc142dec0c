/** A promotion held still while it is changed: those who take a use of it wait until the change is there. */
import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import { type CommandContext, requireVersion } from "#commerce/command-context.ts";
import { toId } from "#foundation/ids.ts";
import type { PromotionRow } from "./read-promotions.ts";

export interface PromotionTransitionInput {
  readonly promotionId: string;
  readonly expectedVersion?: number | null | undefined;
}

export async function lockPromotion(transaction: Transaction, tenant: CommandContext, promotionId: string): Promise<PromotionRow> {
  const promotion = await transaction
    .selectFrom("promotion")
    .selectAll()
    .where("id", "=", toId(promotionId))
    .where("merchantId", "=", tenant.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (promotion === undefined) throw fail("resource_not_found");
  return promotion;
}

/** One that has ended stays as it was. State is checked before version (as in carts). */
export async function lockLivingPromotion(transaction: Transaction, tenant: CommandContext, input: PromotionTransitionInput): Promise<PromotionRow> {
  const promotion = await lockPromotion(transaction, tenant, input.promotionId);
  if (promotion.status === "ended") throw fail("invalid_state", { conflict: conflictOf(promotion, "promotion_ended") });
  requireVersion(conflictOf(promotion), input.expectedVersion);
  return promotion;
}

export function conflictOf(
  { id, status, version }: Pick<PromotionRow, "id" | "status" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): FailureConflict {
  return { resource: "promotion", id, currentStatus: status, currentVersion: version, reason, data };
}
