/**
 * What waits in the database: read when somebody asks, once in five seconds at most, whoever asks and however
 * often. A database that does not answer within a second is away, holds nobody up, and is left alone for a
 * while: it has enough to do.
 */
import { type RawBuilder, sql } from "kysely";
import { Gauge, Registry } from "prom-client";
import type { Database } from "#database/connect.ts";
import { runStatement } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import {
  endpointSendingMax,
  installationSendingMax,
  type Moment,
  momentOf,
  sending,
  tokensNow,
} from "#webhooks/dispatch/claim-deliveries.ts";
import { subjectsOfCatalog } from "#webhooks/event-types.ts";

interface QueueMetrics {
  readonly dueDeliveries: number;
  readonly oldestDueSeconds: number;
  readonly openBreakers: number;
  readonly waitingEvents: number;
  readonly oldestEventSeconds: number;
  readonly duePayments: number;
  readonly oldestPaymentSeconds: number;
}

interface QueueParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly patienceMs?: number;
  readonly countMax?: number | undefined;
}

const everyMs = 5_000;
const afterSilenceMs = 30_000;
const usualPatienceMs = 1_000;
/** Counted so far: more is as bad. */
const usualCountMax = 100_000;
/** Where each delivery must be looked at, so many of one endpoint are, and so many of all. */
const lookOfOneMax = 1_000;
const lookMax = 10_000;

/** Gives the registry of what was found: without a database, that there is none and nothing else. */
export function createQueueReader({
  db,
  clock,
  patienceMs = usualPatienceMs,
  countMax = usualCountMax,
}: QueueParts): () => Promise<Registry> {
  const { up, show } = createGauges();
  let kept: { readonly atMs: number; readonly reading: Promise<Registry> } | undefined;
  let asking: Promise<QueueMetrics | undefined> | undefined;
  let pauseMs = everyMs;
  const read = async (): Promise<Registry> => {
    // One that is still asked is not asked again.
    asking ??= readQueue(db, clock.now(), countMax)
      .catch(() => undefined)
      .finally(() => (asking = undefined));
    const metrics = await within(asking, patienceMs);
    pauseMs = asking === undefined ? everyMs : afterSilenceMs;
    up.gauge.set(Number(metrics !== undefined));
    return metrics === undefined ? up.registry : Registry.merge([up.registry, show(metrics)]);
  };
  return () => {
    const atMs = clock.now().getTime();
    if (kept === undefined || Math.abs(atMs - kept.atMs) >= pauseMs) kept = { atMs, reading: read() };
    return kept.reading;
  };
}

async function within<Value>(asked: Promise<Value>, ms: number): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms).unref();
  try {
    return await Promise.race([asked, promise]);
  } finally {
    clearTimeout(timer);
  }
}

const described: readonly (readonly [keyof QueueMetrics, string, string])[] = [
  [
    "dueDeliveries",
    "commerce_webhook_deliveries_due",
    `Deliveries that are due and may be sent; counted up to ${usualCountMax}.`,
  ],
  [
    "oldestDueSeconds",
    "commerce_webhook_oldest_due_age_seconds",
    "For how long the oldest delivery has been due that could be sent in this moment; 0 where none is.",
  ],
  [
    "openBreakers",
    "commerce_webhook_breakers_open",
    "Endpoints with something waiting that are only probed because they keep failing.",
  ],
  [
    "waitingEvents",
    "commerce_events_waiting",
    `Events of which no deliveries have been made yet; counted up to ${usualCountMax}.`,
  ],
  [
    "oldestEventSeconds",
    "commerce_events_oldest_waiting_age_seconds",
    "For how long the oldest of those has waited; 0 where none does.",
  ],
  [
    "duePayments",
    "commerce_payment_operations_due",
    `Questions to the payment provider that are due; counted up to ${usualCountMax}.`,
  ],
  [
    "oldestPaymentSeconds",
    "commerce_payment_oldest_due_age_seconds",
    "For how long the oldest of those has been due; 0 where none is.",
  ],
];

interface Gauges {
  readonly up: { readonly registry: Registry; readonly gauge: Gauge };
  readonly show: (metrics: QueueMetrics) => Registry;
}

function createGauges(): Gauges {
  const registry = new Registry();
  const found = new Registry();
  const gauge = new Gauge({
    name: "commerce_database_up",
    help: "1: the database told within a second what waits in it. 0: it did not, and what waits is not known.",
    registers: [registry],
  });
  const gauges = described.map(
    ([figure, name, help]) => [figure, new Gauge({ name, help, registers: [found] })] as const,
  );
  return {
    up: { registry, gauge },
    show: (metrics) => {
      for (const [name, one] of gauges) one.set(metrics[name]);
      return found;
    },
  };
}

