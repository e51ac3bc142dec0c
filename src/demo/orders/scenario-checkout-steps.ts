/**
 * The checkout steps of the demo's order scenarios: open a checkout session, submit it, cancel it or let it
 * expire. The steps call the same functions as the service does for a client's request.
 */
import { lockSession, readSession } from "#commerce/checkout/change-session.ts";
import { createSession, sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import type { SessionCancelReason } from "#commerce/checkout/end-session.ts";
import { cancelSession, releaseSession } from "#commerce/checkout/release-sessions.ts";
import { submitSession } from "#commerce/checkout/submit-session.ts";
import { demoPaymentToken, settlePendingPayments } from "#demo/rows/order-money-rows.ts";
import { requireSessionId, type ScenarioContext, type ScenarioStep } from "./scenario-context.ts";

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

export const startCheckout =
  (minutes: number = sessionLifetimeMinutes.default): ScenarioStep =>
  async ({ transaction, contextFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return { sessionId: (await createSession(transaction, contextFor("buyer"), input)).session.id };
  };

export const checkoutMinutesMax = sessionLifetimeMinutes.max;

async function submitOpenSession(context: ScenarioContext): Promise<void> {
  const sessionId = requireSessionId(context);
  const { amountTotalMinor: amountMinor, currency } = await readSession(context.transaction, sessionId);
  const expectedAmount = { amountMinor, currency };
  await submitSession(context.transaction, context.contextFor("buyer"), {
    sessionId,
    expectedAmount,
    paymentToken: demoPaymentToken,
  });
}

const submitAndPay =
  (isCaptured: boolean): ScenarioStep =>
  async (context) => {
    await submitOpenSession(context);
    const sessionId = requireSessionId(context);
    await settlePendingPayments(context.transaction, context.contextFor("system"), { sessionId, isCaptured });
    return { orderId: (await readSession(context.transaction, sessionId)).orderId };
  };

/** The money is set aside. */
export const submitAndAuthorize = submitAndPay(false);

/** The money is taken with it. */
export const submitAndCapture = submitAndPay(true);

/** Of which nobody hears as long as a session may live: the provider is not asked before. */
export const submitWithDelayedPayment: ScenarioStep = async (context) => {
  await submitOpenSession(context);
  const dueAt = new Date(context.contextFor("system").now.getTime() + checkoutMinutesMax * 60_000);
  await context.transaction
    .updateTable("paymentOperation")
    .set({ dueAt })
    .where("paymentId", "in", (row) =>
      row.selectFrom("payment").select("id").where("sessionId", "=", requireSessionId(context)),
    )
    .execute();
  return {};
};

export const cancelCheckout =
  (reason: SessionCancelReason, note: string): ScenarioStep =>
  async (context) => {
    await cancelSession(context.transaction, context.contextFor("buyer"), {
      sessionId: requireSessionId(context),
      reason,
      note,
    });
    return {};
  };

export const expireCheckout: ScenarioStep = async (context) => {
  const commandContext = context.contextFor("system");
  const locked = await lockSession(context.transaction, commandContext, requireSessionId(context));
  await releaseSession(context.transaction, commandContext, { ...locked, status: "expired" });
  return {};
};
