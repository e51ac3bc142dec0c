/** Inserts whose text is made once for a number of rows: making it takes as long as sending it. */
import { type CompiledQuery, type Insertable, type RawBuilder, sql } from "kysely";
import { compileKept, slot } from "./kept-statement.ts";
import type { Tables } from "./tables.ts";
import type { Reader } from "./transaction.ts";

/** As many as one change tells of, mostly. */
const keptMax = 4;

/** All rows have the columns of the first. */
export function insertRows<Table extends keyof Tables>(reader: Reader, table: Table, rows: readonly Insertable<Tables[Table]>[]): CompiledQuery {
  if (rows.length > keptMax) return reader.insertInto(table).values(rows).compile();
  const columns = Object.keys(rows[0] ?? {});
  const values: Record<string, unknown> = {};
  for (const [index, row] of rows.entries()) for (const [column, value] of Object.entries(row)) values[`${column}${index}`] = value;
  const write = (): RawBuilder<unknown> => {
    const slots = rows.map((_, index) => sql`(${sql.join(columns.map((column) => slot(`${column}${index}`)))})`);
    return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(slots)}`;
  };
  return compileKept(reader, { form: `insert ${table} ${rows.length} ${columns.join(" ")}`, write, values });
}
