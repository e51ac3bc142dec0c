/**
 * Keeps the search index up to date. `indexProducts` writes the index rows of products again in the
 * transaction that changes the products, so that the change and the index are committed together. The number
 * of statements depends on the number of batches, not on the number of products. A background job updates
 * products whose availability changed without a change of the catalog.
 */
import { sql } from "kysely";
import { storedSummarySql } from "#commerce/catalog/read-summaries.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import type { Database } from "#database/connect.ts";
import {
  type SearchDocumentRow,
  type SearchDocumentWithoutStems,
  createSearchDocumentsWithoutStems,
  addStemsToSearchDocument,
  type SearchOfferRow,
  buildSearchOfferRows,
  listWordsToStem,
} from "./index-rows.ts";
import { loadProductsToIndex } from "./load-products.ts";
import { loadWordStems } from "./stems.ts";
import { buildSearchTermRows, insertMissingSearchVocabularyTerms } from "./term-rows.ts";

const batchSize = 500;

/**
 * Writes the search index rows of the given products again. A product gets no index rows if it is not
 * published, is not offered in any market, or belongs to a suspended merchant.
 */
export async function indexProducts(
  handle: Transaction,
  productIds: readonly string[],
  now: Date,
): Promise<void> {
  // Products are locked in the order of their ids, so that two transactions that index the same products
  // cannot deadlock.
  const ids = [...new Set(productIds)].toSorted();
  for (let start = 0; start < ids.length; start += batchSize)
    await indexBatch(handle, ids.slice(start, start + batchSize), now);
}

async function indexBatch(handle: Transaction, ids: readonly string[], now: Date): Promise<void> {
  // The products are locked before they are read. Otherwise, if two transactions changed the same product,
  // the slower transaction could write index rows that lack the change of the other transaction.
  await sql`select id from product where id = any(${ids}::text[]) order by id for no key update`.execute(
    handle,
  );
  const { products, markets } = await loadProductsToIndex(handle, ids, now);
  const offers = products
    .map((product) => ({ product, rows: buildSearchOfferRows(product, markets) }))
    .filter(({ rows }) => rows.length > 0);
  const drafts = offers.flatMap(({ product, rows }) => createSearchDocumentsWithoutStems(product, rows));
  const stems = await loadWordStems(handle, wordsByStemmer(drafts));
  await sql`
    with documents as (delete from search_document where product_id = any(${ids}::text[])),
      summaries as (delete from search_summary where product_id = any(${ids}::text[]))
    delete from search_offer where product_id = any(${ids}::text[])`.execute(handle);
  if (drafts.length === 0) return;
  await insertDocuments(
    handle,
    drafts.map((draft) => addStemsToSearchDocument(draft, stems)),
    now,
  );
  await insertOffers(
    handle,
    offers.flatMap(({ rows }) => rows),
  );
  await insertMissingSearchVocabularyTerms(handle, buildSearchTermRows(drafts, stems));
}

function wordsByStemmer(drafts: readonly SearchDocumentWithoutStems[]): Map<string, Set<string>> {
  const wanted = new Map<string, Set<string>>();
  for (const draft of drafts) {
    const words = wanted.get(draft.row.stemmer) ?? new Set();
    for (const word of listWordsToStem(draft)) words.add(word);
    wanted.set(draft.row.stemmer, words);
  }
  return wanted;
}

/**
 * Inserts the search documents of the products (the searchable words in each locale) and their stored
 * summaries.
 */
async function insertDocuments(
  handle: Transaction,
  rows: readonly SearchDocumentRow[],
  now: Date,
): Promise<void> {
  const productIds = [...new Set(rows.map(({ productId }) => productId))];
  await sql`
    with summaries as (
      insert into search_summary (product_id, locale, merchant_id, summary)
      select p.id, t.locale, p.merchant_id, ${storedSummarySql}
      from product p join product_translation t on t.product_id = p.id where p.id = any(${productIds}::text[])
    )
    insert into search_document (product_id, locale, locales, stemmer, title, title_folded, title_words,
    codes, words, head, indexed_at, title_stems,
      group_key, merchant_id, brand, published_at, attributes, offers)
    select "productId", locale, locales, stemmer, title, "titleFolded", "titleWords", codes, words, head,
    ${now}::timestamptz, "titleStems",
      "groupKey", "merchantId", brand, "publishedAt", attributes, offers
    from json_to_recordset(${JSON.stringify(rows)}::json) as r("productId" text, locale text, locales text[],
    stemmer text, title text,
      "titleFolded" text, "titleWords" text[], codes text, words tsvector, head tsvector, "titleStems" text[],
      "groupKey" text, "merchantId" text,
      brand text, "publishedAt" timestamptz, attributes text[], offers jsonb)`.execute(handle);
}

