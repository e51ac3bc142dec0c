/**
 * Counts which deliveries a bulk replay would replay and which it would skip, without replaying them. Selects
 * and checks the deliveries by the same rules as the bulk replay.
 */
import type { DatabaseReader } from "#database/transaction.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import type { ReplayCommandContext } from "./replay-delivery.ts";
import {
  findBulkReplayFaults,
  bulkReplayPageSize,
  countReplaySkipReasons,
  type FailedDeliveryFilter,
  createReplayTargetEndpointChecker,
  findFailedDeliveries,
  findInstallationIdForReplay,
  loadReplayCandidates,
  findReplaySkipReason,
  type ReplaySkipReasonCount,
} from "./replay-selection.ts";

export interface ReplayPreview {
  /** The number of deliveries that one call of the bulk replay would replay. */
  readonly replayable: number;
  readonly passedOver: readonly ReplaySkipReasonCount[];
  /** The largest number of deliveries that one call of the bulk replay examines. */
  readonly limit: number;
  /** True if more deliveries match the filter than one call of the bulk replay examines. */
  readonly hasMore: boolean;
}

/**
 * Counts the deliveries that a bulk replay would replay or skip. Returns null if the endpoint or installation
 * does not exist or belongs to another merchant.
 */
export async function previewReplay(
  reader: DatabaseReader,
  { merchantId, now }: Pick<ReplayCommandContext, "merchantId" | "now">,
  filter: FailedDeliveryFilter,
): Promise<ReplayPreview | null> {
  requireNoInputFieldErrors(findBulkReplayFaults(filter));
  const installationId = await findInstallationIdForReplay(reader, { merchantId }, filter);
  if (installationId === undefined) return null;
  const found = await findFailedDeliveries(reader, { ...filter, installationId });
  const page = found.slice(0, bulkReplayPageSize);
  const candidates = await loadReplayCandidates(reader, page, filter.toEndpointId ?? null);
  const findTargetRefusal = await createReplayTargetEndpointChecker(reader, candidates, "read");
  const reasons = candidates.flatMap(
    (candidate) => findReplaySkipReason(candidate, { findTargetRefusal, now }) ?? [],
  );
  return {
    replayable: candidates.length - reasons.length,
    passedOver: countReplaySkipReasons(reasons),
    limit: bulkReplayPageSize,
    hasMore: found.length > bulkReplayPageSize,
  };
}
