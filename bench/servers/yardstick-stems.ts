/** Caches the stems of words in the languages of products. PostgreSQL computes each stem once. */
import type { Pool } from "pg";
import { stemmerOf, noStemmer } from "#commerce/search/stems.ts";

const wordsMax = 20_000;

export function createStemCache(
  pool: Pool,
): (words: ReadonlySet<string>) => Promise<Map<string, Map<string, string>>> {
  let languages: readonly string[] | undefined;
  const known = new Map<string, readonly string[]>();

  const learn = async (words: readonly string[], stemmers: readonly string[]): Promise<void> => {
    const { rows } = await pool.query<{ word: string; stems: string[] }>({
      name: "stems",
      text: `select w as word, (select array_agg(coalesce((ts_lexize((l || '_stem')::regdictionary, w))[1], '') order by n)
        from unnest($2::text[]) with ordinality as u(l, n)) as stems from unnest($1::text[]) as w`,
      values: [words, stemmers],
    });
    for (const { word, stems } of rows) if (known.size < wordsMax) known.set(word, stems);
  };

  return async (words) => {
    if (languages === undefined) {
      const { rows } = await pool.query<{ locale: string }>("select distinct locale from search_term");
      languages = [...new Set(rows.map(({ locale }) => stemmerOf(locale)))].toSorted();
    }
    const stemmers = languages.filter((language) => language !== noStemmer);
    const missing = [...words].filter((word) => !known.has(word));
    if (missing.length > 0 && stemmers.length > 0) await learn(missing, stemmers);
    return new Map(
      languages.map((language) => {
        const place = stemmers.indexOf(language);
        return [
          language,
          place === -1
            ? new Map<string, string>()
            : new Map([...words].map((word) => [word, known.get(word)?.[place] ?? word])),
        ];
      }),
    );
  };
}
