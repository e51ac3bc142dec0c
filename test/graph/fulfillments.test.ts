/**
 * Fulfillments: the mutations allowed in each status, per type of fulfillment, and the required state of the
 * order.
 */
import { describe, expect, it } from "vitest";
import type { OrderAggregate, OrderFulfillment } from "#commerce/orders/order-aggregate.ts";
import { type FulfillmentStatus, fulfillmentStatuses } from "#commerce/orders/order-states.ts";
import { runInTransaction } from "#database/transaction.ts";
import { eventsOf } from "#test/operations/cart-calls.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  countsOf,
  made,
  make,
  type Move,
  moves,
  orderConflictOf,
  send,
  sent,
  untouched,
} from "./fulfillment-calls.ts";

const world = useWorld();

type Type = OrderFulfillment["type"];

/** The moves that lead to each status, per type. */
const ways: Readonly<Record<Type, Partial<Record<FulfillmentStatus, readonly Move[]>>>> = {
  shipping: {
    pending: [],
    packing: ["pack"],
    shipped: ["pack", "ship"],
    in_transit: ["pack", "ship", "in_transit"],
    out_for_delivery: ["pack", "ship", "out_for_delivery"],
    delivered: ["pack", "ship", "deliver"],
    failed: ["pack", "ship", "fail"],
    returned_to_sender: ["pack", "ship", "in_transit", "returned_to_sender"],
    canceled: ["cancel"],
  },
  pickup: {
    pending: [],
    packing: ["pack"],
    ready_for_pickup: ["pack", "ready_for_pickup"],
    delivered: ["pack", "ready_for_pickup", "deliver"],
    canceled: ["pack", "cancel"],
  },
  digital: {
    pending: [],
    packing: ["pack"],
    shipped: ["ship"],
    delivered: ["ship", "deliver"],
    failed: ["ship", "fail"],
    canceled: ["cancel"],
  },
};

/** The allowed moves, written by hand from the state machine. All others are refused. */
const allowed: Readonly<
  Record<Type, Partial<Record<FulfillmentStatus, Partial<Record<Move, FulfillmentStatus>>>>>
> = {
  shipping: {
    pending: { pack: "packing", cancel: "canceled" },
    packing: { ship: "shipped", cancel: "canceled" },
    shipped: {
      in_transit: "in_transit",
      out_for_delivery: "out_for_delivery",
      returned_to_sender: "returned_to_sender",
      deliver: "delivered",
      fail: "failed",
    },
    in_transit: {
      out_for_delivery: "out_for_delivery",
      returned_to_sender: "returned_to_sender",
      deliver: "delivered",
      fail: "failed",
    },
    out_for_delivery: { returned_to_sender: "returned_to_sender", deliver: "delivered", fail: "failed" },
  },
  pickup: {
    pending: { pack: "packing", cancel: "canceled" },
    packing: { ready_for_pickup: "ready_for_pickup", cancel: "canceled" },
    ready_for_pickup: { deliver: "delivered", cancel: "canceled" },
  },
  digital: {
    pending: { pack: "packing", ship: "shipped", cancel: "canceled" },
    packing: { ship: "shipped", cancel: "canceled" },
    shipped: { deliver: "delivered", fail: "failed" },
  },
};

const events: Partial<Record<Move, string>> = {
  pack: "packed",
  ship: "shipped",
  in_transit: "in_transit",
  ready_for_pickup: "ready_for_pickup",
  returned_to_sender: "returned_to_sender",
  deliver: "delivered",
  fail: "failed",
  cancel: "canceled",
};

const names = Object.keys(moves) as Move[];
const orderOf = (type: Type): Promise<OrderAggregate> =>
  insertOrder(world(), {
    lines: type === "digital" ? { "GFT-CARD-25": 2 } : { "KIT-KVERN": 2 },
    ...(type === "pickup" ? { delivery: "pickup-berlin" } : {}),
  });

async function begin(type: Type, steps: readonly Move[]): Promise<{ order: OrderAggregate; id: string }> {
  const order = await orderOf(type);
  const { id } = await sent(world(), "fulfillmentCreate", { id: order.id });
  await made(world(), id, steps);
  return { order, id };
}

const cases = (Object.keys(ways) as Type[]).flatMap((type) =>
  fulfillmentStatuses.flatMap((status) => {
    const steps = ways[type][status];
    return steps === undefined ? [] : [{ type, status, steps }];
  }),
);

