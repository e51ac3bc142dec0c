/**
 * Reads the metrics of deliveries, events and payment operations that wait in the database. A request for
 * `/metrics` reads them, at most once in five seconds. If the database does not answer within one second,
 * these metrics are left out, and the next reading is 30 seconds later.
 */
import { type RawBuilder, sql } from "kysely";
import { Gauge, Registry } from "prom-client";
import type { Database } from "#database/connect.ts";
import { runSqlStatementWithRetries } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import {
  endpointSendingMax,
  installationSendingMax,
  type DeliveryClaimTimeSqlExpressions,
  createDeliveryClaimTimeSqlExpressions,
  deliveriesInProgressCountSql,
  buildAvailableSendTokensSql,
} from "#webhooks/dispatch/claim-deliveries.ts";
import { catalogReadSubjectTypes } from "#webhooks/event-types.ts";

/**
 * The numbers about waiting deliveries, events and payment operations, all read from the database with one
 * statement. Ages are in seconds.
 */
interface QueueMetrics {
  readonly dueDeliveries: number;
  readonly oldestDueSeconds: number;
  readonly openBreakers: number;
  readonly waitingEvents: number;
  readonly oldestEventSeconds: number;
  readonly duePayments: number;
  readonly oldestPaymentSeconds: number;
}

interface QueueReaderOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Milliseconds to wait for the database's answer before the metrics are left out. */
  readonly timeoutMs?: number;
  /**
   * Maximum number of waiting rows that are counted. With a limit, a long queue does not make the SQL
   * statement slow.
   */
  readonly countMax?: number | undefined;
}

/** Minimum number of milliseconds between two readings of the metrics from the database. */
const pauseMs = 5_000;
/** Milliseconds until the next reading of the metrics if the database did not answer in time. */
const pauseAfterTimeoutMs = 30_000;
const defaultTimeoutMs = 1_000;
const defaultCountMax = 100_000;
/**
 * The maximum number of waiting deliveries of one webhook endpoint that are checked one by one. The check
 * finds out whether the endpoint may receive the event of a delivery. Only endpoints that may receive some
 * events and not others need the check.
 */
const checkedPerEndpointMax = 1_000;
/**
 * The maximum number of waiting webhook deliveries, of all endpoints together, whose events are checked one
 * by one.
 */
const checkedMax = 10_000;

/**
 * Creates the function that reads the metrics of waiting deliveries, events and payment operations. If the
 * database does not answer, the result has only `commerce_database_up` with the value 0.
 */
export function createQueueMetricsReader({
  db,
  clock,
  timeoutMs = defaultTimeoutMs,
  countMax = defaultCountMax,
}: QueueReaderOptions): () => Promise<Registry> {
  const { up, setValues } = createGauges();
  let last: { readonly atMs: number; readonly reading: Promise<Registry> } | undefined;
  let running: Promise<QueueMetrics | undefined> | undefined;
  let currentPauseMs = pauseMs;
  const read = async (): Promise<Registry> => {
    // The SQL statement of an earlier reading may still be running after its timeout. In this case, the new
    // reading waits for that statement instead of starting another.
    running ??= readQueue(db, clock.now(), countMax)
      .catch(() => undefined)
      .finally(() => (running = undefined));
    const metrics = await waitAtMost(running, timeoutMs);
    currentPauseMs = running === undefined ? pauseMs : pauseAfterTimeoutMs;
    up.gauge.set(Number(metrics !== undefined));
    return metrics === undefined ? up.registry : Registry.merge([up.registry, setValues(metrics)]);
  };
  return () => {
    const atMs = clock.now().getTime();
    if (last === undefined || Math.abs(atMs - last.atMs) >= currentPauseMs) last = { atMs, reading: read() };
    return last.reading;
  };
}

/**
 * Waits for a promise for at most `ms` milliseconds. Returns undefined if the promise is still pending after
 * this time.
 */
