/**
 * The sessions and orders of demo.json have the states that their names state, as seen by clients, and accept
 * the usual next steps.
 */
import { randomUUID } from "node:crypto";
import type { Selectable } from "kysely";
import { describe, expect, it } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { findOrders } from "#commerce/orders/find-orders.ts";
import {
  deriveOrderStatuses,
  computeNetCapturedAmountMinor,
  computeOutstandingAmountMinor,
} from "#commerce/orders/order-statuses.ts";
import type { HostedCheckoutSessionTable } from "#database/tables.ts";
import { type DemoOrderName, demoOrderNames, demoSessionNames } from "#demo/demo-file.ts";
import { isIdOfKind } from "#foundation/ids.ts";
import { done } from "#test/graph/order-money-calls.ts";
import { sessionsUrl } from "#test/operations/checkout-calls.ts";
import { useWorld } from "#test/support/use-world.ts";

const [minuteMs, dayMs] = [60_000, 86_400_000];

/** The cancellation decision by order; all other orders can no longer be canceled. */
const cancelable: Partial<Record<DemoOrderName, string>> = {
  placed: "allowed",
  packing: "request_required",
  otherMerchant: "allowed",
};

describe.each(["pglite", "postgres"] as const)("the demo's sessions and orders on %s", (engine) => {
  const world = useWorld(engine);
  const ageMs = (at: string | null | undefined): number =>
    world().clock.now().getTime() - Date.parse(at ?? "");
  const loadAllOrders = async (): Promise<OrderAggregate[]> => {
    const { db } = world().database;
    const rows = await db.selectFrom("salesOrder").select("id").orderBy("id").execute();
    const ids = rows.map(({ id }) => id);
    return [...(await findOrders(db, ids)).values()];
  };
  const loadOrder = async (name: DemoOrderName): Promise<OrderAggregate> => {
    const id = world().demo.orders[name];
    const order = (await findOrders(world().database.db, [id])).get(id);
    if (order === undefined) throw new Error(`There is no order ${name}.`);
    return order;
  };
  const loadSessionRow = (id: string): Promise<Selectable<HostedCheckoutSessionTable>> =>
    world()
      .database.db.selectFrom("hostedCheckoutSession")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const statusesOf = ({
    status,
    paymentStatus,
    fulfillmentStatus,
    returnStatus,
  }: OrderAggregate): string[] => [status, paymentStatus, fulfillmentStatus, returnStatus];

  it("are in demo.json by name, with different ids", () => {
    const { sessions, orders, merchants } = world().demo;
    expect(merchants.first.id).not.toBe(merchants.second.id);
    expect(Object.keys(sessions)).toEqual([...demoSessionNames]);
    expect(Object.keys(orders)).toEqual([...demoOrderNames]);
    const ids = [...Object.values(sessions), ...Object.values(orders)];
    expect(new Set(ids).size).toBe(demoSessionNames.length + demoOrderNames.length);
    expect(Object.values(sessions).every((id) => isIdOfKind("checkoutSession", id))).toBe(true);
    expect(Object.values(orders).every((id) => isIdOfKind("order", id))).toBe(true);
  });

  it.each([
    ["placed", ["pending", "authorized", "unfulfilled", "none"]],
    ["packing", ["confirmed", "authorized", "in_progress", "none"]],
    ["shipped", ["confirmed", "paid", "shipped", "none"]],
    ["delivered", ["completed", "paid", "delivered", "none"]],
    ["canceled", ["canceled", "voided", "canceled", "none"]],
    ["returned", ["completed", "partially_refunded", "delivered", "partially_returned"]],
    ["otherMerchant", ["pending", "authorized", "unfulfilled", "none"]],
  ] as const)("the order %s is %j", async (name, statuses) => {
    const order = await loadOrder(name);
    expect(statusesOf(order)).toEqual([...statuses]);
    expect(order.merchant.id).toBe(world().demo.merchants[name === "otherMerchant" ? "second" : "first"].id);
    expect(order.address).not.toBeNull();
    expect(order.timeline.length).toBeGreaterThan(1);
  });

  it(
    "placed and packing are a few minutes old, shipped has a tracking number, delivered arrived " +
      "yesterday with a line that cannot be returned",
    async () => {
      for (const name of ["placed", "packing"] as const)
        expect(ageMs((await loadOrder(name)).placedAt)).toBeLessThan(15 * minuteMs);
      const [parcel] = (await loadOrder("shipped")).fulfillments;
      expect(parcel).toMatchObject({
        status: "shipped",
        carrier: "DHL",
        trackingNumber: expect.stringMatching(/^LH/),
      });
      const delivered = await loadOrder("delivered");
      expect(ageMs(delivered.fulfillments[0]?.deliveredAt)).toBe(dayMs);
      expect(delivered.lines.length).toBeGreaterThanOrEqual(2);
      expect(delivered.lines.flatMap(({ restrictions }) => restrictions)).toContain("custom_made");
      expect([delivered.cartId, delivered.sessionId]).toEqual([
        world().demo.carts.completed,
        world().demo.sessions.completed,
      ]);
    },
  );

  it(
    "canceled has a reason; returned has a closed return, a refund and a warranty on the line that was " +
      "not returned",
    async () => {
      expect((await loadOrder("canceled")).cancellation).toMatchObject({
        reason: "ordered_by_mistake",
        actor: "buyer",
      });
      const returned = await loadOrder("returned");
      expect(returned.returns).toMatchObject([
        { kind: "return_refund", status: "closed", reason: "size_too_small" },
      ]);
      expect(returned.refunds).toMatchObject([{ status: "succeeded", returnId: returned.returns[0]?.id }]);
      expect(returned.warranties).toMatchObject([{ status: "active", lineId: returned.lines[0]?.id }]);
    },
  );

  it(
    "has orders in every other state: on hold, partly shipped, return requested, exchange, disputed, in " +
      "every market",
    async () => {
      const orders = await loadAllOrders();
      const has = (test: (order: OrderAggregate) => boolean): boolean => orders.some(test);
      expect(has(({ status, holdReason }) => status === "on_hold" && holdReason !== null)).toBe(true);
      expect(has(({ fulfillmentStatus }) => fulfillmentStatus === "partially_shipped")).toBe(true);
      expect(has(({ returnStatus }) => returnStatus === "requested")).toBe(true);
      expect(
        has(({ returns }) =>
          returns.some(({ kind, exchangeVariantId }) => kind === "exchange" && exchangeVariantId !== null),
        ),
      ).toBe(true);
      expect(has(({ paymentStatus }) => paymentStatus === "disputed")).toBe(true);
      expect(
        has(({ country, taxIncluded, taxMinor }) => country === "US" && !taxIncluded && (taxMinor ?? 0) > 0),
      ).toBe(true);
      expect(has(({ country, currency }) => country === "JP" && currency === "JPY")).toBe(true);
    },
  );

  it("has consistent statuses, payments, stock and provider records", async () => {
    for (const order of await loadAllOrders()) {
      const { status, paymentStatus, fulfillmentStatus, returnStatus } = order;
      expect(deriveOrderStatuses(order)).toEqual({ status, paymentStatus, fulfillmentStatus, returnStatus });
      expect(computeNetCapturedAmountMinor(order) + computeOutstandingAmountMinor(order)).toBe(
        order.totalMinor - order.reducedMinor,
      );
      expect(order.payments.flatMap(({ pending }) => pending)).toEqual([]);
    }
    const rows = (text: string): Promise<unknown> => world().database.script((run) => run(text));
    const wrongStock = await rows(
      `select s.variant_id from stock_level s where reserved <>
        coalesce((select sum(quantity) from stock_hold h where h.variant_id = s.variant_id), 0)
        + coalesce((select sum(l.ordered - l.canceled - l.allocated) from order_line l
        where l.variant_id = s.variant_id), 0)
        + coalesce((select sum(fl.quantity) from fulfillment f join fulfillment_line fl
        on fl.fulfillment_id = f.id join order_return r on r.id = f.return_id
          where f.status = 'pending' and r.exchange_variant_id = s.variant_id), 0)`,
    );
    expect(wrongStock).toEqual([[]]);
    const wrongBooks = await rows(
      `select p.id from payment p left join test_provider_payment b on b.reference = p.id
        where p.status <> 'pending'
        and (p.captured_minor, p.voided_minor, p.refunded_minor) is distinct
        from (b.captured_minor, b.voided_minor, b.refunded_minor)`,
    );
    expect(wrongBooks).toEqual([[]]);
    expect(
      await rows("select variant_id from stock_movement where reason = 'sold' and on_hand_after < 10"),
    ).toEqual([[]]);
    // Every event has been delivered to the demo's endpoint already.
    expect(
      await rows(
        "select id from event where fanned_out_at is null or id not in (select event_id from " +
          "webhook_delivery)",
      ),
    ).toEqual([[]]);
  });

  it("the sessions have the status of their name; open and processing have the longest lifetime", async () => {
    const { sessions, carts, merchants, orders } = world().demo;
    const now = world().clock.now().getTime();
    const [open, processing, other] = [
      await loadSessionRow(sessions.open),
      await loadSessionRow(sessions.processing),
      await loadSessionRow(sessions.otherMerchant),
    ];
    expect(open).toMatchObject({ status: "open", cartId: carts.locked });
    expect(open.expiresAt.getTime()).toBe(now + dayMs);
    expect(processing.status).toBe("processing");
    expect(processing.expiresAt.getTime()).toBeGreaterThan(now + dayMs - 2 * minuteMs);
    expect(other).toMatchObject({ status: "open", merchantId: merchants.second.id });
    expect(await loadSessionRow(sessions.canceled)).toMatchObject({
      status: "canceled",
      cancelReason: "buyer_changed_mind",
    });
    expect(await loadSessionRow(sessions.expired)).toMatchObject({ status: "expired" });
    expect(await loadSessionRow(sessions.completed)).toMatchObject({
      status: "completed",
      orderId: orders.delivered,
    });
  });

  it.each(demoOrderNames)("answers all three operations of the order %s", async (name) => {
    const { orders } = world().demo;
    const key = name === "otherMerchant" ? "otherMerchant" : "full";
    // eslint-disable-next-line typescript/no-explicit-any -- An answer of any shape.
    const ask = async (path: string): Promise<any> => {
      const { status, body } = await world().getWithKey(
        `/api/v1/open/storefront/orders/${orders[name]}${path}`,
        key,
      );
      expect(status).toBe(200);
      return body.data;
    };
    const order = await ask("");
    expect(order).toMatchObject({ id: orders[name], status: (await loadOrder(name)).status });
    const cancellation = await ask("/cancellation-eligibility");
    expect(cancellation.decision).toBe(cancelable[name] ?? "denied");
    const afterSales = await ask("/after-sales-eligibility");
    expect(afterSales.lines).toHaveLength((await loadOrder(name)).lines.length);
  });

  it("allows a return of the lines delivered yesterday, except the custom-made line", async () => {
    const { body } = await world().getWithKey(
      `/api/v1/open/storefront/orders/${world().demo.orders.delivered}/after-sales-eligibility`,
    );
    const order = await loadOrder("delivered");
    const decisions = order.lines.map(({ id, display, restrictions }) => {
      const line = body.data.lines.find(({ lineId }: { lineId: string }) => lineId === id);
      const offered = line.options.filter(({ kind }: { kind: string }) => kind === "return_refund");
      return [
        display.sku,
        restrictions.includes("custom_made"),
        offered.some(({ decision }: { decision: string }) => decision === "allowed"),
      ];
    });
    expect(decisions).toEqual([
      ["KIT-GLUT-28CM", false, true],
      ["KIT-BRETT-SMALL", false, true],
      ["PCK-LAPP-BLACK", true, false],
    ]);
  });

  describe("accept the usual next steps:", () => {
    it("a processing session stays processing while payments are driven", async () => {
      await world().app.payments.drive();
      expect((await loadSessionRow(world().demo.sessions.processing)).status).toBe("processing");
    });

    it("an open session can be canceled, which unlocks its cart", async () => {
      const { demo } = world();
      const answer = await world().send({
        method: "POST",
        url: `${sessionsUrl}/${demo.sessions.open}/cancel`,
        headers: { authorization: `Bearer ${demo.keys.full}`, "idempotency-key": randomUUID() },
        body: { reason: "buyer_changed_mind" },
      });
      expect([answer.status, answer.body.data?.status]).toEqual([200, "canceled"]);
      const { body } = await world().getWithKey(`/api/v1/open/storefront/carts/${demo.carts.locked}`);
      expect(body.data.status).toBe("active");
    });

    it("a placed order can be canceled by its buyer, which voids the payment", async () => {
      const { orders } = world().demo;
      await done(world(), "orderCancel", {
        token: "storefront",
        buyer: "buyer-anna",
        id: orders.placed,
        input: { reason: "CHANGED_MIND" },
      });
      await world().app.payments.drive();
      expect(statusesOf(await loadOrder("placed"))).toEqual(["canceled", "voided", "canceled", "none"]);
    });

    it("a packed order can be captured, then canceled by its merchant with a refund", async () => {
      const [payment] = (await loadOrder("packing")).payments;
      await done(world(), "paymentCapture", { id: payment?.id ?? "" });
      await world().app.payments.drive();
      expect((await loadOrder("packing")).paymentStatus).toBe("paid");
      await done(world(), "orderCancel", {
        id: world().demo.orders.packing,
        input: { reason: "OUT_OF_STOCK" },
      });
      await world().app.payments.drive();
      expect(statusesOf(await loadOrder("packing"))).toEqual(["canceled", "refunded", "canceled", "none"]);
    });

    it("a delivered line can be refunded through the provider", async () => {
      const order = await loadOrder("delivered");
      const [line] = order.lines;
      const input = { lines: [{ lineId: line?.id, quantity: 1 }], reason: "DAMAGED" };
      await done(world(), "refundCreate", { id: order.id, input });
      await world().app.payments.drive();
      const after = await loadOrder("delivered");
      expect(after.refunds).toMatchObject([{ status: "succeeded", amountMinor: line?.totalMinor }]);
      expect(after.paymentStatus).toBe("partially_refunded");
    });
  });
});
