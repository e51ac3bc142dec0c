/**
 * The built-in payment provider: the token decides how a payment goes. It keeps books of its own, in
 * transactions of its own, as a provider elsewhere would: what it was asked once it answers the same way
 * again, and it knows nothing of our tables.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Selectable } from "kysely";
import type { Database } from "#database/connect.ts";
import type { TestProviderPaymentTable } from "#database/tables.ts";
import { inTransaction, type Transaction } from "#database/transaction.ts";
import type { Clock } from "#foundation/clock.ts";
import type {
  ProviderPaymentAmounts,
  ProviderRequest,
  PaymentAuthorizationResult,
  ProviderAuthorizationRequest,
  PaymentLookupResult,
  AuthorizedPaymentResult,
  PaymentMovementResult,
  PaymentProvider,
} from "./provider.ts";

export interface TestProviderParts {
  readonly db: Database;
  readonly clock: Clock;
  /** How `tok_slow` waits. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

export const slowAnswerMs = 3_000;
export const lateSuccessMs = 20 * 60_000;

const declineCodes: Readonly<Record<string, string>> = {
  tok_decline: "card_declined",
  tok_decline_insufficient_funds: "insufficient_funds",
};

/** What somebody else gives as a token may be a real card's: of that the books keep nothing. */
const knownTokens: ReadonlySet<string> = new Set([
  "tok_success",
  "tok_slow",
  "tok_late_success",
  ...Object.keys(declineCodes),
]);
const storedToken = (token: string): string => (knownTokens.has(token) ? token : "unknown");

type ProviderPaymentRow = Selectable<TestProviderPaymentTable>;
type EntryKind = "authorize" | "capture" | "void" | "refund";

