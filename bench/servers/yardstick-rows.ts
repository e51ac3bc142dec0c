/**
 * Reads the rows of carts, orders and products for the yardstick: each row with its own statement, or all
 * rows that are requested together with one statement, as this service does.
 */
import type { Pool, QueryResultRow } from "pg";
import { createReadCoalescer } from "#database/shared-reads.ts";

/** Two texts that select a row, for example the ids of a cart and of its merchant. */
type RowKey = readonly [string, string];

/** A statement that reads one row. */
export interface RowStatement {
  readonly name: string;
  /** Returns the statement. The arguments are SQL expressions for the two texts of the row's key. */
  readonly sql: (first: string, second: string) => string;
  /** The parameters of the statement from `$3` on. */
  readonly parameters: readonly string[];
}

/** Returns the row of a key; null if there is no such row. */
type RowReader<Row> = (...key: RowKey) => Promise<Row | null>;

/** Creates a row reader for a statement. */
type RowReaderFactory = <Row extends QueryResultRow>(statement: RowStatement) => RowReader<Row>;

/** Creates readers that send one statement for each row. */
export const createSingleRowReaders =
  (pool: Pool): RowReaderFactory =>
  <Row extends QueryResultRow>({ name, sql, parameters }: RowStatement) => {
    const text = sql("$1", "$2");
    return async (...key) => {
      const { rows } = await pool.query<Row>({ name, text, values: [...key, ...parameters] });
      return rows[0] ?? null;
    };
  };

/**
 * Creates readers that send one statement for the rows that are requested in the same turn of the event loop.
 * The function that combines them is the one of this service, with the same limits: at most 32 rows in a
 * statement, and at most two statements of a kind at the same time. As in this service, the number of keys in
 * a statement is a power of two, because PostgreSQL would otherwise plan the statement again each time.
 */
export const createBatchedRowReaders =
  (pool: Pool): RowReaderFactory =>
  <Row extends QueryResultRow>(statement: RowStatement) => {
    const texts = new Map<number, string>();
    const textFor = (count: number): string => {
      const text = texts.get(count) ?? createBatchSql(statement, count);
      texts.set(count, text);
      return text;
    };
    const nameOf = ([first, second]: RowKey): string => JSON.stringify([first, second]);
    const { load } = createReadCoalescer<RowKey, Row>({
      nameOf,
      find: async (keys) => {
        const count = 2 ** Math.ceil(Math.log2(keys.length));
        const padding = Array.from({ length: 2 * (count - keys.length) }, () => null);
        const [first = [], ...others] = keys;
        const { rows } = await pool.query<Row & { readonly keyFirst: string; readonly keySecond: string }>({
          name: `${statement.name} ${count}`,
          text: textFor(count),
          values: [...first, ...statement.parameters, ...others.flat(), ...padding],
        });
        return new Map(rows.map((row) => [nameOf([row.keyFirst, row.keySecond]), row]));
      },
    });
    return (...key) => load(key);
  };

/** Returns the statement for a number of keys: `$1` and `$2` are the first, the others follow the parameters. */
function createBatchSql({ sql, parameters }: RowStatement, count: number): string {
  const keys = Array.from({ length: count }, (_, index) => {
    const first = index === 0 ? 1 : 1 + parameters.length + 2 * index;
    return `($${first}::text, $${first + 1}::text)`;
  });
  return `select k.first as "keyFirst", k.second as "keySecond", one.*
    from (values ${keys.join(", ")}) as k (first, second)
    cross join lateral (${sql("k.first", "k.second")}) as one`;
}
