/**
 * Every mutation of orders and their parts checks the state before the version: a late caller gets the state
 * for any expected version.
 */
import { randomUUID } from "node:crypto";
import { getNamedType } from "graphql";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import graph from "#graph/schema.ts";
import { type GraphAnswer, askGraph, variantOf } from "#test/operations/cart-calls.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { useWorld } from "#test/support/use-world.ts";
import { done as paid, lineOf, makeOrder, paymentOf } from "./order-money-calls.ts";
import { done, makeDelivered, withoutTrace } from "./return-calls.ts";

const [mill, white, moss] = ["KIT-KVERN", "KIT-EMALJE-WHITE", "KIT-EMALJE-MOSS"];
const targets = ["orderId", "paymentId", "fulfillmentId", "returnId", "warrantyId", "claimId"] as const;
const fields = Object.values(graph.getMutationType()?.getFields() ?? {}).filter(({ args }) =>
  args.some(({ name }) => targets.some((target) => target === name)),
);

interface TooLate {
  readonly id: string;
  readonly input?: Readonly<Record<string, unknown>>;
}

describe("an object whose state no longer allows a mutation", () => {
  const world = useWorld();

  const canceled = async (): Promise<TooLate> => ({
    id: (await insertOrder(world(), { status: "canceled" })).id,
  });
  const confirmed = async (): Promise<TooLate> => ({ id: (await insertOrder(world())).id });
  const delivered = async (): Promise<TooLate> => ({
    id: (await makeDelivered(world())).fulfillments[0]?.id ?? "",
  });
  const payment = async (state: "authorized" | "captured"): Promise<TooLate> => ({
    id: paymentOf(await makeOrder(world(), { payment: state })).id,
  });
  const oneOf = (order: OrderAggregate, sku: string): object => ({
    lines: [{ lineId: lineOf(order, sku).id, quantity: 1 }],
  });
  const requestReturn = async (order: OrderAggregate, input: object): Promise<string> =>
    (
      await done(world(), "returnRequest", {
        id: order.id,
        input: { kind: "RETURN_REFUND", reason: "UNWANTED", ...input },
      })
    ).id;
  const declined = async (): Promise<TooLate> => {
    const order = await makeDelivered(world(), { policies: { return: { mode: "request" } } });
    const id = await requestReturn(order, oneOf(order, mill));
    await done(world(), "returnDecline", { id, input: { reason: "No." } });
    return { id };
  };
  const inspected = async (
    order: OrderAggregate,
    { sku, input }: { readonly sku: string; readonly input: object },
  ): Promise<string> => {
    const id = await requestReturn(order, { ...oneOf(order, sku), ...input });
    const { id: lineId } = lineOf(order, sku);
    await done(world(), "returnTrack", { id });
    await done(world(), "returnReceive", { id, input: { lines: [{ lineId, received: 1 }] } });
    await done(world(), "returnInspect", { id, input: { lines: [{ lineId, accepted: 1, restock: 0 }] } });
    return id;
  };
  const disputed = async (order: OrderAggregate, id: string): Promise<TooLate> => {
    await paid(world(), "paymentDisputeOpen", { id: paymentOf(order).id, input: { reason: "OTHER" } });
    return { id };
  };
  const warranty = async (): Promise<{ order: OrderAggregate; id: string; lineId: string }> => {
    const order = await makeDelivered(world());
    const { id: lineId } = lineOf(order, mill);
    const { id } = await done(world(), "warrantyRegister", { id: order.id, input: { lineId } });
    return { order, id, lineId };
  };
  const claimed = async (): Promise<{ id: string; claimId: string }> => {
    const { order, id } = await warranty();
    await done(world(), "warrantyClaimOpen", { id, input: { kind: "REPAIR", description: "It broke." } });
    return { id, claimId: (await readOrder(world(), order.id)).warranties[0]?.claims[0]?.id ?? "" };
  };

  /** The mutation, a function that creates the object, and the expected reason. */
  const cases: readonly (readonly [field: string, make: () => Promise<TooLate>, reason: string | null])[] = [
    ["orderConfirm", canceled, null],
    ["orderHold", async () => ({ ...(await canceled()), input: { reason: "Wait." } }), null],
    ["orderRelease", canceled, null],
    [
      "orderCancel",
      async () => ({ ...(await canceled()), input: { reason: "OTHER" } }),
      "order_already_canceled",
    ],
    ["orderCancellationApprove", confirmed, "cancellation_not_requested"],
    ["orderCancellationDecline", confirmed, "cancellation_not_requested"],
    ["fulfillmentCreate", canceled, null],
    [
      "fulfillmentCreate",
      async () => ({
        id: (await insertOrder(world(), { payment: "authorized", deliveredAt: world().clock.now() })).id,
      }),
      "nothing_open",
    ],
    [
      "fulfillmentCreate",
      async () => {
        const order = await insertOrder(world());
        return { id: order.id, input: { lines: [{ lineId: lineOf(order, mill).id, quantity: 2 }] } };
      },
      "quantity_not_open",
    ],
    ["fulfillmentPack", delivered, null],
    ["fulfillmentShip", delivered, null],
    ["fulfillmentTrack", async () => ({ ...(await delivered()), input: { status: "IN_TRANSIT" } }), null],
    ["fulfillmentDeliver", delivered, null],
    ["fulfillmentFail", delivered, null],
    ["fulfillmentCancel", delivered, null],
    ["paymentCapture", () => payment("captured"), "nothing_to_capture"],
    ["paymentVoid", () => payment("captured"), "nothing_to_void"],
    [
      "paymentDisputeOpen",
      async () => ({ ...(await payment("authorized")), input: { reason: "OTHER" } }),
      "nothing_captured",
    ],
    [
      "paymentDisputeClose",
      async () => ({ ...(await payment("captured")), input: { outcome: "WON" } }),
      "payment_not_disputed",
    ],
    [
      "refundCreate",
      async () => ({
        id: (await makeOrder(world(), { payment: "authorized" })).id,
        input: { amount: { amountMinor: 1, currency: "EUR" }, reason: "OTHER" },
      }),
      "refund_exceeds_captured",
    ],
    [
      "returnRequest",
      async () => {
        const order = await makeDelivered(world(), { policies: { return: { mode: "none" } } });
        return { id: order.id, input: { kind: "RETURN_REFUND", reason: "UNWANTED", ...oneOf(order, mill) } };
      },
      "self_service_disabled",
    ],
    ["returnApprove", declined, "return_ended"],
    [
      "returnApprove",
      async () => {
        const order = await makeDelivered(world(), {
          policies: { return: { mode: "request", keepItemMinor: 3000 } },
        });
        return disputed(
          order,
          await requestReturn(order, { kind: "REFUND_ONLY", reason: "DEFECTIVE", ...oneOf(order, white) }),
        );
      },
      "payment_disputed",
    ],
    ["returnDecline", async () => ({ ...(await declined()), input: { reason: "No." } }), "return_ended"],
    ["returnTrack", declined, "return_ended"],
    ["returnReceive", async () => ({ ...(await declined()), input: { lines: [] } }), "return_ended"],
    ["returnInspect", async () => ({ ...(await declined()), input: { lines: [] } }), "return_ended"],
    ["returnClose", declined, "return_ended"],
    [
      "returnClose",
      async () => {
        const order = await makeDelivered(world());
        const input = {
          kind: "EXCHANGE",
          reason: "COLOR",
          exchangeVariantId: await variantOf(world(), moss),
        };
        return { id: await inspected(order, { sku: white, input }) };
      },
      "replacement_not_sent",
    ],
    [
      "returnClose",
      async () => {
        const order = await makeDelivered(world());
        return disputed(order, await inspected(order, { sku: mill, input: {} }));
      },
      "payment_disputed",
    ],
    ["returnCancel", declined, "return_ended"],
    [
      "warrantyRegister",
      async () => {
        const order = await insertOrder(world());
        return { id: order.id, input: { lineId: lineOf(order, mill).id } };
      },
      "not_delivered_yet",
    ],
    [
      "warrantyClaimOpen",
      async () => ({ id: (await claimed()).id, input: { kind: "REPAIR", description: "It broke." } }),
      "claim_open",
    ],
    [
      "warrantyClaimResolve",
      async () => {
        const { claimId } = await claimed();
        const input = { outcome: "REJECTED", resolution: "No." };
        await done(world(), "warrantyClaimResolve", { id: claimId, input });
        return { id: claimId, input };
      },
      "claim_resolved",
    ],
  ];

  const call = (
    name: string,
    { id, input = {} }: TooLate,
    expectedVersion?: number,
  ): Promise<GraphAnswer> => {
    const args = fields.find((field) => field.name === name)?.args ?? [];
    const target = targets.find((candidate) => args.some((arg) => arg.name === candidate));
    const type = args.find((arg) => arg.name === "input")?.type;
    const query = `mutation ($id: ID!, $key: String!, $input:
      ${type === undefined ? "" : getNamedType(type).name}!) {
      ${name}(${target}: $id, idempotencyKey: $key, input: $input) { id } }`;
    return askGraph(
      world(),
      query,
      { id, key: randomUUID(), input: { ...input, expectedVersion } },
      { token: "admin" },
    );
  };

  it("is tested with every mutation of an order or of a part of one", () => {
    expect([...new Set(cases.map(([field]) => field))].toSorted()).toEqual(
      fields.map(({ name }) => name).toSorted(),
    );
  });

  it.each(cases.map(([field, make, reason]) => ({ field, make, reason })))(
    "is refused by $field with its state: $reason",
    async ({ field, make, reason }) => {
      const subject = await make();
      const [anyVersion, wrongVersion] = await withoutTrace(world(), async () => [
        await call(field, subject),
        await call(field, subject, 99),
      ]);
      expect([wrongVersion?.error.code, wrongVersion?.error.conflict.reason]).toEqual([
        "invalid_state",
        reason,
      ]);
      expect({ ...wrongVersion?.error, requestId: null }).toEqual({ ...anyVersion?.error, requestId: null });
    },
  );
});
