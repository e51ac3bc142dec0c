/**
 * The command `npm run bench:reports`, described in README.md of this folder: measures the lists and reports
 * of a running service with many orders, and explains their SQL statements.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { z } from "zod";
import { addListRows } from "./list-rows.ts";
import { openPlanReader, type PlanReader } from "./query-plans.ts";
import { createMeasuredQueries, findFilterSubjects } from "./report-queries.ts";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:4000" },
    token: { type: "string" },
    runs: { type: "string", default: "5" },
    only: { type: "string", default: "" },
    database: { type: "string" },
    fill: { type: "boolean", default: false },
    plans: { type: "string" },
  },
});
const { url, token, database } = values;
const runs = Number(values.runs);
const needsDatabase = values.fill || values.plans !== undefined;
if (token === undefined || !Number.isInteger(runs) || runs < 1 || (needsDatabase && database === undefined)) {
  process.stderr.write(
    "Usage: npm run bench:reports -- --token TOKEN [--url URL] [--runs 5] [--only WORD]\n" +
      "         [--database DATABASE_URL [--fill] [--plans FILE]]\n",
  );
  process.exit(2);
}

const answerForm = z.object({ data: z.unknown(), errors: z.never().optional() });

/** Runs the query and returns its data. */
async function ask(query: string): Promise<unknown> {
  const response = await fetch(`${url}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ query: `{ ${query} }` }),
  });
  const answer = await response.text();
  const parsed = answerForm.safeParse(JSON.parse(answer));
  if (!response.ok || !parsed.success) throw new Error(`${query}: ${answer.slice(0, 300)}`);
  return parsed.data.data;
}

/** Runs the query several times, and returns the median and the longest duration in milliseconds. */
async function measure(query: string): Promise<readonly [median: number, slowest: number]> {
  const durations: number[] = [];
  for (let run = 0; run < runs; run += 1) {
    const start = performance.now();
    await ask(query);
    durations.push(performance.now() - start);
  }
  const sorted = durations.toSorted((one, other) => one - other);
  return [sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN, sorted.at(-1) ?? Number.NaN];
}

/**
 * Explains the query, and adds the plans to the texts. Returns the cells of the table: the number of pages
 * that all statements read, and what one statement read: the slowest of a report, or the one that finds the
 * ids of a list.
 */
async function explain(
  reader: PlanReader,
  { name, query }: { readonly name: string; readonly query: string },
  texts: string[],
): Promise<string> {
  const plans = await reader.explain(query);
  texts.push(`# ${name}`, query, ...plans.map(({ text }) => text), "");
  const [slowest] = plans.toSorted((one, other) => other.milliseconds - one.milliseconds);
  const shown = name.includes("Report") ? slowest : plans[0];
  const paths = (shown?.paths ?? []).slice(0, pathsMax).join(", ");
  return ` ${plans.reduce((sum, { pages }) => sum + pages, 0)} | ${paths} |`;
}

/** Number of tables and indexes that the table of results names for each query. */
const pathsMax = 3;

async function fill(): Promise<void> {
  const client = new Client({ connectionString: database });
  await client.connect();
  const counts = await addListRows(client).finally(() => client.end());
  process.stderr.write(`Added rows: ${JSON.stringify(counts)}\n`);
}

if (values.fill) await fill();
const queries = createMeasuredQueries(await findFilterSubjects(ask));
const reader = database === undefined ? undefined : await openPlanReader(database);
const texts: string[] = [];
process.stdout.write(
  reader === undefined
    ? "| query | median ms | slowest ms |\n|---|---|---|\n"
    : "| query | median ms | slowest ms | pages | read by |\n|---|---|---|---|---|\n",
);
for (const measured of queries.filter(({ name }) => name.includes(values.only))) {
  const [median, slowest] = await measure(measured.query);
  const plan = reader === undefined ? "" : await explain(reader, measured, texts);
  process.stdout.write(`| ${measured.name} | ${median.toFixed(0)} | ${slowest.toFixed(0)} |${plan}\n`);
}
await reader?.close();
if (values.plans !== undefined) writeFileSync(values.plans, `${texts.join("\n")}\n`);
