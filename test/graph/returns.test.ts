/**
 * Returns: returned units are counted, restocked and refunded exactly once, and the refund is the amount
 * shown at the request.
 */
import { describe, expect, it } from "vitest";
import { type OrderOverrides, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { expectBalance, lineOf, makeOrder, stockOf } from "./order-money-calls.ts";
import { asBuyer, conflict, done, makeDelivered, refused, returnOf, partEventTypes } from "./return-calls.ts";

const [mill, cup] = ["KIT-KVERN", "KIT-EMALJE-WHITE"];
const [millMinor, cupMinor, shippingMinor] = [8490, 1290, 490];

const counts = ({
  returnRequested,
  returned,
  refunded,
  reducedMinor,
}: Record<string, unknown>): unknown[] => [returnRequested, returned, refunded, reducedMinor];

describe("a return for a refund", () => {
  const world = useWorld();

  it("leads from the request to the refund: counted, restocked, refunded, with events", async () => {
    const order = await makeDelivered(world());
    const line = lineOf(order, cup);
    const stock = await stockOf(world(), cup);
    const input = {
      kind: "RETURN_REFUND",
      reason: "UNWANTED",
      note: "They chip.",
      lines: [{ lineId: line.id, quantity: 2 }],
    };
    const opened = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    expect(opened).toEqual({
      id: expect.stringMatching(/^ret_/),
      orderId: order.id,
      status: "APPROVED",
      kind: "RETURN_REFUND",
      reason: "UNWANTED",
      note: "They chip.",
      declineReason: null,
      inspectionNote: null,
      method: "MAIL",
      settlement: "ORIGINAL_PAYMENT",
      refund: { amountMinor: 2 * cupMinor },
      fee: { amountMinor: 0 },
      exchangeVariantId: null,
      fulfillmentIds: [],
      lines: [{ lineId: line.id, quantity: 2, received: 0, accepted: 0, restocked: 0 }],
      version: 2,
      closedAt: null,
    });
    const { id } = opened;
    const requested = await readOrder(world(), order.id);
    expect(counts(lineOf(requested, cup) as never)).toEqual([2, 0, 0, 0]);
    expect(requested).toMatchObject({ version: 2, returnStatus: "in_progress" });

    expect(await done(world(), "returnTrack", { id })).toMatchObject({ status: "IN_TRANSIT", version: 3 });
    const received = await done(world(), "returnReceive", {
      id,
      input: { lines: [{ lineId: line.id, received: 2 }] },
    });
    expect(received).toMatchObject({ status: "RECEIVED", lines: [{ received: 2, accepted: 0 }] });
    const inspected = { lines: [{ lineId: line.id, accepted: 2, restock: 1 }], note: "One is chipped." };
    expect(await done(world(), "returnInspect", { id, input: inspected })).toMatchObject({
      status: "INSPECTED",
      inspectionNote: "One is chipped.",
      lines: [{ received: 2, accepted: 2, restocked: 1 }],
    });
    expect(counts(lineOf(await readOrder(world(), order.id), cup) as never)).toEqual([0, 2, 0, 0]);
    expect(await stockOf(world(), cup)).toEqual({ ...stock, onHand: stock.onHand + 1 });

    expect(await done(world(), "returnClose", { id })).toMatchObject({
      status: "CLOSED",
      refund: { amountMinor: 2 * cupMinor },
      version: 6,
    });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(counts(lineOf(after, cup) as never)).toEqual([0, 2, 2, 2 * cupMinor]);
    expect(after).toMatchObject({
      reducedMinor: 2 * cupMinor,
      shippingReducedMinor: 0,
      returnStatus: "partially_returned",
      paymentStatus: "partially_refunded",
    });
    expect(after.refunds).toMatchObject([
      {
        status: "succeeded",
        reason: "order_returned",
        returnId: id,
        amountMinor: 2 * cupMinor,
        shippingMinor: 0,
        lines: [{ lineId: line.id, quantity: 2, amountMinor: 2 * cupMinor }],
      },
    ]);
    expectBalance(after);
    const steps = ["requested", "approved", "in_transit", "received", "inspected", "closed"].map(
      (step) => `return.${step}`,
    );
    expect(await partEventTypes(world(), order)).toEqual(
      [...steps, "refund.created", "refund.succeeded"].toSorted(),
    );
    expect(after.timeline.map(({ type, actor }) => `${type} ${actor}`)).toContain("return_requested buyer");
    const movements = await world()
      .database.db.selectFrom("stockMovement")
      .select(["delta", "reason"])
      .where("note", "=", order.number)
      .execute();
    expect(movements).toEqual([{ delta: 1, reason: "returned" }]);
  });

  it("refunds accepted units only; the buyer may request the others again", async () => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, cup);
    const { id } = await done(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 2 }] },
    });
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: 2 }] } });
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted: 1, restock: 0 }] } });
    expect(await done(world(), "returnClose", { id })).toMatchObject({ refund: { amountMinor: cupMinor } });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(counts(lineOf(after, cup) as never)).toEqual([0, 1, 1, cupMinor]);
    expectBalance(after);
    const again = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    expect(await done(world(), "returnRequest", { ...asBuyer, id: order.id, input: again })).toMatchObject({
      status: "APPROVED",
    });
  });

  it("deducts the shown fees, but none if the fault is the merchant's", async () => {
    const policies = { return: { restockingBasisPoints: 1000, returnShippingMinor: 490 } };
    const paid: number[] = [];
    for (const reason of ["UNWANTED", "DEFECTIVE"]) {
      const order = await makeDelivered(world(), { policies });
      const { id: lineId } = lineOf(order, mill);
      const input = { kind: "RETURN_REFUND", reason, lines: [{ lineId, quantity: 1 }] };
      const opened = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
      const isFree = reason === "DEFECTIVE";
      const feeMinor = isFree ? 0 : 849 + 490;
      expect(opened).toMatchObject({
        refund: { amountMinor: millMinor - feeMinor },
        fee: { amountMinor: feeMinor },
      });
      await finish(opened.id, lineId, 1);
      await world().app.payments.drive();
      const after = await readOrder(world(), order.id);
      expect(after.reducedMinor).toBe(millMinor - feeMinor);
      expectBalance(after);
      paid.push(after.refunds[0]?.amountMinor ?? 0);
    }
    expect(paid).toEqual([millMinor - 849 - 490, millMinor]);
  });

  it("of unpaid units only reduces what the buyer owes", async () => {
    const order = await makeDelivered(world(), { payment: "authorized" });
    const { id: lineId } = lineOf(order, mill);
    const input = { kind: "RETURN_REFUND", reason: "DEFECTIVE", lines: [{ lineId, quantity: 1 }] };
    const { id } = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    await finish(id, lineId, 1);
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({ reducedMinor: millMinor, refunds: [] });
    expectBalance(after);
  });

  it("as a withdrawal from the whole order refunds the shipping too", async () => {
    const order = await makeDelivered(world());
    const lines = order.lines.map(({ id: lineId, ordered: quantity }) => ({ lineId, quantity }));
    const { id, refund } = await done(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: { kind: "WITHDRAWAL", reason: "OTHER", lines },
    });
    expect(refund).toEqual({ amountMinor: order.totalMinor });
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", {
      id,
      input: { lines: lines.map(({ lineId, quantity: received }) => ({ lineId, received })) },
    });
    await done(world(), "returnInspect", {
      id,
      input: { lines: lines.map(({ lineId, quantity }) => ({ lineId, accepted: quantity, restock: 0 })) },
    });
    await done(world(), "returnClose", { id });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(after).toMatchObject({
      reducedMinor: order.totalMinor,
      shippingReducedMinor: shippingMinor,
      returnStatus: "returned",
      paymentStatus: "refunded",
      refunds: [{ status: "succeeded", amountMinor: order.totalMinor, shippingMinor }],
    });
    expectBalance(after);
  });

  it("ignores store credit in the terms of an order that an earlier release took", async () => {
    const policies: OrderOverrides["policies"] = { return: JSON.parse('{ "storeCredit": true }') };
    const order = await makeDelivered(world(), { policies });
    const { id: lineId } = lineOf(order, cup);
    const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    const { id } = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    await finish(id, lineId, 1);
    expect(await returnOf(world(), order.id)).toMatchObject({
      settlement: "original_payment",
      status: "closed",
      refundMinor: cupMinor,
    });
    expect(await readOrder(world(), order.id)).toMatchObject({
      reducedMinor: cupMinor,
      refunds: [{ amountMinor: cupMinor }],
    });
  });

  async function finish(id: string, lineId: string, units: number): Promise<void> {
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: units }] } });
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted: units, restock: 0 }] } });
    await done(world(), "returnClose", { id });
  }
});

