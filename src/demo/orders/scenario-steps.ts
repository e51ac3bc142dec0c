/**
 * The order steps of the demo's order scenarios, from confirmation to return. The steps call the same
 * functions as the service does for a client's request.
 */
import { closeReturn, inspectReturn } from "#commerce/after-sales/finish-return.ts";
import { registerWarranty } from "#commerce/after-sales/register-warranty.ts";
import { requestReturn, type ReturnRequest } from "#commerce/after-sales/request-return.ts";
import { receiveReturn, trackReturn } from "#commerce/after-sales/return-steps.ts";
import { cancelOrder, type OrderCancelInput } from "#commerce/orders/cancellation/cancel-order.ts";
import { createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import {
  deliverFulfillment,
  packFulfillment,
  shipFulfillment,
} from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { confirmOrder, holdOrder } from "#commerce/orders/order-life.ts";
import { type DisputeReason, openDispute } from "#commerce/orders/payment/disputes.ts";
import { capturePayment } from "#commerce/orders/payment/order-payment.ts";
import {
  findNewestPartId,
  findOrderLine,
  loadReturnLines,
  requireOrderId,
  type ScenarioContext,
  type ScenarioStep,
  settleSessionPayments,
} from "./scenario-context.ts";

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
