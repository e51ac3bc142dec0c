/** Writes the audit entry of a mutation, in the transaction of the mutation. */
import {
  appendAuditEntries,
  type AuditedMutationCall,
  getAuditActor,
  getAuditTargetAndDetailsOfMutation,
} from "#access/audit.ts";
import type { Transaction } from "#database/transaction.ts";
import type { GraphqlContext } from "./context.ts";

interface MutationToRecord {
  readonly mutation: AuditedMutationCall;
  readonly merchantId: string | null;
  readonly now: Date;
  readonly changed: unknown;
}

/**
 * Appends the audit entry of a mutation to the audit log. Appends none for callers whose changes are not
 * audited, for example buyers.
 */
export async function appendAuditEntryOfMutation(
  transaction: Transaction,
  context: GraphqlContext,
  change: MutationToRecord,
): Promise<void> {
  const { viewer, operationId, requestId } = context;
  const { mutation, merchantId, now, changed } = change;
  const actor = getAuditActor(viewer);
  if (actor === undefined) return;
  await appendAuditEntries(transaction, {
    ...actor,
    merchantId,
    now,
    action: operationId ?? mutation.name,
    requestId,
    ...getAuditTargetAndDetailsOfMutation(mutation, changed),
  });
}
