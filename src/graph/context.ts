/**
 * What every resolver is given: who asks, the database, the time, and loaders that live as long as the
 * request.
 */
import type { ExecutionResult } from "graphql";
import type { ServiceEvents } from "#foundation/events.ts";
import { anonymousViewer, credentialIdOf, type InternalRole, type Viewer } from "#access/viewer.ts";
import type { SearchCounts } from "#commerce/search/search-counts.ts";
import type { Database } from "#database/connect.ts";
import type { DoOnce, Once, OnceRequest } from "#database/idempotency.ts";
import type { ReadOnly } from "#database/read-only.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { ResolvedNames } from "#webhooks/endpoint-url.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { fail, failAt } from "#foundation/failure.ts";
import type { Watch } from "./live/watch.ts";
import { createLoaders, type Loaders, type SharedAggregateReads } from "./loaders.ts";

export interface GraphContext {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** The languages asked for, best first. */
  readonly languages: readonly string[];
  /** Who is served by an internal frontend, in that frontend's words; null where it does not say. */
  readonly buyerReference: string | null;
  /** Whoever asks, told apart by it and by nothing else: where the request came from. */
  readonly client: string;
  /** The REST operation; null: GraphQL. */
  readonly operationId: string | null;
  /** What the mutation prepared before its transaction began; undefined if it prepares nothing. */
  readonly prepared: unknown;
  /**
   * The idempotency of a REST operation; null if it has none, and for GraphQL documents, which have their key
   * in an argument.
   */
  readonly once: OnceRequest<ExecutionResult> | null;
  /** Called when a request with an idempotency key was answered. */
  readonly onOnce: ((answer: Once) => void) | undefined;
  /** Inside of a transaction its handle: then everything goes through it. */
  readonly db: Database;
  readonly services: GraphServices;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** What quotas are multiplied by; 0 when limits are off. */
  readonly rateLimitScale: number;
  readonly loaders: Loaders;
}

/** Where a request reads. */
export interface ReadSource {
  readonly db: Database;
  /** What is read for many requests at once; without it, each reads for itself. */
  readonly reads?: SharedAggregateReads;
}

/** A replica of the database, which may be a moment behind: no change is made by what is read there. */
export interface ReplicaSources {
  readonly ofAnalysts: ReadSource;
  readonly ofThePublic: ReadSource;
}

/** What a process has once, whoever asks. */
export interface GraphServices extends ReadSource {
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly rateLimitScale: number;
  readonly keyring: Keyring;
  /** Without it everything is read in the shop's own database. */
  readonly replica?: ReplicaSources | undefined;
  /** What buyers search for, counted; without it nothing is. */
  readonly searchCounts?: SearchCounts;
  /** What reports are read by. */
  readonly readOnly: ReadOnly;
  /** What subscriptions follow; without it there are none. */
  readonly watch?: Watch;
  /** Runs a change once for its idempotency key. */
  readonly doOnce: DoOnce;
  /** Renders what an event is about. */
  readonly render: RenderSubject;
  /** Notifications inside this process. */
  readonly events: ServiceEvents;
  /** Where the names of endpoints lead to, asked before a transaction begins. */
  readonly resolvedNames: ResolvedNames;
  /** Merchants in test mode may have receivers on this machine. */
  readonly isLoopbackAllowed: boolean;
}

export interface CallerDetails {
  readonly viewer?: Viewer;
  readonly requestId: string;
  readonly languages?: readonly string[];
  readonly buyerReference?: string | null;
  readonly client?: string;
  readonly operationId?: string | null;
  /** Where what it asks is read, if not in the shop's own database. */
  readonly source?: ReadSource | undefined;
  readonly once?: OnceRequest<ExecutionResult> | null;
  readonly onOnce?: GraphContext["onOnce"];
}

export function createContext(
  services: GraphServices,
  caller: CallerDetails,
  transaction?: Transaction,
): GraphContext {
  const source = caller.source ?? services;
  const db = transaction ?? source.db;
  return {
    viewer: caller.viewer ?? anonymousViewer,
    requestId: caller.requestId,
    languages: caller.languages ?? [],
    buyerReference: caller.buyerReference ?? null,
    client: caller.client ?? "",
    operationId: caller.operationId ?? null,
    prepared: undefined,
    once: caller.once ?? null,
    onOnce: caller.onOnce,
    db,
    services,
    clock: services.clock,
    publicUrl: services.publicUrl,
    rateLimitScale: services.rateLimitScale,
    loaders: createLoaders({
      db,
      clock: services.clock,
      reads: transaction === undefined ? source.reads : undefined,
    }),
  };
}

/** The same caller's context inside a transaction: every resolver and loader uses the transaction's handle. */
export function contextInTransaction<Context extends GraphContext>(
  context: Context,
  transaction: Transaction,
): Context {
  return {
    ...context,
    db: transaction,
    loaders: createLoaders({ db: transaction, clock: context.clock, reads: undefined }),
  };
}

