/**
 * Runs the queued payment operations (requests to the payment provider). A first transaction takes a lease on
 * the operation for this process. Then the provider is called. A second transaction saves the outcome. If the
 * process stops in between, the lease ends after a time. Another process then takes a lease on the operation,
 * and asks the provider for the state of the payment.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "#database/connect.ts";
import { createDueWorkPoller } from "#database/due-work-poll.ts";
import type { Clock } from "#foundation/clock.ts";
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import { type SpanOptions, runInSpan } from "#foundation/tracing.ts";
import {
  executePaymentOperation,
  getAuthorizationRequestTimeoutMs,
  type PaymentOperationOutcome,
} from "./execute-payment-operation.ts";
import {
  claimDuePaymentOperation,
  type ClaimedPaymentOperation,
  findNextPaymentOperationDueAt,
  postponePaymentOperation,
} from "./payment-operations.ts";
import { loadPaymentPageContent } from "./page-content.ts";
import type { PaymentProvider } from "./provider.ts";

export interface PaymentOperationDriverOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: EncryptionKeyring;
  readonly provider: PaymentProvider;
  /** Base URL of this service, to which a payment page of the provider sends the buyer back. */
  readonly publicUrl: string;
  readonly log: Log;
  /**
   * Maximum number of payment operations that run at the same time. Each operation sometimes needs a database
   * connection, and HTTP requests use the same connections.
   */
  readonly workersMax: number;
  /**
   * Maximum time of a request to the payment provider, in milliseconds; then the request is aborted. If left
   * out: 10,000.
   */
  readonly answerMsMax?: number;
  /**
   * Returns true if database notices about new work reach this process. If they do not, the driver polls more
   * often. By default, the driver expects that they do.
   */
  readonly areNoticesReceived?: () => boolean;
  /**
   * Saves the final outcome of a payment operation in its own transaction. Does nothing if the outcome was
   * saved before.
   */
  readonly settle: (operation: ClaimedPaymentOperation, outcome: PaymentOperationOutcome) => Promise<void>;
}

const secondMs = 1_000;
const backoffMs = [secondMs, 2 * secondMs, 5 * secondMs, 15 * secondMs, 60 * secondMs];
const abandonedBackoffMs = [60 * secondMs, 120 * secondMs, 240 * secondMs, 480 * secondMs, 900 * secondMs];

/**
 * Runs all due payment operations, and the operations that these queue for immediate execution. After all
 * have ended, throws the first error that occurred.
 */
export async function runDuePaymentOperations(
  parts: PaymentOperationDriverOptions,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const errors: unknown[] = [];
  const pool = createOperationPool(parts, { signal, onError: (error) => void errors.push(error) });
  pool.startWorker();
  await pool.waitUntilIdle();
  if (errors.length > 0) throw errors[0];
}

export interface PaymentOperationDriver {
  /** Makes the driver look for due payment operations at once, without waiting for the next poll. */
  readonly wake: () => void;
  readonly start: () => void;
  /**
   * Stops the driver: waits up to `stopMsMax` (3 seconds by default) for running payment operations, then
   * aborts them. Another process, or this one after its restart, continues aborted operations.
   */
  readonly stop: () => Promise<void>;
}

const pollMs = 2 * secondMs;
const defaultStopMsMax = 3 * secondMs;

