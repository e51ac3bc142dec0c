/** The rules by which a search corrects words, leaves words out, and writes its tsqueries. */
import { describe, expect, it } from "vitest";
import { findWordCorrections } from "#commerce/search/correct-words.ts";
import {
  buildRankingTsquery,
  buildTsqueryForSinglePart,
  buildTsqueryRequiringAllParts,
  buildTsqueryRequiringAnyPart,
  matchEverything,
  quoteLexeme,
  toAttributeLexeme,
  toBrandLexeme,
  toCategoryLexeme,
  toLanguageLexeme,
  toMerchantLexeme,
  toPopularityStepLexeme,
  toRandomProductSampleLexeme,
  toTitleLexeme,
  type TsqueryOptions,
} from "#commerce/search/match-query.ts";
import { frequencyMax, type SearchQueryPartFrequency } from "#commerce/search/query-counts.ts";
import {
  chooseSearchQueryPartsToKeep,
  isStopWord,
  removeStopWordParts,
} from "#commerce/search/relax-query.ts";
import {
  computeTypoMatchKeysOfQueryWord,
  computeTypoMatchKeysOfVocabularyWord,
  computeTypoMatchKeysOfWordSuffix,
  getMaxCorrectedTypos,
} from "#commerce/search/typo-keys.ts";
import type { SearchQueryPartWithForms, SearchQueryWithWordForms } from "#commerce/search/word-forms.ts";
import { createMemorySearch, expandFromLists, type KnownWords, searchInGermany } from "./memory-reader.ts";

