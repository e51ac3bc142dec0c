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
import { answerPayments, demoToken } from "#demo/rows/order-money-rows.ts";

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
      ...(lines.length === 0
        ? {}
        : { lines: lines.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity })) }),
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
    await shipFulfillment(scene.transaction, tenant, {
      fulfillmentId,
      tracking: { number: trackingNumber, url },
      estimatedDeliveryAt,
    });
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
  await capturePayment(scene.transaction, scene.tenantFor("merchant"), {
    paymentId: await partOf(scene, "payment"),
  });
  await settleAll(scene);
  return {};
};

export const dispute =
  (reason: DisputeReason): Step =>
  async (scene) => {
    await openDispute(scene.transaction, scene.tenantFor("merchant"), {
      paymentId: await partOf(scene, "payment"),
      reason,
    });
    return {};
  };

export const cancel =
  (reason: OrderCancelInput["reason"], note: string): Step =>
  async (scene) => {
    await cancelOrder(scene.transaction, scene.tenantFor("buyer"), {
      orderId: orderIdOf(scene),
      reason,
      note,
    });
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
    await requestReturn(transaction, tenantFor("buyer"), {
      orderId: orderIdOf(scene),
      kind,
      reason,
      lines,
      exchangeVariantId,
    });
    return {};
  };

async function variantIdOf({ transaction, tenantFor }: Scene, sku: string): Promise<string> {
  const variants = transaction
    .selectFrom("variant")
    .select("id")
    .where("merchantId", "=", tenantFor("system").merchantId);
  return (await variants.where("sku", "=", sku).executeTakeFirstOrThrow()).id;
}

export const sendBack: Step = async (scene) => {
  await trackReturn(scene.transaction, scene.tenantFor("merchant"), {
    returnId: await partOf(scene, "orderReturn"),
  });
  return {};
};

export const takeBack: Step = async (scene) => {
  const returnId = await partOf(scene, "orderReturn");
  const received = (await returnLinesOf(scene, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    received: quantity,
  }));
  await receiveReturn(scene.transaction, scene.tenantFor("merchant"), { returnId, lines: received });
  return {};
};

/** It is as good as new, and its money goes back. */
export const acceptBack: Step = async (scene) => {
  const { transaction, tenantFor } = scene;
  const returnId = await partOf(scene, "orderReturn");
  const inspected = (await returnLinesOf(scene, returnId)).map(({ lineId, quantity }) => ({
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
  await settleAll(scene);
  return {};
};

export const register =
  (sku: string, serialNumber: string): Step =>
  async (scene) => {
    const { id: lineId } = await lineOf(scene, sku);
    await registerWarranty(scene.transaction, scene.tenantFor("buyer"), {
      orderId: orderIdOf(scene),
      lineId,
      serialNumber,
    });
    return {};
  };

/**
 * Where a story is: which cart, session and order it is about by now, and for whom its next step is taken,
 * and when.
 */
export interface Subjects {
  readonly cartId: string;
  readonly sessionId: string | null;
  readonly orderId: string | null;
}

export interface Scene extends Subjects {
  readonly transaction: Transaction;
  readonly tenantFor: (actor: OrderActor) => OrderCommandContext & SessionCommandContext;
}

/** Takes the story on by one step; gives what it is about from then on, where that is new. */
export type Step = (scene: Scene) => Promise<Partial<Subjects>>;

export function sessionOf({ sessionId }: Scene): string {
  if (sessionId === null) throw new Error("The demo's story has no checkout yet.");
  return sessionId;
}

function orderIdOf({ orderId }: Scene): string {
  if (orderId === null) throw new Error("The demo's story has no order yet.");
  return orderId;
}

/**
 * The parts that a story goes on with are looked up by themselves: reading a whole order each time would take
 * longer than what is done with it.
 */
async function lineOf(scene: Scene, sku: string): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${orderIdOf(scene)} and display->>'sku' = ${sku}`.execute(
    scene.transaction,
  );
  return found(rows[0], sku);
}

/** The newest one. */
async function partOf(scene: Scene, part: "fulfillment" | "payment" | "orderReturn"): Promise<string> {
  const rows = scene.transaction.selectFrom(part).select("id").where("orderId", "=", orderIdOf(scene));
  return found(await rows.orderBy("id", "desc").limit(1).executeTakeFirst(), part).id;
}

async function returnLinesOf({ transaction }: Scene, returnId: string): Promise<readonly LineQuantity[]> {
  return transaction
    .selectFrom("returnLine")
    .select(["orderLineId as lineId", "quantity"])
    .where("returnId", "=", returnId)
    .execute();
}

function found<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw new Error(`The demo's order has no ${what} yet.`);
  return row;
}

const returnUrls = { successUrl: "https://shop.example/thanks", cancelUrl: "https://shop.example/cart" };

export const checkOut =
  (minutes: number = sessionLifetimeMinutes.default): Step =>
  async ({ transaction, tenantFor, cartId }) => {
    const input = { cartId, ...returnUrls, lifetimeMinutes: minutes };
    return { sessionId: (await createSession(transaction, tenantFor("buyer"), input)).session.id };
  };

export const longestLife = sessionLifetimeMinutes.max;

async function submit(scene: Scene): Promise<void> {
  const sessionId = sessionOf(scene);
  const { amountTotalMinor: amountMinor, currency } = await readSession(scene.transaction, sessionId);
  const expectedAmount = { amountMinor, currency };
  await submitSession(scene.transaction, scene.tenantFor("buyer"), {
    sessionId,
    expectedAmount,
    paymentToken: demoToken,
  });
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
    .where("paymentId", "in", (row) =>
      row.selectFrom("payment").select("id").where("sessionId", "=", sessionOf(scene)),
    )
    .execute();
  return {};
};

export const giveUp =
  (reason: SessionCancelReason, note: string): Step =>
  async (scene) => {
    await cancelSession(scene.transaction, scene.tenantFor("buyer"), {
      sessionId: sessionOf(scene),
      reason,
      note,
    });
    return {};
  };

export const runOut: Step = async (scene) => {
  const tenant = scene.tenantFor("system");
  const locked = await lockSession(scene.transaction, tenant, sessionOf(scene));
  await releaseSession(scene.transaction, tenant, { ...locked, status: "expired" });
  return {};
};
