/**
 * Refused mutations of returns: steps that the status does not allow, lines that are not offered, and foreign
 * callers. A refusal writes nothing.
 */
import { describe, expect, it } from "vitest";
import { returnTransitions, type ReturnStepName, returnSteps } from "#commerce/after-sales/return-rules.ts";
import type { OrderAggregate, OrderReturn } from "#commerce/orders/order-aggregate.ts";
import { returnStatuses, type ReturnStatus } from "#commerce/orders/order-states.ts";
import { runInTransaction } from "#database/transaction.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { lineOf } from "./order-money-calls.ts";
import {
  type AfterSalesMutation,
  asBuyer,
  call,
  conflict,
  done,
  invalid,
  makeDelivered,
  refused,
  type Refusal,
  returnOf,
} from "./return-calls.ts";

const mill = "KIT-KVERN";

const mutationOf: Readonly<Record<ReturnStepName, AfterSalesMutation>> = {
  approve: "returnApprove",
  decline: "returnDecline",
  track: "returnTrack",
  receive: "returnReceive",
  inspect: "returnInspect",
  close: "returnClose",
  cancel: "returnCancel",
};

/** The allowed steps, written by hand from the contract. All others are refused. */
const expected: Readonly<Record<ReturnStatus, Partial<Record<ReturnStepName, ReturnStatus>>>> = {
  requested: { approve: "approved", decline: "declined", cancel: "canceled" },
  approved: { track: "in_transit", cancel: "canceled" },
  declined: {},
  in_transit: { receive: "received" },
  received: { inspect: "inspected" },
  inspected: { close: "closed" },
  closed: {},
  canceled: {},
};

const inputOf = (step: ReturnStepName, lineId: string): Record<string, unknown> => {
  if (step === "decline") return { reason: "Too worn." };
  if (step === "receive") return { lines: [{ lineId, received: 0 }] };
  return step === "inspect" ? { lines: [{ lineId, accepted: 0, restock: 0 }] } : {};
};