describe("the words that a search keeps", () => {
  const nothing = { isFound: false, count: 0, titleShare: 0, categoryShare: 0 };
  const frequent = { isFound: true, count: frequencyMax, titleShare: 0, categoryShare: 0 };

  interface Relaxing extends KnownWords {
    readonly frequencies: Readonly<Record<string, Partial<SearchQueryPartFrequency>>>;
    /** The combinations of words that find a product. */
    readonly finds: readonly string[];
    readonly isWholeTried?: boolean;
    readonly category?: string;
  }

  async function keep(q: string, given: Relaxing) {
    const { frequencies, finds, isWholeTried = false, category } = given;
    const lexemesOf = (tsquery: string): string =>
      // Leaves out the alternative in which all words are joined.
      [...tsquery.replace(/ \| '[a-z]+':\*$/, "").matchAll(/'([a-z]+)'/g)]
        .map(([, word = ""]) => word)
        .join(" ");
    const search = createMemorySearch({ count: (tsquery) => Number(finds.includes(lexemesOf(tsquery))) });
    const expanded = expandFromLists(q, given);
    const kept = await chooseSearchQueryPartsToKeep({
      ...search,
      expanded,
      input: { ...searchInGermany, category },
      isWholeTried,
      frequencyOf: ({ part }) => {
        const own = frequencies[part.text];
        return own === undefined ? nothing : { ...frequent, ...own };
      },
    });
    return {
      kept: kept && [...kept].map(({ text }) => text),
      tried: (search.statements[0] ?? []).map(lexemesOf),
      tsqueries: search.statements[0] ?? [],
    };
  }

  it("are the combination with the largest weights that finds a product", async () => {
    const frequencies = { red: {}, wool: { titleShare: 0.5 }, jacket: { titleShare: 1 } };
    const { kept, tried } = await keep("red wool jacket", { frequencies, finds: ["wool red", "jacket red"] });
    expect(kept?.toSorted()).toEqual(["jacket", "red"]);
    expect(tried).toEqual([
      "jacket wool red",
      "jacket wool",
      "jacket red",
      "wool red",
      "jacket",
      "wool",
      "red",
    ]);
  });

  it("are none if no combination finds a product", async () => {
    expect(
      (await keep("red jacket", { frequencies: { red: {}, jacket: {} }, finds: [] })).kept,
    ).toBeUndefined();
    const unknown = await keep("red jacket", { frequencies: {}, finds: ["red"] });
    expect([unknown.kept, unknown.tried]).toEqual([undefined, []]);
  });

  it("are not all words again if all words were tried before", async () => {
    const given = { frequencies: { red: {}, jacket: {} }, finds: ["red jacket", "jacket"] };
    expect((await keep("red jacket", { ...given, isWholeTried: true })).kept).toEqual(["jacket"]);
    expect((await keep("red jacket", given)).tried).toContain("red jacket");
    const partly = await keep("red warm jacket", { ...given, isWholeTried: true });
    expect(partly.kept).toEqual(["red", "jacket"]);
  });

  const weights: [
    name: string,
    frequency: Partial<SearchQueryPartFrequency>,
    other: Partial<SearchQueryPartFrequency>,
  ][] = [
    ["in titles to one in categories", { titleShare: 0.6 }, { categoryShare: 1 }],
    ["in categories", { categoryShare: 0.1 }, {}],
    ["that is rare", { count: 10 }, { count: 11 }],
    ["that is rare to a half share of titles", { count: 1 }, { titleShare: 0.45 }],
    ["with many titles to a rare one", { titleShare: 0.55 }, { count: 1 }],
  ];
  it.each(weights)("prefer a word %s", async (_name, better, worse) => {
    for (const q of ["first second", "second first"]) {
      const { tried } = await keep(q, { frequencies: { first: better, second: worse }, finds: [] });
      expect(tried.slice(1)).toEqual(["first", "second"]);
    }
  });

  it("prefer a combination of frequent words to one rare word", async () => {
    const frequencies = { rare: { count: 10, titleShare: 1, categoryShare: 1 }, one: {}, two: {}, three: {} };
    const { tried } = await keep("rare one two three", { frequencies, finds: [] });
    expect(tried.indexOf("one two three")).toBeGreaterThan(tried.indexOf("rare one"));
    expect(tried.indexOf("one two three")).toBe(tried.indexOf("rare") - 1);
  });

  it("prefer the noun before a preposition by half a weight", async () => {
    const given = { stopWords: { english: ["for", "the"] } };
    const even = await keep("jacket for kids", {
      ...given,
      frequencies: { jacket: {}, kids: {} },
      finds: [],
    });
    expect(even.tried).toEqual(["jacket kids", "jacket", "kids"]);
    const more = { jacket: {}, kids: { titleShare: 0.6 } };
    expect((await keep("jacket for kids", { ...given, frequencies: more, finds: [] })).tried[1]).toBe("kids");
    const less = { jacket: {}, kids: { titleShare: 0.4 } };
    expect((await keep("jacket for kids", { ...given, frequencies: less, finds: [] })).tried[1]).toBe(
      "jacket",
    );
    const warm = { warm: {}, jacket: {}, kids: {} };
    const last = await keep("warm jacket the for kids", { ...given, frequencies: warm, finds: [] });
    expect(last.tried.slice(-3)[0]).toBe("jacket");
    const first = await keep("for kids jacket", {
      ...given,
      frequencies: { kids: {}, jacket: {} },
      finds: [],
    });
    expect(first.tried[1]).toBe("kids");
  });

  it("are at most the five words with the largest weights", async () => {
    const words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"];
    const frequencies = Object.fromEntries(words.map((word, index) => [word, { titleShare: index / 10 }]));
    const { tried } = await keep(words.join(" "), { frequencies, finds: [] });
    expect(tried).toHaveLength(31);
    expect(tried[0]).toBe("foxtrot echo delta charlie bravo");
  });

  it("are no stop words, unless the query has no other words", async () => {
    const given = { stopWords: { english: ["the", "who"], german: ["die"] }, finds: [] };
    const frequencies = { the: {}, who: {}, die: {}, jacket: {} };
    expect((await keep("the die jacket", { ...given, frequencies })).tried).toEqual(["jacket"]);
    expect((await keep("the who", { ...given, frequencies })).tried).toContain("the who");
    const expanded = expandFromLists("the jacket", given);
    expect(removeStopWordParts(expanded).map(({ part }) => part.text)).toEqual(["jacket"]);
    const [the] = expanded.forms;
    if (the === undefined) throw new Error("The query has no words.");
    expect(isStopWord(the, { input: searchInGermany, expanded })).toBe(true);
    expect(isStopWord(the, { input: { ...searchInGermany, locale: "de" }, expanded })).toBe(false);
    const alone = { ...expanded, forms: [the] };
    expect(isStopWord(the, { input: searchInGermany, expanded: alone })).toBe(false);
  });

  it("are searched with the filters, and with candidates that need no stop words", async () => {
    const { tsqueries } = await keep("red jacket", {
      frequencies: { red: {}, jacket: {} },
      finds: [],
      category: "clothes",
    });
    expect(tsqueries.at(-1)).toBe("('jacket':*) & '#clothes'");
  });
});

