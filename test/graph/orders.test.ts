/**
 * Orders over GraphQL: which roles see which orders and fields, and how an order is confirmed, held and
 * released.
 */
import { createHmac } from "node:crypto";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { type OrderStatus, orderStatuses } from "#commerce/orders/order-states.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { askGraph, eventsOf } from "#test/operations/cart-calls.ts";
import { insertOrder, readOrder } from "#test/support/orders.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { orderConflictOf, send, sent, untouched } from "./fulfillment-calls.ts";

const world = useWorld();

const ask = (query: string, frontend: Parameters<typeof askGraph>[3] = { token: "admin" }) =>
  askGraph(world(), query, {}, frontend);
const read = (id: string, frontend?: Parameters<typeof askGraph>[3], fields = "id") =>
  ask(`{ order(id: "${id}") { ${fields} } }`, frontend);

describe("an order", () => {
  it("is shown to roles of its merchant, and to a storefront for its own buyer only", async () => {
    const [order, guest] = [
      await insertOrder(world(), { buyer: "anna" }),
      await insertOrder(world(), { buyer: null }),
    ];
    for (const token of ["admin", "analyst", "operator"] as const)
      expect((await read(order.id, { token })).data).toEqual({ id: order.id });
    expect((await read(order.id, { buyer: "anna" })).data).toEqual({ id: order.id });
    for (const frontend of [{ buyer: "bert" }, {}])
      expect(await read(order.id, frontend)).toEqual({ status: 200, data: null, error: undefined });
    for (const frontend of [{ buyer: "anna" }, {}]) expect((await read(guest.id, frontend)).data).toBeNull();
    expect((await read("ord_00000000000000000000000000")).data).toBeNull();
    expect((await read("\\u0000")).data).toBeNull();
  });

  it("is not found for another merchant", async () => {
    const order = await insertOrder(world());
    const { id, version } = order;
    await world()
      .database.db.updateTable("salesOrder")
      .set({ merchantId: world().demo.merchants.second.id, version: 2 })
      .where("id", "=", id)
      .execute();
    expect((await read(id)).data).toBeNull();
    expect((await read(id, { token: "operator" })).data).toEqual({ id });
    const refused = await untouched(world(), () =>
      send(world(), "orderConfirm", { id, input: { expectedVersion: version } }),
    );
    expect([refused.error.code, refused.error.conflict]).toEqual(["order_not_found", null]);
  });

  it("hides the buyer's name and free texts from analysts", async () => {
    const { id } = await insertOrder(world(), { buyer: "anna", status: "on_hold" });
    const fields = "buyerReference holdReason buyer { reference }";
    const reference = expect.stringMatching(/^byr_[0-9a-f]{26}$/);
    expect((await read(id, { token: "admin" }, fields)).data).toEqual({
      buyerReference: "anna",
      holdReason: "Being looked at.",
      buyer: { reference },
    });
    expect((await read(id, { token: "analyst" }, fields)).data).toEqual({
      buyerReference: null,
      holdReason: null,
      buyer: { reference },
    });
  });

  it("shows the merchant's notes to its staff only, never to the buyer", async () => {
    const order = await insertOrder(world(), {
      buyer: "anna",
      status: "on_hold",
      deliveredAt: world().clock.now(),
    });
    await noteAll(order);
    const fields = "holdReason refunds { note } returns { inspectionNote }";
    const full = {
      holdReason: "Being looked at.",
      refunds: [{ note: "Known to complain." }],
      returns: [{ inspectionNote: "It was worn." }],
    };
    const redacted = { holdReason: null, refunds: [{ note: null }], returns: [{ inspectionNote: null }] };
    for (const token of ["admin", "operator"] as const)
      expect((await read(order.id, { token }, fields)).data).toEqual(full);
    for (const frontend of [{ buyer: "anna" }, { token: "analyst" }] as const)
      expect((await read(order.id, frontend, fields)).data).toEqual(redacted);
    const rest = await world().getWithKey(`/api/v1/open/storefront/orders/${order.id}`);
    expect(rest.status).toBe(200);
    expect(rest.text).not.toMatch(/Being looked at|Known to complain|It was worn/);
  });

  it("has the same pseudonym for a buyer's orders of a merchant, and a new one per guest", async () => {
    const orders = [];
    for (const buyer of ["anna", "anna", "bert", null, null])
      orders.push(await insertOrder(world(), { buyer }));
    const buyers = await Promise.all(
      orders.map(
        async ({ id }) => (await read(id, { token: "admin" }, "buyer { reference guest }")).data.buyer,
      ),
    );
    expect(buyers.map(({ guest }) => guest)).toEqual([false, false, false, true, true]);
    expect(buyers[0].reference).toBe(buyers[1].reference);
    expect(new Set(buyers.map(({ reference }) => reference)).size).toBe(4);
    expect(JSON.stringify(buyers)).not.toMatch(/anna|bert/);
    // Hashing a guessed buyer with the merchant's id does not yield the pseudonym.
    const guess = createHmac("sha256", orders[0]?.merchant.id ?? "")
      .update("buyer:anna")
      .digest("hex");
    expect(buyers[0].reference).not.toBe(`byr_${guess.slice(0, 26)}`);
    const keys = await world().database.db.selectFrom("merchant").select("referenceKey").execute();
    expect(new Set(keys.map(({ referenceKey }) => referenceKey)).size).toBe(keys.length);
    for (const { referenceKey } of keys) expect(referenceKey).toMatch(/^[0-9a-f-]{72}$/);
  });

  it("returns its delivery method", async () => {
    const { id } = await insertOrder(world(), { delivery: "pickup-berlin" });
    const { data } = await read(
      id,
      { token: "admin" },
      "delivery { name carrier pickup minDays maxDays price { amountMinor } }",
    );
    expect(data.delivery).toEqual({
      name: "Abholung im Laden in Berlin",
      carrier: null,
      pickup: true,
      minDays: 0,
      maxDays: 1,
      price: { amountMinor: 0 },
    });
  });
});

