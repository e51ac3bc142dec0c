/**
 * Measures the cost of searches with 10 000, 100 000 and 1 000 000 products, for each kind of search (see
 * `search-kinds.ts`). Also measures the size of the search index and the time to index products.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { indexProducts } from "#commerce/search/index-products.ts";
import { openDatabase } from "#database/connect.ts";
import { runInTransaction } from "#database/transaction.ts";
import type { Arguments } from "./arguments.ts";
import type { BenchEnvironment } from "./environment.ts";
import { runCommand, type ServerProcess, startServer } from "./children.ts";
import { type BenchDatabase, prepareDatabase } from "./database.ts";
import { type LoadTarget, measureLatencies, measureThroughput } from "./load.ts";
import { processCpuMicros, processTreeCpuMicros } from "./machine.ts";
import { median } from "./measure.ts";
import { formatMarkdownTable } from "./report.ts";
import { measureSearches, searchKinds, toSearchRequest } from "./search-kinds.ts";
import type { SearchCase } from "./searches.ts";
import { createServiceCommand, createServiceEnvironment } from "./servers.ts";

interface SearchCost {
  readonly size: number;
  readonly engine: "PostgreSQL" | "embedded";
  readonly kind: string;
  /** Requests per second at full load; null with the embedded database. */
  readonly perSecond: number | null;
  /** The median latency at half of this rate; with the embedded database, of requests sent one at a time. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuMicros: number | null;
  readonly postgresCpuMicros: number | null;
  readonly worst: string;
}

interface IndexCost {
  readonly size: number;
  readonly indexBytes: number;
  readonly terms: number;
  readonly msPerThousandProducts: number;
}

const embeddedSize = 10_000;
/** The number of products from which products are copied instead of generated. */
const copiedSizeMin = 100_000;
/** The number of connections: enough to keep the server busy, too few to make it refuse requests. */
const connections = 8;

interface SearchScale extends Arguments {
  readonly sizes: readonly number[];
}

export async function measureSearchScale(
  { sizes, isQuick, jsonPath }: SearchScale,
  { machine, placement, printResult, printStep }: BenchEnvironment,
): Promise<void> {
  const seconds = isQuick ? 4 : 15;
  const costs: SearchCost[] = [];
  const indexes: IndexCost[] = [];
  let database: BenchDatabase | undefined;
  let seeded = 0;
  try {
    for (const size of sizes) {
      printStep(`PostgreSQL with ${size} products`);
      const more = { products: size - seeded, carts: 0, orders: 0 };
      if (database === undefined) database = await prepareDatabase(more);
      else if (size >= copiedSizeMin && size % seeded === 0) await database.copy(size / seeded - 1);
      else await database.grow(more);
      seeded = size;
      indexes.push(await measureIndex(database.databaseUrl, size));
      const { postgresPid } = database;
      const measured = await withServer(createServiceEnvironment(database), placement, (server) =>
        mapSequentially(Object.entries(searchKinds), async ([kind, cases]) => {
          printStep(`${size}: ${kind}`);
          const cost = await measureKind(server, { size, kind, cases, seconds, postgresPid });
          printResult(toCostTable([cost]));
          return cost;
        }),
      );
      costs.push(...measured);
    }
  } finally {
    await database?.stop();
  }
  printStep(`the embedded database with ${embeddedSize} products`);
  costs.push(...(await measureEmbedded(placement)));
  printResult(`\n${machine}\n\n${toCostTable(costs)}\n\n${toIndexTable(indexes)}`);
  if (jsonPath !== undefined)
    writeFileSync(jsonPath, `${JSON.stringify({ machine, costs, indexes }, undefined, 2)}\n`);
}

const createProgram = (environment: Readonly<Record<string, string>>): Parameters<typeof startServer>[0] => ({
  command: createServiceCommand(),
  environment,
  firstRequest: toSearchRequest(["DE", "en", "linen"]),
});

interface MeasuredKind {
  readonly size: number;
  readonly kind: string;
  readonly cases: readonly SearchCase[];
  readonly seconds: number;
  readonly postgresPid: number;
}

