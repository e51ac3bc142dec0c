/**
 * Tests guarantee 18: readers of the event feed miss no event, get none twice, and get the events about one
 * subject in order, while many transactions insert events and commit after random delays. Two workers give
 * positions at the same time; on PostgreSQL, their connections are cut again and again.
 *
 * A reader that follows the plain insert order runs beside them. It must miss events on PostgreSQL: otherwise
 * the load would not show anything.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type OpenedDatabase } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { createId } from "#foundation/ids.ts";
import { createDispatchWorld } from "#test/webhooks/dispatch-world.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";
import { readEventFeed } from "#webhooks/event-feed.ts";
import type { Report } from "./report.ts";

export interface EventFeedPlan {
  /** Opens a pool of connections with this application name to the database. PGlite has a single connection. */
  readonly open: (applicationName: string) => Promise<OpenedDatabase>;
  readonly events: number;
  readonly writers: number;
  readonly subjects: number;
  /** The longest delay between an insert and its commit, in milliseconds. One transaction of twenty uses it. */
  readonly delayMsMax: number;
  readonly onStep?: (text: string) => void;
}

interface FeedLoad extends EventFeedPlan {
  readonly database: OpenedDatabase;
  readonly merchantId: string;
  /** The numbers of events whose transactions have committed, rolled back, and of workers that were cut. */
  readonly counts: { committed: number; undone: number; cuts: number };
  isWritten: boolean;
}

const workerName = "event-feed-worker";
const eventsPerSubjectMax = 6;
const longDelayShare = 0.05;
const undoneShare = 0.03;
const shortDelayShare = 0.1;
const restartShare = 0.01;

export async function runEventFeed(plan: EventFeedPlan): Promise<Report> {
  const database = await plan.open("event-feed");
  const { merchantId } = await createDispatchWorld(database).merchant();
  await createSubjects(database, plan.subjects);
  const counts = { committed: 0, undone: 0, cuts: 0 };
  const load: FeedLoad = { ...plan, database, merchantId, counts, isWritten: false };
  const writing = Promise.all(Array.from({ length: plan.writers }, () => write(load))).then(
    () => (load.isWritten = true),
  );
  const running = [work(load), work(load), ...(database.engine === "postgres" ? [cutWorkers(load)] : [])];
  const feeds = [readFeed(load), readFeed(load), readFeed(load)];
  const [seen, naive] = await Promise.all([Promise.all(feeds), readInInsertOrder(load), writing, ...running]);
  const versions = await loadVersions(database);
  const violations = seen.flatMap((reader, index) => findFaults(reader, versions, `Reader ${index + 1}`));
  const missedInInsertOrder = findFaults(naive, versions, "naive").length;
  if (database.engine === "postgres" && missedInInsertOrder === 0)
    violations.push("A reader in plain insert order missed nothing, so the load does not test the feed.");
  return {
    figure: "event-feed",
    engine: database.engine,
    counts: {
      events: counts.committed,
      readers: seen.length,
      "rolled back": counts.undone,
      "workers cut": counts.cuts,
      "faults in plain insert order": missedInInsertOrder,
    },
    violations,
  };
}

const subjectId = (index: number): string => `ord_soak_${index}`;

async function createSubjects({ db }: OpenedDatabase, count: number): Promise<void> {
  await sql`create table soak_subject (id text primary key, version integer not null)`.execute(db);
  await sql`insert into soak_subject select 'ord_soak_' || n, 0 from generate_series(0, ${count - 1}::integer) n`.execute(
    db,
  );
}

class Undone extends Error {}

/** Changes one to three subjects per transaction, each locked until the commit, as the service does. */
async function write(load: FeedLoad): Promise<void> {
  const { counts, database, events, subjects } = load;
  while (counts.committed < events) {
    const indexes = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () =>
      Math.floor(Math.random() * subjects),
    );
    // In ascending order, so that two writers do not wait for each other.
    const chosen = [...new Set(indexes)].toSorted((a, b) => a - b);
    try {
      const inserted = await runInTransaction(database.db, async (transaction) => {
        let count = 0;
        for (const index of chosen) count += await changeSubject(transaction, load, index);
        await sleepBeforeCommit(load);
        if (Math.random() < undoneShare) throw new Undone();
        return count;
      });
      counts.committed += inserted;
    } catch (error) {
      if (!(error instanceof Undone)) throw error;
      counts.undone += 1;
    }
  }
}

async function sleepBeforeCommit({ delayMsMax, database }: FeedLoad): Promise<void> {
  // A delay inside a transaction on PGlite would only stop everything.
  if (database.engine === "pglite") return;
  const isLong = Math.random() < longDelayShare;
  await sleep(Math.random() * delayMsMax * (isLong ? 1 : shortDelayShare));
}

