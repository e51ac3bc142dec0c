/**
 * Statements that are built once for each of their forms and kept as text: building one of this size anew takes longer than PostgreSQL takes to
 * find a product. What differs from call to call stands in them as a slot.
 */
import { LRUCache } from "lru-cache";
import { CompiledQuery, type RawBuilder, sql } from "kysely";
import { filledUp, lengthMax } from "./known-length.ts";
import { manyFormsMark } from "./statement-pool.ts";
import type { Reader } from "./transaction.ts";

class Slot {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A parameter that each call gives a value to. */
export const slot = <Value>(name: string): RawBuilder<Value> => sql<Value>`${new Slot(name)}`;

interface Kept {
  readonly text: string;
  readonly names: readonly string[];
}

/** Forms are few: which filters there are, which order, how long the chain of locales is. */
const formsMax = 500;
const kept = new LRUCache<string, Kept>({ max: formsMax });

export interface KeptStatement {
  /** Says all that the text depends on. */
  readonly form: string;
  readonly write: () => RawBuilder<unknown>;
  readonly values: Readonly<Record<string, unknown>>;
  /** Whoever asks has a say in the form: there may be dozens of them. */
  readonly hasManyForms?: boolean;
}

export function compileKept<Row>(reader: Reader, { form, write, values, hasManyForms = false }: KeptStatement): CompiledQuery<Row> {
  const { text, names } = keep(reader, form, hasManyForms ? () => sql`${sql.raw(manyFormsMark)} ${write()}` : write);
  return CompiledQuery.raw(
    text,
    names.map((name) => values[name]),
  );
}

/** The statement's one row. */
export async function runForRow<Row>(reader: Reader, statement: KeptStatement): Promise<Row> {
  const { rows } = await reader.executeQuery<Row>(compileKept(reader, statement));
  const [row] = rows;
  if (row === undefined) throw new Error("The statement gives one row.");
  return row;
}

function keep(reader: Reader, form: string, write: () => RawBuilder<unknown>): Kept {
  const known = kept.get(form);
  if (known !== undefined) return known;
  const { sql: text, parameters } = write().compile(reader);
  const names = parameters.map((parameter) => {
    if (parameter instanceof Slot) return parameter.name;
    throw new Error("What differs from call to call is a slot, and what does not is part of the text.");
  });
  kept.set(form, { text, names });
  return { text, names };
}

interface KeptList {
  /** Part of the statement's form. */
  readonly form: string;
  /** What stands behind a column. */
  readonly write: () => RawBuilder<boolean>;
  readonly values: Readonly<Record<string, unknown>>;
}

/** `among` (known-length.ts) for a statement that is kept. */
export function keptAmong(ids: readonly string[]): KeptList {
  const [first] = ids;
  if (first === undefined || ids.length > lengthMax) return { form: "any", write: () => sql`= any(${slot("ids")}::text[])`, values: { ids } };
  const members = filledUp(ids, first);
  const names = members.map((_, index) => `id${index}`);
  return {
    form: String(members.length),
    write: () => sql`in (${sql.join(names.map((name) => slot(name)))})`,
    values: Object.fromEntries(members.map((id, index) => [`id${index}`, id])),
  };
}
