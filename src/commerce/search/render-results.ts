/**
 * Renders the result of a search: the found products (hits), and the facets with labels and price ranges. All
 * functions are pure.
 */
import { LRUCache } from "lru-cache";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import type { ProductSummaryRow } from "#commerce/catalog/read-summaries.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import { getCurrencyExponent } from "#foundation/money.ts";
import { highlightTitle } from "./highlight-title.ts";
import { facetBucketsMax, type SearchFacetRows } from "./search-statement.ts";
import {
  popularityStepScore,
  type SearchScoreTierName,
  scoreTierNames,
  scoreTiers,
  stockScore,
  textRankScore,
} from "./match-statements.ts";
import { priceSteps } from "./offer-key.ts";
import type { SearchQueryWithWordForms } from "./word-forms.ts";

export interface RenderedSearchHit {
  readonly productId: string;
  readonly locale: string;
  readonly score: number;
  readonly matched: readonly MatchedField[];
  readonly titleHighlight: string | null;
  /**
   * The parts of the product's score; null if the request did not ask for them, or if the search has no
   * words.
   */
  readonly explanation: SearchScoreExplanation | null;
}

export interface SearchScoreExplanation {
  readonly tier: SearchScoreTierName;
  readonly tierScore: number;
  readonly stockScore: number;
  readonly popularityScore: number;
  readonly textScore: number;
}

type MatchedField = "sku" | "title" | "brand" | "category" | "description";

/** One found product, as the row that the search statement returns. */
export interface ProductSearchHitRow extends ProductSummaryRow {
  readonly score: number;
  /**
   * Name of the stemmer of the product's language. This field and the following fields up to `inText` are
   * present only if the search has words.
   */
  readonly stemmer?: string;
  readonly titleStems?: readonly (string | null)[] | null;
  readonly inCode?: boolean;
  readonly inTitle?: boolean;
  readonly inBrand?: boolean;
  readonly inCategory?: boolean;
  readonly inText?: boolean;
  /** The parts of which the product's score consists; present only if the request asked for them. */
  readonly explanation?: {
    readonly tier: number;
    readonly isInStock: boolean;
    readonly popularityStep: number;
    readonly textRank: number;
  };
}

export function toSearchHit(hit: ProductSearchHitRow, expanded: SearchQueryWithWordForms): RenderedSearchHit {
  const { score, stemmer, titleStems = null } = hit;
  const { id, locale, title } = hit.kept;
  if (stemmer === undefined)
    return { productId: id, locale, score, matched: [], titleHighlight: null, explanation: null };
  const titleHighlight = highlightTitle({ title, stemmer, titleStems }, expanded);
  const fields = matchedIn(hit);
  // If no single field contains all words of the query, the words are distributed over several fields. The
  // title then counts as a matched field if some of its words are highlighted.
  const matched = fields.length === 0 && titleHighlight !== null ? (["title"] as const) : fields;
  return { productId: id, locale, score, matched, titleHighlight, explanation: explain(hit) };
}

function explain({ explanation }: ProductSearchHitRow): SearchScoreExplanation | null {
  if (explanation === undefined) return null;
  const { tier, isInStock, popularityStep, textRank } = explanation;
  return {
    tier: scoreTierNames.find((name) => scoreTiers[name] === tier) ?? "text",
    tierScore: tier,
    stockScore: isInStock ? stockScore : 0,
    popularityScore: popularityStepScore * popularityStep,
    textScore: textRankScore * textRank,
  };
}

function matchedIn({ inCode, inTitle, inBrand, inCategory, inText }: ProductSearchHitRow): MatchedField[] {
  const fields: readonly (readonly [MatchedField, boolean | undefined])[] = [
    ["sku", inCode],
    ["title", inTitle],
    ["brand", inBrand],
    ["category", inCategory],
    ["description", inText],
  ];
  return fields.flatMap(([field, isIn]) => (isIn === true ? [field] : []));
}

export interface SearchFacet {
  readonly key: "category" | "merchant" | "brand" | "availability" | "attribute" | "price";
  readonly buckets: readonly Bucket[];
}

interface Bucket {
  readonly value: string;
  readonly label: string;
  readonly count: number;
}

export function toSearchFacets(raw: SearchFacetRows, locale: string, currency: string | null): SearchFacet[] {
  const categories = raw.category.map(({ slug, names, defaultLocale, count }) => {
    const labels = names ?? {};
    const chosen = chooseBestLocale(Object.keys(labels), [locale], [defaultLocale ?? ""]);
    return { value: slug, label: (chosen === undefined ? undefined : labels[chosen]) ?? slug, count };
  });
  return [
    { key: "category", buckets: categories },
    { key: "merchant", buckets: raw.merchant.map(({ value, label, count }) => ({ value, label, count })) },
    { key: "brand", buckets: raw.brand.map(({ value, count }) => ({ value, label: value, count })) },
    // The buckets of the availability facet have the API's availability codes as labels; clients translate
    // these codes.
    {
      key: "availability",
      buckets: raw.availability.map(({ value, count }) => ({ value, label: value, count })),
    },
    ...(raw.attributes === undefined
      ? []
      : [
          {
            key: "attribute" as const,
            buckets: raw.attributes.map(({ value, count }) => ({ value, label: value, count })),
          },
        ]),
    { key: "price", buckets: currency === null ? [] : priceBuckets(raw.price, locale, currency) },
  ];
}

/**
 * Builds the buckets of the price facet. The value of a bucket is `from-to` in minor units; `to` is
 * exclusive. There are at most twenty buckets. If there are more price ranges, the last bucket contains all
 * higher prices and has no upper end.
 */
function priceBuckets(counts: SearchFacetRows["price"], locale: string, currency: string): Bucket[] {
  const shown = counts
    .slice(0, facetBucketsMax)
    .map(({ step, count }) => ({ from: priceSteps[step - 1] ?? 0, to: priceSteps[step], count }));
  const rest = counts.slice(facetBucketsMax).reduce((sum, { count }) => sum + count, 0);
  return shown.map(({ from, to, count }, index) => {
    const isOpen = to === undefined || (rest > 0 && index === shown.length - 1);
    const range = { from, to: isOpen ? undefined : to };
    return {
      value: `${from}-${range.to ?? ""}`,
      label: labelOf(range, locale, currency),
      count: isOpen ? count + rest : count,
    };
  });
}

interface PriceSpan {
  readonly from: number;
  /** Upper end of the price range in minor units, exclusive; undefined if the range has no upper end. */
  readonly to: number | undefined;
}

const labelsMax = 20_000;
/**
 * Cached labels of price ranges. The same combinations of price range, locale and currency occur often, and
 * creating an `Intl.NumberFormat` is slow.
 */
const labels = new LRUCache<string, string>(limitGrowingCache(labelsMax));

function labelOf(range: PriceSpan, locale: string, currency: string): string {
  const key = `${locale} ${currency} ${range.from} ${range.to ?? ""}`;
  let label = labels.get(key);
  if (label === undefined) labels.set(key, (label = writeLabel(range, locale, currency)));
  return label;
}

function writeLabel({ from, to }: PriceSpan, locale: string, currency: string): string {
  const exponent = getCurrencyExponent(currency);
  const format = new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: 0,
    maximumFractionDigits: exponent,
  });
  const low = from / 10 ** exponent;
  return to === undefined ? `${format.format(low)} +` : format.formatRange(low, to / 10 ** exponent);
}
