/**
 * Limits how many search documents (products in one locale) a search ranks. In a catalogue of a million
 * products, a frequent word matches tens of thousands of documents, and ranking all of them takes a quarter
 * of a second. The search therefore first reads a random sample. If the sample shows too many matches, the
 * search ranks the most popular documents and a random part of the documents that are slightly less popular.
 * Documents with the words in the title have a separate limit, because they rank above other matches.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { createNamedSqlTemplateParameter, prepareStatementTemplate } from "#database/prepared-template.ts";
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import { sampleParts, sampleSizes } from "./index-rows.ts";
import {
  buildTsqueryRequiringAllParts,
  toPopularityStepLexeme,
  quoteLexeme,
  toRandomProductSampleLexeme,
} from "./match-query.ts";
import {
  documentMatchesTsqueryParameterSql,
  isSampledSql,
  matchingSearchDocumentsSql,
} from "./match-statements.ts";
import { popularityStepFromOfferKeySql, popularityStepMax } from "./offer-key.ts";
import {
  defaultSearchMatchLimits,
  type SearchMatchLimits,
  addFiltersToTsquery,
  type ProductSearchInput,
  type SearchStatementVariant,
  getSearchStatementCacheKey,
  type SearchSqlParameterValues,
} from "./search-form.ts";
import type { SearchQueryWithWordForms } from "./word-forms.ts";

/**
 * PostgreSQL's estimate of the number of search documents, for each database connection. Every search with
 * words reads the estimate together with its results, and stores it here for the next search.
 */
export const documentCountSql = sql<number>`(select reltuples::int from pg_class
  where oid = 'search_document'::regclass)`;
const documentCounts = new WeakMap<DatabaseOrTransaction, number>();

export function cacheSearchDocumentCount(reader: DatabaseOrTransaction, count: number): void {
  documentCounts.set(reader, count);
}

/**
 * Returns true if the catalogue has so many search documents that the matches of frequent words must be
 * limited.
 */
export const isLargeSearchCatalog = (
  reader: DatabaseOrTransaction,
  { matchLimits = defaultSearchMatchLimits }: ProductSearchInput,
): boolean => (documentCounts.get(reader) ?? 0) >= matchLimits.documentsMin;

interface SearchToLimit {
  readonly input: ProductSearchInput;
  readonly expanded: SearchQueryWithWordForms;
  readonly form: SearchStatementVariant;
  readonly values: SearchSqlParameterValues;
}

/**
 * The plan by which a search with words finds its documents. It says whether the search first finds
 * candidates with a simpler tsquery, and whether it ranks only a part of the matches.
 */
interface MatchPlan extends Pick<SearchStatementVariant, "hasCandidates" | "isLimited"> {
  readonly values: SearchSqlParameterValues;
}

/**
 * Decides how a search finds its documents: with the full-text query with all conditions, or with a simpler
 * query for candidates that are then checked. Also decides whether the search has so many matches that only
 * the most popular ones are ranked.
 */
export async function chooseSearchMatchStrategy(
  reader: DatabaseOrTransaction,
  search: SearchToLimit,
): Promise<MatchPlan> {
  const { input, expanded, form, values } = search;
  const hasCandidates = values["candidates"] !== values["filtered"];
  const isSampled =
    isLargeSearchCatalog(reader, input) && form.sort === "relevance" && expanded.forms.length > 0;
  if (!isSampled) return { hasCandidates, isLimited: false, values };
  const rows = await readSample(reader, search);
  const limit = buildTsqueriesLimitingRankedDocuments(rows, input.matchLimits ?? defaultSearchMatchLimits);
  if (limit === undefined)
    return { hasCandidates: hasCandidates && !hasManyFalseCandidates(rows), isLimited: false, values };
  const titles = buildTsqueryRequiringAllParts(expanded, {
    isTitle: true,
    forms: "ranked",
    isCandidate: true,
  });
  const limits = {
    titleCandidates: addFiltersToTsquery(titles, input),
    titlesLimit: limit.titles,
    othersLimit: limit.others,
  };
  return { hasCandidates, isLimited: true, values: { ...values, ...limits } };
}

/**
 * Results of the random samples of recent searches, cached for one minute. An outdated result does no harm:
 * it only makes a search rank slightly more or fewer matches.
 */
const samples = new WeakMap<
  DatabaseOrTransaction,
  LRUCache<string, readonly SampledMatchCountsOfPopularityStep[]>
>();
const [samplesMax, sampleMs] = [5000, 60_000];

/**
 * Names of the parameters that the cache key omits, because they do not influence which documents match a
 * search: the time and the page.
 */
const pageParameters: ReadonlySet<string> = new Set(["now", "offset", "limit"]);

