/**
 * Finds the forms in which a part of a query can occur in a product's texts. Exact forms are other spellings
 * of the same words. Loose forms are stems, compounds, synonyms and irregular plurals; products that contain
 * only loose forms get a lower rank.
 */
import { prefixCompoundStemmers } from "./compounds.ts";
import type { ParsedSearchQuery, SearchQueryPart } from "./parse-query.ts";
import type { WordStemsByStemmer } from "./stems.ts";
import {
  listCharacterBigrams,
  isSingleKanaCharacter,
  type SearchWord,
  segmentSpacelessText,
  splitTextIntoSearchWords,
} from "./tokens.ts";
import { getSingularOrPluralOfIrregularNoun } from "./word-lists.ts";
import type { SearchVocabularyEntry } from "./vocabulary-cache.ts";
import type { SearchVocabulary } from "./word-vocabulary.ts";

export interface SearchLexeme {
  readonly text: string;
  /** True if the word form also matches longer words that begin with it. */
  readonly isPrefix?: boolean;
}

/**
 * A form of a query part. A product's text contains the form if it contains all words of the form. In
 * addition, the form must be valid for the language of the text and for the merchant of the product.
 */
export interface SearchWordForm {
  readonly lexemes: readonly SearchLexeme[];
  /** Stemmers of the languages for which the form is valid; if left out, the form is valid for all languages. */
  readonly stemmers?: readonly string[];
  /**
   * True if the form is searched only in titles, because its words are too general to be searched in other
   * fields.
   */
  readonly isTitleOnly?: boolean;
  /**
   * Ids of the merchants for whose products the form is valid; if left out, the form is valid for all
   * products.
   */
  readonly merchants?: readonly string[];
}

export interface SearchQueryPartWithForms {
  readonly part: SearchQueryPart;
  readonly exact: readonly SearchWordForm[];
  readonly loose: readonly SearchWordForm[];
  /**
   * Forms by which a product is found, but which do not improve its rank: longer words that begin with a
   * known word of the query.
   */
  readonly weak: readonly SearchWordForm[];
  /** Stemmers of the languages in which this part of the query is a stop word. */
  readonly stopIn: readonly string[];
  /** True if the search vocabulary contains this word of the query. */
  readonly isKnown: boolean;
  /** The two parts of a compound word of which only one is a known word; null for other words. */
  readonly partlyKnownSplit: SearchVocabularyEntry["partlyKnownSplit"];
}

/** A search query with the word forms of its parts. */
export interface SearchQueryWithWordForms {
  readonly query: ParsedSearchQuery;
  readonly stems: WordStemsByStemmer;
  /** The word forms of each part of the query, except of fillers (words like `best`). */
  readonly forms: readonly SearchQueryPartWithForms[];
}

/** The stems and vocabulary entries of the words of a query, and of their synonyms. */
export interface QueryWordStemsAndVocabulary {
  readonly stems: WordStemsByStemmer;
  readonly vocabulary: SearchVocabulary;
  readonly synonyms?: QueryWordStemsAndVocabulary;
}

export function expandSearchQueryWithStemsAndVocabulary(
  query: ParsedSearchQuery,
  knowledge: QueryWordStemsAndVocabulary,
): SearchQueryWithWordForms {
  const forms = query.parts.filter(({ isFiller }) => !isFiller).map((part) => formsOfPart(part, knowledge));
  return { query, stems: knowledge.stems, forms };
}

function formsOfPart(
  part: SearchQueryPart,
  { stems, vocabulary, synonyms: known }: QueryWordStemsAndVocabulary,
): SearchQueryPartWithForms {
  const [word] = part.words;
  const isWord = part.words.length === 1 && word !== undefined;
  const entry = vocabulary.get(part.text);
  const synonyms = synonymForms(entry, known);
  const other = { part, loose: synonyms, weak: [], stopIn: [], isKnown: true, partlyKnownSplit: null };
  if (!isWord || part.quantity !== undefined) return { ...other, exact: formsOfPhrase(part, entry) };
  if (word.isDense) return { ...other, exact: [denseForm(word.text)] };
  const { exact, loose, weak } = formsOfWord(part, word, { stems, entry });
  return {
    part,
    exact,
    loose: [...loose, ...synonyms],
    weak,
    stopIn: stopLanguages(word, stems),
    isKnown: entry?.isKnown === true,
    partlyKnownSplit: entry?.partlyKnownSplit ?? null,
  };
}

/**
 * Returns the forms of a query part that consists of several words: a quantity (`0.5 l`), or words that the
 * vocabulary has as one word (`power bank`).
 */
function formsOfPhrase(part: SearchQueryPart, entry: SearchVocabularyEntry | undefined): SearchWordForm[] {
  const { words, isLast, quantity } = part;
  const separate = words.map(({ text }, index) => ({
    text,
    isPrefix: isLast && index === words.length - 1,
  }));
  const joined = words.map(({ text }) => text).join("");
  return [
    { lexemes: separate },
    ...(quantity === undefined ? [] : [{ lexemes: [{ text: quantity }] }]),
    ...(entry?.isKnown === true ? [{ lexemes: [{ text: joined, isPrefix: isLast }] }] : []),
  ];
}