/**
 * The callers that a field names. Anonymous callers and integrators come over REST, the roles are those of
 * internal tokens; `system` renders events, and `buyer` is on the page of one checkout session.
 */
export type CallerKind = "anonymous" | "api_key" | "oauth" | "system" | "buyer" | InternalRole;

type WithViewer = Pick<GraphContext, "viewer">;

export function getCallerKind(viewer: Viewer): CallerKind {
  return viewer.kind === "internal" ? viewer.role : viewer.kind;
}

/** The scopes of `@pothos/plugin-scope-auth`: a field names the kinds of callers that it is open to. */
export const authScopes = ({
  viewer,
}: WithViewer): { readonly callers: (callers: readonly CallerKind[]) => boolean } => ({
  callers: (callers) => callers.includes(getCallerKind(viewer)),
});

/** Callers that run a merchant: they may read and change everything of it. */
export const staffCallers: readonly CallerKind[] = ["admin", "operator"];
/** Callers that read everything of a merchant; analysts do so without personal data. */
export const merchantReaders: readonly CallerKind[] = ["admin", "operator", "analyst"];
/** The platform's operators alone. */
export const platformOperators: readonly CallerKind[] = ["operator"];
/** Apps that a merchant has installed, with either kind of credential. */
export const integratorCallers: readonly CallerKind[] = ["api_key", "oauth"];
/** Apps for their own installation, and staff. */
export const integratorsAndStaff: readonly CallerKind[] = [...integratorCallers, ...staffCallers];
/** Internal frontends: a storefront, for the buyer that X-Buyer-Reference names, and staff. */
export const frontendCallers: readonly CallerKind[] = ["storefront", ...staffCallers];
/** Frontends, and the page of the checkout session itself. */
export const checkoutPagesAndFrontends: readonly CallerKind[] = ["buyer", ...frontendCallers];
/** Everybody who may change a cart. */
export const cartCallers: readonly CallerKind[] = [...integratorCallers, ...frontendCallers];
export const allCallers: readonly CallerKind[] = [
  "anonymous",
  ...integratorCallers,
  "storefront",
  "admin",
  "analyst",
  "operator",
];

/** The merchant that a credential is bound to; null if it is one of the platform. */
export function getCallerMerchantId({ viewer }: GraphContext): string | null {
  if (viewer.kind === "anonymous") throw fail("role_not_allowed");
  return viewer.merchantId;
}

/**
 * The merchant whose rows a list shows: the token's own, or the one that a token of the platform names; null:
 * all.
 */
export function getListMerchantId(
  context: GraphContext,
  merchantId: string | null | undefined,
): string | null {
  return getCallerMerchantId(context) === null && (merchantId === null || merchantId === undefined)
    ? null
    : requireMerchantId(context, merchantId);
}

/** The merchant that a mutation acts on: the token's own, or the one that a token of the platform names. */
export function requireMerchantId(context: GraphContext, merchantId: string | null | undefined): string {
  const owner = getCallerMerchantId(context);
  if (owner === null && (merchantId === null || merchantId === undefined)) {
    throw failAt("missing_field", {
      in: "body",
      field: "/merchantId",
      code: "required",
      message: "merchantId is required with a token of the platform.",
    });
  }
  if (owner !== null && merchantId !== null && merchantId !== undefined && merchantId !== owner)
    throw fail("merchant_not_found");
  return owner ?? merchantId ?? "";
}

/** The page of a session may only see and change this session. */
export const mayAccessSession = (sessionId: string, { viewer }: WithViewer): boolean =>
  viewer.kind !== "buyer" || viewer.sessionId === sessionId;

/** The id of the caller's internal token or of the staff account at the console; null: another credential. */
export const getInternalCredentialId = ({ viewer }: WithViewer): string | null =>
  viewer.kind === "internal" ? credentialIdOf(viewer) : null;

/** The actor of an order's timeline. */
export function getOrderActor({ viewer }: WithViewer): OrderActor {
  const caller = getCallerKind(viewer);
  if (caller === "storefront" || caller === "buyer") return "buyer";
  return caller === "system" ? "system" : "merchant";
}

/** Hides from analysts what identifies a buyer, and free text, which may name people. */
export function hideFromAnalysts<Value>(value: Value, { viewer }: WithViewer): Value | null {
  return getCallerKind(viewer) === "analyst" ? null : value;
}

/** A frontend may name the buyer in a URL, so analysts see it without its query and fragment. */
export function hideQueryFromAnalysts(address: string, { viewer }: WithViewer): string {
  return getCallerKind(viewer) === "analyst" ? address.replace(/[?#].*$/s, "") : address;
}