describe("the steps of a return", () => {
  const world = useWorld();

  async function makeRequested(
    methods: ("mail" | "store")[] = ["mail"],
  ): Promise<{ order: OrderAggregate; id: string; lineId: string }> {
    const order = await makeDelivered(world(), { policies: { return: { mode: "request", methods } } });
    const lineId = lineOf(order, mill).id;
    const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    const { id } = await done(world(), "returnRequest", { ...asBuyer, id: order.id, input });
    return { order, id, lineId };
  }

  async function put(order: OrderAggregate, status: ReturnStatus): Promise<OrderReturn> {
    const { version } = await readOrder(world(), order.id);
    await runInTransaction(world().database.db, async (transaction) => {
      await transaction
        .updateTable("salesOrder")
        .set({ version: version + 1 })
        .where("id", "=", order.id)
        .execute();
      await transaction.updateTable("orderReturn").set({ status }).where("orderId", "=", order.id).execute();
    });
    return returnOf(world(), order.id);
  }

  const reasonOf = (status: ReturnStatus, step: ReturnStepName): string => {
    if (status === "approved" && step === "receive") return "not_in_transit";
    return Object.keys(expected[status]).length === 0 ? "return_ended" : "step_not_possible";
  };

  it("name the next step if a step is not possible", async () => {
    const { id, lineId } = await makeRequested();
    const early = await call(world(), "returnReceive", { id, input: inputOf("receive", lineId) });
    expect(early.error).toMatchObject({
      code: "invalid_state",
      message:
        'returnReceive is not possible for a return with the status "requested". Possible steps: ' +
        "returnApprove, returnDecline, returnCancel.",
    });
    await done(world(), "returnApprove", { id });
    const untracked = await call(world(), "returnReceive", { id, input: inputOf("receive", lineId) });
    expect(untracked.error).toMatchObject({
      message:
        'A return that is sent with a carrier must be "in_transit" before it is received: run returnTrack first.',
      conflict: {
        reason: "not_in_transit",
        data: { possibleMutations: ["returnTrack", "returnCancel"] },
      },
    });
    await done(world(), "returnCancel", { id });
    const ended = await call(world(), "returnApprove", { id });
    expect(ended.error.message).toContain("No further step is possible.");
  });

  it("are the contract's", () => {
    expect(returnTransitions).toEqual(expected);
  });

  it("are refused in every other status with 409 and the return's status, without a write", async () => {
    const { order, id, lineId } = await makeRequested();
    for (const status of returnStatuses) {
      const { version } = await put(order, status);
      for (const step of returnSteps) {
        if (expected[status][step] !== undefined) continue;
        expect({
          status,
          step,
          ...(await refused(world(), mutationOf[step], { id, input: inputOf(step, lineId) })),
        }).toEqual({
          status,
          step,
          ...conflict(reasonOf(status, step)),
        });
        const { error } = await call(world(), mutationOf[step], { id, input: inputOf(step, lineId) });
        expect(error.conflict).toMatchObject({
          resource: "return",
          id,
          currentStatus: status,
          currentVersion: version,
        });
      }
    }
  });

  it("lead to the table's statuses, and release requested units if the return ends early", async () => {
    for (const status of returnStatuses) {
      for (const step of returnSteps) {
        const next = expected[status][step];
        if (next === undefined) continue;
        const { order, id, lineId } = await makeRequested();
        if (status !== "requested") await put(order, status);
        expect(await done(world(), mutationOf[step], { id, input: inputOf(step, lineId) })).toMatchObject({
          status: next.toUpperCase(),
        });
        const isOver = ["decline", "cancel", "inspect"].includes(step);
        // The test set this status directly, so its units were never counted. A close changes no count.
        const { returnRequested } = lineOf(await readOrder(world(), order.id), mill);
        expect({ status, step, returnRequested }).toEqual({ status, step, returnRequested: isOver ? 0 : 1 });
      }
    }
  });

  it("may skip the transport for a return brought to the shop", async () => {
    const { id, lineId } = await makeRequested(["store"]);
    await done(world(), "returnApprove", { id });
    expect(await done(world(), "returnReceive", { id, input: inputOf("receive", lineId) })).toMatchObject({
      status: "RECEIVED",
      method: "STORE",
    });
  });

  it("check the state before the version, and the version before anything is written", async () => {
    const { order, id } = await makeRequested();
    expect(await refused(world(), "returnTrack", { id, input: { expectedVersion: 9 } })).toMatchObject({
      code: "invalid_state",
    });
    expect(await refused(world(), "returnApprove", { id, input: { expectedVersion: 9 } })).toMatchObject({
      code: "version_conflict",
    });
    expect(await done(world(), "returnApprove", { id, input: { expectedVersion: 1 } })).toMatchObject({
      version: 2,
    });
    const input = {
      kind: "RETURN_REFUND",
      reason: "UNWANTED",
      lines: [{ lineId: lineOf(order, "KIT-EMALJE-WHITE").id, quantity: 1 }],
      expectedVersion: 9,
    };
    expect(await refused(world(), "returnRequest", { ...asBuyer, id: order.id, input })).toMatchObject({
      code: "version_conflict",
    });
  });

  it("count every received line once, within the requested quantity", async () => {
    const { order, id, lineId } = await makeRequested();
    await put(order, "in_transit");
    const receive = (...lines: object[]): Promise<Refusal> =>
      refused(world(), "returnReceive", { id, input: { lines } });
    expect(await receive()).toEqual(invalid("/lines required"));
    expect(await receive({ lineId, received: 2 })).toEqual(invalid("/lines/0/received too_large"));
    expect(await receive({ lineId, received: 1 }, { lineId, received: 0 })).toEqual(
      invalid("/lines/1/lineId duplicate"),
    );
    expect(await receive({ lineId, received: 1 }, { lineId: "oln_x", received: 0 })).toEqual(
      invalid("/lines/1/lineId unknown"),
    );
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: 1 }] } });
    const inspect = (line: object): Promise<Refusal> =>
      refused(world(), "returnInspect", { id, input: { lines: [{ lineId, ...line }] } });
    expect(await inspect({ accepted: 2, restock: 0 })).toEqual(invalid("/lines/0/accepted too_large"));
    expect(await inspect({ accepted: 0, restock: 1 })).toEqual(invalid("/lines/0/restock too_large"));
  });

  it('are refused for other buyers and merchants with "not found"', async () => {
    const { order, id, lineId } = await makeRequested();
    const stranger = { token: "storefront", buyer: "somebody-else" } as const;
    const input = { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId, quantity: 1 }] };
    expect(await refused(world(), "returnCancel", { ...stranger, id })).toEqual({
      code: "resource_not_found",
      reason: null,
      fields: ["/returnId unknown"],
    });
    expect(await refused(world(), "returnCancel", { token: "storefront", id })).toMatchObject({
      code: "resource_not_found",
    });
    expect(await refused(world(), "returnRequest", { ...stranger, id: order.id, input })).toMatchObject({
      code: "order_not_found",
    });
    expect(await refused(world(), "returnApprove", { id: "ret_00000000000000000000000000" })).toMatchObject({
      code: "resource_not_found",
    });
    expect(await done(world(), "returnCancel", { ...asBuyer, id })).toMatchObject({ status: "CANCELED" });
  });
});