interface WordContext {
  readonly stems: WordStemsByStemmer;
  readonly entry: SearchVocabularyEntry | undefined;
}

function formsOfWord(
  { isLast }: SearchQueryPart,
  { text }: SearchWord,
  { stems, entry }: WordContext,
): Pick<SearchQueryPartWithForms, "exact" | "loose" | "weak"> {
  const isComplete = entry?.isKnown === true;
  const exact: SearchWordForm[] = [{ lexemes: [{ text, isPrefix: isLast && !isComplete }] }];
  const weak: SearchWordForm[] = isLast && isComplete ? [{ lexemes: [{ text, isPrefix: true }] }] : [];
  const loose = stemForms(text, stems);
  const irregular = getSingularOrPluralOfIrregularNoun(text);
  if (irregular !== undefined) loose.push({ lexemes: [{ text: irregular }], stemmers: ["english"] });
  if (!isLast && text.length >= prefixLengthMin) loose.push(...prefixForms(text, stems));
  if (entry === undefined) return { exact, loose, weak };
  const { umlautForm, compounds } = entry;
  if (umlautForm !== null) {
    exact.push({ lexemes: [{ text: umlautForm }], stemmers: umlautStemmers });
    loose.push(...stemForms(umlautForm, stems));
  }
  for (const compound of compounds) loose.push({ lexemes: [{ text: compound }] });
  loose.push(...splitForms(entry));
  return { exact, loose, weak };
}

/**
 * Returns, for a compound word, the form that consists of the compound's two words. If the vocabulary also
 * contains the compound, the two words are searched only in titles.
 */
const splitForms = ({ split, isKnown }: SearchVocabularyEntry): SearchWordForm[] =>
  split === null
    ? []
    : [{ lexemes: split.map((part) => ({ text: part })), ...(isKnown ? { isTitleOnly: true } : {}) }];

const prefixLengthMin = 4;
const umlautStemmers = ["danish", "finnish", "german", "norwegian", "swedish"];

/**
 * Returns a form that matches all words that begin with the given word, and therefore also compound words
 * whose first part is the given word. The form is valid for languages that write compounds as one word.
 */
function prefixForms(text: string, stems: WordStemsByStemmer): SearchWordForm[] {
  const stemmers = [...stems]
    .filter(([stemmer, own]) => prefixCompoundStemmers.has(stemmer) && own.get(text) !== "")
    .map(([stemmer]) => stemmer);
  return stemmers.length === 0 ? [] : [{ lexemes: [{ text, isPrefix: true }], stemmers }];
}

/**
 * Returns the search forms for the stems of a word. Languages in which the word has the same stem share one
 * form.
 */
function stemForms(text: string, stems: WordStemsByStemmer): SearchWordForm[] {
  const own = [...stems].flatMap(([stemmer, words]) => {
    const stem = words.get(text);
    return stem === undefined || stem === "" || stem === text ? [] : [{ stemmer, stem }];
  });
  return [...Map.groupBy(own, ({ stem }) => stem)].map(([stem, found]) => ({
    lexemes: [{ text: stem }],
    stemmers: found.map(({ stemmer }) => stemmer),
  }));
}

function stopLanguages({ text, raw }: SearchWord, stems: WordStemsByStemmer): string[] {
  return [...stems]
    .filter(([, words]) => words.get(text) === "" || words.get(raw) === "")
    .map(([stemmer]) => stemmer);
}

function synonymForms(
  entry: SearchVocabularyEntry | undefined,
  knowledge: QueryWordStemsAndVocabulary | undefined,
): SearchWordForm[] {
  const bySynonym = Map.groupBy(entry?.synonyms ?? [], ({ stemmer, phrase }) => `${stemmer} ${phrase}`);
  return [...bySynonym.values()].flatMap((found) => {
    const [first] = found;
    if (first === undefined) return [];
    const { stemmer, phrase } = first;
    const merchants = [...new Set(found.map(({ merchantId }) => merchantId))];
    const stem = knowledge?.stems.get(stemmer)?.get(phrase) ?? "";
    const compounds = knowledge?.vocabulary.get(phrase)?.compounds ?? [];
    const words = splitTextIntoSearchWords(phrase);
    const [word] = words;
    const forms: readonly SearchWordForm[] =
      word?.isDense === true && words.length === 1
        ? [denseForm(phrase)]
        : [
            { lexemes: words.map(({ text }) => ({ text })) },
            ...[...new Set([stem, ...compounds])]
              .filter((text) => text !== "" && text !== phrase)
              .map((text) => ({ lexemes: [{ text }] })),
          ];
    return forms.map(({ lexemes }) => ({ lexemes, stemmers: [stemmer], merchants }));
  });
}

/**
 * Returns the pairs of adjacent characters in each segment of a text without spaces. Leaves out a segment of
 * a single kana if there are other segments. It is usually a particle, which the texts of the product may not
 * contain.
 */
function denseForm(text: string): SearchWordForm {
  const segments = segmentSpacelessText(text);
  const significant = segments.filter((segment) => !isSingleKanaCharacter(segment));
  const pairs = new Set((significant.length > 0 ? significant : segments).flatMap(listCharacterBigrams));
  return { lexemes: [...pairs].map((pair) => ({ text: pair, isPrefix: isSingleKanaCharacter(pair) })) };
}
