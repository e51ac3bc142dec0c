/** Commands that change the status of a fulfillment: pack, ship, track, deliver, fail, cancel. */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { isHttpsUrl } from "#commerce/catalog/catalog-fields.ts";
import {
  createRequestBodyErrorDetail,
  type InputFieldErrors,
  requireNoInputFieldErrors,
  getTextFieldErrors,
} from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { createFailure } from "#foundation/failure.ts";
import { carrierLengthMax } from "./create-fulfillment.ts";
import {
  type OrderAndIdOfChangedPart,
  lockOrderAndApplyChange,
  type OrderCommandContext,
  findOrderIdOfOrderPart,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import {
  type FulfillmentStatusTransition,
  fulfillmentTransitions,
  requireAllowedFulfillmentStatusTransition,
  type ReportedTrackingStatus,
} from "./fulfillment-rules.ts";
import {
  applyOrderLineFulfillmentCountDeltas,
  type OrderAndFulfillment,
  reserveStockToResendLostUnits,
  updateStockForUnitsReturnedToSender,
  takeFulfillmentUnitsFromStock,
} from "./fulfillment-stock.ts";
import type { OrderAggregate, OrderFulfillment } from "#commerce/orders/order-aggregate.ts";

/** The fulfillment to change, and the version of the order (`expectedVersion`) that the caller expects. */
export interface FulfillmentIdAndOrderVersion extends ExpectedVersionInput {
  readonly fulfillmentId: string;
}

export interface ParcelTracking {
  readonly carrier?: string | null | undefined;
  readonly number?: string | null | undefined;
  readonly url?: string | null | undefined;
}

export interface ShipFulfillmentInput extends FulfillmentIdAndOrderVersion {
  readonly tracking?: ParcelTracking | null | undefined;
  readonly estimatedDeliveryAt?: Date | null | undefined;
}

export interface RecordFulfillmentTrackingInput extends FulfillmentIdAndOrderVersion {
  readonly status: ReportedTrackingStatus;
}

export const trackingNumberLengthMax = 64;

type Changing = Promise<OrderAndIdOfChangedPart>;

export function packFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentIdAndOrderVersion,
): Changing {
  return move(transaction, context, {
    target,
    name: "pack",
    row: { packingStartedAt: context.now },
    effect: async (change) => takeFulfillmentUnitsFromStock(transaction, context, change),
  });
}

export function shipFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: ShipFulfillmentInput,
): Changing {
  const { tracking, estimatedDeliveryAt } = input;
  requireNoInputFieldErrors([
    ...trackingFaults(tracking ?? {}),
    ...arrivalFaults(estimatedDeliveryAt ?? null, context.now),
  ]);
  return move(transaction, context, {
    target: input,
    name: "ship",
    row: {
      shippedAt: context.now,
      estimatedDeliveryAt: estimatedDeliveryAt ?? null,
      trackingNumber: tracking?.number ?? null,
      trackingUrl: tracking?.url ?? null,
      ...(tracking?.carrier === null || tracking?.carrier === undefined ? {} : { carrier: tracking.carrier }),
    },
    effect: async (change) => {
      await takeFulfillmentUnitsFromStock(transaction, context, change);
      await applyOrderLineFulfillmentCountDeltas(transaction, change, { shipped: 1 });
    },
  });
}

function trackingFaults({ carrier, number, url }: ParcelTracking): InputFieldErrors {
  const isUrlFine = url === null || url === undefined || isHttpsUrl(url);
  return [
    ...getTextFieldErrors("/tracking/carrier", carrier, { max: carrierLengthMax }),
    ...getTextFieldErrors("/tracking/number", number, { max: trackingNumberLengthMax }),
    ...(isUrlFine
      ? []
      : [
          createRequestBodyErrorDetail(
            "/tracking/url",
            "pattern_mismatch",
            "The URL must be an https URL without credentials.",
          ),
        ]),
  ];
}

const arrivalDaysMax = 365;

