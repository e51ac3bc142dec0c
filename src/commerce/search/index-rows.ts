/**
 * Computes the rows of the search index from loaded products; pure. A search document stores the words of a
 * product in one locale in a PostgreSQL tsvector. A word has one entry in the tsvector for each field that
 * contains it. The position of the entry has no meaning; its weight (A to D) names the field.
 */
import { createHash } from "node:crypto";
import { findBestStockAvailability, type StockAvailability } from "#commerce/catalog/availability.ts";
import { chooseBestLocale } from "#foundation/text.ts";
import { getSearchableAttributeText, getAttributeFacetValues } from "./attribute-texts.ts";
import type { ProductToIndex, ProductMarketToIndex } from "./load-products.ts";
import {
  toAttributeLexeme,
  toBrandLexeme,
  toCategoryLexeme,
  toLanguageLexeme,
  toMerchantLexeme,
  toPopularityStepLexeme,
  quoteLexeme,
  toRandomProductSampleLexeme,
  toTitleLexeme,
} from "./match-query.ts";
import { buildSearchFacetKey, buildSearchOfferKey, calculatePopularityStep } from "./offer-key.ts";
import { findQuantitiesInText } from "./quantities.ts";
import { type WordStemsByStemmer, getStemmerOfLocale } from "./stems.ts";
import {
  normalizeSkuOrGtin,
  splitTextIntoSearchWords,
  joinHyphenatedWords,
  listLexemesOfSearchWords,
  joinSearchWords,
  type SearchWord,
} from "./tokens.ts";
import { replaceUmlautDigraphsByVowels } from "./word-lists.ts";

export interface SearchOfferRow {
  readonly country: string;
  readonly productId: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly minMinor: number;
  readonly maxMinor: number;
  readonly availability: StockAvailability;
  readonly inStock: boolean;
  readonly popularity: number;
  readonly publishedAt: Date;
  readonly brand: string | null;
  readonly categoryKeys: readonly string[];
  readonly locales: readonly string[];
  readonly fallbackLocale: string;
  readonly groupKey: string;
  readonly offerKey: string;
}

export interface SearchDocumentRow {
  readonly productId: string;
  readonly locale: string;
  readonly locales: readonly string[];
  readonly stemmer: string;
  readonly title: string;
  readonly titleFolded: string;
  readonly titleWords: readonly string[];
  readonly codes: string;
  readonly words: string;
  readonly head: string;
  readonly titleStems: readonly (string | null)[] | null;
  readonly merchantId: string;
  readonly brand: string | null;
  readonly groupKey: string;
  readonly publishedAt: Date;
  /** The attribute values of the product as `code:value`; search facets count them. */
  readonly attributes: readonly string[];
  /**
   * The offer keys of the product, by country code. An offer key is one text with the product's availability,
   * currency and price in the country.
   */
  readonly offers: Readonly<Record<string, string>>;
}

/** The searchable words of a product in one locale, before their stems are added. */
export interface SearchDocumentWithoutStems {
  readonly row: Omit<SearchDocumentRow, "words" | "head" | "titleStems">;
  /**
   * Special words for properties of the product, for example for its merchant and its categories. A search
   * filters by a property by requiring the word of the property.
   */
  readonly marks: string;
  readonly fields: Record<"codes" | "title" | "brand" | "categories" | "text", ReadonlySet<string>>;
  /**
   * Words of the title, brand and categories: for each word without case and accents, its spelling in lower
   * case. Misspelt words of a query are corrected to these words.
   */
  readonly headTerms: ReadonlyMap<string, string>;
  /** Words of the summary and description, without case and accents. */
  readonly textTerms: ReadonlySet<string>;
}

