/**
 * Selects the deliveries of a bulk replay, and decides which of them cannot be replayed. The bulk replay and
 * its preview both use this file.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import {
  type DeliveryStateForReplayCheck,
  findReplayRefusalCode,
  type DeliveryReplayReason,
  type DeliveryReplayRefusalCode,
} from "./delivery-rules.ts";
import {
  mayInstallationReadEvent,
  equalsUnlessNullConditionSql,
  replayNoteLengthMax,
  replayCountOfDeliverySql,
  type DeliveryReplayCommandContext,
} from "./replay-delivery.ts";

/** The final statuses of deliveries that ended without success. */
export type FailedDeliveryStatus = "exhausted" | "skipped" | "canceled";

export interface FailedDeliveryFilter {
  /**
   * The id of the endpoint whose deliveries are selected. Either `endpointId` or `installationId` is
   * required.
   */
  readonly endpointId?: string | null | undefined;
  readonly installationId?: string | null | undefined;
  /** The start of the time window in which the events occurred (included). */
  readonly since: Date;
  /** The end of the time window in which the events occurred (excluded). */
  readonly until: Date;
  readonly status: FailedDeliveryStatus;
  /**
   * The id of the endpoint that receives all replays; required if the original endpoint is deleted. If left
   * out, each replay goes to the endpoint of its original delivery.
   */
  readonly toEndpointId?: string | null | undefined;
  /**
   * The `endCursor` of the previous page of deliveries, after which the selection continues; left out for the
   * first page.
   */
  readonly after?: string | null | undefined;
}

export interface BulkReplayDeliveriesInput extends FailedDeliveryFilter {
  readonly reason: DeliveryReplayReason;
  readonly note?: string | null | undefined;
}

export type BulkReplaySkipReason =
  | DeliveryReplayRefusalCode
  | "webhook_endpoint_not_found"
  | "webhook_endpoint_disabled";

export const bulkReplayPageSize = 1000;
export const bulkReplayDaysMax = 30;
const dayMs = 86_400_000;

export interface BulkReplaySkipReasonCount {
  readonly reason: BulkReplaySkipReason;
  readonly count: number;
}

export const countEachReplaySkipReason = (
  reasons: readonly BulkReplaySkipReason[],
): readonly BulkReplaySkipReasonCount[] =>
  [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) => ({ reason, count: length }));

const cursorPattern = /^evt_[0-9a-hjkmnp-tv-z]{26} whd_[0-9a-hjkmnp-tv-z]{26}$/;

export function findBulkReplayFaults({
  since,
  until,
  note,
  endpointId,
  installationId,
  after,
}: FailedDeliveryFilter & Pick<Partial<BulkReplayDeliveriesInput>, "note">): InputFieldErrors {
  const faults = getTextFieldErrors("/note", note, { min: 0, max: replayNoteLengthMax, lines: "many" });
  const lengthMs = until.getTime() - since.getTime();
  if (lengthMs <= 0)
    faults.push(createRequestBodyErrorDetail("/until", "too_small", "until must be after since."));
  if (lengthMs > bulkReplayDaysMax * dayMs)
    faults.push(
      createRequestBodyErrorDetail(
        "/until",
        "too_large",
        `until may be at most ${bulkReplayDaysMax} days after since.`,
      ),
    );
  if ((endpointId ?? null) === null && (installationId ?? null) === null)
    faults.push(
      createRequestBodyErrorDetail("/endpointId", "required", "An endpoint or an installation is required."),
    );
  if (typeof after === "string" && !cursorPattern.test(decode(after)))
    faults.push(
      createRequestBodyErrorDetail(
        "/after",
        "pattern_mismatch",
        "after must be the endCursor of a previous page.",
      ),
    );
  return faults;
}

export interface BulkReplayCursorPosition {
  readonly id: string;
  readonly eventId: string;
}

export const encodeReplayCursor = ({ eventId, id }: BulkReplayCursorPosition): string =>
  Buffer.from(`${eventId} ${id}`).toString("base64url");
const decode = (cursor: string): string => Buffer.from(cursor, "base64url").toString("utf8");

/**
 * Returns the id of the installation whose deliveries are replayed, also if the endpoint in the filter is
 * deleted. Returns undefined if the installation or endpoint does not exist, or if the endpoint belongs to
 * another installation.
 */
export async function findInstallationIdForReplay(
  reader: DatabaseOrTransaction,
  context: Pick<DeliveryReplayCommandContext, "merchantId">,
  { endpointId, installationId }: Pick<FailedDeliveryFilter, "endpointId" | "installationId">,
): Promise<string | undefined> {
  const named = equalsUnlessNullConditionSql(
    sql`i.id`,
    installationId === null || installationId === undefined ? null : cleanIdOrEmpty(installationId),
  );
  const isTheirs = equalsUnlessNullConditionSql(sql`i.merchant_id`, context.merchantId);
  const { rows } =
    endpointId === null || endpointId === undefined
      ? await sql<{ id: string }>`select i.id from installation i where ${named} and ${isTheirs}`.execute(
          reader,
        )
      : await sql<{ id: string }>`
          select i.id from webhook_endpoint w join installation i on i.id = w.installation_id
          where w.id = ${cleanIdOrEmpty(endpointId)} and ${isTheirs} and ${named}`.execute(reader);
  return rows[0]?.id;
}

