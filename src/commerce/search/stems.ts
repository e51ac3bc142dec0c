/** The stems of words, from the dictionaries every PostgreSQL brings along. They get folded words, one at a time, so no parser is involved. */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";

/** Language → PostgreSQL's name of it. */
export const stemmerNames: Record<string, string> = {
  ar: "arabic",
  ca: "catalan",
  da: "danish",
  de: "german",
  el: "greek",
  en: "english",
  es: "spanish",
  eu: "basque",
  fi: "finnish",
  fr: "french",
  ga: "irish",
  hi: "hindi",
  hu: "hungarian",
  hy: "armenian",
  id: "indonesian",
  it: "italian",
  lt: "lithuanian",
  nb: "norwegian",
  ne: "nepali",
  nl: "dutch",
  nn: "norwegian",
  no: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish",
};

export const unstemmed = "simple";

export function stemmerOf(locale: string): string {
  return stemmerNames[locale.split("-", 1)[0] ?? ""] ?? unstemmed;
}

/** Stemmer → word → its stem; an empty one says that the language counts the word as none (the, und, le). */
export type Stems = ReadonlyMap<string, ReadonlyMap<string, string>>;

export async function readStems(reader: Reader, wanted: ReadonlyMap<string, ReadonlySet<string>>): Promise<Stems> {
  const names = [...wanted].filter(([stemmer, words]) => stemmer !== unstemmed && words.size > 0).map(([stemmer]) => stemmer);
  if (names.length === 0) return new Map();
  const lists = JSON.stringify(Object.fromEntries(names.map((name) => [name, [...(wanted.get(name) ?? [])]])));
  // A dictionary this server does not have stems nothing.
  const { rows } = await sql<{ stemmer: string; words: string[]; stems: string[] }>`
    select l.key as stemmer, array_agg(w.word) as words, array_agg(coalesce((ts_lexize(d.oid::regdictionary, w.word))[1], '')) as stems
    from json_each(${lists}::json) as l join pg_ts_dict d on d.dictname = l.key || '_stem', json_array_elements_text(l.value) as w(word)
    group by l.key`.execute(reader);
  return new Map(rows.map(({ stemmer, words, stems }) => [stemmer, new Map(words.map((word, index) => [word, stems[index] ?? word]))]));
}
