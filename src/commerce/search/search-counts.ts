/**
 * Counts what buyers search for, by day, in memory; written down every ten seconds, and what fewer than three
 * clients searched for never. Nothing of it waits for the database, and nothing of it can fail a search. A
 * query that looks like personal data is not counted at all.
 */
import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { sql } from "kysely";
import type { Database } from "#database/connect.ts";
import type { Clock } from "#foundation/clock.ts";
import type { Log } from "#foundation/log.ts";
import { isGtin } from "#commerce/catalog/catalog-fields.ts";

/** What one client searches for says something about that client. */
export const clientsMin = 3;
const flushMs = 10_000;
/** Of queries that wait or were counted; beyond it the one that was not asked for longest goes. About 5 MB. */
const queriesMax = 10_000;
/** Nobody types more to search a shop. */
const queryLengthMax = 100;

export interface CountedSearch {
  /** Whoever searched, told apart by it: an address, or a buyer's name at a frontend. Kept as a hash alone. */
  readonly client: string;
  /** Whose products alone were searched, by slug; undefined: everybody's. */
  readonly merchant: string | undefined;
  readonly country: string;
  /** Folded and cut into words. */
  readonly query: string;
  readonly hasResults: boolean;
}

export interface SearchCounts {
  readonly note: (search: CountedSearch) => void;
  /** Writes what may be written; what the database does not take is written the next time. */
  readonly flush: () => Promise<void>;
  readonly start: () => void;
  readonly stop: () => Promise<void>;
}

export interface SearchCountsOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
}

interface Entry {
  readonly day: string;
  readonly merchant: string | undefined;
  readonly country: string;
  readonly query: string;
  /** Hashes, no more of them than are needed. */
  readonly clients: Set<string>;
  /** Since it was last written. */
  searches: number;
  empty: number;
}

export function createSearchCounts({ db, clock, log }: SearchCountsOptions): SearchCounts {
  const entries = new LRUCache<string, Entry>({ max: queriesMax });
  /** Never leaves this process, and ends with it: nobody can find out who a hash is. */
  const key = randomBytes(32);
  const hashOf = (client: string): string =>
    createHmac("sha256", key).update(client).digest("base64").slice(0, 16);
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  const note = ({ client, merchant, country, query, hasResults }: CountedSearch): void => {
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
    if (entry.clients.size < clientsMin) entry.clients.add(hashOf(client));
    entry.searches += 1;
    if (!hasResults) entry.empty += 1;
    entries.set(name, entry);
  };

  const write = async (): Promise<void> => {
    const today = clock.now().toISOString().slice(0, 10);
    const due = [...entries.values()].filter(
      ({ clients, searches }) => clients.size >= clientsMin && searches > 0,
    );
    const taken = due.map((entry) => ({ ...entry }));
    // What is counted while it is written is for the next time.
    for (const entry of due) entry.searches = entry.empty = 0;
    try {
      if (taken.length > 0) await save(db, taken);
    } catch (error) {
      for (const [index, entry] of due.entries()) {
        entry.searches += taken[index]?.searches ?? 0;
        entry.empty += taken[index]?.empty ?? 0;
      }
      log.warn({ err: error }, "What was searched for could not be written down; it is tried again.");
    }
    forgetDays(entries, today);
  };
  const flush = (): Promise<void> => (flushing = flushing.then(write));

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

/** A day that is over waits for nobody any more. */
function forgetDays(entries: LRUCache<string, Entry>, today: string): void {
  for (const [name, { day, clients, searches }] of entries.entries())
    if (day < today && (clients.size < clientsMin || searches === 0)) entries.delete(name);
}

/** One statement, however many. A shop that there is not has no searches. */
async function save(db: Database, entries: readonly Entry[]): Promise<void> {
  const column = <Value>(of: (entry: Entry) => Value): Value[] => entries.map((entry) => of(entry));
  await sql`
    insert into search_query_day as d (day, merchant_id, country, query, searches, empty)
    select s.day, m.id, s.country, s.query, s.searches, s.empty
    from unnest(${column(({ day }) => day)}::date[], ${column(({ merchant }) => merchant ?? null)}::text[], ${column(({ country }) => country)}::text[],
      ${column(({ query }) => query)}::text[], ${column(({ searches }) => searches)}::int[], ${column(({ empty }) => empty)}::int[])
      as s(day, merchant, country, query, searches, empty)
    left join merchant m on m.slug = s.merchant
    where s.merchant is null or m.id is not null
    order by s.day, m.id, s.country, s.query
    on conflict (day, merchant_id, country, query) do update set searches = d.searches + excluded.searches, empty = d.empty + excluded.empty`.execute(
    db,
  );
}

/** So many days are kept: the longest time that a report may be about, and the day that has begun. */
const keptDays = 732;
const dayMs = 86_400_000;

export async function sweepSearchCounts(db: Database, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - keptDays * dayMs).toISOString().slice(0, 10);
  await sql`delete from search_query_day where day < ${oldest}::date`.execute(db);
}

const mailAddress = /\S@\S/;
/**
 * Nine digits or more, however they are grouped: telephone numbers, accounts, cards. With what letters stand
 * right beside them.
 */
const longNumber = /[\p{L}\p{Nd}]*\p{Nd}(?:[\s()/.\p{Pd}]{0,3}\p{Nd}){8,}[\p{L}\p{Nd}]*/gu;

/**
 * Whether the query contains an e-mail address or a long number. Names cannot be recognized; a valid GTIN is
 * not personal.
 */
export function isPersonal(query: string): boolean {
  const text = query.normalize("NFKC");
  return mailAddress.test(text) || (text.match(longNumber) ?? []).some((number) => !isGtin(number));
}