describe("a refund without a return", () => {
  const world = useWorld();

  it("for units that need not be sent back is paid at once", async () => {
    const order = await makeDelivered(world(), { policies: { return: { keepItemMinor: 3000 } } });
    const { id: lineId } = lineOf(order, cup);
    const input = { kind: "REFUND_ONLY", reason: "DAMAGED_IN_TRANSIT", lines: [{ lineId, quantity: 1 }] };
    const opened = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    expect(opened).toMatchObject({
      status: "CLOSED",
      method: "KEEP_ITEM",
      refund: { amountMinor: cupMinor },
    });
    await world().app.payments.drive();
    const after = await readOrder(world(), order.id);
    expect(counts(lineOf(after, cup) as never)).toEqual([0, 0, 1, cupMinor]);
    expect(after.refunds).toMatchObject([
      { status: "succeeded", amountMinor: cupMinor, returnId: opened.id },
    ]);
    expectBalance(after);
    expect(await partEventTypes(world(), order)).toEqual(
      [
        "return.requested",
        "return.approved",
        "return.closed",
        "refund.created",
        "refund.succeeded",
      ].toSorted(),
    );
    // The second unit can still be refunded; the first cannot be refunded twice.
    expect(
      await refused(world(), "returnRequest", {
        ...asBuyer,
        id: order.id,
        input: { ...input, lines: [{ lineId, quantity: 2 }] },
      }),
    ).toEqual(conflict("quantity_exhausted", "/lines/0/quantity too_large"));
  });

  it("that the merchant must approve waits, and holds its units until then", async () => {
    const order = await makeDelivered(world(), {
      policies: { return: { mode: "request", keepItemMinor: 3000 } },
    });
    const { id: lineId } = lineOf(order, cup);
    const input = { kind: "REFUND_ONLY", reason: "DEFECTIVE", lines: [{ lineId, quantity: 2 }] };
    const opened = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    expect(opened).toMatchObject({ status: "REQUESTED", version: 1 });
    expect(counts(lineOf(await readOrder(world(), order.id), cup) as never)).toEqual([2, 0, 0, 0]);
    expect(await refused(world(), "returnRequest", { ...asBuyer, id: order.id, input })).toMatchObject({
      reason: "return_in_progress",
    });
    expect(await done(world(), "returnApprove", { id: opened.id })).toMatchObject({
      status: "CLOSED",
      version: 2,
    });
    expect(counts(lineOf(await readOrder(world(), order.id), cup) as never)).toEqual([0, 0, 2, 2 * cupMinor]);
  });

  it("for lost units is paid once the parcel counts as lost, and not twice", async () => {
    const order = await makeOrder(world());
    const { id } = await done(world(), "fulfillmentCreate", { id: order.id, input: {} });
    await done(world(), "fulfillmentPack", { id });
    await done(world(), "fulfillmentShip", { id });
    const { id: lineId } = lineOf(order, mill);
    const ask = {
      ...asBuyer,
      id: order.id,
      input: { kind: "REFUND_ONLY", reason: "NOT_RECEIVED", lines: [{ lineId, quantity: 1 }] },
    };
    expect(await refused(world(), "returnRequest", ask)).toEqual(
      conflict("return_window_not_started", "/lines/0/quantity too_large"),
    );
    world().clock.advance(15 * 86_400_000);
    expect(await done(world(), "returnRequest", ask)).toMatchObject({
      status: "CLOSED",
      refund: { amountMinor: millMinor },
    });
    expect(counts(lineOf(await readOrder(world(), order.id), mill) as never)).toEqual([0, 0, 1, millMinor]);
    expect(await refused(world(), "returnRequest", ask)).toMatchObject({ reason: "quantity_exhausted" });
  });
});
