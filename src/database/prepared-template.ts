/**
 * Builds prepared templates: SQL texts that are built once and cached, with parameters for the values of each
 * call. The texts are cached, because building a large statement with Kysely takes longer than executing it
 * in PostgreSQL. This file also builds INSERT statements from templates, and padded in-lists. A padded
 * in-list is a condition `id in (…)` in which ids are repeated until their number is a power of two, so that
 * PostgreSQL prepares few different texts.
 */
import { LRUCache } from "lru-cache";
import { CompiledQuery, type Insertable, type RawBuilder, sql } from "kysely";
import { manyFormsMark } from "./statement-sender.ts";
import {
  bufferWriteUntilNextStatement,
  type DatabaseOrTransaction,
  type Transaction,
} from "./transaction.ts";
import type { Tables } from "./tables.ts";

class Parameter {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/**
 * Creates a named parameter of an SQL template. Each execution of the template gives a value to each
 * parameter name.
 */
export const createNamedSqlTemplateParameter = <Value>(name: string): RawBuilder<Value> =>
  sql<Value>`${new Parameter(name)}`;

interface Compiled {
  readonly text: string;
  readonly names: readonly string[];
}

/**
 * Maximum number of SQL texts in the cache. One statement can have several texts, which differ by filters,
 * sort order and the length of the locale chain (a locale and its fallbacks).
 */
const formsMax = 500;
const templates = new LRUCache<string, Compiled>({ max: formsMax });

export interface PreparedStatementTemplate {
  /**
   * The name of the form (variant) of the SQL text, with which the text is cached. The name must contain
   * everything on which the SQL text depends.
   */
  readonly form: string;
  readonly write: () => RawBuilder<unknown>;
  readonly values: Readonly<Record<string, unknown>>;
  /**
   * True if the SQL text depends on the input of callers, so that the statement has dozens of different SQL
   * texts (forms).
   */
  readonly hasManyForms?: boolean;
}

export function prepareStatementTemplate<Row>(
  reader: DatabaseOrTransaction,
  { form, write, values, hasManyForms = false }: PreparedStatementTemplate,
): CompiledQuery<Row> {
  const { text, names } = compileOnce(
    reader,
    form,
    hasManyForms ? () => sql`${sql.raw(manyFormsMark)} ${write()}` : write,
  );
  return CompiledQuery.raw(
    text,
    names.map((name) => values[name]),
  );
}

/** Runs a statement and returns its first row. Throws an error if the statement returns no row. */
export async function runStatementForSingleRow<Row>(
  reader: DatabaseOrTransaction,
  statement: PreparedStatementTemplate,
): Promise<Row> {
  const { rows } = await reader.executeQuery<Row>(prepareStatementTemplate(reader, statement));
  const [row] = rows;
  if (row === undefined) throw new Error("The statement returned no row.");
  return row;
}

function compileOnce(
  reader: DatabaseOrTransaction,
  form: string,
  write: () => RawBuilder<unknown>,
): Compiled {
  const cached = templates.get(form);
  if (cached !== undefined) return cached;
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
  /**
   * The part of the cache key (`form`) that depends on the in-list. The caller must include it in the cache
   * key of the whole statement.
   */
  readonly form: string;
  /** Builds the SQL that follows a column name in a condition, for example `in ($1, $2)`. */
  readonly write: () => RawBuilder<boolean>;
  readonly values: Readonly<Record<string, unknown>>;
}

/**
 * Creates the SQL clause `in (…)` with a parameter for each id, as a part of a prepared template. The clause
 * is padded to a power of two with repetitions of the first id, so that PostgreSQL prepares few statements.
 * An empty or very long list becomes a single array parameter. If a statement has several such clauses, each
 * needs another `name` for its parameters.
 */
export function createPaddedInClauseTemplate(ids: readonly string[], name = "id"): PaddedInTemplate {
  const [first] = ids;
  if (first === undefined || ids.length > lengthMax)
    return {
      form: "any",
      write: () => sql`= any(${createNamedSqlTemplateParameter(`${name}s`)}::text[])`,
      values: { [`${name}s`]: ids },
    };
  const members = padListToPowerOfTwo(ids, first);
  const names = members.map((_, index) => `${name}${index}`);
  return {
    form: String(members.length),
    write: () => sql`in (${sql.join(names.map((one) => createNamedSqlTemplateParameter(one)))})`,
    values: Object.fromEntries(members.map((id, index) => [`${name}${index}`, id])),
  };
}

/** Maximum number of members of a padded in-list. The number equals the maximum number of lines of a cart. */
const lengthMax = 256;

/**
 * Appends `filler` to a list until the list's length is a power of two. Lists with more than 256 members are
 * returned unchanged.
 */
export function padListToPowerOfTwo<Member>(members: readonly Member[], filler: Member): readonly Member[] {
  const { length } = members;
  if (length === 0 || length > lengthMax) return members;
  return [...members, ...Array.from({ length: 2 ** Math.ceil(Math.log2(length)) - length }, () => filler)];
}

/**
 * Returns the condition that follows a column, as in `id ${buildPaddedInClauseSql(ids)}`. Each id is a
 * parameter of its own. With a single array parameter, PostgreSQL would cache no plan: it would estimate ten
 * members, and plan each call again for the true number.
 */
export function buildPaddedInClauseSql(ids: readonly string[]): RawBuilder<boolean> {
  const [first = ""] = ids;
  if (ids.length === 0 || ids.length > lengthMax) return sql`= any(${ids}::text[])`;
  return ids.length === 1 ? sql`= ${first}` : sql`in (${sql.join(padListToPowerOfTwo(ids, first))})`;
}

/**
 * Maximum number of rows of an insert from a template. Larger inserts are rare, and their SQL text is built
 * for each call.
 */
const preparedRowsMax = 4;

/**
 * Builds the statement that inserts rows. The SQL text is cached for each number of rows. All rows must have
 * the same columns as the first row.
 */
export function buildInsertSqlQuery<Table extends keyof Tables>(
  reader: DatabaseOrTransaction,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): CompiledQuery {
  if (rows.length > preparedRowsMax) return reader.insertInto(table).values(rows).compile();
  const columns = Object.keys(rows[0] ?? {});
  const write = (): RawBuilder<unknown> => {
    const tuples = rows.map(
      (_, index) =>
        sql`(${sql.join(columns.map((column) => createNamedSqlTemplateParameter(`${column}${index}`)))})`,
    );
    return sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
      values ${sql.join(tuples)}`;
  };
  const { text } = compileOnce(reader, `insert ${table} ${rows.length} ${columns.join(" ")}`, write);
  return CompiledQuery.raw(
    text,
    rows.flatMap((row) => columns.map((column): unknown => Reflect.get(row, column))),
  );
}

/**
 * Inserts rows with the next statement of the transaction or with its COMMIT. All rows must have the same
 * columns as the first row.
 */
export function bufferInsertUntilNextStatement<Table extends keyof Tables>(
  transaction: Transaction,
  table: Table,
  rows: readonly Insertable<Tables[Table]>[],
): Promise<void> {
  return bufferWriteUntilNextStatement(transaction, {
    query: buildInsertSqlQuery(transaction, table, rows),
    tables: [table],
    isCombinable: rows.length <= preparedRowsMax,
  });
}
