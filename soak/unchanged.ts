/**
 * Tests guarantee 22: an answer from the response cache shows every change that was committed before its
 * request. Writers change prices at two processes; readers read the product pages from both processes, and
 * compare each price with the last price that was acknowledged before the request was sent. On PostgreSQL,
 * the connections on which the processes receive notices are cut again and again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { OpenedDatabase } from "#database/connect.ts";
import type { Report } from "./report.ts";
import { createGraphqlWrite, type DemoCredentials, type HttpAnswer, type SendRequest } from "./shop.ts";

export interface UnchangedPlan {
  readonly engine: Report["engine"];
  /** Sends requests to each of the processes. */
  readonly senders: readonly SendRequest[];
  readonly access: DemoCredentials;
  /** Returns how many answers of the processes came from their caches. */
  readonly countHits: () => Promise<number>;
  /** The database on which connections are cut; undefined to cut none. */
  readonly database: OpenedDatabase | undefined;
  readonly cutEveryMs: number;
  readonly readers: number;
  readonly writers: number;
  /** The number of pages that are read for each change. */
  readonly readsPerChange: number;
  readonly isOver: (counts: { readonly reads: number; readonly cuts: number }) => boolean;
  readonly onStep?: (text: string) => void;
}

interface WatchedPage {
  readonly url: string;
  readonly variantId: string;
  /** The last price that a writer sent, and the last one that was acknowledged, in minor units. */
  sent: number;
  acknowledged: number;
  /** When `acknowledged` was acknowledged, in milliseconds. */
  acknowledgedAtMs: number;
}

interface Load extends UnchangedPlan {
  readonly pages: readonly WatchedPage[];
  readonly marketId: string;
  readonly counts: { reads: number; changes: number; cuts: number; stale: number; refused: number };
  readonly violations: string[];
}

