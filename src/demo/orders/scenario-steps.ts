/**
 * The steps of the demo's stories, from checkout to return: each takes its cart, session or order on by the
 * function that a client's request comes to.
 */
import { sql } from "kysely";
import { closeReturn, inspectReturn } from "#commerce/after-sales/finish-return.ts";
import { requestReturn, type ReturnRequest } from "#commerce/after-sales/request-return.ts";
import { registerWarranty } from "#commerce/after-sales/register-warranty.ts";
import { receiveReturn, trackReturn } from "#commerce/after-sales/return-steps.ts";
import { cancelOrder, type OrderCancelInput } from "#commerce/orders/cancellation/cancel-order.ts";
import { capturePayment } from "#commerce/orders/payment/order-payment.ts";
import { type DisputeReason, openDispute } from "#commerce/orders/payment/disputes.ts";
import { createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import {
  deliverFulfillment,
  packFulfillment,
  shipFulfillment,
} from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { confirmOrder, holdOrder } from "#commerce/orders/order-life.ts";
import type { OrderCommandContext } from "#commerce/orders/change-order.ts";
import type { LineQuantity } from "#commerce/orders/order-aggregate.ts";
import type { OrderActor } from "#commerce/orders/order-states.ts";
import { lockSession, readSession, type SessionCommandContext } from "#commerce/checkout/change-session.ts";
import type { Transaction } from "#database/transaction.ts";
import { cancelSession, releaseSession } from "#commerce/checkout/release-sessions.ts";
import { createSession, sessionLifetimeMinutes } from "#commerce/checkout/create-session.ts";
import { submitSession } from "#commerce/checkout/submit-session.ts";
import type { SessionCancelReason } from "#commerce/checkout/end-session.ts";
import { settlePendingPayments, demoPaymentToken } from "#demo/rows/order-money-rows.ts";

export const confirmPlacedOrder: ScenarioStep = async (scene) => {
  await confirmOrder(scene.transaction, scene.tenantFor("merchant"), { orderId: requireOrderId(scene) });
  return {};
};

export const putOrderOnHold =
  (reason: string): ScenarioStep =>
  async (scene) => {
    await holdOrder(scene.transaction, scene.tenantFor("merchant"), {
      orderId: requireOrderId(scene),
      reason,
    });
    return {};
  };

/** Everything, or these alone. */
export const packParcel =
  (...skus: readonly string[]): ScenarioStep =>
  async (scene) => {
    const { transaction, tenantFor } = scene;
    const tenant = tenantFor("merchant");
    const lines = [];
    for (const sku of skus) lines.push(await findOrderLine(scene, sku));
    const { id } = await createFulfillment(transaction, tenant, {
      orderId: requireOrderId(scene),
      ...(lines.length === 0
        ? {}
        : { lines: lines.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity })) }),
    });
    await packFulfillment(transaction, tenant, { fulfillmentId: id });
    return {};
  };

const dayMs = 86_400_000;

export const shipParcel =
  (trackingNumber: string, days = 2): ScenarioStep =>
  async (scene) => {
    const tenant = scene.tenantFor("merchant");
    const fulfillmentId = await findNewestPartId(scene, "fulfillment");
    const url = `https://tracking.example/${trackingNumber}`;
    const estimatedDeliveryAt = new Date(tenant.now.getTime() + days * dayMs);
    await shipFulfillment(scene.transaction, tenant, {
      fulfillmentId,
      tracking: { number: trackingNumber, url },
      estimatedDeliveryAt,
    });
    return {};
  };

export const deliverParcel: ScenarioStep = async (scene) => {
  const fulfillmentId = await findNewestPartId(scene, "fulfillment");
  await deliverFulfillment(scene.transaction, scene.tenantFor("merchant"), { fulfillmentId });
  return {};
};

async function settleSessionPayments(scene: ScenarioContext): Promise<void> {
  await settlePendingPayments(scene.transaction, scene.tenantFor("system"), {
    sessionId: requireSessionId(scene),
  });
}

