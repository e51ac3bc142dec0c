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
  Amounts,
  Asked,
  Authorization,
  AuthorizationAsked,
  Found,
  Held,
  Movement,
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

const declines: Readonly<Record<string, string>> = {
  tok_decline: "card_declined",
  tok_decline_insufficient_funds: "insufficient_funds",
};

/** What somebody else gives as a token may be a real card's: of that the books keep nothing. */
const known: ReadonlySet<string> = new Set([
  "tok_success",
  "tok_slow",
  "tok_late_success",
  ...Object.keys(declines),
]);
const keptOf = (token: string): string => (known.has(token) ? token : "unknown");

type Books = Selectable<TestProviderPaymentTable>;
type Entry = "authorize" | "capture" | "void" | "refund";

export function createTestProvider({ db, clock, wait = waitFor }: TestProviderParts): PaymentProvider {
  const move =
    (kind: Exclude<Entry, "authorize">, decide: (books: Books, asked: Asked) => Decision) =>
    async (asked: Asked) =>
      inTransaction(db, (transaction) => moveOnce(transaction, { kind, asked, now: clock.now(), decide }));
  return {
    authorize: async (asked) => {
      const answer = await inTransaction(db, (transaction) => authorizeOnce(transaction, asked, clock.now()));
      if (asked.token === "tok_slow") await wait(slowAnswerMs, asked.signal);
      return answer;
    },
    capture: move("capture", capture),
    refund: move("refund", refund),
    void: async (asked) => inTransaction(db, (transaction) => voidOnce(transaction, asked, clock.now())),
    lookup: async ({ reference }) => {
      const books = await db
        .selectFrom("testProviderPayment")
        .selectAll()
        .where("reference", "=", reference)
        .executeTakeFirst();
      return books === undefined ? { outcome: "unknown" } : foundOf(decided(books, clock.now()), clock.now());
    },
  };
}

async function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

async function authorizeOnce(
  transaction: Transaction,
  asked: AuthorizationAsked,
  now: Date,
): Promise<Authorization> {
  const { reference, token, currency, amountMinor } = asked;
  const inserted = await transaction
    .insertInto("testProviderPayment")
    .values({
      reference,
      token: keptOf(token),
      currency,
      amountMinor,
      createdAt: now,
      ...beginningOf(token, now),
    })
    .onConflict((conflict) => conflict.column("reference").doNothing())
    .returning("reference")
    .executeTakeFirst();
  const books = decided(await lockBooks(transaction, reference), now);
  const before = await answered(transaction, asked);
  if (before !== undefined) return authorizationOf(before, books);
  const outcome = inserted === undefined ? "declined:reference_used" : outcomeOf(books, now);
  await record(transaction, { kind: "authorize", asked, outcome, now });
  return authorizationOf(outcome, books);
}

function beginningOf(token: string, now: Date): Pick<Books, "status" | "decidedAt"> {
  if (token === "tok_late_success")
    return { status: "pending", decidedAt: new Date(now.getTime() + lateSuccessMs) };
  const isAuthorized = token === "tok_success" || token === "tok_slow";
  return { status: isAuthorized ? "authorized" : "declined", decidedAt: now };
}

function outcomeOf(books: Books, now: Date): string {
  const found = foundOf(books, now);
  return found.outcome === "declined" ? `declined:${found.code}` : found.outcome;
}