describe("the correction of misspelt words", () => {
  interface Correcting extends KnownWords {
    readonly vocabulary: Readonly<Record<string, string | null>>;
    /** The number of documents with each word; 0 if left out. */
    readonly counts?: Readonly<Record<string, number>>;
  }

  async function correct(q: string, given: Correcting) {
    const { vocabulary, counts = {} } = given;
    const search = createMemorySearch({
      vocabulary,
      count: (tsquery) => counts[/'([^']+)'/.exec(tsquery)?.[1] ?? ""] ?? 0,
    });
    const expansions: unknown[] = [];
    const corrections = await findWordCorrections(
      {
        ...search,
        expand: async (query, options) => {
          expansions.push(options);
          return expandFromLists(query, { known: Object.keys(vocabulary) });
        },
      },
      expandFromLists(q, given),
    );
    return { corrections: Object.fromEntries(corrections), statements: search.statements, expansions };
  }

  it("takes the most similar word, in its usual spelling", async () => {
    const vocabulary = { kaffee: "kaffee", muhle: "mühle", koffer: null };
    const counts = { kaffee: 5, muhle: 3, koffer: 9 };
    const found = await correct("kafee mühlle", { vocabulary, counts });
    expect(found.corrections).toEqual({ kafee: "kaffee", muhlle: "mühle" });
    expect(found.expansions).toEqual([{ isJoined: false }]);
    expect((await correct("kofer", { vocabulary, counts })).corrections).toEqual({ kofer: "koffer" });
  });

  it("prefers one typo to two, and then the word of most products", async () => {
    const vocabulary = {
      backpacks: "backpacks",
      backpakk: "backpakk",
      backpaki: "backpaki",
      backpoko: "backpoko",
    };
    const correctWith = async (counts: Record<string, number>) =>
      (await correct("backpaka", { vocabulary, counts })).corrections["backpaka"];
    expect(await correctWith({ backpakk: 1, backpaki: 1, backpoko: 50 })).toBe("backpaki");
    expect(await correctWith({ backpakk: 2, backpaki: 1, backpoko: 50 })).toBe("backpakk");
    expect(await correctWith({ backpoko: 50 })).toBe("backpoko");
    expect(await correctWith({})).toBeUndefined();
  });

  it("does not change words that products have, that are known, short, or part of the query", async () => {
    const vocabulary = { tents: "tents", tent: "tent", pan: "pan" };
    const counts = { tents: 4, pan: 9, tent: 3 };
    expect((await correct("tenta", { vocabulary, counts: { ...counts, tenta: 1 } })).corrections).toEqual({});
    expect((await correct("tenta", { vocabulary, counts, known: ["tenta"] })).statements).toEqual([]);
    expect((await correct("pna", { vocabulary, counts })).statements).toEqual([]);
    expect((await correct("tenta tents tent", { vocabulary, counts })).corrections).toEqual({});
    expect((await correct("tenta 500ml", { vocabulary, counts })).corrections).toEqual({ tenta: "tents" });
  });

  it("allows no more typos than the length of the word", async () => {
    const vocabulary = { lantern: "lantern", headlamp: "headlamp" };
    const counts = { lantern: 1, headlamp: 1 };
    expect((await correct("lanteen", { vocabulary, counts })).corrections).toEqual({ lanteen: "lantern" });
    expect((await correct("lentarn", { vocabulary, counts })).corrections).toEqual({});
    expect((await correct("headlaap", { vocabulary, counts })).corrections).toEqual({ headlaap: "headlamp" });
    expect((await correct("haedlapm", { vocabulary, counts })).corrections).toEqual({ haedlapm: "headlamp" });
    expect((await correct("hxadlxmx", { vocabulary, counts })).corrections).toEqual({});
  });

  it("finds the end of a compound, in its usual spelling", async () => {
    const vocabulary = { handkaffeemuhle: "handkaffeemühle" };
    const counts = { kaffeemuhle: 2 };
    for (const typed of ["kafeemuhle", "kaffeemuhhle", "kaffeemuhla", "kafemuhle"])
      expect((await correct(typed, { vocabulary, counts })).corrections).toEqual({ [typed]: "kaffeemühle" });
    expect(
      (await correct("kaffeemuhla", { vocabulary: { xkaffeemuhle: "xkaffeemühle" }, counts })).corrections,
    ).toEqual({});
    // The word has six letters, so only one typo is corrected.
    const cap = { vocabulary: { wollmutzen: "wollmützen" }, counts: { mutzen: 2 } };
    expect((await correct("mutxen", cap)).corrections).toEqual({ mutxen: "mützen" });
    expect((await correct("qmuten", cap)).corrections).toEqual({});
    const sharp = { vocabulary: { handstrassen: "handstraßen" }, counts: { strassen: 2 } };
    expect((await correct("strasssen", sharp)).corrections).toEqual({ strasssen: "strassen" });
  });

  it("compares at most the eight most similar words, the alphabet decides among equals", async () => {
    const letters = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    const vocabulary = Object.fromEntries(letters.map((letter) => [`tent${letter}`, `tent${letter}`]));
    const { statements } = await correct("tentx", { vocabulary, counts: { tentj: 5 } });
    expect(statements.flat().filter((text) => /'tent[a-j]'/.test(text))).toEqual(
      letters.slice(0, 8).map((letter) => `'tent${letter}'`),
    );
  });

  it("reads the similar words of a word once", async () => {
    const search = createMemorySearch({
      vocabulary: { tents: "tents" },
      count: (text) => Number(text === "'tents'"),
    });
    const expand = async (query: Parameters<typeof expandFromLists>[0]) =>
      expandFromLists(query, { known: ["tents"] });
    for (let round = 0; round < 2; round += 1)
      expect(
        Object.fromEntries(await findWordCorrections({ ...search, expand }, expandFromLists("tentz tentz"))),
      ).toEqual({
        tentz: "tents",
      });
    expect(search.statements.filter((words) => words.includes("tentz"))).toEqual([["tentz"]]);
  });
});

