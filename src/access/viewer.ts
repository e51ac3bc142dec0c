/**
 * The viewer of a request: the caller's identity, permissions (scopes, roles) and rate limits. The viewer is
 * created once per request from the verified credential alone; headers, path and body of the request do not
 * influence it.
 */

export interface AnonymousViewer {
  readonly kind: "anonymous";
}

/**
 * The fields that all credentials of apps have. A credential belongs to an installation, and so to an app and
 * a merchant.
 */
interface InstallationCredential {
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<PermissionScope>;
  /**
   * The reason why the credential is suspended (its installation or its merchant is suspended); null if it is
   * not suspended. With a suspended credential, an app can call only two operations: the one that returns the
   * app's own identity and the one that returns its readiness.
   */
  readonly suspended: "installation_suspended" | "merchant_suspended" | null;
}

export interface ApiKeyViewer extends InstallationCredential {
  readonly kind: "api_key";
  readonly apiKeyId: string;
  /** The public part of the API key, which may be logged: `cpk_{mode}_{id}`. */
  readonly keyPrefix: string;
}

/**
 * An app that sent an OAuth access token. The token is bound to a key of the OAuth client (RFC 9449). It was
 * issued for a grant, with which a staff member of the merchant has given the app access.
 */
export interface OauthViewer extends InstallationCredential {
  readonly kind: "oauth";
  readonly grantId: string;
  readonly clientId: string;
}

export type ApiKeyOrOauthViewer = ApiKeyViewer | OauthViewer;

/** A caller with an internal token: an internal frontend or a person. */
export interface InternalTokenViewer {
  readonly kind: "internal";
  readonly tokenId: string;
  readonly role: InternalTokenRole;
  /** Id of the token's merchant; null if the token belongs to the platform and covers all merchants. */
  readonly merchantId: string | null;
  /** The GraphQL documents that the internal token may run; left out if the token may run all documents. */
  readonly documents?: GraphqlDocumentPermission;
  /**
   * The caller's buyer session; left out if the caller sent the internal token itself, and not the token of a
   * buyer session that the internal token created.
   */
  readonly buyerSession?: BuyerSession;
  /**
   * The origins whose pages may use the credential, for publishable tokens and the buyer sessions that they
   * created; left out for every other credential.
   */
  readonly allowedOrigins?: readonly string[];
}

/**
 * A buyer session: the permission of a buyer's browser to call `/graphql` as a storefront, for this buyer
 * only. An internal token creates the session. The session ends at its expiry, or when the internal token is
 * no longer valid.
 */
export interface BuyerSession {
  /** Id of the buyer session, `bse_…`. Carts and orders of guests store this id. */
  readonly id: string;
  /** The buyer reference that the frontend gave to the buyer; null if the buyer is a guest. */
  readonly buyerReference: string | null;
}

/**
 * The GraphQL documents that an internal token may run: all documents, or only the trusted documents of its
 * merchant.
 */
export const graphqlDocumentPermissions = ["any", "trusted_only"] as const;
export type GraphqlDocumentPermission = (typeof graphqlDocumentPermissions)[number];

/** A caller who is a staff member, signed in to the console. */
export interface StaffViewer {
  readonly kind: "internal";
  readonly staffId: string;
  readonly role: StaffRole;
  readonly merchantId: string;
}

export type InternalTokenOrStaffViewer = InternalTokenViewer | StaffViewer;

/**
 * The service itself, which acts for a merchant in background work, and when it runs the GraphQL documents
 * that render the payloads of events.
 */
export interface SystemViewer {
  readonly kind: "system";
  readonly merchantId: string;
}

/**
 * A caller who is a buyer on the hosted checkout page of one session. The buyer can access only this session,
 * its cart and its order.
 */
export interface CheckoutBuyerViewer {
  readonly kind: "buyer";
  readonly merchantId: string;
  readonly sessionId: string;
  readonly cartId: string;
}

export type Viewer =
  | AnonymousViewer
  | ApiKeyOrOauthViewer
  | InternalTokenOrStaffViewer
  | SystemViewer
  | CheckoutBuyerViewer;

