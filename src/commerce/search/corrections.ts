/** Another spelling for words that nothing is found by: the term of the vocabulary whose trigrams are most alike. */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { oneWord, type ParsedQuery, parseQuery } from "./match-query.ts";
import { trigramKey } from "./tokens.ts";

const similarityMin = 0.35;
const wordLengthMin = 3;
const candidatesMax = 5;

/** The query with its unknown words corrected; undefined when there is nothing to correct, or nothing to correct it to. */
export async function correctQuery(reader: Reader, query: ParsedQuery, chain: readonly string[]): Promise<ParsedQuery | undefined> {
  const asked = query.words
    .map((word, place) => ({ place, key: trigramKey(word.text), match: oneWord(word, place === query.words.length - 1), word }))
    .filter(({ word }) => !word.isDense && word.text.length >= wordLengthMin);
  if (asked.length === 0) return undefined;
  // A term's products may all be gone, so it is tried on the documents; the first five are enough.
  const { rows } = await sql<{ place: number; term: string }>`
    select w.place, c.term
    from json_to_recordset(${JSON.stringify(asked.map(({ place, key, match }) => ({ place, key, match })))}::json) as w(place int, key text, match text)
    cross join lateral (
      select t.term from (
        select term, max(similarity(trigram_key, w.key)) as likeness, bool_or(locale = any(${chain}::text[])) as is_asked
        from search_term where trigram_key % w.key and similarity(trigram_key, w.key) >= ${similarityMin}::float8
        group by term order by 2 desc, 3 desc, 1 limit ${candidatesMax}::int) as t
      where exists (select from search_document d where d.words @@ quote_literal(t.term)::tsquery)
      order by t.likeness desc, t.is_asked desc, t.term limit 1) as c
    where not exists (select from search_document d where d.words @@ w.match::tsquery)`.execute(reader);
  if (rows.length === 0) return undefined;
  const terms = new Map(rows.map(({ place, term }) => [place, term]));
  return parseQuery(query.words.map(({ raw }, place) => terms.get(place) ?? raw).join(" "));
}