export function createTestProvider({ db, clock, wait = waitFor }: TestProviderParts): PaymentProvider {
  const move =
    (
      kind: Exclude<EntryKind, "authorize">,
      decide: (books: ProviderPaymentRow, asked: ProviderRequest) => MovementDecision,
    ) =>
    async (asked: ProviderRequest) =>
      inTransaction(db, (transaction) =>
        applyMovement(transaction, { kind, asked, now: clock.now(), decide }),
      );
  return {
    authorize: async (asked) => {
      const answer = await inTransaction(db, (transaction) => authorizeOnce(transaction, asked, clock.now()));
      if (asked.token === "tok_slow") await wait(slowAnswerMs, asked.signal);
      return answer;
    },
    capture: move("capture", decideCapture),
    refund: move("refund", decideRefund),
    void: async (asked) => inTransaction(db, (transaction) => voidOnce(transaction, asked, clock.now())),
    lookup: async ({ reference }) => {
      const books = await db
        .selectFrom("testProviderPayment")
        .selectAll()
        .where("reference", "=", reference)
        .executeTakeFirst();
      return books === undefined
        ? { outcome: "unknown" }
        : lookupResult(applyLateSuccess(books, clock.now()), clock.now());
    },
  };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

async function authorizeOnce(
  transaction: Transaction,
  asked: ProviderAuthorizationRequest,
  now: Date,
): Promise<PaymentAuthorizationResult> {
  const { reference, token, currency, amountMinor } = asked;
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
  const books = applyLateSuccess(await lockExistingPayment(transaction, reference), now);
  const before = await findRecordedOutcome(transaction, asked);
  if (before !== undefined) return authorizationResult(before, books);
  const outcome = inserted === undefined ? "declined:reference_used" : entryOutcome(books, now);
  await insertEntry(transaction, { kind: "authorize", asked, outcome, now });
  return authorizationResult(outcome, books);
}

function initialStatus(token: string, now: Date): Pick<ProviderPaymentRow, "status" | "decidedAt"> {
  if (token === "tok_late_success")
    return { status: "pending", decidedAt: new Date(now.getTime() + lateSuccessMs) };
  const isAuthorized = token === "tok_success" || token === "tok_slow";
  return { status: isAuthorized ? "authorized" : "declined", decidedAt: now };
}

function entryOutcome(books: ProviderPaymentRow, now: Date): string {
  const found = lookupResult(books, now);
  return found.outcome === "declined" ? `declined:${found.code}` : found.outcome;
}

function authorizationResult(outcome: string, books: ProviderPaymentRow): PaymentAuthorizationResult {
  if (outcome === "authorized") return authorizedResult(books);
  return outcome === "pending"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/** A payment that is decided late is authorised and captured at once, as a bank transfer is. */
function applyLateSuccess(books: ProviderPaymentRow, now: Date): ProviderPaymentRow {
  if (books.status !== "pending" || books.decidedAt > now) return books;
  return { ...books, status: "authorized", capturedMinor: books.amountMinor };
}

function lookupResult(books: ProviderPaymentRow, now: Date): PaymentLookupResult {
  if (books.status === "pending" && books.decidedAt > now) return { outcome: "pending" };
  if (books.status === "declined")
    return { outcome: "declined", code: declineCodes[books.token] ?? "token_unknown" };
  return books.status === "voided"
    ? { outcome: "voided", ...paymentAmounts(books) }
    : authorizedResult(books);
}

function authorizedResult(books: ProviderPaymentRow): AuthorizedPaymentResult {
  return { outcome: "authorized", ...paymentAmounts(books) };
}

function paymentAmounts({
  amountMinor,
  capturedMinor,
  voidedMinor,
  refundedMinor,
}: ProviderPaymentRow): ProviderPaymentAmounts {
  return { amountMinor, capturedMinor, voidedMinor, refundedMinor };
}

/** What becomes of the books, or why nothing does. */
type MovementDecision =
  | Partial<Pick<ProviderPaymentRow, "status" | "capturedMinor" | "voidedMinor" | "refundedMinor">>
  | string;

function decideCapture(books: ProviderPaymentRow, { amountMinor }: ProviderRequest): MovementDecision {
  if (books.status !== "authorized") return "payment_not_authorized";
  if (amountMinor > books.amountMinor - books.capturedMinor - books.voidedMinor)
    return "amount_exceeds_authorized";
  return { capturedMinor: books.capturedMinor + amountMinor };
}

function decideRefund(books: ProviderPaymentRow, { amountMinor }: ProviderRequest): MovementDecision {
  if (amountMinor > books.capturedMinor - books.refundedMinor) return "amount_exceeds_captured";
  return { refundedMinor: books.refundedMinor + amountMinor };
}

function decideVoid(books: ProviderPaymentRow, { amountMinor }: ProviderRequest): MovementDecision {
  if (books.status !== "authorized") return "payment_not_authorized";
  if (amountMinor > books.amountMinor - books.capturedMinor - books.voidedMinor)
    return "amount_exceeds_authorized";
  const voidedMinor = books.voidedMinor + amountMinor;
  return { voidedMinor, status: voidedMinor === books.amountMinor ? "voided" : "authorized" };
}

/**
 * Of a payment that nobody has heard of a tombstone is left. Before it is decided it is too late to stop it,
 * and too early to tell.
 */
async function voidOnce(
  transaction: Transaction,
  asked: ProviderRequest,
  now: Date,
): Promise<PaymentMovementResult> {
  const { reference } = asked;
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
    await insertEntry(transaction, { kind: "void", asked, outcome: "succeeded", now });
    return { outcome: "succeeded" };
  }
  const books = await lockExistingPayment(transaction, reference);
  if (books.status === "pending" && books.decidedAt > now) return { outcome: "pending" };
  return applyMovement(transaction, { kind: "void", asked, now, decide: decideVoid });
}

interface MovementCommand {
  readonly kind: Exclude<EntryKind, "authorize">;
  readonly asked: ProviderRequest;
  readonly now: Date;
  readonly decide: (books: ProviderPaymentRow, asked: ProviderRequest) => MovementDecision;
}

async function applyMovement(
  transaction: Transaction,
  { kind, asked, now, decide }: MovementCommand,
): Promise<PaymentMovementResult> {
  const stored = await findAndLockPayment(transaction, asked.reference);
  if (stored === undefined) return { outcome: "declined", code: "payment_unknown" };
  const before = await findRecordedOutcome(transaction, asked);
  if (before !== undefined) return movementResult(before);
  const books = applyLateSuccess(stored, now);
  const decision = decide(books, asked);
  const outcome = typeof decision === "string" ? `declined:${decision}` : "succeeded";
  if (typeof decision !== "string") {
    const { status, capturedMinor } = books;
    await transaction
      .updateTable("testProviderPayment")
      .set({ status, capturedMinor, ...decision })
      .where("reference", "=", asked.reference)
      .execute();
  }
  await insertEntry(transaction, { kind, asked, outcome, now });
  return movementResult(outcome);
}

function movementResult(outcome: string): PaymentMovementResult {
  return outcome === "succeeded"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/** Whatever is asked of one payment follows each other. */
function findAndLockPayment(
  transaction: Transaction,
  reference: string,
): Promise<ProviderPaymentRow | undefined> {
  return transaction
    .selectFrom("testProviderPayment")
    .selectAll()
    .where("reference", "=", reference)
    .forUpdate()
    .executeTakeFirst();
}

async function lockExistingPayment(transaction: Transaction, reference: string): Promise<ProviderPaymentRow> {
  const books = await findAndLockPayment(transaction, reference);
  if (books === undefined) throw new Error(`The provider's books of ${reference} were there a moment ago.`);
  return books;
}

async function findRecordedOutcome(
  transaction: Transaction,
  { idempotencyKey }: ProviderRequest,
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
  readonly asked: ProviderRequest;
  readonly outcome: string;
  readonly now: Date;
}

async function insertEntry(transaction: Transaction, { kind, asked, outcome, now }: NewEntry): Promise<void> {
  const { idempotencyKey, reference, amountMinor } = asked;
  await transaction
    .insertInto("testProviderEntry")
    .values({ idempotencyKey, reference, kind, amountMinor, outcome, createdAt: now })
    .execute();
}