/**
 * One statement. From one endpoint to the next over the index of what waits, and of each what is due: what
 * has been delivered is never looked at. What an endpoint may not be sent now (it is switched off or only
 * probed, its installation suspended or no longer allowed to read it) is not late. What waits because its
 * receiver wants few at a time, or is slow, is due, and yet its age is nobody's but the receiver's.
 */
async function readQueue(db: Database, now: Date, countMax: number): Promise<QueueMetrics> {
  const moment = momentOf(now);
  const { at } = moment;
  const age = (since: string): ReturnType<typeof sql> =>
    sql`coalesce(greatest(extract(epoch from ${at} - ${sql.raw(since)}), 0), 0)::double precision`;
  const statement = sql<QueueMetrics>`
    with recursive waiting (id) as (
      (select endpoint_id from webhook_delivery where next_attempt_at is not null order by endpoint_id limit 1)
      union all
      select (select d.endpoint_id from webhook_delivery d where d.next_attempt_at is not null and d.endpoint_id > waiting.id order by d.endpoint_id limit 1)
      from waiting where waiting.id is not null
    ), endpoint as materialized (${endpoints(moment)}),
    hears_all as materialized (select id, has_room from endpoint where not is_probed and is_active and sees_catalog),
    due as materialized (
      select 1 from hears_all w cross join lateral (
        select 1 from webhook_delivery d where d.endpoint_id = w.id and d.next_attempt_at <= ${at} limit ${countMax}) d limit ${countMax}
    ), first as materialized (
      select min(d.next_attempt_at) as since from hears_all w cross join lateral (
        select next_attempt_at from webhook_delivery where endpoint_id = w.id and next_attempt_at <= ${at} order by next_attempt_at limit 1) d
      where w.has_room
    ), looked_at as materialized (${lookedAt(at)}),
    fresh as materialized (
      select id, occurred_at from event where fanned_out_at is null order by id limit ${countMax}
    ), payment as materialized (
      select due_at from payment_operation where status = 'pending' and due_at <= ${at} order by due_at limit ${countMax}
    )
    select least((select count(*) from due) + (select count(*) from looked_at where may_be_sent), ${countMax})::integer as due_deliveries,
      ${age("least((select since from first), (select min(next_attempt_at) from looked_at where may_be_sent and has_room))")} as oldest_due_seconds,
      (select count(*)::integer from endpoint where is_probed) as open_breakers,
      (select count(*)::integer from fresh) as waiting_events, ${age("(select min(occurred_at) from fresh)")} as oldest_event_seconds,
      (select count(*)::integer from payment) as due_payments, ${age("(select min(due_at) from payment)")} as oldest_payment_seconds`;
  const [metrics] = await runStatement(db, statement);
  if (metrics === undefined) throw new Error("A statement of one row gave none.");
  return metrics;
}

/** Each with what it may hear, and whether it would be sent one more in this moment. */
function endpoints(moment: Moment): RawBuilder<unknown> {
  const ofInstallation = sql`s.installation_id = w.installation_id`;
  return sql`
    select w.id, h.probe_at is not null as is_probed, i.status = 'active' as is_active, 'catalog:read' = any(i.scopes) as sees_catalog,
      ${tokensNow(moment)} >= 1
        and ${sending(sql`${ofInstallation} and s.endpoint_id = w.id`, moment)} < ${endpointSendingMax}
        and ${sending(ofInstallation, moment)} < ${installationSendingMax} as has_room
    from waiting join webhook_endpoint w on w.id = waiting.id and w.status = 'enabled' join webhook_endpoint_health h on h.endpoint_id = w.id
      join installation i on i.id = w.installation_id`;
}

/**
 * Of those that may not hear everything: whether this one may be sent is asked of its event, of each by
 * itself. As `exists` it would be a question that PostgreSQL answers, where it expects many, by reading all
 * events there are.
 */
const lookedAt = (at: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select l.next_attempt_at, l.has_room, (
    select e.subject_type = 'installation' or l.is_active and not e.subject_type = any(${subjectsOfCatalog}::text[]) from event e where e.id = l.event_id
  ) as may_be_sent
  from (
    select w.is_active, w.has_room, d.event_id, d.next_attempt_at from endpoint w cross join lateral (
      select d.event_id, d.next_attempt_at from webhook_delivery d where d.endpoint_id = w.id and d.next_attempt_at <= ${at}
      order by d.next_attempt_at limit ${lookOfOneMax}
    ) d where not w.is_probed and not (w.is_active and w.sees_catalog) limit ${lookMax}
  ) l`;