describe("a fulfillment", () => {
  it.each(cases)(
    "of type $type in status $status makes the allowed moves only",
    async ({ type, status, steps }) => {
      const { id, order } = await begin(type, steps);
      const before = await readOrder(world(), order.id);
      const [version = 0] = before.fulfillments.map((fulfillment) => fulfillment.version);
      for (const name of names) {
        const to = allowed[type][status]?.[name];
        if (to !== undefined) continue;
        const { error } = await untouched(world(), () => make(world(), name, id));
        expect([name, error.code, error.conflict]).toMatchObject([
          name,
          "invalid_state",
          {
            resource: "fulfillment",
            id,
            currentStatus: status,
            currentVersion: version,
            reason: null,
            data: { type },
          },
        ]);
      }
      for (const [name, to] of Object.entries(allowed[type][status] ?? {}) as [Move, FulfillmentStatus][]) {
        const another = await begin(type, steps);
        const stale = await untouched(world(), () =>
          send(world(), moves[name][0], { id: another.id, input: { ...moves[name][1], expectedVersion: 1 } }),
        );
        const was = await readOrder(world(), another.order.id);
        expect([stale.error.code, stale.error.conflict]).toEqual(["version_conflict", orderConflictOf(was)]);
        const { data } = await make(world(), name, another.id);
        expect([data.status, data.version]).toEqual([to.toUpperCase(), version + 1]);
        const published = await eventsOf(world(), another.id);
        const eventType = events[name] === undefined ? undefined : `fulfillment.${events[name]}`;
        const last = published.findLast((event) => event.type === eventType);
        if (eventType !== undefined)
          expect([last?.version, last?.snapshot.data.previous]).toEqual([version + 1, { status }]);
        expect((await readOrder(world(), another.order.id)).version).toBe(was.version + 1);
      }
    },
  );

  it("publishes events without personal data of the buyer", async () => {
    const { id, order } = await begin("shipping", ["pack", "ship"]);
    const event = (await eventsOf(world(), id)).find(({ type }) => type === "fulfillment.shipped");
    const at = world().clock.now().toISOString();
    expect(event?.snapshot).toMatchObject({
      subject: { type: "fulfillment", id, version: 3 },
      cause: { actor: "staff" },
    });
    expect(event?.snapshot.data.object).toEqual({
      id,
      orderId: order.id,
      returnId: null,
      status: "shipped",
      type: "shipping",
      lines: [
        {
          lineId: order.lines[0]?.id,
          quantity: 2,
        },
      ],
      carrier: "DHL",
      trackingNumber: null,
      trackingUrl: null,
      packingStartedAt: at,
      shippedAt: at,
      estimatedDeliveryAt: null,
      deliveredAt: null,
      version: 3,
      createdAt: at,
      updatedAt: at,
    });
  });

  it("is not found for another merchant, nor by an unknown id", async () => {
    const { id, order } = await begin("shipping", []);
    await runInTransaction(world().database.db, async (transaction) => {
      const merchantId = world().demo.merchants.second.id;
      await transaction.updateTable("fulfillment").set({ merchantId }).where("id", "=", id).execute();
      await transaction
        .updateTable("salesOrder")
        .set({ merchantId, version: 3 })
        .where("id", "=", order.id)
        .execute();
    });
    for (const givenId of [id, "ful_00000000000000000000000000", ""])
      for (const name of names) {
        const { error } = await untouched(world(), () => make(world(), name, givenId));
        expect([error.code, error.conflict]).toEqual(["resource_not_found", null]);
      }
  });

  it("is refused for invalid tracking data before the order is loaded", async () => {
    const broken = [
      [{ tracking: { number: "" } }, "/tracking/number", "too_short"],
      [{ tracking: { number: "x".repeat(65) } }, "/tracking/number", "too_long"],
      [{ tracking: { carrier: "x".repeat(81) } }, "/tracking/carrier", "too_long"],
      [{ tracking: { url: "http://track.example" } }, "/tracking/url", "pattern_mismatch"],
      [{ tracking: { url: "javascript:alert(1)" } }, "/tracking/url", "pattern_mismatch"],
    ] as const;
    for (const [input, field, code] of broken) {
      const { error } = await untouched(world(), () =>
        send(world(), "fulfillmentShip", { id: "ful_x", input }),
      );
      expect([error.code, error.details]).toMatchObject(["invalid_field", [{ field, code }]]);
    }
  });
});

describe("an order that is held, disputed or not confirmed", () => {
  const outward = ["pack", "ship", "ready_for_pickup", "deliver"] as const;
  const places: Readonly<Record<(typeof outward)[number], [Type, readonly Move[]]>> = {
    pack: ["shipping", []],
    ship: ["shipping", ["pack"]],
    ready_for_pickup: ["pickup", ["pack"]],
    deliver: ["pickup", ["pack", "ready_for_pickup"]],
  };

  it.each(outward)("is not sent while it is on hold or its payment is disputed: %s", async (name) => {
    const [type, steps] = places[name];
    const held = await begin(type, steps);
    await sent(world(), "orderHold", { id: held.order.id, input: { reason: "x" } });
    const onHold = await untouched(world(), () => make(world(), name, held.id));
    expect([onHold.error.code, onHold.error.conflict]).toEqual([
      "invalid_state",
      orderConflictOf(await readOrder(world(), held.order.id)),
    ]);
    await sent(world(), "orderRelease", { id: held.order.id });
    await dispute(held.order);
    const disputed = await untouched(world(), () => make(world(), name, held.id));
    expect(disputed.error.conflict).toEqual(
      orderConflictOf(await readOrder(world(), held.order.id), { reason: "payment_disputed" }),
    );
  });

  it("still receives parcels that are on their way", async () => {
    const { order, id } = await begin("shipping", ["pack", "ship"]);
    await sent(world(), "orderHold", { id: order.id, input: { reason: "x" } });
    await made(world(), id, ["in_transit", "out_for_delivery", "deliver"]);
    expect(await countsOf(world(), order.id)).toEqual({ "KIT-KVERN": [2, 2, 2] });
    expect((await readOrder(world(), order.id)).status).toBe("on_hold");
  });

  it.each(["pending", "on_hold", "completed", "canceled"] as const)(
    "refuses fulfillments in status %s",
    async (status) => {
      const order = await insertOrder(world(), { status });
      const { error } = await untouched(world(), () =>
        send(world(), "fulfillmentCreate", { id: order.id, input: { expectedVersion: 99 } }),
      );
      expect([error.code, error.conflict]).toEqual(["invalid_state", orderConflictOf(order)]);
    },
  );
});

async function dispute({ id }: OrderAggregate): Promise<void> {
  await runInTransaction(world().database.db, async (transaction) => {
    await transaction
      .updateTable("payment")
      .set({ disputedAt: world().clock.now(), disputeReason: "fraudulent" })
      .where("orderId", "=", id)
      .execute();
    await transaction
      .updateTable("salesOrder")
      .set((row) => ({ paymentStatus: "disputed", version: row("version", "+", 1) }))
      .where("id", "=", id)
      .execute();
  });
}
