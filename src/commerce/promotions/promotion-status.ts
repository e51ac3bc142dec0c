/**
 * Changes the status of promotions: draft → active ⇄ paused, and from each of these to ended, which is final.
 * Commands change the status. In addition, a background job starts and ends promotions when their time window
 * starts and ends. Carts do not depend on this job, because they check the time window themselves.
 */
import { type RawBuilder, sql } from "kysely";
import { lockMerchantCatalog } from "#commerce/catalog/change-catalog.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import type { EventType } from "#webhooks/event-types.ts";
import { type MerchantCommandContext, requireExpectedVersion } from "#commerce/command-context.ts";
import { blankIdWithForbiddenCharacters } from "#foundation/ids.ts";
import type { Database } from "#database/connect.ts";
import { processDueRows } from "#database/due-rows.ts";
import { type EventSubjectRenderer, runFunctionAndInsertOutboxEvents } from "#webhooks/outbox.ts";
import { promotionFieldBounds } from "./promotion-fields.ts";
import type { PromotionStatus } from "./promotion-rule.ts";
import type { PromotionRow } from "./read-promotions.ts";

/** The promotion to change, and the version of the promotion that the caller expects. */
export interface PromotionIdAndExpectedVersion {
  readonly promotionId: string;
  readonly expectedVersion?: number | null | undefined;
}

/** Locks the row of the promotion. Checkouts that use the promotion then wait until the change is committed. */
async function lockPromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  promotionId: string,
): Promise<PromotionRow> {
  const promotion = await transaction
    .selectFrom("promotion")
    .selectAll()
    .where("id", "=", blankIdWithForbiddenCharacters(promotionId))
    .where("merchantId", "=", context.merchantId)
    .forNoKeyUpdate()
    .executeTakeFirst();
  if (promotion === undefined) throw createFailure("resource_not_found");
  return promotion;
}

/**
 * Locks a promotion. Throws `invalid_state` if the promotion has ended; this is checked before the version
 * that the caller expects.
 */
export async function lockUnendedPromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: PromotionIdAndExpectedVersion,
): Promise<PromotionRow> {
  const promotion = await lockPromotion(transaction, context, input.promotionId);
  if (promotion.status === "ended")
    throw createFailure("invalid_state", {
      conflict: toPromotionConflictDetail(promotion, "promotion_ended"),
    });
  requireExpectedVersion(toPromotionConflictDetail(promotion), input.expectedVersion);
  return promotion;
}

/** Returns the part of a 409 failure that names the promotion's status and version. */
export function toPromotionConflictDetail(
  { id, status, version }: Pick<PromotionRow, "id" | "status" | "version">,
  reason: string | null = null,
  data: Readonly<Record<string, unknown>> = {},
): ConflictErrorDetails {
  return { resource: "promotion", id, currentStatus: status, currentVersion: version, reason, data };
}

type Window = Pick<PromotionRow, "startsAt" | "endsAt" | "startedAt">;

/**
 * Returns the time at which an active promotion started to apply: its activation, a change of its time
 * window, or the start of the time window. Returns null if the promotion has not started. If the time window
 * is moved into the future, the promotion counts as not started and starts again later.
 */
export function getPromotionStartTime({ startsAt, endsAt, startedAt }: Window, now: Date): Date | null {
  if (startsAt !== null && startsAt > now) return null;
  const isOver = endsAt !== null && endsAt <= now;
  return startedAt ?? (isOver ? null : now);
}

/**
 * Activates a draft or a paused promotion. If the time window of the promotion starts later, the promotion
 * applies from then on, and `promotion.started` is published at that time.
 */
