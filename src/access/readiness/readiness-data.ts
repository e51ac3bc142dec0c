/**
 * The data on which the readiness of an installation depends. One statement reads all of this data, except
 * the webhook endpoints, which the caller has read. This file also compares the required and the granted
 * scopes of an installation.
 */
import { sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { formatUtcTimeSql } from "#database/sql-fragments.ts";
import type { Clock } from "#foundation/clock.ts";
import type { ApiKeyOrOauthViewer } from "#access/viewer.ts";

export interface ReadinessCheckInput {
  readonly now: Date;
  readonly installation: InstallationForReadinessCheck;
  /**
   * The credential with which the app requests its own readiness; null if another caller requests the
   * readiness.
   */
  readonly credential: ApiKeyOrOauthViewer | null;
  /** The webhook endpoints of the installation, without deleted ones. */
  readonly endpoints: readonly WebhookEndpointForReadinessCheck[];
}

/**
 * Maximum number of waiting retries that are counted per endpoint. Counting stops at this number, so that the
 * statement stays fast.
 */
export const retryingDeliveriesMax = 1_000;

export interface WebhookEndpointForReadinessCheck {
  readonly id: string;
  readonly status: "enabled" | "disabled" | "auto_disabled";
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  readonly health: {
    readonly state: "unknown" | "healthy" | "degraded" | "failing";
    readonly lastSuccessAt: Date | null;
    /** Number of delivery attempts to the endpoint that failed since the last success. */
    readonly consecutiveFailures: number;
  };
  /** The signing secrets of the webhook endpoint; times are RFC 3339 texts. */
  readonly secrets: readonly { readonly createdAt: string; readonly expiresAt: string | null }[];
}

export interface InstallationForReadinessCheck {
  readonly installationId: string;
  readonly status: "active" | "suspended" | "uninstalled";
  readonly scopes: readonly string[];
  readonly suspendedAt: Date | null;
  readonly updatedAt: Date;
  readonly merchantMode: "live" | "test";
  readonly merchantStatus: "active" | "suspended";
  readonly merchantSuspendedAt: Date | null;
  readonly defaultMarket: string;
  /** The merchant's connected account at a payment provider; null if none is connected. */
  readonly paymentConnection: { readonly hasSigningSecret: boolean } | null;
  /** The installation's API keys that are neither revoked nor expired. */
  readonly keys: readonly ApiKeyForReadinessCheck[];
  /**
   * The last time at which an API key of the installation expired or was revoked; null if this has not
   * happened yet.
   */
  readonly lastKeyEndedAt: Date | null;
  /** The installation's OAuth grants that are neither revoked nor expired. */
  readonly grants: readonly { readonly id: string; readonly scopes: readonly string[] }[];
  readonly marketCount: number;
  readonly isDefaultMarketServed: boolean;
  readonly untaxedCountries: readonly string[];
  /**
   * Number of deliveries that wait for a retry, by endpoint id. Has no entry for endpoints without a waiting
   * retry. Counting stops at `retryingDeliveriesMax`.
   */
  readonly retryingDeliveries: Readonly<Record<string, number>>;
  /** Handles of the merchant's markets that no return policy covers. */
  readonly marketsWithoutReturnPolicy: readonly string[];
  /**
   * The lower bound of the difference between the clocks of this server and of the database, in milliseconds.
   * The real difference may be larger, by at most the duration of the query that read the database's time.
   */
  readonly clockSkewMs: number;
}

export interface ApiKeyForReadinessCheck {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly rotatesTo: string | null;
}

type Row = Omit<InstallationForReadinessCheck, "keys" | "clockSkewMs"> & {
  readonly keys: readonly (Omit<ApiKeyForReadinessCheck, "createdAt" | "expiresAt"> & {
    readonly createdAt: string;
    readonly expiresAt: string | null;
  })[];
  readonly databaseTime: Date;
};

/**
 * Reads the readiness data of installations, by id. The result has no entry for an id without an
 * installation.
 */
export async function loadReadinessCheckInput(
  reader: DatabaseOrTransaction,
  ids: readonly string[],
  clock: Clock,
): Promise<Map<string, InstallationForReadinessCheck>> {
  const sentAt = clock.now();
  const { rows } = await sql<Row>`
    select i.id as installation_id, i.status, i.scopes, i.suspended_at, i.updated_at,
      m.mode as merchant_mode, m.status as merchant_status, m.suspended_at as merchant_suspended_at,
      m.default_market,
      (select json_build_object('hasSigningSecret', c.has_signing_secret)
        from payment_connection c where c.merchant_id = m.id and c.disconnected_at is null) as payment_connection,
      (select coalesce(json_agg(json_build_object('id', k.id, 'scopes', k.scopes, 'createdAt',
      ${formatUtcTimeSql(sql`k.created_at`)},
          'expiresAt', ${formatUtcTimeSql(sql`k.expires_at`)}, 'rotatesTo', k.rotates_to) order by k.id), '[]')
        from api_key k where k.installation_id = i.id and k.revoked_at is null and (k.expires_at is null
        or k.expires_at > ${sentAt}::timestamptz)) as keys,
      (select max(coalesce(k.revoked_at, k.expires_at)) from api_key k
        where k.installation_id = i.id and (k.revoked_at is not null
        or k.expires_at <= ${sentAt}::timestamptz)) as last_key_ended_at,
      (select coalesce(json_agg(json_build_object('id', g.id, 'scopes', g.scopes) order by g.id), '[]')
        from oauth_grant g where g.installation_id = i.id and g.revoked_at is null
        and g.expires_at > ${sentAt}::timestamptz) as grants,
      (select count(*)::integer from market k where k.merchant_id = m.id) as market_count,
      exists (select from market_country c where c.merchant_id = m.id
      and c.country = m.default_market) as is_default_market_served,
      array(select c.country from market_country c where c.merchant_id = m.id
        and not exists (select from tax_rate t join market k on k.id = t.market_id
          where t.market_id = c.market_id and t.country = c.country and t.tax_class = 'standard' and
          daterange(t.valid_from, t.valid_to, '[]') @> (${sentAt}::timestamptz at time zone k.time_zone)::date)
        order by c.country) as untaxed_countries,
      array(select k.handle from market k where k.merchant_id = m.id and not exists (select from policy p
        where p.merchant_id = m.id and p.type = 'return' and (p.market_id is null or p.market_id = k.id))
        order by k.handle) as markets_without_return_policy,
      (select coalesce(json_object_agg(w.id, d.waiting) filter (where d.waiting > 0), '{}')
        from webhook_endpoint w cross join lateral (select count(*)::integer as waiting from
          (select from webhook_delivery d where d.endpoint_id = w.id and d.status = 'retrying'
            limit ${sql.lit(retryingDeliveriesMax)}) d) d
        where w.installation_id = i.id and w.status <> 'deleted') as retrying_deliveries,
      clock_timestamp() as database_time
    from installation i join merchant m on m.id = i.merchant_id
    where i.id = any(${ids}::text[])`.execute(reader);
  const answeredAt = clock.now();
  return new Map(rows.map((row) => [row.installationId, toReadinessData(row, { sentAt, answeredAt })]));
}

function toReadinessData(
  { keys, databaseTime, ...row }: Row,
  { sentAt, answeredAt }: { readonly sentAt: Date; readonly answeredAt: Date },
): InstallationForReadinessCheck {
  return {
    ...row,
    keys: keys.map((key) => ({
      ...key,
      createdAt: new Date(key.createdAt),
      expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt),
    })),
    clockSkewMs: Math.max(
      0,
      sentAt.getTime() - databaseTime.getTime(),
      databaseTime.getTime() - answeredAt.getTime(),
    ),
  };
}

