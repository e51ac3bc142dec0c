/** What becomes of an order, step by step, each by the function that a client's request comes to. */
import { closeReturn, inspectReturn } from "#commerce/after-sales/finish-return.ts";
import { requestReturn, type ReturnRequest } from "#commerce/after-sales/request-return.ts";
import { registerWarranty } from "#commerce/after-sales/register-warranty.ts";
import { receiveReturn, trackReturn } from "#commerce/after-sales/return-life.ts";
import { cancelOrder, type OrderCancelInput } from "#commerce/orders/cancellation/cancel-order.ts";
import { capturePayment } from "#commerce/orders/payment/order-payment.ts";
import { type DisputeReason, openDispute } from "#commerce/orders/payment/disputes.ts";
import { createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import { deliverFulfillment, packFulfillment, shipFulfillment } from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { confirmOrder, holdOrder } from "#commerce/orders/order-life.ts";
import { answerPayments } from "./provider-answers.ts";
import { lineOf, orderIdOf, partOf, returnLinesOf, type Scene, sessionOf, type Step } from "./scene.ts";

export const confirm: Step = async (scene) => {
  await confirmOrder(scene.transaction, scene.tenantFor("merchant"), { orderId: orderIdOf(scene) });
  return {};
};

export const hold =
  (reason: string): Step =>
  async (scene) => {
    await holdOrder(scene.transaction, scene.tenantFor("merchant"), { orderId: orderIdOf(scene), reason });
    return {};
  };

/** Everything, or these alone. */
export const pack =
  (...skus: readonly string[]): Step =>
  async (scene) => {
    const { transaction, tenantFor } = scene;
    const tenant = tenantFor("merchant");
    const lines = [];
    for (const sku of skus) lines.push(await lineOf(scene, sku));
    const { id } = await createFulfillment(transaction, tenant, {
      orderId: orderIdOf(scene),
      ...(lines.length === 0 ? {} : { lines: lines.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity })) }),
    });
    await packFulfillment(transaction, tenant, { fulfillmentId: id });
    return {};
  };

const dayMs = 86_400_000;

export const send =
  (trackingNumber: string, days = 2): Step =>
  async (scene) => {
    const tenant = scene.tenantFor("merchant");
    const fulfillmentId = await partOf(scene, "fulfillment");
    const url = `https://tracking.example/${trackingNumber}`;
    const estimatedDeliveryAt = new Date(tenant.now.getTime() + days * dayMs);
    await shipFulfillment(scene.transaction, tenant, { fulfillmentId, tracking: { number: trackingNumber, url }, estimatedDeliveryAt });
    return {};
  };

export const bring: Step = async (scene) => {
  const fulfillmentId = await partOf(scene, "fulfillment");
  await deliverFulfillment(scene.transaction, scene.tenantFor("merchant"), { fulfillmentId });
  return {};
};

async function settleAll(scene: Scene): Promise<void> {
  await answerPayments(scene.transaction, scene.tenantFor("system"), { sessionId: sessionOf(scene) });
}

export const capture: Step = async (scene) => {
  await capturePayment(scene.transaction, scene.tenantFor("merchant"), { paymentId: await partOf(scene, "payment") });
  await settleAll(scene);
  return {};
};

export const dispute =
  (reason: DisputeReason): Step =>
  async (scene) => {
    await openDispute(scene.transaction, scene.tenantFor("merchant"), { paymentId: await partOf(scene, "payment"), reason });
    return {};
  };

export const cancel =
  (reason: OrderCancelInput["reason"], note: string): Step =>
  async (scene) => {
    await cancelOrder(scene.transaction, scene.tenantFor("buyer"), { orderId: orderIdOf(scene), reason, note });
    await settleAll(scene);
    return {};
  };

export interface Wish extends Pick<ReturnRequest, "kind" | "reason"> {
  /** One of these. */
  readonly sku: string;
  readonly instead?: string;
}

export const askFor =
  ({ kind, reason, sku, instead }: Wish): Step =>
  async (scene) => {
    const { transaction, tenantFor } = scene;
    const lines = [{ lineId: (await lineOf(scene, sku)).id, quantity: 1 }];
    const exchangeVariantId = instead === undefined ? null : await variantIdOf(scene, instead);
    await requestReturn(transaction, tenantFor("buyer"), { orderId: orderIdOf(scene), kind, reason, lines, exchangeVariantId });
    return {};
  };

async function variantIdOf({ transaction, tenantFor }: Scene, sku: string): Promise<string> {
  const variants = transaction.selectFrom("variant").select("id").where("merchantId", "=", tenantFor("system").merchantId);
  return (await variants.where("sku", "=", sku).executeTakeFirstOrThrow()).id;
}

export const sendBack: Step = async (scene) => {
  await trackReturn(scene.transaction, scene.tenantFor("merchant"), { returnId: await partOf(scene, "orderReturn") });
  return {};
};

export const takeBack: Step = async (scene) => {
  const returnId = await partOf(scene, "orderReturn");
  const received = (await returnLinesOf(scene, returnId)).map(({ lineId, quantity }) => ({ lineId, received: quantity }));
  await receiveReturn(scene.transaction, scene.tenantFor("merchant"), { returnId, lines: received });
  return {};
};

/** It is as good as new, and its money goes back. */
export const acceptBack: Step = async (scene) => {
  const { transaction, tenantFor } = scene;
  const returnId = await partOf(scene, "orderReturn");
  const inspected = (await returnLinesOf(scene, returnId)).map(({ lineId, quantity }) => ({ lineId, accepted: quantity, restock: quantity }));
  await inspectReturn(transaction, tenantFor("merchant"), { returnId, lines: inspected, note: "As good as new." });
  await closeReturn(transaction, tenantFor("merchant"), { returnId });
  await settleAll(scene);
  return {};
};

export const register =
  (sku: string, serialNumber: string): Step =>
  async (scene) => {
    const { id: lineId } = await lineOf(scene, sku);
    await registerWarranty(scene.transaction, scene.tenantFor("buyer"), { orderId: orderIdOf(scene), lineId, serialNumber });
    return {};
  };
