/** Creates data loaders, which read the rows of many ids with one SQL statement. */
import DataLoader from "dataloader";

/** Returns a map of the given rows, in which the key of a row is the row's id. */
export const indexRowsById = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

/** Creates a data loader of rows that must exist. If a row is missing, only the load of that row's id fails. */
export function createRowLoader<Row extends object>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? new Error(`There is no row ${id}.`));
  });
}

/** Creates a data loader that returns null for a missing row. */
export function createNullableRowLoader<Row>(
  find: (ids: readonly string[]) => Promise<Map<string, Row>>,
): DataLoader<string, Row | null> {
  return new DataLoader(async (ids) => {
    const found = await find(ids);
    return ids.map((id) => found.get(id) ?? null);
  });
}

/**
 * Creates a data loader that returns a list of rows for each id. `field` is the column of the rows that has
 * the id.
 */
export function createRowListLoader<Field extends string, Row extends Readonly<Record<Field, string>>>(
  field: Field,
  find: (ids: readonly string[]) => Promise<Row[]>,
): DataLoader<string, Row[]> {
  return new DataLoader(async (ids) => {
    const groups = Map.groupBy(await find(ids), (row): string => row[field]);
    return ids.map((id) => groups.get(id) ?? []);
  });
}
