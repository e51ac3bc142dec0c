/**
 * Counts what buyers search for on each day. Counts are collected in memory and written to the database every
 * ten seconds. Queries from fewer than three clients are never written, and queries that look like personal
 * data are not counted. Counting neither delays a search nor makes it fail.
 */
import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { limitGrowingCache } from "#foundation/growing-cache.ts";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import { isGtin } from "#commerce/catalog/catalog-fields.ts";

/**
 * Minimum number of clients that must send a query before it is written to the database. A query that only
 * one client sends could reveal something about this client.
 */
export const clientsPerQueryMin = 3;
const flushMs = 10_000;
/**
 * Maximum number of queries counted in memory, about 5 MB. If there are more, the query that was not searched
 * for the longest time is dropped.
 */
const queriesMax = 10_000;
/**
 * Maximum length of a counted query in characters. Longer queries are not counted, because buyers do not type
 * them.
 */
const queryLengthMax = 100;

export interface SearchRequestToCount {
  /**
   * Identifies the client: an IP address, or the buyer reference that a frontend sent. Only a hash of this
   * text is kept.
   */
  readonly client: string;
  /**
   * Slug of the merchant whose products were searched; undefined if the products of all merchants were
   * searched.
   */
  readonly merchant: string | undefined;
  readonly country: string;
  /** The search text, split into words in lower case without accents. */
  readonly query: string;
  readonly hasResults: boolean;
}

export interface SearchQueryCounter {
  readonly note: (search: SearchRequestToCount) => void;
  /**
   * Writes the counts of all queries that enough clients sent. If the database fails, the counts are kept in
   * memory, and the next call writes them.
   */
  readonly flush: () => Promise<void>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface SearchQueryCounterOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

interface Entry {
  readonly day: string;
  readonly merchant: string | undefined;
  readonly country: string;
  readonly query: string;
  /** Hashes of the clients that sent the query. At most `clientsPerQueryMin` hashes are stored. */
  readonly clients: Set<string>;
  /** Number of searches with this query that are not written to the database yet. */
  searches: number;
  empty: number;
}

export function createSearchQueryCounter({ db, clock, log }: SearchQueryCounterOptions): SearchQueryCounter {
  const entries = new LRUCache<string, Entry>(limitGrowingCache(queriesMax));
  /**
   * Random key with which this process hashes the identities of clients. The key is never stored, so a hash
   * cannot be traced back to a client.
   */
  const key = randomBytes(32);
  const hashOf = (client: string): string =>
    createHmac("sha256", key).update(client).digest("base64").slice(0, 16);
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  const note = ({ client, merchant, country, query, hasResults }: SearchRequestToCount): void => {
    if (query === "" || query.length > queryLengthMax) return;
    const day = clock.now().toISOString().slice(0, 10);
    const name = JSON.stringify([day, merchant, country, query]);
    const entry = entries.get(name) ?? {
      day,
      merchant,
      country,
      query,
      clients: new Set<string>(),
      searches: 0,
      empty: 0,
    };
    if (entry.clients.size < clientsPerQueryMin) entry.clients.add(hashOf(client));
    entry.searches += 1;
    if (!hasResults) entry.empty += 1;
    entries.set(name, entry);
  };

  const flush = (): Promise<void> =>
    (flushing = flushing.then(() => writeEntries(entries, { db, clock, log })));

  return {
    note: (search) => {
      try {
        note(search);
      } catch (error) {
        log.warn({ err: error }, "A search could not be counted.");
      }
    },
    flush,
    start: () => {
      timer = setInterval(() => void flush(), flushMs).unref();
    },
    stop: () => {
      clearInterval(timer);
      return flush();
    },
  };
}

/**
 * Writes the counts of queries that enough clients sent, and drops the counts of past days. Counts that could
 * not be written are written by a later call.
 */
async function writeEntries(
  entries: LRUCache<string, Entry>,
  { db, clock, log }: SearchQueryCounterOptions,
): Promise<void> {
  const today = clock.now().toISOString().slice(0, 10);
  const due = [...entries.values()].filter(
    ({ clients, searches }) => clients.size >= clientsPerQueryMin && searches > 0,
  );
  const taken = due.map((entry) => ({ ...entry }));
  // The counters are reset before the write, so that searches that arrive during the write are counted for
  // the next write.
  for (const entry of due) entry.searches = entry.empty = 0;
  try {
    if (taken.length > 0) await saveCounts(db, taken);
  } catch (error) {
    for (const [index, entry] of due.entries()) {
      entry.searches += taken[index]?.searches ?? 0;
      entry.empty += taken[index]?.empty ?? 0;
    }
    log.warn({ err: error }, "Search counts could not be written to the database; the next flush retries.");
  }
  dropPastDays(entries, today);
}

/**
 * Removes counts of past days from memory if they are already written, or if too few clients sent the query
 * to write them.
 */
function dropPastDays(entries: LRUCache<string, Entry>, today: string): void {
  for (const [name, { day, clients, searches }] of entries.entries())
    if (day < today && (clients.size < clientsPerQueryMin || searches === 0)) entries.delete(name);
}

/** Writes the counts of all given queries in one statement. Counts with an unknown merchant slug are skipped. */
async function saveCounts(db: Database, entries: readonly Entry[]): Promise<void> {
  const column = <Value>(of: (entry: Entry) => Value): Value[] => entries.map((entry) => of(entry));
  await sql`
    insert into search_query_day as d (day, merchant_id, country, query, searches, empty)
    select s.day, m.id, s.country, s.query, s.searches, s.empty
    from unnest(${column(({ day }) => day)}::date[], ${column(({ merchant }) => merchant ?? null)}::text[],
    ${column(({ country }) => country)}::text[],
      ${column(({ query }) => query)}::text[], ${column(({ searches }) => searches)}::int[],
      ${column(({ empty }) => empty)}::int[])
      as s(day, merchant, country, query, searches, empty)
    left join merchant m on m.slug = s.merchant
    where s.merchant is null or m.id is not null
    order by s.day, m.id, s.country, s.query
    on conflict (day, merchant_id, country, query) do update
    set searches = d.searches + excluded.searches, empty = d.empty + excluded.empty`.execute(db);
}

/** Number of days for which counts are stored: the longest period of a report, plus the current day. */
const daysToKeep = 732;
const dayMs = 86_400_000;

export async function deleteOldSearchQueryCounts(db: Database, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - daysToKeep * dayMs).toISOString().slice(0, 10);
  await sql`delete from search_query_day where day < ${oldest}::date`.execute(db);
}

const mailAddress = /\S@\S/;
/**
 * Matches numbers with nine or more digits, with separators between the digits and letters beside them,
 * because they may be telephone, account or card numbers.
 */
const longNumber = /[\p{L}\p{Nd}]*\p{Nd}(?:[\s()/.\p{Pd}]{0,3}\p{Nd}){8,}[\p{L}\p{Nd}]*/gu;

/**
 * Returns true if the query contains an e-mail address, or a long number that is no valid GTIN. Names of
 * people cannot be recognized.
 */
export function mayQueryContainPersonalData(query: string): boolean {
  const text = query.normalize("NFKC");
  return mailAddress.test(text) || (text.match(longNumber) ?? []).some((number) => !isGtin(number));
}
