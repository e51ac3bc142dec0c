/** The benchmark's server `yardstick-batched` reads the same rows as `yardstick`, with fewer statements. */
import { sql } from "kysely";
import { Pool, type QueryResultRow } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { cartStatement } from "#bench/servers/yardstick-cart.ts";
import { orderStatement } from "#bench/servers/yardstick-order.ts";
import { createProductStatement } from "#bench/servers/yardstick-product.ts";
import {
  createBatchedRowReaders,
  createSingleRowReaders,
  type RowStatement,
} from "#bench/servers/yardstick-rows.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { createWorld, publicUrl, type World } from "#test/support/world.ts";

let world: World;
let pool: Pool;
let statements: string[];
beforeAll(async () => {
  world = await createWorld();
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(world.database.db);
  pool = new Pool({ connectionString: databaseUrl(inject("postgresUrl"), rows[0]?.name ?? ""), max: 2 });
  pool.on("connect", (client) => {
    const query = client.query.bind(client);
    client.query = ((...parts: Parameters<typeof query>) => {
      statements.push(JSON.stringify(parts[0]));
      return query(...parts);
    }) as typeof client.query;
  });
});
afterAll(async () => {
  await pool.end();
  await world[Symbol.asyncDispose]();
});

const kinds: readonly { readonly statement: RowStatement; readonly keys: string }[] = [
  {
    statement: createProductStatement(publicUrl),
    keys: `select m.slug as first, s.slug as second from product_slug s join merchant m on m.id = s.merchant_id`,
  },
  { statement: cartStatement, keys: "select id as first, merchant_id as second from cart" },
  { statement: orderStatement, keys: "select id as first, merchant_id as second from sales_order" },
];

describe.each(kinds)("the rows of the statement $statement.name", ({ statement, keys }) => {
  it("are the same when they are read together, with one statement for 32 rows", async () => {
    statements = [];
    const { rows: found } = await pool.query<{ first: string; second: string }>(
      `${keys} order by 1, 2 limit 31`,
    );
    expect(found.length).toBeGreaterThan(0);
    // A key that occurs twice, and a row of another owner, which does not exist.
    const [one] = found;
    const asked = [...found, ...found.slice(0, 1), { first: one?.first ?? "", second: "unknown" }];
    const readAll = async (
      create: typeof createSingleRowReaders,
    ): Promise<{ rows: (QueryResultRow | null)[]; count: number }> => {
      const read = create(pool)<QueryResultRow>(statement);
      statements = [];
      const rows = await Promise.all(asked.map(({ first, second }) => read(first, second)));
      return { rows, count: statements.length };
    };
    const single = await readAll(createSingleRowReaders);
    const batched = await readAll(createBatchedRowReaders);
    expect(single.rows.at(-1)).toBeNull();
    expect(single.rows.filter((row) => row === null).length).toBeLessThan(found.length);
    expect(batched.rows).toEqual(
      single.rows.map((row, index) => {
        if (row === null) return null;
        const { first, second } = asked[index] ?? {};
        return { ...row, keyFirst: first, keySecond: second };
      }),
    );
    expect([single.count, batched.count]).toEqual([asked.length, 1]);
  });
});
