/**
 * Finds endpoints with due deliveries, and claims deliveries. A claim reserves a delivery for this process
 * until a time limit (the lease). Claims are fair: a slow endpoint does not delay deliveries to other
 * endpoints. A token bucket limits the requests per second to one endpoint; a maximum limits its concurrent
 * attempts. If a process stops, its leases expire, and another process repeats the attempts.
 */
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runSqlStatementWithRetries } from "#database/transaction.ts";
import { catalogReadSubjectTypes } from "#webhooks/event-types.ts";

export interface EncryptedWebhookSecret {
  readonly id: string;
  readonly version: number;
  /** The encrypted signing secret in base64. */
  readonly sealed: string;
  readonly dataKey: string;
  readonly keyId: string;
}

export interface ClaimedDelivery {
  readonly id: string;
  readonly lease: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly endpointId: string;
  readonly installationId: string;
  readonly merchantId: string;
  readonly mode: "live" | "test";
  readonly url: string;
  /** The version of the endpoint at the time when the delivery was claimed. */
  readonly endpointVersion: number;
  /** W3C trace context of the request that caused the event; null if that request was not traced. */
  readonly traceparent: string | null;
  /** The body of the webhook request, as it was stored with the event. */
  readonly body: string;
  readonly attemptNumber: number;
  readonly isReplay: boolean;
  readonly createdAt: Date;
  /** Time at which the event of the delivery occurred. */
  readonly occurredAt: Date;
  /** The secrets that sign this delivery, newest first; two while a secret is being replaced. */
  readonly secrets: readonly EncryptedWebhookSecret[];
}

export interface DeliveryClaimOptions {
  /** Ids of the endpoints from which this process may claim deliveries (reserve them for itself). */
  readonly endpointIds: readonly string[];
  readonly deliveriesMax: number;
  readonly now: Date;
  /** Milliseconds between two probes (single test attempts) of an endpoint whose circuit breaker is open. */
  readonly probeEveryMs: number;
}

/**
 * Claims due deliveries in turns: one delivery of every installation, then a second one of each installation,
 * and so on. Within an installation, the endpoints take turns in the same way. An attempt in progress counts
 * as a turn that its endpoint has already used. A delivery is not claimed if the installation may no longer
 * read the event; a suspended installation receives only events about the installation itself.
 */
