/** What the demo's buyers have searched for in the last four weeks, and not found: counted by day, as the service counts it. */
import { parseQuery } from "#commerce/search/match-query.ts";
import { clientsMin } from "#commerce/search/search-counts.ts";
import { hashOf, randomFrom } from "#demo/random.ts";
import type { Row } from "#demo/rows/insert-rows.ts";

/** How often on an ordinary day. */
type Wanted = readonly [query: string, country: string, searches: number];

/** The demo sells it. */
const found: readonly Wanted[] = [
  ["zelt", "DE", 21],
  ["rucksack", "DE", 17],
  ["schlafsack", "DE", 12],
  ["kaffee", "DE", 14],
  ["espresso", "DE", 11],
  ["kaffeemühle", "DE", 6],
  ["stirnlampe", "DE", 5],
  ["geschenkkarte", "DE", 4],
  ["zelt", "AT", 5],
  ["kaffee", "AT", 4],
  ["tent", "US", 9],
  ["coffee", "US", 8],
  ["backpack", "US", 7],
];

/** It does not. */
const missed: readonly Wanted[] = [
  ["hängematte", "DE", 7],
  ["klettergurt", "DE", 5],
  ["fahrradhelm", "DE", 4],
  ["kajak", "AT", 4],
  ["hammock", "US", 5],
  ["surfboard", "US", 4],
];

const days = 28;
const dayMs = 86_400_000;

/** Among the products of all merchants; the last ones are of today. */
export function searchRows(now: Date): Row<"searchQueryDay">[] {
  return [
    ...found.map((wanted) => rowsOf(wanted, { now, isMissed: false })),
    ...missed.map((wanted) => rowsOf(wanted, { now, isMissed: true })),
  ].flat();
}

/** A day on which fewer searched than may be kept has none. */
function rowsOf([text, country, ordinary]: Wanted, { now, isMissed }: { readonly now: Date; readonly isMissed: boolean }): Row<"searchQueryDay">[] {
  const random = randomFrom(hashOf(`${text} ${country}`));
  const { normalized: query } = parseQuery(text);
  return Array.from({ length: days }, (_, ago) => {
    const at = new Date(now.getTime() - ago * dayMs);
    const isWeekend = at.getUTCDay() % 6 === 0;
    const searches = Math.round(ordinary * (0.6 + 0.8 * random()) * (isWeekend ? 1.5 : 1));
    return { day: at.toISOString().slice(0, 10), merchantId: null, country, query, searches, empty: isMissed ? searches : 0 };
  }).filter(({ searches }) => searches >= clientsMin);
}