export function isApiKeyOrOauthViewer(viewer: Viewer): viewer is ApiKeyOrOauthViewer {
  return viewer.kind === "api_key" || viewer.kind === "oauth";
}

/**
 * The id of a credential, with the ids of the merchant and the installation that own it. These ids are also
 * known for API keys that are expired or revoked.
 */
export interface CredentialAndOwnerIds {
  readonly merchantId: string;
  readonly installationId: string;
  readonly credentialId: string;
}

export const getCredentialAndOwnerIds = (viewer: ApiKeyOrOauthViewer): CredentialAndOwnerIds => ({
  merchantId: viewer.merchantId,
  installationId: viewer.installationId,
  credentialId: getCredentialIdOfViewer(viewer),
});

export function isStaffViewer(viewer: Viewer): viewer is StaffViewer {
  return viewer.kind === "internal" && "staffId" in viewer;
}

/** Returns the buyer session of the caller; undefined if the caller has none. */
export const getBuyerSessionOfViewer = (viewer: Viewer): BuyerSession | undefined =>
  viewer.kind === "internal" && "tokenId" in viewer ? viewer.buyerSession : undefined;

/**
 * Returns the id of the caller's credential: the API key, the grant, the internal token, the buyer session or
 * the staff account. Rate limits, logs and idempotency records use this id.
 */
export function getCredentialIdOfViewer(viewer: ApiKeyOrOauthViewer | InternalTokenOrStaffViewer): string {
  if (viewer.kind === "internal")
    return isStaffViewer(viewer) ? viewer.staffId : (viewer.buyerSession?.id ?? viewer.tokenId);
  return viewer.kind === "api_key" ? viewer.apiKeyId : viewer.grantId;
}

export const anonymousViewer: AnonymousViewer = { kind: "anonymous" };

/** All scopes of the API: the permissions that an app can have. */
export const integratorScopes = [
  "catalog:read",
  "checkout:quote",
  "webhooks:read",
  "webhooks:write",
] as const;
export type PermissionScope = (typeof integratorScopes)[number];

export const scopeDescriptions: Readonly<Record<PermissionScope, string>> = {
  "catalog:read": "Read carts and orders, revoke carts and cancel hosted checkout sessions.",
  "checkout:quote": "Set a cart's address and change its promotion.",
  "webhooks:read": "Read webhook endpoints, events and signature fixtures.",
  "webhooks:write": "Create webhook endpoints and replay deliveries.",
};

/** Titles of the scopes. A title explains to the staff of merchants what the scope allows. */
export const scopeTitles: Readonly<Record<PermissionScope, string>> = {
  "catalog:read": "Read carts and orders, and end checkouts",
  "checkout:quote": "Change carts before checkout",
  "webhooks:read": "See webhooks",
  "webhooks:write": "Manage webhooks",
};

/**
 * The roles of internal tokens. A token of the role `browser` is publishable: it is part of the code of web
 * pages, so everyone can read it.
 */
export const internalTokenRoles = ["storefront", "browser", "admin", "analyst", "operator"] as const;
export type InternalTokenRole = (typeof internalTokenRoles)[number];

/**
 * The roles of staff accounts. An admin reads and changes all data of the merchant and grants access to apps.
 * An analyst reads the same data as an internal token with this role, and changes nothing.
 */
export const staffRoles = ["admin", "analyst"] as const satisfies readonly InternalTokenRole[];
export type StaffRole = (typeof staffRoles)[number];

export function isPermissionScope(text: string): text is PermissionScope {
  return (integratorScopes as readonly string[]).includes(text);
}

/**
 * A rate limit: at most `quota` requests per time window. A window begins with the caller's first request and
 * has a fixed length.
 */
interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
  /**
   * The name of the rate limit in the API's answers; left out if the API uses the limit's key in
   * `rateLimitQuotas` as its name.
   */
  readonly publicName?: string;
}