describe("a request for a return", () => {
  const world = useWorld();

  it("is refused with the same reasons and quantities as the eligibility shows", async () => {
    const order = await makeDelivered(world(), { restrictions: { [mill]: ["final_sale"] } });
    const [sold, other] = [lineOf(order, mill).id, lineOf(order, "KIT-EMALJE-WHITE").id];
    const ask = (input: object): Promise<Refusal> =>
      refused(world(), "returnRequest", {
        ...asBuyer,
        id: order.id,
        input: { kind: "RETURN_REFUND", reason: "UNWANTED", ...input },
      });
    expect(await ask({ lines: [{ lineId: sold, quantity: 1 }] })).toEqual(
      conflict("final_sale", "/lines/0/quantity too_large"),
    );
    expect(
      await ask({
        lines: [
          { lineId: other, quantity: 2 },
          { lineId: sold, quantity: 1 },
        ],
      }),
    ).toEqual(conflict("final_sale", "/lines/1/quantity too_large"));
    expect(await ask({ lines: [{ lineId: other, quantity: 3 }] })).toEqual(
      conflict("quantity_exhausted", "/lines/0/quantity too_large"),
    );
    expect(await ask({ lines: [{ lineId: "oln_x", quantity: 1 }] })).toEqual(
      invalid("/lines/0/lineId unknown"),
    );
    expect(await ask({ lines: [] })).toEqual(invalid("/lines too_short"));
    expect(await ask({ lines: [{ lineId: other, quantity: 1 }], reason: "NOT_RECEIVED" })).toEqual(
      invalid("/reason not_allowed"),
    );
    expect(await ask({ lines: [{ lineId: other, quantity: 1 }], method: "PICKUP" })).toEqual(
      invalid("/method not_allowed"),
    );
    expect(await ask({ lines: [{ lineId: other, quantity: 1 }], settlement: "REPLACEMENT" })).toEqual(
      invalid("/settlement not_allowed"),
    );
    expect(await ask({ lines: [{ lineId: other, quantity: 1 }], note: "x".repeat(501) })).toEqual(
      invalid("/note too_long"),
    );
    const { error } = await call(world(), "returnRequest", {
      ...asBuyer,
      id: order.id,
      input: { kind: "RETURN_REFUND", reason: "UNWANTED", lines: [{ lineId: other, quantity: 3 }] },
    });
    expect(error.conflict.data).toEqual({ reasons: [], lines: [{ lineId: other, quantity: 2 }] });
    world().clock.advance(40 * 86_400_000);
    expect(await ask({ lines: [{ lineId: other, quantity: 1 }] })).toMatchObject({
      reason: "return_window_elapsed",
    });
  });

  it("of an order that was not sent or is on hold is refused", async () => {
    const input = (order: OrderAggregate): object => ({
      kind: "RETURN_REFUND",
      reason: "UNWANTED",
      lines: [{ lineId: lineOf(order, mill).id, quantity: 1 }],
    });
    const held = await makeDelivered(world(), { status: "on_hold" });
    expect(await refused(world(), "returnRequest", { id: held.id, input: { ...input(held) } })).toMatchObject(
      { reason: "order_on_hold" },
    );
    const unsent = await insertOrder(world());
    expect(
      await refused(world(), "returnRequest", { id: unsent.id, input: { ...input(unsent) } }),
    ).toMatchObject({ reason: "not_fulfilled" });
  });
});
