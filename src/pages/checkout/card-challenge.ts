/**
 * The page on which the simulated bank of the test payment provider asks the buyer to confirm a payment (3-D
 * Secure). The provider stores this question, so the buyer can reload the page, or leave it and open it
 * again. The buyer's first answer is final; later answers are ignored.
 */
import type { FastifyReply } from "fastify";
import {
  recordPaymentChallengeAnswer,
  findUnansweredPaymentChallenge,
} from "#commerce/payments/test/test-challenge.ts";
import { html } from "#pages/shared/html.ts";
import { getSubmittedForm } from "#http/body.ts";
import { formatCurrencyAmount } from "./amounts.ts";
import { renderNarrowCheckoutLayout } from "./outcome-view.ts";
import { type CheckoutPageServicesAndDocuments, type CheckoutPageVisit, sendCheckoutPage } from "./visit.ts";

/** Returns true if the payment waits for the buyer's confirmation to the bank, in the browser that may pay. */
export const canBrowserAnswerCardChallenge = async ({
  session,
  isHolder,
  pageContext,
}: CheckoutPageVisit): Promise<boolean> =>
  session.status === "processing" && isHolder && isPaymentAwaitingCardChallenge(pageContext, session.id);

/**
 * Returns true if the payment of a checkout session waits for the buyer's confirmation to the bank. The
 * page's script receives this value with the session's status, and then opens the bank's page.
 */
export async function isPaymentAwaitingCardChallenge(
  { services }: CheckoutPageServicesAndDocuments,
  sessionId: string,
): Promise<boolean> {
  return (
    (await findUnansweredPaymentChallenge(services.db, { sessionId, now: services.clock.now() })) !==
    undefined
  );
}

export async function sendCardChallengePage(visit: CheckoutPageVisit): Promise<FastifyReply> {
  const { session, say, language, locale, path, reply, pageContext } = visit;
  if (!(await canBrowserAnswerCardChallenge(visit))) return reply.redirect(path, 303);
  const parts = {
    amount: formatCurrencyAmount(session.amountTotal, locale),
    merchant: session.merchant.name,
  };
  const page = {
    title: say("challenge"),
    language,
    body: renderNarrowCheckoutLayout(
      visit,
      html`<h1>${say("challenge")}</h1>
        <p>${say("challengeText", parts)}</p>
        <form method="post" action="${path}/challenge" class="challenge">
          <button name="answer" value="complete">${say("challengeComplete")}</button>
          <button name="answer" value="fail" class="second">${say("challengeFail")}</button>
          <button name="answer" value="cancel" class="third">${say("challengeCancel")}</button>
        </form>
        <p class="soft">${say("challengeTime")}</p>`,
    ),
  };
  return sendCheckoutPage(reply, page, pageContext.services.publicUrl);
}

const answers: ReadonlySet<string> = new Set(["complete", "fail", "cancel"]);

/**
 * Records the buyer's first answer to the bank's question, ignores later answers, and redirects to the
 * checkout page.
 */
export async function recordCardChallengeAnswer(visit: CheckoutPageVisit): Promise<FastifyReply> {
  const { session, path, reply, request, pageContext } = visit;
  const { db, clock, events } = pageContext.services;
  const answer = getSubmittedForm(request).get("answer") ?? "";
  if (!answers.has(answer) || !(await canBrowserAnswerCardChallenge(visit))) return reply.redirect(path, 303);
  const isConfirmed = answer === "complete";
  await recordPaymentChallengeAnswer(db, { sessionId: session.id, isConfirmed, now: clock.now(), events });
  return reply.redirect(path, 303);
}
