/**
 * A reader of the event feed. It reads small pages while the other clients make changes. At the end, its
 * events must be those that a second reader gets, which reads the same part of the feed at once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { createGraphqlWrite, parseAnswer, requireData } from "#soak/shop.ts";
import type { ClientRecord, ClientsPlan, FeedRead, ReadEvent } from "./client-record.ts";

interface FeedPage {
  readonly events: readonly ReadEvent[];
  readonly cursor: string;
  readonly hasMore: boolean;
}

async function readPage(
  { ask, shop }: Pick<ClientsPlan, "ask" | "shop">,
  { after, first }: { readonly after: string | null; readonly first: number },
): Promise<FeedPage> {
  const query = `query ($after: String, $first: Int) { eventFeed(after: $after, first: $first, start: END) {
    events { id subject { id version } } cursor hasMore } }`;
  const { request } = createGraphqlWrite(shop, { token: "admin", query, variables: { after, first } });
  return requireData(parseAnswer(await ask(request)))["eventFeed"] as FeedPage;
}

const pages = 6;
const smallPage = 20;
const pauseMsMax = 60;

/** Reads the events that are added while the other clients run. */
export async function followFeed(plan: ClientsPlan, record: ClientRecord): Promise<void> {
  const { cursor: start } = await readPage(plan, { after: null, first: smallPage });
  const read: FeedRead = { start, cursor: start, events: [] };
  record.feeds.push(read);
  for (let page = 0; page < pages; page += 1) {
    await sleep(plan.random.next() * pauseMsMax);
    await readNextPage(plan, read, smallPage);
  }
}

/** Reads one page. Returns true if more pages may follow. */
async function readNextPage(
  plan: Pick<ClientsPlan, "ask" | "shop">,
  read: FeedRead,
  first: number,
): Promise<boolean> {
  const { events, cursor, hasMore } = await readPage(plan, { after: read.cursor, first });
  read.events.push(...events);
  read.cursor = cursor;
  return hasMore;
}

const largePage = 100;

/** Reads the feed to its end, and compares the events of the reader with those of a second reader. */
export async function findFeedFaults(
  plan: Pick<ClientsPlan, "ask" | "shop">,
  read: FeedRead,
): Promise<string[]> {
  while (await readNextPage(plan, read, largePage));
  const again: FeedRead = { start: read.start, cursor: read.start, events: [] };
  while (await readNextPage(plan, again, largePage));
  const faults: string[] = [];
  const versions = new Map<string, number>();
  for (const [index, { id, subject }] of read.events.entries()) {
    const other = again.events[index]?.id;
    if (other !== id) return [`A reader of the event feed got ${id}, and a later reader got ${other}.`];
    const before = versions.get(subject.id) ?? 0;
    if (subject.version < before)
      faults.push(`The event feed has version ${subject.version} of ${subject.id} behind version ${before}.`);
    versions.set(subject.id, subject.version);
  }
  return faults;
}
