/**
 * The context that every command of the domain model receives beside its transaction and its input, and the
 * check of the version that a caller expects.
 */
import type { Transaction } from "#database/transaction.ts";
import { fail, type FailureConflict } from "#foundation/failure.ts";
import type { Outbox } from "#webhooks/outbox.ts";

export interface CommandContext {
  /** The merchant whose data the command reads and changes. */
  readonly merchantId: string;
  /** The time of the command; all timestamps that it writes are this one. */
  readonly now: Date;
  /**
   * Updates the given products in the search index, inside the transaction. Removes products that are no
   * longer for sale from the index.
   */
  readonly reindex: (transaction: Transaction, productIds: readonly string[]) => Promise<void>;
  /** Collects the domain events of the transaction, which stores them before it commits. */
  readonly outbox: Outbox;
}

/**
 * Throws `version_conflict` if the caller expects a version other than the current version of the resource.
 * Checks nothing if the caller expects no version.
 */
export function requireVersion(resource: FailureConflict, expectedVersion: number | null | undefined): void {
  if (
    expectedVersion === null ||
    expectedVersion === undefined ||
    expectedVersion === resource.currentVersion
  )
    return;
  throw fail("version_conflict", { conflict: resource });
}
