/** Writes the events of installations and keys: each for the one installation that it is about. */
import type { AccessEvent } from "#access/credential-changes.ts";
import { findExpiringKeys, recordExpiryNotice } from "#access/keys/manage-keys.ts";
import type { Database } from "#database/connect.ts";
import { handleDueRows } from "#database/due-rows.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import { type Circumstances, type RenderSubject, writeEvents } from "#webhooks/outbox.ts";

export interface AccessPublishOptions extends Omit<Circumstances, "merchantId"> {
  readonly render: RenderSubject;
}

export async function publishAccessEvents(
  transaction: Transaction,
  happened: readonly AccessEvent[],
  telling: AccessPublishOptions,
): Promise<void> {
  for (const [merchantId, its] of Map.groupBy(happened, (happening) => happening.merchantId))
    await writeEvents(transaction, its, { ...telling, merchantId, fannedOutAt: null });
}

interface ExpiryRound {
  readonly db: Database;
  readonly now: Date;
  readonly render: RenderSubject;
  readonly signal?: AbortSignal | undefined;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;

/** Of keys that end soon. Gives how many. */
export function publishExpiringKeyEvents({ db, now, render, signal }: ExpiryRound): Promise<number> {
  return handleDueRows({
    find: (after: { readonly id: string } | undefined, rowsMax) =>
      findExpiringKeys(db, { now, after: after?.id ?? "", rowsMax }),
    handle: ({ id }) =>
      inTransaction(db, async (transaction) => {
        const happened = await recordExpiryNotice(transaction, { now }, id);
        await publishAccessEvents(transaction, happened, { now, cause, render });
        return happened.length > 0;
      }),
    signal,
  });
}
