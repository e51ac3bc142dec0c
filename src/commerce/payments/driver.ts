/**
 * Does what is queued for the payment provider. The provider is asked between two transactions: one takes the
 * operation, one writes what came of it. A process that dies between them leaves a lease that ends, and the
 * next one asks what has happened.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Keyring } from "#foundation/encryption.ts";
import type { Log } from "#foundation/log.ts";
import { type SpanStart, runInSpan } from "#foundation/tracing.ts";
import {
  executePaymentOperation,
  authorizationTimeoutMs,
  type PaymentOperationOutcome,
} from "./execute-payment-operation.ts";
import {
  claimPaymentOperation,
  type ClaimedPaymentOperation,
  findNextPaymentDueAt,
  postponePaymentOperation,
} from "./payment-operations.ts";
import type { PaymentProvider } from "./provider.ts";

export interface PaymentDriverParts {
  readonly db: Database;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly provider: PaymentProvider;
  readonly log: Log;
  /** So many operations at once; each needs a connection now and then, and requests need them too. */
  readonly workersMax: number;
  /** So long an answer of the provider may take; without it, as long as usual. */
  readonly answerMsMax?: number;
  /**
   * Writes what is known for good, in a transaction of its own; an operation that was settled before stays as
   * it is.
   */
  readonly settle: (operation: ClaimedPaymentOperation, outcome: PaymentOperationOutcome) => Promise<void>;
}

const secondMs = 1_000;
const backoffMs = [secondMs, 2 * secondMs, 5 * secondMs, 15 * secondMs, 60 * secondMs];
const abandonedBackoffMs = [60 * secondMs, 120 * secondMs, 240 * secondMs, 480 * secondMs, 900 * secondMs];

/**
 * All that is due now, and what follows from it at once. Throws the first fault after everything else is
 * done.
 */
export async function runDuePaymentOperations(
  drive: PaymentDriverParts,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const faults: unknown[] = [];
  const crew = createOperationPool(drive, { signal, onFault: (fault) => void faults.push(fault) });
  crew.call();
  await crew.idle();
  if (faults.length > 0) throw faults[0];
}

export interface PaymentDriver {
  /** There is something to do. */
  readonly wake: () => void;
  readonly start: () => void;
  /** Waits a moment for what runs; what takes longer goes on where the next process finds it. */
  readonly stop: () => Promise<void>;
}

const pollMs = 2 * secondMs;
const defaultStopMsMax = 3 * secondMs;

export function createPaymentDriver(
  drive: PaymentDriverParts,
  { stopMsMax = defaultStopMsMax }: { readonly stopMsMax?: number } = {},
): PaymentDriver {
  const stopping = new AbortController();
  const { log } = drive;
  const onFault = (err: unknown): void => log.error({ err }, "A payment could not be driven.");
  const crew = createOperationPool(drive, { signal: stopping.signal, onFault });
  // Whoever woke this may be in a trace of its own.
  const inNobodysName = AsyncLocalStorage.snapshot();
  let state: "new" | "running" | "stopped" = "new";
  let poll: NodeJS.Timeout | undefined;
  let early: NodeJS.Timeout | undefined;
  const wake = (): void => {
    if (state === "running") crew.call();
  };
  /** What is due before the next poll is not kept waiting for it. */
  const planEarly = async (): Promise<void> => {
    const at = await findNextPaymentDueAt(drive.db).catch(() => null);
    const inMs = at === null ? pollMs : at.getTime() - drive.clock.now().getTime();
    clearTimeout(early);
    if (state === "running" && inMs > 0 && inMs < pollMs) early = setTimeout(wake, inMs);
  };
  return {
    wake: () => inNobodysName(wake),
    start: () => {
      state = "running";
      poll = setInterval(() => {
        wake();
        void planEarly();
      }, pollMs);
      wake();
    },
    stop: async () => {
      state = "stopped";
      clearInterval(poll);
      clearTimeout(early);
      crew.dismiss();
      const patience = setTimeout(() => stopping.abort(), stopMsMax);
      await crew.idle();
      clearTimeout(patience);
    },
  };
}

interface OperationPool {
  /** Has somebody look for work. */
  call(): void;
  /** Nobody begins anything new. */
  dismiss(): void;
  /** Until nobody works any more. */
  idle(): Promise<void>;
}

interface OperationPoolOptions {
  readonly signal: AbortSignal;
  readonly onFault: (fault: unknown) => void;
}

/**
 * So many at once. Who finds work calls another before it begins, so that one that takes long keeps nobody
 * waiting.
 */
function createOperationPool(
  drive: PaymentDriverParts,
  { signal, onFault }: OperationPoolOptions,
): OperationPool {
  const working = new Set<Promise<void>>();
  let isDismissed = false;
  let isCalled = false;
  const call = (): void => {
    if (isDismissed || signal.aborted) return;
    // Somebody who is done will look once more.
    isCalled = working.size >= drive.workersMax;
    if (isCalled) return;
    const look = lookForWork()
      .catch(onFault)
      .finally(() => {
        working.delete(look);
        if (isCalled) call();
      });
    working.add(look);
  };
  const lookForWork = async (): Promise<void> => {
    const operation = await claimPaymentOperation(drive.db, drive.clock.now());
    if (operation === undefined) return;
    call();
    // What follows for the same payment could not be taken before.
    await runInSpan(operationSpan(operation), () => processOperation(drive, operation, signal)).finally(
      () => (isCalled = true),
    );
  };
  return {
    call,
    dismiss: () => (isDismissed = true),
    idle: async () => {
      while (working.size > 0) await Promise.all(working);
    },
  };
}

/**
 * Settling it is a part of it, and the events that tell of it have it as their cause. Whoever asked for it
 * does not wait.
 */
function operationSpan({ id, paymentId, kind, attempts, traceparent }: ClaimedPaymentOperation): SpanStart {
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
  drive: PaymentDriverParts,
  operation: ClaimedPaymentOperation,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock, provider, keyring, log, answerMsMax, settle } = drive;
  const { outcome, error } = await runInSpan(
    { name: `provider ${operation.kind}`, kind: "client" },
    async (span) => {
      const answered = await executePaymentOperation(operation, {
        provider,
        keyring,
        signal,
        answerMsMax,
        now: clock.now(),
      });
      if (answered.error !== undefined) span?.fail(answered.error);
      span?.set({ "commerce.payment_operation.outcome": answered.outcome?.outcome ?? "unknown" });
      return answered;
    },
  );
  const { id: operationId, paymentId, kind, attempts } = operation;
  if (error !== undefined)
    log.warn({ err: error, operationId, paymentId, kind, attempts }, "The payment provider gave no answer.");
  // Whoever is started next goes on with what this process was not left the time for.
  if (outcome === undefined)
    await postponePaymentOperation(db, {
      id: operationId,
      dueAt: signal.aborted ? clock.now() : nextAttemptAt(operation, clock.now()),
    });
  else await settle(operation, outcome);
}

/** An authorisation is settled one way or the other on time. */
function nextAttemptAt({ kind, isAbandoned, attempts, createdAt }: ClaimedPaymentOperation, now: Date): Date {
  const steps = isAbandoned ? abandonedBackoffMs : backoffMs;
  const at = now.getTime() + (steps[attempts - 1] ?? steps.at(-1) ?? secondMs);
  const end = createdAt.getTime() + authorizationTimeoutMs;
  return new Date(kind === "authorize" && end > now.getTime() ? Math.min(at, end) : at);
}
