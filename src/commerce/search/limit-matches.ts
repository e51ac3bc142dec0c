/**
 * Limits how many documents a search ranks. In a catalogue of a million products, a frequent word matches
 * tens of thousands of documents, and ranking all of them takes a quarter of a second. A random sample of the
 * matches is therefore read first. If it shows too many matches, only the most popular documents are ranked,
 * and of equally popular documents a random part. Matches in the title are limited separately, because they
 * rank above other matches.
 */
import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import { parameter, prepareStatement } from "#database/prepared-template.ts";
import type { DatabaseReader } from "#database/transaction.ts";
import { sampleParts, sampleSizes } from "./index-rows.ts";
import { buildTsqueryOfAllParts, toPopularityLexeme, quoteLexeme, toSampleLexeme } from "./match-query.ts";
import { isFoundByTsquerySql, isSampledSql, matchingDocumentsSql } from "./match-statements.ts";
import { offerPopularitySql, popularityStepMax } from "./offer-key.ts";
import {
  defaultMatchLimits,
  type MatchLimits,
  addFiltersToTsquery,
  type SearchInput,
  type SearchStatementForm,
  searchStatementFormKey,
  type SearchValues,
} from "./search-form.ts";
import type { ExpandedQuery } from "./word-forms.ts";

/**
 * PostgreSQL's estimate of the number of search documents, by database connection. Every search with words
 * reads the estimate for use by the next search.
 */
export const documentCountSql = sql<number>`(select reltuples::int from pg_class
  where oid = 'search_document'::regclass)`;
const documentCounts = new WeakMap<DatabaseReader, number>();

export function rememberDocumentCount(reader: DatabaseReader, count: number): void {
  documentCounts.set(reader, count);
}

/** Returns true if the catalogue has so many documents that the matches of frequent words must be limited. */
export const isLargeCatalogue = (
  reader: DatabaseReader,
  { matchLimits = defaultMatchLimits }: SearchInput,
): boolean => (documentCounts.get(reader) ?? 0) >= matchLimits.documentsMin;

interface SearchToLimit {
  readonly input: SearchInput;
  readonly expanded: ExpandedQuery;
  readonly form: SearchStatementForm;
  readonly values: SearchValues;
}

/**
 * How a search with words finds its documents: whether it first reads candidates, and whether it limits the
 * ranked documents.
 */
interface MatchPlan extends Pick<SearchStatementForm, "hasCandidates" | "isLimited"> {
  readonly values: SearchValues;
}

/**
 * Decides how a search finds its documents. It can use the tsquery with all conditions, or a simpler tsquery
 * for candidates that are checked afterwards. If the search has too many matches, only the most popular ones
 * are read.
 */
export async function planMatchLimits(reader: DatabaseReader, search: SearchToLimit): Promise<MatchPlan> {
  const { input, expanded, form, values } = search;
  const hasCandidates = values["candidates"] !== values["filtered"];
  const isSampled = isLargeCatalogue(reader, input) && form.sort === "relevance" && expanded.forms.length > 0;
  if (!isSampled) return { hasCandidates, isLimited: false, values };
  const rows = await readSample(reader, search);
  const limit = buildRankingLimits(rows, input.matchLimits ?? defaultMatchLimits);
  if (limit === undefined)
    return { hasCandidates: hasCandidates && !hasManyFalseCandidates(rows), isLimited: false, values };
  const titles = buildTsqueryOfAllParts(expanded, { isTitle: true, forms: "ranked", isCandidate: true });
  const limits = {
    titleCandidates: addFiltersToTsquery(titles, input),
    titlesLimit: limit.titles,
    othersLimit: limit.others,
  };
  return { hasCandidates, isLimited: true, values: { ...values, ...limits } };
}

/**
 * Results of the samples of recent searches, kept for a minute. An outdated sample is harmless: the search
 * then ranks somewhat more or fewer matches.
 */
const samples = new WeakMap<DatabaseReader, LRUCache<string, readonly SampledPopularityStep[]>>();
const [samplesMax, sampleMs] = [5000, 60_000];

/** Parameters whose values do not influence which documents match a search: the time and the page. */
const pageParameters: ReadonlySet<string> = new Set(["now", "offset", "limit"]);

