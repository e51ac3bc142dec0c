/**
 * The context that every resolver receives: the caller, the database, the clock, the services of the process,
 * and loaders that cache rows for one request.
 */
import type { ExecutionResult } from "graphql";
import type { TrustedDocumentChecker } from "#access/trusted-documents.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";
import {
  anonymousViewer,
  getCredentialIdOfViewer,
  type InternalTokenRole,
  type Viewer,
} from "#access/viewer.ts";
import type { SearchQueryCounter } from "#commerce/search/search-counts.ts";
import type { Database } from "#database/connect.ts";
import type {
  IdempotentRequestRunner,
  IdempotentRequestResult,
  IdempotentRequest,
} from "#database/idempotency.ts";
import type { ReportQueryRunner } from "#database/read-only.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { EndpointHostNameChecker } from "#webhooks/endpoint-url.ts";
import type { EventSubjectRenderer } from "#webhooks/outbox.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { createFailure, createFailureWithDetail } from "#foundation/failure.ts";
import type { GraphqlCostCharger } from "./limits.ts";
import type { SubscriptionPollers } from "./live/watch.ts";
import type { KeptGraphqlResults } from "./kept-result-memory.ts";
import { createGraphqlDataLoaders, type GraphqlDataLoaders } from "./loaders.ts";
import type { CartOrderAndProductReadCoalescers } from "./shared-aggregate-reads.ts";

/** The context object of one GraphQL execution, which every resolver receives. */
export interface GraphqlContext {
  readonly viewer: Viewer;
  readonly requestId: string;
  /** The languages that the caller prefers, best first. */
  readonly languages: readonly string[];
  /**
   * The id that the frontend has given to the buyer, from the buyer session or the header X-Buyer-Reference.
   * Null if the request has neither, or if the buyer session is that of a guest.
   */
  readonly buyerReference: string | null;
  /**
   * The id of the caller's buyer session; null if the caller has none. With a buyer session, the caller can
   * act only for the buyer of this session.
   */
  readonly buyerSessionId: string | null;
  /**
   * The key of the caller's network address, by which rate limits and search counts distinguish callers.
   * Empty if this service itself started the execution.
   */
  readonly client: string;
  /** The id of the REST operation that runs; null if the request is a GraphQL document of a client. */
  readonly operationId: string | null;
  /**
   * True if the response is a report as a CSV file. Such a report may have longer lists and has no cost
   * limit.
   */
  readonly isReportFile: boolean;
  /**
   * The value that the mutation's `prepare` function returned before the transaction began; undefined if the
   * mutation has no such function.
   */
  readonly prepared: unknown;
  /**
   * The idempotency key of a REST operation, and the function that returns the answer to store for the key.
   * Null without a key, and for GraphQL documents, which have the key as an argument.
   */
  readonly once: IdempotentRequest<ExecutionResult> | null;
  /**
   * The callback that receives the answer to a request with an idempotency key. The answer is the stored one
   * if the request is a retry.
   */
  readonly onOnce: ((answer: IdempotentRequestResult) => void) | undefined;
  /**
   * The function that subtracts the document's cost in points from the caller's quotas. Undefined if the
   * caller has no such quota, for example over REST.
   */
  readonly spendCost: GraphqlCostCharger | undefined;
  /**
   * The callbacks that the response cache calls whenever it answers a later request with this execution's
   * result, for example to count a search. Undefined if the result is not cached.
   */
  readonly reuseCallbacks: ((client: string) => void)[] | undefined;
  /**
   * The database handle of all resolvers: the request's transaction if one is open, otherwise the database
   * without a transaction.
   */
  readonly db: Database;
  readonly services: GraphqlServices;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** Factor by which rate limit quotas are multiplied; 0 turns rate limits off. */
  readonly rateLimitScale: number;
  /** The data loaders, which batch and cache the reads of this request. */
  readonly loaders: GraphqlDataLoaders;
}

/**
 * The primary database or a replica from which requests read. Optionally also has the object that combines
 * the reads of concurrent requests.
 */
export interface DatabaseReadSource {
  readonly db: Database;
  /**
   * Loads carts, orders and public products for several concurrent requests at once, with one SQL statement
   * for each of these three types. If left out, each request loads its own rows.
   */
  readonly reads?: CartOrderAndProductReadCoalescers;
}

/**
 * A read-only replica of the database. Changes never rely on rows of the replica, because it may lag behind
 * the primary database.
 */
export interface ReplicaReadSources {
  /** The connections to the replica for queries and reports of analysts. */
  readonly forAnalysts: DatabaseReadSource;
  /** The connections to the replica for REST operations that need no credential. */
  readonly forPublicReads: DatabaseReadSource;
  /** Returns true if the replica lags so far behind that requests must read from the primary database. */
  readonly isBehind: () => boolean;
}

