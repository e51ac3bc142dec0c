/**
 * Finds products: by words, by filters, or all of them in an order. Only products that an active merchant
 * offers in the country; each product once, in the requested locale or its fallback. The counts of a search
 * without words are cached until a product changes.
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
  /** What is shown of each hit. */
  readonly summaries: readonly SummaryRow[];
  readonly totalItems: number;
  readonly totalItemsRelation: "exact" | "at_least";
  readonly currency: string | null;
  /** The locale most matches are shown in; the asked one where there are none. */
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
  /** The languages were others than it was searched in. */
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
  // The first document in a language: its words have other stems.
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
  // Of those who find that something has changed, the first one counts.
  const counted = frames.pending.has(key) ? await known() : undefined;
  return counted ?? keepFrame(frames, key, count);
}

const toFrame = ({ total, currency, locale, facets, first = [], snapshot = "" }: Row): Frame => ({
  counted: { total, currency, locale, facets },
  first,
  snapshot,
});

/** Undefined: it is beyond what is known, or something has changed. */
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

/** Something that was typed but holds no word is searched for all the same: nothing can be found by it. */
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
  /** With words alone. */
  readonly usedLocales?: readonly (string | null)[] | null;
  readonly indexedAt: Date | null;
  /** Without words alone. */
  readonly first?: readonly KnownPlace[];
  readonly snapshot?: string;
}

/*
 * The counts of a browse are the same for every caller, and expensive: 10 000 products for a page of 20. They are cached together with the
 * snapshot they were taken in, and the statement of each page checks whether anything has changed since that snapshot. The counts shown are
 * never older than the page.
 */

interface KnownPlace {
  readonly product_id: string;
  readonly locale: string;
}

/** What stays the same on every page. */
interface Counted {
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: RawFacets;
}

interface Frame {
  readonly counted: Counted;
  /** The first products of the order. */
  readonly first: readonly KnownPlace[];
  readonly snapshot: string;
}

const framesMax = 500;

interface Frames {
  readonly kept: LRUCache<string, Frame>;
  /** Counts under way: other callers with the same key wait for them. */
  readonly pending: Map<string, Promise<unknown>>;
}

const framesBy = new WeakMap<Reader, Frames>();

/** Nothing is cached inside a transaction, because it sees uncommitted changes. */
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

/** Counts, and caches the result. */
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
