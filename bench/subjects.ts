/** The servers while they run: started, timed, and asked for the same before anything of them is measured. */
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
  /** Each is started so often for the time it takes; the last one stays. */
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
 * A server that can answer none of the scenarios stays away. All are stopped when the work is done, or could
 * not be.
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
  const taken = [child.coldStartMs];
  while (taken.length < times) {
    await child.stop();
    child = await startServer(program, place);
    taken.push(child.coldStartMs);
  }
  return { server, child, coldStartMs: median(taken) };
}

/** Those that can answer the scenario, once they have all given the same bodies. */
export async function createMeasuredServers(
  scenario: Scenario,
  running: readonly RunningServer[],
  onStep: (what: string) => void,
): Promise<MeasuredServer[]> {
  const able = running.filter(({ server }) => canAnswer(server, scenario.name));
  const answers = await requireEqualBodies(
    scenario,
    able.map(({ server, child }) => ({ server, port: child.port })),
  );
  onStep(
    `${scenario.name}: ${answers} answers are the same on ${able.map(({ server }) => server.name).join(", ")}`,
  );
  const begin = createRequestSequence(scenario);
  return able.map(({ server, child }) => ({
    name: server.name,
    pid: child.pid,
    target: { port: child.port, connections, begin: begin(server) },
  }));
}