/** The services that a process creates once and that all its requests share. */
export interface GraphqlServices extends DatabaseReadSource {
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly rateLimitScale: number;
  readonly cartRetentionDays: number;
  readonly keyring: EncryptionKeyring;
  /** The read-only replica; if left out, all reads use the primary database. */
  readonly replica?: ReplicaReadSources | undefined;
  /** The results of queries that are kept in memory; if left out, each query is executed. */
  readonly keptResults?: KeptGraphqlResults | undefined;
  /** Counts the texts that buyers search for; if left out, searches are not counted. */
  readonly searchCounts?: SearchQueryCounter;
  /** Runs the SQL statements of reports in read-only transactions. */
  readonly readOnly: ReportQueryRunner;
  /**
   * Notifies GraphQL subscriptions of changes to the objects that they follow. If left out, subscriptions are
   * not available.
   */
  readonly watch?: SubscriptionPollers;
  /** Runs a change only once for each idempotency key. A retry with the same key gets the stored answer. */
  readonly doOnce: IdempotentRequestRunner;
  /** Renders the object of an event, for example the cart of `cart.updated`. */
  readonly render: EventSubjectRenderer;
  /** Emits events to listeners inside this process. */
  readonly events: InProcessEventEmitter;
  /**
   * Checks the GraphQL documents that a merchant registers as trusted documents; if left out, documents
   * cannot be registered.
   */
  readonly checkDocument?: TrustedDocumentChecker;
  /** Checks the IP addresses of the host names of webhook endpoints, before a transaction begins. */
  readonly resolvedNames: EndpointHostNameChecker;
  /** The base URL of Stripe's API. */
  readonly stripeApiBase: string;
  /** True if webhook endpoints of merchants in test mode may have a loopback address (of this machine). */
  readonly isLoopbackAllowed: boolean;
}

/** The caller and the request for which a GraphQL context is created. */
export interface GraphqlContextOptions {
  readonly viewer?: Viewer;
  readonly requestId: string;
  readonly languages?: readonly string[];
  readonly buyerReference?: string | null;
  readonly buyerSessionId?: string | null;
  readonly client?: string;
  readonly operationId?: string | null;
  readonly isReportFile?: boolean;
  /** The database from which the request reads; if left out, the primary database. */
  readonly source?: DatabaseReadSource | undefined;
  readonly once?: IdempotentRequest<ExecutionResult> | null;
  readonly onOnce?: GraphqlContext["onOnce"];
  readonly spendCost?: GraphqlContext["spendCost"];
  readonly reuseCallbacks?: GraphqlContext["reuseCallbacks"];
}

export function createGraphqlContext(
  services: GraphqlServices,
  caller: GraphqlContextOptions,
  transaction?: Transaction,
): GraphqlContext {
  const source = caller.source ?? services;
  const db = transaction ?? source.db;
  return {
    viewer: caller.viewer ?? anonymousViewer,
    requestId: caller.requestId,
    languages: caller.languages ?? [],
    buyerReference: caller.buyerReference ?? null,
    buyerSessionId: caller.buyerSessionId ?? null,
    client: caller.client ?? "",
    operationId: caller.operationId ?? null,
    isReportFile: caller.isReportFile ?? false,
    prepared: undefined,
    once: caller.once ?? null,
    onOnce: caller.onOnce,
    spendCost: caller.spendCost,
    reuseCallbacks: caller.reuseCallbacks,
    db,
    services,
    clock: services.clock,
    publicUrl: services.publicUrl,
    rateLimitScale: services.rateLimitScale,
    loaders: createGraphqlDataLoaders({
      db,
      clock: services.clock,
      reads: transaction === undefined ? source.reads : undefined,
    }),
  };
}

/**
 * Copies a request's context for its transaction. Resolvers and loaders of the copy read inside the
 * transaction, and do not reuse rows that the loaders have cached before.
 */
export function copyGraphqlContextForTransaction<Context extends GraphqlContext>(
  context: Context,
  transaction: Transaction,
): Context {
  return {
    ...context,
    db: transaction,
    loaders: createGraphqlDataLoaders({ db: transaction, clock: context.clock, reads: undefined }),
  };
}

/**
 * The kinds of callers by which fields restrict access. `anonymous`, `api_key` and `oauth` are callers of the
 * REST API. `buyer` is the browser on the page of one checkout session, and `system` is this service when it
 * renders events. The other kinds are the roles of internal tokens.
 */
export type CallerKind = "anonymous" | "api_key" | "oauth" | "system" | "buyer" | InternalTokenRole;

type WithViewer = Pick<GraphqlContext, "viewer">;

export function getCallerKindOfViewer(viewer: Viewer): CallerKind {
  return viewer.kind === "internal" ? viewer.role : viewer.kind;
}

/**
 * The access check for `@pothos/plugin-scope-auth`. Each GraphQL field lists the kinds of callers that may
 * read it.
 */
export const createGraphqlFieldAuthScopes = ({
  viewer,
}: WithViewer): { readonly callers: (callers: readonly CallerKind[]) => boolean } => ({
  callers: (callers) => callers.includes(getCallerKindOfViewer(viewer)),
});

