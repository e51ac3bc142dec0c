/**
 * The reserved quantity is always the sum of session holds and unallocated order units; no unit is promised
 * twice.
 */
import fc from "fast-check";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import {
  takeReservedUnitsFromStock,
  releaseStockOfOrder,
  reserveStockForOrder,
  restockReturnedUnits,
  convertHoldsToOrderStock,
} from "#commerce/inventory/order-stock.ts";
import { replaceStockHolds, releaseStockHolds, setStockHoldExpiry } from "#commerce/inventory/stock-holds.ts";
import type { VariantQuantity } from "#commerce/inventory/stock-levels.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { makeSession } from "#test/commerce/promotions/promotions-world.ts";
import { createWorld, makePublished, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import "#test/support/properties.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";

const minuteMs = 60_000;
const inAnHour = new Date(startOfWorld.getTime() + 60 * minuteMs);

describeOnBoth("the stock", (open) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: 20 }));
  });

  const stocked = async (onHand: number, backorderLimit = 0): Promise<string> => {
    const { variantId } = await makePublished(world);
    await sql`update stock_level set on_hand = ${onHand}, backorder_limit = ${backorderLimit},
      low_stock_threshold = 1 where variant_id = ${variantId}`.execute(world.db);
    return variantId;
  };
  const levelOf = (variantId: string) =>
    world.db
      .selectFrom("stockLevel")
      .select(["onHand", "reserved"])
      .where("variantId", "=", variantId)
      .executeTakeFirst();
  const movementsOf = async (variantId: string) =>
    world.db
      .selectFrom("stockMovement")
      .select(["delta", "onHandAfter", "reason", "note"])
      .where("variantId", "=", variantId)
      .orderBy("id")
      .execute();
  const holdsOf = (sessionId: string) =>
    world.db
      .selectFrom("stockHold")
      .select(["variantId", "quantity", "expiresAt"])
      .where("sessionId", "=", sessionId)
      .orderBy("variantId")
      .execute();
  const hold = (
    sessionId: string,
    lines: readonly VariantQuantity[],
    { at = world.context, expiresAt = inAnHour }: Holding = {},
  ) =>
    runInTransaction(world.db, (transaction) =>
      replaceStockHolds(transaction, at, { sessionId, expiresAt, lines }),
    );
  const held = async (
    variantId: string,
    quantity: number,
    expiresAt: Date | null = inAnHour,
  ): Promise<string> => {
    const sessionId = await makeSession(world);
    expect(await hold(sessionId, [{ variantId, quantity }], { expiresAt })).toEqual([]);
    return sessionId;
  };

  describe("a stock hold", () => {
    it("reserves exactly the requested quantity, and releases the session's earlier hold", async () => {
      const [one, two, three] = [await stocked(10), await stocked(10), await stocked(10)];
      const sessionId = await makeSession(world);
      expect(
        await hold(sessionId, [
          { variantId: one, quantity: 3 },
          { variantId: two, quantity: 4 },
        ]),
      ).toEqual([]);
      expect(
        await hold(sessionId, [
          { variantId: two, quantity: 6 },
          { variantId: three, quantity: 1 },
          { variantId: three, quantity: 1 },
        ]),
      ).toEqual([]);
      expect(await Promise.all([one, two, three].map(levelOf))).toEqual(
        [0, 6, 2].map((reserved) => ({ onHand: 10, reserved })),
      );
      const expected = [
        { variantId: two, quantity: 6, expiresAt: inAnHour },
        { variantId: three, quantity: 2, expiresAt: inAnHour },
      ];
      expect(await holdsOf(sessionId)).toEqual(
        expected.toSorted((a, b) => (a.variantId < b.variantId ? -1 : 1)),
      );
      expect((await Promise.all([one, two, three].map(movementsOf))).flat()).toEqual([]);
    });

    it("is refused as a whole if any line is short, with the available quantity of each line", async () => {
      const [plenty, scarce] = [await stocked(10), await stocked(5, 1)];
      await held(scarce, 3);
      const sessionId = await held(scarce, 1);
      const shortages = await hold(sessionId, [
        { variantId: plenty, quantity: 2 },
        { variantId: scarce, quantity: 4 },
      ]);
      expect(shortages).toEqual([{ variantId: scarce, wanted: 4, available: 3 }]);
      expect([await levelOf(plenty), await levelOf(scarce)]).toEqual([
        { onHand: 10, reserved: 0 },
        { onHand: 5, reserved: 4 },
      ]);
      expect(await holdsOf(sessionId)).toMatchObject([{ variantId: scarce, quantity: 1 }]);
    });

    it("finds no stock of unknown variants or of another merchant's variants", async () => {
      const variantId = await stocked(10);
      const sessionId = await makeSession(world);
      expect(await hold(sessionId, [{ variantId: "var_none", quantity: 1 }])).toEqual([
        { variantId: "var_none", wanted: 1, available: 0 },
      ]);
      expect(await hold(sessionId, [{ variantId, quantity: 1 }], { at: world.other })).toEqual([
        { variantId, wanted: 1, available: 0 },
      ]);
    });

    it("takes units of a hold that expires now, but not of a session being paid", async () => {
      const variantId = await stocked(5);
      const ended = await held(variantId, 2);
      const paid = await held(variantId, 3, null);
      const sessionId = await makeSession(world);
      const ask = (later: number) =>
        hold(sessionId, [{ variantId, quantity: 2 }], { at: world.later(later) });
      expect(await ask(60 * minuteMs - 1)).toEqual([{ variantId, wanted: 2, available: 0 }]);
      expect(await ask(60 * minuteMs)).toEqual([]);
      expect([await holdsOf(ended), await levelOf(variantId)]).toEqual([[], { onHand: 5, reserved: 5 }]);
      expect(await holdsOf(paid)).toMatchObject([{ quantity: 3, expiresAt: null }]);
      expect(await ask(60 * minuteMs)).toEqual([]);
    });

    it("leaves expired holds alone if enough stock is free", async () => {
      const variantId = await stocked(5);
      const ended = await held(variantId, 2);
      await hold(await makeSession(world), [{ variantId, quantity: 3 }], { at: world.later(120 * minuteMs) });
      expect(await holdsOf(ended)).toHaveLength(1);
    });

    it("on the last unit succeeds for one of 20 concurrent sessions", async () => {
      const variantId = await stocked(1);
      const sessions = await Promise.all(Array.from({ length: 20 }, () => makeSession(world)));
      const outcomes = await Promise.all(
        sessions.map((sessionId) => hold(sessionId, [{ variantId, quantity: 1 }])),
      );
      expect(outcomes.filter((shortages) => shortages.length === 0)).toHaveLength(1);
      expect(await levelOf(variantId)).toEqual({ onHand: 1, reserved: 1 });
    });

    it("does not deadlock when many sessions hold the same variants in different orders", async () => {
      const variantIds = [await stocked(100), await stocked(100), await stocked(100)];
      const sessions = await Promise.all(Array.from({ length: 12 }, () => makeSession(world)));
      const orders = sessions.map((_, index) =>
        variantIds.map((__, at) => variantIds[(at + index) % 3] ?? ""),
      );
      await Promise.all(
        sessions.map((sessionId, index) =>
          hold(
            sessionId,
            (orders[index] ?? []).map((variantId) => ({ variantId, quantity: 2 })),
          ),
        ),
      );
      expect(await Promise.all(variantIds.map(levelOf))).toEqual(
        variantIds.map(() => ({ onHand: 100, reserved: 24 })),
      );
    });
  });

  it("is released once, however often the release is requested", async () => {
    const variantId = await stocked(5);
    const sessionId = await held(variantId, 2);
    const release = () =>
      world.run(
        (transaction, context, id: string) => releaseStockHolds(transaction, context, { sessionId: id }),
        sessionId,
      );
    await release();
    await release();
    expect([await levelOf(variantId), await holdsOf(sessionId)]).toEqual([{ onHand: 5, reserved: 0 }, []]);
  });

  it("gets a new expiry", async () => {
    const variantId = await stocked(5);
    const sessionId = await held(variantId, 2);
    await runInTransaction(world.db, (transaction) =>
      setStockHoldExpiry(transaction, { sessionId, expiresAt: null }),
    );
    expect(await holdsOf(sessionId)).toEqual([{ variantId, quantity: 2, expiresAt: null }]);
  });

  it("becomes an order's: stock on hand is taken, the rest is allocated when stock arrives", async () => {
    const variantId = await stocked(3, 10);
    const sessionId = await held(variantId, 5, null);
    const sold = await world.run(
      (transaction, context, note: string) =>
        convertHoldsToOrderStock(transaction, context, { sessionId, note }),
      "N-1",
    );
    expect([...sold]).toEqual([[variantId, 3]]);
    expect([await levelOf(variantId), await holdsOf(sessionId)]).toEqual([{ onHand: 0, reserved: 2 }, []]);
    const allocate = () =>
      world.run(
        (transaction, context, quantity: number) =>
          takeReservedUnitsFromStock(transaction, context, [{ variantId, quantity }], "N-1"),
        2,
      );
    expect(await allocate()).toEqual([{ variantId, wanted: 2, available: 0 }]);
    await world.run(
      (transaction, context, quantity: number) =>
        restockReturnedUnits(transaction, context, [{ variantId, quantity }], "N-0"),
      4,
    );
    expect(await allocate()).toEqual([]);
    expect(await levelOf(variantId)).toEqual({ onHand: 2, reserved: 0 });
    expect(await movementsOf(variantId)).toEqual([
      { delta: -3, onHandAfter: 0, reason: "sold", note: "N-1" },
      { delta: 4, onHandAfter: 4, reason: "returned", note: "N-0" },
      { delta: -2, onHandAfter: 2, reason: "sold", note: "N-1" },
    ]);
  });

  it("of a canceled order is undone: waiting units become free, taken units are on hand again", async () => {
    const variantId = await stocked(3, 10);
    const sessionId = await held(variantId, 5, null);
    await world.run(
      (transaction, context, note: string) =>
        convertHoldsToOrderStock(transaction, context, { sessionId, note }),
      "N-2",
    );
    await world.run(
      (transaction, context, line: { waiting: number; allocated: number }) =>
        releaseStockOfOrder(transaction, context, [{ variantId, ...line }], "N-2"),
      { waiting: 1, allocated: 2 },
    );
    expect(await levelOf(variantId)).toEqual({ onHand: 2, reserved: 1 });
    expect((await movementsOf(variantId)).at(-1)).toEqual({
      delta: 2,
      onHandAfter: 2,
      reason: "canceled",
      note: "N-2",
    });
  });

  it("for an exchange is refused if too little stock is free, and takes units of expired holds", async () => {
    const variantId = await stocked(3);
    await held(variantId, 2);
    const reserve = (later: number) =>
      runInTransaction(world.db, (transaction) =>
        reserveStockForOrder(transaction, world.later(later), [{ variantId, quantity: 3 }]),
      );
    expect(await reserve(0)).toEqual([{ variantId, wanted: 3, available: 1 }]);
    expect(await reserve(60 * minuteMs)).toEqual([]);
    expect(await levelOf(variantId)).toEqual({ onHand: 3, reserved: 3 });
  });

  it("of a deleted variant disappears", async () => {
    const variantId = await stocked(5);
    const sessionId = await held(variantId, 2, null);
    await world.db.deleteFrom("variant").where("id", "=", variantId).execute();
    const sold = await world.run(
      (transaction, context, note: string) =>
        convertHoldsToOrderStock(transaction, context, { sessionId, note }),
      "N-3",
    );
    expect([...sold]).toEqual([]);
    await world.run(
      async (transaction, context, line: VariantQuantity) => {
        expect(await takeReservedUnitsFromStock(transaction, context, [line], "N-3")).toEqual([]);
        await releaseStockOfOrder(transaction, context, [{ variantId, waiting: 1, allocated: 1 }], "N-3");
        await restockReturnedUnits(transaction, context, [line], "N-3");
      },
      { variantId, quantity: 1 },
    );
  });

  it("keeps reserved = held + waiting and the movements consistent, for any operations", async () => {
    const act = fc.constantFrom("hold", "release", "sell", "cancel", "allocate", "restock");
    const steps = fc.array(fc.record({ act, session: fc.nat(2), quantity: fc.integer({ min: 1, max: 4 }) }), {
      minLength: 3,
      maxLength: 15,
    });
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const variantId = await stocked(6, 3);
        const sessions = [await makeSession(world), await makeSession(world), await makeSession(world)];
        const order: Order = { waiting: 0, allocated: 0 };
        for (const { session, ...step } of history) {
          const sessionId = sessions[session] ?? "";
          await runInTransaction(world.db, (transaction) =>
            acts[step.act](transaction, world.context, { ...step, sessionId, variantId, order }),
          );
          const { rows } = await sql<{ held: number; moved: number }>`select
            (select coalesce(sum(quantity), 0)::int from stock_hold where variant_id = ${variantId}) as held,
            (select coalesce(sum(delta), 0)::int from stock_movement
            where variant_id = ${variantId}) as moved`.execute(world.db);
          const [sums = { held: 0, moved: 0 }] = rows;
          expect(await levelOf(variantId)).toEqual({
            reserved: sums.held + order.waiting,
            onHand: 6 + sums.moved,
          });
        }
      }),
      { numRuns: 20 },
    );
  });
});

