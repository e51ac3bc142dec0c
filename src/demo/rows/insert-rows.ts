/**
 * Many rows of a table in one statement: they travel as one JSON text, so their number changes neither the
 * statement nor its parameters.
 */
import { type Insertable, type SelectType, sql } from "kysely";
import type { Tables } from "#database/tables.ts";
import type { Transaction } from "#database/transaction.ts";

type TableName = keyof Tables;

/**
 * A row as it is read: JSON columns hold what they hold, not text of it, and bytes are bytes. Columns that
 * the database fills in may be left out.
 */
export type TableRow<Name extends TableName> = {
  [Column in keyof Insertable<Tables[Name]>]: Column extends keyof Tables[Name]
    ? SelectedType<Tables[Name][Column]>
    : never;
};
// Twice, because a JSON column with a default is one column type inside another.
type SelectedType<Column> = SelectType<SelectType<Column>>;

/** Table by table in the order given, which must be the one in which they refer to each other. */
export async function insertTableRows(
  transaction: Transaction,
  tables: { readonly [Name in TableName]?: readonly TableRow<Name>[] },
): Promise<void> {
  for (const [table, rows] of Object.entries(tables)) await insertRowsIntoTable(transaction, table, rows);
}

/** All rows have the columns of the first one. */
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

/** What PostgreSQL reads into a bytea. */
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
