/**
 * Statements with lists have few distinct texts, whatever the lists' lengths, and find exactly the listed
 * values.
 */
import { sql } from "kysely";
import { expect, it } from "vitest";
import { buildPaddedInClauseSql, padListToPowerOfTwo } from "#database/prepared-template.ts";
import { useWorld } from "#test/support/use-world.ts";

const world = useWorld();
const textOf = (ids: readonly string[]): string =>
  sql`${buildPaddedInClauseSql(ids)}`.compile(world().database.db).sql;
const ids = (length: number): string[] => Array.from({ length }, (_, index) => `id ${index}`);

it("a padded list of values has one text per power of two, and one for empty or longer lists", () => {
  const texts = new Set(Array.from({ length: 300 }, (_, length) => textOf(ids(length))));
  expect(texts.size).toBe(10);
  expect(textOf(ids(3))).toBe("in ($1, $2, $3, $4)");
  expect(textOf(ids(257))).toBe("= any($1::text[])");
});

it.each([0, 1, 2, 3, 5, 256, 257])(
  "a padded list of values finds each of %d values once, and no other",
  async (length) => {
    const rows = await sql<{ id: string }>`
    select 'id ' || n as id from generate_series(0, 299) as n where 'id ' || n ${buildPaddedInClauseSql(ids(length))}
    order by n`.execute(world().database.db);
    expect(rows.rows.map(({ id }) => id)).toEqual(ids(length));
  },
);

it("a padded list of values is filled up with given values, and left alone if it is long enough", () => {
  expect(padListToPowerOfTwo([1, 2, 3], 0)).toEqual([1, 2, 3, 0]);
  expect(padListToPowerOfTwo([1, 2], 0)).toEqual([1, 2]);
  expect(padListToPowerOfTwo([], 0)).toEqual([]);
});
