/**
 * Sends one payment operation to the provider. A repeated authorization and a void of an abandoned payment
 * look the payment up first, because an earlier answer may be lost. After an error, a timeout or `pending`
 * the outcome is not known yet, and the operation is tried again. An authorization times out after 15
 * minutes, the void of an abandoned payment after 24 hours if the provider still reports `pending`. Other
 * operations are tried until the provider reports an outcome.
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
import { getPaymentTokenSealContext } from "./payment-rows.ts";

/**
 * The final outcome of a payment operation. `timed_out`: the provider reported no outcome in time, and the
 * operation is not tried again.
 */
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
  /** Milliseconds until a request to the provider is aborted; 10,000 if left out. */
  readonly answerMsMax?: number | undefined;
}

/**
 * Milliseconds from the creation of an authorization until it times out. The buyer's checkout session waits
 * for the authorization until then.
 */
export const authorizationTimeoutMs = 15 * 60_000;
/** Milliseconds from the creation of an abandoned payment's void until the void times out. */
export const abandonedPaymentTimeoutMs = 24 * 3_600_000;
const defaultAnswerMsMax = 10_000;

export interface PaymentExecutionResult {
  /** The final outcome of the payment operation; undefined if the outcome is not known yet. */
  readonly outcome: PaymentOperationOutcome | undefined;
  /** The error of the request to the provider; undefined if the provider answered. */
  readonly error?: unknown;
}

export async function executePaymentOperation(
  operation: ClaimedPaymentOperation,
  context: PaymentExecutionContext,
): Promise<PaymentExecutionResult> {
  const signal = AbortSignal.any([
    context.signal,
    AbortSignal.timeout(context.answerMsMax ?? defaultAnswerMsMax),
  ]);
  const hasTimedOut = context.now.getTime() - operation.createdAt.getTime() >= operationTimeoutMs(operation);
  const timedOut: PaymentOperationOutcome = { outcome: "timed_out" };
  try {
    const outcome = await rejectOnAbort(signal, () =>
      sendOperation(operation, { ...context, signal, hasTimedOut }),
    );
    if (outcome.outcome !== "pending") return { outcome };
    return { outcome: hasTimedOut ? timedOut : undefined };
  } catch (error) {
    // If the provider cannot be reached, only an authorization times out, because a buyer waits for the
    // authorization. The void that follows is then tried until the provider answers.
    const endsWithTimeout = hasTimedOut && operation.kind === "authorize" && !context.signal.aborted;
    return { outcome: endsWithTimeout ? timedOut : undefined, error };
  }
}

/**
 * Milliseconds from the operation's creation until it times out. Captures, refunds and voids of an order's
 * payment never time out, because they move money.
 */
function operationTimeoutMs({ kind, isAbandoned }: ClaimedPaymentOperation): number {
  if (kind === "authorize") return authorizationTimeoutMs;
  return isAbandoned ? abandonedPaymentTimeoutMs : Infinity;
}

/**
 * Runs the request to the provider and rejects as soon as the signal aborts, even if the request ignores the
 * signal.
 */
async function rejectOnAbort<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(new Error("The payment provider did not answer in time."));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

type TimedExecutionContext = PaymentExecutionContext & { readonly hasTimedOut: boolean };

function sendOperation(
  operation: ClaimedPaymentOperation,
  context: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | PaymentMovementResult> {
  const { provider, signal } = context;
  const { id, paymentId, kind, amountMinor } = operation;
  const request: ProviderRequest = { reference: paymentId, idempotencyKey: id, amountMinor, signal };
  if (kind === "authorize") return authorize(operation, request, context);
  if (kind === "void" && operation.isAbandoned) return voidAbandonedPayment(operation, request, context);
  return provider[kind](request);
}

/**
 * Looks the payment up before the authorization is repeated, because the first answer may be lost. After the
 * timeout an authorization that the provider does not know is no longer sent.
 */
async function authorize(
  operation: ClaimedPaymentOperation,
  request: ProviderRequest,
  { provider, keyring, hasTimedOut }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult> {
  if (operation.attempts > 1 || hasTimedOut) {
    const found = await provider.lookup(request);
    if (found.outcome === "voided") return { outcome: "declined", code: "voided" };
    if (found.outcome !== "unknown") return found;
    if (hasTimedOut) return { outcome: "pending" };
  }
  return provider.authorize({
    ...request,
    currency: operation.currency,
    token: decryptToken(operation, keyring),
  });
}

function decryptToken(
  { paymentId, tokenSealed, tokenDataKey, tokenKeyId }: ClaimedPaymentOperation,
  keyring: Keyring,
): string {
  if (tokenSealed === null || tokenDataKey === null || tokenKeyId === null)
    throw new Error(`Payment ${paymentId} cannot be authorized: its payment token is missing.`);
  return keyring
    .open(
      { sealed: tokenSealed, dataKey: tokenDataKey, keyId: tokenKeyId },
      getPaymentTokenSealContext(paymentId),
    )
    .toString("utf8");
}

/**
 * Voids the authorized amount of a payment whose checkout failed. The lookup after the void decides the
 * outcome, so a retry after a lost answer reaches the same outcome. Each attempt has its own idempotency key,
 * because the voided amount comes from the lookup and can differ between attempts. A repeated void is
 * harmless: the provider declines it if nothing is left to void.
 */
async function voidAbandonedPayment(
  { id, attempts }: ClaimedPaymentOperation,
  request: ProviderRequest,
  { provider, hasTimedOut }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | PaymentMovementResult> {
  const before = await provider.lookup(request);
  const amountMinor = before.outcome === "unknown" ? request.amountMinor : voidableMinor(before);
  if (amountMinor === 0) return abandonedPaymentResult(before, hasTimedOut);
  const answer = await provider.void({ ...request, idempotencyKey: `${id}:${attempts}`, amountMinor });
  const after = await provider.lookup(request);
  return after.outcome === "unknown" && answer.outcome === "succeeded"
    ? answer
    : abandonedPaymentResult(after, hasTimedOut);
}

function voidableMinor(found: PaymentLookupResult): number {
  return found.outcome === "authorized" ? found.amountMinor - found.capturedMinor - found.voidedMinor : 0;
}

/**
 * Returns the outcome of voiding an abandoned payment, from the state of the payment at the provider. If the
 * time for voiding is over, a captured amount is reported even if the rest of the payment could not be
 * voided, so that the captured amount is refunded.
 */
function abandonedPaymentResult(
  found: PaymentLookupResult,
  hasTimedOut: boolean,
): PaymentAuthorizationResult | PaymentMovementResult {
  if (found.outcome === "unknown") return { outcome: "pending" };
  if (found.outcome === "voided")
    return found.amountMinor === 0 ? { outcome: "succeeded" } : { ...found, outcome: "authorized" };
  if (found.outcome !== "authorized" || voidableMinor(found) === 0) return found;
  return hasTimedOut && found.capturedMinor > 0 ? found : { outcome: "pending" };
}
