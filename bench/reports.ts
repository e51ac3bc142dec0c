/**
 * The command `npm run bench:reports`, described in README.md of this folder: measures the lists and reports
 * of a running service with many orders, and explains their SQL statements.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { z } from "zod";
import { addListRows } from "./list-rows.ts";
import { findParentProcess, processTreeCpuMicros } from "./machine.ts";
import { openPlanReader, type PlanReader } from "./query-plans.ts";
import { createMeasuredQueries, findFilterSubjects } from "./report-queries.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:4000" },
    token: { type: "string" },
    runs: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    database: { type: "string" },
    fill: { type: "string" },
    plans: { type: "string" },
  },
});
const { url, token, database } = values;
const runs = Number(values.runs);
const orders = values.fill === undefined ? undefined : Number(values.fill);
if (
  database === undefined ||
  (token === undefined && orders === undefined) ||
  ![runs, orders ?? 1].every((count) => Number.isInteger(count) && count > 0)
) {
  process.stderr.write(
    "Usage: npm run bench:reports -- --database DATABASE_URL --fill ORDERS\n" +
      "       npm run bench:reports -- --database DATABASE_URL --token TOKEN [--url URL] [--runs 5]\n" +
      "         [--only WORD] [--plans FILE]\n",
  );
  process.exit(2);
}

const answerForm = z.object({ data: z.unknown(), errors: z.never().optional() });

/** Runs the query and returns its data; undefined if the service stopped the query after ten seconds. */
async function ask(query: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query: `{ ${query} }` }),
  });
  const answer = await response.text();
  if (response.status === 504) return undefined;
  const parsed = answerForm.safeParse(JSON.parse(answer));
  if (!response.ok || !parsed.success) throw new Error(`${query}: ${answer.slice(0, 300)}`);
  return parsed.data.data;
}

/** Returns the id of the process that started the processes of the database's connections. */
async function findPostgres(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return findParentProcess(rows[0]?.pid ?? 0);
}

/**
 * Runs the query several times. Returns the cells of the table: the shortest and the median duration, and the
 * CPU time of PostgreSQL for one run, which other work on the machine hardly changes, in milliseconds.
 */
async function measure(query: string, postgresPid: number): Promise<string> {
  const durations: number[] = [];
  const cpuBefore = processTreeCpuMicros(postgresPid);
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    await ask(query);
    durations.push(performance.now() - start);
  }
  const cpuMs = (processTreeCpuMicros(postgresPid) - cpuBefore) / runs / 1000;
  const sorted = durations.toSorted((one, other) => one - other);
  const [fastest = Number.NaN, median = fastest] = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)]];
  return [fastest, median, cpuMs].map((ms) => ms.toFixed(0)).join(" | ");
}

/**
 * Explains the query, and adds the plans to the texts. Returns the cells of the table: the pages and rows
 * that one statement read, and its indexes. This statement is the slowest of a report, or the one that finds
 * the ids of a list.
 */
async function explain(
  reader: PlanReader,
  { name, query }: { readonly name: string; readonly query: string },
  texts: string[],
): Promise<string> {
  const plans = await reader.explain(query, values.plans !== undefined);
  texts.push(`# ${name}`, query, ...plans.map(({ text }) => text), "");
  const [slowest] = plans.toSorted((one, other) => other.milliseconds - one.milliseconds);
  const page = name.includes("Report") ? undefined : plans.find(({ selectsPage }) => selectsPage);
  const { rowsRead = 0, pages = 0, paths = [] } = page ?? slowest ?? {};
  return ` ${Math.round(rowsRead)} | ${pages} | ${paths.slice(0, pathsMax).join(", ")} |`;
}

/** Number of tables and indexes that the table of results names for each query. */
const pathsMax = 3;

const client = new Client({ connectionString: database });
await client.connect();
if (orders !== undefined)
  process.stderr.write(`Added rows: ${JSON.stringify(await addListRows(client, orders))}\n`);
if (token !== undefined) {
  const postgresPid = await findPostgres(client);
  const queries = createMeasuredQueries(await findFilterSubjects(ask));
  const reader = await openPlanReader(database);
  const texts: string[] = [];
  process.stdout.write(
    "| query | fastest ms | median ms | CPU ms | rows | pages | read by |\n|---|---|---|---|---|---|---|\n",
  );
  for (const measured of queries.filter(({ name }) => name.includes(values.only))) {
    const times = await measure(measured.query, postgresPid);
    process.stdout.write(`| ${measured.name} | ${times} |${await explain(reader, measured, texts)}\n`);
  }
  await reader.close();
  if (values.plans !== undefined) writeFileSync(values.plans, `${texts.join("\n")}\n`);
}
await client.end();