/** The kinds of callers that may read and change all data of a merchant. */
export const staffCallers: readonly CallerKind[] = ["admin", "operator"];
/** The kinds of callers that may read all data of a merchant. Personal data is hidden from analysts. */
export const merchantReaders: readonly CallerKind[] = ["admin", "operator", "analyst"];
/** The kinds of callers that operate the whole platform, and not the shop of one merchant. */
export const platformOperators: readonly CallerKind[] = ["operator"];
/** The kinds of callers that are installed apps: with an API key or an OAuth access token. */
export const integratorCallers: readonly CallerKind[] = ["api_key", "oauth"];
/** The kinds of callers for apps (which may access only the data of their installation) and for staff. */
export const integratorsAndStaff: readonly CallerKind[] = [...integratorCallers, ...staffCallers];
/**
 * The kinds of callers for internal frontends: a storefront (which acts for the buyer that the header
 * X-Buyer-Reference names) and staff.
 */
export const frontendCallers: readonly CallerKind[] = ["storefront", ...staffCallers];
/** The kinds of callers that use a checkout session: internal frontends, and the buyer on the session's page. */
export const checkoutPagesAndFrontends: readonly CallerKind[] = ["buyer", ...frontendCallers];
/** The kinds of callers that may change a cart. */
export const cartCallers: readonly CallerKind[] = [...integratorCallers, ...frontendCallers];
/** All kinds of callers except `buyer` and `system`. */
export const allCallers: readonly CallerKind[] = [
  "anonymous",
  ...integratorCallers,
  "storefront",
  "browser",
  "admin",
  "analyst",
  "operator",
];

/**
 * Returns the id of the merchant that the caller's credential belongs to; null for a platform credential.
 * Throws `role_not_allowed` for anonymous callers.
 */
export function getCallerMerchantId({ viewer }: GraphqlContext): string | null {
  if (viewer.kind === "anonymous") throw createFailure("role_not_allowed");
  return viewer.merchantId;
}

/**
 * Returns the id of the merchant whose rows a list shows. This is the caller's merchant, or the merchant that
 * a platform caller names. Null if a platform caller names none: the list then has the rows of all
 * merchants.
 */
export function getMerchantIdForListQuery(
  context: GraphqlContext,
  merchantId: string | null | undefined,
): string | null {
  return getCallerMerchantId(context) === null && (merchantId === null || merchantId === undefined)
    ? null
    : resolveMerchantIdOfRequest(context, merchantId);
}

/**
 * Returns the id of the merchant of a request: the caller's merchant, or the merchant that a platform caller
 * names. Throws `missing_field` if a platform caller names none. Throws `merchant_not_found` if another
 * caller names a foreign merchant.
 */
export function resolveMerchantIdOfRequest(
  context: GraphqlContext,
  merchantId: string | null | undefined,
): string {
  const owner = getCallerMerchantId(context);
  if (owner === null && (merchantId === null || merchantId === undefined)) {
    throw createFailureWithDetail("missing_field", {
      in: "body",
      field: "/merchantId",
      code: "required",
      message: '"merchantId" is required with a platform token.',
    });
  }
  if (owner !== null && merchantId !== null && merchantId !== undefined && merchantId !== owner)
    throw createFailure("merchant_not_found");
  return owner ?? merchantId ?? "";
}

/**
 * Returns whether the caller may read and change a checkout session. The buyer on a hosted checkout page may
 * use only the session of that page.
 */
export const canAccessCheckoutSession = (sessionId: string, { viewer }: WithViewer): boolean =>
  viewer.kind !== "buyer" || viewer.sessionId === sessionId;

/**
 * Returns the id of the caller's internal token, or of the signed-in staff account; null for every other kind
 * of credential.
 */
export const getInternalTokenOrStaffId = ({ viewer }: WithViewer): string | null =>
  viewer.kind === "internal" ? getCredentialIdOfViewer(viewer) : null;

/** Returns the name of the caller's kind in the order timeline: buyer, merchant or system. */
export function getOrderActorOfCaller({ viewer }: WithViewer): OrderActor {
  const caller = getCallerKindOfViewer(viewer);
  if (caller === "storefront" || caller === "buyer") return "buyer";
  return caller === "system" ? "system" : "merchant";
}

/**
 * Returns the value, or null if the caller is an analyst. Used for data that identifies buyers and for free
 * text, which may name people.
 */
export function hideFromAnalysts<Value>(value: Value, { viewer }: WithViewer): Value | null {
  return getCallerKindOfViewer(viewer) === "analyst" ? null : value;
}

/** Removes query and fragment of a URL for analysts: a frontend may have written a buyer's data there. */
export function hideUrlQueryFromAnalysts(url: string, { viewer }: WithViewer): string {
  return getCallerKindOfViewer(viewer) === "analyst" ? url.replace(/[?#].*$/s, "") : url;
}
