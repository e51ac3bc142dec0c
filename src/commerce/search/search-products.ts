/**
 * Finds products: by words, by filters, or all of them in an order. Only what is offered in the country by an active merchant; each product once,
 * in the asked locale or the one it falls back to.
 */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { localeChain } from "#foundation/locales.ts";
import { correctQuery } from "./corrections.ts";
import type { RawFacets } from "./facet-statement.ts";
import { type Facet, toFacets } from "./facets.ts";
import { type HighlightedTitle, highlightTitle } from "./highlight.ts";
import { allWords, anyWord, everyForm, type ParsedQuery, parseQuery, wordsToStem } from "./match-query.ts";
import { type Match, matchesMax, searchStatement, type Selection, type Sort } from "./search-statement.ts";
import { readStemsInUse } from "./stems-in-use.ts";
import type { Stems } from "./stems.ts";

/** Already validated. */
export interface SearchInput {
  readonly q: string;
  readonly locale: string;
  /** A country. */
  readonly market: string;
  readonly category?: string | undefined;
  readonly merchant?: string | undefined;
  readonly sort: Sort;
  readonly page: number;
  readonly pageSize: number;
}

interface SearchHit {
  readonly productId: string;
  readonly locale: string;
  readonly score: number;
  readonly matched: readonly MatchedField[];
  readonly titleHighlight: string | null;
}

type MatchedField = "sku" | "title" | "brand" | "category" | "description";

export interface SearchResult {
  readonly hits: readonly SearchHit[];
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
}

async function run(reader: Reader, { input, query, now }: Run): Promise<SearchResult> {
  const stems: Stems = query.words.length === 0 ? new Map() : await readStemsInUse(reader, wordsToStem(query));
  const { rows } = await sql<Row>`${searchStatement(selectionOf(input, query, stems))}`.execute(reader);
  const [row] = rows;
  if (row === undefined) throw new Error("The search statement gives one row.");
  return {
    hits: row.hits.map((hit) => toHit(hit, query, stems)),
    totalItems: Math.min(row.total, matchesMax),
    totalItemsRelation: row.total > matchesMax ? "at_least" : "exact",
    currency: row.currency,
    localeResolved: row.locale ?? input.locale,
    facets: toFacets(row.facets, input.locale, row.currency),
    query: { normalized: query.normalized, corrected: null },
    indexedAt: row.indexedAt ?? now,
  };
}

interface Row {
  readonly hits: readonly RawHit[];
  readonly total: number;
  readonly currency: string | null;
  readonly locale: string | null;
  readonly facets: RawFacets;
  readonly indexedAt: Date | null;
}

type RawHit = { readonly productId: string; readonly locale: string; readonly score: number } & (
  | ({
      readonly sku: boolean;
      readonly inTitle: boolean;
      readonly brand: boolean;
      readonly category: boolean;
      readonly description: boolean;
    } & HighlightedTitle)
  | { readonly title?: undefined }
);

function selectionOf(input: SearchInput, query: ParsedQuery, stems: Stems): Selection {
  const { category, merchant, sort, page, pageSize } = input;
  // Something was typed that holds no word: nothing can be found by it.
  const isBrowse = input.q.trim() === "";
  return {
    country: input.market,
    chain: localeChain(input.locale),
    category,
    merchant,
    sort,
    offset: (page - 1) * pageSize,
    limit: pageSize,
    match: isBrowse ? null : matchOf(query, stems),
  };
}

function matchOf(query: ParsedQuery, stems: Stems): Match {
  const { words, normalized, code } = query;
  return {
    all: allWords(query, stems),
    allInTitle: allWords(query, stems, "B"),
    any: everyForm(query, stems),
    anyCode: anyWord(query, stems, "A"),
    anyTitle: anyWord(query, stems, "B"),
    anyBrand: anyWord(query, stems, "C"),
    anyCategory: anyWord(query, stems, "D"),
    anyText: anyWord(query, stems, "D"),
    // A dense word may begin anywhere in the title's run.
    phrase: words[0]?.isDense === true ? normalized : ` ${normalized}`,
    code: code === null ? null : ` ${code} `,
    codeStart: code === null ? null : ` ${code}`,
  };
}

function toHit(hit: RawHit, query: ParsedQuery, stems: Stems): SearchHit {
  const { productId, locale, score } = hit;
  if (hit.title === undefined) return { productId, locale, score, matched: [], titleHighlight: null };
  const { sku, inTitle, brand, category, description } = hit;
  const fields = { sku, title: inTitle, brand, category, description };
  const matched = (Object.keys(fields) as MatchedField[]).filter((field) => fields[field]);
  return { productId, locale, score, matched, titleHighlight: highlightTitle(hit, query, stems) };
}
