/**
 * Transactions that PostgreSQL aborts (serialization failure, deadlock) are run again completely, over REST
 * and over GraphQL.
 */
import { sql } from "kysely";
import { beforeAll, expect, it } from "vitest";
import {
  createAddressWrite,
  type CartState,
  createCartWrite,
  openCart,
  openShop,
  parseAnswer,
  type Shop,
  type Write,
} from "#soak/shop.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";

describeOnBoth("a change", (_open, engine) => {
  const world = useWorld(engine);
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(world().send, world().demo);
    const { db } = world().database;
    // A sequence is not rolled back, so it counts the attempts.
    await sql`create sequence attempt`.execute(db);
    await sql`create table giving_up (sqlstate text not null, times int not null)`.execute(db);
    await sql
      .raw(
        `create function give_up() returns trigger language plpgsql as $$
         declare plan giving_up;
         begin
           select * into plan from giving_up;
           if found and nextval('attempt') <= plan.times then
             raise exception 'gave up' using errcode = plan.sqlstate;
           end if;
           return new;
         end $$`,
      )
      .execute(db);
    await sql`create trigger give_up before update on cart for each row execute function give_up()`.execute(
      db,
    );
  });
  const abortTransactions = async (sqlState: string, times: number): Promise<void> => {
    const { db } = world().database;
    await sql`alter sequence attempt restart`.execute(db);
    await sql`delete from giving_up`.execute(db);
    await sql`insert into giving_up values (${sqlState}, ${times})`.execute(db);
  };
  const versionOf = async ({ id }: CartState): Promise<number> =>
    (
      await world()
        .database.db.selectFrom("cart")
        .select("version")
        .where("id", "=", id)
        .executeTakeFirstOrThrow()
    ).version;

  const interfaces: readonly (readonly [name: string, write: (cartId: string) => Write])[] = [
    ["REST", (cartId): Write => createAddressWrite(shop, cartId)],
    [
      "GraphQL",
      (cartId): Write =>
        createCartWrite(shop, {
          mutation: "cartLinesAdd",
          cartId,
          input: { lines: [{ variantId: shop.variantIds[0] ?? "", quantity: 1 }] },
        }),
    ],
  ];
  it.each(
    ["40001", "40P01"].flatMap((code) => interfaces.map(([name, write]) => [code, name, write] as const)),
  )("that is aborted twice with %s is done once over %s", async (code, _name, write) => {
    const cart = await openCart(world().send, shop);
    await abortTransactions(code, 2);
    const answer = parseAnswer(await world().send(write(cart.id).request));
    expect([answer.status, answer.code, answer.isReplay]).toEqual([200, undefined, false]);
    expect(await versionOf(cart)).toBe(2);
  });

  it.each(interfaces)(
    "that is aborted three times is refused over %s and writes nothing",
    async (_name, write) => {
      const cart = await openCart(world().send, shop);
      await abortTransactions("40001", 3);
      const { request } = write(cart.id);
      expect(parseAnswer(await world().send(request)).status).toBeGreaterThanOrEqual(500);
      expect(await versionOf(cart)).toBe(1);
      expect(parseAnswer(await world().send(request))).toMatchObject({ status: 200, isReplay: false });
      expect(await versionOf(cart)).toBe(2);
    },
  );
});
