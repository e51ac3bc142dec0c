/**
 * The checkout steps of the demo's order scenarios: open a checkout session, submit it, cancel it or let it
 * expire. The steps call the same functions as the service does for a client's request.
 */
import { lockCartAndSession, readSession } from "#commerce/checkout/change-session.ts";
import { createSession, sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import type { SessionCancelReason } from "#commerce/checkout/end-session.ts";
import { cancelSession, endSessionAndUnlockCart } from "#commerce/checkout/release-sessions.ts";
import { submitSession } from "#commerce/checkout/submit-session.ts";
import { demoPaymentToken, completePendingPaymentOperations } from "#demo/rows/order-money-rows.ts";
import { requireSessionId, type ScenarioContext, type ScenarioStep } from "./scenario-context.ts";

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

/** Opens a checkout session that expires after the given number of minutes. */
export const startCheckout =
  (minutes: number = sessionLifetimeMinutes.default): ScenarioStep =>
  async ({ transaction, commandContextFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return { sessionId: (await createSession(transaction, commandContextFor("buyer"), input)).session.id };
  };

/** The longest lifetime in minutes that a checkout session can have. */
export const checkoutMinutesMax = sessionLifetimeMinutes.max;

async function submitOpenSession(context: ScenarioContext): Promise<void> {
  const sessionId = requireSessionId(context);
  const { amountTotalMinor: amountMinor, currency } = await readSession(context.transaction, sessionId);
  const expectedAmount = { amountMinor, currency };
  await submitSession(context.transaction, context.commandContextFor("buyer"), {
    sessionId,
    expectedAmount,
    paymentToken: demoPaymentToken,
  });
}

const createSubmitStep =
  (isCaptured: boolean): ScenarioStep =>
  async (context) => {
    await submitOpenSession(context);
    const sessionId = requireSessionId(context);
    await completePendingPaymentOperations(context.transaction, context.commandContextFor("system"), {
      sessionId,
      isCaptured,
    });
    return { orderId: (await readSession(context.transaction, sessionId)).orderId };
  };

/**
 * Submits the checkout session. The payment provider authorizes the payment but does not capture it; a later
 * step of the scenario can capture it.
 */
export const submitAndAuthorizePayment = createSubmitStep(false);

/** Submits the checkout session. The payment provider authorizes the payment and captures it immediately. */
export const submitAndCapturePayment = createSubmitStep(true);

/**
 * Submits the checkout session, but delays the request to the payment provider by the longest possible
 * lifetime of a session, so that the session stays in the status "processing".
 */
export const submitWithDelayedPayment: ScenarioStep = async (context) => {
  await submitOpenSession(context);
  const dueAt = new Date(context.commandContextFor("system").now.getTime() + checkoutMinutesMax * 60_000);
  await context.transaction
    .updateTable("paymentOperation")
    .set({ dueAt })
    .where("paymentId", "in", (row) =>
      row.selectFrom("payment").select("id").where("sessionId", "=", requireSessionId(context)),
    )
    .execute();
  return {};
};

/** Cancels the open checkout session, as if the buyer had canceled it. */
export const cancelCheckout =
  (reason: SessionCancelReason, note: string): ScenarioStep =>
  async (context) => {
    await cancelSession(context.transaction, context.commandContextFor("buyer"), {
      sessionId: requireSessionId(context),
      reason,
      note,
    });
    return {};
  };

export const expireCheckout: ScenarioStep = async (context) => {
  const commandContext = context.commandContextFor("system");
  const locked = await lockCartAndSession(context.transaction, commandContext, requireSessionId(context));
  await endSessionAndUnlockCart(context.transaction, commandContext, { ...locked, status: "expired" });
  return {};
};
