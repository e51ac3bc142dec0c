/** Reads the versions of carts and orders. Live streams read these versions often, to notice changes. */
import { type RawBuilder, sql } from "kysely";
import type { DatabaseOrTransaction } from "#database/transaction.ts";

type Versions = ReadonlyMap<string, number>;

/** Returns the current versions of the given carts, by cart id. */
export const findCartVersions = (reader: DatabaseOrTransaction, ids: readonly string[]): Promise<Versions> =>
  findVersions(reader, sql`cart`, ids);

/** Returns the current versions of the given orders, by order id. */
export const findOrderVersions = (reader: DatabaseOrTransaction, ids: readonly string[]): Promise<Versions> =>
  findVersions(reader, sql`sales_order`, ids);

/** Returns the versions of the rows with the given ids, by id. Ids without a row are ignored. */
async function findVersions(
  reader: DatabaseOrTransaction,
  table: RawBuilder<unknown>,
  ids: readonly string[],
): Promise<Versions> {
  const { rows } = await sql<{
    id: string;
    version: number;
  }>`select id, version from ${table} where id = any(${ids}::text[])`.execute(reader);
  return new Map(rows.map(({ id, version }) => [id, version]));
}
