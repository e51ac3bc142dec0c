/** The vocabulary of indexed words: compounds, their parts, and the terms that store typo keys and spellings. */
import { expect, it } from "vitest";
import { loadCachedOrStoredWordStems } from "#commerce/search/stems.ts";
import { insertMissingSearchVocabularyTerms, toSearchTermRow } from "#commerce/search/term-rows.ts";
import { type SearchVocabularyEntry } from "#commerce/search/vocabulary-cache.ts";
import { loadSearchVocabularyEntries } from "#commerce/search/word-vocabulary.ts";
import type { OpenedDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const insert = (
  { db }: OpenedDatabase,
  locale: string,
  words: Readonly<Record<string, string | undefined>>,
): Promise<void> =>
  runInTransaction(db, (transaction) =>
    insertMissingSearchVocabularyTerms(
      transaction,
      Object.entries(words).map(([term, spelling]) =>
        toSearchTermRow({ locale, term, stem: undefined, spelling }),
      ),
    ),
  );

async function lookUp({ db }: OpenedDatabase, word: string): Promise<SearchVocabularyEntry | undefined> {
  const stems = await loadCachedOrStoredWordStems(db, new Set([word]));
  return (await loadSearchVocabularyEntries(db, { words: [word], phrases: [], stems })).get(word);
}

describeOnBoth("the vocabulary", (open) => {
  it("finds compounds of a word, but no word whose beginning has no vowel, and no word of another meaning", async () => {
    const database = await open();
    const words = ["wollmutze", "schmutz", "handschuh", "laufschuh", "isolationsweste"];
    await insert(database, "de", Object.fromEntries(words.map((word) => [word, word])));
    expect((await lookUp(database, "mutzen"))?.compounds).toEqual(["wollmutze"]);
    expect((await lookUp(database, "schuhe"))?.compounds).toEqual(["laufschuh"]);
    expect((await lookUp(database, "weste"))?.compounds).toEqual(["isolationsweste"]);
  });

  it("splits a compound at its known part, the end before the beginning", async () => {
    const database = await open();
    await insert(database, "de", { jacke: "jacke", bad: "bad", mit: "mit" });
    expect((await lookUp(database, "wanderjacke"))?.partlyKnownSplit).toEqual(["wander", "jacke"]);
    expect((await lookUp(database, "badezimmer"))?.partlyKnownSplit).toEqual(["bad", "zimmer"]);
    expect((await lookUp(database, "mitbewohner"))?.partlyKnownSplit).toBeNull();
    expect((await lookUp(database, "jacke"))?.partlyKnownSplit).toBeNull();
  });

  it("adds keys and the first spelling to a term that was stored without them", async () => {
    const database = await open();
    const read = async (): Promise<unknown> =>
      database.db.selectFrom("searchTerm").select(["term", "spelling", "typoKeys"]).executeTakeFirst();
    await insert(database, "de", { kopfhorer: undefined });
    expect(await read()).toEqual({ term: "kopfhorer", spelling: null, typoKeys: null });
    await insert(database, "de", { kopfhorer: "kopfhörer" });
    const stored = await read();
    expect(stored).toMatchObject({ spelling: "kopfhörer", typoKeys: expect.any(Array) });
    await insert(database, "de", { kopfhorer: "kopfhorer" });
    await insert(database, "de", { kopfhorer: undefined });
    expect(await read()).toEqual(stored);
  });
});