export async function claimDueWebhookDeliveries(
  db: Database,
  { endpointIds, deliveriesMax, now, probeEveryMs }: DeliveryClaimOptions,
): Promise<readonly ClaimedDelivery[]> {
  if (endpointIds.length === 0 || deliveriesMax <= 0) return [];
  const moment = createDeliveryClaimTimeSqlExpressions(now);
  const { at } = moment;
  const until = new Date(now.getTime() + leaseMs);
  const probeAt = new Date(now.getTime() + probeEveryMs);
  const claim = sql<ClaimedDelivery>`
    with room as (
      select h.endpoint_id, h.installation_id, ${buildAvailableSendTokensSql(moment)} as tokens, h.probe_at is not null as
      is_probe, u.under_way, ${deliveriesInProgressCountSql(
        sql`s.installation_id = h.installation_id`,
        moment,
      )} as installation_under_way,
        'catalog:read' = any(i.scopes) as sees_catalog, i.status = 'active' as is_active,
        case when h.probe_at is not null then 1 else least(floor(${buildAvailableSendTokensSql(moment)})::integer,
        ${endpointSendingMax} - u.under_way) end as places
      from webhook_endpoint_health h join webhook_endpoint w on w.id = h.endpoint_id
        join installation i on i.id = w.installation_id
        cross join lateral (select ${deliveriesInProgressCountSql(
          sql`s.installation_id = h.installation_id and s.endpoint_id = h.endpoint_id`,
          moment,
        )} as under_way) u
      where h.endpoint_id = any(${endpointIds}::text[]) and w.status = 'enabled' and (h.probe_at is null
      or h.probe_at <= ${at})
      for update of h skip locked
    ), due as (
      select d.*, r.installation_id, r.installation_under_way, r.under_way + row_number() over (partition by r.endpoint_id
      order by d.next_attempt_at, d.id) as turn
      from room r cross join lateral (
        select d.id, d.endpoint_id, d.next_attempt_at from webhook_delivery d join event e
        on e.id = d.event_id
        where d.endpoint_id = r.endpoint_id and d.next_attempt_at <= ${at}
          and (r.is_active or e.subject_type = 'installation') and (r.sees_catalog
          or not e.subject_type = any(${catalogReadSubjectTypes}::text[]))
        order by d.next_attempt_at, d.id limit greatest(r.places, 0) for update of d skip locked
      ) d
    ), ranked as (
      select id, endpoint_id, next_attempt_at, installation_under_way
        + row_number() over (partition by installation_id order by turn, next_attempt_at, id) as place
      from due
    ), chosen as (
      select id, endpoint_id from ranked where place <= ${installationSendingMax}
      order by place, next_attempt_at, id limit ${deliveriesMax}
    ), charged as (
      update webhook_endpoint_health h set tokens = r.tokens - c.taken, tokens_at = ${at},
        probe_at = case when r.is_probe then ${probeAt}::timestamptz else h.probe_at end
      from room r, (select endpoint_id, count(*) as taken from chosen group by endpoint_id) c
      where h.endpoint_id = r.endpoint_id and c.endpoint_id = r.endpoint_id
    )
    update webhook_delivery d set status = 'sending', lease = ${randomUUID()} || '/' || d.id, next_attempt_at
    = ${until}::timestamptz,
      attempt_count = d.attempt_count + case when d.status = 'sending' then 0 else 1 end
    from chosen c, event e, webhook_endpoint w, merchant m
    where d.id = c.id and e.id = d.event_id and w.id = d.endpoint_id and m.id = d.merchant_id
    returning d.id, d.lease, d.event_id, e.type as event_type, d.endpoint_id, d.installation_id,
    d.merchant_id, m.mode, w.url, w.version as endpoint_version,
      e.traceparent,
      case w.payload_mode when 'thin' then e.thin else e.snapshot
      end as body, d.attempt_count as attempt_number, d.replay_no > 0 as is_replay,
      d.created_at, e.occurred_at, ${secretsOf(at)} as secrets`;
  return runSqlStatementWithRetries(db, claim);
}

const secretsOf = (at: RawBuilder<unknown>): RawBuilder<readonly EncryptedWebhookSecret[]> => sql<
  readonly EncryptedWebhookSecret[]
>`(
  select coalesce(json_agg(json_build_object('id', s.id, 'version', s.version, 'sealed', encode(s.sealed,
  'base64'),
    'dataKey', encode(s.data_key, 'base64'), 'keyId', s.key_id) order by s.version desc), '[]')
  from webhook_secret s where s.endpoint_id = d.endpoint_id and (s.expires_at is null
  or s.expires_at > ${at}))`;

/**
 * The duration of a lease in milliseconds, for which a delivery is reserved for one process. It consists of
 * 15 s for the longest attempt, and 5 s because the lease begins before the claim has got a database
 * connection. If the wait for the connection is longer, another process may also claim and send the delivery;
 * only one of the two attempts is then recorded.
 */
const leaseMs = 20_000;
/**
 * The maximum number of concurrent attempts per endpoint. A claim sees only those attempts of other processes
 * whose claims are committed. Two processes that claim at the same moment may therefore each start this
 * number of attempts.
 */
export const endpointSendingMax = 4;
export const installationSendingMax = 16;

const perSecondDefault = 25;
/**
 * The size of an endpoint's token bucket as a share of the requests per second that the endpoint allows; the
 * bucket always has room for at least one request. The size is the largest number of requests that the
 * endpoint receives at once after a pause.
 */
const burstShare = 0.2;
/**
 * The maximum number of milliseconds that a stored time of a token bucket or a lease may be in the future. A
 * later time is ignored, because it was written before the system clock was set back.
 */
const aheadMsMax = 2 * leaseMs;

export interface DeliveryClaimTimeSqlExpressions {
  readonly at: RawBuilder<unknown>;
  /**
   * The latest time that a correct row can contain. Stored times after this time are ignored, because they
   * were written before the system clock was set back.
   */
  readonly latest: RawBuilder<unknown>;
}

export const createDeliveryClaimTimeSqlExpressions = (now: Date): DeliveryClaimTimeSqlExpressions => ({
  at: sql`${now}::timestamptz`,
  latest: sql`${new Date(now.getTime() + aheadMsMax)}::timestamptz`,
});