async function insertOffers(handle: Transaction, rows: readonly SearchOfferRow[]): Promise<void> {
  await sql`
    insert into search_offer (country, product_id, merchant_id, currency, min_minor, max_minor, availability,
    in_stock, popularity, published_at,
      brand, category_keys, locales, fallback_locale, group_key, offer_key)
    select country, "productId", "merchantId", currency, "minMinor", "maxMinor", availability, "inStock",
    popularity, "publishedAt",
      brand, "categoryKeys", locales, "fallbackLocale", "groupKey", "offerKey"
    from json_to_recordset(${JSON.stringify(rows)}::json) as r(country text, "productId" text, "merchantId"
    text, currency text, "minMinor" bigint,
      "maxMinor" bigint, availability text, "inStock" boolean, popularity integer, "publishedAt" timestamptz,
      brand text, "categoryKeys" text[],
      locales text[], "fallbackLocale" text, "groupKey" text, "offerKey" text)`.execute(handle);
}

interface MerchantToIndex {
  readonly merchantId: string;
  /**
   * True to index only products that have no index rows, for example because they were published while their
   * merchant was suspended.
   */
  readonly onlyMissing: boolean;
  readonly now: Date;
}

/** Indexes all published products of a merchant, after a change that affects all of them. */
export async function reindexProductsOfMerchant(
  transaction: Transaction,
  { merchantId, onlyMissing, now }: MerchantToIndex,
): Promise<void> {
  const missing = onlyMissing
    ? sql`and not exists (select from search_document d where d.product_id = p.id)`
    : sql``;
  const { rows } = await sql<{ id: string }>`
    select p.id from product p where p.merchant_id = ${merchantId} and p.status = 'published' ${missing}
    order by p.id`.execute(transaction);
  await indexProducts(
    transaction,
    rows.map(({ id }) => id),
    now,
  );
}

const batchProductsMax = 500;

/**
 * Updates the search index for products whose availability changed without a change of the catalog. These are
 * preorders whose date has passed, and products that orders or checkouts have sold out or released. Returns
 * the number of these products. A product that is queued again during the run waits for the next run.
 */
export async function reindexProductsWithChangedAvailability(
  db: Database,
  now: Date,
  signal?: AbortSignal,
): Promise<number> {
  let after = "";
  for (let total = 0; ;) {
    const { dueIds, indexed } = await runInTransaction(db, (transaction) =>
      refreshBatch(transaction, { now, after }),
    );
    total += indexed;
    after = dueIds.at(-1) ?? after;
    if (dueIds.length < batchProductsMax || signal?.aborted === true) return total;
  }
}

interface BatchToRefresh {
  readonly now: Date;
  /** Id of the last product of the previous batch; the next batch starts after it. */
  readonly after: string;
}

async function refreshBatch(
  transaction: Transaction,
  batch: BatchToRefresh,
): Promise<{ readonly dueIds: readonly string[]; readonly indexed: number }> {
  const due = await findDue(transaction, batch);
  const dueIds = due.map(({ id }) => id);
  const arrived = due.filter(({ hasArrived }) => hasArrived).map(({ id }) => id);
  const ids = new Set([...arrived, ...(await takeDueEntries(transaction, dueIds))]);
  await indexProducts(transaction, [...ids], batch.now);
  return { dueIds, indexed: ids.size };
}

interface DueProduct {
  readonly id: string;
  /** True if the date from which a variant is available has passed since the last indexing of the product. */
  readonly hasArrived: boolean;
}

async function findDue(
  transaction: Transaction,
  { now, after }: BatchToRefresh,
): Promise<readonly DueProduct[]> {
  const { rows } = await sql<DueProduct>`
    select id, bool_or(has_arrived) as has_arrived from (
      select product_id as id, false as has_arrived from search_due where product_id > ${after}
      union all
      select v.product_id, true from variant v join search_document d on d.product_id = v.product_id
      where v.available_from <= ${now} and v.available_from > d.indexed_at and v.product_id > ${after}) as due
    group by id order by id limit ${batchProductsMax}`.execute(transaction);
  return rows;
}

/**
 * Deletes the entries of the given products from the queue `search_due`, and returns the product id of each
 * deleted entry. An entry and the stock change that caused it are committed together. Product data that is
 * read after the deletion therefore contains this change; each later change has its own entry. Entries that
 * another process has locked are skipped, because that process indexes these products.
 *
 * The entries are collected in an array, so that they are selected once. If the planner expects an empty
 * queue, because the last ANALYZE found it empty, it would join the queue with a subquery after `in` in a
 * nested loop, and lock all entries again for each entry: 2.4 s for 3 303 entries.
 */
async function takeDueEntries(transaction: Transaction, productIds: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    delete from search_due where id = any(array(select id from search_due
    where product_id = any(${productIds}::text[]) for update skip locked))
    returning product_id as id`.execute(transaction);
  return rows.map(({ id }) => id);
}