describe("the keys of similar words", () => {
  it.each<[word: string, typos: number]>([
    ["pan", 0],
    ["tent", 1],
    ["lantern", 1],
    ["headlamp", 2],
    ["x100", 0],
    ["café-bar", 0],
    ["\u{1d5ba}\u{1d5bb}\u{1d5bc}", 0],
  ])("of %s allow %i typos", (word, typos) => expect(getMaxCorrectedTypos(word)).toBe(typos));

  it("are those of the first seven letters with up to two letters left out", () => {
    const keysOf = (word: string, typos: 0 | 1 | 2) => computeTypoMatchKeysOfQueryWord(word, typos);
    expect(keysOf("tent", 0)).toHaveLength(1);
    expect(keysOf("tent", 1)).toHaveLength(5);
    expect(keysOf("tent", 1)).toEqual(
      expect.arrayContaining(["ent", "tnt", "tet", "ten"].flatMap((word) => keysOf(word, 0))),
    );
    expect(keysOf("abcdefg", 2)).toHaveLength(29);
    expect(keysOf("abcdefgh", 2)).toEqual(keysOf("abcdefg", 2));
    expect(keysOf("abcdef", 0)).not.toEqual(keysOf("abcdefg", 0));
    expect(keysOf("tent", 0)).toEqual([-1_441_575_328]);
  });

  it("of a vocabulary word depend on its length and on its being a compound", () => {
    const count = (word: string, isCompound = false) =>
      computeTypoMatchKeysOfVocabularyWord(word, { isCompound }).length;
    expect([count("ab"), count("abc"), count("abcde"), count("abcdef"), count("abc1")]).toEqual([
      0, 4, 6, 22, 0,
    ]);
    expect([count("abcdefg", true), count("abcdefgh", true)]).toEqual([29, 58]);
    const suffix = computeTypoMatchKeysOfWordSuffix("abcdefgh", 2);
    expect(computeTypoMatchKeysOfVocabularyWord("abcdefgh", { isCompound: true }).slice(29)).toEqual(suffix);
    expect(computeTypoMatchKeysOfWordSuffix("xyabcdefg", 1)).toEqual(
      computeTypoMatchKeysOfWordSuffix("abcdefg", 1),
    );
    expect(computeTypoMatchKeysOfWordSuffix("aba", 0)).not.toEqual(computeTypoMatchKeysOfQueryWord("aba", 0));
  });
});

