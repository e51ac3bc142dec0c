/**
 * Copies the generated products of a database, because generating a million products takes more than half an
 * hour. Each copy has the texts, prices and stock of its original, so that the relative frequencies of words
 * do not change.
 */
import type { Client } from "pg";
import { sampleParts, sampleSizes } from "#commerce/search/index-rows.ts";
import { toRandomProductSampleLexeme } from "#commerce/search/match-query.ts";

/** The tables with rows of a product, each with the columns whose values must be unique. */
const copiedTables: Readonly<Record<string, readonly string[]>> = {
  product: ["id"],
  product_translation: ["product_id", "slug"],
  product_slug: ["product_id", "slug"],
  product_category: ["product_id"],
  product_option: ["id", "product_id"],
  media: ["id", "product_id"],
  variant: ["id", "product_id", "sku"],
  price: ["id", "variant_id"],
  stock_level: ["variant_id"],
  search_offer: ["product_id"],
  search_document: ["product_id"],
  search_summary: ["product_id"],
};

/**
 * An SQL expression for the words of a copied search document. The sample words are chosen at random again,
 * so that the copies of a product are in different samples.
 */
const copiedWords = `ts_delete(t.words, '{${sampleSizes.map(toRandomProductSampleLexeme).join(",")}}'::text[])
  || (select array_to_tsvector(coalesce(array_agg('%' || size), '{}')) from (select floor(random() * ${sampleParts})
    as part where t.words is not null) as one, unnest('{${sampleSizes.join(",")}}'::int[]) as s(size)
    where part < size)`;

/** Adds `copies` copies of each generated product, with its search documents and offers. */
export async function copyProducts(client: Client, copies: number): Promise<void> {
  // A later call also copies the copies, so the ids contain a label that differs between calls.
  const label = `${Date.now().toString(36)}-`;
  // Triggers and foreign keys are disabled for speed. The rows are consistent without them.
  await client.query("set session_replication_role = replica");
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename = any($1) and indexdef like '%USING gin%'`,
    [Object.keys(copiedTables)],
  );
  // Creating an index after the inserts is faster than updating the index for each row.
  for (const { name } of indexes) await client.query(`drop index ${name}`);
  for (const [table, own] of Object.entries(copiedTables)) {
    const { rows: columns } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns
       where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' and is_identity = 'NO'
       order by ordinal_position`,
      [table],
    );
    const names = columns.map(({ name }) => name);
    const values = names.map((name) => {
      if (own.includes(name)) return `t.${name} || '-' || $2::text || n.n`;
      return name === "words" ? copiedWords : `t.${name}`;
    });
    await client.query(
      `insert into ${table} (${names.join(", ")}) select ${values.join(", ")}
       from ${table} t, generate_series(1, $1::int) as n(n)`,
      [copies, label],
    );
  }
  for (const { definition } of indexes) await client.query(definition);
  await client.query("set session_replication_role = origin");
}
