/**
 * docs/scaling.md plans how the tables are distributed by merchant. The plan lists every table of the
 * migrated schema once, and exactly those unique indexes and foreign keys that lack the merchant.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OpenedDatabase } from "#database/connect.ts";
import { openFresh } from "#test/support/databases.ts";

interface PlannedTable {
  readonly kind: string;
  /** The text of the column "distribution column". */
  readonly key: string;
  /** The unique indexes and foreign keys without the merchant, by their classes. */
  readonly exceptions: ReadonlyMap<string, string>;
}

const document = readFileSync(new URL("../../docs/scaling.md", import.meta.url), "utf8");
const rows = [...document.matchAll(/^\| `(\w+)` \| (\w+) \| (.+?) \| (.+) \|$/gm)];
const plan = new Map<string, PlannedTable>(
  rows.map(([, table = "", kind = "", key = "", keys = ""]) => [
    table,
    {
      kind,
      key,
      exceptions: new Map(
        [...keys.matchAll(/`([^`]+)` (\w+)/g)].map((found) => [found[1] ?? "", found[2] ?? ""]),
      ),
    },
  ]),
);
const kindOf = (table: string): string | undefined => plan.get(table)?.kind;

interface Columns {
  readonly table: string;
  readonly columns: string;
}

interface ForeignKey extends Columns {
  readonly parent: string;
}

let database: OpenedDatabase;
let tables: ReadonlyMap<string, string>;
let uniqueIndexes: readonly Columns[];
let foreignKeys: readonly ForeignKey[];

beforeAll(async () => {
  database = await openFresh("pglite");
  const [found, indexes, keys] = await database.script((run) =>
    run(`
      select relname as "table", (
        select case when attnotnull then '' else ', nullable' end from pg_attribute
        where attrelid = pg_class.oid and attname = 'merchant_id'
      ) as merchant
      from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')
        and not relispartition;
      select distinct indrelid::regclass::text as "table", (
        select string_agg(coalesce(attname, '(expression)'), ', ' order by place)
        from unnest(indkey) with ordinality key (number, place)
        left join pg_attribute on attrelid = indrelid and attnum = number and number > 0
      ) as columns
      from pg_index where indisunique and indrelid::regclass::text in (
        select relname from pg_class where relnamespace = 'public'::regnamespace and not relispartition
      );
      select conrelid::regclass::text as "table", confrelid::regclass::text as parent, (
        select string_agg(attname, ', ' order by place) from unnest(conkey) with ordinality key (number, place)
        join pg_attribute on attrelid = conrelid and attnum = number
      ) as columns
      from pg_constraint where contype = 'f' and conparentid = 0`),
  );
  tables = new Map(
    found?.map(({ table, merchant }) => [
      String(table),
      typeof merchant === "string" ? merchant : ", missing",
    ]),
  );
  uniqueIndexes = indexes as unknown as Columns[];
  foreignKeys = keys as unknown as ForeignKey[];
});
afterAll(() => database.close());

const hasMerchant = ({ columns }: Columns): boolean => columns.split(", ").includes("merchant_id");

it("the plan of distribution lists every table of the schema once, with its kind", () => {
  expect(rows.map(([, table = ""]) => table).toSorted()).toEqual([...tables.keys()].toSorted());
  for (const { kind } of plan.values()) expect(["distributed", "reference", "local"]).toContain(kind);
});

it("the plan names the distribution column of every distributed table, and whether it exists", () => {
  const expected = [...plan].map(([table, { kind }]) => [
    table,
    kind === "distributed" ? `\`merchant_id\`${tables.get(table)}` : "–",
  ]);
  expect([...plan].map(([table, { key }]) => [table, key])).toEqual(expected);
});

it("the plan lists exactly the unique indexes and foreign keys that lack the merchant", () => {
  const lacking = new Map<string, string[]>([...plan.keys()].map((table) => [table, []]));
  for (const index of uniqueIndexes)
    if (kindOf(index.table) === "distributed" && !hasMerchant(index))
      lacking.get(index.table)?.push(`(${index.columns})`);
  for (const key of foreignKeys)
    if (kindOf(key.table) === "distributed" && kindOf(key.parent) === "distributed" && !hasMerchant(key))
      lacking.get(key.table)?.push(`${key.columns} → ${key.parent}`);
  expect([...plan].map(([table, { exceptions }]) => [table, [...exceptions.keys()].toSorted()])).toEqual(
    [...lacking].map(([table, names]) => [table, names.toSorted()]),
  );
});

/** Returns the reasons that docs/scaling.md allows for an index or foreign key of this form. */
function reasonOf(name: string): string {
  if (name.includes("→")) return "F";
  if (name === "(id)") return "I";
  return /_id\b/.test(name) ? "P" : "S";
}

it("the plan gives each of these indexes and foreign keys the reason that fits its form", () => {
  for (const [table, { exceptions }] of plan)
    for (const [name, reason] of exceptions) {
      expect(`${table} ${name}: ${reason}`).toBe(`${table} ${name}: ${reasonOf(name)}`);
      expect(document).toContain(`- **${reason}**: `);
    }
});

it("in the plan, a row of each machine refers only to rows that the machine has", () => {
  const parents: Readonly<Record<string, readonly string[]>> = {
    distributed: ["distributed", "reference"],
    reference: ["reference"],
    local: ["local", "reference"],
  };
  for (const { table, parent } of foreignKeys)
    expect(parents[kindOf(table) ?? ""], `${table} → ${parent}`).toContain(kindOf(parent));
});
