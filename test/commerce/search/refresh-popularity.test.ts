/** Popularity, the sort key of browsing, follows the orders of the last 30 days. */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { refreshProductPopularity } from "#commerce/search/refresh-popularity.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { insertOrder } from "#test/support/orders.ts";
import { createWorld, type World } from "#test/support/world.ts";

const dayMs = 86_400_000;

const refresh = ({ database, clock }: World): Promise<number> =>
  refreshProductPopularity({ db: database.db, now: clock.now() });

async function popularityOf(
  { database: { db } }: World,
  productId: string,
): Promise<{ product: number; offers: number[] }> {
  const { popularity } = await db
    .selectFrom("product")
    .select("popularity")
    .where("id", "=", productId)
    .executeTakeFirstOrThrow();
  const offers = await db
    .selectFrom("searchOffer")
    .select("popularity")
    .distinct()
    .where("productId", "=", productId)
    .execute();
  return { product: popularity, offers: offers.map((offer) => offer.popularity) };
}

describeOnBoth("popularity", (_open, engine) => {
  it("is the number of units ordered in the last 30 days, in the catalog and in the index", async () => {
    await using world = await createWorld(engine);
    await refresh(world);
    const placedAt = world.clock.now();
    const order = await insertOrder(world, {
      lines: { "KIT-KVERN": 3, "KIT-EMALJE-WHITE": 2 },
      quantities: { "KIT-KVERN": { canceled: 1, allocated: 2 } },
    });
    const productOf = (sku: string): string =>
      order.lines.find(({ display }) => display.sku === sku)?.productId ?? "";
    const [mill, enamel] = [productOf("KIT-KVERN"), productOf("KIT-EMALJE-WHITE")];
    const before = [await popularityOf(world, mill), await popularityOf(world, enamel)];
    expect(await refresh(world)).toBe(2);
    expect(await refresh(world)).toBe(0);
    const [of0, of1] = before.map(({ product }) => product);
    expect(await popularityOf(world, mill)).toEqual({ product: (of0 ?? 0) + 2, offers: [(of0 ?? 0) + 2] });
    expect(await popularityOf(world, enamel)).toEqual({ product: (of1 ?? 0) + 2, offers: [(of1 ?? 0) + 2] });
    expect(order.placedAt).toBe(placedAt.toISOString());
    world.clock.advance(30 * dayMs);
    await refresh(world);
    expect(await popularityOf(world, mill)).toEqual({ product: 0, offers: [0] });
  });

  it("is counted once for all products, in however many batches it is written", async () => {
    await using world = await createWorld(engine);
    const { db } = world.database;
    await refresh(world);
    await sql`
      insert into product select (jsonb_populate_record(p,
      jsonb_build_object('id', 'prd_copy_' || n, 'popularity', 9))).*
      from product p, generate_series(1, 1200) as n where p.id = (select min(id) from product
      where status = 'published')`.execute(db);
    world.statements.length = 0;
    expect(await refreshProductPopularity({ db, now: world.clock.now(), signal: AbortSignal.abort() })).toBe(
      0,
    );
    expect(await refresh(world)).toBe(1200);
    const [counts, writes] = [/from sales_order/, /update product p set popularity/].map((part) =>
      world.statements.filter((text) => part.test(text)),
    );
    expect([counts?.length, writes?.length]).toEqual([2, 3]);
    expect(await refresh(world)).toBe(0);
  });
});