export function buildSearchOfferRows(
  product: ProductToIndex,
  markets: ReadonlyMap<string, ProductMarketToIndex>,
): SearchOfferRow[] {
  const locales = product.translations.map(({ locale }) => locale).toSorted();
  return [...Map.groupBy(product.prices, ({ marketId }) => marketId)].flatMap(([marketId, prices]) => {
    const market = markets.get(marketId);
    const fallbackLocale = chooseBestLocale(
      locales,
      [],
      [market?.defaultLocale ?? "", product.merchantLocale],
    );
    if (market === undefined || fallbackLocale === undefined) return [];
    const amounts = prices.map(({ amountMinor }) => amountMinor);
    const availability = findBestStockAvailability(prices.map((price) => price.availability));
    const minMinor = Math.min(...amounts);
    return market.countries.map((country) => ({
      country,
      productId: product.id,
      merchantId: product.merchantId,
      currency: market.currency,
      minMinor,
      maxMinor: Math.max(...amounts),
      availability,
      inStock: availability === "in_stock" || availability === "low_stock",
      popularity: product.popularity,
      publishedAt: product.publishedAt,
      brand: product.brand,
      categoryKeys: product.categories.map(({ slug }) => `${country}/${slug}`),
      locales,
      fallbackLocale,
      groupKey: groupKeyOf(product),
      offerKey: buildSearchFacetKey({
        availability,
        currency: market.currency,
        minMinor,
        fallbackLocale,
        popularity: product.popularity,
      }),
    }));
  });
}

/**
 * Returns one text with the product's merchant id and category slugs, separated by spaces. Search facets
 * group products by this text to count merchants and categories.
 */
const groupKeyOf = ({ merchantId, categories }: ProductToIndex): string =>
  [merchantId, ...categories.map(({ slug }) => slug)].join(" ");

export function createSearchDocumentsWithoutStems(
  product: ProductToIndex,
  offered: readonly SearchOfferRow[],
): SearchDocumentWithoutStems[] {
  const offers = Object.fromEntries(offered.map((offer) => [offer.country, buildSearchOfferKey(offer)]));
  const locales = product.translations.map(({ locale }) => locale).toSorted();
  const codes = new Set(
    product.codes
      .flatMap(({ sku, gtin }) => [normalizeSkuOrGtin(sku), ...gtinForms(gtin)])
      .filter((code) => code !== ""),
  );
  const codeLexemes = new Set([
    ...codes,
    ...product.codes.flatMap(({ sku }) => [...listLexemesOfSearchWords(splitTextIntoSearchWords(sku))]),
  ]);
  const brandWords = splitTextIntoSearchWords(product.brand ?? "");
  const brand = new Set([
    ...listLexemesOfSearchWords(brandWords),
    ...joinHyphenatedWords(product.brand ?? ""),
  ]);
  const values = getAttributeFacetValues(product.attributes);
  const filters = [
    toMerchantLexeme(product.merchantId),
    ...product.categories.map(({ slug }) => toCategoryLexeme(slug)),
    ...(product.brand === null ? [] : [toBrandLexeme(product.brand)]),
    ...values.map(({ code, value }) => toAttributeLexeme(code, value)),
    ...sampleSizesOf(product.id).map(toRandomProductSampleLexeme),
    toPopularityStepLexeme(calculatePopularityStep(product.popularity)),
  ];
  const marks = [...new Set(filters)].map((mark) => ` ${quoteLexeme(mark)}`).join("");
  return product.translations.map(({ locale, title, summary, description }) => {
    const titleWords = splitTextIntoSearchWords(title);
    const names = product.categories.map(
      (category) => category.names[nameLocale(category.names, locale, product.merchantLocale)] ?? "",
    );
    const categoryWords = names.flatMap(splitTextIntoSearchWords);
    const row = {
      productId: product.id,
      locale,
      locales,
      stemmer: getStemmerOfLocale(locale),
      title,
      titleFolded: joinSearchWords(titleWords),
      titleWords: titleWords.map(({ text }) => text),
      codes: ` ${[...codes].join(" ")} `,
      merchantId: product.merchantId,
      brand: product.brand,
      groupKey: groupKeyOf(product),
      publishedAt: product.publishedAt,
      attributes: values.map(({ code, value }) => `${code}:${value}`),
      offers,
    };
    const text = `${summary ?? ""}\n${description ?? ""}\n${getSearchableAttributeText(product, locale)}`;
    const textWords = splitTextIntoSearchWords(text);
    const isGerman = row.stemmer === "german";
    const fields = {
      codes: codeLexemes,
      title: new Set([
        ...listLexemesOfSearchWords(titleWords),
        ...joinHyphenatedWords(title),
        ...furtherForms(title, isGerman),
      ]),
      brand,
      categories: listLexemesOfSearchWords(categoryWords),
      text: new Set([...listLexemesOfSearchWords(textWords), ...furtherForms(text, isGerman)]),
    };
    const headTerms = termsOf([...titleWords, ...brandWords, ...categoryWords]);
    return { row, marks, fields, headTerms, textTerms: new Set(termsOf(textWords).keys()) };
  });
}