describe("orders", () => {
  const list = (args: string, frontend?: Parameters<typeof askGraph>[3]) =>
    ask(`{ orders${args} { totalCount edges { node { id } } } }`, frontend);

  it("are listed by buyer and status, oldest first; a storefront lists its buyer's only", async () => {
    const ids = [];
    for (const status of ["confirmed", "pending", "confirmed"] as const) {
      world().clock.advance(1);
      ids.push((await insertOrder(world(), { buyer: "clara", status })).id);
    }
    const nodes = (wanted: readonly (string | undefined)[]): unknown => ({
      totalCount: wanted.length,
      edges: wanted.map((id) => ({ node: { id } })),
    });
    expect((await list('(buyerReference: "clara")')).data).toEqual(nodes(ids));
    expect((await list('(buyerReference: "clara", status: CONFIRMED)')).data).toEqual(
      nodes([ids[0], ids[2]]),
    );
    expect((await list("", { buyer: "clara" })).data).toEqual(nodes(ids));
    expect((await list('(buyerReference: "clara", status: PENDING)', { buyer: "clara" })).data).toEqual(
      nodes([ids[1]]),
    );
    for (const frontend of [{}, { buyer: "dora" }]) {
      const refused = await list('(buyerReference: "clara")', frontend);
      expect([refused.status, refused.error.code]).toEqual([403, "role_not_allowed"]);
    }
  });

  it("are found by their number in any case, and another merchant's order is not", async () => {
    const { db } = world().database;
    const order = await insertOrder(world());
    const { number } = await db
      .selectFrom("salesOrder")
      .select("number")
      .where("id", "=", order.id)
      .executeTakeFirstOrThrow();
    const found = { totalCount: 1, edges: [{ node: { id: order.id } }] };
    for (const text of [number, number.toLowerCase(), ` ${number} `])
      expect((await list(`(number: "${text}")`)).data).toEqual(found);
    for (const text of ["", number.slice(1)])
      expect((await list(`(number: "${text}")`)).data.totalCount).toBe(0);
    await db
      .updateTable("salesOrder")
      .set({ merchantId: world().demo.merchants.second.id, version: 2 })
      .where("id", "=", order.id)
      .execute();
    expect((await list(`(number: "${number}")`)).data.totalCount).toBe(0);
  });

  it("are found by the time of their placement", async () => {
    const orders: Awaited<ReturnType<typeof insertOrder>>[] = [];
    while (orders.length < 3) {
      orders.push(await insertOrder(world(), { buyer: "elsa" }));
      world().clock.advance(60_000);
    }
    const found = async (filter: string) =>
      (
        (await list(`(buyerReference: "elsa", ${filter})`)).data as { edges: { node: { id: string } }[] }
      ).edges.map(({ node }) => orders.findIndex(({ id }) => id === node.id));
    const [first, second, third] = orders.map(({ placedAt }) => `"${placedAt}"`);
    expect(await found(`placedFrom: ${second}`)).toEqual([1, 2]);
    expect(await found(`placedTo: ${second}`)).toEqual([0]);
    expect(await found(`placedFrom: ${first}, placedTo: ${third}`)).toEqual([0, 1]);
    for (const end of [first, second]) {
      const refused = await list(`(placedFrom: ${second}, placedTo: ${end})`);
      expect(refused.error.details).toEqual([
        expect.objectContaining({ field: "/placedTo", message: '"placedTo" must be after "placedFrom".' }),
      ]);
    }
  });

  it("run as many statements for twenty as for one", async () => {
    const query =
      "{ orders(first: 20) { edges { node { id lines { id } fulfillments { id } payments { id } " +
      "warranties { id } } } } }";
    expect(await statementsOf(world(), () => ask(query))).toHaveLength(3);
  });
});