export const rateLimitQuotas = {
  default: { quota: 600, windowSeconds: 60 },
  write: { quota: 120, windowSeconds: 60 },
  // The rate limit for replays of webhook deliveries. Replays are counted per installation, so all
  // credentials of the installation share this limit.
  replay: { quota: 60, windowSeconds: 60 },
  "anon-search": { quota: 60, windowSeconds: 60 },
  "anon-read": { quota: 300, windowSeconds: 60 },
  // The rate limit for requests to /graphql with publishable tokens and buyer sessions, counted per IP
  // address.
  browser: { quota: 600, windowSeconds: 60 },
  // The quotas of requests to /graphql, CSV reports and files of exports. The first quota counts the requests
  // of each internal token or staff member, the second those of each merchant. Requests of buyers' browsers
  // have a separate count for the merchant, so that browsers cannot use up the quota of the merchant's staff.
  graphql: { quota: 6_000, windowSeconds: 60 },
  "graphql-merchant": { quota: 12_000, windowSeconds: 60 },
  // The quotas of the costs of GraphQL documents and CSV reports, in points. `npm run bench:costs` measures
  // that a millisecond of CPU time costs at least about 25 points, so 750 000 points are half a core.
  // Documents of buyers' browsers are counted per IP address (`graphql-cost-browser`).
  "graphql-cost": { quota: 750_000, windowSeconds: 60 },
  "graphql-cost-browser": { quota: 150_000, windowSeconds: 60 },
  "graphql-cost-merchant": { quota: 1_500_000, windowSeconds: 60 },
  "auth-fail": { quota: 20, windowSeconds: 300 },
  // The rate limit for registrations of AI agents as OAuth clients and for fetches of their metadata
  // documents, counted per IP address.
  "agent-register": { quota: 20, windowSeconds: 3600 },
  // The rate limits for requests with unknown promotion codes: the first limit counts them per cart, the
  // second per credential.
  "promo-fail": { quota: 10, windowSeconds: 600 },
  "promo-fail-credential": { quota: 60, windowSeconds: 600, publicName: "promo-fail" },
  // The rate limits for wrong passwords on sign-in pages: `login-fail` counts them per account,
  // `login-fail-address` per IP address.
  "login-fail": { quota: 10, windowSeconds: 600 },
  "login-fail-address": { quota: 30, windowSeconds: 600, publicName: "login-fail" },
} as const satisfies Record<string, Quota>;

export type RateLimitBucket = keyof typeof rateLimitQuotas;

/**
 * The rate limits that apply to requests of apps. The API reports the state of these limits to apps, so that
 * an app can slow down before it is refused.
 */
export const integratorRateLimitBuckets: readonly RateLimitBucket[] = [
  "default",
  "write",
  "replay",
  "promo-fail",
  "promo-fail-credential",
];

export function isRateLimitBucket(name: string): name is RateLimitBucket {
  return Object.hasOwn(rateLimitQuotas, name);
}

export function getPublicRateLimitBucketName(bucket: RateLimitBucket): string {
  const quota: Quota = rateLimitQuotas[bucket];
  return quota.publicName ?? bucket;
}

/**
 * The factors by which the quotas of rate limits are multiplied. A single number applies to all rate limits.
 * An object has the factors of the settings RATE_LIMIT_SCALE (`all`) and GRAPHQL_QUOTA_SCALE (`graphql`).
 */
export type RateLimitQuotaFactors = number | { readonly all: number; readonly graphql: number };

/**
 * Returns the quota of a rate limit (requests or points per time window), multiplied by its factors. Returns
 * undefined if a factor is 0, which switches the rate limit off.
 */
export function getScaledRateLimitQuota(
  bucket: RateLimitBucket,
  scale: RateLimitQuotaFactors,
): number | undefined {
  const { all, graphql } = typeof scale === "number" ? { all: scale, graphql: 1 } : scale;
  const factor = bucket.startsWith("graphql") ? all * graphql : all;
  return factor === 0 ? undefined : Math.max(1, Math.round(rateLimitQuotas[bucket].quota * factor));
}
