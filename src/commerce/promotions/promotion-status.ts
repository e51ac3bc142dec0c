/**
 * Changes the status of promotions: draft → active ⇄ paused, and from each of them → ended, which is final.
 * Commands change the status. In addition, a background job starts and ends promotions at the limits of their
 * time window. Carts do not depend on the job, because they check the window themselves.
 */
import { type RawBuilder, sql } from "kysely";
import { lockCatalog } from "#commerce/catalog/change-catalog.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type CommandContext, requireVersion } from "#commerce/command-context.ts";
import { toSafeId } from "#foundation/ids.ts";
import type { Database } from "#database/connect.ts";
import { handleDueRows } from "#database/due-rows.ts";
import { type RenderEventSubject, withOutbox } from "#webhooks/outbox.ts";
import { promotionFieldBounds } from "./promotion-fields.ts";
import type { PromotionStatus } from "./promotion-rule.ts";
import type { PromotionRow } from "./read-promotions.ts";

/** The promotion to change, with the version that the caller expects. */
export interface PromotionTransitionInput {
  readonly promotionId: string;
  readonly expectedVersion?: number | null | undefined;
}

/** Locks the promotion's row. Checkouts that use the promotion wait until the change is committed. */
async function lockPromotion(
  transaction: Transaction,
  context: CommandContext,
  promotionId: string,
): Promise<PromotionRow> {
  const promotion = await transaction
    .selectFrom("promotion")
    .selectAll()
    .where("id", "=", toSafeId(promotionId))
    .where("merchantId", "=", context.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (promotion === undefined) throw fail("resource_not_found");
  return promotion;
}

/**
 * Locks a promotion that has not ended; throws `invalid_state` if it has. Checks the state before the
 * version, as carts do.
 */
export async function lockUnendedPromotion(
  transaction: Transaction,
  context: CommandContext,
  input: PromotionTransitionInput,
): Promise<PromotionRow> {
  const promotion = await lockPromotion(transaction, context, input.promotionId);
  if (promotion.status === "ended")
    throw fail("invalid_state", { conflict: createPromotionConflict(promotion, "promotion_ended") });
  requireVersion(createPromotionConflict(promotion), input.expectedVersion);
  return promotion;
}

/** Describes the promotion's status and version for a 409 failure. */
export function createPromotionConflict(
  { id, status, version }: Pick<PromotionRow, "id" | "status" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): FailureConflict {
  return { resource: "promotion", id, currentStatus: status, currentVersion: version, reason, data };
}

type Window = Pick<PromotionRow, "startsAt" | "endsAt" | "startedAt">;

/**
 * Returns when an active promotion started: by activation, by a change of its window, or by time. Returns
 * null if it has not started. A promotion whose window moves into the future starts again later.
 */
export function getPromotionStartTime({ startsAt, endsAt, startedAt }: Window, now: Date): Date | null {
  if (startsAt !== null && startsAt > now) return null;
  const isOver = endsAt !== null && endsAt <= now;
  return startedAt ?? (isOver ? null : now);
}

/**
 * Activates a draft or paused promotion. If its time window has not started yet, the promotion applies from
 * the start of the window, and promotion.started is published at that time.
 */
export async function activatePromotion(
  transaction: Transaction,
  context: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  // Locks the merchant, so that concurrent activations cannot exceed the limit. The merchant is always
  // locked before its promotions.
  await lockCatalog(transaction, context);
  const promotion = await lockUnendedPromotion(transaction, context, input);
  if (promotion.status === "active") return { promotionId: promotion.id };
  if (promotion.endsAt !== null && promotion.endsAt <= context.now) {
    throw fail("invalid_state", {
      conflict: createPromotionConflict(promotion, "window_over", { endsAt: promotion.endsAt.toISOString() }),
    });
  }
  if (promotion.trigger === "automatic") await requireActiveLimitNotReached(transaction, promotion);
  const startedAt = getPromotionStartTime({ ...promotion, startedAt: null }, context.now);
  return changeStatus(transaction, context, {
    promotion,
    to: "active",
    type: startedAt === null ? "promotion.updated" : "promotion.started",
    startedAt,
  });
}

/** Limits the active automatic promotions, because every change of a cart evaluates all of them. */
async function requireActiveLimitNotReached(
  transaction: Transaction,
  promotion: PromotionRow,
): Promise<void> {
  const { count } = await transaction
    .selectFrom("promotion")
    .select((row) => row.fn.countAll<number>().as("count"))
    .where("merchantId", "=", promotion.merchantId)
    .where("trigger", "=", "automatic")
    .where("status", "=", "active")
    .executeTakeFirstOrThrow();
  if (count < promotionFieldBounds.activeAutomaticMax) return;
  throw fail("invalid_state", {
    conflict: createPromotionConflict(promotion, "too_many_automatic", {
      limit: promotionFieldBounds.activeAutomaticMax,
    }),
  });
}

/** Pauses an active promotion. */
export async function pausePromotion(
  transaction: Transaction,
  context: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  const promotion = await lockUnendedPromotion(transaction, context, { promotionId: input.promotionId });
  if (promotion.status === "draft")
    throw fail("invalid_state", { conflict: createPromotionConflict(promotion, "promotion_not_active") });
  requireVersion(createPromotionConflict(promotion), input.expectedVersion);
  if (promotion.status === "paused") return { promotionId: promotion.id };
  return changeStatus(transaction, context, { promotion, to: "paused", type: "promotion.updated" });
}

/** Ends a promotion. Does nothing if it has already ended. */
export async function endPromotion(
  transaction: Transaction,
  context: CommandContext,
  input: PromotionTransitionInput,
): Promise<{ promotionId: string }> {
  const promotion = await lockPromotion(transaction, context, input.promotionId);
  requireVersion(createPromotionConflict(promotion), input.expectedVersion);
  if (promotion.status === "ended") return { promotionId: promotion.id };
  return changeStatus(transaction, context, { promotion, to: "ended", type: "promotion.ended" });
}

/**
 * The following functions change the status of a promotion because its time window has started or ended. The
 * promotion may have changed before it was locked, so each function checks it again under the lock, and
 * returns true if it changed the status.
 */

/** Starts one active promotion if its window has started. */
export async function startDuePromotion(
  transaction: Transaction,
  context: CommandContext,
  promotionId: string,
): Promise<boolean> {
  const promotion = await lockPromotion(transaction, context, promotionId);
  const startedAt = getPromotionStartTime(promotion, context.now);
  if (promotion.status !== "active" || promotion.startedAt !== null || startedAt === null) return false;
  await changeStatus(transaction, context, { promotion, to: "active", type: "promotion.started", startedAt });
  return true;
}

/** Ends one active or paused promotion if its window is over. */
export async function endDuePromotion(
  transaction: Transaction,
  context: CommandContext,
  promotionId: string,
): Promise<boolean> {
  const promotion = await lockPromotion(transaction, context, promotionId);
  const isLiving = promotion.status === "active" || promotion.status === "paused";
  if (!isLiving || promotion.endsAt === null || promotion.endsAt > context.now) return false;
  await changeStatus(transaction, context, { promotion, to: "ended", type: "promotion.ended" });
  return true;
}

interface PromotionStatusChange {
  readonly promotion: PromotionRow;
  readonly to: PromotionStatus;
  readonly type: EventType;
  readonly startedAt?: Date | null;
}

async function changeStatus(
  transaction: Transaction,
  context: CommandContext,
  { promotion, to, type, startedAt = promotion.startedAt }: PromotionStatusChange,
): Promise<{ promotionId: string }> {
  await transaction
    .updateTable("promotion")
    .set({ status: to, startedAt, version: promotion.version + 1, updatedAt: context.now })
    .where("id", "=", promotion.id)
    .execute();
  context.outbox.append({
    type,
    id: promotion.id,
    previous: promotion.status === to ? {} : { status: promotion.status },
  });
  return { promotionId: promotion.id };
}

interface DueServices {
  readonly db: Database;
  readonly now: Date;
  readonly render: RenderEventSubject;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts promotions whose window has started; returns their number. A promotion whose window is already over
 * is only ended.
 */
export function startDuePromotions(services: DueServices): Promise<number> {
  const { now } = services;
  const condition = sql<boolean>`status = 'active' and started_at is null and starts_at <= ${now}
    and (ends_at is null or ends_at > ${now})`;
  return changeDuePromotions(services, { condition, move: startDuePromotion });
}

/** Ends promotions whose window is over; returns their number. */
export function endDuePromotions(services: DueServices): Promise<number> {
  return changeDuePromotions(services, {
    condition: sql<boolean>`status in ('active', 'paused') and ends_at <= ${services.now}`,
    move: endDuePromotion,
  });
}

interface DuePromotionChange {
  readonly condition: RawBuilder<boolean>;
  /** Changes one promotion, after checking again under its lock; returns true if it changed. */
  readonly move: (transaction: Transaction, context: CommandContext, promotionId: string) => Promise<boolean>;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;
const reindex: CommandContext["reindex"] = () => Promise.resolve();

function changeDuePromotions(
  { db, now, render, signal }: DueServices,
  { condition, move }: DuePromotionChange,
): Promise<number> {
  return handleDueRows({
    find: (after: { readonly id: string; readonly merchantId: string } | undefined, rowsMax) =>
      db
        .selectFrom("promotion")
        .select(["id", "merchantId"])
        .where(condition)
        .where("id", ">", after?.id ?? "")
        .orderBy("id")
        .limit(rowsMax)
        .execute(),
    handle: ({ id, merchantId }) =>
      inTransaction(db, (transaction) =>
        withOutbox(transaction, { merchantId, now, cause, render }, (outbox) =>
          move(transaction, { merchantId, now, outbox, reindex }, id),
        ),
      ),
    signal,
  });
}
