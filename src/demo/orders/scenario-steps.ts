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

export const confirmPlacedOrder: ScenarioStep = async (context) => {
  await confirmOrder(context.transaction, context.contextFor("merchant"), {
    orderId: requireOrderId(context),
  });
  return {};
};

export const putOrderOnHold =
  (reason: string): ScenarioStep =>
  async (context) => {
    await holdOrder(context.transaction, context.contextFor("merchant"), {
      orderId: requireOrderId(context),
      reason,
    });
    return {};
  };

/** Everything, or these alone. */
export const packParcel =
  (...skus: readonly string[]): ScenarioStep =>
  async (context) => {
    const { transaction, contextFor } = context;
    const commandContext = contextFor("merchant");
    const linesToPack = [];
    for (const sku of skus) linesToPack.push(await findOrderLine(context, sku));
    const { id } = await createFulfillment(transaction, commandContext, {
      orderId: requireOrderId(context),
      ...(linesToPack.length === 0
        ? {}
        : { lines: linesToPack.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity })) }),
    });
    await packFulfillment(transaction, commandContext, { fulfillmentId: id });
    return {};
  };

const dayMs = 86_400_000;

export const shipParcel =
  (trackingNumber: string, days = 2): ScenarioStep =>
  async (context) => {
    const commandContext = context.contextFor("merchant");
    const fulfillmentId = await findNewestPartId(context, "fulfillment");
    const url = `https://tracking.example/${trackingNumber}`;
    const estimatedDeliveryAt = new Date(commandContext.now.getTime() + days * dayMs);
    await shipFulfillment(context.transaction, commandContext, {
      fulfillmentId,
      tracking: { number: trackingNumber, url },
      estimatedDeliveryAt,
    });
    return {};
  };

export const deliverParcel: ScenarioStep = async (context) => {
  const fulfillmentId = await findNewestPartId(context, "fulfillment");
  await deliverFulfillment(context.transaction, context.contextFor("merchant"), { fulfillmentId });
  return {};
};

async function settleSessionPayments(context: ScenarioContext): Promise<void> {
  await settlePendingPayments(context.transaction, context.contextFor("system"), {
    sessionId: requireSessionId(context),
  });
}

export const captureOrderPayment: ScenarioStep = async (context) => {
  await capturePayment(context.transaction, context.contextFor("merchant"), {
    paymentId: await findNewestPartId(context, "payment"),
  });
  await settleSessionPayments(context);
  return {};
};

export const disputeOrderPayment =
  (reason: DisputeReason): ScenarioStep =>
  async (context) => {
    await openDispute(context.transaction, context.contextFor("merchant"), {
      paymentId: await findNewestPartId(context, "payment"),
      reason,
    });
    return {};
  };

export const cancelPlacedOrder =
  (reason: OrderCancelInput["reason"], note: string): ScenarioStep =>
  async (context) => {
    await cancelOrder(context.transaction, context.contextFor("buyer"), {
      orderId: requireOrderId(context),
      reason,
      note,
    });
    await settleSessionPayments(context);
    return {};
  };

export interface ReturnRequestOptions extends Pick<ReturnRequest, "kind" | "reason"> {
  /** One of these. */
  readonly sku: string;
  readonly exchangeForSku?: string;
}

export const requestReturnStep =
  ({ kind, reason, sku, exchangeForSku }: ReturnRequestOptions): ScenarioStep =>
  async (context) => {
    const { transaction, contextFor } = context;
    const lines = [{ lineId: (await findOrderLine(context, sku)).id, quantity: 1 }];
    const exchangeVariantId =
      exchangeForSku === undefined ? null : await findVariantId(context, exchangeForSku);
    await requestReturn(transaction, contextFor("buyer"), {
      orderId: requireOrderId(context),
      kind,
      reason,
      lines,
      exchangeVariantId,
    });
    return {};
  };

async function findVariantId({ transaction, contextFor }: ScenarioContext, sku: string): Promise<string> {
  const variants = transaction
    .selectFrom("variant")
    .select("id")
    .where("merchantId", "=", contextFor("system").merchantId);
  return (await variants.where("sku", "=", sku).executeTakeFirstOrThrow()).id;
}

export const shipReturn: ScenarioStep = async (context) => {
  await trackReturn(context.transaction, context.contextFor("merchant"), {
    returnId: await findNewestPartId(context, "orderReturn"),
  });
  return {};
};

export const receiveReturnedLines: ScenarioStep = async (context) => {
  const returnId = await findNewestPartId(context, "orderReturn");
  const received = (await loadReturnLines(context, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    received: quantity,
  }));
  await receiveReturn(context.transaction, context.contextFor("merchant"), { returnId, lines: received });
  return {};
};

/** It is as good as new, and its money goes back. */
export const acceptReturn: ScenarioStep = async (context) => {
  const { transaction, contextFor } = context;
  const returnId = await findNewestPartId(context, "orderReturn");
  const inspected = (await loadReturnLines(context, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    accepted: quantity,
    restock: quantity,
  }));
  await inspectReturn(transaction, contextFor("merchant"), {
    returnId,
    lines: inspected,
    note: "As good as new.",
  });
  await closeReturn(transaction, contextFor("merchant"), { returnId });
  await settleSessionPayments(context);
  return {};
};

export const registerLineWarranty =
  (sku: string, serialNumber: string): ScenarioStep =>
  async (context) => {
    const { id: lineId } = await findOrderLine(context, sku);
    await registerWarranty(context.transaction, context.contextFor("buyer"), {
      orderId: requireOrderId(context),
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
  readonly contextFor: (actor: OrderActor) => OrderCommandContext & SessionCommandContext;
}

/** Takes the story on by one step; gives what it is about from then on, where that is new. */
export type ScenarioStep = (context: ScenarioContext) => Promise<Partial<ScenarioSubjects>>;

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
  context: ScenarioContext,
  sku: string,
): Promise<{ readonly id: string; readonly ordered: number }> {
  const { rows } = await sql<{ id: string; ordered: number }>`
    select id, ordered from order_line where order_id = ${requireOrderId(context)} and display->>'sku' = ${sku}`.execute(
    context.transaction,
  );
  return requireRow(rows[0], sku);
}

/** The newest one. */
async function findNewestPartId(
  context: ScenarioContext,
  part: "fulfillment" | "payment" | "orderReturn",
): Promise<string> {
  const rows = context.transaction
    .selectFrom(part)
    .select("id")
    .where("orderId", "=", requireOrderId(context));
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

function requireRow<Row>(row: Row | undefined, name: string): Row {
  if (row === undefined) throw new Error(`The demo's order has no ${name} yet.`);
  return row;
}

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