/**
 * Returns further words by which a text can be found. These are its quantities, for example `500 g`. For a
 * German text, they are also the words whose umlauts are written as two letters: for `kaffeemuehle`, the form
 * `kaffeemuhle`.
 */
function furtherForms(text: string, isGerman: boolean): string[] {
  const umlautForms = isGerman
    ? splitTextIntoSearchWords(text).flatMap((word) => replaceUmlautDigraphsByVowels(word.text) ?? [])
    : [];
  return [...findQuantitiesInText(text).map(({ lexeme }) => lexeme), ...umlautForms];
}

export function addStemsToSearchDocument(
  { row, marks, fields }: SearchDocumentWithoutStems,
  stems: WordStemsByStemmer,
): SearchDocumentRow {
  const wordStems = stems.get(row.stemmer);
  const { codes, title, brand, categories, text } = fields;
  const language = ` '${toLanguageLexeme(row.stemmer)}'`;
  const withStems = (words: ReadonlySet<string>): Set<string> =>
    wordStems === undefined ? new Set(words) : addStems(words, wordStems);
  const [titles, brands, groups] = [withStems(title), withStems(brand), withStems(categories)];
  return {
    ...row,
    titleStems: wordStems === undefined ? null : row.titleWords.map((word) => wordStems.get(word) ?? null),
    words:
      buildTsvector([codes, titles, brands.union(groups), withStems(text)]) +
      [...titles].map((word) => `${quoteLexeme(toTitleLexeme(word))} `).join("") +
      language +
      marks,
    head: buildTsvector([codes, titles, brands, groups]) + language,
  };
}

/** Returns those words of a search document for which stems must be loaded. */
export function listWordsToStem({
  fields: { title, brand, categories, text },
}: SearchDocumentWithoutStems): string[] {
  return [...title, ...brand, ...categories, ...text];
}

/**
 * Returns the text of a PostgreSQL tsvector. The fields get the weights A, B, C and D in their order. Words
 * need no escaping, because they contain only letters and digits.
 */
function buildTsvector(fields: readonly ReadonlySet<string>[]): string {
  const places = new Map<string, string>();
  for (const [index, lexemes] of fields.entries()) {
    const place = `${index + 1}${"ABCD".charAt(index)}`;
    for (const lexeme of lexemes) {
      const before = places.get(lexeme);
      places.set(lexeme, before === undefined ? place : `${before},${place}`);
    }
  }
  let text = "";
  for (const [lexeme, where] of places) text += `'${lexeme}':${where} `;
  return text;
}

function addStems(words: ReadonlySet<string>, wordStems: ReadonlyMap<string, string>): Set<string> {
  const all = new Set(words);
  for (const word of words) {
    const stem = wordStems.get(word);
    if (stem !== undefined && stem !== "") all.add(stem);
  }
  return all;
}

/**
 * Returns a GTIN with all possible numbers of leading zeros, because leading zeros do not change the meaning
 * of a GTIN.
 */
function gtinForms(gtin: string | null): string[] {
  if (gtin === null) return [];
  const digits = gtin.replace(/^0+/, "");
  return [
    gtin,
    ...[8, 12, 13, 14]
      .filter((length) => length >= digits.length)
      .map((length) => digits.padStart(length, "0")),
  ];
}

function nameLocale(names: Readonly<Record<string, string>>, locale: string, merchantLocale: string): string {
  return chooseBestLocale(Object.keys(names), [locale], [merchantLocale]) ?? "";
}

/**
 * Sizes of the random samples of products, in 64ths of all products. A larger sample contains all smaller
 * samples. For each sample, its products have an additional searchable word, so a search can select a sample
 * by one word.
 */
export const sampleSizes = [1, 2, 4, 8, 16, 32] as const;
export const sampleParts = 64;

/**
 * Returns the sizes of those random samples that contain the product. The result depends only on the
 * product's id, so it never changes.
 */
function sampleSizesOf(productId: string): number[] {
  const part = createHash("md5").update(productId).digest().readUInt8(0) % sampleParts;
  return sampleSizes.filter((size) => part < size);
}

const termLengthMin = 3;

function termsOf(words: readonly SearchWord[]): Map<string, string> {
  return new Map(
    words
      .filter(({ text, isDense }) => !isDense && text.length >= termLengthMin)
      .map(({ text, raw }) => [text, raw]),
  );
}
