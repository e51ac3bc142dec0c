/** Starts the servers, and checks that they give equal answers before they are measured. */
import type { BenchDatabase } from "./database.ts";
import { type ServerProcess, type ProcessPlacement, startServer } from "./children.ts";
import { requireEqualBodies } from "./compare.ts";
import { median, type MeasuredServer } from "./measure.ts";
import { createRequestSequence } from "./requests.ts";
import { getScenarioParts, type MeasuredScenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { supportsScenario, toServerProgram, type BenchServer } from "./servers.ts";

export const connections = 32;

export interface RunningServer {
  readonly server: BenchServer;
  readonly child: ServerProcess;
  readonly coldStartMs: number;
}

export interface StartOptions {
  readonly database: BenchDatabase;
  readonly scenarios: readonly MeasuredScenario[];
  readonly placement: ProcessPlacement;
  /** The number of starts of each server, whose median is the start time. The last process keeps running. */
  readonly startsPerServer: number;
  readonly onStep: (what: string) => void;
}

export function createScenarios(
  names: readonly string[],
  database: BenchDatabase,
): Promise<MeasuredScenario[]> {
  return Promise.all(
    names.map((name) => {
      const make = scenarios[name];
      if (make === undefined) throw new Error(`There is no scenario ${name}.`);
      return make(database);
    }),
  );
}

/**
 * Starts the servers that support any of the scenarios, and runs a function with them. Stops all servers at
 * the end, also after an error.
 */
export async function withServers<Result>(
  servers: readonly BenchServer[],
  starting: StartOptions,
  work: (running: readonly RunningServer[]) => Promise<Result>,
): Promise<Result> {
  const running: RunningServer[] = [];
  try {
    for (const server of servers) {
      const scenario = starting.scenarios.find((one) => supportsScenario(server, one));
      if (scenario !== undefined) running.push(await startOne(server, scenario, starting));
    }
    return await work(running);
  } finally {
    await Promise.allSettled(running.map(({ child }) => child.stop()));
  }
}

async function startOne(
  server: BenchServer,
  scenario: MeasuredScenario,
  { database, placement, startsPerServer, onStep }: StartOptions,
): Promise<RunningServer> {
  onStep(`starting ${server.name}`);
  const program = toServerProgram(server, database, scenario);
  let child = await startServer(program, placement);
  const startTimes = [child.coldStartMs];
  while (startTimes.length < startsPerServer) {
    await child.stop();
    child = await startServer(program, placement);
    startTimes.push(child.coldStartMs);
  }
  return { server, child, coldStartMs: median(startTimes) };
}

/** Returns the servers that support the scenario. Throws if their answers differ. */
export async function createMeasuredServers(
  scenario: MeasuredScenario,
  running: readonly RunningServer[],
  onStep: (what: string) => void,
): Promise<MeasuredServer[]> {
  const supporting = running.filter(({ server }) => supportsScenario(server, scenario));
  const ports = supporting.map(({ server, child }) => ({ server, port: child.port }));
  let answers = 0;
  for (const part of getScenarioParts(scenario)) answers += await requireEqualBodies(part, ports);
  onStep(
    `${scenario.name}: ${answers} answers are the same on ${supporting.map(({ server }) => server.name).join(", ")}`,
  );
  const startRequests = createRequestSequence(scenario);
  const change = "change" in scenario ? scenario.change : undefined;
  return supporting.map(({ server, child }) => ({
    name: server.name,
    pid: child.pid,
    target: { port: child.port, connections, startRequests: startRequests(server), change },
  }));
}
