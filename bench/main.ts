/** `npm run bench`: see README.md beside it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { type Arguments, BadArgument, help, type Known, readArguments } from "./arguments.ts";
import { type Child, type Place, startServer } from "./children.ts";
import { requireEqualBodies } from "./compare.ts";
import { type BenchDatabase, prepareDatabase } from "./database.ts";
import { describeMachine, findCores, pinOurselves } from "./machine.ts";
import { measure, medianOf, type Plan, type Row } from "./measure.ts";
import { type Start, toStarts, toTable } from "./report.ts";
import { requestsOf } from "./requests.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { programOf, type Server, servers, yardstick } from "./servers.ts";

const known: Known = { scenarios: Object.keys(scenarios), servers: servers.map(({ name }) => name) };
const connections = 32;

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const step = (text: string): void => void process.stderr.write(`· ${text}\n`);

async function main(asked: Arguments): Promise<void> {
  const cores = findCores();
  if (cores !== undefined) pinOurselves(cores);
  const machine = describeMachine(cores);
  step(machine);
  step(`PostgreSQL with ${asked.products} products`);
  const database = await prepareDatabase(asked.products);
  const running: Child[] = [];
  try {
    const lists = await Promise.all(asked.only.map((name) => scenarioOf(name, database)));
    const [first] = lists;
    if (first === undefined) return;
    const chosen = servers.filter(({ name }) => name === yardstick || asked.servers.includes(name));
    const place: Place = { cores, nodeOptions: profileOptions(asked.profileFolder) };
    const starts: Start[] = [];
    for (const server of chosen) {
      step(`starting ${server.name}`);
      const { child, start } = await startMeasured(server, { database, scenario: first, place, times: asked.isQuick ? 1 : 3 });
      running.push(child);
      starts.push(start);
    }
    const subjects = chosen.map((server, index) => ({ server, child: running[index] }));
    const rows: Row[] = [];
    for (const scenario of lists) rows.push(...(await measureScenario(scenario, subjects, planOf(asked.isQuick, database.postgresPid))));
    say(`\n${machine}, ${asked.products} products\n\n${toTable(rows)}\n\n${toStarts(starts)}`);
    if (asked.jsonPath !== undefined)
      writeFileSync(asked.jsonPath, `${JSON.stringify({ machine, products: asked.products, quick: asked.isQuick, starts, rows }, undefined, 2)}\n`);
  } finally {
    await Promise.allSettled(running.map((child) => child.stop()));
    await database.stop();
  }
}

function planOf(isQuick: boolean, postgresPid: number): Plan {
  const lengths = isQuick
    ? { rounds: 2, warmUpSeconds: 2, roundSeconds: 3, evenSeconds: 3 }
    : { rounds: 5, warmUpSeconds: 5, roundSeconds: 6, evenSeconds: 10 };
  return { ...lengths, postgresPid, onStep: step };
}

function profileOptions(folder: string | undefined): string[] {
  if (folder === undefined) return [];
  mkdirSync(folder, { recursive: true });
  return ["--cpu-prof", `--cpu-prof-dir=${folder}`];
}

async function scenarioOf(name: string, database: BenchDatabase): Promise<Scenario> {
  const make = scenarios[name];
  if (make === undefined) throw new Error(`There is no scenario ${name}.`);
  return make(database);
}

interface Starting {
  readonly database: BenchDatabase;
  readonly scenario: Scenario;
  readonly place: Place;
  readonly times: number;
}

/** Started several times for the time it takes; the last one stays. */
async function startMeasured(server: Server, { database, scenario, place, times }: Starting): Promise<{ child: Child; start: Start }> {
  const program = programOf(server, database, scenario);
  let child = await startServer(program, place);
  const taken = [child.coldStartMs];
  while (taken.length < times) {
    await child.stop();
    child = await startServer(program, place);
    taken.push(child.coldStartMs);
  }
  return { child, start: { server: server.name, coldStartMs: medianOf(taken) } };
}

async function measureScenario(scenario: Scenario, running: readonly { server: Server; child: Child | undefined }[], plan: Plan): Promise<Row[]> {
  const pairs = running.flatMap(({ server, child }) => (child === undefined ? [] : [{ server, child }]));
  const compared = await requireEqualBodies(
    scenario,
    pairs.map(({ server, child }) => ({ server, port: child.port })),
  );
  step(`${scenario.name}: ${compared} answers are the same on all servers`);
  const begin = requestsOf(scenario);
  const subjects = pairs.map(({ server, child }) => ({
    name: server.name,
    pid: child.pid,
    target: { port: child.port, connections, begin: begin(server) },
  }));
  return measure(scenario.name, subjects, plan);
}

/** What was started ends with this process: the servers by their pid, PostgreSQL by itself. */
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

try {
  const asked = readArguments(process.argv.slice(2), known);
  if (asked === undefined) say(help(known));
  else await main(asked);
} catch (error) {
  process.stderr.write(`${error instanceof BadArgument ? error.message : String(error instanceof Error ? error.stack : error)}\n`);
  process.exitCode = error instanceof BadArgument ? 2 : 1;
}
