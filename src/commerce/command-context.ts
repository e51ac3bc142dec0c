/**
 * What every command is given beside its transaction and its input, and the check of the version that a
 * caller expects.
 */
import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import type { Outbox } from "#webhooks/outbox.ts";

export interface CommandContext {
  readonly merchantId: string;
  readonly now: Date;
  /** Updates these products in the search index; removes those that are no longer for sale. */
  readonly reindex: (transaction: Transaction, productIds: readonly string[]) => Promise<void>;
  /** Collects the events of the transaction; they are written with it. */
  readonly outbox: Outbox;
}

/** Throws `version_conflict` if the caller expects another version than `found` has. */
export function requireVersion(found: FailureConflict, expectedVersion: number | null | undefined): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === found.currentVersion)
    return;
  throw fail("version_conflict", { conflict: found });
}
