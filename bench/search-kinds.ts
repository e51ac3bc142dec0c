/**
 * The searches of `search-scale.ts` by kind: plain searches, misspelt searches that the service corrects, and
 * relaxed searches, from which the service drops words. Before a search is measured, it is checked that the
 * service answers in the way of its kind.
 */
import { type Connection, openConnection } from "./connection.ts";
import { median } from "./measure.ts";
import { type SearchCase, wordSearches } from "./searches.ts";
import { encodeRequest } from "./servers.ts";

const unknownWord = "zeppelin";

/** Swaps the second and third letter of the longest word of a search. */
function misspell([market, locale, q, more]: SearchCase): SearchCase {
  const [longest = ""] = q.split(" ").toSorted((one, other) => other.length - one.length);
  const [a = "", b = "", c = "", ...rest] = Array.from(longest);
  return [market, locale, q.replace(longest, [a, c, b, ...rest].join("")), more ?? {}];
}

/** Adds a word that no product has, or the words of another search. */
function addWord([market, locale, q, more]: SearchCase, index: number): SearchCase {
  const [, , other = ""] = wordSearches[(index + 7) % wordSearches.length] ?? [];
  return [market, locale, `${q} ${index % 2 === 0 ? unknownWord : other}`, more ?? {}];
}

export const searchKinds: Readonly<Record<string, readonly SearchCase[]>> = {
  plain: wordSearches,
  corrected: wordSearches.map(misspell),
  relaxed: wordSearches.map(addWord),
};

interface SearchAnswer {
  readonly meta: {
    readonly totalItems: number;
    readonly query: { readonly corrected: string | null; readonly dropped: readonly string[] };
  };
}

/** Returns whether the service answered in the way of the kind. */
const isOfKind = (kind: string, { meta: { totalItems, query } }: SearchAnswer): boolean =>
  totalItems > 0 &&
  (kind === "corrected" ? query.corrected !== null : query.corrected === null) &&
  (kind === "relaxed" ? query.dropped.length > 0 : true);

const [timesOfCase, casesMin] = [5, 10];

export interface MeasuredSearches {
  /** The searches that the service answers in the way of their kind. */
  readonly found: readonly SearchCase[];
  /** A text with the slowest search and its median latency. */
  readonly worst: string;
  readonly latencies: readonly number[];
}

export async function measureSearches(
  port: number,
  kind: string,
  cases: readonly SearchCase[],
): Promise<MeasuredSearches> {
  const connection = await openConnection(port);
  const timed: { search: SearchCase; all: readonly number[] }[] = [];
  try {
    for (const search of cases) {
      const all = await measureSearch(connection, kind, search);
      if (all !== undefined) timed.push({ search, all });
    }
  } finally {
    connection.close();
  }
  if (timed.length < casesMin) throw new Error(`Only ${timed.length} of the ${kind} searches are ${kind}.`);
  const [worst] = timed.toSorted((one, other) => median(other.all) - median(one.all));
  if (worst === undefined) throw new Error(`There are no ${kind} searches.`);
  const [market, , q] = worst.search;
  return {
    found: timed.map(({ search }) => search),
    worst: `${q} (${market}), ${median(worst.all).toFixed(0)} ms`,
    latencies: timed.flatMap(({ all }) => all).toSorted((one, other) => one - other),
  };
}

/**
 * Sends a search several times. Returns the latencies without the first; undefined if the service does not
 * answer in the way of the kind.
 */
async function measureSearch(
  connection: Connection,
  kind: string,
  search: SearchCase,
): Promise<readonly number[] | undefined> {
  const send = async (): Promise<Buffer> => {
    const { status, body } = await connection.send(toSearchRequest(search));
    if (status !== 200) throw new Error(`${search[2]} was answered with ${status}.`);
    return body;
  };
  if (!isOfKind(kind, JSON.parse((await send()).toString("utf8")) as SearchAnswer)) return undefined;
  const latencies: number[] = [];
  while (latencies.length < timesOfCase) {
    const startedAt = performance.now();
    await send();
    latencies.push(performance.now() - startedAt);
  }
  return latencies;
}

export const toSearchRequest = ([market, locale, q, more = {}]: SearchCase): Buffer => {
  const parameters = { q, locale, market, sort: "relevance", page: "1", pageSize: "20", ...more };
  return encodeRequest({
    method: "GET",
    path: `/api/v1/search?${new URLSearchParams(parameters).toString()}`,
    headers: {},
    body: undefined,
  });
};