async function readSample(
  reader: DatabaseReader,
  search: SearchToLimit,
): Promise<readonly SampledPopularityStep[]> {
  const cache = samples.get(reader) ?? new LRUCache({ max: samplesMax, ttl: sampleMs });
  samples.set(reader, cache);
  const values = Object.entries(search.values).filter(([name]) => !pageParameters.has(name));
  const key = JSON.stringify([searchStatementFormKey(search.form), values]);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const { rows } = await reader.executeQuery(sampleStatement(reader, search));
  cache.set(key, rows);
  return rows;
}

const sampleStatement = (
  reader: DatabaseReader,
  { form, values }: SearchToLimit,
): ReturnType<typeof prepareStatement<SampledPopularityStep>> => {
  const isMatch = sql`d.words @@ ${parameter("filtered")}::tsquery`;
  return prepareStatement<SampledPopularityStep>(reader, {
    form: `sample ${searchStatementFormKey(form)}`,
    write: () => sql`
      select ${offerPopularitySql(sql`d.offer_key`)} as step, count(*)::int as candidates,
        count(*) filter (where ${isMatch})::int as matches,
        count(*) filter (where ${isMatch} and d.head @@ ${parameter("allInTitle")}::tsquery)::int as titles
      from ${matchingDocumentsSql(form, { isIndexed: sql`${isFoundByTsquerySql(form, "candidates")} and ${isSampledSql}` })}
      group by 1`,
    values,
    hasManyForms: true,
  });
};

/**
 * Share of candidates that turn out to be no matches. From this share, reading candidates is slower than
 * using the tsquery with all conditions.
 */
const falseCandidatesMin = 0.75;

function hasManyFalseCandidates(steps: readonly SampledPopularityStep[]): boolean {
  const candidates = steps.reduce((sum, step) => sum + step.candidates, 0);
  const matches = steps.reduce((sum, step) => sum + step.matches, 0);
  return matches < (1 - falseCandidatesMin) * candidates;
}

export interface SampledPopularityStep {
  readonly step: number;
  /** Number of documents in the smallest random sample that the simpler tsquery for candidates finds. */
  readonly candidates: number;
  /** Number of documents in the smallest random sample that match the search. */
  readonly matches: number;
  /** Number of documents in the smallest random sample that contain all words of the query in the title. */
  readonly titles: number;
}

export interface RankingLimitTsqueries {
  readonly titles: string;
  readonly others: string;
}

/**
 * Returns the tsqueries that limit the ranked documents; undefined if there are few enough matches to rank
 * all of them.
 */
export function buildRankingLimits(
  steps: readonly SampledPopularityStep[],
  { titlesMax, othersMax }: MatchLimits,
): RankingLimitTsqueries | undefined {
  const total = steps.reduce((sum, { matches }) => sum + matches, 0);
  if (total * sampleParts <= titlesMax + othersMax) return undefined;
  return {
    titles: mostPopular(titlesMax, (step) => steps.find((own) => own.step === step)?.titles ?? 0),
    others: mostPopular(othersMax, (step) => steps.find((own) => own.step === step)?.matches ?? 0),
  };
}

/**
 * Builds a tsquery that selects about `max` documents: all documents of the highest popularity steps, and a
 * random sample of the next lower step.
 */
function mostPopular(max: number, sampledOf: (step: number) => number): string {
  const clauses: string[] = [];
  let left = max;
  for (let step = popularityStepMax; step >= 0; step -= 1) {
    const popularity = quoteLexeme(toPopularityLexeme(step));
    const estimate = sampledOf(step) * sampleParts;
    if (estimate <= left) clauses.push(popularity);
    else {
      const share = (sampleParts * left) / estimate;
      // Uses at least the smallest random sample, because matches are known to be in that sample.
      const size = sampleSizes.findLast((own) => own <= share) ?? sampleSizes[0];
      const sample = quoteLexeme(toSampleLexeme(size));
      // In step 0, the lexeme of the popularity step is left out. The higher steps are selected already, so
      // it would only make the index read a list of most documents.
      clauses.push(step === 0 ? sample : `${popularity} & ${sample}`);
      break;
    }
    left -= estimate;
  }
  return `(${clauses.join(" | ")})`;
}
