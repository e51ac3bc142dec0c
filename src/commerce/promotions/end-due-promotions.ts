/** Writes the end of promotions whose window is over, and tells of it. Carts need not wait for this: their rules read the window itself. */
import type { Database } from "#database/connect.ts";
import { inTransaction } from "#database/transaction.ts";
import { type RenderSubject, withOutbox } from "#webhooks/outbox.ts";
import { endPromotion } from "./promotion-life.ts";

interface EndServices {
  readonly db: Database;
  readonly now: Date;
  readonly render: RenderSubject;
}

const endedAtOnce = 100;

/** Gives how many. */
export async function endDuePromotions({ db, now, render }: EndServices): Promise<number> {
  const due = await db
    .selectFrom("promotion")
    .select(["id", "merchantId"])
    .where("status", "in", ["active", "paused"])
    .where("endsAt", "<=", now)
    .orderBy("id")
    .limit(endedAtOnce)
    .execute();
  const cause = { operationId: null, actor: "system", requestId: null } as const;
  for (const { id, merchantId } of due) {
    await inTransaction(db, (transaction) =>
      withOutbox(transaction, { merchantId, now, cause, render }, (outbox) =>
        endPromotion(transaction, { merchantId, now, outbox, reindex: () => Promise.resolve() }, { promotionId: id }),
      ),
    );
  }
  return due.length;
}