async function changeSubject(
  transaction: Transaction,
  { merchantId }: FeedLoad,
  index: number,
): Promise<number> {
  const count = 1 + Math.floor(Math.random() * eventsPerSubjectMax);
  const ids = Array.from({ length: count }, () => createId("event"));
  await sql`
    with subject as (
      update soak_subject set version = version + ${count} where id = ${subjectId(index)}
      returning id, version - ${count} as version
    )
    insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
      snapshot, thin, occurred_at)
    select n.id, ${merchantId}, 'order.updated', 1, 'order', s.id, s.version + n.place, '{}', '{}', now()
    from subject s, unnest(${ids}::text[]) with ordinality n (id, place) order by n.place`.execute(
    transaction,
  );
  return count;
}

/** Gives positions until all events have one. Goes on after a cut connection, as a worker does. */
async function work(load: FeedLoad): Promise<void> {
  const pool = await load.open(workerName);
  for (;;) {
    // Read before the search: an event that is committed after the search still needs a position.
    const isLast = load.isWritten;
    try {
      const { events } = await fanOutEventsToWebhookDeliveries(pool.db, new Date());
      if (isLast && events === 0) return;
      if (events === 0) await sleep(5);
    } catch (error) {
      if (load.database.engine === "pglite") throw error;
    }
  }
}

/** Cuts the connection of a worker in the middle of its transaction, twice a second. */
async function cutWorkers(load: FeedLoad): Promise<void> {
  while (!load.isWritten) {
    await sleep(500);
    const { rows } = await sql<{ cut: boolean }>`
      select pg_terminate_backend(pid) as cut from pg_stat_activity
      where application_name = ${workerName} and state <> 'idle' limit 1`.execute(load.database.db);
    load.counts.cuts += rows.length;
  }
}

/** The versions that a reader has seen: of each subject the last one, and the faults in between. */
interface SeenVersions {
  readonly last: Map<string, number>;
  readonly faults: string[];
}

function see({ last, faults }: SeenVersions, subject: string, version: number): void {
  const before = last.get(subject) ?? 0;
  if (version !== before + 1) faults.push(`${subject} went from version ${before} to ${version}`);
  last.set(subject, Math.max(version, before));
}

/**
 * Reads the feed to its end. Now and then repeats a page, as a reader that stopped before it stored its
 * cursor.
 */
async function readFeed(load: FeedLoad): Promise<SeenVersions> {
  const seen: SeenVersions = { last: new Map(), faults: [] };
  const { merchantId, database } = load;
  for (let after: string | null = null, read = 0; ;) {
    const isLast = load.isWritten && (await countUnpositioned(database)) === 0;
    const limit = 1 + Math.floor(Math.random() * 100);
    const options = { merchantId: Math.random() < 0.5 ? merchantId : null, types: null, after, limit };
    const page = await readEventFeed(database.db, options);
    if (Math.random() < restartShare) continue;
    for (const { subject } of page.events) see(seen, subject.id, subject.version);
    read += page.events.length;
    after = page.cursor;
    if (read % 50_000 < page.events.length) load.onStep?.(`${database.engine}: ${read} events read`);
    if (isLast && !page.hasMore) return seen;
    if (!page.hasMore) await sleep(10);
  }
}

async function countUnpositioned({ db }: OpenedDatabase): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (select from event where position is null limit 1) e`.execute(db);
  return rows[0]?.count ?? 0;
}

/** Reads events by their insert numbers, with the last number as the cursor: the wrong way. */
async function readInInsertOrder(load: FeedLoad): Promise<SeenVersions> {
  const seen: SeenVersions = { last: new Map(), faults: [] };
  for (let after = 0; ;) {
    const isLast = load.isWritten;
    const { rows } = await sql<{ insertNumber: number; subjectId: string; subjectVersion: number }>`
      select insert_number, subject_id, subject_version from event where insert_number > ${after}::bigint
      order by insert_number limit 500`.execute(load.database.db);
    for (const row of rows) see(seen, row.subjectId, row.subjectVersion);
    after = rows.at(-1)?.insertNumber ?? after;
    if (isLast && rows.length === 0) return seen;
    if (rows.length < 100) await sleep(10);
  }
}

async function loadVersions({ db }: OpenedDatabase): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ id: string; version: number }>`select id, version from soak_subject`.execute(
    db,
  );
  return new Map(rows.map(({ id, version }) => [id, version]));
}

/** Returns the faults of a reader, with events that are missing at the end. */
const findFaults = (
  { last, faults }: SeenVersions,
  versions: ReadonlyMap<string, number>,
  reader: string,
): string[] => [
  ...faults.map((fault) => `${reader}: ${fault}.`),
  ...[...versions].flatMap(([id, version]) =>
    (last.get(id) ?? 0) === version ? [] : [`${reader}: the last events of ${id} are missing.`],
  ),
];