async function measureKind(
  { port, pid }: ServerProcess,
  { size, kind, cases, seconds, postgresPid }: MeasuredKind,
): Promise<SearchCost> {
  const { found, worst } = await measureSearches(port, kind, cases);
  const requests = found.map(toSearchRequest);
  const target: LoadTarget = {
    port,
    connections,
    startRequests: () => {
      let next = 0;
      return () => requests[next++ % requests.length] ?? Buffer.alloc(0);
    },
  };
  await measureThroughput(target, seconds / 3);
  const [serverBefore, postgresBefore] = [processCpuMicros(pid), processTreeCpuMicros(postgresPid)];
  const { count, perSecond } = await measureThroughput(target, seconds);
  const [serverAfter, postgresAfter] = [processCpuMicros(pid), processTreeCpuMicros(postgresPid)];
  const latencies = await measureLatencies(target, perSecond / 2, seconds);
  return {
    size,
    engine: "PostgreSQL",
    kind,
    perSecond,
    ...latencies,
    serverCpuMicros: (serverAfter - serverBefore) / count,
    postgresCpuMicros: (postgresAfter - postgresBefore) / count,
    worst,
  };
}

async function measureEmbedded(placement: BenchEnvironment["placement"]): Promise<SearchCost[]> {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-bench-embedded-"));
  const { DATABASE_URL: _url, ...environment } = createServiceEnvironment({
    databaseUrl: "",
    dataFolder: folder,
  });
  try {
    await runCommand(["src/main.ts", "seed", "--products", String(embeddedSize)], environment);
    return await withServer(environment, placement, ({ port }) =>
      mapSequentially(Object.entries(searchKinds), async ([kind, cases]) => {
        const { worst, latencies } = await measureSearches(port, kind, cases);
        return {
          size: embeddedSize,
          engine: "embedded" as const,
          kind,
          perSecond: null,
          p50Ms: median(latencies),
          p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
          serverCpuMicros: null,
          postgresCpuMicros: null,
          worst,
        };
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withServer<Result>(
  environment: Readonly<Record<string, string>>,
  placement: BenchEnvironment["placement"],
  work: (server: ServerProcess) => Promise<Result>,
): Promise<Result> {
  const server = await startServer(createProgram(environment), placement);
  return work(server).finally(() => server.stop());
}

async function mapSequentially<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

const [indexedProducts, indexedPerBatch] = [2000, 500];

/** Measures the size of the search tables, and the time to index some products again. */
async function measureIndex(databaseUrl: string, size: number): Promise<IndexCost> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const [{ bytes, terms } = { bytes: "0", terms: "0" }] = (
    await client.query<{ bytes: string; terms: string }>(
      `select sum(pg_total_relation_size(name::regclass)) as bytes, (select count(*) from search_term) as terms
       from unnest(array['search_document', 'search_offer', 'search_summary', 'search_term']) as name`,
    )
  ).rows;
  const { rows } = await client.query<{ id: string }>(
    "select id from product where status = 'published' order by md5(id) limit $1",
    [indexedProducts],
  );
  await client.end();
  const database = await openDatabase({ url: databaseUrl });
  const startedAt = performance.now();
  try {
    for (let start = 0; start < rows.length; start += indexedPerBatch) {
      const ids = rows.slice(start, start + indexedPerBatch).map(({ id }) => id);
      await runInTransaction(database.db, (transaction) => indexProducts(transaction, ids, new Date()));
    }
  } finally {
    await database.close();
  }
  return {
    size,
    indexBytes: Number(bytes),
    terms: Number(terms),
    msPerThousandProducts: ((performance.now() - startedAt) * 1000) / rows.length,
  };
}

const rounded = (value: number | null): string => (value === null ? "" : value.toFixed(0));

const toCostTable = (costs: readonly SearchCost[]): string =>
  formatMarkdownTable(costs, [
    ["products", ({ size }) => String(size)],
    ["database", ({ engine }) => engine],
    ["searches", ({ kind }) => kind],
    ["per second", ({ perSecond }) => rounded(perSecond)],
    ["p50 ms", ({ p50Ms }) => p50Ms.toFixed(1)],
    ["p99 ms", ({ p99Ms }) => p99Ms.toFixed(1)],
    ["server CPU µs", ({ serverCpuMicros }) => rounded(serverCpuMicros)],
    ["PostgreSQL CPU µs", ({ postgresCpuMicros }) => rounded(postgresCpuMicros)],
    ["worst", ({ worst }) => worst],
  ]);

const toIndexTable = (indexes: readonly IndexCost[]): string =>
  formatMarkdownTable(indexes, [
    ["products", ({ size }) => String(size)],
    ["index MB", ({ indexBytes }) => (indexBytes / 1e6).toFixed(0)],
    ["terms", ({ terms }) => String(terms)],
    ["ms to index 1000 products", ({ msPerThousandProducts }) => rounded(msPerThousandProducts)],
  ]);
