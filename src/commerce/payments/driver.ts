/**
 * Runs the queued payment operations. The provider is called between two transactions: the first claims the
 * operation, the second saves its outcome. If a process stops between the two, the lease of the operation
 * expires, and another process claims the operation and looks the payment up.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import { type SpanOptions, runInSpan } from "#foundation/tracing.ts";
import {
  executePaymentOperation,
  authorizationTimeoutMs,
  type PaymentOperationOutcome,
} from "./execute-payment-operation.ts";
import {
  claimPaymentOperation,
  type ClaimedPaymentOperation,
  findNextPaymentOperationDueAt,
  postponePaymentOperation,
} from "./payment-operations.ts";
import type { PaymentProvider } from "./provider.ts";

export interface PaymentDriverOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly provider: PaymentProvider;
  readonly log: Log;
  /**
   * Maximum number of operations that run at the same time. Each operation needs a database connection for
   * short periods, and HTTP requests share these connections.
   */
  readonly workersMax: number;
  /** Milliseconds until a request to the provider is aborted; 10,000 if left out. */
  readonly answerMsMax?: number;
  /**
   * Saves the final outcome of a payment operation in a transaction of its own. Changes nothing if the
   * outcome was saved before.
   */
  readonly settle: (operation: ClaimedPaymentOperation, outcome: PaymentOperationOutcome) => Promise<void>;
}

const secondMs = 1_000;
const backoffMs = [secondMs, 2 * secondMs, 5 * secondMs, 15 * secondMs, 60 * secondMs];
const abandonedBackoffMs = [60 * secondMs, 120 * secondMs, 240 * secondMs, 480 * secondMs, 900 * secondMs];

/**
 * Runs all due operations and the operations that they make due immediately. Throws the first error after all
 * operations have ended.
 */
export async function runDuePaymentOperations(
  parts: PaymentDriverOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const errors: unknown[] = [];
  const pool = createOperationPool(parts, { signal, onError: (error) => void errors.push(error) });
  pool.startWorker();
  await pool.waitUntilIdle();
  if (errors.length > 0) throw errors[0];
}

export interface PaymentDriver {
  /** Looks for due operations now instead of at the next poll. */
  readonly wake: () => void;
  readonly start: () => void;
  /**
   * Waits up to 3 seconds (`stopMsMax`) for running operations, then aborts them. The next process continues
   * aborted operations.
   */
  readonly stop: () => Promise<void>;
}

const pollMs = 2 * secondMs;
const defaultStopMsMax = 3 * secondMs;

export function createPaymentDriver(
  parts: PaymentDriverOptions,
  { stopMsMax = defaultStopMsMax }: { readonly stopMsMax?: number } = {},
): PaymentDriver {
  const stopping = new AbortController();
  const { log } = parts;
  const onError = (err: unknown): void =>
    log.error({ err }, "A payment operation failed with an unexpected error.");
  const pool = createOperationPool(parts, { signal: stopping.signal, onError });
  // `wake` can be called inside a request that has its own trace. Payment operations run outside that trace.
  const runInDetachedContext = AsyncLocalStorage.snapshot();
  let state: "new" | "running" | "stopped" = "new";
  let poll: NodeJS.Timeout | undefined;
  let earlySearch: NodeJS.Timeout | undefined;
  const wake = (): void => {
    if (state === "running") pool.startWorker();
  };
  /** Schedules an extra search if a payment operation becomes due before the next poll. */
  const scheduleEarlySearch = async (): Promise<void> => {
    const at = await findNextPaymentOperationDueAt(parts.db).catch(() => null);
    const inMs = at === null ? pollMs : at.getTime() - parts.clock.now().getTime();
    clearTimeout(earlySearch);
    if (state === "running" && inMs > 0 && inMs < pollMs) earlySearch = setTimeout(wake, inMs);
  };
  return {
    wake: () => runInDetachedContext(wake),
    start: () => {
      state = "running";
      poll = setInterval(() => {
        wake();
        void scheduleEarlySearch();
      }, pollMs);
      wake();
    },
    stop: async () => {
      state = "stopped";
      clearInterval(poll);
      clearTimeout(earlySearch);
      pool.stopStarting();
      const abortTimer = setTimeout(() => stopping.abort(), stopMsMax);
      await pool.waitUntilIdle();
      clearTimeout(abortTimer);
    },
  };
}

