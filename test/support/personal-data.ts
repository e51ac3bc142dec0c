/**
 * Which columns of the database may hold personal data: schema/personal-data.json declares it for every
 * column that can hold text.
 */
import { readFileSync } from "node:fs";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";

/**
 * The kinds of columns: `none` and `digest` never hold personal data, `sealed` is ciphertext, `personal`
 * holds personal data in clear, `pseudonym` names a buyer by a reference that is no personal data, `note` is
 * written by people and not meant for personal data, `staff` is about people of a merchant. Erasing a buyer
 * leaves nothing in columns that are "erased by" something.
 */
export const kinds = ["none", "digest", "sealed", "personal", "pseudonym", "note", "staff"] as const;

/** `table.column` → a kind and, after a colon, what happens to the column when a buyer is erased. */
export const declaredColumns: Readonly<Record<string, string>> = JSON.parse(
  readFileSync(new URL("../../schema/personal-data.json", import.meta.url), "utf8"),
);

export const kindOf = (declaration: string): string => declaration.split(":", 1).join("");

export const erasedColumns: readonly string[] = Object.entries(declaredColumns)
  .filter(([, declaration]) => declaration.includes("erased by"))
  .map(([name]) => name);

/**
 * Types that cannot hold text: numbers, times and truth values. Any other type, also one of a later
 * migration, has to be declared.
 */
const withoutText = [
  "bigint",
  "boolean",
  "date",
  "double precision",
  "integer",
  "numeric",
  "real",
  "smallint",
  "timestamp with time zone",
];

/** All columns of the database that can hold text, as `table.column`, in the order of their names. */
export async function findTextColumns(db: Database): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    join information_schema.tables using (table_schema, table_name)
    where table_schema = 'public' and table_type = 'BASE TABLE'
    and table_name in (select relname from pg_class where not relispartition)
    and data_type <> all(${withoutText}::text[])`.execute(db);
  return rows.map(({ name }) => name).toSorted();
}

/** Every value of a column as text; bytes as Latin-1. */
export async function readColumn(db: Database, name: string): Promise<readonly string[]> {
  const [table = "", column = ""] = name.split(".");
  const { rows } = await sql<{
    value: unknown;
  }>`select ${sql.ref(column)} as value from ${sql.table(table)}
    where ${sql.ref(column)} is not null`.execute(db);
  return rows.map(({ value }) => {
    if (value instanceof Uint8Array) return Buffer.from(value).toString("latin1");
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}