interface Holding {
  readonly at?: MerchantCommandContext;
  readonly expiresAt?: Date | null;
}

interface Order {
  waiting: number;
  allocated: number;
}

interface Step {
  readonly sessionId: string;
  readonly variantId: string;
  readonly quantity: number;
  readonly order: Order;
}

type Act = (transaction: Transaction, context: MerchantCommandContext, step: Step) => Promise<unknown>;

const acts: Readonly<Record<"hold" | "release" | "sell" | "cancel" | "allocate" | "restock", Act>> = {
  hold: (transaction, context, { sessionId, ...line }) =>
    replaceStockHolds(transaction, context, { sessionId, expiresAt: inAnHour, lines: [line] }),
  release: (transaction, context, { sessionId }) => releaseStockHolds(transaction, context, { sessionId }),
  restock: (transaction, context, line) => restockReturnedUnits(transaction, context, [line], "r"),
  sell: async (transaction, context, { sessionId, variantId, order }) => {
    const hold = await transaction
      .selectFrom("stockHold")
      .select("quantity")
      .where("sessionId", "=", sessionId)
      .executeTakeFirst();
    const allocated =
      (await convertHoldsToOrderStock(transaction, context, { sessionId, note: "s" })).get(variantId) ?? 0;
    order.allocated += allocated;
    order.waiting += (hold?.quantity ?? 0) - allocated;
  },
  cancel: async (transaction, context, { variantId, quantity, order }) => {
    const back = {
      waiting: Math.min(quantity, order.waiting),
      allocated: Math.min(quantity, order.allocated),
    };
    await releaseStockOfOrder(transaction, context, [{ variantId, ...back }], "c");
    order.waiting -= back.waiting;
    order.allocated -= back.allocated;
  },
  allocate: async (transaction, context, { variantId, order }) => {
    if (
      order.waiting === 0 ||
      (await takeReservedUnitsFromStock(transaction, context, [{ variantId, quantity: 1 }], "a")).length > 0
    )
      return;
    order.waiting -= 1;
    order.allocated += 1;
  },
};
