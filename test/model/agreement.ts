/**
 * Compares the service to the model after each step: quantities, money, stock, statuses, versions, timeline
 * and events. Also compares answers that reuse what is kept in memory with answers that do not.
 */
import { sql } from "kysely";
import { expect } from "vitest";
import type { OrderAggregate } from "#commerce/orders/order-aggregate.ts";
import { deriveOrderStatuses } from "#commerce/orders/order-statuses.ts";
import { runInTransaction } from "#database/transaction.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import type { EventSubjectType } from "#webhooks/event-types.ts";
import { hasAddress } from "./address-model.ts";
import { type Front, readOrder } from "./order-front.ts";
import { isHeld, type ModelOrder, type OrderModel } from "./order-model.ts";

export async function expectAgreement(model: OrderModel, front: Front): Promise<void> {
  await expectStock(model, front);
  await expectSession(model, front);
  if (model.order !== null) {
    const read = await readOrder(front, model.order.id);
    expectOrder(model.order, read);
    await expectShown(model.order, front);
    await expectTimeline(read, front);
  }
  await expectEvents(front);
  await front.comparison.expectSameAnswers({
    cartId: model.cartId,
    orderId: model.order?.id,
    isBrief: true,
  });
}

async function expectStock({ stock }: OrderModel, { world }: Front): Promise<void> {
  const ids = [...stock.keys()];
  const { rows } = await sql<{
    id: string;
    onHand: number;
    reserved: number;
    moved: number;
    held: number;
    waiting: number;
  }>`
    select l.variant_id as id, l.on_hand, l.reserved,
      (select coalesce(sum(m.delta), 0)::int from stock_movement m
      where m.variant_id = l.variant_id) as moved,
      (select coalesce(sum(h.quantity), 0)::int from stock_hold h where h.variant_id = l.variant_id) as held,
      (select coalesce(sum(o.ordered - o.canceled - o.allocated), 0)::int - (select
      coalesce(sum(f.unreserved), 0)::int
        from fulfillment_line f join order_line u on u.id = f.order_line_id where u.variant_id = l.variant_id)
        from order_line o where o.variant_id = l.variant_id) as waiting
    from stock_level l where l.variant_id = any(${ids}::text[])`.execute(world.database.db);
  for (const { id, onHand, reserved, moved, held, waiting } of rows) {
    const known = stock.get(id);
    expect({ id, onHand, reserved }).toEqual({ id, onHand: known?.onHand, reserved: known?.reserved });
    expect({ id, moved, kept: held + waiting }).toEqual({ id, moved: onHand, kept: reserved });
  }
}

async function expectSession(model: OrderModel, { world }: Front): Promise<void> {
  const { session, cartId } = model;
  const asked = await askGraph(
    world,
    "query ($id: ID!) { cart(id: $id) { status addressTokenExpiresAt delivery { selectedOptionId } " +
      "checkout { sessionId status } } }",
    { id: cartId },
    { token: "admin" },
  );
  const status = session?.status === "completed" ? "COMPLETED" : isHeld(model) ? "LOCKED" : "ACTIVE";
  expect({ cart: asked.data?.status, error: asked.error }).toEqual({ cart: status, error: undefined });
  const { address } = hasAddress(model) ? model : { address: null };
  expect({ until: asked.data.addressTokenExpiresAt, delivery: asked.data.delivery }).toEqual({
    until: address === null ? null : new Date(address.until).toISOString(),
    delivery: address === null ? null : { selectedOptionId: model.hasDelivery ? model.deliveryId : null },
  });
  const { rows } = await sql<{ broken: number }>`
    select count(*)::int as broken from promotion p
    where p.used <> (select count(*) from promotion_use u where u.promotion_id = p.id
    and u.given_back_at is null and u.restored_at is null)`.execute(world.database.db);
  expect(rows).toEqual([{ broken: 0 }]);
}

function expectOrder(model: ModelOrder, read: OrderAggregate): void {
  const { payment } = model;
  expect({ version: read.version, status: read.status }).toEqual({
    version: model.version,
    status: model.status,
  });
  expect(read.lines.map(quantitiesOf)).toEqual(model.lines.map(quantitiesOf));
  expect([read.totalMinor, read.reducedMinor, read.shippingReducedMinor]).toEqual([
    model.totalMinor,
    model.reducedMinor,
    model.shippingReducedMinor,
  ]);
  const [paid] = read.payments;
  const { capturedMinor, voidedMinor, refundedMinor } = payment;
  expect(paid).toMatchObject({ capturedMinor, voidedMinor, refundedMinor });
  expect(askedOf(paid?.pending ?? [])).toEqual(askedOf(payment.pending));
  expect(paid?.disputedAt !== null).toBe(payment.isDisputed);
  expect(statusesOf(read.fulfillments)).toEqual(statusesOf(model.fulfillments));
  expect(statusesOf(read.returns)).toEqual(statusesOf(model.returns));
  for (const { id, lines } of model.fulfillments.filter(({ status }) => status !== "canceled"))
    expect(unitsOf(read.fulfillments.find((one) => one.id === id)?.lines ?? [])).toEqual(unitsOf(lines));
  const { status, paymentStatus, fulfillmentStatus, returnStatus } = read;
  expect({ status, paymentStatus, fulfillmentStatus, returnStatus }).toEqual(deriveOrderStatuses(read));
}

