/** Who asks, as everything below the doors sees it. Made once per request by verifying a credential; never from anything else a client says. */
import type { Role, Scope } from "./scopes.ts";

export interface AnonymousViewer {
  readonly kind: "anonymous";
}

/** An app that a merchant has let in: whatever it shows, it acts for one installation of one merchant. */
interface InstallationCredential {
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Set when all of the merchant's or installation's credentials are cut; two operations may be read all the same. */
  readonly suspended: "installation_suspended" | "merchant_suspended" | null;
}

export interface ApiKeyViewer extends InstallationCredential {
  readonly kind: "api_key";
  readonly apiKeyId: string;
  /** The public part of the key, for the log. */
  readonly keyPrefix: string;
}

/** An access token that is bound to a key of the client (RFC 9449), of a grant that a person of the merchant gave. */
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
  readonly role: Role;
  /** Null: all merchants (the platform's own tokens). */
  readonly merchantId: string | null;
}

/** A person who is signed in at the console. */
export interface PersonViewer {
  readonly kind: "internal";
  readonly staffId: string;
  readonly role: "admin";
  readonly merchantId: string;
}

export type InternalViewer = TokenViewer | PersonViewer;

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

export function isPerson(viewer: Viewer): viewer is PersonViewer {
  return viewer.kind === "internal" && "staffId" in viewer;
}

/** What limits count by, the log names and idempotency keys belong to: the key, the grant, the internal token, or the account of a person. */
export function credentialIdOf(viewer: IntegratorViewer | InternalViewer): string {
  if (viewer.kind === "internal") return isPerson(viewer) ? viewer.staffId : viewer.tokenId;
  return viewer.kind === "api_key" ? viewer.apiKeyId : viewer.grantId;
}

export const anonymous: AnonymousViewer = { kind: "anonymous" };
