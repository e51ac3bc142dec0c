/** The steps of a checkout, each by the function that a client's request comes to. */
import { cancelSession, releaseSession } from "#commerce/checkout/release-sessions.ts";
import { lockSession, readSession } from "#commerce/checkout/change-session.ts";
import { createSession, lifetimeMinutes } from "#commerce/checkout/create-session.ts";
import { submitSession } from "#commerce/checkout/submit-session.ts";
import type { CancelReason } from "#commerce/checkout/end-session.ts";
import { answerPayments, demoToken } from "./provider-answers.ts";
import { type Scene, sessionOf, type Step } from "./scene.ts";

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

export const checkOut =
  (minutes: number = lifetimeMinutes.usual): Step =>
  async ({ transaction, tenantFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return { sessionId: (await createSession(transaction, tenantFor("buyer"), input)).session.id };
  };

export const longestLife = lifetimeMinutes.max;

async function submit(scene: Scene): Promise<void> {
  const sessionId = sessionOf(scene);
  const { amountTotalMinor: amountMinor, currency } = await readSession(scene.transaction, sessionId);
  const expectedAmount = { amountMinor, currency };
  await submitSession(scene.transaction, scene.tenantFor("buyer"), { sessionId, expectedAmount, paymentToken: demoToken });
}

const pay =
  (isCaptured: boolean): Step =>
  async (scene) => {
    await submit(scene);
    const sessionId = sessionOf(scene);
    await answerPayments(scene.transaction, scene.tenantFor("system"), { sessionId, isCaptured });
    return { orderId: (await readSession(scene.transaction, sessionId)).orderId };
  };

/** The money is set aside. */
export const buy = pay(false);

/** The money is taken with it. */
export const buyOutright = pay(true);

/** Of which nobody hears as long as a session may live: the provider is not asked before. */
export const buyUnheard: Step = async (scene) => {
  await submit(scene);
  const dueAt = new Date(scene.tenantFor("system").now.getTime() + longestLife * 60_000);
  await scene.transaction
    .updateTable("paymentOperation")
    .set({ dueAt })
    .where("paymentId", "in", (row) => row.selectFrom("payment").select("id").where("sessionId", "=", sessionOf(scene)))
    .execute();
  return {};
};

export const giveUp =
  (reason: CancelReason, note: string): Step =>
  async (scene) => {
    await cancelSession(scene.transaction, scene.tenantFor("buyer"), { sessionId: sessionOf(scene), reason, note });
    return {};
  };

export const runOut: Step = async (scene) => {
  const tenant = scene.tenantFor("system");
  const locked = await lockSession(scene.transaction, tenant, sessionOf(scene));
  await releaseSession(scene.transaction, tenant, { ...locked, status: "expired" });
  return {};
};
