/** Who asks, as everything below the doors sees it. Made once per request by verifying a credential; never from anything else a client says. */
import type { Role, Scope } from "./scopes.ts";

export interface AnonymousViewer {
  readonly kind: "anonymous";
}

/** An integrator: one API key of one installation of one merchant. */
export interface ApiKeyViewer {
  readonly kind: "api_key";
  readonly apiKeyId: string;
  /** The public part of the key, for the log. */
  readonly keyPrefix: string;
  readonly installationId: string;
  readonly appId: string;
  readonly merchantId: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Set when all of the merchant's or installation's credentials are cut; two operations may be read all the same. */
  readonly suspended: "installation_suspended" | "merchant_suspended" | null;
}

/** An internal frontend or a person, by an internal token. */
export interface InternalViewer {
  readonly kind: "internal";
  readonly tokenId: string;
  readonly role: Role;
  /** Null: all merchants (the platform's own tokens). */
  readonly merchantId: string | null;
}

/** The service itself, for one merchant: what nobody asked for, and the documents of events. */
export interface SystemViewer {
  readonly kind: "system";
  readonly merchantId: string;
}

export type Viewer = AnonymousViewer | ApiKeyViewer | InternalViewer | SystemViewer;

export const anonymous: AnonymousViewer = { kind: "anonymous" };
