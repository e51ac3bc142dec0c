/**
 * The facts by which an installation's readiness is judged, read in one statement (without webhook
 * endpoints), and its required and granted scopes.
 */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { utc } from "#database/sql-fragments.ts";
import type { Clock } from "#foundation/clock.ts";
import type { IntegratorViewer } from "#access/viewer.ts";

export interface ReadinessFacts {
  readonly now: Date;
  readonly installation: InstallationFacts;
  /** What the call came with; null: the installation is looked at by somebody else. */
  readonly credential: IntegratorViewer | null;
  /** Those that are not deleted. */
  readonly endpoints: readonly EndpointFacts[];
}

export interface EndpointFacts {
  readonly status: "enabled" | "disabled" | "auto_disabled";
  readonly disabledAt: Date | null;
  readonly createdAt: Date;
  readonly health: {
    readonly state: "unknown" | "healthy" | "degraded" | "failing";
    readonly lastSuccessAt: Date | null;
  };
  /** Times are RFC 3339. */
  readonly secrets: readonly { readonly createdAt: string; readonly expiresAt: string | null }[];
}

export interface InstallationFacts {
  readonly installationId: string;
  readonly status: "active" | "suspended" | "uninstalled";
  readonly scopes: readonly string[];
  readonly suspendedAt: Date | null;
  readonly updatedAt: Date;
  readonly merchantMode: "live" | "test";
  readonly merchantStatus: "active" | "suspended";
  readonly merchantSuspendedAt: Date | null;
  readonly defaultMarket: string;
  /** Those in force. */
  readonly keys: readonly KeyFacts[];
  /** When the last one of those that are not in force any more ended. */
  readonly lastKeyEndedAt: Date | null;
  /** Those in force. */
  readonly grants: readonly { readonly id: string; readonly scopes: readonly string[] }[];
  readonly marketCount: number;
  readonly isDefaultMarketServed: boolean;
  readonly untaxedCountries: readonly string[];
  /** Their handles. */
  readonly marketsWithoutReturnPolicy: readonly string[];
  /**
   * How far apart the clocks of this server and of the database are at least, whatever the way between them
   * took.
   */
  readonly clockSkewMs: number;
}

export interface KeyFacts {
  readonly id: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly rotatesTo: string | null;
}

type Row = Omit<InstallationFacts, "keys" | "clockSkewMs"> & {
  readonly keys: readonly (Omit<KeyFacts, "createdAt" | "expiresAt"> & {
    readonly createdAt: string;
    readonly expiresAt: string | null;
  })[];
  readonly databaseTime: Date;
};

/** By installation; what is not there is missing. */
export async function findReadinessFacts(
  reader: Reader,
  ids: readonly string[],
  clock: Clock,
): Promise<Map<string, InstallationFacts>> {
  const askedAt = clock.now();
  const { rows } = await sql<Row>`
    select i.id as installation_id, i.status, i.scopes, i.suspended_at, i.updated_at,
      m.mode as merchant_mode, m.status as merchant_status, m.suspended_at as merchant_suspended_at, m.default_market,
      (select coalesce(json_agg(json_build_object('id', k.id, 'scopes', k.scopes, 'createdAt', ${utc(sql`k.created_at`)},
          'expiresAt', ${utc(sql`k.expires_at`)}, 'rotatesTo', k.rotates_to) order by k.id), '[]')
        from api_key k where k.installation_id = i.id and k.revoked_at is null and (k.expires_at is null or k.expires_at > ${askedAt}::timestamptz)) as keys,
      (select max(coalesce(k.revoked_at, k.expires_at)) from api_key k
        where k.installation_id = i.id and (k.revoked_at is not null or k.expires_at <= ${askedAt}::timestamptz)) as last_key_ended_at,
      (select coalesce(json_agg(json_build_object('id', g.id, 'scopes', g.scopes) order by g.id), '[]')
        from oauth_grant g where g.installation_id = i.id and g.revoked_at is null and g.expires_at > ${askedAt}::timestamptz) as grants,
      (select count(*)::integer from market k where k.merchant_id = m.id) as market_count,
      exists (select from market_country c where c.merchant_id = m.id and c.country = m.default_market) as is_default_market_served,
      array(select c.country from market_country c where c.merchant_id = m.id
        and not exists (select from tax_rate t where t.market_id = c.market_id and t.country = c.country) order by c.country) as untaxed_countries,
      array(select k.handle from market k where k.merchant_id = m.id and not exists (select from policy p
        where p.merchant_id = m.id and p.type = 'return' and (p.market_id is null or p.market_id = k.id)) order by k.handle) as markets_without_return_policy,
      clock_timestamp() as database_time
    from installation i join merchant m on m.id = i.merchant_id
    where i.id = any(${ids}::text[])`.execute(reader);
  const answeredAt = clock.now();
  return new Map(rows.map((row) => [row.installationId, toFacts(row, { askedAt, answeredAt })]));
}

function toFacts(
  { keys, databaseTime, ...row }: Row,
  { askedAt, answeredAt }: { readonly askedAt: Date; readonly answeredAt: Date },
): InstallationFacts {
  return {
    ...row,
    keys: keys.map((key) => ({
      ...key,
      createdAt: new Date(key.createdAt),
      expiresAt: key.expiresAt === null ? null : new Date(key.expiresAt),
    })),
    clockSkewMs: Math.max(
      0,
      askedAt.getTime() - databaseTime.getTime(),
      databaseTime.getTime() - answeredAt.getTime(),
    ),
  };
}

/** All sorted. */
interface ScopeLists {
  readonly requiredScopes: readonly string[];
  readonly grantedScopes: readonly string[];
  readonly missingScopes: readonly string[];
}

/**
 * Required is what the merchant let the installation do, and what its credential was made for: a scope that
 * only one of the two has is missing. Without a credential of the call all of the installation's together are
 * looked at.
 */
export function compareScopes({
  installation,
  credential,
}: Pick<ReadinessFacts, "installation" | "credential">): ScopeLists {
  const madeFor = new Set(credentialsOf(installation, credential).flatMap(({ scopes }) => scopes));
  const requiredScopes = [...new Set([...installation.scopes, ...madeFor])].toSorted();
  const isGranted = (scope: string): boolean => madeFor.has(scope) && installation.scopes.includes(scope);
  return {
    requiredScopes,
    grantedScopes: requiredScopes.filter(isGranted),
    missingScopes: requiredScopes.filter((scope) => !isGranted(scope)),
  };
}

type Installation = ReadinessFacts["installation"];

function credentialsOf(
  { keys, grants }: Installation,
  credential: ReadinessFacts["credential"],
): readonly { readonly scopes: readonly string[] }[] {
  if (credential === null) return [...keys, ...grants];
  return credential.kind === "api_key"
    ? keys.filter(({ id }) => id === credential.apiKeyId)
    : grants.filter(({ id }) => id === credential.grantId);
}