function arrivalFaults(estimatedAt: Date | null, now: Date): InputFieldErrors {
  const latest = now.getTime() + arrivalDaysMax * 24 * 60 * 60_000;
  if (estimatedAt === null || (estimatedAt > now && estimatedAt.getTime() <= latest)) return [];
  return [
    createRequestBodyErrorDetail(
      "/estimatedDeliveryAt",
      "out_of_range",
      `It must be in the future, and no more than ${arrivalDaysMax} days from now.`,
    ),
  ];
}

export function recordFulfillmentTrackingStatus(
  transaction: Transaction,
  context: OrderCommandContext,
  input: RecordFulfillmentTrackingInput,
): Changing {
  return move(transaction, context, {
    target: input,
    name: input.status,
    effect: async (change) =>
      input.status === "returned_to_sender"
        ? updateStockForUnitsReturnedToSender(transaction, context, change)
        : undefined,
  });
}

export function markFulfillmentDelivered(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentIdAndOrderVersion,
): Changing {
  return move(transaction, context, {
    target,
    name: "deliver",
    row: { deliveredAt: context.now },
    // Units for pickup are not shipped. They are recorded as shipped at the time at which they are handed to
    // the buyer.
    effect: async (change) =>
      applyOrderLineFulfillmentCountDeltas(transaction, change, {
        delivered: 1,
        shipped: change.fulfillment.type === "pickup" ? 1 : 0,
      }),
  });
}

export function markFulfillmentFailed(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentIdAndOrderVersion,
): Changing {
  return move(transaction, context, {
    target,
    name: "fail",
    effect: async (change) => reserveStockToResendLostUnits(transaction, context, change),
  });
}

/**
 * Cancels a fulfillment. Units that packing has taken from the stock on hand are not put back; they stay
 * allocated to the order and can be sent with another fulfillment.
 */
export function cancelFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentIdAndOrderVersion,
): Changing {
  return move(transaction, context, { target, name: "cancel" });
}

interface MoveParts {
  readonly target: FulfillmentIdAndOrderVersion;
  readonly name: FulfillmentStatusTransition;
  /** Columns that the transition sets in the fulfillment's row, in addition to the status. */
  readonly row?: {
    readonly packingStartedAt?: Date;
    readonly shippedAt?: Date;
    readonly estimatedDeliveryAt?: Date | null;
    readonly deliveredAt?: Date;
    readonly carrier?: string;
    readonly trackingNumber?: string | null;
    readonly trackingUrl?: string | null;
  };
  /**
   * Changes the order's lines and the stock as the transition requires. Returns the events to publish in
   * addition to the event of the transition.
   */
  readonly effect?: (change: OrderAndFulfillment) => Promise<readonly OrderEvent[] | void>;
}

async function move(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, name, row = {}, effect }: MoveParts,
): Changing {
  const { fulfillmentId: id, expectedVersion } = target;
  const orderId = await findOrderIdOfOrderPart(transaction, context, { part: "fulfillment", id });
  const order = await lockOrderAndApplyChange(transaction, context, {
    target: { orderId, expectedVersion },
    requireState: (found) => requireAllowedFulfillmentStatusTransition(found, fulfillmentOf(found, id), name),
    work: async (found) => {
      const fulfillment = fulfillmentOf(found, id);
      const followed = (await effect?.({ order: found, fulfillment })) ?? [];
      const { to, event } = fulfillmentTransitions[name];
      await transaction
        .updateTable("fulfillment")
        .set({ ...row, status: to, version: fulfillment.version + 1, updatedAt: context.now })
        .where("id", "=", id)
        .execute();
      return {
        events: [
          ...(event === null ? [] : [{ type: event, id, previous: { status: fulfillment.status } }]),
          ...followed,
        ],
      };
    },
  });
  return { order, id };
}

function fulfillmentOf({ fulfillments }: OrderAggregate, id: string): OrderFulfillment {
  const fulfillment = fulfillments.find((candidate) => candidate.id === id);
  if (fulfillment === undefined) throw createFailure("resource_not_found");
  return fulfillment;
}
