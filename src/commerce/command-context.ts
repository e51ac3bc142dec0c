/**
 * The context that every command receives beside its transaction and its input, and the check of the version
 * that a caller expects. A command is a function that changes data inside a transaction.
 */
import type { Transaction } from "#database/transaction.ts";
import { createFailure, type ConflictErrorDetails } from "#foundation/failure.ts";
import type { EventOutbox } from "#webhooks/outbox.ts";

export interface MerchantCommandContext {
  /** The merchant whose data the command reads and changes. */
  readonly merchantId: string;
  /** The time of the command, which is used for all timestamps that the command writes. */
  readonly now: Date;
  /**
   * Updates the given products in the search index, inside the transaction. Products that are no longer
   * published are removed from the index.
   */
  readonly reindex: (transaction: Transaction, productIds: readonly string[]) => Promise<void>;
  /** Collects the events that the command publishes, and stores them before the transaction commits. */
  readonly outbox: EventOutbox;
}

/**
 * Throws `version_conflict` if the resource has another version than the caller expects. Checks nothing if
 * the caller expects no version.
 */
export function requireExpectedVersion(
  resource: ConflictErrorDetails,
  expectedVersion: number | null | undefined,
): void {
  if (
    expectedVersion === null ||
    expectedVersion === undefined ||
    expectedVersion === resource.currentVersion
  )
    return;
  throw createFailure("version_conflict", { conflict: resource });
}