function authorizationOf(outcome: string, books: Books): Authorization {
  if (outcome === "authorized") return heldOf(books);
  return outcome === "pending"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/** A payment that is decided late is authorised and captured at once, as a bank transfer is. */
function decided(books: Books, now: Date): Books {
  if (books.status !== "pending" || books.decidedAt > now) return books;
  return { ...books, status: "authorized", capturedMinor: books.amountMinor };
}

function foundOf(books: Books, now: Date): Found {
  if (books.status === "pending" && books.decidedAt > now) return { outcome: "pending" };
  if (books.status === "declined")
    return { outcome: "declined", code: declines[books.token] ?? "token_unknown" };
  return books.status === "voided" ? { outcome: "voided", ...amountsOf(books) } : heldOf(books);
}

function heldOf(books: Books): Held {
  return { outcome: "authorized", ...amountsOf(books) };
}

function amountsOf({ amountMinor, capturedMinor, voidedMinor, refundedMinor }: Books): Amounts {
  return { amountMinor, capturedMinor, voidedMinor, refundedMinor };
}

/** What becomes of the books, or why nothing does. */
type Decision = Partial<Pick<Books, "status" | "capturedMinor" | "voidedMinor" | "refundedMinor">> | string;

function capture(books: Books, { amountMinor }: Asked): Decision {
  if (books.status !== "authorized") return "payment_not_authorized";
  if (amountMinor > books.amountMinor - books.capturedMinor - books.voidedMinor)
    return "amount_exceeds_authorized";
  return { capturedMinor: books.capturedMinor + amountMinor };
}

function refund(books: Books, { amountMinor }: Asked): Decision {
  if (amountMinor > books.capturedMinor - books.refundedMinor) return "amount_exceeds_captured";
  return { refundedMinor: books.refundedMinor + amountMinor };
}

function letGo(books: Books, { amountMinor }: Asked): Decision {
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
async function voidOnce(transaction: Transaction, asked: Asked, now: Date): Promise<Movement> {
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
    await record(transaction, { kind: "void", asked, outcome: "succeeded", now });
    return { outcome: "succeeded" };
  }
  const books = await lockBooks(transaction, reference);
  if (books.status === "pending" && books.decidedAt > now) return { outcome: "pending" };
  return moveOnce(transaction, { kind: "void", asked, now, decide: letGo });
}

interface MoneyMoved {
  readonly kind: Exclude<Entry, "authorize">;
  readonly asked: Asked;
  readonly now: Date;
  readonly decide: (books: Books, asked: Asked) => Decision;
}

async function moveOnce(
  transaction: Transaction,
  { kind, asked, now, decide }: MoneyMoved,
): Promise<Movement> {
  const stored = await findBooks(transaction, asked.reference);
  if (stored === undefined) return { outcome: "declined", code: "payment_unknown" };
  const before = await answered(transaction, asked);
  if (before !== undefined) return movementOf(before);
  const books = decided(stored, now);
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
  await record(transaction, { kind, asked, outcome, now });
  return movementOf(outcome);
}

function movementOf(outcome: string): Movement {
  return outcome === "succeeded"
    ? { outcome }
    : { outcome: "declined", code: outcome.slice("declined:".length) };
}

/** Whatever is asked of one payment follows each other. */
function findBooks(transaction: Transaction, reference: string): Promise<Books | undefined> {
  return transaction
    .selectFrom("testProviderPayment")
    .selectAll()
    .where("reference", "=", reference)
    .forUpdate()
    .executeTakeFirst();
}

async function lockBooks(transaction: Transaction, reference: string): Promise<Books> {
  const books = await findBooks(transaction, reference);
  if (books === undefined) throw new Error(`The provider's books of ${reference} were there a moment ago.`);
  return books;
}

async function answered(transaction: Transaction, { idempotencyKey }: Asked): Promise<string | undefined> {
  const entry = await transaction
    .selectFrom("testProviderEntry")
    .select("outcome")
    .where("idempotencyKey", "=", idempotencyKey)
    .executeTakeFirst();
  return entry?.outcome;
}

interface ToRecord {
  readonly kind: Entry;
  readonly asked: Asked;
  readonly outcome: string;
  readonly now: Date;
}

async function record(transaction: Transaction, { kind, asked, outcome, now }: ToRecord): Promise<void> {
  const { idempotencyKey, reference, amountMinor } = asked;
  await transaction
    .insertInto("testProviderEntry")
    .values({ idempotencyKey, reference, kind, amountMinor, outcome, createdAt: now })
    .execute();
}