const slug = "lindenhof";
const pagesMax = 20;
const firstPrice = 1_000_000;
const germanPrice = /"offers":\[\{"market":"DE","price":\{"amountMinor":(\d+)/;

export async function runUnchanged(plan: UnchangedPlan): Promise<Report> {
  const load: Load = {
    ...plan,
    ...(await preparePages(plan)),
    counts: { reads: 0, changes: 0, cuts: 0, stale: 0, refused: 0 },
    violations: [],
  };
  const { counts, violations, readers, writers } = load;
  const hitsBefore = await plan.countHits();
  await Promise.all([
    ...Array.from({ length: readers }, (_, index) => readPages(load, index)),
    ...Array.from({ length: writers }, (_, index) => changePrices(load, index)),
    cutConnections(load),
  ]);
  const hits = (await plan.countHits()) - hitsBefore;
  return {
    figure: "unchanged",
    engine: plan.engine,
    counts: {
      reads: counts.reads,
      hits,
      changes: counts.changes,
      cuts: counts.cuts,
      refused: counts.refused,
      "stale answers": counts.stale,
    },
    violations,
  };
}

async function preparePages({ senders, access }: UnchangedPlan): Promise<Pick<Load, "pages" | "marketId">> {
  const query = `{ markets { id handle } products(first: ${pagesMax}, status: PUBLISHED) { edges { node {
    translations { slug } variants { id } } } } }`;
  const { data } = await askGraph(senders[0], access, { query, variables: {} });
  const { markets, products } = data as {
    readonly markets: readonly { readonly id: string; readonly handle: string }[];
    readonly products: {
      readonly edges: readonly {
        readonly node: {
          readonly translations: readonly { readonly slug: string }[];
          readonly variants: readonly { readonly id: string }[];
        };
      }[];
    };
  };
  return {
    marketId: markets.find(({ handle }) => handle === "de")?.id ?? "",
    pages: products.edges.map(({ node: { translations, variants } }) => ({
      url: `/api/v1/catalog/merchants/${slug}/products/${translations[0]?.slug ?? ""}`,
      variantId: variants[0]?.id ?? "",
      sent: 0,
      acknowledged: 0,
      acknowledgedAtMs: 0,
    })),
  };
}

async function askGraph(
  send: SendRequest | undefined,
  access: DemoCredentials,
  { query, variables }: { readonly query: string; readonly variables: Readonly<Record<string, unknown>> },
): Promise<{ readonly data?: unknown }> {
  const { request } = createGraphqlWrite({ access }, { token: "admin", query, variables });
  const answer = await send?.(request);
  const body = JSON.parse(answer?.text ?? "{}") as { readonly data?: unknown; readonly errors?: unknown };
  if (body.errors !== undefined) throw new Error(`GraphQL: ${JSON.stringify(body.errors).slice(0, 300)}`);
  return body;
}

/** Changes the prices of the writer's own pages in turn, each time to the next higher price. */
async function changePrices(load: Load, writer: number): Promise<void> {
  const { pages, writers, senders, access, counts, marketId, readsPerChange } = load;
  const own = pages.filter((_, index) => index % writers === writer);
  const query = "mutation ($input: PricesSetInput!) { pricesSet(input: $input) { id } }";
  for (let turn = 0; !load.isOver(counts); turn += 1) {
    const page = own[turn % own.length];
    if (page === undefined) return;
    page.sent += 1;
    const prices = [{ variantId: page.variantId, marketId, amountMinor: firstPrice + page.sent }];
    const send = senders[turn % senders.length];
    try {
      await askGraph(send, access, { query, variables: { input: { prices } } });
      page.acknowledged = page.sent;
      page.acknowledgedAtMs = performance.now();
      counts.changes += 1;
    } catch (error) {
      if (!String(error).includes("service_unavailable")) throw error;
      counts.refused += 1;
      await sleep(500);
    }
    while (counts.reads < counts.changes * readsPerChange && !load.isOver(counts)) await sleep(2);
  }
}

/** Reads pages in turn from all processes, with each page at a different process the next time. */
async function readPages(load: Load, reader: number): Promise<void> {
  const { pages, senders, counts, access } = load;
  const headers = { authorization: `Bearer ${access.keys.full}` };
  for (let turn = reader; !load.isOver(counts); turn += 1) {
    const page = pages[turn % pages.length];
    const send = senders[(turn + Math.floor(turn / pages.length)) % senders.length];
    if (page === undefined || send === undefined) return;
    const before = { ...page };
    const answer = await send({ method: "GET", url: page.url, headers, body: undefined });
    if (answer.status === 503) {
      // An overloaded process refuses requests.
      counts.refused += 1;
      await sleep(500);
    } else checkAnswer(load, before, answer);
  }
}

/** Compares the price in an answer with the price that was acknowledged before the request was sent. */
function checkAnswer(
  { counts, violations, engine, onStep }: Load,
  { url, acknowledged, acknowledgedAtMs }: WatchedPage,
  { status, text }: HttpAnswer,
): void {
  counts.reads += 1;
  if (counts.reads % 100_000 === 0) onStep?.(`${engine}: ${counts.reads} reads`);
  const price = Number(germanPrice.exec(text)?.[1] ?? Number.NaN);
  if (status !== 200 || Number.isNaN(price)) violations.push(`${url}: status ${status}.`);
  else if (acknowledged > 0 && price < firstPrice + acknowledged) {
    counts.stale += 1;
    const ageMs = Math.round(performance.now() - acknowledgedAtMs);
    violations.push(
      `${url}: price ${price} instead of at least ${firstPrice + acknowledged}, ${ageMs} ms later.`,
    );
  }
}

/** Cuts the connections on which the processes receive notices. */
async function cutConnections({ database, cutEveryMs, counts, isOver }: Load): Promise<void> {
  if (database === undefined) return;
  for (let nextAtMs = performance.now() + cutEveryMs; !isOver(counts); await sleep(50)) {
    if (performance.now() < nextAtMs) continue;
    nextAtMs += cutEveryMs;
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen %'`.execute(database.db);
    counts.cuts += rows.length;
  }
}

/** Reads from `/metrics` how many answers came from the caches of all processes. */
export async function countResponseCacheHits(senders: readonly SendRequest[]): Promise<number> {
  let hits = 0;
  for (const send of senders) {
    const { text } = await send({ method: "GET", url: "/metrics", headers: {}, body: undefined });
    for (const [, count] of text.matchAll(
      /^commerce_response_cache_requests_total\{[^}]*result="hit"[^}]*\} (\d+)$/gm,
    ))
      hits += Number(count);
  }
  return hits;
}
