/**
 * The order steps of the demo's order scenarios, from confirmation to return. The steps call the same
 * functions as the service does for a client's request.
 */
import { closeReturn, recordReturnInspection } from "#commerce/after-sales/finish-return.ts";
import { registerWarranty } from "#commerce/after-sales/register-warranty.ts";
import { requestReturn, type ReturnRequestFields } from "#commerce/after-sales/request-return.ts";
import { receiveReturn, markReturnInTransit } from "#commerce/after-sales/return-steps.ts";
import { cancelOrder, type CancelOrderInput } from "#commerce/orders/cancellation/cancel-order.ts";
import { createFulfillment } from "#commerce/orders/fulfillment/create-fulfillment.ts";
import {
  markFulfillmentDelivered,
  packFulfillment,
  shipFulfillment,
} from "#commerce/orders/fulfillment/move-fulfillment.ts";
import { confirmOrder, putOrderOnHold } from "#commerce/orders/order-life.ts";
import { type PaymentDisputeReasonCode, openPaymentDispute } from "#commerce/orders/payment/disputes.ts";
import { capturePayment } from "#commerce/orders/payment/order-payment.ts";
import {
  findNewestOrderPartId,
  findScenarioOrderLine,
  loadReturnLines,
  requireScenarioOrderId,
  type DemoOrderScenarioContext,
  type DemoOrderScenarioStep,
  markScenarioPaymentOperationsSucceeded,
} from "./scenario-context.ts";

export const confirmPlacedOrder: DemoOrderScenarioStep = async (context) => {
  await confirmOrder(context.transaction, context.commandContextFor("merchant"), {
    orderId: requireScenarioOrderId(context),
  });
  return {};
};

export const createOrderHoldStep =
  (reason: string): DemoOrderScenarioStep =>
  async (context) => {
    await putOrderOnHold(context.transaction, context.commandContextFor("merchant"), {
      orderId: requireScenarioOrderId(context),
      reason,
    });
    return {};
  };

/** Packs the order lines of the given SKUs into a parcel (a fulfillment); packs all lines if no SKU is given. */
export const createPackParcelStep =
  (...skus: readonly string[]): DemoOrderScenarioStep =>
  async (context) => {
    const { transaction, commandContextFor } = context;
    const commandContext = commandContextFor("merchant");
    const linesToPack = [];
    for (const sku of skus) linesToPack.push(await findScenarioOrderLine(context, sku));
    const { id } = await createFulfillment(transaction, commandContext, {
      orderId: requireScenarioOrderId(context),
      ...(linesToPack.length === 0
        ? {}
        : { lines: linesToPack.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity })) }),
    });
    await packFulfillment(transaction, commandContext, { fulfillmentId: id });
    return {};
  };

const dayMs = 86_400_000;

/** Marks the order's newest fulfillment as shipped, with an estimated delivery after the given number of days. */
export const createShipParcelStep =
  (trackingNumber: string, days = 2): DemoOrderScenarioStep =>
  async (context) => {
    const commandContext = context.commandContextFor("merchant");
    const fulfillmentId = await findNewestOrderPartId(context, "fulfillment");
    const url = `https://tracking.example/${trackingNumber}`;
    const estimatedDeliveryAt = new Date(commandContext.now.getTime() + days * dayMs);
    await shipFulfillment(context.transaction, commandContext, {
      fulfillmentId,
      tracking: { number: trackingNumber, url },
      estimatedDeliveryAt,
    });
    return {};
  };

/** Marks the order's newest fulfillment as delivered. */
export const markScenarioParcelDelivered: DemoOrderScenarioStep = async (context) => {
  const fulfillmentId = await findNewestOrderPartId(context, "fulfillment");
  await markFulfillmentDelivered(context.transaction, context.commandContextFor("merchant"), {
    fulfillmentId,
  });
  return {};
};

/** Requests the capture of the order's payment, and records the capture as confirmed by the payment provider. */
export const captureOrderPayment: DemoOrderScenarioStep = async (context) => {
  await capturePayment(context.transaction, context.commandContextFor("merchant"), {
    paymentId: await findNewestOrderPartId(context, "payment"),
  });
  await markScenarioPaymentOperationsSucceeded(context);
  return {};
};

