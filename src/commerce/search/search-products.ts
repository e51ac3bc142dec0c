/**
 * Searches products by words and filters in a sort order. Finds only products that an active merchant offers
 * in the country, each product once, in the requested locale or its fallback. The totals and facets of a
 * search without words are cached until a product changes.
 */
import type { RawBuilder } from "kysely";
import { LRUCache } from "lru-cache";
import type { SummaryRow } from "#commerce/catalog/read-summaries.ts";
import { runForRow } from "#database/prepared-template.ts";
import type { Reader } from "#database/transaction.ts";
import { localeChain } from "#foundation/text.ts";
import { correctQuery, type ParsedQuery, parseQuery, wordsToStem } from "./match-query.ts";
import { type Facet, type RawHit, type SearchHit, toFacets, toHit } from "./render-results.ts";
import { areStemsCurrent, type Stems, stemsOf } from "./stems.ts";
import {
  formKey,
  matchesMax,
  type SearchForm,
  type SearchInput,
  type SearchValues,
  searchValues,
} from "./search-form.ts";
import { knownPageStatement, type RawFacets, searchStatement } from "./search-statement.ts";

export interface SearchResult {
  readonly hits: readonly SearchHit[];
  /** Summary rows of the hits, in the same order. */
  readonly summaries: readonly SummaryRow[];
  readonly totalItems: number;
  readonly totalItemsRelation: "exact" | "at_least";
  readonly currency: string | null;
  /** Locale in which most matches are shown; the requested locale if nothing was found. */
  readonly localeResolved: string;
  readonly facets: readonly Facet[];
  readonly query: { readonly normalized: string; readonly corrected: string | null };
  readonly indexedAt: Date;
}

const hitsToCorrect = 5;

export async function searchProducts(reader: Reader, input: SearchInput, now: Date): Promise<SearchResult> {
  const query = parseQuery(input.q);
  const found = await run(reader, { input, query, now });
  if (query.words.length === 0 || found.totalItems >= hitsToCorrect) return found;
  const corrected = await correctQuery(reader, query, localeChain(input.locale));
  if (corrected === undefined) return found;
  const better = await run(reader, { input, query: corrected, now });
  if (better.totalItems <= found.totalItems) return found;
  return { ...better, query: { normalized: query.normalized, corrected: corrected.normalized } };
}

interface Run {
  readonly input: SearchInput;
  readonly query: ParsedQuery;
  readonly now: Date;
  /** True if the search is repeated because the indexed languages had changed since the stems were cached. */
  readonly isAgain?: true;
}

async function run(reader: Reader, { input, query, now, isAgain }: Run): Promise<SearchResult> {
  const hasWords = input.q.trim() !== "";
  const stems: Stems = hasWords ? await stemsOf(reader, wordsToStem(query)) : new Map();
  const form = formOf(input, query);
  const values = searchValues(input, { query, stems, now });
  const statement = {
    form: formKey(form),
    write: (): RawBuilder<unknown> => searchStatement(form),
    values,
    hasManyForms: true,
  };
  const search = (): Promise<Row> => runForRow<Row>(reader, statement);
  const row = hasWords
    ? await search()
    : await browse(reader, { key: frameKey(form, values), values, count: search });
  // The indexed languages have changed, so the stems of the query's words are looked up again.
  if (hasWords && !areStemsCurrent(reader, row.usedLocales ?? []) && isAgain === undefined)
    return run(reader, { input, query, now, isAgain: true });
  return {
    hits: row.hits.map((hit) => toHit(hit, query, stems)),
    summaries: row.hits,
    totalItems: Math.min(row.total, matchesMax),
    totalItemsRelation: row.total > matchesMax ? "at_least" : "exact",
    currency: row.currency,
    localeResolved: row.locale ?? input.locale,
    facets: toFacets(row.facets, input.locale, row.currency),
    query: { normalized: query.normalized, corrected: null },
    indexedAt: row.indexedAt ?? now,
  };
}

interface Browse {
  readonly key: string;
  readonly values: SearchValues;
  readonly count: () => Promise<Row>;
}

const frameKey = (form: SearchForm, { country, chain0, merchant, categoryKey }: SearchValues): string =>
  JSON.stringify([formKey(form), country, chain0, merchant ?? null, form.hasCategory ? categoryKey : null]);

