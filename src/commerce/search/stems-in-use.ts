/** The stems of a query's words in every language that there are documents of. */
import { sql } from "kysely";
import type { Reader } from "#database/transaction.ts";
import { stemmerNames, type Stems, unstemmed } from "./stems.ts";

/** At least one entry; `simple` stands for the languages without a stemmer. */
export async function readStemsInUse(reader: Reader, words: ReadonlySet<string>): Promise<Stems> {
  // Steps from locale to locale in the index instead of reading the vocabulary.
  const { rows } = await sql<{ stemmer: string; stems: string[] | null }>`
    with recursive used(locale) as (
      (select locale from search_term order by locale limit 1)
      union all
      select (select t.locale from search_term t where t.locale > u.locale order by t.locale limit 1) from used u where u.locale is not null
    ), language as (
      select distinct coalesce(${JSON.stringify(stemmerNames)}::json ->> split_part(locale, '-', 1), ${unstemmed}) as stemmer from used where locale is not null
    )
    select l.stemmer, (select array_agg(coalesce((ts_lexize(d.oid::regdictionary, w.word))[1], '') order by w.place)
      from pg_ts_dict d, unnest(${[...words]}::text[]) with ordinality as w(word, place) where d.dictname = l.stemmer || '_stem') as stems
    from language l order by l.stemmer`.execute(reader);
  if (rows.length === 0) return new Map([[unstemmed, new Map()]]);
  return new Map(
    rows.map(({ stemmer, stems }) => [stemmer, new Map([...words].flatMap((word, index) => (stems === null ? [] : [[word, stems[index] ?? word]])))]),
  );
}
