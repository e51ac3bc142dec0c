/**
 * Finds the forms of a query's words: stems from PostgreSQL's dictionaries, and compounds, joined words and
 * synonyms from the vocabulary (all indexed words). The results are cached.
 */
import type { DatabaseOrTransaction } from "#database/transaction.ts";
import {
  listTwoAndThreeWordPhrases,
  joinNeighboringSearchQueryParts,
  type ParsedSearchQuery,
} from "./parse-query.ts";
import { loadCachedOrStoredWordStems } from "./stems.ts";
import { splitTextIntoSearchWords } from "./tokens.ts";
import { type SearchQueryWithWordForms, expandSearchQueryWithStemsAndVocabulary } from "./word-forms.ts";
import { replaceUmlautDigraphsByVowels } from "./word-lists.ts";
import { loadSearchVocabularyEntries } from "./word-vocabulary.ts";

/**
 * Finds the forms (stems, compounds, synonyms) of a query's words. If `isJoined` is false, neighboring words
 * like `power bank` are not joined to one word.
 */
export async function expandSearchQuery(
  reader: DatabaseOrTransaction,
  query: ParsedSearchQuery,
  { isJoined = true }: { readonly isJoined?: boolean } = {},
): Promise<SearchQueryWithWordForms> {
  const stems = await loadCachedOrStoredWordStems(reader, wordsToStem(query));
  const words = query.words.filter(({ isDense }) => !isDense).map(({ text }) => text);
  const dense = query.words.filter(({ isDense }) => isDense).map(({ text }) => text);
  const phrases = [...(isJoined ? listTwoAndThreeWordPhrases(query) : []), ...dense];
  const vocabulary = await loadSearchVocabularyEntries(reader, { words, phrases, stems });
  const joined = joinNeighboringSearchQueryParts(query, (texts) => {
    const entry = vocabulary.get(texts.join(" "));
    return entry !== undefined && (entry.isKnown || entry.synonyms.length > 0);
  });
  const synonyms = [...vocabulary.values()].flatMap((entry) => entry.synonyms.map(({ phrase }) => phrase));
  const synonymWords = new Set(
    synonyms.filter(
      (phrase) => splitTextIntoSearchWords(phrase)[0]?.isDense === false && !phrase.includes(" "),
    ),
  );
  if (synonymWords.size === 0) return expandSearchQueryWithStemsAndVocabulary(joined, { stems, vocabulary });
  // Synonyms are expanded like words of the query: their stems are searched too, and for a synonym that is a
  // compound word, its parts.
  const synonymStems = await loadCachedOrStoredWordStems(reader, synonymWords);
  const synonymEntries = await loadSearchVocabularyEntries(reader, {
    words: [...synonymWords],
    phrases: [],
    stems: synonymStems,
  });
  return expandSearchQueryWithStemsAndVocabulary(joined, {
    stems,
    vocabulary,
    synonyms: { stems: synonymStems, vocabulary: synonymEntries },
  });
}

/**
 * Returns the words of a query whose stems are needed, each with and without accents, because the
 * dictionaries contain stop words with accents.
 */
const wordsToStem = ({ words }: ParsedSearchQuery): Set<string> =>
  new Set(
    words
      .filter(({ isDense }) => !isDense)
      .flatMap(({ text, raw }) => [text, raw, replaceUmlautDigraphsByVowels(text) ?? text]),
  );