describe("a tsquery", () => {
  const stopWords = { english: ["the"] };
  const expand = (q: string): SearchQueryWithWordForms => expandFromLists(q, { stopWords });
  const withForms = (given: Partial<SearchQueryPartWithForms>, q = "tents red"): SearchQueryWithWordForms => {
    const { query, stems, forms } = expand(q);
    const [first, ...others] = forms;
    return { query, stems, forms: first === undefined ? [] : [{ ...first, ...given }, ...others] };
  };
  const lexeme = (text: string) => ({ lexemes: [{ text }] });
  const many = {
    exact: [lexeme("tents")],
    loose: [
      { ...lexeme("tent"), stemmers: ["english", "dutch"] },
      { ...lexeme("zelt"), merchants: ["mer_1", "mer_2"] },
      { lexemes: [{ text: "power" }, { text: "tent" }], isTitleOnly: true },
    ],
    weak: [{ lexemes: [{ text: "tents", isPrefix: true }] }],
  };
  const english = "('~english' | '~dutch')";

  it("requires all parts, and the last word may be longer", () => {
    expect(buildTsqueryRequiringAllParts(expand("red tent"))).toBe("'red' & 'tent':* | 'redtent':*");
    expect(buildTsqueryRequiringAllParts(expand("tent"))).toBe("'tent':*");
    expect(buildTsqueryRequiringAllParts(expand("?"))).toBe("'~'");
    expect(buildTsqueryRequiringAllParts(expand("a b c d"))).toContain("| 'abcd':*");
    expect(buildTsqueryRequiringAllParts(expand("a b c d e"))).not.toContain("|");
    expect(buildTsqueryRequiringAllParts(expand("a b"))).toBe("'a' & 'b':*");
    expect(buildTsqueryRequiringAllParts(expand("red tent"), { weight: "B" })).toBe(
      "'red':B & 'tent':*B | 'redtent':*B",
    );
  });

  it("does not require a stop word in its language, unless it is the last word", () => {
    expect(buildTsqueryRequiringAllParts(expand("the tent"))).toBe(
      "('the' | '~english') & 'tent':* | 'thetent':*",
    );
    expect(buildTsqueryRequiringAllParts(expand("tent the"))).toBe("'tent' & 'the':* | 'tentthe':*");
    expect(buildTsqueryRequiringAllParts(expand("the tent"), { isCandidate: true })).toBe(
      "'tent':* | 'thetent':*",
    );
    expect(buildTsqueryRequiringAllParts(expand("the the"), { isCandidate: true })).toBe(
      "'the' & 'the':* | 'thethe':*",
    );
    expect(buildTsqueryRequiringAnyPart(expand("the tent"))).toBe("'the' & !'~english' | 'tent':*");
    expect(buildTsqueryRequiringAnyPart(expand("tent the"))).toBe("'tent' | 'the':*");
    expect(buildTsqueryRequiringAnyPart(expand("?"))).toBe("'~'");
  });

  it.each<[options: TsqueryOptions, expected: string]>([
    [{ forms: "exact" }, "'tents'"],
    [{ forms: "ranked" }, `('tents' | ('tent' & ${english}) | 'zelt' | ('power':B & 'tent':B))`],
    [{}, `('tents' | ('tent' & ${english}) | 'zelt' | ('power':B & 'tent':B) | 'tents':*)`],
    [
      { forms: "ranked", hasMerchants: true },
      `('tents' | ('tent' & ${english}) | ('zelt' & ('@mer_1' | '@mer_2')) | ('power':B & 'tent':B))`,
    ],
    [{ forms: "ranked", isCandidate: true }, "('tents' | 'tent' | 'zelt' | ('power' & 'tent'))"],
    [
      { forms: "ranked", weight: "C" },
      `('tents':C | ('tent':C & ${english}) | 'zelt':C | ('power':C & 'tent':C))`,
    ],
    [
      { forms: "ranked", isTitle: true },
      `('"tents' | ('"tent' & ${english}) | '"zelt' | ('"power' & '"tent'))`,
    ],
    [
      { forms: "ranked", isAnyLexeme: true },
      `('tents' | ('tent' & ${english}) | 'zelt' | ('power':B | 'tent':B))`,
    ],
  ])("with the options %o contains the forms", (options, expected) => {
    const [part] = withForms(many).forms;
    if (part === undefined) throw new Error("The query has no words.");
    expect(buildTsqueryForSinglePart(part, options)).toBe(expected);
    expect(buildTsqueryRequiringAnyPart({ ...withForms(many), forms: [part] }, options)).toBe(expected);
  });

  it("of one part is limited to the merchants of its synonyms by default", () => {
    const [part] = withForms({
      ...many,
      loose: [{ ...lexeme("zelt"), merchants: ["mer_1"] }],
      weak: [],
    }).forms;
    if (part === undefined) throw new Error("The query has no words.");
    expect(buildTsqueryForSinglePart(part)).toBe("('tents' | ('zelt' & '@mer_1'))");
  });

  it("accepts one of several words only if each has at least three letters", () => {
    const short = { exact: [{ lexemes: [{ text: "0" }, { text: "500" }] }], loose: [], weak: [] };
    expect(buildTsqueryRequiringAnyPart(withForms(short, "x"), { isAnyLexeme: true })).toBe("('0' & '500')");
    const long = { exact: [{ lexemes: [{ text: "abc" }, { text: "500" }] }], loose: [], weak: [] };
    expect(buildTsqueryRequiringAnyPart(withForms(long, "x"), { isAnyLexeme: true })).toBe("('abc' | '500')");
  });

  it("for the text rank has each form once, without stop words, synonyms and languages", () => {
    expect(buildRankingTsquery(withForms(many))).toBe("'tents' | 'tent' | ('power' & 'tent') | 'red':*");
    expect(buildRankingTsquery(expand("the tent"))).toBe("'tent':*");
    expect(buildRankingTsquery(expand("tent the"))).toBe("'tent' | 'the':*");
    expect(buildRankingTsquery(withForms({ exact: [lexeme("red"), lexeme("red")] }, "red blue"))).toBe(
      "'red' | 'blue':*",
    );
    expect(buildRankingTsquery(expand("?"))).toBe("'~'");
    const words = Array.from({ length: 30 }, (_, index) => lexeme(`w${index}`));
    expect(buildRankingTsquery(withForms({ exact: words }, "x")).split(" | ")).toHaveLength(24);
  });

  it("quotes every word, and marks the properties of documents by a first character of their own", () => {
    expect(quoteLexeme(String.raw`it's a\b`)).toBe(String.raw`'it''s a\\b'`);
    expect([
      toLanguageLexeme("english"),
      toCategoryLexeme("tents"),
      toMerchantLexeme("mer_1"),
      toBrandLexeme("acme"),
      toTitleLexeme("tent"),
      toRandomProductSampleLexeme(4),
      toPopularityStepLexeme(2),
      toAttributeLexeme("color", "red"),
      matchEverything,
    ]).toEqual(["~english", "#tents", "@mer_1", "^acme", '"tent', "%4", "+2", "=color:red", "'~':*"]);
  });
});