interface OperationPool {
  /** Starts a worker that claims a due operation, unless `workersMax` workers are running. */
  startWorker(): void;
  /** Lets no further worker start. */
  stopStarting(): void;
  /** Resolves when no worker runs a payment operation any more. */
  waitUntilIdle(): Promise<void>;
}

interface OperationPoolOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
}

/**
 * Runs up to `workersMax` operations at the same time. A worker that has claimed an operation starts another
 * worker before it runs the operation, so a slow operation does not delay the others.
 */
function createOperationPool(
  parts: PaymentDriverOptions,
  { signal, onError }: OperationPoolOptions,
): OperationPool {
  const workers = new Set<Promise<void>>();
  let isStopped = false;
  let mustSearchAgain = false;
  const startWorker = (): void => {
    if (isStopped || signal.aborted) return;
    // If all workers are busy, the worker that finishes next searches for due operations again.
    mustSearchAgain = workers.size >= parts.workersMax;
    if (mustSearchAgain) return;
    const worker = runNextOperation()
      .catch(onError)
      .finally(() => {
        workers.delete(worker);
        if (mustSearchAgain) startWorker();
      });
    workers.add(worker);
  };
  const runNextOperation = async (): Promise<void> => {
    const operation = await claimPaymentOperation(parts.db, parts.clock.now());
    if (operation === undefined) return;
    startWorker();
    // The next operation of the same payment could not be claimed before this operation ended, so the worker
    // searches for due operations again.
    await runInSpan(operationSpan(operation), () => processOperation(parts, operation, signal)).finally(
      () => (mustSearchAgain = true),
    );
  };
  return {
    startWorker,
    stopStarting: () => (isStopped = true),
    waitUntilIdle: async () => {
      while (workers.size > 0) await Promise.all(workers);
    },
  };
}

/**
 * The span of one attempt. The attempt has its own trace, which links to the trace that queued the operation.
 * The span includes the settlement, so published events refer to this span as their cause.
 */
function operationSpan({ id, paymentId, kind, attempts, traceparent }: ClaimedPaymentOperation): SpanOptions {
  const attributes = {
    "commerce.payment.id": paymentId,
    "commerce.payment_operation.id": id,
    "commerce.payment_operation.attempt": attempts,
  };
  return {
    name: `payment ${kind}`,
    ownTrace: {},
    causes: traceparent === null ? [] : [traceparent],
    attributes,
  };
}

async function processOperation(
  parts: PaymentDriverOptions,
  operation: ClaimedPaymentOperation,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, provider, keyring, log, answerMsMax, settle } = parts;
  const { outcome, error } = await runInSpan(
    { name: `provider ${operation.kind}`, kind: "client" },
    async (span) => {
      const result = await executePaymentOperation(operation, {
        provider,
        keyring,
        signal,
        answerMsMax,
        now: clock.now(),
      });
      if (result.error !== undefined) span?.fail(result.error);
      span?.set({ "commerce.payment_operation.outcome": result.outcome?.outcome ?? "unknown" });
      return result;
    },
  );
  const { id: operationId, paymentId, kind, attempts } = operation;
  if (error !== undefined)
    log.warn({ err: error, operationId, paymentId, kind, attempts }, "The payment provider gave no answer.");
  // If this process stops and aborts an operation, the operation is due at once, so that another process
  // continues it.
  if (outcome === undefined)
    await postponePaymentOperation(db, {
      id: operationId,
      dueAt: signal.aborted ? clock.now() : nextAttemptAt(operation, clock.now()),
    });
  else await settle(operation, outcome);
}

/**
 * The time at which a payment operation is attempted again. The next attempt of an authorization is never
 * later than the authorization's timeout, so that the authorization times out punctually.
 */
function nextAttemptAt({ kind, isAbandoned, attempts, createdAt }: ClaimedPaymentOperation, now: Date): Date {
  const steps = isAbandoned ? abandonedBackoffMs : backoffMs;
  const at = now.getTime() + (steps[attempts - 1] ?? steps.at(-1) ?? secondMs);
  const end = createdAt.getTime() + authorizationTimeoutMs;
  return new Date(kind === "authorize" && end > now.getTime() ? Math.min(at, end) : at);
}
