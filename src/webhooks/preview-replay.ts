/**
 * Counts which deliveries a bulk replay would replay and which it would skip, without replaying them. Selects
 * and checks the deliveries by the same rules as the bulk replay.
 */
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import type { DeliveryReplayCommandContext } from "./replay-delivery.ts";
import {
  findBulkReplayFaults,
  bulkReplayPageSize,
  countEachReplaySkipReason,
  type FailedDeliveryFilter,
  createReplayTargetEndpointChecker,
  findDeliveriesForBulkReplay,
  findInstallationIdForReplay,
  loadDeliveryReplayCandidates,
  findReplaySkipReason,
  type BulkReplaySkipReasonCount,
} from "./replay-selection.ts";

export interface BulkReplayPreview {
  /** The number of deliveries that one call of the bulk replay would replay. */
  readonly replayable: number;
  readonly passedOver: readonly BulkReplaySkipReasonCount[];
  /** The largest number of deliveries that one call of the bulk replay examines. */
  readonly limit: number;
  /** True if more deliveries match the filter than one call of the bulk replay examines. */
  readonly hasMore: boolean;
}

/**
 * Counts the deliveries that a bulk replay would replay or skip. Returns null if the endpoint or installation
 * does not exist or belongs to another merchant.
 */
export async function previewBulkReplay(
  reader: DatabaseOrTransaction,
  { merchantId, now }: Pick<DeliveryReplayCommandContext, "merchantId" | "now">,
  filter: FailedDeliveryFilter,
): Promise<BulkReplayPreview | null> {
  requireNoInputFieldErrors(findBulkReplayFaults(filter));
  const installationId = await findInstallationIdForReplay(reader, { merchantId }, filter);
  if (installationId === undefined) return null;
  const found = await findDeliveriesForBulkReplay(reader, { ...filter, installationId });
  const page = found.slice(0, bulkReplayPageSize);
  const candidates = await loadDeliveryReplayCandidates(reader, page, filter.toEndpointId ?? null);
  const findTargetRefusal = await createReplayTargetEndpointChecker(reader, candidates, "read");
  const reasons = candidates.flatMap(
    (candidate) => findReplaySkipReason(candidate, { findTargetRefusal, now }) ?? [],
  );
  return {
    replayable: candidates.length - reasons.length,
    passedOver: countEachReplaySkipReason(reasons),
    limit: bulkReplayPageSize,
    hasMore: found.length > bulkReplayPageSize,
  };
}
