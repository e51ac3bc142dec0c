/**
 * Finds products: by words, by filters, or all of them in an order. Only what is offered in the country by an active merchant; each product once,
 * in the asked locale or the one it falls back to.
 */
import type { RawBuilder } from "kysely";
import type { SummaryRow } from "#commerce/catalog/read-summaries.ts";
import { runForRow } from "#database/kept-statement.ts";
import type { Reader } from "#database/transaction.ts";
import { localeChain } from "#foundation/locales.ts";
import { correctQuery } from "./corrections.ts";
import { type Facet, toFacets } from "./facets.ts";
import { highlightTitle } from "./highlight.ts";
import { type Counted, findFrame, type Frame, framesOf, keepFrame, type KnownPlace } from "./kept-browse.ts";
import { areStemsCurrent, stemsOf } from "./known-stems.ts";
import { type ParsedQuery, parseQuery, wordsToStem } from "./match-query.ts";
import { formKey, matchesMax, type SearchForm, type SearchInput } from "./search-form.ts";
import { knownPageStatement, searchStatement } from "./search-statement.ts";
import { type SearchValues, searchValues } from "./search-values.ts";
import type { Stems } from "./stems.ts";

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
  const statement = { form: formKey(form), write: (): RawBuilder<unknown> => searchStatement(form), values, hasManyForms: true };
  const search = (): Promise<Row> => runForRow<Row>(reader, statement);
  const row = hasWords ? await search() : await browse(reader, { key: frameKey(form, values), values, count: search });
  // The first document in a language: its words have other stems.
  if (hasWords && !areStemsCurrent(reader, row.usedLocales ?? []) && isAgain === undefined) return run(reader, { input, query, now, isAgain: true });
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
  return counted ?? keepFrame(frames, key, { count, toFrame });
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

interface RawHit extends SummaryRow {
  readonly score: number;
  /** With words alone, as all that follows. */
  readonly stemmer?: string;
  readonly titleStems?: readonly (string | null)[] | null;
  readonly inCode?: boolean;
  readonly inTitle?: boolean;
  readonly inBrand?: boolean;
  readonly inCategory?: boolean;
  readonly inText?: boolean;
}

function toHit(hit: RawHit, query: ParsedQuery, stems: Stems): SearchHit {
  const { score, stemmer, titleStems = null } = hit;
  const { id, locale, title } = hit.kept;
  if (stemmer === undefined) return { productId: id, locale, score, matched: [], titleHighlight: null };
  const titleHighlight = highlightTitle({ title, stemmer, titleStems }, query, stems);
  return { productId: id, locale, score, matched: matchedIn(hit), titleHighlight };
}

function matchedIn({ inCode, inTitle, inBrand, inCategory, inText }: RawHit): MatchedField[] {
  const fields: Readonly<Record<MatchedField, boolean | undefined>> = {
    sku: inCode,
    title: inTitle,
    brand: inBrand,
    category: inCategory,
    description: inText,
  };
  return (Object.keys(fields) as MatchedField[]).filter((field) => fields[field] === true);
}