async function readSample(
  reader: DatabaseOrTransaction,
  search: SearchToLimit,
): Promise<readonly SampledMatchCountsOfPopularityStep[]> {
  const cache = samples.get(reader) ?? new LRUCache({ max: samplesMax, ttl: sampleMs });
  samples.set(reader, cache);
  const values = Object.entries(search.values).filter(([name]) => !pageParameters.has(name));
  const key = JSON.stringify([getSearchStatementCacheKey(search.form), values]);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const { rows } = await reader.executeQuery(sampleStatement(reader, search));
  cache.set(key, rows);
  return rows;
}

const sampleStatement = (
  reader: DatabaseOrTransaction,
  { form, values }: SearchToLimit,
): ReturnType<typeof prepareStatementTemplate<SampledMatchCountsOfPopularityStep>> => {
  const isMatch = sql`d.words @@ ${createNamedSqlTemplateParameter("filtered")}::tsquery`;
  return prepareStatementTemplate<SampledMatchCountsOfPopularityStep>(reader, {
    form: `sample ${getSearchStatementCacheKey(form)}`,
    write: () => sql`
      select ${popularityStepFromOfferKeySql(sql`d.offer_key`)} as step, count(*)::int as candidates,
        count(*) filter (where ${isMatch})::int as matches,
        count(*) filter (where ${isMatch} and d.head @@ ${createNamedSqlTemplateParameter("allInTitle")}::tsquery)::int as titles
      from ${matchingSearchDocumentsSql(form, { isIndexed: sql`${documentMatchesTsqueryParameterSql(form, "candidates")} and ${isSampledSql}` })}
      group by 1`,
    values,
    hasManyForms: true,
  });
};

/**
 * Maximum share of candidates (documents that the simpler query finds) that may fail the other conditions,
 * from 0 to 1. Above this share, the full-text query with all conditions is faster than reading and checking
 * the candidates.
 */
const falseCandidatesMin = 0.75;

function hasManyFalseCandidates(steps: readonly SampledMatchCountsOfPopularityStep[]): boolean {
  const candidates = steps.reduce((sum, step) => sum + step.candidates, 0);
  const matches = steps.reduce((sum, step) => sum + step.matches, 0);
  return matches < (1 - falseCandidatesMin) * candidates;
}

export interface SampledMatchCountsOfPopularityStep {
  readonly step: number;
  /**
   * Number of candidates in the smallest random sample. Candidates are the documents that the simpler
   * full-text query finds.
   */
  readonly candidates: number;
  /** Number of documents in the smallest random sample that match all conditions of the search. */
  readonly matches: number;
  /** Number of documents in the smallest random sample that contain all words of the query in the title. */
  readonly titles: number;
}

export interface TsqueriesLimitingRankedDocuments {
  readonly titles: string;
  readonly others: string;
}

/**
 * Returns the full-text queries that limit the ranked documents; undefined if the search has so few matches
 * that all of them can be ranked.
 */
export function buildTsqueriesLimitingRankedDocuments(
  steps: readonly SampledMatchCountsOfPopularityStep[],
  { titlesMax, othersMax }: SearchMatchLimits,
): TsqueriesLimitingRankedDocuments | undefined {
  const total = steps.reduce((sum, { matches }) => sum + matches, 0);
  if (total * sampleParts <= titlesMax + othersMax) return undefined;
  return {
    titles: mostPopular(titlesMax, (step) => steps.find((own) => own.step === step)?.titles ?? 0),
    others: mostPopular(othersMax, (step) => steps.find((own) => own.step === step)?.matches ?? 0),
  };
}

/**
 * Builds a full-text query that selects about `max` documents: all documents of the highest popularity steps,
 * and a random sample of the documents of the next step.
 */
function mostPopular(max: number, sampledOf: (step: number) => number): string {
  const clauses: string[] = [];
  let left = max;
  for (let step = popularityStepMax; step >= 0; step -= 1) {
    const popularity = quoteLexeme(toPopularityStepLexeme(step));
    const estimate = sampledOf(step) * sampleParts;
    if (estimate <= left) clauses.push(popularity);
    else {
      const share = (sampleParts * left) / estimate;
      // Selects the smallest random sample even if it is larger than needed, because it is known to contain
      // matches.
      const size = sampleSizes.findLast((own) => own <= share) ?? sampleSizes[0];
      const sample = quoteLexeme(toRandomProductSampleLexeme(size));
      // For the lowest popularity step (0), the tsquery does not require the lexeme of the step. The
      // documents of all higher steps are already selected, so the lexeme would only make the index read a
      // list of most documents.
      clauses.push(step === 0 ? sample : `${popularity} & ${sample}`);
      break;
    }
    left -= estimate;
  }
  return `(${clauses.join(" | ")})`;
}
