/** What every resolver is given: who asks, the database, the time, and loaders that live as long as the request. */
import type { ServiceEvents } from "#foundation/events.ts";
import type { ExecutionResult } from "graphql";
import { anonymous, type Viewer } from "#access/viewer.ts";
import type { SearchCounts } from "#commerce/search/search-counts.ts";
import type { Database } from "#database/connect.ts";
import type { DoOnce, Once, OnceRequest } from "#database/idempotency.ts";
import type { ReadOnly } from "#database/read-only.ts";
import type { Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { ResolvedNames } from "#webhooks/endpoint-url.ts";
import type { RenderSubject } from "#webhooks/outbox.ts";
import type { Watch } from "#graph/live/watch.ts";
import { createLoaders, type Loaders, type Reads } from "./loaders.ts";

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
  /** The idempotency of a REST operation; null if it has none, and for GraphQL documents, which have their key in an argument. */
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
export interface Source {
  readonly db: Database;
  /** What is read for many requests at once; without it, each reads for itself. */
  readonly reads?: Reads;
}

/** A replica of the database, which may be a moment behind: no change is made by what is read there. */
export interface Replica {
  readonly ofAnalysts: Source;
  readonly ofThePublic: Source;
}

/** What a process has once, whoever asks. */
export interface GraphServices extends Source {
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly rateLimitScale: number;
  readonly keyring: Keyring;
  /** Without it everything is read in the shop's own database. */
  readonly replica?: Replica | undefined;
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
  readonly source?: Source | undefined;
  readonly once?: OnceRequest<ExecutionResult> | null;
  readonly onOnce?: GraphContext["onOnce"];
}

export function createContext(services: GraphServices, caller: CallerDetails, transaction?: Transaction): GraphContext {
  const source = caller.source ?? services;
  const db = transaction ?? source.db;
  return {
    viewer: caller.viewer ?? anonymous,
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
    loaders: createLoaders({ db, clock: services.clock, reads: transaction === undefined ? source.reads : undefined }),
  };
}

/** The same caller's context inside a transaction: every resolver and loader uses the transaction's handle. */
export function contextInTransaction<Context extends GraphContext>(context: Context, transaction: Transaction): Context {
  return { ...context, db: transaction, loaders: createLoaders({ db: transaction, clock: context.clock, reads: undefined }) };
}
