/** Counts what a bulk replay would do, with the same selection and the same rules, without changing anything. */
import type { DatabaseReader } from "#database/transaction.ts";
import { requireNoFaults } from "#foundation/faults.ts";
import type { ReplayCommandContext } from "./replay-delivery.ts";
import {
  bulkReplayFaults,
  bulkReplayPageSize,
  countSkipReasons,
  type FailedDeliveryFilter,
  findClosedEndpoints,
  findFailedDeliveries,
  findReplayInstallation,
  readReplayCandidates,
  replaySkipReason,
  type SkippedCount,
} from "./replay-selection.ts";

export interface ReplayPreview {
  /** The number of deliveries that one call would replay. */
  readonly replayable: number;
  readonly passedOver: readonly SkippedCount[];
  /** The number of deliveries that one call examines at most. */
  readonly limit: number;
  /** True if more deliveries match than one call examines. */
  readonly hasMore: boolean;
}

/** Returns null if the caller has no such endpoint or installation. */
export async function previewReplay(
  reader: DatabaseReader,
  { merchantId, now }: Pick<ReplayCommandContext, "merchantId" | "now">,
  filter: FailedDeliveryFilter,
): Promise<ReplayPreview | null> {
  requireNoFaults(bulkReplayFaults(filter));
  const installationId = await findReplayInstallation(reader, { merchantId }, filter);
  if (installationId === undefined) return null;
  const found = await findFailedDeliveries(reader, { ...filter, installationId });
  const page = found.slice(0, bulkReplayPageSize);
  const candidates = await readReplayCandidates(reader, page, filter.toEndpointId ?? null);
  const closed = await findClosedEndpoints(reader, candidates, "read");
  const reasons = candidates.flatMap((candidate) => replaySkipReason(candidate, { closed, now }) ?? []);
  return {
    replayable: candidates.length - reasons.length,
    passedOver: countSkipReasons(reasons),
    limit: bulkReplayPageSize,
    hasMore: found.length > bulkReplayPageSize,
  };
}