describe("a part of an order", () => {
  it("is found by its id with its order; one of another merchant is not found", async () => {
    const order = await insertOrder(world(), { deliveredAt: world().clock.now() });
    const [payment, fulfillment] = [order.payments[0]?.id ?? "", order.fulfillments[0]?.id ?? ""];
    expect(
      (await ask(`{ payment(id: "${payment}") { id orderId status version amount { amountMinor } } }`)).data,
    ).toEqual({
      id: payment,
      orderId: order.id,
      status: "CAPTURED",
      version: 1,
      amount: { amountMinor: order.totalMinor },
    });
    expect(
      (await ask(`{ fulfillment(id: "${fulfillment}") { id orderId status lines { quantity } } }`)).data,
    ).toEqual({
      id: fulfillment,
      orderId: order.id,
      status: "DELIVERED",
      lines: [{ quantity: 1 }, { quantity: 2 }],
    });
    for (const field of ["payment", "refund", "fulfillment", "return", "warranty"])
      expect((await ask(`{ ${field}(id: "${order.id}") { id } }`)).data).toBeNull();
    await world()
      .database.db.updateTable("payment")
      .set({ merchantId: world().demo.merchants.second.id })
      .where("id", "=", payment)
      .execute();
    expect((await ask(`{ payment(id: "${payment}") { id } }`)).data).toBeNull();
  });

  it("may be the payment of a checkout without an order", async () => {
    const order = await insertOrder(world(), { payment: "none" });
    const [id, at] = [createId("payment"), world().clock.now()];
    const refund = createId("refund");
    const { merchant, sessionId } = order;
    const values = {
      id,
      merchantId: merchant.id,
      sessionId,
      provider: "test",
      methodType: "card",
      currency: "EUR",
      amountMinor: 500,
    } as const;
    const { db } = world().database;
    await db
      .insertInto("payment")
      .values({ ...values, status: "failed", failureCode: "card_declined", createdAt: at, updatedAt: at })
      .execute();
    await sql`insert into payment_operation (id, merchant_id, payment_id, kind, amount_minor, due_at,
      created_at)
      values ('pop_lone', ${merchant.id}, ${id}, 'refund', 500, ${at}, ${at})`.execute(db);
    await sql`insert into refund (id, merchant_id, payment_id, operation_id, amount_minor, currency, reason,
      created_at, updated_at)
      values (${refund}, ${merchant.id}, ${id}, 'pop_lone', 500, 'EUR', 'duplicate', ${at}, ${at})`.execute(
      db,
    );
    expect(
      (await ask(`{ payment(id: "${id}") { id orderId sessionId status failureCode createdAt } }`)).data,
    ).toEqual({
      id,
      orderId: null,
      sessionId,
      status: "FAILED",
      failureCode: "card_declined",
      createdAt: at.toISOString(),
    });
    expect(
      (await ask(`{ refund(id: "${refund}") { id orderId paymentId status amount { amountMinor } } }`)).data,
    ).toEqual({
      id: refund,
      orderId: null,
      paymentId: id,
      status: "PENDING",
      amount: { amountMinor: 500 },
    });
  });
});

const steps = {
  orderConfirm: { from: "pending", to: "CONFIRMED", event: "order.confirmed", input: {} },
  orderHold: {
    from: "confirmed",
    to: "ON_HOLD",
    event: "order.on_hold",
    input: { reason: "Ask the buyer." },
  },
  orderRelease: { from: "on_hold", to: "CONFIRMED", event: "order.updated", input: {} },
} as const satisfies Record<string, { readonly from: OrderStatus; readonly [part: string]: unknown }>;
const names = Object.keys(steps) as (keyof typeof steps)[];