export async function activatePromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: PromotionIdAndExpectedVersion,
): Promise<{ promotionId: string }> {
  // Locks the merchant, so that concurrent activations cannot exceed the maximum number of active automatic
  // promotions. The merchant is always locked before promotions.
  await lockMerchantCatalog(transaction, context);
  const promotion = await lockUnendedPromotion(transaction, context, input);
  if (promotion.status === "active") return { promotionId: promotion.id };
  if (promotion.endsAt !== null && promotion.endsAt <= context.now) {
    throw createFailure("invalid_state", {
      conflict: toPromotionConflictDetail(promotion, "window_over", {
        endsAt: promotion.endsAt.toISOString(),
      }),
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

/**
 * Throws if the merchant already has the maximum number of active automatic promotions. The number is limited
 * because every change of a cart evaluates all active automatic promotions.
 */
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
  throw createFailure("invalid_state", {
    conflict: toPromotionConflictDetail(promotion, "too_many_automatic", {
      limit: promotionFieldBounds.activeAutomaticMax,
    }),
  });
}

/** Pauses an active promotion. */
export async function pausePromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: PromotionIdAndExpectedVersion,
): Promise<{ promotionId: string }> {
  const promotion = await lockUnendedPromotion(transaction, context, { promotionId: input.promotionId });
  if (promotion.status === "draft")
    throw createFailure("invalid_state", {
      conflict: toPromotionConflictDetail(promotion, "promotion_not_active"),
    });
  requireExpectedVersion(toPromotionConflictDetail(promotion), input.expectedVersion);
  if (promotion.status === "paused") return { promotionId: promotion.id };
  return changeStatus(transaction, context, { promotion, to: "paused", type: "promotion.updated" });
}

/** Ends a promotion. Does nothing if the promotion has already ended. */
export async function endPromotion(
  transaction: Transaction,
  context: MerchantCommandContext,
  input: PromotionIdAndExpectedVersion,
): Promise<{ promotionId: string }> {
  const promotion = await lockPromotion(transaction, context, input.promotionId);
  requireExpectedVersion(toPromotionConflictDetail(promotion), input.expectedVersion);
  if (promotion.status === "ended") return { promotionId: promotion.id };
  return changeStatus(transaction, context, { promotion, to: "ended", type: "promotion.ended" });
}

/**
 * Starts an active promotion if its time window has begun, and returns true if the promotion was started. The
 * status and the time window are checked after the row is locked, because the promotion may have changed
 * before.
 */
export async function startPromotionIfDue(
  transaction: Transaction,
  context: MerchantCommandContext,
  promotionId: string,
): Promise<boolean> {
  const promotion = await lockPromotion(transaction, context, promotionId);
  const startedAt = getPromotionStartTime(promotion, context.now);
  if (promotion.status !== "active" || promotion.startedAt !== null || startedAt === null) return false;
  await changeStatus(transaction, context, { promotion, to: "active", type: "promotion.started", startedAt });
  return true;
}

/**
 * Ends an active or paused promotion if its time window is over, and returns true if the promotion was ended.
 * The status and the time window are checked after the row is locked, because the promotion may have changed
 * before.
 */
export async function endPromotionIfDue(
  transaction: Transaction,
  context: MerchantCommandContext,
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
  context: MerchantCommandContext,
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
  readonly render: EventSubjectRenderer;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts all active promotions whose time window has started, and returns their number. A promotion whose
 * time window is already over is not started, but only ended.
 */
export function startDuePromotions(services: DueServices): Promise<number> {
  const { now } = services;
  const condition = sql<boolean>`status = 'active' and started_at is null and starts_at <= ${now}
    and (ends_at is null or ends_at > ${now})`;
  return changeDuePromotions(services, { condition, move: startPromotionIfDue });
}

/** Ends all promotions whose time window is over, and returns their number. */
export function endDuePromotions(services: DueServices): Promise<number> {
  return changeDuePromotions(services, {
    condition: sql<boolean>`status in ('active', 'paused') and ends_at <= ${services.now}`,
    move: endPromotionIfDue,
  });
}

interface DuePromotionChange {
  readonly condition: RawBuilder<boolean>;
  /**
   * Locks one promotion, checks its time window again, and starts or ends the promotion. Returns true if the
   * promotion has changed.
   */
  readonly move: (
    transaction: Transaction,
    context: MerchantCommandContext,
    promotionId: string,
  ) => Promise<boolean>;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;
const reindex: MerchantCommandContext["reindex"] = () => Promise.resolve();

function changeDuePromotions(
  { db, now, render, signal }: DueServices,
  { condition, move }: DuePromotionChange,
): Promise<number> {
  return processDueRows({
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
      runInTransaction(db, (transaction) =>
        runFunctionAndInsertOutboxEvents(transaction, { merchantId, now, cause, render }, (outbox) =>
          move(transaction, { merchantId, now, outbox, reindex }, id),
        ),
      ),
    signal,
  });
}
