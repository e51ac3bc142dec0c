/** What the slots of a search's statement stand for. */
import { allWords, anyWord, categoryMark, everyForm, merchantMark, type ParsedQuery } from "./match-query.ts";
import { chainOf, matchesMax, type SearchInput } from "./search-form.ts";
import type { Stems } from "./stems.ts";

export interface Searched {
  readonly query: ParsedQuery;
  readonly stems: Stems;
  readonly now: Date;
}

export type SearchValues = Readonly<Record<string, unknown>>;

export function searchValues(input: SearchInput, { query, stems, now }: Searched): SearchValues {
  const { market, locale, category, merchant, page, pageSize } = input;
  const offset = (page - 1) * pageSize;
  return {
    country: market,
    now,
    offset,
    limit: Math.max(0, Math.min(pageSize, matchesMax - offset)),
    ...Object.fromEntries(chainOf(locale).map((tag, index) => [`chain${index}`, tag])),
    merchant,
    merchantMark: merchantMark(""),
    categoryKey: `${market}/${category}`,
    ...(input.q.trim() === "" ? {} : wordValues(query, stems, category)),
  };
}

/** Texts of tsquery, and what is looked for in texts. */
function wordValues(query: ParsedQuery, stems: Stems, category: string | undefined): SearchValues {
  const { words, normalized, code } = query;
  const all = allWords(query, stems);
  const anyText = anyWord(query, stems, "D");
  return {
    all,
    filtered: category === undefined ? all : `(${all}) & '${categoryMark(category)}'`,
    allInTitle: allWords(query, stems, "B"),
    any: everyForm(query, stems),
    anyCode: anyWord(query, stems, "A"),
    anyTitle: anyWord(query, stems, "B"),
    anyBrand: anyWord(query, stems, "C"),
    anyCategory: anyText,
    anyText,
    // A dense word may begin anywhere in the title's run.
    phrase: words[0]?.isDense === true ? normalized : ` ${normalized}`,
    code: ` ${code} `,
    codeStart: ` ${code}`,
  };
}
