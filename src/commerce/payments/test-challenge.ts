/**
 * The 3-D Secure challenge of the test provider. A payment with a challenge token stays pending until the
 * buyer answers on the challenge page. A challenge that is not answered in time declines the payment.
 */
import type { Database } from "#database/connect.ts";
import { afterCommit, inTransaction, type Transaction } from "#database/transaction.ts";
import type { ServiceEvents } from "#foundation/events.ts";

/** Milliseconds that the buyer has to answer a challenge. Shorter than the timeout of an authorization. */
export const challengeMs = 10 * 60_000;

export const challengeTokens = ["tok_challenge", "tok_challenge_decline"] as const;

const challengeTokenSet: ReadonlySet<string> = new Set(challengeTokens);
export const isChallengeToken = (token: string): boolean => challengeTokenSet.has(token);

export interface OpenChallenge {
  /** The id of the payment that waits for the buyer's answer. */
  readonly paymentId: string;
}

/**
 * Finds the challenge that the session's payment waits for; undefined if the payment has none, or the
 * challenge is answered or over.
 */
export function findOpenChallenge(
  db: Database | Transaction,
  { sessionId, now }: { readonly sessionId: string; readonly now: Date },
): Promise<OpenChallenge | undefined> {
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

export interface ChallengeAnswer {
  readonly sessionId: string;
  /** True if the buyer confirmed the payment; false if the buyer failed or canceled the challenge. */
  readonly isConfirmed: boolean;
  readonly now: Date;
  readonly events: ServiceEvents;
}

/**
 * Records the buyer's answer to the session's challenge, and makes the payment's authorization due at once.
 * Only the first answer counts; changes nothing if the session has no open challenge.
 */
export function answerChallenge(
  db: Database,
  { sessionId, isConfirmed, now, events }: ChallengeAnswer,
): Promise<void> {
  return inTransaction(db, async (transaction) => {
    const challenge = await findOpenChallenge(transaction, { sessionId, now });
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
    await transaction
      .updateTable("paymentOperation")
      .set({ dueAt: now })
      .where("paymentId", "=", paymentId)
      .where("kind", "=", "authorize")
      .where("status", "=", "pending")
      .execute();
    afterCommit(transaction, () => events.emit("paymentsDue"));
  });
}
