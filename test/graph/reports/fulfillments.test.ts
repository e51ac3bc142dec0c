/** fulfillmentReport: waiting orders and carriers, compared with the demo's rows. */
import { describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { periodArgumentsOfDemo } from "#test/support/test-clock.ts";

const period = periodArgumentsOfDemo();
const waiting = {
  orders: ["pending", "confirmed", "on_hold"],
  parts: ["unfulfilled", "in_progress", "partially_shipped"],
};

interface Age {
  readonly fromDays: number;
  readonly toDays: number | null;
  readonly orders: number;
  readonly units: number;
}

describe("fulfillmentReport", () => {
  const world = useWorld();
  const ask = async (args: string, selection: string, token = "analyst") => {
    const { body } = await world().graphql(`{ report: fulfillmentReport(${args}) { ${selection} } }`, {
      token,
    });
    return body.errors?.[0]?.extensions ?? body.data.report;
  };

  const findWaiting = async () => {
    const lines = await world()
      .database.db.selectFrom("salesOrder")
      .innerJoin("orderLine", "orderLine.orderId", "salesOrder.id")
      .select([
        "salesOrder.id",
        "number",
        "status",
        "placedAt",
        "ordered",
        "canceled",
        "shipped",
        "requiresShipping",
      ])
      .where("salesOrder.merchantId", "=", world().demo.merchants.first.id)
      .where("status", "in", waiting.orders as never)
      .where("fulfillmentStatus", "in", waiting.parts as never)
      .execute();
    return [...Map.groupBy(lines, ({ id }) => id).values()]
      .flatMap((found) => {
        const [order] = found;
        const units = found.reduce(
          (sum, line) => sum + (line.requiresShipping ? line.ordered - line.canceled - line.shipped : 0),
          0,
        );
        return order === undefined || units === 0 ? [] : [{ ...order, units }];
      })
      .toSorted(
        (one, other) => Number(one.placedAt) - Number(other.placedAt) || (one.id < other.id ? -1 : 1),
      );
  };

  it("lists the orders that wait for shipment, those that wait longest first", async () => {
    // Digital units are not shipped.
    const [digital] = await findWaiting();
    await world().database.script((run) =>
      run(`begin;
        update order_line set requires_shipping = false where order_id = '${digital?.id}';
        update sales_order set version = version + 1 where id = '${digital?.id}';
        commit`),
    );
    const expected = await findWaiting();
    expect(expected.map(({ id }) => id)).not.toContain(digital?.id);
    expect(expected.length).toBeGreaterThan(1);
    const { unshipped } = await ask(
      `${period}, first: 100`,
      "unshipped { oldest { orderId number status placedAt units } }",
    );
    expect(unshipped.oldest).toEqual(
      expected.map(({ id, number, status, placedAt, units }) => ({
        orderId: id,
        number,
        status: status.toUpperCase(),
        placedAt: placedAt.toISOString(),
        units,
      })),
    );
    const { unshipped: some } = await ask(`${period}, first: 2`, "unshipped { oldest { orderId } }");
    expect(some.oldest).toHaveLength(2);
  });

  it("groups them by full days since the order was placed", async () => {
    const expected = await findWaiting();
    const now = world().clock.now().getTime();
    const { unshipped } = await ask(period, "unshipped { ages { fromDays toDays orders units } }");
    const ages: readonly Age[] = unshipped.ages;
    expect(ages.map(({ fromDays }) => fromDays)).toEqual([0, 1, 2, 3, 7, 14, 30]);
    for (const { fromDays, toDays, orders, units } of ages) {
      const found = expected.filter(({ placedAt }) => {
        const days = Math.max(Math.floor((now - placedAt.getTime()) / 86_400_000), 0);
        return days >= fromDays && days < (toDays ?? Number.POSITIVE_INFINITY);
      });
      expect({ fromDays, orders, units }).toEqual({
        fromDays,
        orders: found.length,
        units: found.reduce((sum, order) => sum + order.units, 0),
      });
    }
    expect(ages.reduce((sum, { orders }) => sum + orders, 0)).toBe(expected.length);
  });

  it("counts the shipped parcels of each carrier, and takes the median of the delivery times", async () => {
    const rows = await world()
      .database.db.selectFrom("fulfillment")
      .select(["carrier", "status", "shippedAt", "deliveredAt", "estimatedDeliveryAt"])
      .where("merchantId", "=", world().demo.merchants.first.id)
      .where("type", "=", "shipping")
      .where("shippedAt", "is not", null)
      .execute();
    const { carriers } = await ask(
      `${period}, first: 100`,
      "carriers { carrier parcels delivered failed late medianDeliveryHours }",
    );
    const groups = Map.groupBy(rows, ({ carrier }) => carrier);
    expect(groups.size).toBeGreaterThan(0);
    expect(carriers).toHaveLength(groups.size);
    for (const { medianDeliveryHours, ...found } of carriers) {
      const parcels = groups.get(found.carrier) ?? [];
      const hours = parcels
        .flatMap(({ shippedAt, deliveredAt }) =>
          shippedAt === null || deliveredAt === null
            ? []
            : [(Number(deliveredAt) - Number(shippedAt)) / 3_600_000],
        )
        .toSorted((one, other) => one - other);
      const [low, high] = [
        hours[Math.floor((hours.length - 1) / 2)],
        hours[Math.ceil((hours.length - 1) / 2)],
      ];
      expect(found).toEqual({
        carrier: found.carrier,
        parcels: parcels.length,
        delivered: parcels.filter(({ status }) => status === "delivered").length,
        failed: parcels.filter(({ status }) => ["failed", "returned_to_sender"].includes(status)).length,
        late: parcels.filter(
          ({ deliveredAt, estimatedDeliveryAt }) =>
            deliveredAt !== null && estimatedDeliveryAt !== null && deliveredAt > estimatedDeliveryAt,
        ).length,
      });
      if (low === undefined || high === undefined) expect(medianDeliveryHours).toBeNull();
      else expect(medianDeliveryHours).toBeCloseTo((low + high) / 2, 6);
    }
  });

  it("is refused for storefronts", async () => {
    expect((await ask(period, "carriers { parcels }", "storefront")).code).toBe("role_not_allowed");
  });
});
