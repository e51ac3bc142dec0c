/**
 * Sends one payment operation to the payment provider. The answer to an earlier attempt may have been lost.
 * The provider is therefore asked for the state of the payment before an authorization is repeated or an
 * abandoned payment is voided. After an error, a timeout or the answer `pending`, the outcome is unknown and
 * the operation is repeated. An authorization times out after 15 minutes; if the buyer pays on a page of the
 * provider, after this page has expired. Voiding an abandoned payment times out after 24 hours if the
 * provider still answers `pending`. Other operations are repeated until the provider returns an outcome.
 */
import type { EncryptionKeyring } from "#foundation/encryption.ts";
import type { ClaimedPaymentOperation } from "./payment-operations.ts";
import type {
  PaymentProviderRequest,
  PaymentAuthorizationResult,
  DeclinedPaymentResult,
  PaymentLookupResult,
  AuthorizedPaymentResult,
  CaptureVoidOrRefundResult,
  PaymentPageContent,
  PaymentProvider,
  SucceededPaymentResult,
} from "./provider.ts";
import { getPaymentTokenEncryptionContext } from "./payment-rows.ts";
import { paymentProviderTraits } from "./provider-list.ts";

/**
 * The final outcome of a payment operation. `timed_out` means that the payment provider returned no outcome
 * in time; the operation is not repeated.
 */
export type PaymentOperationOutcome =
  | AuthorizedPaymentResult
  | DeclinedPaymentResult
  | SucceededPaymentResult
  | { readonly outcome: "timed_out" };

export interface PaymentOperationExecutionContext {
  readonly provider: PaymentProvider;
  readonly keyring: EncryptionKeyring;
  /** Loads the content of the payment page on which the buyer pays. */
  readonly loadPage: (operation: ClaimedPaymentOperation) => Promise<PaymentPageContent>;
  readonly now: Date;
  readonly signal: AbortSignal;
  /**
   * Maximum time of a request to the payment provider, in milliseconds; then the request is aborted. If left
   * out: 10,000.
   */
  readonly answerMsMax?: number | undefined;
}

/**
 * Returns the time from the creation of an authorization to its timeout, in milliseconds. The buyer's
 * checkout session waits for the authorization until then.
 */
export const getAuthorizationRequestTimeoutMs = ({
  provider,
}: Pick<ClaimedPaymentOperation, "provider">): number =>
  paymentProviderTraits[provider].authorizationTimeoutMs;
/** Maximum time for voiding an abandoned payment, in milliseconds from the creation of the void. */
export const abandonedPaymentTimeoutMs = 24 * 3_600_000;
const defaultAnswerMsMax = 10_000;

export interface PaymentOperationExecutionResult {
  /** The final outcome of the payment operation; undefined if the outcome is not known yet. */
  readonly outcome: PaymentOperationOutcome | undefined;
  /** The error with which the attempt failed; undefined if the provider reported an outcome, or `pending`. */
  readonly error?: unknown;
}

export async function executePaymentOperation(
  operation: ClaimedPaymentOperation,
  context: PaymentOperationExecutionContext,
): Promise<PaymentOperationExecutionResult> {
  const signal = AbortSignal.any([
    context.signal,
    AbortSignal.timeout(context.answerMsMax ?? defaultAnswerMsMax),
  ]);
  const hasTimedOut = context.now.getTime() - operation.createdAt.getTime() >= operationTimeoutMs(operation);
  const timedOut: PaymentOperationOutcome = { outcome: "timed_out" };
  try {
    const outcome = await raceAgainstAbortSignal(signal, () =>
      sendOperation(operation, { ...context, signal, hasTimedOut }),
    );
    if (outcome.outcome !== "pending") return { outcome };
    return { outcome: hasTimedOut ? timedOut : undefined };
  } catch (error) {
    // While the payment provider cannot be reached, only an authorization times out, because a buyer is
    // waiting for it. The payment is then voided; the void is repeated until the provider answers.
    const endsWithTimeout = hasTimedOut && operation.kind === "authorize" && !context.signal.aborted;
    return { outcome: endsWithTimeout ? timedOut : undefined, error };
  }
}

/**
 * Returns the time from the creation of a payment operation to its timeout, in milliseconds. Captures,
 * refunds and voids of an order's payment never time out, because they move money that is due.
 */
