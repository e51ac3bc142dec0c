/**
 * Prepared templates: SQL texts that are built once and cached, with parameters for the values of each call.
 * The texts are cached, because Kysely takes longer to build a large statement than PostgreSQL takes to find
 * a product. This file also has padded in-lists (`id in (…)` with a power of two of ids, so that few texts
 * are prepared) and inserts from templates.
 */
import { LRUCache } from "lru-cache";
import { CompiledQuery, type Insertable, type RawBuilder, sql } from "kysely";
import { manyVariantsMark } from "./statement-pool.ts";
import type { DatabaseReader } from "./transaction.ts";
import type { Tables } from "./tables.ts";

class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A parameter of a template, to which each call gives a value. */
export const parameter = <Value>(name: string): RawBuilder<Value> => sql<Value>`${new Parameter(name)}`;

interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

/** Maximum number of cached texts. Texts differ by filters, sort order and the length of the locale chain. */
const formsMax = 500;
const templates = new LRUCache<string, Compiled>({ max: formsMax });

export interface PreparedTemplate {
  /** The cache key of the SQL text. The key must name everything on which the text depends. */
  readonly form: string;
  readonly write: () => RawBuilder<unknown>;
  readonly values: Readonly<Record<string, unknown>>;
  /** True if the text depends on the caller's input, so that dozens of variants exist. */
  readonly hasManyForms?: boolean;
}

export function prepareStatement<Row>(
  reader: DatabaseReader,
  { form, write, values, hasManyForms = false }: PreparedTemplate,
): CompiledQuery<Row> {
  const { text, names } = compileOnce(
    reader,
    form,
    hasManyForms ? () => sql`${sql.raw(manyVariantsMark)} ${write()}` : write,
  );
  return CompiledQuery.raw(
    text,
    names.map((name) => values[name]),
  );
}

/** Runs a statement and returns its only row. */
export async function runForSingleRow<Row>(
  reader: DatabaseReader,
  statement: PreparedTemplate,
): Promise<Row> {
  const { rows } = await reader.executeQuery<Row>(prepareStatement(reader, statement));
  const [row] = rows;
  if (row === undefined) throw new Error("The statement returned no row.");
  return row;
}

function compileOnce(reader: DatabaseReader, form: string, write: () => RawBuilder<unknown>): Compiled {
  const known = templates.get(form);
  if (known !== undefined) return known;
  const { sql: text, parameters } = write().compile(reader);
  const names = parameters.map((given) => {
    if (given instanceof Parameter) return given.name;
    throw new Error(
      "Every value of a prepared template must be a parameter. Write constant values into the SQL text.",
    );
  });
  templates.set(form, { text, names });
  return { text, names };
}

interface PaddedInTemplate {
  /** The variant of the in-list's SQL text. The cache key of the whole statement must contain this variant. */
  readonly form: string;
  /** Builds the SQL that follows a column name, such as `in ($1, $2)`. */
  readonly write: () => RawBuilder<boolean>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Returns an in-list with parameters for the ids, for use in a prepared template. */
export function createPaddedInListTemplate(ids: readonly string[]): PaddedInTemplate {
  const [first] = ids;
  if (first === undefined || ids.length > lengthMax)
    return { form: "any", write: () => sql`= any(${parameter("ids")}::text[])`, values: { ids } };
  const members = padToPowerOfTwo(ids, first);
  const names = members.map((_, index) => `id${index}`);
  return {
    form: String(members.length),
    write: () => sql`in (${sql.join(names.map((name) => parameter(name)))})`,
    values: Object.fromEntries(members.map((id, index) => [`id${index}`, id])),
  };
}

/** Maximum number of padded ids: the maximum number of lines of a cart. */
const lengthMax = 256;

/** Appends fillers until the length is a power of two. Lists of more than 256 members are not padded. */
export function padToPowerOfTwo<Member>(members: readonly Member[], filler: Member): readonly Member[] {
  const { length } = members;
  if (length === 0 || length > lengthMax) return members;
  return [...members, ...Array.from({ length: 2 ** Math.ceil(Math.log2(length)) - length }, () => filler)];
}

/**
 * Returns the condition that follows a column, as in `id ${paddedInList(ids)}`. A list is used instead of an
 * array, because PostgreSQL caches no plan for an array parameter: it estimates ten members, and plans each
 * call again for the true number.
 */
export function paddedInList(ids: readonly string[]): RawBuilder<boolean> {
  const [first = ""] = ids;
  if (ids.length === 0 || ids.length > lengthMax) return sql`= any(${ids}::text[])`;
  return ids.length === 1 ? sql`= ${first}` : sql`in (${sql.join(padToPowerOfTwo(ids, first))})`;
}

/** Maximum number of rows of an insert from a template. Larger inserts are rare and are compiled each time. */
const preparedRowsMax = 4;

/**
 * Builds an insert of rows. The SQL text is cached for each number of rows. All rows must have the columns of
 * the first row.
 */
export function insertRows<Table extends keyof Tables>(
  reader: DatabaseReader,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): CompiledQuery {
  if (rows.length > preparedRowsMax) return reader.insertInto(table).values(rows).compile();
  const columns = Object.keys(rows[0] ?? {});
  const values: Record<string, unknown> = {};
  for (const [index, row] of rows.entries())
    for (const [column, value] of Object.entries(row)) values[`${column}${index}`] = value;
  const write = (): RawBuilder<unknown> => {
    const tuples = rows.map(
      (_, index) => sql`(${sql.join(columns.map((column) => parameter(`${column}${index}`)))})`,
    );
    return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(tuples)}`;
  };
  return prepareStatement(reader, {
    form: `insert ${table} ${rows.length} ${columns.join(" ")}`,
    write,
    values,
  });
}