export const buildAvailableSendTokensSql = ({
  at,
  latest,
}: DeliveryClaimTimeSqlExpressions): RawBuilder<number> => {
  const perSecond = sql`coalesce(w.max_per_second, ${perSecondDefault})`;
  const refilled = sql`h.tokens + greatest(extract(epoch
    from ${at} - h.tokens_at)::double precision, 0) * ${perSecond}`;
  const burst = sql`greatest(${perSecond} * ${burstShare}::double precision, 1)`;
  return sql<number>`case when h.tokens_at > ${latest} then ${burst} else least(${burst}, ${refilled}) end`;
};

/**
 * Returns an SQL expression for the number of deliveries in progress that fulfil the given condition. The
 * condition refers to the table of deliveries by the alias `s`.
 */
export const deliveriesInProgressCountSql = (
  condition: RawBuilder<unknown>,
  { at, latest }: DeliveryClaimTimeSqlExpressions,
): RawBuilder<number> =>
  sql<number>`(select count(*) from webhook_delivery s
    where s.status = 'sending' and ${condition} and s.next_attempt_at > ${at}
    and s.next_attempt_at <= ${latest})::integer`;

/**
 * Finds endpoints with due deliveries that may be sent now. Checks only the given endpoints, or all endpoints
 * if none are given.
 */
export async function findEndpointsWithDueDeliveries(
  db: Database,
  now: Date,
  checkedIds?: readonly string[],
): Promise<readonly string[]> {
  const at = sql`${now}::timestamptz`;
  const named = sql`select id from unnest(${checkedIds ?? []}::text[]) as named (id)`;
  const statement = sql<{ id: string }>`
    with recursive waiting (id) as (${checkedIds === undefined ? allWaitingEndpoints : named}), due as materialized
    (
      select id from waiting where exists (select 1 from webhook_delivery d where d.endpoint_id = waiting.id
      and d.next_attempt_at <= ${at})
    )
    select w.id from due join webhook_endpoint w on w.id = due.id and w.status = 'enabled'
      join webhook_endpoint_health h on h.endpoint_id = w.id and (h.probe_at is null or h.probe_at <= ${at})
      join installation i on i.id = w.installation_id
    where i.status = 'active' and 'catalog:read' = any(i.scopes) or exists (
      select 1 from webhook_delivery d join event e on e.id = d.event_id where d.endpoint_id = w.id
      and d.next_attempt_at <= ${at}
        and (i.status = 'active' and not e.subject_type = any(${catalogReadSubjectTypes}::text[])
        or e.subject_type = 'installation'))`;
  return (await runSqlStatementWithRetries(db, statement)).map(({ id }) => id);
}

/**
 * SQL subqueries that find all endpoints with waiting deliveries. They read only the first waiting delivery
 * of each endpoint from the index (a loose index scan).
 */
const allWaitingEndpoints: RawBuilder<unknown> = sql`
  (select endpoint_id from webhook_delivery where next_attempt_at is not null order by endpoint_id limit 1)
  union all
  select (select d.endpoint_id from webhook_delivery d where d.next_attempt_at is not null
  and d.endpoint_id > waiting.id order by d.endpoint_id limit 1)
  from waiting where waiting.id is not null`;

/**
 * Returns the earliest time at which a waiting retry can be sent; null if no retry is due within `withinMs`
 * milliseconds. If the circuit breaker of an endpoint is open, its retries wait at least until the next
 * probe.
 */
export async function findNextRetryTime(
  db: Database,
  { now, withinMs }: { readonly now: Date; readonly withinMs: number },
): Promise<Date | null> {
  const until = new Date(now.getTime() + withinMs);
  const statement = sql<{ at: Date | null }>`
    select min(greatest(d.next_attempt_at, h.probe_at)) as at from webhook_delivery d
      join webhook_endpoint w on w.id = d.endpoint_id and w.status = 'enabled' join webhook_endpoint_health h
      on h.endpoint_id = w.id
    where d.status = 'retrying' and d.next_attempt_at > ${now}::timestamptz
    and d.next_attempt_at <= ${until}::timestamptz`;
  return (await runSqlStatementWithRetries(db, statement))[0]?.at ?? null;
}