export const captureOrderPayment: ScenarioStep = async (scene) => {
  await capturePayment(scene.transaction, scene.tenantFor("merchant"), {
    paymentId: await findNewestPartId(scene, "payment"),
  });
  await settleSessionPayments(scene);
  return {};
};

export const disputeOrderPayment =
  (reason: DisputeReason): ScenarioStep =>
  async (scene) => {
    await openDispute(scene.transaction, scene.tenantFor("merchant"), {
      paymentId: await findNewestPartId(scene, "payment"),
      reason,
    });
    return {};
  };

export const cancelPlacedOrder =
  (reason: OrderCancelInput["reason"], note: string): ScenarioStep =>
  async (scene) => {
    await cancelOrder(scene.transaction, scene.tenantFor("buyer"), {
      orderId: requireOrderId(scene),
      reason,
      note,
    });
    await settleSessionPayments(scene);
    return {};
  };

export interface ReturnRequestOptions extends Pick<ReturnRequest, "kind" | "reason"> {
  /** One of these. */
  readonly sku: string;
  readonly instead?: string;
}

export const requestReturnStep =
  ({ kind, reason, sku, instead }: ReturnRequestOptions): ScenarioStep =>
  async (scene) => {
    const { transaction, tenantFor } = scene;
    const lines = [{ lineId: (await findOrderLine(scene, sku)).id, quantity: 1 }];
    const exchangeVariantId = instead === undefined ? null : await findVariantId(scene, instead);
    await requestReturn(transaction, tenantFor("buyer"), {
      orderId: requireOrderId(scene),
      kind,
      reason,
      lines,
      exchangeVariantId,
    });
    return {};
  };

async function findVariantId({ transaction, tenantFor }: ScenarioContext, sku: string): Promise<string> {
  const variants = transaction
    .selectFrom("variant")
    .select("id")
    .where("merchantId", "=", tenantFor("system").merchantId);
  return (await variants.where("sku", "=", sku).executeTakeFirstOrThrow()).id;
}

export const shipReturn: ScenarioStep = async (scene) => {
  await trackReturn(scene.transaction, scene.tenantFor("merchant"), {
    returnId: await findNewestPartId(scene, "orderReturn"),
  });
  return {};
};

export const receiveReturnedLines: ScenarioStep = async (scene) => {
  const returnId = await findNewestPartId(scene, "orderReturn");
  const received = (await loadReturnLines(scene, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    received: quantity,
  }));
  await receiveReturn(scene.transaction, scene.tenantFor("merchant"), { returnId, lines: received });
  return {};
};

/** It is as good as new, and its money goes back. */
export const acceptReturn: ScenarioStep = async (scene) => {
  const { transaction, tenantFor } = scene;
  const returnId = await findNewestPartId(scene, "orderReturn");
  const inspected = (await loadReturnLines(scene, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    accepted: quantity,
    restock: quantity,
  }));
  await inspectReturn(transaction, tenantFor("merchant"), {
    returnId,
    lines: inspected,
    note: "As good as new.",
  });
  await closeReturn(transaction, tenantFor("merchant"), { returnId });
  await settleSessionPayments(scene);
  return {};
};

export const registerLineWarranty =
  (sku: string, serialNumber: string): ScenarioStep =>
  async (scene) => {
    const { id: lineId } = await findOrderLine(scene, sku);
    await registerWarranty(scene.transaction, scene.tenantFor("buyer"), {
      orderId: requireOrderId(scene),
      lineId,
      serialNumber,
    });
    return {};
  };

/**
 * Where a story is: which cart, session and order it is about by now, and for whom its next step is taken,
 * and when.
 */
export interface ScenarioSubjects {
  readonly cartId: string;
  readonly sessionId: string | null;
  readonly orderId: string | null;
}

export interface ScenarioContext extends ScenarioSubjects {
  readonly transaction: Transaction;
  readonly tenantFor: (actor: OrderActor) => OrderCommandContext & SessionCommandContext;
}

