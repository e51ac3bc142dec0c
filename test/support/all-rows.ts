/** Describes the rows of tables, so that a test can prove that a refused request changed nothing. */
import { sql } from "kysely";
import type { World } from "./world.ts";

/**
 * The service sets this column after the response, at an unpredictable moment. The content of tables with
 * this column is digested without it.
 */
const notedLater = "last_used_at";

/** Returns the state of each table of the database. */
export async function digestTables(
  world: Pick<World, "database">,
): Promise<Readonly<Record<string, string>>> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition order by 1`.execute(world.database.db);
  return readTableStates(
    world,
    rows.map(({ name }) => name),
  );
}

/**
 * Returns the number of rows of each table and the newest transaction that wrote one of them. Every committed
 * write changes one of the two: a deletion lowers the number of rows, and an inserted or updated row has a
 * newer transaction than all rows before. Reading the rows' contents would take ten times as long.
 */
export async function readTableStates(
  { database: { db } }: Pick<World, "database">,
  names: readonly string[],
): Promise<Readonly<Record<string, string>>> {
  const { rows: noted } = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = ${notedLater}`.execute(db);
  const parts = names.map((name) => {
    const isNotedLater = noted.some((table) => table.name === name);
    return isNotedLater
      ? sql`
        select ${sql.lit(name)} as name, count(*)::int as count, md5(string_agg(row, '' order by row)) as state
        from (select md5((to_jsonb(t) - ${sql.lit(notedLater)})::text) as row from ${sql.table(name)} t) rows`
      : sql`
        select ${sql.lit(name)} as name, count(*)::int as count, max(xmin::text::bigint)::text as state
        from ${sql.table(name)}`;
  });
  const { rows } = await sql<{ name: string; count: number; state: string | null }>`
    ${sql.join(parts, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, count, state }) => [name, `${count} ${state}`]));
}

/**
 * Leaves the table of used DPoP proofs out. The service records a proof also if it then refuses the request
 * (RFC 9449 section 11.1).
 */
export function withoutProofs(rows: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(rows).filter(([name]) => name !== "dpop_proof"));
}