export function createPaymentOperationWorker(
  parts: PaymentOperationDriverOptions,
  { stopMsMax = defaultStopMsMax }: { readonly stopMsMax?: number } = {},
): PaymentOperationDriver {
  const stopping = new AbortController();
  const { log, areNoticesReceived = () => true } = parts;
  const onError = (err: unknown): void =>
    log.error({ err }, "A payment operation failed with an unexpected error.");
  const onReserved = (): void => poll.noteWork();
  const pool = createOperationPool(parts, { signal: stopping.signal, onError, onReserved });
  // The driver runs payment operations in the asynchronous context of its creation. `wake` can be called
  // during an HTTP request that is being traced; without this context, the operations would become part of
  // the trace of that request.
  const runInDetachedContext = AsyncLocalStorage.snapshot();
  let state: "new" | "running" | "stopped" = "new";
  const wake = (): void => {
    if (state === "running") pool.startWorker();
  };
  const search = async (): Promise<number | undefined> => {
    const at = await findNextPaymentOperationDueAt(parts.db).catch(onError);
    if (!at) return undefined;
    const inMs = at.getTime() - parts.clock.now().getTime();
    if (inMs > 0) return inMs;
    wake();
    return undefined;
  };
  const poll = createDueWorkPoller({ search, everyMs: pollMs, areNoticesReceived });
  return {
    wake: () => {
      poll.noteWork();
      runInDetachedContext(wake);
    },
    start: () => {
      state = "running";
      poll.start();
    },
    stop: async () => {
      state = "stopped";
      const stopped = poll.stop();
      pool.stopStarting();
      const abortTimer = setTimeout(() => stopping.abort(), stopMsMax);
      await Promise.all([stopped, pool.waitUntilIdle()]);
      clearTimeout(abortTimer);
    },
  };
}

interface OperationPool {
  /**
   * Starts a worker that takes a lease on a due payment operation and runs it, unless `workersMax` workers
   * are already running.
   */
  startWorker(): void;
  /** Prevents further workers from starting; running workers continue. */
  stopStarting(): void;
  /** Resolves when no worker is running a payment operation any more. */
  waitUntilIdle(): Promise<void>;
}

interface OperationPoolOptions {
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** Called when a worker has taken a lease on a payment operation. */
  readonly onReserved?: () => void;
}

/**
 * Runs up to `workersMax` payment operations at the same time. As soon as a worker has a lease on an
 * operation, it starts another worker, so that a slow operation does not delay other operations.
 */
function createOperationPool(
  parts: PaymentOperationDriverOptions,
  { signal, onError, onReserved }: OperationPoolOptions,
): OperationPool {
  const workers = new Set<Promise<void>>();
  let isStopped = false;
  let mustSearchAgain = false;
  const startWorker = (): void => {
    if (isStopped || signal.aborted) return;
    // Set if all workers are busy. The worker that finishes next then looks for due payment operations again.
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
    const operation = await claimDuePaymentOperation(parts.db, parts.clock.now());
    if (operation === undefined) return;
    onReserved?.();
    startWorker();
    // Operations of the same payment run one after the other. After an operation, the worker therefore looks
    // for due operations again.
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
 * Describes the tracing span of one attempt to run a payment operation. The span is the root of its own trace
 * and is linked to the trace that queued the operation. The outcome is saved within the span, so the
 * published events name this span as their cause.
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
  parts: PaymentOperationDriverOptions,
  operation: ClaimedPaymentOperation,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, provider, keyring, publicUrl, log, answerMsMax, settle } = parts;
  const { outcome, error } = await runInSpan(
    { name: `provider ${operation.kind}`, kind: "client" },
    async (span) => {
      const result = await executePaymentOperation(operation, {
        provider,
        keyring,
        loadPage: (page) => loadPaymentPageContent(db, page, { keyring, publicUrl }),
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
  // If this process has aborted the payment operation in order to stop, the operation becomes due at once, so
  // that another process can continue it.
  if (outcome === undefined)
    await postponePaymentOperation(db, {
      id: operationId,
      dueAt: signal.aborted ? clock.now() : nextAttemptAt(operation, clock.now()),
    });
  else await settle(operation, outcome);
}

/**
 * Returns the time of the next attempt of a payment operation. The next attempt of an authorization is no
 * later than its timeout, so that the timeout is noticed on time.
 */
function nextAttemptAt(operation: ClaimedPaymentOperation, now: Date): Date {
  const { kind, isAbandoned, attempts, createdAt } = operation;
  const steps = isAbandoned ? abandonedBackoffMs : backoffMs;
  const at = now.getTime() + (steps[attempts - 1] ?? steps.at(-1) ?? secondMs);
  const end = createdAt.getTime() + getAuthorizationRequestTimeoutMs(operation);
  return new Date(kind === "authorize" && end > now.getTime() ? Math.min(at, end) : at);
}
