/**
 * A product whose availability a checkout changed is reindexed by the next sweep, and no concurrent change is
 * lost.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { replaceStockHolds, releaseStockHolds } from "#commerce/inventory/stock-holds.ts";
import { reindexProductsWithChangedAvailability } from "#commerce/search/index-products.ts";
import { runInTransaction } from "#database/transaction.ts";
import { makeSession } from "#test/commerce/promotions/promotions-world.ts";
import { createWorld, makePublished, startOfWorld, type World } from "#test/commerce/writes-world.ts";
import { countReadRows, describeOnBoth } from "#test/support/databases.ts";

const inAnHour = new Date(startOfWorld.getTime() + 3_600_000);

describeOnBoth("the search index of a sold-out product", (open, engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(() => open({ poolSize: 4 }));
  });

  const stocked = async (onHand: number): Promise<{ productId: string; variantId: string }> => {
    const made = await makePublished(world);
    await sql`update stock_level set on_hand = ${onHand}, low_stock_threshold = 1
      where variant_id = ${made.variantId}`.execute(world.db);
    return made;
  };
  const due = async (): Promise<string[]> =>
    (await world.db.selectFrom("searchDue").select("productId").orderBy("id").execute()).map(
      ({ productId }) => productId,
    );
  const hold = async (variantId: string, quantity: number): Promise<string> => {
    const sessionId = await makeSession(world);
    await runInTransaction(world.db, (transaction) =>
      replaceStockHolds(transaction, world.context, {
        sessionId,
        expiresAt: inAnHour,
        lines: [{ variantId, quantity }],
      }),
    );
    return sessionId;
  };
  const foundAs = async (productId: string): Promise<string | undefined> =>
    (
      await world.db
        .selectFrom("searchOffer")
        .select("availability")
        .where("productId", "=", productId)
        .where("country", "=", "DE")
        .executeTakeFirst()
    )?.availability;

  it("is queued when its displayed availability changes, not for every unit", async () => {
    const { productId, variantId } = await stocked(5);
    await reindexProductsWithChangedAvailability(world.db, world.context.now);
    await hold(variantId, 2);
    expect(await due()).toEqual([]);
    await hold(variantId, 2);
    expect(await due()).toEqual([productId]);
    await hold(variantId, 1);
    expect(await due()).toEqual([productId, productId]);
    expect(await reindexProductsWithChangedAvailability(world.db, world.context.now)).toBe(1);
    expect([await foundAs(productId), await due()]).toEqual(["out_of_stock", []]);
  });

  it("is queued when its hold is released", async () => {
    const { productId, variantId } = await stocked(1);
    const sessionId = await hold(variantId, 1);
    await reindexProductsWithChangedAvailability(world.db, world.context.now);
    expect(await foundAs(productId)).toBe("out_of_stock");
    await runInTransaction(world.db, (transaction) =>
      releaseStockHolds(transaction, world.context, { sessionId }),
    );
    await reindexProductsWithChangedAvailability(world.db, world.context.now);
    expect([await foundAs(productId), await due()]).toEqual(["low_stock", []]);
  });

  it("is indexed as available once its hold has expired, before a sweep releases the hold", async () => {
    const { productId, variantId } = await stocked(5);
    await sql`update stock_level set low_stock_threshold = 3 where variant_id = ${variantId}`.execute(
      world.db,
    );
    await hold(variantId, 2);
    const later = world.later(3_600_000);
    const indexed = async (): Promise<string | undefined> => {
      await reindexProductsWithChangedAvailability(world.db, later.now);
      return foundAs(productId);
    };
    expect([await due(), await indexed()]).toEqual([[productId], "in_stock"]);
    const sessionId = await makeSession(world);
    const lines = [{ variantId, quantity: 2 }];
    await runInTransaction(world.db, (transaction) =>
      replaceStockHolds(transaction, later, { sessionId, expiresAt: null, lines }),
    );
    expect([await due(), await indexed()]).toEqual([[productId], "low_stock"]);
  });

  describe("is reindexed also if more than one batch is due", () => {
    const copies = 1101;
    /** Queues products three times each, the last ones first. */
    const putDown = async (): Promise<void> => {
      const { productId } = await stocked(1);
      await sql`
        with copied as (
          insert into product select (jsonb_populate_record(p,
          jsonb_build_object('id', 'prd_copy_' || n, 'status', 'draft'))).*
          from product p, generate_series(1, ${copies}::int) as n where p.id = ${productId}
          on conflict do nothing)
        select 1`.execute(world.db);
      await sql`insert into search_due (product_id) select id from product, generate_series(1, 3)
        where id like 'prd_copy_%' order by id desc`.execute(world.db);
    };

    it("is indexed in one round, once per product", async () => {
      await putDown();
      expect(await reindexProductsWithChangedAvailability(world.db, world.context.now)).toBe(copies);
      expect(await due()).toEqual([]);
    });

    it("waits after the first batch if the round is stopped", async () => {
      await putDown();
      expect(
        await reindexProductsWithChangedAvailability(world.db, world.context.now, AbortSignal.abort()),
      ).toBe(500);
      expect(await due()).toHaveLength((copies - 500) * 3);
      await reindexProductsWithChangedAvailability(world.db, world.context.now);
    });

    // PostgreSQL plans with the number of entries that the last ANALYZE found, and autovacuum often runs ANALYZE
    // while the queue is empty.
    it.runIf(engine === "pglite")(
      "reads few rows per entry, also if ANALYZE found an empty queue",
      async () => {
        await putDown();
        await sql`delete from search_due`.execute(world.db);
        await sql`analyze search_due`.execute(world.db);
        await putDown();
        const before = await countReadRows(world.db, "search_due");
        expect(await reindexProductsWithChangedAvailability(world.db, world.context.now)).toBe(copies);
        const read = (await countReadRows(world.db, "search_due")) - before;
        expect(read).toBeGreaterThan(copies * 3);
        expect(read).toBeLessThan(copies * 3 * 10);
      },
    );
  });

  it.runIf(engine === "postgres")(
    "does not wait for other transactions: the next sweep takes what they commit",
    async () => {
      const { productId, variantId } = await stocked(1);
      const sessionId = await makeSession(world);
      await hold((await stocked(1)).variantId, 1);
      const [isHeld, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const committed = runInTransaction(world.db, async (transaction) => {
        await replaceStockHolds(transaction, world.context, {
          sessionId,
          expiresAt: inAnHour,
          lines: [{ variantId, quantity: 1 }],
        });
        isHeld.resolve();
        await commit.promise;
      });
      await isHeld.promise;
      try {
        expect(await reindexProductsWithChangedAvailability(world.db, world.context.now)).toBe(1);
      } finally {
        commit.resolve();
        await committed;
      }
      expect(await due()).toEqual([productId]);
      expect(await reindexProductsWithChangedAvailability(world.db, world.context.now)).toBe(1);
      expect(await foundAs(productId)).toBe("out_of_stock");
    },
  );
});