async function waitAtMost<Value>(promised: Promise<Value>, ms: number): Promise<Value | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms).unref();
  try {
    return await Promise.race([promised, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The gauges of waiting deliveries, events and payment operations. Each entry has the name of the field of
 * `QueueMetrics` with the gauge's value, the name of the metric, and the metric's help text.
 */
const gaugeTexts: readonly (readonly [keyof QueueMetrics, string, string])[] = [
  [
    "dueDeliveries",
    "commerce_webhook_deliveries_due",
    `Webhook deliveries that are due and may be sent; counted up to ${defaultCountMax}.`,
  ],
  [
    "oldestDueSeconds",
    "commerce_webhook_oldest_due_age_seconds",
    "Seconds since the oldest delivery that could be sent now became due; 0 if there is none.",
  ],
  [
    "openBreakers",
    "commerce_webhook_breakers_open",
    "Webhook endpoints with waiting deliveries whose circuit breaker is open: after repeated failures " +
      "they only get test requests.",
  ],
  [
    "waitingEvents",
    "commerce_events_waiting",
    `Events that have no position in the event feed and no deliveries yet; counted up to ${defaultCountMax}.`,
  ],
  [
    "oldestEventSeconds",
    "commerce_events_oldest_waiting_age_seconds",
    "Seconds since the oldest event without a position in the event feed occurred; 0 if there is none.",
  ],
  [
    "duePayments",
    "commerce_payment_operations_due",
    `Requests to the payment provider that are due; counted up to ${defaultCountMax}.`,
  ],
  [
    "oldestPaymentSeconds",
    "commerce_payment_oldest_due_age_seconds",
    "Seconds since the oldest request to the payment provider became due; 0 if there is none.",
  ],
];

interface Gauges {
  readonly up: { readonly registry: Registry; readonly gauge: Gauge };
  readonly setValues: (metrics: QueueMetrics) => Registry;
}

function createGauges(): Gauges {
  const registry = new Registry();
  const found = new Registry();
  const gauge = new Gauge({
    name: "commerce_database_up",
    help:
      "1 if the database answered the query for waiting work within one second, otherwise 0. With 0 the " +
      "other metrics of waiting work are missing.",
    registers: [registry],
  });
  const gauges = gaugeTexts.map(
    ([value, name, help]) => [value, new Gauge({ name, help, registers: [found] })] as const,
  );
  return {
    up: { registry, gauge },
    setValues: (metrics) => {
      for (const [value, queueGauge] of gauges) queueGauge.set(metrics[value]);
      return found;
    },
  };
}

/**
 * Reads all values in one SQL statement. The statement goes from endpoint to endpoint in the index of waiting
 * deliveries, and reads no rows of finished deliveries. A delivery does not count as due if its endpoint may
 * not receive it now: the endpoint is disabled or paused after failures (circuit breaker), or the app
 * installation is suspended or has lost the scope. A delivery that waits for a slow receiver or for the
 * receiver's rate limit counts as due, but is left out when the age of the oldest delivery is computed,
 * because the receiver causes the delay.
 */
async function readQueue(db: Database, now: Date, countMax: number): Promise<QueueMetrics> {
  const moment = createDeliveryClaimTimeSqlExpressions(now);
  const { at } = moment;
  const age = (since: string): ReturnType<typeof sql> =>
    sql`coalesce(greatest(extract(epoch from ${at} - ${sql.raw(since)}), 0), 0)::double precision`;
  const oldestDue =
    "least((select since from first), (select min(next_attempt_at) from looked_at where may_be_sent and " +
    "has_room))";
  const statement = sql<QueueMetrics>`
    with recursive waiting (id) as (
      (select endpoint_id from webhook_delivery where next_attempt_at is not null order by endpoint_id
      limit 1)
      union all
      select (select d.endpoint_id from webhook_delivery d where d.next_attempt_at is not null
      and d.endpoint_id > waiting.id order by d.endpoint_id limit 1)
      from waiting where waiting.id is not null
    ), endpoint as materialized (${endpoints(moment)}),
    unrestricted as materialized (select id, has_room from endpoint where not is_probed and is_active
    and sees_catalog),
    due as materialized (
      select 1 from unrestricted w cross join lateral (
        select 1 from webhook_delivery d where d.endpoint_id = w.id and d.next_attempt_at <= ${at}
        limit ${countMax}) d limit ${countMax}
    ), first as materialized (
      select min(d.next_attempt_at) as since from unrestricted w cross join lateral (
        select next_attempt_at from webhook_delivery where endpoint_id = w.id and next_attempt_at <= ${at}
        order by next_attempt_at limit 1) d
      where w.has_room
    ), looked_at as materialized (${checkedDeliveries(at)}),
    fresh as materialized (
      select occurred_at from event where position is null
      order by insert_number nulls first, id limit ${countMax}
    ), payment as materialized (
      select due_at from payment_operation where status = 'pending' and due_at <= ${at} order by due_at
      limit ${countMax}
    )
    select least((select count(*) from due) + (select count(*) from looked_at
    where may_be_sent), ${countMax})::integer as due_deliveries,
      ${age(oldestDue)} as oldest_due_seconds,
      (select count(*)::integer from endpoint where is_probed) as open_breakers,
      (select count(*)::integer from fresh) as waiting_events, ${age("(select min(occurred_at) from fresh)")}
      as oldest_event_seconds,
      (select count(*)::integer from payment) as due_payments, ${age("(select min(due_at) from payment)")} as
      oldest_payment_seconds`;
  const [metrics] = await runSqlStatementWithRetries(db, statement);
  if (metrics === undefined) throw new Error("The statement that reads waiting work returned no row.");
  return metrics;
}

/**
 * SQL that selects the enabled webhook endpoints with waiting deliveries. The columns of an endpoint say
 * which events the endpoint may receive, and whether the service could send another delivery to it now.
 */
function endpoints(moment: DeliveryClaimTimeSqlExpressions): RawBuilder<unknown> {
  const ofInstallation = sql`s.installation_id = w.installation_id`;
  return sql`
    select w.id, h.probe_at is not null as is_probed, i.status = 'active' as is_active, 'catalog:read' =
    any(i.scopes) as sees_catalog,
      ${buildAvailableSendTokensSql(moment)} >= 1
        and ${deliveriesInProgressCountSql(
          sql`${ofInstallation}
          and s.endpoint_id = w.id`,
          moment,
        )} <
        ${endpointSendingMax}
        and ${deliveriesInProgressCountSql(ofInstallation, moment)} < ${installationSendingMax} as has_room
    from waiting join webhook_endpoint w on w.id = waiting.id and w.status = 'enabled'
    join webhook_endpoint_health h on h.endpoint_id = w.id
      join installation i on i.id = w.installation_id`;
}

/**
 * SQL that selects due deliveries of endpoints that may receive some events and not others, and checks the
 * event of each delivery. The check is a scalar subquery and not `exists`, because for `exists`, PostgreSQL
 * may choose a plan that reads all events.
 */
const checkedDeliveries = (at: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select l.next_attempt_at, l.has_room, (
    select e.subject_type = 'installation' or l.is_active
    and not e.subject_type = any(${catalogReadSubjectTypes}::text[]) from event e where e.id = l.event_id
  ) as may_be_sent
  from (
    select w.is_active, w.has_room, d.event_id, d.next_attempt_at from endpoint w cross join lateral (
      select d.event_id, d.next_attempt_at from webhook_delivery d where d.endpoint_id = w.id
      and d.next_attempt_at <= ${at}
      order by d.next_attempt_at limit ${checkedPerEndpointMax}
    ) d where not w.is_probed and not (w.is_active and w.sees_catalog) limit ${checkedMax}
  ) l`;
