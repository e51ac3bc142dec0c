/**
 * Inserts many rows of a table with one statement. All rows are passed as a single JSON parameter, so that
 * the SQL text is the same for any number of rows.
 */
import { type Insertable, type SelectType, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { Transaction } from "#database/transaction.ts";

type TableName = keyof Tables;

/**
 * A row to insert. A JSON column has the value itself and not JSON text; a column of bytes has a byte array.
 * A column with a default value in the database may be left out.
 */
export type DemoTableRowToInsert<Name extends TableName> = {
  [Column in keyof Insertable<Tables[Name]>]: Column extends keyof Tables[Name]
    ? SelectedType<Tables[Name][Column]>
    : never;
};
// Kysely's `SelectType` is applied twice, because a JSON column with a default value in the database has two
// nested column types. Each call removes one of them.
type SelectedType<Column> = SelectType<SelectType<Column>>;

/**
 * Inserts the rows of several tables, table by table, in the order of the object's keys. A table must come
 * after the tables to which its foreign keys refer.
 */
export async function insertTableRows(
  transaction: Transaction,
  tables: { readonly [Name in TableName]?: readonly DemoTableRowToInsert<Name>[] },
): Promise<void> {
  for (const [table, rows] of Object.entries(tables)) await insertRowsIntoTable(transaction, table, rows);
}

/** Inserts rows into one table. All rows must have the same columns as the first row. */
async function insertRowsIntoTable(
  transaction: Transaction,
  table: string,
  rows: readonly object[],
): Promise<void> {
  const [first] = rows;
  if (first === undefined) return;
  const columns = sql.join(Object.keys(first).map((column) => sql.ref(column)));
  const json = JSON.stringify(rows.map(toColumnNames));
  await sql`
    insert into ${sql.table(table)} (${columns})
    select ${columns} from json_populate_recordset(null::${sql.table(table)}, ${json}::json)`.execute(
    transaction,
  );
}

/** Returns bytes in PostgreSQL's hexadecimal input format of `bytea`. */
const toByteText = (bytes: Uint8Array): string => `\\x${Buffer.from(bytes).toString("hex")}`;

const columnNames = new Map<string, string>();

function toColumnNames(row: object): Record<string, unknown> {
  const columns: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row))
    columns[toColumnName(name)] = value instanceof Uint8Array ? toByteText(value) : value;
  return columns;
}

function toColumnName(name: string): string {
  let column = columnNames.get(name);
  if (column === undefined) {
    column = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    columnNames.set(name, column);
  }
  return column;
}
