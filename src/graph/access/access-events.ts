/**
 * Publishes events about installations and API keys. Such an event is delivered only to the webhook endpoints
 * of one installation: the changed installation, or the one that owns the changed API key.
 */
import type { InstallationOrApiKeyEvent } from "#access/credential-changes.ts";
import { findExpiringApiKeys, recordApiKeyExpiryNotice } from "#access/keys/expiry-notices.ts";
import type { Database } from "#database/connect.ts";
import { processDueRows } from "#database/due-rows.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import {
  type MerchantTimeAndCauseOfEvent,
  type EventSubjectRenderer,
  insertEvents,
} from "#webhooks/outbox.ts";

export interface InstallationEventPublishOptions extends Omit<MerchantTimeAndCauseOfEvent, "merchantId"> {
  readonly render: EventSubjectRenderer;
}

export async function publishInstallationAndApiKeyEvents(
  transaction: Transaction,
  events: readonly InstallationOrApiKeyEvent[],
  options: InstallationEventPublishOptions,
): Promise<void> {
  for (const [merchantId, eventsOfMerchant] of Map.groupBy(events, (event) => event.merchantId))
    await insertEvents(transaction, eventsOfMerchant, { ...options, merchantId, fannedOutAt: null });
}

interface ExpiryRound {
  readonly db: Database;
  readonly now: Date;
  readonly render: EventSubjectRenderer;
  readonly signal?: AbortSignal | undefined;
}

const cause = { operationId: null, actor: "system", requestId: null } as const;

/**
 * Publishes an event `api_key.expiring` for each API key whose expiry notice is due (seven days or one day
 * before the key expires). Returns the number of these keys.
 */
export function publishExpiringKeyEvents({ db, now, render, signal }: ExpiryRound): Promise<number> {
  return processDueRows({
    find: (after: { readonly id: string } | undefined, rowsMax) =>
      findExpiringApiKeys(db, { now, after: after?.id ?? "", rowsMax }),
    handle: ({ id }) =>
      runInTransaction(db, async (transaction) => {
        const events = await recordApiKeyExpiryNotice(transaction, { now }, id);
        await publishInstallationAndApiKeyEvents(transaction, events, { now, cause, render });
        return events.length > 0;
      }),
    signal,
  });
}