/** The required, granted and missing scopes of an installation, each list sorted. */
interface ScopeLists {
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
}

/**
 * Compares the scopes of an installation with the scopes of its credential. A scope is required if the
 * installation or the credential has it, granted if both have it, and missing if only one of them has it. If
 * `credential` is null, the scopes of all credentials of the installation are taken together.
 */
export function compareInstallationAndCredentialScopes({
  installation,
  credential,
}: Pick<ReadinessCheckInput, "installation" | "credential">): ScopeLists {
  const credentialScopes = new Set(credentialsOf(installation, credential).flatMap(({ scopes }) => scopes));
  const requiredScopes = [...new Set([...installation.scopes, ...credentialScopes])].toSorted();
  const isGranted = (scope: string): boolean =>
    credentialScopes.has(scope) && installation.scopes.includes(scope);
  return {
    requiredScopes,
    grantedScopes: requiredScopes.filter(isGranted),
    missingScopes: requiredScopes.filter((scope) => !isGranted(scope)),
  };
}

type Installation = ReadinessCheckInput["installation"];

function credentialsOf(
  { keys, grants }: Installation,
  credential: ReadinessCheckInput["credential"],
): readonly { readonly scopes: readonly string[] }[] {
  if (credential === null) return [...keys, ...grants];
  return credential.kind === "api_key"
    ? keys.filter(({ id }) => id === credential.apiKeyId)
    : grants.filter(({ id }) => id === credential.grantId);
}