const quantitiesOf = ({
  ordered,
  canceled,
  allocated,
  shipped,
  delivered,
  returnRequested,
  returned,
  refunded,
  reducedMinor,
}: Omit<ModelOrder["lines"][number], "settled" | "unreserved">): object => ({
  ordered,
  canceled,
  allocated,
  shipped,
  delivered,
  returnRequested,
  returned,
  refunded,
  reducedMinor,
});

/** Sorted by amount, because requests of one moment have no order. */
const askedOf = (
  pending: ModelOrder["payment"]["pending"] | OrderAggregate["payments"][number]["pending"],
): string[] => pending.map(({ kind, amountMinor }) => `${kind} ${amountMinor}`).toSorted();

const statusesOf = (parts: readonly { readonly id: string; readonly status: string }[]): string[] =>
  parts.map(({ id, status }) => `${id} ${status}`).toSorted();

const unitsOf = (lines: readonly { readonly lineId: string; readonly quantity: number }[]): string[] =>
  lines.map(({ lineId, quantity }) => `${quantity} of ${lineId}`).toSorted();

/** Captured minus refunded plus owed equals the order without its canceled part. */
async function expectShown(order: ModelOrder, { world }: Front): Promise<void> {
  const query =
    "query ($id: ID!) { order(id: $id) { version totals { total { amountMinor } refunded { amountMinor } " +
    "outstanding { amountMinor } } } }";
  const { data, error } = await askGraph(world, query, { id: order.id }, { token: "admin" });
  expect(error).toBeUndefined();
  const { capturedMinor, refundedMinor } = order.payment;
  const outstandingMinor = order.totalMinor - order.reducedMinor - (capturedMinor - refundedMinor);
  expect(data).toEqual({
    version: order.version,
    totals: {
      total: { amountMinor: order.totalMinor },
      refunded: { amountMinor: refundedMinor },
      outstanding: { amountMinor: outstandingMinor },
    },
  });
}

const unlisted = new Set(["order.updated"]);

/** The timeline has one entry for each event of the order and its parts. */
async function expectTimeline(order: OrderAggregate, { world }: Front): Promise<void> {
  const { db } = world.database;
  const lines = await db.selectFrom("orderTimeline").select("type").where("orderId", "=", order.id).execute();
  const parts = [order.payments, order.refunds, order.fulfillments, order.returns].flatMap((records) =>
    records.map(({ id }) => id),
  );
  const events = await db
    .selectFrom("event")
    .select(["type", "subjectId", "subjectVersion"])
    .where("subjectId", "in", [order.id, ...parts])
    .execute();
  const named = events.map(({ type }) => type).filter((type) => !unlisted.has(type));
  expect(lines.map(({ type }) => type).toSorted()).toEqual(
    named.map((type) => type.replace(".", "_")).toSorted(),
  );
  const versions = new Set(
    events.filter(({ subjectId }) => subjectId === order.id).map(({ subjectVersion }) => subjectVersion),
  );
  expect([...versions].toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: order.version }, (_, index) => index + 1),
  );
}

/** Each object's last event shows its current state. */
async function expectEvents(front: Front): Promise<void> {
  const { world, seen } = front;
  const rows = await world.database.db
    .selectFrom("event")
    .select(["id", "type", "subjectId", "subjectType", "subjectVersion", "merchantId"])
    .where("occurredAt", ">=", front.lookedAt)
    .execute();
  front.lookedAt = world.clock.now();
  const fresh = rows.filter(({ id }) => !seen.has(id));
  for (const { id } of fresh) seen.add(id);
  const ours = fresh.filter(({ subjectType }) => subjectType !== "promotion");
  for (const [subjectId, subjectRows] of Map.groupBy(ours, (row) => row.subjectId)) {
    const last = subjectRows.reduce((newest, row) =>
      row.subjectVersion > newest.subjectVersion ? row : newest,
    );
    const { snapshot } = await world.database.db
      .selectFrom("event")
      .select("snapshot")
      .where("id", "=", last.id)
      .executeTakeFirstOrThrow();
    const { data } = JSON.parse(snapshot) as { readonly data: { readonly object: unknown } };
    const now = await runInTransaction(world.database.db, (transaction) =>
      world.app.services.render(transaction, {
        type: last.subjectType as EventSubjectType,
        id: subjectId,
        merchantId: last.merchantId,
        object: undefined,
        batch: {},
      }),
    );
    // Some changes of a part have no separate event; the order's event shows them.
    const isNewest = last.subjectType === "order" || now["version"] === last.subjectVersion;
    if (isNewest) expect({ type: last.type, object: data.object }).toEqual({ type: last.type, object: now });
  }
}
