/** The servers while they run: started, timed, and asked for the same before anything of them is measured. */
import type { BenchDatabase } from "./database.ts";
import { type Child, type Place, startServer } from "./children.ts";
import { requireEqualBodies } from "./compare.ts";
import { medianOf, type Subject } from "./measure.ts";
import { requestsOf } from "./requests.ts";
import type { Scenario } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";
import { canAnswer, programOf, type Server } from "./servers.ts";

export const connections = 32;

export interface Running {
  readonly server: Server;
  readonly child: Child;
  readonly coldStartMs: number;
}

export interface Starting {
  readonly database: BenchDatabase;
  readonly scenarios: readonly Scenario[];
  readonly place: Place;
  /** Each is started so often for the time it takes; the last one stays. */
  readonly times: number;
  readonly onStep: (what: string) => void;
}

export function makeScenarios(names: readonly string[], database: BenchDatabase): Promise<Scenario[]> {
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
  servers: readonly Server[],
  starting: Starting,
  work: (running: readonly Running[]) => Promise<Result>,
): Promise<Result> {
  const running: Running[] = [];
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
  server: Server,
  scenario: Scenario,
  { database, place, times, onStep }: Starting,
): Promise<Running> {
  onStep(`starting ${server.name}`);
  const program = programOf(server, database, scenario);
  let child = await startServer(program, place);
  const taken = [child.coldStartMs];
  while (taken.length < times) {
    await child.stop();
    child = await startServer(program, place);
    taken.push(child.coldStartMs);
  }
  return { server, child, coldStartMs: medianOf(taken) };
}

/** Those that can answer the scenario, once they have all given the same bodies. */
export async function compared(
  scenario: Scenario,
  running: readonly Running[],
  onStep: (what: string) => void,
): Promise<Subject[]> {
  const able = running.filter(({ server }) => canAnswer(server, scenario.name));
  const answers = await requireEqualBodies(
    scenario,
    able.map(({ server, child }) => ({ server, port: child.port })),
  );
  onStep(
    `${scenario.name}: ${answers} answers are the same on ${able.map(({ server }) => server.name).join(", ")}`,
  );
  const begin = requestsOf(scenario);
  return able.map(({ server, child }) => ({
    name: server.name,
    pid: child.pid,
    target: { port: child.port, connections, begin: begin(server) },
  }));
}
