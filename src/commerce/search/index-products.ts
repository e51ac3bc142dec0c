/**
 * Rebuilds the search index of some products from the catalog, in the caller's transaction, so that a change and what is found of it are one.
 * The number of statements depends on the number of batches, not of products.
 */
import { sql } from "kysely";
import { keptSummary } from "#commerce/catalog/read-summaries.ts";
import type { Transaction } from "#database/transaction.ts";
import { type DocumentRow, type Draft, draftDocuments, finishDocument, type OfferRow, offerRows, termRows, wordsToStem } from "./index-rows.ts";
import { loadProducts } from "./load-products.ts";
import { readStems } from "./stems.ts";

const batchSize = 500;

/** Products that are unpublished, gone, of a suspended merchant or offered nowhere lose their rows. */
export async function indexProducts(handle: Transaction, productIds: readonly string[], now: Date): Promise<void> {
  // In order, so that two who index the same products wait for each other rather than lock each other out.
  const ids = [...new Set(productIds)].toSorted();
  for (let start = 0; start < ids.length; start += batchSize) await indexBatch(handle, ids.slice(start, start + batchSize), now);
}

async function indexBatch(handle: Transaction, ids: readonly string[], now: Date): Promise<void> {
  // One at a time, and read after the wait: else the slower of two would put back what it had read before the other's change.
  await sql`select id from product where id = any(${ids}::text[]) order by id for no key update`.execute(handle);
  const { products, markets } = await loadProducts(handle, ids, now);
  const offers = products.map((product) => ({ product, rows: offerRows(product, markets) })).filter(({ rows }) => rows.length > 0);
  const drafts = offers.flatMap(({ product, rows }) => draftDocuments(product, rows));
  const stems = await readStems(handle, wordsByStemmer(drafts));
  await sql`
    with documents as (delete from search_document where product_id = any(${ids}::text[])),
      summaries as (delete from search_summary where product_id = any(${ids}::text[]))
    delete from search_offer where product_id = any(${ids}::text[])`.execute(handle);
  if (drafts.length === 0) return;
  await insertDocuments(
    handle,
    drafts.map((draft) => finishDocument(draft, stems)),
    now,
  );
  await insertOffers(
    handle,
    offers.flatMap(({ rows }) => rows),
  );
  await insertTerms(handle, termRows(drafts));
}

function wordsByStemmer(drafts: readonly Draft[]): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>();
  for (const draft of drafts) {
    const words = wanted.get(draft.row.stemmer) ?? new Set();
    for (const word of wordsToStem(draft)) words.add(word);
    wanted.set(draft.row.stemmer, words);
  }
  return wanted;
}

/** With what is shown of each. */
async function insertDocuments(handle: Transaction, rows: readonly DocumentRow[], now: Date): Promise<void> {
  const productIds = [...new Set(rows.map(({ productId }) => productId))];
  await sql`
    with summaries as (
      insert into search_summary (product_id, locale, merchant_id, summary)
      select p.id, t.locale, p.merchant_id, ${keptSummary}
      from product p join product_translation t on t.product_id = p.id where p.id = any(${productIds}::text[])
    )
    insert into search_document (product_id, locale, locales, stemmer, title, title_folded, title_words, codes, words, head, indexed_at, title_stems,
      group_key, merchant_id, brand, published_at, offers)
    select "productId", locale, locales, stemmer, title, "titleFolded", "titleWords", codes, words, head, ${now}::timestamptz, "titleStems",
      "groupKey", "merchantId", brand, "publishedAt", offers
    from json_to_recordset(${JSON.stringify(rows)}::json) as r("productId" text, locale text, locales text[], stemmer text, title text,
      "titleFolded" text, "titleWords" text[], codes text, words tsvector, head tsvector, "titleStems" text[], "groupKey" text, "merchantId" text,
      brand text, "publishedAt" timestamptz, offers jsonb)`.execute(handle);
}

async function insertOffers(handle: Transaction, rows: readonly OfferRow[]): Promise<void> {
  await sql`
    insert into search_offer (country, product_id, merchant_id, currency, min_minor, max_minor, availability, in_stock, popularity, published_at,
      brand, category_keys, locales, fallback_locale, group_key, offer_key)
    select country, "productId", "merchantId", currency, "minMinor", "maxMinor", availability, "inStock", popularity, "publishedAt",
      brand, "categoryKeys", locales, "fallbackLocale", "groupKey", "offerKey"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(country text, "productId" text, "merchantId" text, currency text, "minMinor" bigint,
      "maxMinor" bigint, availability text, "inStock" boolean, popularity integer, "publishedAt" timestamptz, brand text, "categoryKeys" text[],
      locales text[], "fallbackLocale" text, "groupKey" text, "offerKey" text)`.execute(handle);
}

/** Only what is not there yet, in order: two who add the same words wait for each other rather than lock each other out. */
async function insertTerms(handle: Transaction, rows: readonly { locale: string; term: string; trigramKey: string }[]): Promise<void> {
  await sql`
    insert into search_term (locale, term, trigram_key)
    select locale, term, "trigramKey" from json_to_recordset(${JSON.stringify(rows)}::json) as r(locale text, term text, "trigramKey" text)
    where not exists (select from search_term t where t.locale = r.locale and t.term = r.term)
    order by locale, term collate "C"
    on conflict do nothing`.execute(handle);
}
