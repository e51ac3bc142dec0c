/** Digests every table of the database, so that a test can prove that a refused request changed nothing. */
import { sql } from "kysely";
import type { World } from "./world.ts";

/**
 * The service sets this column after the response, at an unpredictable moment, so the digests leave the
 * column out.
 */
const notedLater = "last_used_at";

/** Returns each table's row count and a digest of its rows. */
export async function digestTables({
  database: { db },
}: Pick<World, "database">): Promise<Readonly<Record<string, string>>> {
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition order by 1`.execute(db);
  const parts = tables.map(
    ({ name }) => sql`
      select ${sql.lit(name)} as name, count(*)::int as count, md5(string_agg(row, '' order by row)) as digest
      from (select md5((to_jsonb(t) - ${sql.lit(notedLater)})::text) as row from ${sql.table(name)} t) rows`,
  );
  const { rows } = await sql<{
    name: string;
    count: number;
    digest: string | null;
  }>`${sql.join(parts, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, count, digest }) => [name, `${count} ${digest}`]));
}

/**
 * Leaves the table of used DPoP proofs out. The service records a proof also if it then refuses the request
 * (RFC 9449 section 11.1).
 */
export function withoutProofs(rows: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(rows).filter(([name]) => name !== "dpop_proof"));
}
