/**
 * Builds the rows of the search index from loaded products, as a pure computation. In the tsvector of a
 * document, a word occurs once for each field that contains it. Its position in the tsvector has no meaning;
 * its weight (A to D) names the field.
 */
import { createHash } from "node:crypto";
import { findBestAvailability, type Availability } from "#commerce/catalog/availability.ts";
import { chooseLocale } from "#foundation/text.ts";
import { getAttributeText, getAttributeValues } from "./attribute-texts.ts";
import type { IndexedProduct, IndexedMarket } from "./load-products.ts";
import {
  toAttributeLexeme,
  toBrandLexeme,
  toCategoryLexeme,
  toLanguageLexeme,
  toMerchantLexeme,
  toPopularityLexeme,
  quoteLexeme,
  toSampleLexeme,
  toTitleLexeme,
} from "./match-query.ts";
import { buildFacetCountKey, buildOfferKey, getPopularityStep } from "./offer-key.ts";
import { findQuantities } from "./quantities.ts";
import { type StemsByStemmer, getStemmerOfLocale } from "./stems.ts";
import {
  normalizeCode,
  splitWords,
  findJoinedForms,
  listLexemes,
  joinWords,
  type SearchWord,
} from "./tokens.ts";
import { foldUmlautDigraphs } from "./word-lists.ts";

export interface SearchOfferRow {
  readonly country: string;
  readonly productId: string;
  readonly merchantId: string;
  readonly currency: string;
  readonly minMinor: number;
  readonly maxMinor: number;
  readonly availability: Availability;
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
  /** Attributes as `code:value`, by which facets are counted. */
  readonly attributes: readonly string[];
  /** Offer keys of the product by country code. */
  readonly offers: Readonly<Record<string, string>>;
}

/** A search document whose words are not stemmed yet. */
export interface SearchDocumentDraft {
  readonly row: Omit<SearchDocumentRow, "words" | "head" | "titleStems">;
  /**
   * Lexemes that represent properties of the product, for example its merchant and categories. Searches
   * filter by these lexemes.
   */
  readonly marks: string;
  readonly fields: Record<"codes" | "title" | "brand" | "categories" | "text", ReadonlySet<string>>;
  /**
   * Words of the title, brand and categories, as a map from each folded word to its spelling in lower case. A
   * misspelt query word may be corrected to one of these words.
   */
  readonly headTerms: ReadonlyMap<string, string>;
  /** Folded words of summary and description. */
  readonly textTerms: ReadonlySet<string>;
}