function operationTimeoutMs(operation: ClaimedPaymentOperation): number {
  if (operation.kind === "authorize") return getAuthorizationRequestTimeoutMs(operation);
  return operation.isAbandoned ? abandonedPaymentTimeoutMs : Infinity;
}

/**
 * Runs a request to the payment provider, and rejects as soon as the signal aborts, even if the request
 * ignores the signal.
 */
export async function raceAgainstAbortSignal<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
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

type TimedExecutionContext = PaymentOperationExecutionContext & { readonly hasTimedOut: boolean };

function sendOperation(
  operation: ClaimedPaymentOperation,
  context: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | CaptureVoidOrRefundResult> {
  const { provider, signal } = context;
  const { id, paymentId, connectionId, kind, amountMinor, currency } = operation;
  const request: PaymentProviderRequest = {
    connectionId,
    reference: paymentId,
    idempotencyKey: id,
    amountMinor,
    currency,
    signal,
  };
  if (kind === "authorize") return authorize(operation, request, context);
  if (kind === "void" && operation.isAbandoned) return voidAbandonedPayment(operation, request, context);
  return provider[kind](request);
}

/**
 * Authorizes a payment. From the second attempt on, first asks the payment provider for the state of the
 * payment, because the first answer may have been lost. After the timeout, no new authorization is sent.
 */
async function authorize(
  operation: ClaimedPaymentOperation,
  request: PaymentProviderRequest,
  { provider, keyring, loadPage, hasTimedOut }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult> {
  if (operation.attempts > 1 || hasTimedOut) {
    const found = await provider.lookup(request);
    if (found.outcome === "voided") return { outcome: "declined", code: "voided" };
    if (found.outcome !== "unknown") return found;
    if (hasTimedOut) return { outcome: "pending" };
  }
  return provider.authorize(
    paymentProviderTraits[operation.provider].hasPaymentPage
      ? { ...request, token: null, checkout: await loadPage(operation) }
      : { ...request, token: decryptToken(operation, keyring), checkout: null },
  );
}

function decryptToken(
  { paymentId, tokenSealed, tokenDataKey, tokenKeyId }: ClaimedPaymentOperation,
  keyring: EncryptionKeyring,
): string {
  if (tokenSealed === null || tokenDataKey === null || tokenKeyId === null)
    throw new Error(`Payment ${paymentId} cannot be authorized: its payment token is missing.`);
  return keyring
    .open(
      { sealed: tokenSealed, dataKey: tokenDataKey, keyId: tokenKeyId },
      getPaymentTokenEncryptionContext(paymentId),
    )
    .toString("utf8");
}

/**
 * Voids the authorized amount of a payment whose checkout failed. The state of the payment after the void
 * decides the outcome, so a retry after a lost answer has the same outcome. Each attempt has its own
 * idempotency key, because the amount to void can differ between attempts. Voiding twice does no harm,
 * because the payment provider declines a void if nothing is left to void. A void of a pending payment closes
 * the payment page, so that the buyer cannot pay any more.
 */
async function voidAbandonedPayment(
  { id, attempts, provider: providerName }: ClaimedPaymentOperation,
  request: PaymentProviderRequest,
  { provider, hasTimedOut }: TimedExecutionContext,
): Promise<PaymentAuthorizationResult | CaptureVoidOrRefundResult> {
  const before = await provider.lookup(request);
  const hasOpenPage = before.outcome === "pending" && paymentProviderTraits[providerName].hasPaymentPage;
  const isUndecided = before.outcome === "unknown" || hasOpenPage;
  const amountMinor = isUndecided ? request.amountMinor : voidableMinor(before);
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
 * Computes the outcome of voiding an abandoned payment from the state of the payment at the payment provider.
 * After the timeout, returns the captured amount even if the rest of the payment could not be voided. The
 * caller then refunds the captured amount.
 */
function abandonedPaymentResult(
  found: PaymentLookupResult,
  hasTimedOut: boolean,
): PaymentAuthorizationResult | CaptureVoidOrRefundResult {
  if (found.outcome === "unknown") return { outcome: "pending" };
  if (found.outcome === "voided")
    return found.amountMinor === 0 ? { outcome: "succeeded" } : { ...found, outcome: "authorized" };
  if (found.outcome !== "authorized" || voidableMinor(found) === 0) return found;
  return hasTimedOut && found.capturedMinor > 0 ? found : { outcome: "pending" };
}
