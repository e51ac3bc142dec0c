/**
 * Stock never falls below zero or below the promised quantity, and the stock movements add up to the stock
 * level.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { replaceStockHolds } from "#commerce/inventory/stock-holds.ts";
import { adjustStock, setStockToCountedQuantities } from "#commerce/inventory/adjust-stock.ts";
import { saveStockSettings } from "#commerce/inventory/stock-settings.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { Failure } from "#foundation/failure.ts";
import { makeSession } from "#test/commerce/promotions/promotions-world.ts";
import { describeOnBoth, manyConnections } from "#test/support/databases.ts";
import type { MerchantCommandContext } from "#commerce/command-context.ts";
import { createWorld, makePublished, countVersionRises, startOfWorld, type World } from "./writes-world.ts";

describeOnBoth("stockAdjust", (open, engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: manyConnections }));
  });

  const levelOf = (variantId: string) =>
    world.db
      .selectFrom("stockLevel")
      .select(["onHand", "reserved", "updatedAt"])
      .where("variantId", "=", variantId)
      .executeTakeFirstOrThrow();
  const movementsOf = (variantId: string) =>
    world.db
      .selectFrom("stockMovement")
      .select(["id", "delta", "onHandAfter", "reason", "note", "createdAt"])
      .where("variantId", "=", variantId)
      .orderBy("id")
      .execute();

  it("changes the level, writes a movement, and reindexes the published product", async () => {
    const { productId, variantId } = await makePublished(world);
    const first = await world.run(adjustStock, {
      variantId,
      delta: 10,
      reason: "received",
      note: "Lieferung 7",
    });
    const second = await world.run(
      adjustStock,
      { variantId, delta: -3, reason: "damaged" },
      world.later(1000),
    );
    expect(first).toEqual({ variantId, productId, movementId: first.movementId, onHand: 10 });
    expect(second).toEqual({ variantId, productId, movementId: second.movementId, onHand: 7 });
    const then = new Date(startOfWorld.getTime() + 1000);
    expect(await levelOf(variantId)).toEqual({ onHand: 7, reserved: 0, updatedAt: then });
    expect(await movementsOf(variantId)).toEqual([
      {
        id: first.movementId,
        delta: 10,
        onHandAfter: 10,
        reason: "received",
        note: "Lieferung 7",
        createdAt: startOfWorld,
      },
      { id: second.movementId, delta: -3, onHandAfter: 7, reason: "damaged", note: null, createdAt: then },
    ]);
    expect(world.takeIndexed()).toEqual([[productId], [productId]]);
  });

  it("raises no version, because the stock level is not part of the catalog", async () => {
    const { productId, variantId } = await makePublished(world);
    expect(
      await countVersionRises(world, productId, () =>
        world.run(adjustStock, { variantId, delta: 1, reason: "correction" }),
      ),
    ).toEqual({
      product: 0,
      catalog: 0,
    });
  });

  it.each([
    [{ onHand: 5, reserved: 0, backorderLimit: 0 }, -6],
    [{ onHand: 5, reserved: 4, backorderLimit: 0 }, -2],
    [{ onHand: 5, reserved: 7, backorderLimit: 3 }, -2],
    [{ onHand: 0, reserved: 0, backorderLimit: 9 }, -1],
  ])("refuses to remove stock that does not exist or is promised: %j by %d", async (figures, delta) => {
    const { variantId } = await makePublished(world);
    await world.db.updateTable("stockLevel").set(figures).where("variantId", "=", variantId).execute();
    expect(await world.refusal(adjustStock, { variantId, delta, reason: "lost" })).toEqual({
      code: "invalid_state",
      details: [],
      conflict: {
        resource: "variant",
        id: variantId,
        currentStatus: null,
        currentVersion: null,
        reason: "insufficient_stock",
        data: { ...figures, delta },
      },
    });
  });

  it("removes exactly the free stock", async () => {
    const { variantId } = await makePublished(world);
    await world.db
      .updateTable("stockLevel")
      .set({ onHand: 5, reserved: 4 })
      .where("variantId", "=", variantId)
      .execute();
    expect(await world.run(adjustStock, { variantId, delta: -1, reason: "lost" })).toMatchObject({
      onHand: 4,
    });
  });

  describe("stock held by expired checkouts", () => {
    const hourMs = 3_600_000;
    const held = async (
      onHand: number,
      backorderLimit: number,
    ): Promise<{ variantId: string; sessionId: string }> => {
      const { variantId } = await makePublished(world);
      await world.db
        .updateTable("stockLevel")
        .set({ onHand, backorderLimit })
        .where("variantId", "=", variantId)
        .execute();
      const sessionId = await makeSession(world);
      const expiresAt = new Date(startOfWorld.getTime() + hourMs);
      await world.run(replaceStockHolds, { sessionId, expiresAt, lines: [{ variantId, quantity: 3 }] });
      return { variantId, sessionId };
    };
    const count = (transaction: Transaction, context: MerchantCommandContext, variantId: string) =>
      setStockToCountedQuantities(transaction, context, [{ variantId, onHand: 1, isNew: false }]);
    const limit = (transaction: Transaction, context: MerchantCommandContext, variantId: string) =>
      saveStockSettings(transaction, context, [
        { variantId, isNew: false, backorderLimit: 0, lowStockThreshold: null },
      ]);
    const ways: readonly [
      string,
      number,
      number,
      (transaction: Transaction, context: MerchantCommandContext, variantId: string) => Promise<unknown>,
      object,
    ][] = [
      [
        "an adjustment",
        3,
        0,
        (transaction, context, variantId) =>
          adjustStock(transaction, context, { variantId, delta: -2, reason: "lost" }),
        { onHand: 1 },
      ],
      ["a count", 3, 0, count, { onHand: 1 }],
      ["another limit", 0, 3, limit, { onHand: 0 }],
    ];

    it.each(ways)(
      "%s is available from the moment of expiry on",
      async (_name, onHand, backorderLimit, change, expected) => {
        const { variantId } = await held(onHand, backorderLimit);
        const early = await world.refusal(change, variantId, world.later(hourMs - 1));
        expect(early.conflict).toMatchObject({ reason: "insufficient_stock", data: { reserved: 3 } });
        await world.run(change, variantId, world.later(hourMs));
        expect(await levelOf(variantId)).toMatchObject({ ...expected, reserved: 0 });
        expect(
          await world.db
            .selectFrom("stockHold")
            .select("quantity")
            .where("variantId", "=", variantId)
            .execute(),
        ).toEqual([]);
      },
    );

    it.runIf(engine === "postgres")(
      "is available without waiting for a session that another transaction locks",
      async () => {
        const { variantId, sessionId } = await held(3, 0);
        const [isLocked, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const locked = runInTransaction(world.db, async (transaction) => {
          await transaction
            .selectFrom("hostedCheckoutSession")
            .select("id")
            .where("id", "=", sessionId)
            .forUpdate()
            .execute();
          isLocked.resolve();
          await end.promise;
        });
        await isLocked.promise;
        await world.run(adjustStock, { variantId, delta: -3, reason: "lost" }, world.later(hourMs));
        end.resolve();
        await locked;
        expect(await levelOf(variantId)).toMatchObject({ onHand: 0, reserved: 0 });
      },
    );
  });

  it("refuses a level above the maximum", async () => {
    const { variantId } = await makePublished(world);
    await world.run(adjustStock, { variantId, delta: 1_000_000_000, reason: "received" });
    expect(await world.refusal(adjustStock, { variantId, delta: 1, reason: "received" })).toMatchObject({
      code: "invalid_state",
      conflict: {
        reason: "stock_limit_reached",
        data: { onHand: 1_000_000_000, delta: 1, limit: 1_000_000_000 },
      },
    });
  });

  it.each([
    [{ delta: 0, reason: "correction" as const }, "body /delta out_of_range"],
    [{ delta: 0.5, reason: "correction" as const }, "body /delta wrong_type"],
    [{ delta: 2_000_000_000, reason: "correction" as const }, "body /delta too_large"],
    [{ delta: 1, reason: "sold" as "lost" }, "body /reason not_allowed"],
    [{ delta: 1, reason: "lost" as const, note: "\u0000" }, "body /note control_character"],
  ])("refuses the input %j with the field and the rule", async (input, detail) => {
    const { variantId } = await makePublished(world);
    expect(await world.refusal(adjustStock, { variantId, ...input })).toEqual({
      code: "invalid_field",
      details: [detail],
      conflict: null,
    });
  });

  it("refuses a variant of another merchant", async () => {
    const { variantId } = await makePublished(world);
    expect(
      await world.refusal(adjustStock, { variantId, delta: 1, reason: "received" }, world.other),
    ).toEqual({
      code: "resource_not_found",
      details: [],
      conflict: null,
    });
    expect(
      await world.refusal(adjustStock, { variantId: "var_\u0000", delta: 1, reason: "received" }),
    ).toMatchObject({ code: "resource_not_found" });
  });

  it.runIf(engine === "postgres")(
    "serves as many of twenty concurrent removals as there is stock, and the movements add up",
    async () => {
      const { productId, variantId } = await makePublished(world);
      await world.run(adjustStock, { variantId, delta: 25, reason: "received" });
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, () => world.run(adjustStock, { variantId, delta: -2, reason: "lost" })),
      );
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(12);
      const refused = outcomes.flatMap((outcome) =>
        outcome.status === "rejected" ? [outcome.reason as unknown] : [],
      );
      expect(
        refused.map((error) => (error instanceof Failure ? error.parts.conflict?.reason : error)),
      ).toEqual(Array.from({ length: 8 }, () => "insufficient_stock"));
      expect(await levelOf(variantId)).toMatchObject({ onHand: 1 });
      const movements = await movementsOf(variantId);
      expect(movements.map(({ onHandAfter }) => onHandAfter)).toEqual([
        25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1,
      ]);
      expect(movements.reduce((sum, { delta }) => sum + delta, 0)).toBe(1);
      expect(world.takeIndexed()).toEqual(Array.from({ length: 13 }, () => [productId]));
    },
  );
});
