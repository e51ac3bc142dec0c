/**
 * Chooses the words that a query keeps if no product contains all its words. Chooses the combination of words
 * that finds a product and has the largest sum of weights. A word has a larger weight if it is rare, or if it
 * occurs in titles or categories. The noun before a preposition also has a larger weight (`jacket` in `jacket
 * for kids`), because it names the product.
 */
import { buildTsqueryRequiringAllParts, type TsqueryOptions } from "./match-query.ts";
import type { SearchQueryPart } from "./parse-query.ts";
import {
  type SearchContextForDocumentCounts,
  findIndexOfFirstMatchingTsquery,
  frequencyMax,
  type SearchQueryPartFrequency,
} from "./query-counts.ts";
import { addFiltersToTsquery, type ProductSearchInput } from "./search-form.ts";
import { getStemmerOfLocale } from "./stems.ts";
import type { SearchQueryWithWordForms, SearchQueryPartWithForms } from "./word-forms.ts";
import { isPreposition } from "./word-lists.ts";

export interface SearchQueryToRelax extends SearchContextForDocumentCounts {
  readonly input: ProductSearchInput;
  readonly expanded: SearchQueryWithWordForms;
  readonly frequencyOf: (part: SearchQueryPartWithForms) => SearchQueryPartFrequency;
  /** True if a search for all parts of the query has already found nothing. Such a search need not run again. */
  readonly isWholeTried: boolean;
}

/**
 * Maximum number of query parts whose combinations are tried. If the query has more parts, those with the
 * largest weights are used, because the number of combinations grows exponentially.
 */
const combinedPartsMax = 5;

/**
 * Returns the parts of the query that the search keeps; undefined if no product contains any part of the
 * query.
 */
export async function chooseSearchQueryPartsToKeep(
  search: SearchQueryToRelax,
): Promise<ReadonlySet<SearchQueryPart> | undefined> {
  const { expanded, input, frequencyOf, isWholeTried } = search;
  const noun = nounBeforePreposition(search);
  const found = removeStopWordParts(expanded)
    .filter((part) => frequencyOf(part).isFound)
    .map((part) => ({ part, weight: weightOf(frequencyOf(part)) + (part.part === noun ? nounWeight : 0) }))
    .toSorted((one, other) => other.weight - one.weight)
    .slice(0, combinedPartsMax);
  const combinations = combine(found)
    .filter(({ length }) => length > 0 && !(isWholeTried && length === expanded.forms.length))
    .map((parts) => ({
      parts: parts.map(({ part }) => part),
      weight: parts.reduce((sum, { weight }) => sum + weight, 0),
    }))
    .toSorted((one, other) => other.weight - one.weight);
  const queries = combinations.map(({ parts }) => {
    const match = (options: TsqueryOptions): string =>
      addFiltersToTsquery(buildTsqueryRequiringAllParts({ ...expanded, forms: parts }, options), input);
    return { words: match({ hasMerchants: true }), candidates: match({ isCandidate: true }) };
  });
  const first = await findIndexOfFirstMatchingTsquery(search, queries);
  return first === undefined ? undefined : new Set(combinations[first]?.parts.map(({ part }) => part));
}

/**
 * Returns the parts of the query that are stop words in no language; all parts if each of them is a stop word
 * in some language.
 */
export function removeStopWordParts({
  forms,
}: SearchQueryWithWordForms): readonly SearchQueryPartWithForms[] {
  const others = forms.filter(({ stopIn }) => stopIn.length === 0);
  return others.length === 0 ? forms : others;
}

const rarityWeight = 0.5;
const titleWeight = 1;
const categoryWeight = 0.5;
const nounWeight = 0.5;

/**
 * Returns the weight of a part of the query, from 1 to 3. The larger the weight, the more the search tries to
 * keep this part.
 */
const weightOf = ({ count, titleShare, categoryShare }: SearchQueryPartFrequency): number =>
  1 +
  rarityWeight * (1 - Math.log(count) / Math.log(frequencyMax)) +
  titleWeight * titleShare +
  categoryWeight * categoryShare;

/** Returns all combinations of the members of a list. The members of a combination keep their order. */
function combine<Member>(members: readonly Member[]): (readonly Member[])[] {
  const [first, ...others] = members;
  if (first === undefined) return [[]];
  const rest = combine(others);
  return [...rest.map((own) => [first, ...own]), ...rest];
}

/**
 * Returns the last word before the first preposition of the query (`jacket` in `jacket for kids`), which
 * usually names the product.
 */
function nounBeforePreposition(search: SearchQueryToRelax): SearchQueryPart | undefined {
  const { forms } = search.expanded;
  const preposition = forms.findIndex(({ part }) => isPreposition(part.text));
  return forms.slice(0, Math.max(preposition, 0)).findLast((part) => !isStopWord(part, search))?.part;
}

/** Returns true if the part of the query is a stop word (for example `the`) in the language of the search. */
export const isStopWord = (
  part: SearchQueryPartWithForms,
  { input, expanded }: Pick<SearchQueryToRelax, "input" | "expanded">,
): boolean => part.stopIn.includes(getStemmerOfLocale(input.locale)) && expanded.forms.length > 1;
