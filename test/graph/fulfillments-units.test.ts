/**
 * Effects of fulfillments on units and stock: no unit is sent twice or without stock, and lost units can be
 * sent again.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { eventsOf, variantOf } from "#test/operations/cart-calls.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import "#test/support/properties.ts";
import {
  countsOf,
  made,
  make,
  type Move,
  moves,
  orderConflictOf,
  send,
  setStock,
  stockOf,
  untouched,
} from "./fulfillment-calls.ts";

const world = useWorld();
const create = (order: OrderAggregate, input: object = {}) =>
  send(world(), "fulfillmentCreate", { id: order.id, input: { ...input } });
const lineId = (order: OrderAggregate, index: number): string => order.lines[index]?.id ?? "";

describe("a new fulfillment", () => {
  it("contains all open units, of the type that the lines and the delivery method need", async () => {
    const mixed = await insertOrder(world(), { lines: { "KIT-KVERN": 3, "GFT-CARD-25": 1 } });
    const digital = await create(mixed, { type: "DIGITAL" });
    expect(digital.data).toMatchObject({
      type: "DIGITAL",
      carrier: null,
      lines: [{ lineId: lineId(mixed, 1), quantity: 1 }],
      status: "PENDING",
      version: 1,
    });
    await create(mixed, { lines: [{ lineId: lineId(mixed, 0), quantity: 1 }] });
    expect((await create(mixed)).data).toMatchObject({
      type: "SHIPPING",
      carrier: "DHL",
      lines: [{ lineId: lineId(mixed, 0), quantity: 2 }],
    });
    const { error } = await untouched(world(), () => create(mixed));
    expect([error.code, error.conflict]).toEqual([
      "invalid_state",
      orderConflictOf(await readOrder(world(), mixed.id), { reason: "nothing_open" }),
    ]);
    const fetched = await insertOrder(world(), { delivery: "pickup-berlin" });
    expect((await create(fetched)).data).toMatchObject({ type: "PICKUP", carrier: null });
    const carried = await insertOrder(world());
    expect((await create(carried, { carrier: "Bike" })).data).toMatchObject({
      type: "SHIPPING",
      carrier: "Bike",
    });
    const gift = await insertOrder(world(), { lines: { "GFT-CARD-25": 1 } });
    expect((await create(gift)).data).toMatchObject({ type: "DIGITAL" });
  });

  it("is refused for more units than a line has left, with the quantity left", async () => {
    const order = await insertOrder(world(), {
      lines: { "KIT-KVERN": 3, "KIT-EMALJE-WHITE": 2 },
      quantities: { "KIT-EMALJE-WHITE": { canceled: 1 } },
    });
    await create(order, { lines: [{ lineId: lineId(order, 0), quantity: 2 }] });
    const lines = [
      { lineId: lineId(order, 0), quantity: 2 },
      { lineId: lineId(order, 1), quantity: 2 },
    ];
    const { error } = await untouched(world(), () => create(order, { lines }));
    expect(error.code).toBe("invalid_state");
    expect(error.details).toMatchObject(
      ["/lines/0/quantity", "/lines/1/quantity"].map((field) => ({ in: "body", field, code: "too_large" })),
    );
    expect(error.conflict).toEqual(
      orderConflictOf(await readOrder(world(), order.id), {
        reason: "quantity_not_open",
        data: { lines: [0, 1].map((index) => ({ lineId: lineId(order, index), quantity: 1 })) },
      }),
    );
  });

  it("is refused for invalid input", async () => {
    const [order, other] = [await insertOrder(world()), await insertOrder(world())];
    const id = lineId(order, 0);
    const broken = [
      [{ lines: [] }, "/lines", "too_short"],
      [{ lines: [{ lineId: id, quantity: 0 }] }, "/lines/0/quantity", "too_small"],
      [{ lines: [{ lineId: id, quantity: 10_000 }] }, "/lines/0/quantity", "too_large"],
      [{ lines: [1, 2].map(() => ({ lineId: id, quantity: 1 })) }, "/lines/1/lineId", "duplicate"],
      [{ lines: [{ lineId: lineId(other, 0), quantity: 1 }] }, "/lines/0/lineId", "unknown"],
      [{ type: "DIGITAL", lines: [{ lineId: id, quantity: 1 }] }, "/type", "not_allowed"],
      [{ carrier: "x".repeat(81) }, "/carrier", "too_long"],
    ] as const;
    for (const [input, field, code] of broken) {
      const { error } = await untouched(world(), () => create(order, input));
      expect([error.code, error.details]).toMatchObject(["invalid_field", [{ field, code }]]);
    }
    const { error } = await untouched(world(), () => create(order, { expectedVersion: 7 }));
    expect([error.code, error.conflict]).toEqual(["version_conflict", orderConflictOf(order)]);
    const unknown = await untouched(world(), () => send(world(), "fulfillmentCreate", { id: "ord_x" }));
    expect([unknown.status, unknown.error.code]).toEqual([200, "order_not_found"]);
  });
});

describe("the delivery of a fulfillment", () => {
  it("is counted on the order's lines, and the last one completes the order", async () => {
    const order = await insertOrder(world());
    const [first, second] = [
      (await create(order, { lines: [{ lineId: lineId(order, 1), quantity: 1 }] })).data.id,
      (await create(order)).data.id,
    ];
    const statuses: unknown[] = [];
    const step = async (id: string, move: Move): Promise<void> => {
      await made(world(), id, [move]);
      const { status, fulfillmentStatus } = await readOrder(world(), order.id);
      const counts = await countsOf(world(), order.id);
      statuses.push([status, fulfillmentStatus, counts["KIT-KVERN"], counts["KIT-EMALJE-WHITE"]]);
    };
    for (const move of ["pack", "ship", "deliver"] as const) await step(first, move);
    for (const move of ["pack", "ship", "deliver"] as const) await step(second, move);
    expect(statuses).toEqual([
      ["confirmed", "in_progress", [1, 0, 0], [2, 0, 0]],
      ["confirmed", "partially_shipped", [1, 0, 0], [2, 1, 0]],
      ["confirmed", "partially_delivered", [1, 0, 0], [2, 1, 1]],
      ["confirmed", "partially_delivered", [1, 0, 0], [2, 1, 1]],
      ["confirmed", "partially_delivered", [1, 1, 0], [2, 2, 1]],
      ["completed", "delivered", [1, 1, 1], [2, 2, 2]],
    ]);
    expect((await eventsOf(world(), order.id)).at(-1)).toMatchObject({
      type: "order.completed",
      snapshot: { data: { previous: { status: "confirmed", fulfillmentStatus: "partially_delivered" } } },
    });
  });

  it("does not complete an unpaid order", async () => {
    const order = await insertOrder(world(), { payment: "authorized" });
    await made(world(), (await create(order)).data.id, ["pack", "ship", "deliver"]);
    expect(await readOrder(world(), order.id)).toMatchObject({
      status: "confirmed",
      fulfillmentStatus: "delivered",
      paymentStatus: "authorized",
    });
  });
});

describe("stock", () => {
  const lines = { "KIT-KVERN": 3 };
  const variant = (): Promise<string> => variantOf(world(), "KIT-KVERN");

  it("is allocated when a fulfillment is packed, and packing without stock is refused", async () => {
    const order = await insertOrder(world(), { lines, quantities: { "KIT-KVERN": { allocated: 1 } } });
    await setStock(world(), await variant(), { onHand: 1, reserved: 2 });
    const [{ id: whole }] = [(await create(order)).data];
    const { error } = await untouched(world(), () => make(world(), "pack", whole));
    const data = { shortages: [{ variantId: await variant(), wanted: 2, available: 1 }] };
    expect([error.code, error.conflict]).toEqual([
      "invalid_state",
      orderConflictOf(await readOrder(world(), order.id), { reason: "insufficient_stock", data }),
    ]);
    await made(world(), whole, ["cancel"]);
    const { id: part } = (await create(order, { lines: [{ lineId: lineId(order, 0), quantity: 2 }] })).data;
    await made(world(), part, ["pack"]);
    expect([await countsOf(world(), order.id), await stockOf(world(), await variant())]).toEqual([
      { "KIT-KVERN": [2, 0, 0] },
      [0, 1],
    ]);
    const { id: rest } = (await create(order)).data;
    expect(
      (await untouched(world(), () => make(world(), "pack", rest))).error.conflict.data.shortages,
    ).toMatchObject([{ wanted: 1, available: 0 }]);
    // The canceled fulfillment leaves its allocated units to the other one.
    await made(world(), part, ["cancel"]);
    await made(world(), rest, ["pack"]);
    expect(await countsOf(world(), order.id)).toEqual({ "KIT-KVERN": [2, 0, 0] });
  });

  it("is reserved again for lost units; returned units are sent again", async () => {
    const order = await insertOrder(world(), { lines });
    await setStock(world(), await variant(), { onHand: 5, reserved: 0 });
    await made(world(), (await create(order)).data.id, ["pack", "ship", "returned_to_sender"]);
    expect([await countsOf(world(), order.id), await stockOf(world(), await variant())]).toEqual([
      { "KIT-KVERN": [3, 0, 0] },
      [5, 0],
    ]);
    const { id: lost } = (await create(order)).data;
    await made(world(), lost, ["pack", "ship", "fail"]);
    expect([await countsOf(world(), order.id), await stockOf(world(), await variant())]).toEqual([
      { "KIT-KVERN": [0, 0, 0] },
      [5, 3],
    ]);
    await made(world(), (await create(order)).data.id, ["pack", "ship", "deliver"]);
    expect([await countsOf(world(), order.id), await stockOf(world(), await variant())]).toEqual([
      { "KIT-KVERN": [3, 3, 3] },
      [2, 0],
    ]);
    expect((await readOrder(world(), order.id)).status).toBe("completed");
  });

  it("stays consistent in any order of moves: reserved units equal waiting units", async () => {
    const names = Object.keys(moves) as Move[];
    const act = fc.record({
      name: fc.constantFrom("create" as const, ...names),
      pick: fc.nat(3),
      quantity: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 14 }), async (acts) => {
        const order = await insertOrder(world(), { lines, quantities: { "KIT-KVERN": { allocated: 1 } } });
        await setStock(world(), await variant(), { onHand: 4, reserved: 2 });
        const ids: string[] = [];
        for (const { name, pick, quantity } of acts) {
          const { data } =
            name === "create"
              ? await create(order, { lines: [{ lineId: lineId(order, 0), quantity }] })
              : await make(world(), name, ids[pick] ?? "");
          if (name === "create" && data !== null) ids.push(data.id);
          const {
            lines: [line],
            fulfillments,
          } = await readOrder(world(), order.id);
          const { allocated = 0, shipped = 0, delivered = 0 } = line ?? {};
          const unitsIn = (...statuses: string[]): number =>
            fulfillments
              .filter(({ status }) => statuses.includes(status))
              .reduce((sum, { lines: [first] }) => sum + (first?.quantity ?? 0), 0);
          const onTheWay = unitsIn("shipped", "in_transit", "out_for_delivery");
          expect([delivered, shipped]).toEqual([unitsIn("delivered"), unitsIn("delivered") + onTheWay]);
          expect(shipped + unitsIn("pending", "packing", "ready_for_pickup")).toBeLessThanOrEqual(3);
          expect(shipped + unitsIn("packing", "ready_for_pickup")).toBeLessThanOrEqual(allocated);
          expect((await stockOf(world(), await variant()))[1]).toBe(3 - allocated);
        }
      }),
      { numRuns: 12 },
    );
  });
});

describe("the fulfillment of an exchange", () => {
  async function exchange(order: OrderAggregate): Promise<{ id: string; returnId: string }> {
    const [id, returnId, at] = [createId("fulfillment"), createId("return"), world().clock.now()];
    const variantId = await variantOf(world(), "KIT-KVERN");
    const { merchant } = order;
    await runInTransaction(world().database.db, async (transaction) => {
      const parts = { orderId: order.id, merchantId: merchant.id, updatedAt: at };
      await transaction
        .insertInto("orderReturn")
        .values({
          ...parts,
          id: returnId,
          kind: "exchange",
          status: "inspected",
          reason: "other",
          requestedAt: at,
        })
        .execute();
      await transaction
        .insertInto("returnLine")
        .values({ returnId, orderLineId: lineId(order, 0), quantity: 1 })
        .execute();
      await transaction
        .insertInto("fulfillment")
        .values({ ...parts, id, returnId, type: "shipping", createdAt: at })
        .execute();
      await transaction
        .insertInto("fulfillmentLine")
        .values({ fulfillmentId: id, orderLineId: lineId(order, 0), quantity: 1 })
        .execute();
      await transaction
        .updateTable("salesOrder")
        .set({ version: order.version + 1 })
        .where("id", "=", order.id)
        .execute();
      await transaction
        .updateTable("stockLevel")
        .set({ onHand: 5, reserved: 1 })
        .where("variantId", "=", variantId)
        .execute();
    });
    return { id, returnId };
  }

  it("has its own stock and does not count as an ordered unit", async () => {
    const order = await insertOrder(world(), { lines: { "KIT-KVERN": 1 }, deliveredAt: world().clock.now() });
    expect(order.status).toBe("completed");
    const { id, returnId } = await exchange(order);
    const variant = await variantOf(world(), "KIT-KVERN");
    await made(world(), id, ["pack"]);
    expect(await stockOf(world(), variant)).toEqual([4, 0]);
    const { error } = await untouched(world(), () => make(world(), "cancel", id));
    expect(error.conflict).toMatchObject({
      resource: "fulfillment",
      id,
      reason: "belongs_to_return",
      data: { returnId },
    });
    await made(world(), id, ["ship", "returned_to_sender"]);
    // Another fulfillment follows, whose unit is reserved again.
    expect(await stockOf(world(), variant)).toEqual([5, 1]);
    const second = (await readOrder(world(), order.id)).fulfillments.find(
      ({ status }) => status === "pending",
    );
    expect(second).toMatchObject({
      returnId,
      status: "pending",
      lines: [{ lineId: lineId(order, 0), quantity: 1 }],
    });
    await made(world(), second?.id ?? "", ["pack", "ship", "fail"]);
    expect(await stockOf(world(), variant)).toEqual([4, 1]);
    const third = (await readOrder(world(), order.id)).fulfillments.find(
      ({ status }) => status === "pending",
    );
    await made(world(), third?.id ?? "", ["pack", "ship", "deliver"]);
    expect(await stockOf(world(), variant)).toEqual([3, 0]);
    expect([
      await countsOf(world(), order.id),
      (await readOrder(world(), order.id)).fulfillmentStatus,
    ]).toEqual([{ "KIT-KVERN": [1, 1, 1] }, "delivered"]);
  });
});
