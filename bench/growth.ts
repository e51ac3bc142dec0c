/**
 * Measures how the cost of reads depends on the size of the data: the CPU time of the server and of
 * PostgreSQL, and the pages that PostgreSQL reads, for the yardstick and this service. A size is the number
 * of products, of carts and of orders. The database is extended for each size, and the servers are
 * restarted.
 */
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import type { Arguments } from "./arguments.ts";
import type { BenchEnvironment } from "./environment.ts";
import { type BenchDatabase, prepareDatabase } from "./database.ts";
import { type ReadCost, drawGrowth } from "./growth-chart.ts";
import { measureThroughput, type LoadTarget } from "./load.ts";
import { processCpuMicros, processTreeCpuMicros } from "./machine.ts";
import type { MeasuredServer } from "./measure.ts";
import { formatMarkdownTable } from "./report.ts";
import { servers, yardstickName } from "./servers.ts";
import { createMeasuredServers, createScenarios, withServers } from "./subjects.ts";

const readScenarios = ["product", "search", "words", "cart", "graphql", "order"];
/** Returns the path of the chart. A quick run does not overwrite the chart of the repository. */
const chartPathOf = (isQuick: boolean): string =>
  isQuick
    ? join(tmpdir(), "commerce-gateway-growth.svg")
    : fileURLToPath(new URL("growth.svg", import.meta.url));

interface Lengths {
  readonly warmUpSeconds: number;
  readonly seconds: number;
}

interface Growth extends Arguments {
  readonly sizes: readonly number[];
}

export async function measureGrowth(
  { sizes, isQuick, jsonPath, only }: Growth,
  bench: BenchEnvironment,
): Promise<void> {
  const { machine, printResult, printStep } = bench;
  const lengths: Lengths = isQuick ? { warmUpSeconds: 2, seconds: 3 } : { warmUpSeconds: 8, seconds: 12 };
  const names = readScenarios.filter((name) => only.includes(name));
  const costs: ReadCost[] = [];
  let database: BenchDatabase | undefined;
  let seeded = 0;
  try {
    for (const size of sizes) {
      printStep(`PostgreSQL with ${size} products, carts and orders`);
      const more = { products: size - seeded, carts: size - seeded, orders: size - seeded };
      if (database === undefined) database = await prepareDatabase(more);
      else await database.grow(more);
      seeded = size;
      costs.push(...(await measureSize(database, { size, names, lengths }, bench)));
    }
  } finally {
    await database?.stop();
  }
  const chartPath = chartPathOf(isQuick);
  writeFileSync(chartPath, drawGrowth(costs));
  printResult(`\n${machine}\n\n${toGrowthTable(costs)}\n\nDrawn in ${chartPath}`);
  if (jsonPath !== undefined)
    writeFileSync(jsonPath, `${JSON.stringify({ machine, quick: isQuick, costs }, undefined, 2)}\n`);
}

interface Size {
  readonly size: number;
  readonly names: readonly string[];
  readonly lengths: Lengths;
}

async function measureSize(
  database: BenchDatabase,
  { size, names, lengths }: Size,
  { placement, printStep }: BenchEnvironment,
): Promise<ReadCost[]> {
  const scenarios = await createScenarios(names, database);
  const chosen = servers.filter(({ name }) => name === yardstickName || name === "ours");
  const client = new Client({ connectionString: database.databaseUrl });
  await client.connect();
  try {
    return await withServers(
      chosen,
      { database, scenarios, placement, startsPerServer: 1, onStep: printStep },
      async (running) => {
        const costs: ReadCost[] = [];
        for (const scenario of scenarios) {
          const subjects = await createMeasuredServers(scenario, running, printStep);
          await sleep(restMs);
          for (const subject of subjects) {
            printStep(`${size}: ${scenario.name}, ${subject.name}`);
            const cost = await measureCost(subject, { client, postgresPid: database.postgresPid, lengths });
            costs.push({ size, scenario: scenario.name, server: subject.name, ...cost });
          }
        }
        return costs;
      },
    );
  } finally {
    await client.end();
  }
}

interface Meters {
  readonly client: Client;
  readonly postgresPid: number;
  readonly lengths: Lengths;
}

/**
 * A connection of PostgreSQL reports its statistics once a second while it works (`reportMs`). After its last
 * work, it reports them after ten seconds without work (`restMs`).
 */
const [reportMs, restMs] = [1100, 10_500];
const reportLoadSeconds = 0.2;

async function measureCost(
  { pid, target }: MeasuredServer,
  { client, postgresPid, lengths }: Meters,
): Promise<Pick<ReadCost, "serverCpuMicros" | "postgresCpuMicros" | "pages">> {
  const before = await readPages(client, target);
  const warmUp = await measureThroughput(target, lengths.warmUpSeconds);
  const [serverBefore, postgresBefore] = [processCpuMicros(pid), processTreeCpuMicros(postgresPid)];
  const { count } = await measureThroughput(target, lengths.seconds);
  const [serverAfter, postgresAfter] = [processCpuMicros(pid), processTreeCpuMicros(postgresPid)];
  const after = await readPages(client, target);
  return {
    serverCpuMicros: (serverAfter - serverBefore) / count,
    postgresCpuMicros: (postgresAfter - postgresBefore) / count,
    // The pages are divided by all requests between the two readings. The pages include reads of the system
    // catalog, once for each connection.
    pages: (after.pages - before.pages) / (before.unreported + warmUp.count + count),
  };
}

interface Pages {
  readonly pages: number;
  /** The number of requests that the statistics do not contain yet. */
  readonly unreported: number;
}

/** Reads the statistics after a short load, which makes each connection report its earlier work. */
async function readPages(client: Client, target: LoadTarget): Promise<Pages> {
  await sleep(reportMs);
  const { count } = await measureThroughput(target, reportLoadSeconds);
  const { rows } = await client.query<{ pages: string }>(
    "select blks_hit + blks_read as pages from pg_stat_database where datname = current_database()",
  );
  return { pages: Number(rows[0]?.pages ?? Number.NaN), unreported: count };
}

function toGrowthTable(costs: readonly ReadCost[]): string {
  return formatMarkdownTable(costs, [
    ["scenario", ({ scenario }) => scenario],
    ["server", ({ server }) => server],
    ["each", ({ size }) => String(size)],
    ["server CPU µs", ({ serverCpuMicros }) => serverCpuMicros.toFixed(0)],
    ["PostgreSQL CPU µs", ({ postgresCpuMicros }) => postgresCpuMicros.toFixed(0)],
    ["pages", ({ pages }) => pages.toFixed(1)],
  ]);
}
