/**
 * Where the consumer law of the European Union holds. Members as the Union lists them (https://european-union.europa.eu/principles-countries-history/eu-countries_en);
 * the European Economic Area adds Iceland, Liechtenstein and Norway (https://www.efta.int/eea).
 */
const europeanUnion = new Set("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split(" "));
const economicArea = new Set([...europeanUnion, "IS", "LI", "NO"]);

/** The legal guarantee of Directive (EU) 2019/771. */
export const isInUnion = (country: string): boolean => europeanUnion.has(country);

/** The right of withdrawal of Directive 2011/83/EU. */
export const isInEconomicArea = (country: string): boolean => economicArea.has(country);
