/** What the demo's buyers have searched for in the last four weeks, and not found: counted by day, as the service counts it. */
import { parseQuery } from "#commerce/search/match-query.ts";
import { clientsMin } from "#commerce/search/search-counts.ts";
import { demoSales } from "#demo/demo-data.ts";
import { hashOf, randomFrom } from "#demo/random.ts";
import type { Row } from "#demo/rows/insert-rows.ts";

const days = 28;
const dayMs = 86_400_000;

/** Among the products of all merchants; the last ones are of today. */
export function searchRows(now: Date): Row<"searchQueryDay">[] {
  const { found, missed } = demoSales().searches;
  return [
    ...found.map((wanted) => rowsOf(wanted, { now, isMissed: false })),
    ...missed.map((wanted) => rowsOf(wanted, { now, isMissed: true })),
  ].flat();
}

/** A day on which fewer searched than may be kept has none. */
type Wanted = ReturnType<typeof demoSales>["searches"]["found"][number];

function rowsOf(
  { query: text, country, perDay }: Wanted,
  { now, isMissed }: { readonly now: Date; readonly isMissed: boolean },
): Row<"searchQueryDay">[] {
  const random = randomFrom(hashOf(`${text} ${country}`));
  const { normalized: query } = parseQuery(text);
  return Array.from({ length: days }, (_, ago) => {
    const at = new Date(now.getTime() - ago * dayMs);
    const isWeekend = at.getUTCDay() % 6 === 0;
    const searches = Math.round(perDay * (0.6 + 0.8 * random()) * (isWeekend ? 1.5 : 1));
    return { day: at.toISOString().slice(0, 10), merchantId: null, country, query, searches, empty: isMissed ? searches : 0 };
  }).filter(({ searches }) => searches >= clientsMin);
}
