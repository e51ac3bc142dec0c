/**
 * The 3-D Secure challenge of the test provider (a page on which the buyer confirms the payment). A payment
 * whose token requires a challenge stays pending until the buyer answers on this page. If the buyer does not
 * answer in time, the payment is declined.
 */
import type { Database } from "#database/connect.ts";
import { makePaymentOperationsDueNow } from "#commerce/payments/payment-operations.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import type { InProcessEventEmitter } from "#foundation/events.ts";

/**
 * Time in which the buyer can answer a challenge, in milliseconds; shorter than the timeout of an
 * authorization.
 */
export const challengeMs = 10 * 60_000;

export const challengeTokens = ["tok_challenge", "tok_challenge_decline"] as const;

const challengeTokenSet: ReadonlySet<string> = new Set(challengeTokens);
export const isCardTokenRequiringChallenge = (token: string): boolean => challengeTokenSet.has(token);

export interface UnansweredPaymentChallenge {
  /** The id of the payment that waits for the buyer's answer. */
  readonly paymentId: string;
}

/**
 * Returns the challenge for which the payment of the checkout session waits. Undefined if the payment has no
 * challenge, or if the challenge was answered or its time is over.
 */
export function findUnansweredPaymentChallenge(
  db: Database | Transaction,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<UnansweredPaymentChallenge | undefined> {
  return db
    .selectFrom("payment")
    .innerJoin("testProviderPayment", "testProviderPayment.reference", "payment.id")
    .select("payment.id as paymentId")
    .where("payment.sessionId", "=", sessionId)
    .where("payment.status", "=", "pending")
    .where("testProviderPayment.status", "=", "pending")
    .where("testProviderPayment.token", "in", challengeTokens)
    .where("testProviderPayment.decidedAt", ">", now)
    .executeTakeFirst();
}

export interface PaymentChallengeAnswer {
  readonly sessionId: string;
  /** True if the buyer confirmed the payment; false if the buyer canceled or failed the challenge. */
  readonly isConfirmed: boolean;
  readonly now: Date;
  readonly events: InProcessEventEmitter;
}

/**
 * Records the buyer's answer to the challenge of a checkout session's payment, so that the payment is
 * authorized or declined at once. Further answers change nothing. Does nothing if the session has no open
 * challenge.
 */
export function recordPaymentChallengeAnswer(
  db: Database,
  { sessionId, isConfirmed, now, events }: PaymentChallengeAnswer,
): Promise<void> {
  return runInTransaction(db, async (transaction) => {
    const challenge = await findUnansweredPaymentChallenge(transaction, { sessionId, now });
    if (challenge === undefined) return;
    const { paymentId } = challenge;
    const confirmed = transaction
      .updateTable("testProviderPayment")
      .set(({ eb }) => ({
        status: isConfirmed
          ? eb
              .case()
              .when("token", "=", "tok_challenge")
              .then("authorized" as const)
              .else("declined" as const)
              .end()
          : ("declined" as const),
        decidedAt: now,
      }))
      .where("reference", "=", paymentId)
      .where("status", "=", "pending")
      .where("decidedAt", ">", now);
    await confirmed.execute();
    await makePaymentOperationsDueNow(transaction, { paymentId, now, events });
  });
}
