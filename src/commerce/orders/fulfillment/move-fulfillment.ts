/** Moves a fulfillment: packs, ships, tracks, delivers, fails or cancels it. */
import type { ExpectedVersionInput } from "#commerce/carts/cart-status.ts";
import { isHttpsUrl } from "#commerce/catalog/catalog-fields.ts";
import { faultAt, type Faults, requireNoFaults, textFaults } from "#foundation/faults.ts";
import type { Transaction } from "#database/transaction.ts";
import { fail } from "#foundation/failure.ts";
import { carrierMax } from "./create-fulfillment.ts";
import {
  type ChangedPart,
  changeOrder,
  type OrderCommandContext,
  orderIdOf,
} from "#commerce/orders/change-order.ts";
import type { OrderEvent } from "#commerce/orders/order-events.ts";
import {
  type FulfillmentMove,
  fulfillmentMoves,
  requireMove,
  type TrackedStatus,
} from "./fulfillment-rules.ts";
import { countUnits, type Moved, replaceLost, takeBack, takeUnits } from "./fulfillment-stock.ts";
import type { OrderAggregate, OrderFulfillment } from "#commerce/orders/order-aggregate.ts";

/** `expectedVersion` is the order's. */
export interface FulfillmentTarget extends ExpectedVersionInput {
  readonly fulfillmentId: string;
}

export interface Tracking {
  readonly carrier?: string | null | undefined;
  readonly number?: string | null | undefined;
  readonly url?: string | null | undefined;
}

export interface FulfillmentShipInput extends FulfillmentTarget {
  readonly tracking?: Tracking | null | undefined;
  readonly estimatedDeliveryAt?: Date | null | undefined;
}

export interface FulfillmentTrackInput extends FulfillmentTarget {
  readonly status: TrackedStatus;
}

export const trackingNumberMax = 64;

type Changing = Promise<ChangedPart>;

export function packFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentTarget,
): Changing {
  return move(transaction, context, {
    target,
    name: "pack",
    row: { packingStartedAt: context.now },
    effect: async (moved) => takeUnits(transaction, context, moved),
  });
}

export function shipFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: FulfillmentShipInput,
): Changing {
  const { tracking, estimatedDeliveryAt } = input;
  requireNoFaults([
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
    effect: async (moved) => {
      await takeUnits(transaction, context, moved);
      await countUnits(transaction, moved, { shipped: 1 });
    },
  });
}

function trackingFaults({ carrier, number, url }: Tracking): Faults {
  const isUrlFine = url === null || url === undefined || isHttpsUrl(url);
  return [
    ...textFaults("/tracking/carrier", carrier, { max: carrierMax }),
    ...textFaults("/tracking/number", number, { max: trackingNumberMax }),
    ...(isUrlFine
      ? []
      : [faultAt("/tracking/url", "pattern_mismatch", "It must be an https address without credentials.")]),
  ];
}

const arrivalDaysMax = 365;

function arrivalFaults(estimatedAt: Date | null, now: Date): Faults {
  const latest = now.getTime() + arrivalDaysMax * 24 * 60 * 60_000;
  if (estimatedAt === null || (estimatedAt > now && estimatedAt.getTime() <= latest)) return [];
  return [
    faultAt(
      "/estimatedDeliveryAt",
      "out_of_range",
      `It must be in the future, and no more than ${arrivalDaysMax} days from now.`,
    ),
  ];
}

export function trackFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  input: FulfillmentTrackInput,
): Changing {
  return move(transaction, context, {
    target: input,
    name: input.status,
    effect: async (moved) =>
      input.status === "returned_to_sender" ? takeBack(transaction, context, moved) : undefined,
  });
}

export function deliverFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentTarget,
): Changing {
  return move(transaction, context, {
    target,
    name: "deliver",
    row: { deliveredAt: context.now },
    // What the buyer fetches leaves the house with its buyer.
    effect: async (moved) =>
      countUnits(transaction, moved, { delivered: 1, shipped: moved.fulfillment.type === "pickup" ? 1 : 0 }),
  });
}

export function failFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentTarget,
): Changing {
  return move(transaction, context, {
    target,
    name: "fail",
    effect: async (moved) => replaceLost(transaction, context, moved),
  });
}

/** What was taken from the stock for it stays with the order. */
export function cancelFulfillment(
  transaction: Transaction,
  context: OrderCommandContext,
  target: FulfillmentTarget,
): Changing {
  return move(transaction, context, { target, name: "cancel" });
}

interface MoveParts {
  readonly target: FulfillmentTarget;
  readonly name: FulfillmentMove;
  /** What else its row says from now on. */
  readonly row?: {
    readonly packingStartedAt?: Date;
    readonly shippedAt?: Date;
    readonly estimatedDeliveryAt?: Date | null;
    readonly deliveredAt?: Date;
    readonly carrier?: string;
    readonly trackingNumber?: string | null;
    readonly trackingUrl?: string | null;
  };
  /** On the order's lines and the stock; what else happened through it. */
  readonly effect?: (moved: Moved) => Promise<readonly OrderEvent[] | void>;
}

async function move(
  transaction: Transaction,
  context: OrderCommandContext,
  { target, name, row = {}, effect }: MoveParts,
): Changing {
  const { fulfillmentId: id, expectedVersion } = target;
  const orderId = await orderIdOf(transaction, context, { part: "fulfillment", id });
  const order = await changeOrder(transaction, context, {
    target: { orderId, expectedVersion },
    requireState: (found) => requireMove(found, fulfillmentOf(found, id), name),
    work: async (found) => {
      const fulfillment = fulfillmentOf(found, id);
      const followed = (await effect?.({ order: found, fulfillment })) ?? [];
      const { to, event } = fulfillmentMoves[name];
      await transaction
        .updateTable("fulfillment")
        .set({ ...row, status: to, version: fulfillment.version + 1, updatedAt: context.now })
        .where("id", "=", id)
        .execute();
      return {
        happenings: [
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
  if (fulfillment === undefined) throw fail("resource_not_found");
  return fulfillment;
}