describe("the status of an order", () => {
  it.each(names.flatMap((name) => orderStatuses.map((status) => ({ name, status }))))(
    "$name in status $status: changes the order, or is refused",
    async ({ name, status }) => {
      const order = await insertOrder(world(), { status, payment: "authorized" });
      const { from, to, event, input } = steps[name];
      if (status !== from) {
        // The state is checked before the version.
        const { error } = await untouched(world(), () =>
          send(world(), name, { id: order.id, input: { ...input, expectedVersion: 99 } }),
        );
        expect([error.code, error.conflict]).toEqual(["invalid_state", orderConflictOf(order)]);
        return;
      }
      const stale = await untouched(world(), () =>
        send(world(), name, { id: order.id, input: { ...input, expectedVersion: 99 } }),
      );
      expect([stale.error.code, stale.error.conflict]).toEqual(["version_conflict", orderConflictOf(order)]);
      world().clock.advance(1000);
      const changed = await sent(world(), name, { id: order.id, input: { ...input, expectedVersion: 1 } });
      expect(changed).toMatchObject({
        version: 2,
        status: to,
        holdReason: name === "orderHold" ? "Ask the buyer." : null,
      });
      const [published, ...others] = await eventsOf(world(), order.id);
      expect([published?.type, published?.version, published?.snapshot.data.previous, others]).toEqual([
        event,
        2,
        { status: from },
        [],
      ]);
      const { timeline } = await readOrder(world(), order.id);
      const named =
        event === "order.updated"
          ? []
          : [{ at: world().clock.now().toISOString(), type: event.replace(".", "_"), actor: "merchant" }];
      expect(timeline.slice(1)).toEqual(named);
    },
  );

  it("requires a reason of one line for a hold", async () => {
    const { id } = await insertOrder(world());
    for (const [reason, code] of [
      ["", "too_short"],
      ["x".repeat(201), "too_long"],
      ["a\nb", "control_character"],
    ]) {
      const { error } = await untouched(world(), () => send(world(), "orderHold", { id, input: { reason } }));
      expect([error.code, error.details]).toMatchObject([
        "invalid_field",
        [{ in: "body", field: "/reason", code }],
      ]);
    }
  });

  it("becomes completed at the release if all was delivered and paid meanwhile", async () => {
    const order = await insertOrder(world(), { status: "on_hold", deliveredAt: world().clock.now() });
    expect(await sent(world(), "orderRelease", { id: order.id })).toMatchObject({ status: "COMPLETED" });
    expect((await eventsOf(world(), order.id)).map(({ type }) => type)).toEqual(["order.completed"]);
  });
});

/** Adds a refund and a return with notes. */
async function noteAll({
  id: orderId,
  merchant,
  version,
  lines,
  payments: [payment],
}: OrderAggregate): Promise<void> {
  const at = world().clock.now();
  const [operationId, paymentId, merchantId] = [createId("paymentOperation"), payment?.id ?? "", merchant.id];
  await runInTransaction(world().database.db, async (transaction) => {
    const operation = {
      id: operationId,
      merchantId,
      paymentId,
      kind: "refund",
      status: "failed",
      amountMinor: 1,
    } as const;
    await transaction
      .insertInto("paymentOperation")
      .values({ ...operation, dueAt: at, createdAt: at, settledAt: at })
      .execute();
    const refund = {
      id: createId("refund"),
      merchantId,
      orderId,
      paymentId,
      operationId,
      status: "failed",
      amountMinor: 1,
      currency: "EUR",
    } as const;
    await transaction
      .insertInto("refund")
      .values({ ...refund, reason: "other", note: "Known to complain.", createdAt: at, updatedAt: at })
      .execute();
    const found = {
      id: createId("return"),
      merchantId,
      orderId,
      kind: "return_refund",
      status: "closed",
      reason: "unwanted",
    } as const;
    await transaction
      .insertInto("orderReturn")
      .values({ ...found, inspectionNote: "It was worn.", requestedAt: at, updatedAt: at, closedAt: at })
      .execute();
    await transaction
      .insertInto("returnLine")
      .values(lines.map(({ id }) => ({ returnId: found.id, orderLineId: id, quantity: 1 })))
      .execute();
    await transaction
      .updateTable("salesOrder")
      .set({ version: version + 1 })
      .where("id", "=", orderId)
      .execute();
  });
}
