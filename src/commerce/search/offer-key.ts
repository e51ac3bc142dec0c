/**
 * What a match is counted by, in one short text: grouping by it costs a third of grouping by its parts, and
 * there are few different ones. A digit for the availability, the currency, the step of the least price in
 * two digits; in a document followed by the locale fallen back to, a slash, the price.
 */
import { type RawBuilder, sql } from "kysely";
import { availabilities, type Availability } from "#commerce/catalog/availability.ts";

type Sql = RawBuilder<unknown>;

/** 1, 2, 5, 10, … in minor units: steps that read as round prices in every currency. */
export const priceSteps: readonly number[] = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

export interface KeyedOffer {
  readonly availability: Availability;
  readonly currency: string;
  readonly minMinor: number;
  readonly fallbackLocale: string;
}

/** As a document has it. */
export function offerKey({ availability, currency, minMinor, fallbackLocale }: KeyedOffer): string {
  const step = priceSteps.filter((from) => from <= minMinor).length;
  return `${availabilities.indexOf(availability)}${currency}${String(step).padStart(2, "0")}${fallbackLocale}/${minMinor}`;
}

const countedLength = 6;

/** As an offer has it. */
export const countedKeyOf = (offer: KeyedOffer): string => offerKey(offer).slice(0, countedLength);

const list = sql.raw(`array[${availabilities.map((availability) => `'${availability}'`).join(", ")}]`);

/** The part of it that is counted. */
export const countedKey = (key: Sql): Sql => sql`left(${key}, ${sql.raw(String(countedLength))})`;
export const availabilityIn = (key: Sql): Sql => sql`(${list})[left(${key}, 1)::int + 1]`;
export const currencyIn = (key: Sql): Sql => sql`substr(${key}, 2, 3)`;
export const stepIn = (key: Sql): Sql => sql`substr(${key}, 5, 2)::int`;
export const fallbackLocaleIn = (key: Sql): Sql =>
  sql`split_part(substr(${key}, ${sql.raw(String(countedLength + 1))}), '/', 1)`;
export const minMinorIn = (key: Sql): Sql => sql`split_part(${key}, '/', 2)::bigint`;

/** `in_stock` and `low_stock` come first in the list. */
export const isInStock = (key: Sql): Sql =>
  sql`${key} collate "C" < '${sql.raw(String(availabilities.indexOf("backorder")))}'`;
