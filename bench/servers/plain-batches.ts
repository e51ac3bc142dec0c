/**
 * Creates DataLoaders of rows by id and of lists of rows by owner, and caches of values that several fields
 * of one object need.
 */
import DataLoader from "dataloader";

export type RowByIdLoader<Row> = DataLoader<string, Row | null>;
export type RowsByOwnerLoader<Row> = DataLoader<string, readonly Row[]>;

type Find<Row> = (ids: readonly string[]) => Promise<Row[]>;

export function createRowByIdLoader<Row>(find: Find<Row>, idOf: (row: Row) => string): RowByIdLoader<Row> {
  return new DataLoader(async (ids) => {
    const rows = new Map((await find(ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => rows.get(id) ?? null);
  });
}

export function createRowsByOwnerLoader<Row>(
  find: Find<Row>,
  ownerOf: (row: Row) => string,
): RowsByOwnerLoader<Row> {
  return new DataLoader(async (ids) => {
    const rows = Map.groupBy(await find(ids), ownerOf);
    return ids.map((id) => rows.get(id) ?? []);
  });
}

/** Creates a function that computes a value once per object. An object exists for one request only. */
export function createCachePerObject<Subject extends object, Context, Value>(
  find: (subject: Subject, context: Context) => Promise<Value>,
): (subject: Subject, context: Context) => Promise<Value> {
  const known = new WeakMap<Subject, Promise<Value>>();
  return (subject, context) => {
    let value = known.get(subject);
    if (value === undefined) known.set(subject, (value = find(subject, context)));
    return value;
  };
}
