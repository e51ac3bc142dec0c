/**
 * Replays deliveries of one endpoint or installation: those that have a given final status and whose events
 * are in a time window. One call replays one page of deliveries, oldest event first. Deliveries that must not
 * be replayed, or were replayed already, are skipped and counted by reason.
 */
import { sql } from "kysely";
import { runAfterCommit, type Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { requireNoInputFieldErrors } from "#foundation/faults.ts";
import { createId } from "#foundation/ids.ts";
import type { DeliveryReplayCommandContext } from "./replay-delivery.ts";
import {
  type BulkReplayDeliveriesInput,
  findBulkReplayFaults,
  bulkReplayPageSize,
  countEachReplaySkipReason,
  type BulkReplayCursorPosition,
  createReplayTargetEndpointChecker,
  findDeliveriesForBulkReplay,
  findInstallationIdForReplay,
  loadDeliveryReplayCandidates,
  type DeliveryReplayCandidate,
  findReplaySkipReason,
  type BulkReplaySkipReason,
  type BulkReplaySkipReasonCount,
  encodeReplayCursor,
} from "./replay-selection.ts";

export interface BulkReplayResult {
  readonly replayed: number;
  readonly passedOver: readonly BulkReplaySkipReasonCount[];
  readonly hasMore: boolean;
  /**
   * The position of the last examined delivery, which the caller sends as `after` to get the next page; null
   * if no delivery was found.
   */
  readonly endCursor: string | null;
}

export async function replayDeliveries(
  transaction: Transaction,
  context: DeliveryReplayCommandContext,
  input: BulkReplayDeliveriesInput,
): Promise<BulkReplayResult> {
  requireNoInputFieldErrors(findBulkReplayFaults(input));
  const installationId = await findInstallationIdForReplay(transaction, context, input);
  if (installationId === undefined)
    throw createFailure(
      (input.endpointId ?? null) === null ? "resource_not_found" : "webhook_endpoint_not_found",
    );
  const found = await findDeliveriesForBulkReplay(transaction, { ...input, installationId });
  await lockEvents(transaction, found);
  const page = found.slice(0, bulkReplayPageSize);
  const last = page.at(-1);
  const { chosen, passedOver } = await selectReplays(transaction, context, { page, input });
  await insertReplays(transaction, { chosen, input, now: context.now });
  if (chosen.length > 0) runAfterCommit(transaction, () => context.events.emit("deliveriesDue"));
  return {
    replayed: chosen.length,
    passedOver: countEachReplaySkipReason(passedOver),
    hasMore: found.length > bulkReplayPageSize,
    endCursor: last === undefined ? null : encodeReplayCursor(last),
  };
}

interface NumberedCandidate extends DeliveryReplayCandidate {
  readonly replayNo: number;
}

/**
 * Locks events until the end of the transaction, so that two transactions cannot replay the same event at the
 * same time.
 */
async function lockEvents(
  transaction: Transaction,
  found: readonly BulkReplayCursorPosition[],
): Promise<void> {
  const eventIds = [...new Set(found.map((row) => row.eventId))];
  await sql`select from event where id = any(${eventIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
}

async function selectReplays(
  transaction: Transaction,
  { now }: DeliveryReplayCommandContext,
  {
    page,
    input,
  }: { readonly page: readonly BulkReplayCursorPosition[]; readonly input: BulkReplayDeliveriesInput },
): Promise<{ chosen: NumberedCandidate[]; passedOver: BulkReplaySkipReason[] }> {
  // The deliveries are read only after their events are locked, so that the statement also sees replays that
  // another transaction has just created.
  const candidates = await loadDeliveryReplayCandidates(transaction, page, input.toEndpointId ?? null);
  const findTargetRefusal = await createReplayTargetEndpointChecker(transaction, candidates, "lock");
  const chosen: NumberedCandidate[] = [];
  const passedOver: BulkReplaySkipReason[] = [];
  const numbers = new Map<string, number>();
  for (const candidate of candidates) {
    const refusal = findReplaySkipReason(candidate, { findTargetRefusal, now });
    if (refusal !== null) {
      passedOver.push(refusal);
      continue;
    }
    const pair = `${candidate.eventId} ${candidate.endpointId}`;
    const replayNo = (numbers.get(pair) ?? candidate.replayNo) + 1;
    numbers.set(pair, replayNo);
    chosen.push({ ...candidate, replayNo });
  }
  return { chosen, passedOver };
}

async function insertReplays(
  transaction: Transaction,
  {
    chosen,
    input,
    now,
  }: {
    readonly chosen: readonly NumberedCandidate[];
    readonly input: BulkReplayDeliveriesInput;
    readonly now: Date;
  },
): Promise<void> {
  if (chosen.length === 0) return;
  const rows = chosen.map(({ id, merchantId, installationId, eventId, endpointId, replayNo }) => ({
    id: createId("webhookDelivery", now.getTime()),
    merchantId,
    installationId,
    eventId,
    endpointId,
    replayNo,
    replayOf: id,
    replayReason: input.reason,
    replayNote: input.note ?? null,
    status: "pending" as const,
    nextAttemptAt: now,
    lease: null,
    createdAt: now,
    finishedAt: null,
  }));
  await transaction.insertInto("webhookDelivery").values(rows).execute();
}
