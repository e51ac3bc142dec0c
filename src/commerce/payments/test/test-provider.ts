/**
 * The built-in payment provider for tests and demos. The payment token decides the result of an
 * authorization. Like an external provider, the test provider stores payments in its own tables, uses its own
 * transactions, and returns the first result again for a repeated idempotency key. It never reads other
 * tables of this service.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type {
  PaymentAmountsAtProvider,
  PaymentProviderRequest,
  PaymentAuthorizationResult,
  PaymentProviderAuthorizationRequest,
  PaymentLookupResult,
  AuthorizedPaymentResult,
  CaptureVoidOrRefundResult,
  PaymentProvider,
} from "#commerce/payments/provider.ts";
import {
  decideTestProviderCapture,
  decideTestProviderRefund,
  decideTestProviderVoid,
  type TestPaymentProviderDecision,
  type TestProviderPaymentRow,
} from "./test-provider-decisions.ts";
import { challengeMs, isCardTokenRequiringChallenge } from "./test-challenge.ts";

export interface TestPaymentProviderOptions {
  readonly db: Database;
  readonly clock: Clock;
  /** Waits before an authorization with the token `tok_slow` is answered. Tests replace this function. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Time by which the answer to an authorization with the token `tok_slow` is delayed, in milliseconds. */
export const slowAnswerMs = 3_000;
/**
 * Time after which a payment with the token `tok_late_success` changes from pending to captured, in
 * milliseconds.
 */
export const lateSuccessMs = 20 * 60_000;

const declineCodes: Readonly<Record<string, string>> = {
  tok_decline: "card_declined",
  tok_decline_insufficient_funds: "insufficient_funds",
  tok_decline_expired_card: "expired_card",
  tok_decline_incorrect_cvc: "incorrect_cvc",
  tok_challenge: "authentication_failed",
  tok_challenge_decline: "card_declined",
};

/**
 * The payment tokens that the test provider stores as they are. Any other token is stored as `unknown`,
 * because a caller may have sent a real card number.
 */
const knownTokens: ReadonlySet<string> = new Set([
  "tok_success",
  "tok_slow",
  "tok_late_success",
  ...Object.keys(declineCodes),
]);
const storedToken = (token: string): string => (knownTokens.has(token) ? token : "unknown");

type EntryKind = "authorize" | "capture" | "void" | "refund";

