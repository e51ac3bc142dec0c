/**
 * Defines the offer key: one short text with those properties of an offer by which search facets are counted.
 * An offer is a product that is sold in one country. Grouping by one text is three times as fast as grouping
 * by separate columns, and there are only few different keys. The key consists of one digit for the
 * availability, the currency, and two digits for the price step of the lowest price. In a search document,
 * the key also contains the fallback locale, the lowest price and the popularity step, separated by slashes.
 */
import { type RawBuilder, sql } from "kysely";
import { availabilities, type StockAvailability } from "#commerce/catalog/availability.ts";

type Sql = RawBuilder<unknown>;

/**
 * Lower bounds of the price ranges in minor units: 1, 2, 5, 10, 20, 50 and so on. Such prices look round in
 * every currency.
 */
export const priceSteps: readonly number[] = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

export interface SearchOfferKeyFields {
  readonly availability: StockAvailability;
  readonly currency: string;
  readonly minMinor: number;
  readonly fallbackLocale: string;
  /** Number of units of the product that were ordered in the last 30 days, without canceled units. */
  readonly popularity: number;
}

export const popularityStepMax = 9;

/**
 * Returns the popularity step (0 to 9) for a number of ordered units. Step 0 is 0 units, step 1 is 1–2, step
 * 2 is 3–6, step 3 is 7–14 and so on. Search documents contain only the step, so they are written again only
 * when the step changes.
 */
export const calculatePopularityStep = (popularity: number): number =>
  Math.min(popularityStepMax, Math.floor(Math.log2(Math.max(0, popularity) + 1)));

/**
 * Returns the whole offer key (availability, currency, price, locale, popularity), which search documents
 * store.
 */
export function buildSearchOfferKey(parts: SearchOfferKeyFields): string {
  const { availability, currency, minMinor, fallbackLocale, popularity } = parts;
  const step = priceSteps.filter((from) => from <= minMinor).length;
  return `${availabilities.indexOf(availability)}${currency}${String(step).padStart(2, "0")}${fallbackLocale}/${minMinor}/${calculatePopularityStep(popularity)}`;
}

const countedLength = 6;

/**
 * Returns the first part of the offer key, by which search facets are counted. The table `search_offer`
 * stores only this part.
 */
export const buildSearchFacetKey = (offer: SearchOfferKeyFields): string =>
  buildSearchOfferKey(offer).slice(0, countedLength);

const list = sql.raw(`array[${availabilities.map((availability) => `'${availability}'`).join(", ")}]`);

/** SQL expression for the first part of an offer key, by which search facets are counted. */
export const facetKeyFromOfferKeySql = (key: Sql): Sql =>
  sql`left(${key}, ${sql.raw(String(countedLength))})`;
export const availabilityFromOfferKeySql = (key: Sql): Sql => sql`(${list})[left(${key}, 1)::int + 1]`;
export const currencyFromOfferKeySql = (key: Sql): Sql => sql`substr(${key}, 2, 3)`;
export const priceStepFromOfferKeySql = (key: Sql): Sql => sql`substr(${key}, 5, 2)::int`;
export const fallbackLocaleFromOfferKeySql = (key: Sql): Sql =>
  sql`split_part(substr(${key}, ${sql.raw(String(countedLength + 1))}), '/', 1)`;
export const minPriceFromOfferKeySql = (key: Sql): Sql => sql`split_part(${key}, '/', 2)::bigint`;
/** SQL expression for the popularity step (0 to 9) in an offer key; 0 if the key contains no popularity step. */
export const popularityStepFromOfferKeySql = (key: Sql): Sql =>
  sql`coalesce(nullif(split_part(${key}, '/', 3), ''), '0')::int`;

/**
 * SQL condition that is true for offers that are in stock. The first digit of their offer key is the digit of
 * `in_stock` or `low_stock`, the first two values of `availabilities`.
 */
export const offerInStockConditionSql = (key: Sql): Sql =>
  sql`${key} collate "C" < '${sql.raw(String(availabilities.indexOf("backorder")))}'`;
