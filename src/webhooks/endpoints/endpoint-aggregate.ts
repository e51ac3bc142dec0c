/**
 * The webhook endpoint as an object in memory, the queries that load endpoints, the calculation of an
 * endpoint's health, and the failures of endpoint commands. Deleted endpoints are never loaded.
 */
import { type RawBuilder, sql } from "kysely";
import {
  createFailure,
  type Failure,
  type FailureCode,
  type ConflictErrorDetails,
} from "#foundation/failure.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { DeliveryOrderMode } from "#webhooks/delivery-order.ts";
import type { StoredChangedFieldsFilters } from "./field-filters.ts";

export type EndpointStatus = "enabled" | "disabled" | "auto_disabled";
export type EventPayloadMode = "snapshot" | "thin";
export type EndpointHealthState = "unknown" | "healthy" | "degraded" | "failing";

export interface WebhookEndpoint {
  readonly id: string;
  readonly merchantId: string;
  readonly installationId: string;
  readonly url: string;
  readonly description: string | null;
  readonly status: EndpointStatus;
  readonly disabledReason: "manual" | "gone" | "failing" | null;
  readonly disabledAt: Date | null;
  readonly eventTypes: readonly string[];
  readonly payloadMode: EventPayloadMode;
  readonly maxPerSecond: number | null;
  readonly fieldFilters: StoredChangedFieldsFilters | null;
  readonly deliveryOrder: DeliveryOrderMode;
  /** The secrets that currently sign webhooks, newest first; two while a secret is being replaced. */
  readonly secrets: readonly WebhookSecretHint[];
  readonly health: EndpointHealthView;
  readonly metadata: Readonly<Record<string, string>>;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface WebhookSecretHint {
  readonly version: number;
  /** The hint by which a reader recognizes the secret: `…` and the last four characters of the secret. */
  readonly hint: string;
  /** Creation time of the secret in the format of RFC 3339. */
  readonly createdAt: string;
  /** Time at which a replaced secret expires, in the format of RFC 3339; null for the current secret. */
  readonly expiresAt: string | null;
}

export interface EndpointHealthView {
  readonly state: EndpointHealthState;
  readonly consecutiveFailures: number;
  /** Share of successful delivery attempts in the last 24 hours, from 0 to 1; null if there were no attempts. */
  readonly successRate24h: number | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
  readonly lastFailure: { readonly code: string; readonly httpStatus: number | null } | null;
  /** Time of the next probe while the circuit breaker of an enabled endpoint is open; otherwise null. */
  readonly pausedUntil: Date | null;
}

/** The health of a webhook endpoint as the dispatcher has stored it in the database. */
export interface StoredEndpointHealth {
  readonly status: EndpointStatus;
  readonly failingSince: Date | null;
  /** Time at which the endpoint became degraded after failing for a day; null if it is not degraded. */
  readonly degradedAt: Date | null;
  /** Time of the next probe while the circuit breaker is open; null if it is closed. */
  readonly probeAt: Date | null;
  readonly lastSuccessAt: Date | null;
  readonly lastFailureAt: Date | null;
}

/**
 * Computes the state of an endpoint's health. If a disabled endpoint was enabled again, its state is
 * `unknown` until an attempt succeeds.
 */
export function getEndpointHealthState({
  status,
  degradedAt,
  probeAt,
  lastSuccessAt,
  lastFailureAt,
  failingSince,
}: StoredEndpointHealth): EndpointHealthState {
  if (status === "auto_disabled" || probeAt !== null) return "failing";
  if (degradedAt !== null) return "degraded";
  if (lastSuccessAt === null) return "unknown";
  return failingSince !== null || lastFailureAt === null || lastFailureAt <= lastSuccessAt
    ? "healthy"
    : "unknown";
}

/**
 * Compares the states of an endpoint before and after a change. Returns the fields that differ, each with its
 * value before the change. The event about the change contains these values.
 */
export function getPreviousValuesOfChangedEndpointFields(
  before: WebhookEndpoint,
  after: WebhookEndpoint,
): Record<string, unknown> {
  const {
    merchantId: _merchantId,
    installationId: _installationId,
    health: _health,
    fieldFilters: _fieldFilters,
    deliveryOrder: _deliveryOrder,
    ...was
  } = before;
  return Object.fromEntries(
    Object.entries(was).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(after[name as keyof typeof was]),
    ),
  );
}