export function createTestPaymentProvider({
  db,
  clock,
  wait = waitFor,
}: TestPaymentProviderOptions): PaymentProvider {
  const movement =
    (
      kind: Exclude<EntryKind, "authorize">,
      decide: (
        payment: TestProviderPaymentRow,
        request: PaymentProviderRequest,
      ) => TestPaymentProviderDecision,
    ) =>
    async (request: PaymentProviderRequest) =>
      runInTransaction(db, (transaction) =>
        applyMovement(transaction, { kind, request, now: clock.now(), decide }),
      );
  return {
    authorize: async (request) => {
      const answer = await runInTransaction(db, (transaction) =>
        authorizeOnce(transaction, request, clock.now()),
      );
      if (request.token === "tok_slow") await wait(slowAnswerMs, request.signal);
      return answer;
    },
    capture: movement("capture", decideTestProviderCapture),
    refund: movement("refund", decideTestProviderRefund),
    void: async (request) =>
      runInTransaction(db, (transaction) => voidOnce(transaction, request, clock.now())),
    lookup: async ({ reference }) => {
      const payment = await db
        .selectFrom("testProviderPayment")
        .selectAll()
        .where("reference", "=", reference)
        .executeTakeFirst();
      return payment === undefined
        ? { outcome: "unknown" }
        : lookupResult(applyLateDecision(payment, clock.now()), clock.now());
    },
  };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

async function authorizeOnce(
  transaction: Transaction,
  request: PaymentProviderAuthorizationRequest,
  now: Date,
): Promise<PaymentAuthorizationResult> {
  const { reference, currency, amountMinor } = request;
  const token = request.token ?? "unknown";
  const inserted = await transaction
    .insertInto("testProviderPayment")
    .values({
      reference,
      token: storedToken(token),
      currency,
      amountMinor,
      createdAt: now,
      ...initialStatus(token, now),
    })
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .returning("reference")
    .executeTakeFirst();
  const payment = applyLateDecision(await lockExistingPayment(transaction, reference), now);
  const before = await findRecordedOutcome(transaction, request);
  if (before !== undefined) return authorizationResult(before, payment);
  const outcome = inserted === undefined ? "declined:reference_used" : entryOutcome(payment, now);
  await insertEntry(transaction, { kind: "authorize", request, outcome, now });
  return authorizationResult(outcome, payment);
}

function initialStatus(token: string, now: Date): Pick<TestProviderPaymentRow, "status" | "decidedAt"> {
  if (token === "tok_late_success")
    return { status: "pending", decidedAt: new Date(now.getTime() + lateSuccessMs) };
  if (isCardTokenRequiringChallenge(token))
    return { status: "pending", decidedAt: new Date(now.getTime() + challengeMs) };
  const isAuthorized = token === "tok_success" || token === "tok_slow";
  return { status: isAuthorized ? "authorized" : "declined", decidedAt: now };
}

function entryOutcome(payment: TestProviderPaymentRow, now: Date): string {
  const found = lookupResult(payment, now);
  return found.outcome === "declined" ? `declined:${found.code}` : found.outcome;
}

function authorizationResult(outcome: string, payment: TestProviderPaymentRow): PaymentAuthorizationResult {
  if (outcome === "authorized") return authorizedResult(payment);
  return outcome === "pending"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/**
 * Sets the final status of a pending payment whose waiting time is over. A payment that waited for the buyer
 * to answer a challenge is declined. Any other payment is authorized and captured, like a bank transfer that
 * arrives late.
 */
function applyLateDecision(payment: TestProviderPaymentRow, now: Date): TestProviderPaymentRow {
  if (payment.status !== "pending" || payment.decidedAt > now) return payment;
  if (isCardTokenRequiringChallenge(payment.token)) return { ...payment, status: "declined" };
  return { ...payment, status: "authorized", capturedMinor: payment.amountMinor };
}

function lookupResult(payment: TestProviderPaymentRow, now: Date): PaymentLookupResult {
  if (payment.status === "pending" && payment.decidedAt > now) return { outcome: "pending" };
  if (payment.status === "declined")
    return { outcome: "declined", code: declineCodes[payment.token] ?? "token_unknown" };
  return payment.status === "voided"
    ? { outcome: "voided", ...paymentAmounts(payment) }
    : authorizedResult(payment);
}

function authorizedResult(payment: TestProviderPaymentRow): AuthorizedPaymentResult {
  return { outcome: "authorized", ...paymentAmounts(payment) };
}

function paymentAmounts({
  amountMinor,
  capturedMinor,
  voidedMinor,
  refundedMinor,
}: TestProviderPaymentRow): PaymentAmountsAtProvider {
  return { amountMinor, capturedMinor, voidedMinor, refundedMinor };
}

/**
 * Voids the requested amount of a payment. If the payment is unknown, inserts a voided payment with the
 * amount 0, so that a later authorization is declined. A payment that is still pending cannot be voided; the
 * result is then `pending`.
 */
async function voidOnce(
  transaction: Transaction,
  request: PaymentProviderRequest,
  now: Date,
): Promise<CaptureVoidOrRefundResult> {
  const { reference } = request;
  const tombstone = {
    token: "",
    currency: "",
    status: "voided",
    amountMinor: 0,
    decidedAt: now,
    createdAt: now,
  } as const;
  const inserted = await transaction
    .insertInto("testProviderPayment")
    .values({ reference, ...tombstone })
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .returning("reference")
    .executeTakeFirst();
  if (inserted !== undefined) {
    await insertEntry(transaction, { kind: "void", request, outcome: "succeeded", now });
    return { outcome: "succeeded" };
  }
  const payment = await lockExistingPayment(transaction, reference);
  if (payment.status === "pending" && payment.decidedAt > now) return { outcome: "pending" };
  return applyMovement(transaction, { kind: "void", request, now, decide: decideTestProviderVoid });
}

interface MovementCommand {
  readonly kind: Exclude<EntryKind, "authorize">;
  readonly request: PaymentProviderRequest;
  readonly now: Date;
  readonly decide: (
    payment: TestProviderPaymentRow,
    request: PaymentProviderRequest,
  ) => TestPaymentProviderDecision;
}

async function applyMovement(
  transaction: Transaction,
  { kind, request, now, decide }: MovementCommand,
): Promise<CaptureVoidOrRefundResult> {
  const stored = await findAndLockPayment(transaction, request.reference);
  if (stored === undefined) return { outcome: "declined", code: "payment_unknown" };
  const before = await findRecordedOutcome(transaction, request);
  if (before !== undefined) return movementResult(before);
  const payment = applyLateDecision(stored, now);
  const decision = decide(payment, request);
  const outcome = typeof decision === "string" ? `declined:${decision}` : "succeeded";
  if (typeof decision !== "string") {
    const { status, capturedMinor } = payment;
    await transaction
      .updateTable("testProviderPayment")
      .set({ status, capturedMinor, ...decision })
      .where("reference", "=", request.reference)
      .execute();
  }
  await insertEntry(transaction, { kind, request, outcome, now });
  return movementResult(outcome);
}

function movementResult(outcome: string): CaptureVoidOrRefundResult {
  return outcome === "succeeded"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/** Locks the test provider's row of a payment, so that requests for this payment run one after the other. */
function findAndLockPayment(
  transaction: Transaction,
  reference: string,
): Promise<TestProviderPaymentRow | undefined> {
  return transaction
    .selectFrom("testProviderPayment")
    .selectAll()
    .where("reference", "=", reference)
    .forUpdate()
    .executeTakeFirst();
}

async function lockExistingPayment(
  transaction: Transaction,
  reference: string,
): Promise<TestProviderPaymentRow> {
  const payment = await findAndLockPayment(transaction, reference);
  if (payment === undefined)
    throw new Error(
      `The test provider has no row for payment ${reference}, although it was inserted or found before.`,
    );
  return payment;
}

async function findRecordedOutcome(
  transaction: Transaction,
  { idempotencyKey }: PaymentProviderRequest,
): Promise<string | undefined> {
  const entry = await transaction
    .selectFrom("testProviderEntry")
    .select("outcome")
    .where("idempotencyKey", "=", idempotencyKey)
    .executeTakeFirst();
  return entry?.outcome;
}

interface NewEntry {
  readonly kind: EntryKind;
  readonly request: PaymentProviderRequest;
  readonly outcome: string;
  readonly now: Date;
}

async function insertEntry(
  transaction: Transaction,
  { kind, request, outcome, now }: NewEntry,
): Promise<void> {
  const { idempotencyKey, reference, amountMinor } = request;
  await transaction
    .insertInto("testProviderEntry")
    .values({ idempotencyKey, reference, kind, amountMinor, outcome, createdAt: now })
    .execute();
}
