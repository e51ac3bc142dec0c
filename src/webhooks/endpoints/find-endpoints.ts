/** Reads endpoints with the hints of their secrets, their health and how they fared in the last 24 hours: one statement, however many they are. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { utc } from "#database/sql-fragments.ts";
import { type HealthFacts, healthStateOf, type SecretHint, type WebhookEndpoint } from "./endpoint-aggregate.ts";

const dayMs = 86_400_000;

/** By id; what is deleted or was never there is missing. */
export async function findEndpoints(reader: Reader, ids: readonly string[], now: Date): Promise<Map<string, WebhookEndpoint>> {
  const endpoints = await find(reader, sql`w.id = any(${ids}::text[])`, now);
  return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
}

/** All of these installations, the oldest first. */
export function findEndpointsOf(reader: Reader, installationIds: readonly string[], now: Date): Promise<WebhookEndpoint[]> {
  return find(reader, sql`w.installation_id = any(${installationIds}::text[])`, now);
}

interface Row extends Omit<WebhookEndpoint, "secrets" | "health">, HealthFacts {
  readonly secrets: readonly SecretHint[];
  readonly consecutiveFailures: number;
  readonly lastFailureCode: string | null;
  readonly lastFailureStatus: number | null;
  readonly attempts: number;
  readonly successes: number;
}

async function find(reader: Reader, which: RawBuilder<unknown>, now: Date): Promise<WebhookEndpoint[]> {
  const since = new Date(now.getTime() - dayMs);
  const { rows } = await sql<Row>`
    select w.id, w.merchant_id, w.installation_id, w.url, w.description, w.status, w.disabled_reason, w.disabled_at, w.event_types, w.payload_mode,
      w.max_per_second, w.metadata, w.version, w.created_at, w.updated_at,
      h.consecutive_failures, h.last_success_at, h.last_failure_at, h.last_failure_code, h.last_failure_status, h.failing_since, h.degraded_at, h.probe_at,
      day.attempts, day.successes, ${secretHints(now)} as secrets
    from webhook_endpoint w
    join webhook_endpoint_health h on h.endpoint_id = w.id
    cross join lateral (
      select coalesce(sum(t.attempts), 0)::integer as attempts, coalesce(sum(t.successes), 0)::integer as successes
      from webhook_endpoint_hour t where t.endpoint_id = w.id and t.hour > ${since}::timestamptz
    ) day
    where ${which} and w.status <> 'deleted'
    order by w.id`.execute(reader);
  return rows.map(toEndpoint);
}

const secretHints = (now: Date): RawBuilder<readonly SecretHint[]> => sql<readonly SecretHint[]>`(
  select coalesce(json_agg(json_build_object('version', s.version, 'hint', '…' || s.hint, 'createdAt', ${utc(sql`s.created_at`)},
    'expiresAt', ${utc(sql`s.expires_at`)}) order by s.version desc), '[]')
  from webhook_secret s where s.endpoint_id = w.id and (s.expires_at is null or s.expires_at > ${now}::timestamptz))`;

function toEndpoint(row: Row): WebhookEndpoint {
  const { attempts, successes, failingSince, degradedAt, probeAt, consecutiveFailures, lastSuccessAt, lastFailureAt, ...rest } = row;
  const { lastFailureCode, lastFailureStatus, ...endpoint } = rest;
  return {
    ...endpoint,
    health: {
      state: healthStateOf({ status: endpoint.status, failingSince, degradedAt, probeAt, lastSuccessAt, lastFailureAt }),
      consecutiveFailures,
      successRate24h: attempts === 0 ? null : Math.round((successes / attempts) * 10_000) / 10_000,
      lastSuccessAt,
      lastFailureAt,
      lastFailure: lastFailureCode === null ? null : { code: lastFailureCode, httpStatus: lastFailureStatus },
    },
  };
}
