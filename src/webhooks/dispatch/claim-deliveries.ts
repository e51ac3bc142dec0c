/**
 * Takes what is due under a lease: fairly, so that no endpoint waits for another, and never more of one than it bears. Whoever dies with a lease
 * leaves it to run out, and the same attempt is made again.
 */
import { randomUUID } from "node:crypto";
import { type RawBuilder, sql } from "kysely";
import type { Database } from "#database/connect.ts";
import { runStatement } from "#database/transaction.ts";
import { subjectsOfCatalog } from "#webhooks/event-types.ts";
import { endpointSendingMax, installationSendingMax, leaseMs, momentOf, sending, tokensNow } from "./endpoint-room.ts";

export interface SealedSecret {
  readonly id: string;
  readonly version: number;
  /** Base64. */
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
  /** Of the endpoint, as it was when this was taken. */
  readonly endpointVersion: number;
  /** Of what brought the event about, where that is traced. */
  readonly traceparent: string | null;
  /** As it was written when the event was. */
  readonly body: string;
  readonly attemptNumber: number;
  readonly isReplay: boolean;
  /** Since when the event waits to be heard. */
  readonly createdAt: Date;
  /** When the event happened. */
  readonly occurredAt: Date;
  /** Newest first: all that sign now. */
  readonly secrets: readonly SealedSecret[];
}

export interface Claim {
  /** Others are not looked at. */
  readonly endpointIds: readonly string[];
  readonly deliveriesMax: number;
  readonly now: Date;
  /** How long a breaker stays open between two probes. */
  readonly probeEveryMs: number;
}

/**
 * Round-robin: the first of every installation, then everybody's second, within each of them over its endpoints; what is under way counts as having
 * had its turn. What the installation may not read any more is not sent; one that is suspended hears of itself alone.
 */
export async function claimDeliveries(db: Database, { endpointIds, deliveriesMax, now, probeEveryMs }: Claim): Promise<readonly ClaimedDelivery[]> {
  if (endpointIds.length === 0 || deliveriesMax <= 0) return [];
  const moment = momentOf(now);
  const { at } = moment;
  const until = new Date(now.getTime() + leaseMs);
  const probeAt = new Date(now.getTime() + probeEveryMs);
  const claim = sql<ClaimedDelivery>`
    with room as (
      select h.endpoint_id, h.installation_id, ${tokensNow(moment)} as tokens, h.probe_at is not null as is_probe, u.under_way,
        'catalog:read' = any(i.scopes) as sees_catalog, i.status = 'active' as is_active,
        case when h.probe_at is not null then 1 else least(floor(${tokensNow(moment)})::integer, ${endpointSendingMax} - u.under_way) end as places
      from webhook_endpoint_health h join webhook_endpoint w on w.id = h.endpoint_id
        join installation i on i.id = w.installation_id
        cross join lateral (select ${sending(sql`s.endpoint_id = h.endpoint_id`, moment)} as under_way) u
      where h.endpoint_id = any(${endpointIds}::text[]) and w.status = 'enabled' and (h.probe_at is null or h.probe_at <= ${at})
      for update of h skip locked
    ), due as (
      select d.*, r.installation_id, r.under_way + row_number() over (partition by r.endpoint_id order by d.next_attempt_at, d.id) as turn
      from room r cross join lateral (
        select d.id, d.endpoint_id, d.next_attempt_at from webhook_delivery d join event e on e.id = d.event_id
        where d.endpoint_id = r.endpoint_id and d.next_attempt_at <= ${at}
          and (r.is_active or e.subject_type = 'installation') and (r.sees_catalog or not e.subject_type = any(${subjectsOfCatalog}::text[]))
        order by d.next_attempt_at, d.id limit greatest(r.places, 0) for update of d skip locked
      ) d
    ), ranked as (
      select id, endpoint_id, installation_id, next_attempt_at, ${sending(sql`s.installation_id = due.installation_id`, moment)}
        + row_number() over (partition by installation_id order by turn, next_attempt_at, id) as place from due
    ), chosen as (
      select id, endpoint_id from ranked where place <= ${installationSendingMax} order by place, next_attempt_at, id limit ${deliveriesMax}
    ), charged as (
      update webhook_endpoint_health h set tokens = r.tokens - c.taken, tokens_at = ${at},
        probe_at = case when r.is_probe then ${probeAt}::timestamptz else h.probe_at end
      from room r, (select endpoint_id, count(*) as taken from chosen group by endpoint_id) c
      where h.endpoint_id = r.endpoint_id and c.endpoint_id = r.endpoint_id
    )
    update webhook_delivery d set status = 'sending', lease = ${randomUUID()} || '/' || d.id, next_attempt_at = ${until}::timestamptz,
      attempt_count = d.attempt_count + case when d.status = 'sending' then 0 else 1 end
    from chosen c, event e, webhook_endpoint w, merchant m
    where d.id = c.id and e.id = d.event_id and w.id = d.endpoint_id and m.id = d.merchant_id
    returning d.id, d.lease, d.event_id, e.type as event_type, d.endpoint_id, d.installation_id, d.merchant_id, m.mode, w.url, w.version as endpoint_version,
      e.traceparent,
      case w.payload_mode when 'thin' then e.thin else e.snapshot end as body, d.attempt_count as attempt_number, d.replay_no > 0 as is_replay,
      d.created_at, e.occurred_at, ${secretsOf(at)} as secrets`;
  return runStatement(db, claim);
}

const secretsOf = (at: RawBuilder<unknown>): RawBuilder<readonly SealedSecret[]> => sql<readonly SealedSecret[]>`(
  select coalesce(json_agg(json_build_object('id', s.id, 'version', s.version, 'sealed', encode(s.sealed, 'base64'),
    'dataKey', encode(s.data_key, 'base64'), 'keyId', s.key_id) order by s.version desc), '[]')
  from webhook_secret s where s.endpoint_id = d.endpoint_id and (s.expires_at is null or s.expires_at > ${at}))`;
