/**
 * Everything that the database holds, whatever tables there are: so that a refusal can be held to leave
 * nothing at all.
 */
import { sql } from "kysely";
import type { World } from "./world.ts";

/** Noted after an answer, at some time: not what a request does. */
const notedLater = "last_used_at";

/** Of each table how many rows there are, and their digest. */
export async function allRows({
  database: { db },
}: Pick<World, "database">): Promise<Readonly<Record<string, string>>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(
    db,
  );
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
 * Proofs of possession are used up by whoever is known, also where the answer is a refusal (RFC 9449 section
 * 11.1).
 */
export function withoutProofs(rows: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(rows).filter(([name]) => name !== "dpop_proof"));
}
