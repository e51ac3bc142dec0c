/**
 * Replays many deliveries: those of one endpoint or installation with the same final status and with events
 * in a time window. Works page by page, oldest event first. Deliveries that must not be replayed or were
 * replayed already are skipped and counted by reason.
 */
import { sql } from "kysely";
import { afterCommit, type Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import { createId, lowestIdAt } from "#foundation/ids.ts";
import { isCleanText } from "#foundation/text.ts";
import {
  mayInstallationReadEvent,
  equalsUnlessNullSql,
  replayNoteMax,
  replayCountSql,
  type ReplayCommandContext,
} from "./replay-delivery.ts";
import {
  type ReplayState,
  findReplayRefusal,
  type ReplayReason,
  type ReplayRefusal,
} from "./delivery-rules.ts";

/** The final statuses of unsuccessful deliveries. */
export type FailedDeliveryStatus = "exhausted" | "skipped" | "canceled";

export interface BulkReplayInput {
  /** Replays only the deliveries of this endpoint. Either `endpointId` or `installationId` is required. */
  readonly endpointId?: string | null | undefined;
  readonly installationId?: string | null | undefined;
  /** Start of the time window of the events. */
  readonly since: Date;
  /** End of the time window, exclusive. */
  readonly until: Date;
  readonly status: FailedDeliveryStatus;
  readonly reason: ReplayReason;
  readonly note?: string | null | undefined;
  /** Another endpoint for all replays, for example because the original endpoint is deleted. */
  readonly toEndpointId?: string | null | undefined;
  /** The `endCursor` of the previous page. */
  readonly after?: string | null | undefined;
}

export type ReplaySkipReason = ReplayRefusal | "webhook_endpoint_not_found" | "webhook_endpoint_disabled";

export interface BulkReplayResult {
  readonly replayed: number;
  readonly passedOver: readonly { readonly reason: ReplaySkipReason; readonly count: number }[];
  readonly hasMore: boolean;
  /** The value of `after` for the next page; null if no delivery was found. */
  readonly endCursor: string | null;
}

export const bulkReplayPageSize = 1000;
export const bulkReplayDaysMax = 30;
const dayMs = 86_400_000;

export async function replayDeliveries(
  transaction: Transaction,
  context: ReplayCommandContext,
  input: BulkReplayInput,
): Promise<BulkReplayResult> {
  requireNoFaults(bulkReplayFaults(input));
  const installationId = await findInstallation(transaction, context, input);
  const found = await lockFailedDeliveries(transaction, { ...input, installationId });
  const page = found.slice(0, bulkReplayPageSize);
  const last = page.at(-1);
  const { chosen, passedOver } = await selectReplays(transaction, context, { page, input });
  await insertReplays(transaction, { chosen, input, now: context.now });
  if (chosen.length > 0) afterCommit(transaction, () => context.events.emit("deliveriesDue"));
  const counts = [...Map.groupBy(passedOver, (reason) => reason)].map(([reason, { length }]) => ({
    reason,
    count: length,
  }));
  return {
    replayed: chosen.length,
    passedOver: counts,
    hasMore: found.length > bulkReplayPageSize,
    endCursor: last === undefined ? null : cursorOf(last),
  };
}

const cursorPattern = /^evt_[0-9a-hjkmnp-tv-z]{26} whd_[0-9a-hjkmnp-tv-z]{26}$/;

function bulkReplayFaults({
  since,
  until,
  note,
  endpointId,
  installationId,
  after,
}: BulkReplayInput): Faults {
  const faults = textFaults("/note", note, { min: 0, max: replayNoteMax, lines: "many" });
  const lengthMs = until.getTime() - since.getTime();
  if (lengthMs <= 0) faults.push(faultAt("/until", "too_small", "until must be after since."));
  if (lengthMs > bulkReplayDaysMax * dayMs)
    faults.push(
      faultAt("/until", "too_large", `until may be at most ${bulkReplayDaysMax} days after since.`),
    );
  if ((endpointId ?? null) === null && (installationId ?? null) === null)
    faults.push(faultAt("/endpointId", "required", "An endpoint or an installation is required."));
  if (typeof after === "string" && !cursorPattern.test(decode(after)))
    faults.push(faultAt("/after", "pattern_mismatch", "after must be the endCursor of a previous page."));
  return faults;
}

interface DeliveryPosition {
  readonly id: string;
  readonly eventId: string;
}

const cursorOf = ({ eventId, id }: DeliveryPosition): string =>
  Buffer.from(`${eventId} ${id}`).toString("base64url");
const decode = (cursor: string): string => Buffer.from(cursor, "base64url").toString("utf8");

/** Finds the installation, also of a deleted endpoint. Endpoint and installation must belong together. */
async function findInstallation(
  transaction: Transaction,
  context: ReplayCommandContext,
  { endpointId, installationId }: BulkReplayInput,
): Promise<string> {
  const named = equalsUnlessNullSql(
    sql`i.id`,
    installationId === null || installationId === undefined ? null : cleanIdOrEmpty(installationId),
  );
  const isTheirs = equalsUnlessNullSql(sql`i.merchant_id`, context.merchantId);
  const { rows } =
    endpointId === null || endpointId === undefined
      ? await sql<{ id: string }>`select i.id from installation i where ${named} and ${isTheirs}`.execute(
          transaction,
        )
      : await sql<{ id: string }>`
          select i.id from webhook_endpoint w join installation i on i.id = w.installation_id
          where w.id = ${cleanIdOrEmpty(endpointId)} and ${isTheirs} and ${named}`.execute(transaction);
  const [installation] = rows;
  if (installation === undefined)
    throw fail(
      endpointId === null || endpointId === undefined ? "resource_not_found" : "webhook_endpoint_not_found",
    );
  return installation.id;
}

const cleanIdOrEmpty = (id: string): string => (isCleanText(id) ? id : "");

/**
 * Finds the deliveries to replay. Deliveries that are replays themselves are left out, because each of them
 * belongs to its original delivery. Returns one row more than a page, and locks the events until the end of
 * the transaction.
 */
async function lockFailedDeliveries(
  transaction: Transaction,
  {
    installationId,
    endpointId,
    status,
    since,
    until,
    after,
  }: BulkReplayInput & { readonly installationId: string },
): Promise<readonly DeliveryPosition[]> {
  const [eventId = "", id = ""] = after === null || after === undefined ? [] : decode(after).split(" ");
  const ofEndpoint = equalsUnlessNullSql(sql`d.endpoint_id`, endpointId ?? null);
  // The status is a literal, so that the planner can use the partial index of unsuccessful deliveries.
  const { rows } = await sql<DeliveryPosition>`
    select d.id, d.event_id from webhook_delivery d join event e on e.id = d.event_id join installation i
    on i.id = d.installation_id
    where d.installation_id = ${installationId} and ${ofEndpoint} and d.status = ${sql.lit(status)}
      and d.replay_of is null and d.event_id >= ${lowestIdAt("event", since.getTime())}
      and d.event_id < ${lowestIdAt("event", until.getTime())}
      and (d.event_id, d.id) > (${eventId}, ${id}) and ${mayInstallationReadEvent}
    order by d.event_id, d.id limit ${bulkReplayPageSize + 1}`.execute(transaction);
  const eventIds = [...new Set(rows.map((row) => row.eventId))];
  await sql`select from event where id = any(${eventIds}::text[]) order by id for no key update`.execute(
    transaction,
  );
  return rows;
}

interface Candidate extends ReplayState, DeliveryPosition {
  readonly merchantId: string;
  readonly installationId: string;
  readonly endpointId: string;
  readonly isUnderWay: boolean;
  readonly hasArrived: boolean;
  /** The highest replay number of the event at the target endpoint. */
  readonly replayNo: number;
}

interface NumberedCandidate extends Candidate {
  readonly replayNo: number;
}

async function selectReplays(
  transaction: Transaction,
  { now }: ReplayCommandContext,
  { page, input }: { readonly page: readonly DeliveryPosition[]; readonly input: BulkReplayInput },
): Promise<{ chosen: NumberedCandidate[]; passedOver: ReplaySkipReason[] }> {
  const candidates = await readCandidates(transaction, page, input.toEndpointId ?? null);
  const closed = await lockTargetEndpoints(transaction, candidates);
  const chosen: NumberedCandidate[] = [];
  const passedOver: ReplaySkipReason[] = [];
  const numbers = new Map<string, number>();
  for (const candidate of candidates) {
    const refusal = skipReasonOf(candidate, { closed, now });
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

/** Reads the deliveries again after their events are locked, so that no concurrent replay is missed. */
async function readCandidates(
  transaction: Transaction,
  page: readonly DeliveryPosition[],
  toEndpointId: string | null,
): Promise<readonly Candidate[]> {
  const { rows } = await sql<Candidate>`
    select d.id, d.event_id, d.merchant_id, d.installation_id, d.status, e.occurred_at, t.id as endpoint_id,
    ${replayCountSql(sql`d.id`)} as replays,
      exists (select from webhook_delivery r where r.replay_of = d.id
      and r.status in ('pending', 'sending', 'retrying')) as is_under_way,
      exists (select from webhook_delivery r where r.replay_of = d.id
      and r.status = 'succeeded') as has_arrived,
      coalesce((select max(r.replay_no) from webhook_delivery r where r.event_id = d.event_id
      and r.endpoint_id = t.id), 0) as replay_no
    from webhook_delivery d join event e on e.id = d.event_id cross join lateral (select
    coalesce(${toEndpointId}::text, d.endpoint_id) as id) t
    where d.id = any(${page.map(({ id }) => id)}::text[]) order by d.event_id, d.id`.execute(transaction);
  return rows;
}

/**
 * Locks the target endpoints, so that they are not disabled until the replays are inserted. Returns a
 * function that says why an endpoint cannot receive replays; null if it can.
 */
async function lockTargetEndpoints(
  transaction: Transaction,
  candidates: readonly Candidate[],
): Promise<(endpointId: string, installationId: string) => ReplaySkipReason | null> {
  const ids = [...new Set(candidates.map(({ endpointId }) => cleanIdOrEmpty(endpointId)))];
  const { rows } = await sql<{ id: string; installationId: string; isOpen: boolean }>`
    select w.id, w.installation_id, w.status = 'enabled' and i.status = 'active' as is_open
    from webhook_endpoint w join installation i on i.id = w.installation_id
    where w.id = any(${ids}::text[]) and w.status <> 'deleted' order by w.id for share of w`.execute(
    transaction,
  );
  const found = new Map(rows.map((row) => [row.id, row]));
  return (endpointId, installationId) => {
    const endpoint = found.get(endpointId);
    if (endpoint?.installationId !== installationId) return "webhook_endpoint_not_found";
    return endpoint.isOpen ? null : "webhook_endpoint_disabled";
  };
}

function skipReasonOf(
  candidate: Candidate,
  {
    closed,
    now,
  }: {
    readonly closed: (endpointId: string, installationId: string) => ReplaySkipReason | null;
    readonly now: Date;
  },
): ReplaySkipReason | null {
  if (candidate.isUnderWay) return "delivery_in_progress";
  if (candidate.hasArrived) return "delivery_already_succeeded";
  return (
    findReplayRefusal(candidate, { isForced: false, now }) ??
    closed(candidate.endpointId, candidate.installationId)
  );
}

async function insertReplays(
  transaction: Transaction,
  {
    chosen,
    input,
    now,
  }: { readonly chosen: readonly NumberedCandidate[]; readonly input: BulkReplayInput; readonly now: Date },
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