export function buildSearchOfferRows(
  product: IndexedProduct,
  markets: ReadonlyMap<string, IndexedMarket>,
): SearchOfferRow[] {
  const locales = product.translations.map(({ locale }) => locale).toSorted();
  return [...Map.groupBy(product.prices, ({ marketId }) => marketId)].flatMap(([marketId, prices]) => {
    const market = markets.get(marketId);
    const fallbackLocale = chooseLocale(locales, [], [market?.defaultLocale ?? "", product.merchantLocale]);
    if (market === undefined || fallbackLocale === undefined) return [];
    const amounts = prices.map(({ amountMinor }) => amountMinor);
    const availability = findBestAvailability(prices.map((price) => price.availability));
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
      offerKey: buildFacetCountKey({
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
 * Key by which the facets of merchants and categories are counted: merchant ID, then category slugs,
 * separated by spaces.
 */
const groupKeyOf = ({ merchantId, categories }: IndexedProduct): string =>
  [merchantId, ...categories.map(({ slug }) => slug)].join(" ");

export function draftSearchDocuments(
  product: IndexedProduct,
  offered: readonly SearchOfferRow[],
): SearchDocumentDraft[] {
  const offers = Object.fromEntries(offered.map((offer) => [offer.country, buildOfferKey(offer)]));
  const locales = product.translations.map(({ locale }) => locale).toSorted();
  const codes = new Set(
    product.codes
      .flatMap(({ sku, gtin }) => [normalizeCode(sku), ...gtinForms(gtin)])
      .filter((code) => code !== ""),
  );
  const codeLexemes = new Set([
    ...codes,
    ...product.codes.flatMap(({ sku }) => [...listLexemes(splitWords(sku))]),
  ]);
  const brandWords = splitWords(product.brand ?? "");
  const brand = new Set([...listLexemes(brandWords), ...findJoinedForms(product.brand ?? "")]);
  const values = getAttributeValues(product.attributes);
  const filters = [
    toMerchantLexeme(product.merchantId),
    ...product.categories.map(({ slug }) => toCategoryLexeme(slug)),
    ...(product.brand === null ? [] : [toBrandLexeme(product.brand)]),
    ...values.map(({ code, value }) => toAttributeLexeme(code, value)),
    ...sampleSizesOf(product.id).map(toSampleLexeme),
    toPopularityLexeme(getPopularityStep(product.popularity)),
  ];
  const marks = [...new Set(filters)].map((mark) => ` ${quoteLexeme(mark)}`).join("");
  const attributes = values.map(({ code, value }) => `${code}:${value}`);
  return product.translations.map(({ locale, title, summary, description }) => {
    const titleWords = splitWords(title);
    const names = product.categories.map(
      (category) => category.names[nameLocale(category.names, locale, product.merchantLocale)] ?? "",
    );
    const categoryWords = names.flatMap(splitWords);
    const row = {
      productId: product.id,
      locale,
      locales,
      stemmer: getStemmerOfLocale(locale),
      title,
      titleFolded: joinWords(titleWords),
      titleWords: titleWords.map(({ text }) => text),
      codes: ` ${[...codes].join(" ")} `,
      merchantId: product.merchantId,
      brand: product.brand,
      groupKey: groupKeyOf(product),
      publishedAt: product.publishedAt,
      attributes,
      offers,
    };
    const text = `${summary ?? ""}\n${description ?? ""}\n${getAttributeText(product, locale)}`;
    const textWords = splitWords(text);
    const isGerman = row.stemmer === "german";
    const fields = {
      codes: codeLexemes,
      title: new Set([
        ...listLexemes(titleWords),
        ...findJoinedForms(title),
        ...furtherForms(title, isGerman),
      ]),
      brand,
      categories: listLexemes(categoryWords),
      text: new Set([...listLexemes(textWords), ...furtherForms(text, isGerman)]),
    };
    const headTerms = termsOf([...titleWords, ...brandWords, ...categoryWords]);
    return { row, marks, fields, headTerms, textTerms: new Set(termsOf(textWords).keys()) };
  });
}

/**
 * Returns further searchable forms of a text: its quantities and, for German texts, words that spell umlauts
 * with two letters (`kaffeemuehle`) in folded form (`kaffeemuhle`).
 */
function furtherForms(text: string, isGerman: boolean): string[] {
  const umlautForms = isGerman ? splitWords(text).flatMap((word) => foldUmlautDigraphs(word.text) ?? []) : [];
  return [...findQuantities(text).map(({ lexeme }) => lexeme), ...umlautForms];
}

export function addStemsToSearchDocument(
  { row, marks, fields }: SearchDocumentDraft,
  stems: StemsByStemmer,
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

/** Returns the words of a search document whose stems must be looked up. */
export function listWordsToStem({
  fields: { title, brand, categories, text },
}: SearchDocumentDraft): string[] {
  return [...title, ...brand, ...categories, ...text];
}

/**
 * Builds the text form of a tsvector. The fields get the weights A, B, C, D in the given order. Lexemes need
 * no escaping, because they contain only letters and digits.
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

/** Returns the GTIN in all its lengths, because a GTIN means the same with and without leading zeros. */
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
  return chooseLocale(Object.keys(names), [locale], [merchantLocale]) ?? "";
}

/**
 * Sizes of the random samples of products, in 64ths of all products. A larger sample contains all smaller
 * ones. Every sample has its own lexeme, so a tsquery selects a sample with a single lexeme.
 */
export const sampleSizes = [1, 2, 4, 8, 16, 32] as const;
export const sampleParts = 64;

/**
 * Returns the sizes of the random samples that contain a product. The samples of a product depend only on its
 * ID, so they never change.
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
