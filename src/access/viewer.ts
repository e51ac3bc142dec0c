/**
 * Who calls (the viewer), what the caller may do (scopes, roles) and how often (quotas). A viewer is made
 * once per request by verifying a credential, and from nothing else in the request.
 */

export interface AnonymousViewer {
  readonly kind: "anonymous";
}

/** An app that a merchant has let in: whatever it shows, it acts for one installation of one merchant. */
interface InstallationCredential {
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<Scope>;
  /**
   * Set when all of the merchant's or installation's credentials are cut; two operations may be read all the
   * same.
   */
  readonly suspended: "installation_suspended" | "merchant_suspended" | null;
}

export interface ApiKeyViewer extends InstallationCredential {
  readonly kind: "api_key";
  readonly apiKeyId: string;
  /** The public part of the key, for the log. */
  readonly keyPrefix: string;
}

/**
 * An access token that is bound to a key of the client (RFC 9449), of a grant that a person of the merchant
 * gave.
 */
export interface OAuthViewer extends InstallationCredential {
  readonly kind: "oauth";
  readonly grantId: string;
  readonly clientId: string;
}

export type IntegratorViewer = ApiKeyViewer | OAuthViewer;

/** An internal frontend or whoever holds an internal token. */
export interface TokenViewer {
  readonly kind: "internal";
  readonly tokenId: string;
  readonly role: InternalRole;
  /** Null: all merchants (the platform's own tokens). */
  readonly merchantId: string | null;
}

/** A person who is signed in at the console. */
export interface StaffViewer {
  readonly kind: "internal";
  readonly staffId: string;
  readonly role: "admin";
  readonly merchantId: string;
}

export type InternalViewer = TokenViewer | StaffViewer;

/** The service itself, for one merchant: what nobody asked for, and the documents of events. */
export interface SystemViewer {
  readonly kind: "system";
  readonly merchantId: string;
}

/** Who checks out on the page of one session: nothing beside it, its cart and its order is there for them. */
export interface BuyerViewer {
  readonly kind: "buyer";
  readonly merchantId: string;
  readonly sessionId: string;
  readonly cartId: string;
}

export type Viewer = AnonymousViewer | IntegratorViewer | InternalViewer | SystemViewer | BuyerViewer;

export function isIntegrator(viewer: Viewer): viewer is IntegratorViewer {
  return viewer.kind === "api_key" || viewer.kind === "oauth";
}

/** Whose a credential is, also where it was refused. */
export interface CredentialOwner {
  readonly merchantId: string;
  readonly installationId: string;
  readonly credentialId: string;
}

export const credentialOwnerOf = (viewer: IntegratorViewer): CredentialOwner => ({
  merchantId: viewer.merchantId,
  installationId: viewer.installationId,
  credentialId: credentialIdOf(viewer),
});

export function isStaffViewer(viewer: Viewer): viewer is StaffViewer {
  return viewer.kind === "internal" && "staffId" in viewer;
}

/**
 * What limits count by, the log names and idempotency keys belong to: the key, the grant, the internal token,
 * or the account of a person.
 */
export function credentialIdOf(viewer: IntegratorViewer | InternalViewer): string {
  if (viewer.kind === "internal") return isStaffViewer(viewer) ? viewer.staffId : viewer.tokenId;
  return viewer.kind === "api_key" ? viewer.apiKeyId : viewer.grantId;
}

export const anonymousViewer: AnonymousViewer = { kind: "anonymous" };

/**
 * What a credential may be allowed: the four scopes of the contract for integrators, a role for internal
 * tokens.
 */
export const integratorScopes = [
  "catalog:read",
  "checkout:quote",
  "webhooks:read",
  "webhooks:write",
] as const;
export type Scope = (typeof integratorScopes)[number];

export const scopeDescriptions: Readonly<Record<Scope, string>> = {
  "catalog:read": "Read carts and orders, revoke carts and cancel hosted checkout sessions.",
  "checkout:quote": "Set a cart's address and change its promotion.",
  "webhooks:read": "Read webhook endpoints, events and signature fixtures.",
  "webhooks:write": "Create webhook endpoints and replay deliveries.",
};

export const internalRoles = ["storefront", "admin", "analyst", "operator"] as const;
export type InternalRole = (typeof internalRoles)[number];

export function isScope(text: string): text is Scope {
  return (integratorScopes as readonly string[]).includes(text);
}

/**
 * Every quota of the service, in one table. Windows are fixed and start with a caller's first request in
 * them.
 */
interface Quota {
  readonly quota: number;
  readonly windowSeconds: number;
  /** What clients know it by, where that is not its own name. */
  readonly shownAs?: string;
}

export const rateQuotas = {
  default: { quota: 600, windowSeconds: 60 },
  write: { quota: 120, windowSeconds: 60 },
  // Per installation: its keys share it.
  replay: { quota: 60, windowSeconds: 60 },
  "anon-search": { quota: 60, windowSeconds: 60 },
  "anon-read": { quota: 300, windowSeconds: 60 },
  "auth-fail": { quota: 20, windowSeconds: 300 },
  // Codes that were guessed wrong: on one cart, and by one credential.
  "promo-fail": { quota: 10, windowSeconds: 600 },
  "promo-fail-credential": { quota: 60, windowSeconds: 600, shownAs: "promo-fail" },
  // Wrong passwords on the sign-in page: of one account, and from one address.
  "login-fail": { quota: 10, windowSeconds: 600 },
  "login-fail-address": { quota: 30, windowSeconds: 600, shownAs: "login-fail" },
} as const satisfies Record<string, Quota>;

export type RateBucket = keyof typeof rateQuotas;

/** The buckets that count per credential, which an integrator reads to pace its calls. */
export const credentialRateBuckets: readonly RateBucket[] = ["default", "write"];

export function isRateBucket(name: string): name is RateBucket {
  return Object.hasOwn(rateQuotas, name);
}

export function publicBucketName(bucket: RateBucket): string {
  const quota: Quota = rateQuotas[bucket];
  return quota.shownAs ?? bucket;
}

/** The quota in force; undefined when limits are off. */
export function scaledQuota(bucket: RateBucket, scale: number): number | undefined {
  return scale === 0 ? undefined : Math.max(1, Math.round(rateQuotas[bucket].quota * scale));
}
