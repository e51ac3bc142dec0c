/**
 * One operation put to the provider. What it did is learned by looking before it is asked again; an error,
 * silence and `pending` are all the same: not known yet. Patience ends: with what a buyer waits for after a
 * while, with anything else only when the provider itself cannot tell.
 */
import type { Keyring } from "#foundation/encryption.ts";
import type { ClaimedPaymentOperation } from "./payment-operations.ts";
import type {
  ProviderRequest,
  PaymentAuthorizationResult,
  DeclinedPaymentResult,
  PaymentLookupResult,
  AuthorizedPaymentResult,
  PaymentMovementResult,
  PaymentProvider,
} from "./provider.ts";
import { paymentTokenSealContext } from "./payment-rows.ts";

/** Known for good. `timed_out`: it is not known, and nobody waits for it any more. */
export type PaymentOperationOutcome =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | { readonly outcome: "succeeded" }
  | { readonly outcome: "timed_out" };

export interface PaymentExecutionContext {
  readonly provider: PaymentProvider;
  readonly keyring: Keyring;
  readonly now: Date;
  readonly signal: AbortSignal;
  /** So long an answer may take. */
  readonly answerMsMax?: number | undefined;
}

/** So long a buyer's session waits for the answer. */
export const authorizationTimeoutMs = 15 * 60_000;
/** So long a payment that nobody wants any more is looked after. */
export const abandonedPaymentTimeoutMs = 24 * 3_600_000;
const defaultAnswerMsMax = 10_000;

export interface PaymentExecutionResult {
  /** Undefined: not known yet. */
  readonly outcome: PaymentOperationOutcome | undefined;
  /** Why not, where that is more than that it is under way. */
  readonly error?: unknown;
}

export async function executePaymentOperation(
  operation: ClaimedPaymentOperation,
  asking: PaymentExecutionContext,
): Promise<PaymentExecutionResult> {
  const signal = AbortSignal.any([
    asking.signal,
    AbortSignal.timeout(asking.answerMsMax ?? defaultAnswerMsMax),
  ]);
  const isOver = asking.now.getTime() - operation.createdAt.getTime() >= operationTimeoutMs(operation);
  const timedOut: PaymentOperationOutcome = { outcome: "timed_out" };
  try {
    const outcome = await rejectOnAbort(signal, () =>
      sendOperation(operation, { ...asking, signal, isOver }),
    );
    if (outcome.outcome !== "pending") return { outcome };
    return { outcome: isOver ? timedOut : undefined };
  } catch (error) {
    // Only a buyer is not kept waiting for a provider that is out of reach: what became of that payment is
    // then asked for without end.
    const isGivenUp = isOver && operation.kind === "authorize" && !asking.signal.aborted;
    return { outcome: isGivenUp ? timedOut : undefined, error };
  }
}

/** What moves money that is ours, or gives it back, is asked until it is known. */
function operationTimeoutMs({ kind, isAbandoned }: ClaimedPaymentOperation): number {
  if (kind === "authorize") return authorizationTimeoutMs;
  return isAbandoned ? abandonedPaymentTimeoutMs : Infinity;
}

/** Also one that does not listen to its signal is not waited for. */
async function rejectOnAbort<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error("The provider has not answered."));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

type TimedExecutionContext = PaymentExecutionContext & { readonly isOver: boolean };

function sendOperation(
  operation: ClaimedPaymentOperation,
  asking: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | PaymentMovementResult> {
  const { provider, signal } = asking;
  const { id, paymentId, kind, amountMinor } = operation;
  const asked: ProviderRequest = { reference: paymentId, idempotencyKey: id, amountMinor, signal };
  if (kind === "authorize") return authorize(operation, asked, asking);
  if (kind === "void" && operation.isAbandoned) return voidAbandonedPayment(operation, asked, asking);
  return provider[kind](asked);
}

/**
 * One whose answer may have been lost is looked for first; what the provider has not heard of in time it is
 * not told any more.
 */
async function authorize(
  operation: ClaimedPaymentOperation,
  asked: ProviderRequest,
  { provider, keyring, isOver }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult> {
  if (operation.attempts > 1 || isOver) {
    const found = await provider.lookup(asked);
    if (found.outcome === "voided") return { outcome: "declined", code: "voided" };
    if (found.outcome !== "unknown") return found;
    if (isOver) return { outcome: "pending" };
  }
  return provider.authorize({
    ...asked,
    currency: operation.currency,
    token: decryptToken(operation, keyring),
  });
}

function decryptToken(
  { paymentId, tokenSealed, tokenDataKey, tokenKeyId }: ClaimedPaymentOperation,
  keyring: Keyring,
): string {
  if (tokenSealed === null || tokenDataKey === null || tokenKeyId === null)
    throw new Error(`Payment ${paymentId} has no token to be paid with.`);
  return keyring
    .open(
      { sealed: tokenSealed, dataKey: tokenDataKey, keyId: tokenKeyId },
      paymentTokenSealContext(paymentId),
    )
    .toString("utf8");
}

/**
 * What was set aside is let go. What is there afterwards decides, so that one who comes after a lost answer
 * finds the same. What is let go is what was seen, so each attempt has a key of its own; at worst there is
 * nothing left of it.
 */
async function voidAbandonedPayment(
  { id, attempts }: ClaimedPaymentOperation,
  asked: ProviderRequest,
  { provider, isOver }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | PaymentMovementResult> {
  const before = await provider.lookup(asked);
  const amountMinor = before.outcome === "unknown" ? asked.amountMinor : voidableMinor(before);
  if (amountMinor === 0) return abandonedPaymentResult(before, isOver);
  const answer = await provider.void({ ...asked, idempotencyKey: `${id}:${attempts}`, amountMinor });
  const after = await provider.lookup(asked);
  return after.outcome === "unknown" && answer.outcome === "succeeded"
    ? answer
    : abandonedPaymentResult(after, isOver);
}

function voidableMinor(found: PaymentLookupResult): number {
  return found.outcome === "authorized" ? found.amountMinor - found.capturedMinor - found.voidedMinor : 0;
}

/** Money that was taken meanwhile is told of, even where the rest of it cannot be let go. */
function abandonedPaymentResult(
  found: PaymentLookupResult,
  isOver: boolean,
): PaymentAuthorizationResult | PaymentMovementResult {
  if (found.outcome === "unknown") return { outcome: "pending" };
  if (found.outcome === "voided")
    return found.amountMinor === 0 ? { outcome: "succeeded" } : { ...found, outcome: "authorized" };
  if (found.outcome !== "authorized" || voidableMinor(found) === 0) return found;
  return isOver && found.capturedMinor > 0 ? found : { outcome: "pending" };
}