const cleanIdOrEmpty = (id: string): string => (isTextWithoutForbiddenCharacters(id) ? id : "");

/**
 * Finds the original deliveries to replay; deliveries that are replays themselves are not selected. Returns
 * at most one page and one further row, which shows that there is another page.
 */
export async function findDeliveriesForBulkReplay(
  reader: DatabaseOrTransaction,
  {
    installationId,
    endpointId,
    status,
    since,
    until,
    after,
  }: FailedDeliveryFilter & { readonly installationId: string },
): Promise<readonly BulkReplayCursorPosition[]> {
  const [eventId = "", id = ""] = after === null || after === undefined ? [] : decode(after).split(" ");
  const ofEndpoint = equalsUnlessNullConditionSql(sql`d.endpoint_id`, endpointId ?? null);
  // The status is written as a literal into the SQL text, so that the query planner can use the partial index
  // of unsuccessful deliveries.
  const { rows } = await sql<BulkReplayCursorPosition>`
    select d.id, d.event_id from webhook_delivery d join event e on e.id = d.event_id join installation i
    on i.id = d.installation_id
    where d.installation_id = ${installationId} and ${ofEndpoint} and d.status = ${sql.lit(status)}
      and d.replay_of is null and d.event_id >= ${getLowestIdAtTime("event", since.getTime())}
      and d.event_id < ${getLowestIdAtTime("event", until.getTime())}
      and (d.event_id, d.id) > (${eventId}, ${id}) and ${mayInstallationReadEvent}
    order by d.event_id, d.id limit ${bulkReplayPageSize + 1}`.execute(reader);
  return rows;
}

export interface DeliveryReplayCandidate extends DeliveryStateForReplayCheck, BulkReplayCursorPosition {
  readonly merchantId: string;
  readonly installationId: string;
  readonly endpointId: string;
  readonly isUnderWay: boolean;
  readonly hasArrived: boolean;
  /**
   * The highest `replay_no` among the existing replays of this event to the target endpoint; 0 if there are
   * none.
   */
  readonly replayNo: number;
}

/** Reads the values by which the service decides whether each delivery may be replayed. */
export async function loadDeliveryReplayCandidates(
  reader: DatabaseOrTransaction,
  page: readonly BulkReplayCursorPosition[],
  toEndpointId: string | null,
): Promise<readonly DeliveryReplayCandidate[]> {
  const { rows } = await sql<DeliveryReplayCandidate>`
    select d.id, d.event_id, d.merchant_id, d.installation_id, d.status, e.occurred_at, t.id as endpoint_id,
    ${replayCountOfDeliverySql(sql`d.id`)} as replays,
      exists (select from webhook_delivery r where r.replay_of = d.id
      and r.status in ('pending', 'sending', 'retrying')) as is_under_way,
      exists (select from webhook_delivery r where r.replay_of = d.id
      and r.status = 'succeeded') as has_arrived,
      coalesce((select max(r.replay_no) from webhook_delivery r where r.event_id = d.event_id
      and r.endpoint_id = t.id), 0) as replay_no
    from webhook_delivery d join event e on e.id = d.event_id cross join lateral (select
    coalesce(${toEndpointId}::text, d.endpoint_id) as id) t
    where d.id = any(${page.map(({ id }) => id)}::text[]) order by d.event_id, d.id`.execute(reader);
  return rows;
}

/**
 * Loads the endpoints that would receive replays. Returns a function that says why an endpoint cannot receive
 * a replay: the function returns the reason, or null if the endpoint can. In the mode `lock`, the endpoints
 * stay locked until the end of the transaction, so that none of them can be disabled before.
 */
export async function createReplayTargetEndpointChecker(
  reader: DatabaseOrTransaction,
  candidates: readonly DeliveryReplayCandidate[],
  mode: "read" | "lock",
): Promise<(endpointId: string, installationId: string) => BulkReplaySkipReason | null> {
  const ids = [...new Set(candidates.map(({ endpointId }) => cleanIdOrEmpty(endpointId)))];
  const { rows } = await sql<{ id: string; installationId: string; isOpen: boolean }>`
    select w.id, w.installation_id, w.status = 'enabled' and i.status = 'active' as is_open
    from webhook_endpoint w join installation i on i.id = w.installation_id
    where w.id = any(${ids}::text[]) and w.status <> 'deleted' order by w.id
    ${mode === "lock" ? sql`for share of w` : sql``}`.execute(reader);
  const found = new Map(rows.map((row) => [row.id, row]));
  return (endpointId, installationId) => {
    const endpoint = found.get(endpointId);
    if (endpoint?.installationId !== installationId) return "webhook_endpoint_not_found";
    return endpoint.isOpen ? null : "webhook_endpoint_disabled";
  };
}

export function findReplaySkipReason(
  candidate: DeliveryReplayCandidate,
  {
    findTargetRefusal,
    now,
  }: {
    readonly findTargetRefusal: (endpointId: string, installationId: string) => BulkReplaySkipReason | null;
    readonly now: Date;
  },
): BulkReplaySkipReason | null {
  if (candidate.isUnderWay) return "delivery_in_progress";
  if (candidate.hasArrived) return "delivery_already_succeeded";
  return (
    findReplayRefusalCode(candidate, { isForced: false, now }) ??
    findTargetRefusal(candidate.endpointId, candidate.installationId)
  );
}
