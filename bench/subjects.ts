/** Starts the servers, and checks that they give equal answers before they are measured. */
import type { BenchDatabase } from "./database.ts";
import { type ServerProcess, type ProcessPlacement, startServer } from "./children.ts";
import { requireEqualBodies } from "./compare.ts";
import { median, type MeasuredServer } from "./measure.ts";
import { createRequestSequence } from "./requests.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { canAnswer, programOf, type BenchServer } from "./servers.ts";

export const connections = 32;

export interface RunningServer {
  readonly server: BenchServer;
  readonly child: ServerProcess;
  readonly coldStartMs: number;
}

export interface StartOptions {
  readonly database: BenchDatabase;
  readonly scenarios: readonly Scenario[];
  readonly place: ProcessPlacement;
  /** How often each server is started to measure its start time. The last process keeps running. */
  readonly times: number;
  readonly onStep: (what: string) => void;
}

export function createScenarios(names: readonly string[], database: BenchDatabase): Promise<Scenario[]> {
  return Promise.all(
    names.map((name) => {
      const make = scenarios[name];
      if (make === undefined) throw new Error(`There is no scenario ${name}.`);
      return make(database);
    }),
  );
}

/**
 * Runs a function with the started servers, without those that support none of the scenarios. Stops all
 * servers at the end, also after an error.
 */
export async function withServers<Result>(
  servers: readonly BenchServer[],
  starting: StartOptions,
  work: (running: readonly RunningServer[]) => Promise<Result>,
): Promise<Result> {
  const running: RunningServer[] = [];
  try {
    for (const server of servers) {
      const scenario = starting.scenarios.find(({ name }) => canAnswer(server, name));
      if (scenario !== undefined) running.push(await startOne(server, scenario, starting));
    }
    return await work(running);
  } finally {
    await Promise.allSettled(running.map(({ child }) => child.stop()));
  }
}

async function startOne(
  server: BenchServer,
  scenario: Scenario,
  { database, place, times, onStep }: StartOptions,
): Promise<RunningServer> {
  onStep(`starting ${server.name}`);
  const program = programOf(server, database, scenario);
  let child = await startServer(program, place);
  const startTimes = [child.coldStartMs];
  while (startTimes.length < times) {
    await child.stop();
    child = await startServer(program, place);
    startTimes.push(child.coldStartMs);
  }
  return { server, child, coldStartMs: median(startTimes) };
}

/** Returns the servers that support the scenario, after checking that their answers are equal. */
export async function createMeasuredServers(
  scenario: Scenario,
  running: readonly RunningServer[],
  onStep: (what: string) => void,
): Promise<MeasuredServer[]> {
  const supporting = running.filter(({ server }) => canAnswer(server, scenario.name));
  const answers = await requireEqualBodies(
    scenario,
    supporting.map(({ server, child }) => ({ server, port: child.port })),
  );
  onStep(
    `${scenario.name}: ${answers} answers are the same on ${supporting.map(({ server }) => server.name).join(", ")}`,
  );
  const begin = createRequestSequence(scenario);
  return supporting.map(({ server, child }) => ({
    name: server.name,
    pid: child.pid,
    target: { port: child.port, connections, begin: begin(server) },
  }));
}
