/**
 * The searches of the benchmark: mostly words sorted by relevance, with some filters, sort orders, second
 * pages and browsing. Each search finds at least five products in the smallest catalog, because with fewer
 * hits the service corrects the spelling, which the yardstick does not support.
 */

export type SearchCase = readonly [
  market: string,
  locale: string,
  q: string,
  more?: Readonly<Record<string, string | number>>,
];

export const searches: readonly SearchCase[] = [
  ["DE", "de", "pullover"],
  ["DE", "de", "aus leinen"],
  ["DE", "de", "merinowolle"],
  ["DE", "de", "aus merinowolle"],
  ["DE", "de", "mantel"],
  ["DE", "de", "leder"],
  ["DE", "de", "baumw"],
  ["DE", "de", "eichenholz"],
  ["DE", "de", "porzellan"],
  ["DE", "de", "segeltuch"],
  ["AT", "de-AT", "kupfer aus"],
  ["AT", "de-AT", "nussbaumholz"],
  ["DE", "en", "the merino"],
  ["DE", "en", "linen"],
  ["DE", "en", "waterproof"],
  ["DE", "en", "stoneware"],
  ["DE", "en", "the oak"],
  ["NL", "en-GB", "leather"],
  ["NL", "en-GB", "organic cotton"],
  ["US", "en", "sweater"],
  ["US", "en", "striped linen"],
  ["US", "en", "walnut"],
  ["US", "en", "glass"],
  ["US", "en", "recycled nylon"],
  ["US", "en", "hand"],
  ["US", "en", "brass"],
  ["US", "en", "nordhaus"],
  ["US", "en", "oiled"],
  ["US", "en-US", "aurora"],
  ["JP", "en", "enamel"],
  ["JP", "en", "bamboo"],
  ["JP", "ja", "copper"],
  ["DE", "de", "leinen", { category: "wardrobe" }],
  ["DE", "en", "shirt", { category: "wardrobe" }],
  ["US", "en", "linen", { category: "tops", sort: "price_asc" }],
  ["US", "en", "canvas", { merchant: "lindenhof" }],
  ["DE", "de", "edelstahl", { merchant: "lindenhof", sort: "newest" }],
  ["DE", "de", "glas", { sort: "price_asc" }],
  ["DE", "de", "hemd", { sort: "popularity" }],
  ["US", "en", "steel", { sort: "newest" }],
  ["US", "en", "porcelain", { sort: "price_asc" }],
  ["DE", "de", "leinen", { page: 2 }],
  ["US", "en", "cotton", { page: 2 }],
  ["US", "en", "oak", { page: 3, pageSize: 10 }],
  ["DE", "de", ""],
  ["US", "en", "", { page: 2 }],
  ["DE", "de", "", { category: "wardrobe" }],
  ["US", "en", "", { merchant: "lindenhof", sort: "popularity" }],
];

/** The searches with words and without filters. For these searches, all matches are scored. */
export const wordSearches: readonly SearchCase[] = searches.filter(
  ([, , q, more]) => q !== "" && more === undefined,
);
