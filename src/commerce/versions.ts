/** What version things have: the cheapest thing to ask of them, for who waits until one is another. */
import { type RawBuilder, sql } from "kysely";
import type { Reader } from "#database/transaction.ts";

type Versions = ReadonlyMap<string, number>;

export const findCartVersions = (reader: Reader, ids: readonly string[]): Promise<Versions> =>
  findVersions(reader, sql`cart`, ids);

export const findOrderVersions = (reader: Reader, ids: readonly string[]): Promise<Versions> =>
  findVersions(reader, sql`sales_order`, ids);

/** By id; what is not there is missing. */
async function findVersions(
  reader: Reader,
  table: RawBuilder<unknown>,
  ids: readonly string[],
): Promise<Versions> {
  const { rows } = await sql<{
    id: string;
    version: number;
  }>`select id, version from ${table} where id = any(${ids}::text[])`.execute(reader);
  return new Map(rows.map(({ id, version }) => [id, version]));
}
