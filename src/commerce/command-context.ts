import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import type { Outbox } from "#webhooks/outbox.ts";
export interface CommandContext {
  readonly merchantId: string;
  readonly now: Date;
  /** Brings the search index up to date with these products, whether they are for sale or no longer. */
  readonly reindex: (transaction: Transaction, productIds: readonly string[]) => Promise<void>;
  /** Told of what happens, in the transaction in which it does. */
  readonly outbox: Outbox;
}

export function requireVersion(found: FailureConflict, expectedVersion: number | null | undefined): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === found.currentVersion) return;
  throw fail("version_conflict", { conflict: found });
}