export interface EndpointConflictFailureOptions {
  readonly reason?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

type Conflicting = Pick<WebhookEndpoint, "id" | "status" | "version">;

export function createEndpointConflictFailure(
  code: FailureCode,
  endpoint: Conflicting,
  { message, ...refused }: EndpointConflictFailureOptions = {},
): Failure {
  return createFailure(code, {
    conflict: conflictOf(endpoint, refused),
    ...(message === undefined ? {} : { message }),
  });
}

function conflictOf(
  { id, status, version }: Conflicting,
  { reason = null, data = {} }: { reason?: string | null; data?: EndpointConflictFailureOptions["data"] },
): ConflictErrorDetails {
  return { resource: "webhook_endpoint", id, currentStatus: status, currentVersion: version, reason, data };
}

/**
 * Throws `version_conflict` if the endpoint's version is not the expected version. Commands check the
 * endpoint's status first and the version last.
 */
export function requireExpectedEndpointVersion(
  endpoint: Conflicting,
  expectedVersion: number | null | undefined,
): void {
  if (expectedVersion === null || expectedVersion === undefined || expectedVersion === endpoint.version)
    return;
  throw createEndpointConflictFailure("version_conflict", endpoint);
}

const dayMs = 86_400_000;

/**
 * Finds endpoints by id, with one statement. The result contains the hints of the secrets, the health, and
 * the success rate of the last 24 hours. Deleted endpoints are left out.
 */
export async function findEndpoints(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  now: Date,
): Promise<Map<string, WebhookEndpoint>> {
  const endpoints = await find(reader, sql`w.id = any(${ids}::text[])`, now);
  return new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));
}

/** Finds all webhook endpoints of the given installations, oldest first. */
export function findInstallationEndpoints(
  reader: DatabaseOrTransaction,
  installationIds: readonly string[],
  now: Date,
): Promise<WebhookEndpoint[]> {
  return find(reader, sql`w.installation_id = any(${installationIds}::text[])`, now);
}

interface Row extends Omit<WebhookEndpoint, "secrets" | "health">, StoredEndpointHealth {
  readonly secrets: readonly WebhookSecretHint[];
  readonly consecutiveFailures: number;
  readonly lastFailureCode: string | null;
  readonly lastFailureStatus: number | null;
  readonly attempts: number;
  readonly successes: number;
}

async function find(
  reader: DatabaseOrTransaction,
  which: RawBuilder<unknown>,
  now: Date,
): Promise<WebhookEndpoint[]> {
  const since = new Date(now.getTime() - dayMs);
  const { rows } = await sql<Row>`
    select w.id, w.merchant_id, w.installation_id, w.url, w.description, w.status, w.disabled_reason,
    w.disabled_at, w.event_types, w.payload_mode,
      w.max_per_second, w.field_filters, w.delivery_order, w.metadata, w.version, w.created_at, w.updated_at,
      h.consecutive_failures, h.last_success_at, h.last_failure_at, h.last_failure_code,
      h.last_failure_status, h.failing_since, h.degraded_at, h.probe_at,
      day.attempts, day.successes, ${secretHints(now)} as secrets
    from webhook_endpoint w
    join webhook_endpoint_health h on h.endpoint_id = w.id
    cross join lateral (
      select coalesce(sum(t.attempts), 0)::integer as attempts,
      coalesce(sum(t.successes), 0)::integer as successes
      from webhook_endpoint_hour t where t.endpoint_id = w.id and t.hour > ${since}::timestamptz
    ) day
    where ${which} and w.status <> 'deleted'
    order by w.id`.execute(reader);
  return rows.map(toEndpoint);
}

const secretHints = (now: Date): RawBuilder<readonly WebhookSecretHint[]> => sql<
  readonly WebhookSecretHint[]
>`(
  select coalesce(json_agg(json_build_object('version', s.version, 'hint', '…' || s.hint, 'createdAt',
  ${formatUtcTimeSql(sql`s.created_at`)},
    'expiresAt', ${formatUtcTimeSql(sql`s.expires_at`)}) order by s.version desc), '[]')
  from webhook_secret s where s.endpoint_id = w.id and (s.expires_at is null
  or s.expires_at > ${now}::timestamptz))`;

function toEndpoint(row: Row): WebhookEndpoint {
  const {
    attempts,
    successes,
    failingSince,
    degradedAt,
    probeAt,
    consecutiveFailures,
    lastSuccessAt,
    lastFailureAt,
    ...rest
  } = row;
  const { lastFailureCode, lastFailureStatus, ...endpoint } = rest;
  return {
    ...endpoint,
    health: {
      state: getEndpointHealthState({
        status: endpoint.status,
        failingSince,
        degradedAt,
        probeAt,
        lastSuccessAt,
        lastFailureAt,
      }),
      consecutiveFailures,
      successRate24h: attempts === 0 ? null : Math.round((successes / attempts) * 10_000) / 10_000,
      lastSuccessAt,
      lastFailureAt,
      lastFailure: lastFailureCode === null ? null : { code: lastFailureCode, httpStatus: lastFailureStatus },
      pausedUntil: endpoint.status === "enabled" ? probeAt : null,
    },
  };
}
