/** A promotion's life: draft → active ⇄ paused, and from each of them → ended, which is final. */
import { lockCatalog } from "#commerce/catalog/change-catalog.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type CommandContext, requireVersion } from "#commerce/command-context.ts";
import { promotionBounds } from "./promotion-bounds.ts";
import { conflictOf, lockLivingPromotion, lockPromotion, type PromotionTransitionInput } from "./lock-promotion.ts";
import type { PromotionStatus } from "./promotion-rule.ts";
import { startOf } from "./promotion-window.ts";
import type { PromotionRow } from "./read-promotions.ts";

/** Also before its window begins: it then applies by itself when it does, and is told as started only then. */
export async function activatePromotion(
  transaction: Transaction,
  tenant: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  // Of activations one at a time counts those there are. The merchant always comes before the promotion.
  await lockCatalog(transaction, tenant);
  const promotion = await lockLivingPromotion(transaction, tenant, input);
  if (promotion.status === "active") return { promotionId: promotion.id };
  if (promotion.endsAt !== null && promotion.endsAt <= tenant.now) {
    throw fail("invalid_state", { conflict: conflictOf(promotion, "window_over", { endsAt: promotion.endsAt.toISOString() }) });
  }
  if (promotion.trigger === "automatic") await requireRoom(transaction, promotion);
  const startedAt = startOf({ ...promotion, startedAt: null }, tenant.now);
  return move(transaction, tenant, { promotion, to: "active", type: startedAt === null ? "promotion.updated" : "promotion.started", startedAt });
}

/** Every change of a cart looks at all of them. */
async function requireRoom(transaction: Transaction, promotion: PromotionRow): Promise<void> {
  const { count } = await transaction
    .selectFrom("promotion")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("merchantId", "=", promotion.merchantId)
    .where("trigger", "=", "automatic")
    .where("status", "=", "active")
    .executeTakeFirstOrThrow();
  if (count < promotionBounds.activeAutomaticMax) return;
  throw fail("invalid_state", { conflict: conflictOf(promotion, "too_many_automatic", { limit: promotionBounds.activeAutomaticMax }) });
}

export async function pausePromotion(
  transaction: Transaction,
  tenant: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  const promotion = await lockLivingPromotion(transaction, tenant, { promotionId: input.promotionId });
  if (promotion.status === "draft") throw fail("invalid_state", { conflict: conflictOf(promotion, "promotion_not_active") });
  requireVersion(conflictOf(promotion), input.expectedVersion);
  if (promotion.status === "paused") return { promotionId: promotion.id };
  return move(transaction, tenant, { promotion, to: "paused", type: "promotion.updated" });
}

/** Ending what has ended changes nothing. */
export async function endPromotion(
  transaction: Transaction,
  tenant: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  const promotion = await lockPromotion(transaction, tenant, input.promotionId);
  requireVersion(conflictOf(promotion), input.expectedVersion);
  if (promotion.status === "ended") return { promotionId: promotion.id };
  return move(transaction, tenant, { promotion, to: "ended", type: "promotion.ended" });
}

/* By the clock. What was due may have been put off before it was locked: only what is due still is moved. Each gives whether it was. */

export async function startDuePromotion(transaction: Transaction, tenant: CommandContext, promotionId: string): Promise<boolean> {
  const promotion = await lockPromotion(transaction, tenant, promotionId);
  const startedAt = startOf(promotion, tenant.now);
  if (promotion.status !== "active" || promotion.startedAt !== null || startedAt === null) return false;
  await move(transaction, tenant, { promotion, to: "active", type: "promotion.started", startedAt });
  return true;
}

export async function endDuePromotion(transaction: Transaction, tenant: CommandContext, promotionId: string): Promise<boolean> {
  const promotion = await lockPromotion(transaction, tenant, promotionId);
  const isLiving = promotion.status === "active" || promotion.status === "paused";
  if (!isLiving || promotion.endsAt === null || promotion.endsAt > tenant.now) return false;
  await move(transaction, tenant, { promotion, to: "ended", type: "promotion.ended" });
  return true;
}

interface Move {
  readonly promotion: PromotionRow;
  readonly to: PromotionStatus;
  readonly type: EventType;
  readonly startedAt?: Date | null;
}

async function move(
  transaction: Transaction,
  tenant: CommandContext,
  { promotion, to, type, startedAt = promotion.startedAt }: Move,
): Promise<{ promotionId: string }> {
  await transaction
    .updateTable("promotion")
    .set({ status: to, startedAt, version: promotion.version + 1, updatedAt: tenant.now })
    .where("id", "=", promotion.id)
    .execute();
  tenant.outbox.append({ type, id: promotion.id, previous: promotion.status === to ? {} : { status: promotion.status } });
  return { promotionId: promotion.id };
}
