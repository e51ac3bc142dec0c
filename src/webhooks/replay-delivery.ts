/**
 * Replays a webhook delivery: creates a new delivery of the same event, with the same body, to the current
 * URL of the endpoint. The original delivery does not change.
 */
import type { InProcessEventEmitter } from "#foundation/events.ts";
import { type RawBuilder, sql } from "kysely";
import { runAfterCommit, type Transaction } from "#database/transaction.ts";
import { createFailure, type Failure } from "#foundation/failure.ts";
import { requireNoInputFieldErrors, getTextFieldErrors } from "#foundation/faults.ts";
import { createId } from "#foundation/ids.ts";
import { isTextWithoutForbiddenCharacters } from "#foundation/text.ts";
import { catalogReadSubjectTypes } from "./event-types.ts";
import {
  type DeliveryStatus,
  type DeliveryStateForReplayCheck,
  findReplayRefusalCode,
  type DeliveryReplayReason,
  type DeliveryReplayRefusalCode,
  replaysMax,
} from "./delivery-rules.ts";
import { createDeliveryInProgressFailure, type UnfinishedDelivery } from "./unfinished-delivery.ts";

export interface DeliveryReplayCommandContext {
  /**
   * The id of the merchant whose deliveries may be replayed; null for platform staff, who may replay
   * deliveries of all merchants.
   */
  readonly merchantId: string | null;
  /**
   * The id of the installation that requests the replay; null if the caller acts for the merchant and may
   * replay deliveries of all installations of the merchant.
   */
  readonly installationId: string | null;
  readonly now: Date;
  readonly events: InProcessEventEmitter;
}

export interface ReplayDeliveryInput {
  readonly deliveryId: string;
  readonly reason: DeliveryReplayReason;
  /**
   * The id of the endpoint that receives the replay; the endpoint must belong to the same installation. If
   * left out, the endpoint of the original delivery receives the replay.
   */
  readonly endpointId?: string | null | undefined;
  /** True to replay the delivery even if it succeeded. */
  readonly force?: boolean | null | undefined;
  readonly note?: string | null | undefined;
}

export interface DeliveryReplayResult {
  readonly deliveryId: string;
  /** The delivery that was replayed. The replay itself is another, new delivery. */
  readonly original: { readonly id: string; readonly status: DeliveryStatus };
}

export const replayNoteLengthMax = 200;

export async function replayDelivery(
  transaction: Transaction,
  context: DeliveryReplayCommandContext,
  input: ReplayDeliveryInput,
): Promise<DeliveryReplayResult> {
  requireNoInputFieldErrors(
    getTextFieldErrors("/note", input.note, { min: 0, max: replayNoteLengthMax, lines: "many" }),
  );
  const delivery = await lockDelivery(transaction, context, input.deliveryId);
  const endpoint = await lockEndpoint(transaction, delivery, input.endpointId ?? delivery.endpointId);
  const refusal = findReplayRefusalCode(delivery, { isForced: input.force === true, now: context.now });
  if (refusal === "delivery_in_progress")
    throw createDeliveryInProgressFailure(delivery, { endpointStatus: endpoint.status, now: context.now });
  if (refusal !== null) throw replayFailure(refusal, delivery);
  requireEnabled(endpoint, delivery);
  const deliveryId = await insertReplay(transaction, {
    delivery,
    endpointId: endpoint.id,
    input,
    now: context.now,
  });
  runAfterCommit(transaction, () => context.events.emit("deliveriesDue"));
  return { deliveryId, original: { id: delivery.originalId, status: delivery.originalStatus } };
}

/**
 * An SQL condition that is true if an installation may still read an event. The query must give the table of
 * installations the alias `i`, and the table of events the alias `e`.
 */
export const mayInstallationReadEvent = sql<boolean>`(not e.subject_type =
  any(${catalogReadSubjectTypes}::text[]) or 'catalog:read' = any(i.scopes))`;

interface LockedDelivery extends DeliveryStateForReplayCheck, UnfinishedDelivery {
  readonly eventId: string;
  readonly endpointId: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly installationStatus: "active" | "suspended" | "uninstalled";
  readonly originalId: string;
  readonly originalStatus: DeliveryStatus;
}

/**
 * Locks the event of the delivery, then reads the delivery. The lock prevents concurrent replays of one
 * event, which could exceed the limit or get the same replay number.
 */