/** Takes the story on by one step; gives what it is about from then on, where that is new. */
export type ScenarioStep = (scene: ScenarioContext) => Promise<Partial<ScenarioSubjects>>;

export function requireSessionId({ sessionId }: ScenarioContext): string {
  if (sessionId === null) throw new Error("The demo's story has no checkout yet.");
  return sessionId;
}

function requireOrderId({ orderId }: ScenarioContext): string {
  if (orderId === null) throw new Error("The demo's story has no order yet.");
  return orderId;
}

/**
 * The parts that a story goes on with are looked up by themselves: reading a whole order each time would take
 * longer than what is done with it.
 */
async function findOrderLine(
  scene: ScenarioContext,
  sku: string,
): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${requireOrderId(scene)} and display->>'sku' = ${sku}`.execute(
    scene.transaction,
  );
  return requireRow(rows[0], sku);
}

/** The newest one. */
async function findNewestPartId(
  scene: ScenarioContext,
  part: "fulfillment" | "payment" | "orderReturn",
): Promise<string> {
  const rows = scene.transaction.selectFrom(part).select("id").where("orderId", "=", requireOrderId(scene));
  return requireRow(await rows.orderBy("id", "desc").limit(1).executeTakeFirst(), part).id;
}

async function loadReturnLines(
  { transaction }: ScenarioContext,
  returnId: string,
): Promise<readonly LineQuantity[]> {
  return transaction
    .selectFrom("returnLine")
    .select(["orderLineId as lineId", "quantity"])
    .where("returnId", "=", returnId)
    .execute();
}

function requireRow<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw new Error(`The demo's order has no ${what} yet.`);
  return row;
}

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

export const startCheckout =
  (minutes: number = sessionLifetimeMinutes.default): ScenarioStep =>
  async ({ transaction, tenantFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return { sessionId: (await createSession(transaction, tenantFor("buyer"), input)).session.id };
  };

export const checkoutMinutesMax = sessionLifetimeMinutes.max;

async function submitOpenSession(scene: ScenarioContext): Promise<void> {
  const sessionId = requireSessionId(scene);
  const { amountTotalMinor: amountMinor, currency } = await readSession(scene.transaction, sessionId);
  const expectedAmount = { amountMinor, currency };
  await submitSession(scene.transaction, scene.tenantFor("buyer"), {
    sessionId,
    expectedAmount,
    paymentToken: demoPaymentToken,
  });
}

const submitAndPay =
  (isCaptured: boolean): ScenarioStep =>
  async (scene) => {
    await submitOpenSession(scene);
    const sessionId = requireSessionId(scene);
    await settlePendingPayments(scene.transaction, scene.tenantFor("system"), { sessionId, isCaptured });
    return { orderId: (await readSession(scene.transaction, sessionId)).orderId };
  };

/** The money is set aside. */
export const submitAndAuthorize = submitAndPay(false);

/** The money is taken with it. */
export const submitAndCapture = submitAndPay(true);

/** Of which nobody hears as long as a session may live: the provider is not asked before. */
export const submitWithDelayedPayment: ScenarioStep = async (scene) => {
  await submitOpenSession(scene);
  const dueAt = new Date(scene.tenantFor("system").now.getTime() + checkoutMinutesMax * 60_000);
  await scene.transaction
    .updateTable("paymentOperation")
    .set({ dueAt })
    .where("paymentId", "in", (row) =>
      row.selectFrom("payment").select("id").where("sessionId", "=", requireSessionId(scene)),
    )
    .execute();
  return {};
};

export const cancelCheckout =
  (reason: SessionCancelReason, note: string): ScenarioStep =>
  async (scene) => {
    await cancelSession(scene.transaction, scene.tenantFor("buyer"), {
      sessionId: requireSessionId(scene),
      reason,
      note,
    });
    return {};
  };

export const expireCheckout: ScenarioStep = async (scene) => {
  const tenant = scene.tenantFor("system");
  const locked = await lockSession(scene.transaction, tenant, requireSessionId(scene));
  await releaseSession(scene.transaction, tenant, { ...locked, status: "expired" });
  return {};
};