export const createPaymentDisputeStep =
  (reason: PaymentDisputeReasonCode): DemoOrderScenarioStep =>
  async (context) => {
    await openPaymentDispute(context.transaction, context.commandContextFor("merchant"), {
      paymentId: await findNewestOrderPartId(context, "payment"),
      reason,
    });
    return {};
  };

/**
 * Cancels the order, as if the buyer had canceled it, and records the void or refund of the payment as
 * confirmed by the payment provider.
 */
export const cancelPlacedOrder =
  (reason: CancelOrderInput["reason"], note: string): DemoOrderScenarioStep =>
  async (context) => {
    await cancelOrder(context.transaction, context.commandContextFor("buyer"), {
      orderId: requireScenarioOrderId(context),
      reason,
      note,
    });
    await markScenarioPaymentOperationsSucceeded(context);
    return {};
  };

/** The options of the step in which a buyer requests to return or exchange one unit. */
export interface DemoReturnRequestStepOptions extends Pick<ReturnRequestFields, "kind" | "reason"> {
  /** The SKU of the order line from which the buyer returns one unit. */
  readonly sku: string;
  /** The SKU that the buyer wants in exchange; left out if the buyer wants the money back. */
  readonly exchangeForSku?: string;
}

export const createReturnRequestStep =
  ({ kind, reason, sku, exchangeForSku }: DemoReturnRequestStepOptions): DemoOrderScenarioStep =>
  async (context) => {
    const { transaction, commandContextFor } = context;
    const lines = [{ lineId: (await findScenarioOrderLine(context, sku)).id, quantity: 1 }];
    const exchangeVariantId =
      exchangeForSku === undefined ? null : await findVariantId(context, exchangeForSku);
    await requestReturn(transaction, commandContextFor("buyer"), {
      orderId: requireScenarioOrderId(context),
      kind,
      reason,
      lines,
      exchangeVariantId,
    });
    return {};
  };

async function findVariantId(
  { transaction, commandContextFor }: DemoOrderScenarioContext,
  sku: string,
): Promise<string> {
  const variants = transaction
    .selectFrom("variant")
    .select("id")
    .where("merchantId", "=", commandContextFor("system").merchantId);
  return (await variants.where("sku", "=", sku).executeTakeFirstOrThrow()).id;
}

/** Records that the buyer has sent the returned units. */
export const markScenarioReturnAsSentByBuyer: DemoOrderScenarioStep = async (context) => {
  await markReturnInTransit(context.transaction, context.commandContextFor("merchant"), {
    returnId: await findNewestOrderPartId(context, "orderReturn"),
  });
  return {};
};

/** Records that the merchant has received all units of the return. */
export const markScenarioReturnReceived: DemoOrderScenarioStep = async (context) => {
  const returnId = await findNewestOrderPartId(context, "orderReturn");
  const received = (await loadReturnLines(context, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    received: quantity,
  }));
  await receiveReturn(context.transaction, context.commandContextFor("merchant"), {
    returnId,
    lines: received,
  });
  return {};
};

/** Accepts all returned units, puts them back into stock, closes the return and refunds the buyer. */
export const acceptReturnAndRefundBuyer: DemoOrderScenarioStep = async (context) => {
  const { transaction, commandContextFor } = context;
  const returnId = await findNewestOrderPartId(context, "orderReturn");
  const inspected = (await loadReturnLines(context, returnId)).map(({ lineId, quantity }) => ({
    lineId,
    accepted: quantity,
    restock: quantity,
  }));
  await recordReturnInspection(transaction, commandContextFor("merchant"), {
    returnId,
    lines: inspected,
    note: "As good as new.",
  });
  await closeReturn(transaction, commandContextFor("merchant"), { returnId });
  await markScenarioPaymentOperationsSucceeded(context);
  return {};
};

export const registerWarrantyOfOrderLine =
  (sku: string, serialNumber: string): DemoOrderScenarioStep =>
  async (context) => {
    const { id: lineId } = await findScenarioOrderLine(context, sku);
    await registerWarranty(context.transaction, context.commandContextFor("buyer"), {
      orderId: requireScenarioOrderId(context),
      lineId,
      serialNumber,
    });
    return {};
  };