async function browse(reader: Reader, { key, values, count }: Browse): Promise<Row> {
  const frames = framesOf(reader);
  if (frames === undefined) return count();
  const known = async (): Promise<Row | undefined> => {
    const frame = await findFrame(frames, key);
    return frame === undefined ? undefined : readKnownPage(reader, frame, values);
  };
  const page = await known();
  if (page !== undefined) return page;
  // If several callers find the cache outdated, the first one counts and the others wait for its result.
  const counted = frames.pending.has(key) ? await known() : undefined;
  return counted ?? keepFrame(frames, key, count);
}

const toFrame = ({ total, currency, locale, facets, first = [], snapshot = "" }: Row): Frame => ({
  counted: { total, currency, locale, facets },
  first,
  snapshot,
});

/** Reads a page whose products are cached; undefined if the page is not cached or a product has changed. */
async function readKnownPage(reader: Reader, frame: Frame, values: SearchValues): Promise<Row | undefined> {
  const { counted, first, snapshot } = frame;
  const end = Math.min(Number(values["offset"]) + Number(values["limit"]), counted.total);
  if (end > first.length) return undefined;
  const known = JSON.stringify(first.slice(Number(values["offset"]), end));
  const page = await runForRow<Pick<Row, "hits" | "indexedAt"> & { readonly isCurrent: boolean }>(reader, {
    form: "known page",
    write: knownPageStatement,
    values: { ...values, known, snapshot },
  });
  return page.isCurrent ? { ...counted, hits: page.hits, indexedAt: page.indexedAt } : undefined;
}

/**
 * Returns the form of a search. A query of punctuation only still counts as a search with words, and finds
 * nothing.
 */
function formOf({ q, category, merchant, sort }: SearchInput, { code }: ParsedQuery): SearchForm {
  return {
    hasWords: q.trim() !== "",
    hasCode: code !== null,
    hasCategory: category !== undefined,
    hasMerchant: merchant !== undefined,
    sort,
  };
}

interface Row extends Counted {
  readonly hits: readonly RawHit[];
  /** Locales of the indexed documents; present only if the search has words. */
  readonly usedLocales?: readonly (string | null)[] | null;
  readonly indexedAt: Date | null;
  /** First products of the sort order; present only if the search has no words. */
  readonly first?: readonly KnownPlace[];
  readonly snapshot?: string;
}

/*
 * Totals and facets of a search without words are the same for every caller, and expensive: 10 000 products
 * are counted for a page of 20. They are cached with the PostgreSQL snapshot in which they were counted. The
 * statement of each page checks whether any product has changed since that snapshot, so the counts are never
 * older than the page.
 */

interface KnownPlace {
  readonly product_id: string;
  readonly locale: string;
}

/** The results that are the same on every page. */
interface Counted {
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: RawFacets;
}

interface Frame {
  readonly counted: Counted;
  /** First products in the sort order. */
  readonly first: readonly KnownPlace[];
  readonly snapshot: string;
}

const framesMax = 500;

interface Frames {
  readonly kept: LRUCache<string, Frame>;
  /** Running counts by cache key; callers with the same key wait for them. */
  readonly pending: Map<string, Promise<unknown>>;
}

const framesBy = new WeakMap<Reader, Frames>();

/**
 * Returns the cache of a database connection; undefined inside a transaction, because a transaction sees
 * uncommitted changes.
 */
function framesOf(reader: Reader): Frames | undefined {
  if (reader.isTransaction) return undefined;
  const known = framesBy.get(reader);
  if (known !== undefined) return known;
  const frames: Frames = { kept: new LRUCache({ max: framesMax }), pending: new Map() };
  framesBy.set(reader, frames);
  return frames;
}

async function findFrame({ kept, pending }: Frames, key: string): Promise<Frame | undefined> {
  await pending.get(key)?.catch(() => undefined);
  return kept.get(key);
}

/** Counts the matches and caches the result. */
async function keepFrame({ kept, pending }: Frames, key: string, count: () => Promise<Row>): Promise<Row> {
  const counting = count();
  pending.set(key, counting);
  try {
    const row = await counting;
    kept.set(key, toFrame(row));
    return row;
  } finally {
    if (pending.get(key) === counting) pending.delete(key);
  }
}
