/**
 * Statements that are built once for each of their forms and kept as text: building one of this size anew takes longer than PostgreSQL takes to
 * find a product. What differs from call to call stands in them as a slot.
 */
import { LRUCache } from "lru-cache";
import { CompiledQuery, type Insertable, type RawBuilder, sql } from "kysely";
import { manyFormsMark } from "./statement-pool.ts";
import type { Reader } from "./transaction.ts";
import type { Tables } from "./tables.ts";

class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A parameter that each call gives a value to. */
export const parameter = <Value>(name: string): RawBuilder<Value> => sql<Value>`${new Parameter(name)}`;

interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

/** Forms are few: which filters there are, which order, how long the chain of locales is. */
const formsMax = 500;
const templates = new LRUCache<string, Compiled>({ max: formsMax });

export interface PreparedTemplate {
  /** Says all that the text depends on. */
  readonly form: string;
  readonly write: () => RawBuilder<unknown>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Whoever asks has a say in the form: there may be dozens of them. */
  readonly hasManyForms?: boolean;
}

export function prepareStatement<Row>(reader: Reader, { form, write, values, hasManyForms = false }: PreparedTemplate): CompiledQuery<Row> {
  const { text, names } = compileOnce(reader, form, hasManyForms ? () => sql`${sql.raw(manyFormsMark)} ${write()}` : write);
  return CompiledQuery.raw(
    text,
    names.map((name) => values[name]),
  );
}

/** The statement's one row. */
export async function runForRow<Row>(reader: Reader, statement: PreparedTemplate): Promise<Row> {
  const { rows } = await reader.executeQuery<Row>(prepareStatement(reader, statement));
  const [row] = rows;
  if (row === undefined) throw new Error("The statement gives one row.");
  return row;
}

function compileOnce(reader: Reader, form: string, write: () => RawBuilder<unknown>): Compiled {
  const known = templates.get(form);
  if (known !== undefined) return known;
  const { sql: text, parameters } = write().compile(reader);
  const names = parameters.map((parameter) => {
    if (parameter instanceof Parameter) return parameter.name;
    throw new Error("What differs from call to call is a slot, and what does not is part of the text.");
  });
  templates.set(form, { text, names });
  return { text, names };
}

interface PaddedInTemplate {
  /** Part of the statement's form. */
  readonly form: string;
  /** What stands behind a column. */
  readonly write: () => RawBuilder<boolean>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** `among` (known-length.ts) for a statement that is kept. */
export function paddedInTemplate(ids: readonly string[]): PaddedInTemplate {
  const [first] = ids;
  if (first === undefined || ids.length > lengthMax) return { form: "any", write: () => sql`= any(${parameter("ids")}::text[])`, values: { ids } };
  const members = padToPowerOfTwo(ids, first);
  const names = members.map((_, index) => `id${index}`);
  return {
    form: String(members.length),
    write: () => sql`in (${sql.join(names.map((name) => parameter(name)))})`,
    values: Object.fromEntries(members.map((id, index) => [`id${index}`, id])),
  };
}

/** As many lines as a cart may have. */
const lengthMax = 256;

/** The list with as many fillers behind it as make its length a power of two; more than 256 are left as they are. */
export function padToPowerOfTwo<Member>(members: readonly Member[], filler: Member): readonly Member[] {
  const { length } = members;
  if (length === 0 || length > lengthMax) return members;
  return [...members, ...Array.from({ length: 2 ** Math.ceil(Math.log2(length)) - length }, () => filler)];
}

/** What stands behind a column: `id ${among(ids)}`. */
export function paddedInList(ids: readonly string[]): RawBuilder<boolean> {
  const [first = ""] = ids;
  if (ids.length === 0 || ids.length > lengthMax) return sql`= any(${ids}::text[])`;
  return ids.length === 1 ? sql`= ${first}` : sql`in (${sql.join(padToPowerOfTwo(ids, first))})`;
}

/** As many as one change tells of, mostly. */
const preparedRowsMax = 4;

/** All rows have the columns of the first. */
export function insertRows<Table extends keyof Tables>(reader: Reader, table: Table, rows: readonly Insertable<Tables[Table]>[]): CompiledQuery {
  if (rows.length > preparedRowsMax) return reader.insertInto(table).values(rows).compile();
  const columns = Object.keys(rows[0] ?? {});
  const values: Record<string, unknown> = {};
  for (const [index, row] of rows.entries()) for (const [column, value] of Object.entries(row)) values[`${column}${index}`] = value;
  const write = (): RawBuilder<unknown> => {
    const slots = rows.map((_, index) => sql`(${sql.join(columns.map((column) => parameter(`${column}${index}`)))})`);
    return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))}) values ${sql.join(slots)}`;
  };
  return prepareStatement(reader, { form: `insert ${table} ${rows.length} ${columns.join(" ")}`, write, values });
}