async function lockDelivery(
  transaction: Transaction,
  context: DeliveryReplayCommandContext,
  deliveryId: string,
): Promise<LockedDelivery> {
  const { merchantId, installationId } = context;
  const isTheirs = sql`${equalsUnlessNullConditionSql(sql`d.merchant_id`, merchantId)}
    and ${equalsUnlessNullConditionSql(sql`d.installation_id`, installationId)}`;
  const which = sql`d.id = ${isTextWithoutForbiddenCharacters(deliveryId) ? deliveryId : ""} and ${isTheirs}
    and ${mayInstallationReadEvent}`;
  const from = sql`webhook_delivery d join event e on e.id = d.event_id join installation i
    on i.id = d.installation_id`;
  await sql`select from ${from} where ${which} for no key update of e`.execute(transaction);
  const { rows } = await sql<LockedDelivery>`
    select d.id, d.status, d.attempt_count, d.next_attempt_at, d.event_id, d.endpoint_id, d.merchant_id, d.installation_id, i.status as
    installation_status, e.occurred_at,
      (select h.probe_at from webhook_endpoint_health h where h.endpoint_id = d.endpoint_id) as probe_at,
      o.id as original_id, o.status as original_status, ${replayCountOfDeliverySql(sql`o.id`)} as replays
    from ${from} join webhook_delivery o on o.id = coalesce(d.replay_of, d.id)
    where ${which}`.execute(transaction);
  const [delivery] = rows;
  if (delivery === undefined) throw createFailure("webhook_delivery_not_found");
  return delivery;
}

/**
 * Returns the SQL condition that a column equals the given value. If the value is null, the condition is
 * always true.
 */
export const equalsUnlessNullConditionSql = (
  column: RawBuilder<unknown>,
  value: string | null,
): RawBuilder<boolean> => (value === null ? sql<boolean>`true` : sql<boolean>`${column} = ${value}`);

export const replayCountOfDeliverySql = (originalId: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`(select count(*) from webhook_delivery r where r.replay_of = ${originalId})::integer`;

interface ReplayTarget {
  readonly id: string;
  readonly status: "enabled" | "disabled" | "auto_disabled" | "deleted";
  readonly disabledReason: string | null;
  readonly version: number;
}

/**
 * Locks the endpoint, so that no other transaction can disable or delete it before the replay is inserted. A
 * later command that disables or deletes the endpoint then finds the replay and ends it.
 */
async function lockEndpoint(
  transaction: Transaction,
  { installationId }: LockedDelivery,
  endpointId: string,
): Promise<ReplayTarget> {
  const endpoint = await transaction
    .selectFrom("webhookEndpoint")
    .select(["id", "status", "disabledReason", "version"])
    .where("id", "=", isTextWithoutForbiddenCharacters(endpointId) ? endpointId : "")
    .where("installationId", "=", installationId)
    .where("status", "<>", "deleted")
    .forShare()
    .executeTakeFirst();
  if (endpoint === undefined) throw createFailure("webhook_endpoint_not_found");
  return endpoint;
}

function requireEnabled(
  { id, status, disabledReason, version }: ReplayTarget,
  { installationStatus }: LockedDelivery,
): void {
  if (status === "enabled" && installationStatus === "active") return;
  const reason = status === "enabled" ? `installation_${installationStatus}` : disabledReason;
  throw createFailure("webhook_endpoint_disabled", {
    conflict: {
      resource: "webhook_endpoint",
      id,
      currentStatus: status,
      currentVersion: version,
      reason,
      data: {},
    },
  });
}

function replayFailure(
  code: Exclude<DeliveryReplayRefusalCode, "delivery_in_progress">,
  { id, status }: LockedDelivery,
): Failure {
  const data = code === "delivery_replay_limit_reached" ? { limit: replaysMax } : {};
  return createFailure(code, {
    conflict: {
      resource: "webhook_delivery",
      id,
      currentStatus: status,
      currentVersion: null,
      reason: null,
      data,
    },
  });
}

interface NewReplay {
  readonly delivery: LockedDelivery;
  readonly endpointId: string;
  readonly input: ReplayDeliveryInput;
  readonly now: Date;
}

async function insertReplay(
  transaction: Transaction,
  { delivery, endpointId, input, now }: NewReplay,
): Promise<string> {
  const id = createId("webhookDelivery", now.getTime());
  const { eventId, merchantId, installationId, originalId } = delivery;
  await sql`
    insert into webhook_delivery (id, merchant_id, installation_id, event_id, endpoint_id, replay_no,
    replay_of, replay_reason, replay_note, status,
      next_attempt_at, created_at)
    select ${id}, ${merchantId}, ${installationId}, ${eventId}, ${endpointId},
    coalesce(max(replay_no), 0) + 1, ${originalId}, ${input.reason},
      ${input.note ?? null}, 'pending', ${now}::timestamptz, ${now}::timestamptz
    from webhook_delivery where event_id = ${eventId} and endpoint_id = ${endpointId}`.execute(transaction);
  return id;
}
