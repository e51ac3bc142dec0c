/**
 * The checkout steps of the demo's order scenarios: open a checkout session, submit it, cancel it or let it
 * expire. The steps call the same functions as the service does for a client's request.
 */
import { lockCartAndCheckoutSession, loadCheckoutSession } from "#commerce/checkout/change-session.ts";
import { createCheckoutSession, sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import type { CheckoutSessionCancelReason } from "#commerce/checkout/end-session.ts";
import {
  cancelCheckoutSession,
  endCheckoutSessionAndUnlockCart,
} from "#commerce/checkout/release-sessions.ts";
import { submitCheckoutSession } from "#commerce/checkout/submit-session.ts";
import { demoPaymentToken, markPendingPaymentOperationsSucceeded } from "#demo/rows/order-money-rows.ts";
import {
  requireScenarioCheckoutSessionId,
  type DemoOrderScenarioContext,
  type DemoOrderScenarioStep,
} from "./scenario-context.ts";

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

/** Creates a step that opens a checkout session, which expires after the given number of minutes. */
export const createStartCheckoutStep =
  (minutes: number = sessionLifetimeMinutes.default): DemoOrderScenarioStep =>
  async ({ transaction, commandContextFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return {
      sessionId: (await createCheckoutSession(transaction, commandContextFor("buyer"), input)).session.id,
    };
  };

/** The longest lifetime in minutes that a checkout session can have. */
export const checkoutMinutesMax = sessionLifetimeMinutes.max;

async function submitOpenSession(context: DemoOrderScenarioContext): Promise<void> {
  const sessionId = requireScenarioCheckoutSessionId(context);
  const { amountTotalMinor: amountMinor, currency } = await loadCheckoutSession(
    context.transaction,
    sessionId,
  );
  const expectedAmount = { amountMinor, currency };
  await submitCheckoutSession(context.transaction, context.commandContextFor("buyer"), {
    sessionId,
    expectedAmount,
    paymentToken: demoPaymentToken,
  });
}

const createSubmitStep =
  (isCaptured: boolean): DemoOrderScenarioStep =>
  async (context) => {
    await submitOpenSession(context);
    const sessionId = requireScenarioCheckoutSessionId(context);
    await markPendingPaymentOperationsSucceeded(context.transaction, context.commandContextFor("system"), {
      sessionId,
      isCaptured,
    });
    return { orderId: (await loadCheckoutSession(context.transaction, sessionId)).orderId };
  };

/**
 * Submits the checkout session. The payment provider authorizes the payment but does not capture it; a later
 * step of the scenario can capture it.
 */
export const submitAndAuthorizePayment = createSubmitStep(false);

/** Submits the checkout session. The payment provider authorizes the payment and captures it immediately. */
export const submitAndCapturePayment = createSubmitStep(true);

/**
 * Submits the checkout session, which then stays in the status "processing". The request to the payment
 * provider is delayed by the longest possible lifetime of a session.
 */
export const submitCheckoutWithDelayedPayment: DemoOrderScenarioStep = async (context) => {
  await submitOpenSession(context);
  const dueAt = new Date(context.commandContextFor("system").now.getTime() + checkoutMinutesMax * 60_000);
  await context.transaction
    .updateTable("paymentOperation")
    .set({ dueAt })
    .where("paymentId", "in", (row) =>
      row
        .selectFrom("payment")
        .select("id")
        .where("sessionId", "=", requireScenarioCheckoutSessionId(context)),
    )
    .execute();
  return {};
};

/** Cancels the open checkout session, as if the buyer had canceled it. */
export const createCancelCheckoutStep =
  (reason: CheckoutSessionCancelReason, note: string): DemoOrderScenarioStep =>
  async (context) => {
    await cancelCheckoutSession(context.transaction, context.commandContextFor("buyer"), {
      sessionId: requireScenarioCheckoutSessionId(context),
      reason,
      note,
    });
    return {};
  };

export const expireScenarioCheckoutSession: DemoOrderScenarioStep = async (context) => {
  const commandContext = context.commandContextFor("system");
  const locked = await lockCartAndCheckoutSession(
    context.transaction,
    commandContext,
    requireScenarioCheckoutSessionId(context),
  );
  await endCheckoutSessionAndUnlockCart(context.transaction, commandContext, {
    ...locked,
    status: "expired",
  });
  return {};
};
