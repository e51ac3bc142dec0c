/**
 * Writes the start and the end of promotions whose window has begun or is over, and tells of it. Carts need not wait for this: their rules read
 * the window itself.
 */
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { handleDueRows } from "#database/due-rows.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import type { CommandContext } from "#commerce/command-context.ts";
import { endDuePromotion, startDuePromotion } from "./promotion-life.ts";

interface DueServices {
  readonly db: Database;
  readonly now: Date;
  readonly render: RenderSubject;
  readonly signal?: AbortSignal | undefined;
}

/** Gives how many. What began and is over already is told as ended alone. */
export function startDuePromotions(services: DueServices): Promise<number> {
  const { now } = services;
  const condition = sql<boolean>`status = 'active' and started_at is null and starts_at <= ${now} and (ends_at is null or ends_at > ${now})`;
  return moveDue(services, { condition, move: startDuePromotion });
}

/** Gives how many. */
export function endDuePromotions(services: DueServices): Promise<number> {
  return moveDue(services, { condition: sql<boolean>`status in ('active', 'paused') and ends_at <= ${services.now}`, move: endDuePromotion });
}

interface DueMove {
  readonly condition: RawBuilder<boolean>;
  /** Asks again under its lock. */
  readonly move: (transaction: Transaction, tenant: CommandContext, promotionId: string) => Promise<boolean>;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;
const reindex: CommandContext["reindex"] = () => Promise.resolve();

function moveDue({ db, now, render, signal }: DueServices, { condition, move }: DueMove): Promise<number> {
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
        withOutbox(transaction, { merchantId, now, cause, render }, (outbox) => move(transaction, { merchantId, now, outbox, reindex }, id)),
      ),
    signal,
  });
}
