/** Before anything is measured: every server must answer a scenario's requests with the same bodies as the yardstick. */
import { type Connection, connect } from "./connection.ts";
import type { Ask, Scenario } from "./scenarios.ts";
import type { Server } from "./servers.ts";

interface Running {
  readonly server: Server;
  readonly port: number;
}

/** Scores are floats that may be computed in another order. Nothing else may differ: all servers read one database and know one address. */
const scoreTolerance = 1e-6;

export async function requireEqualBodies(scenario: Scenario, running: readonly Running[]): Promise<number> {
  const connections = await Promise.all(running.map(async ({ server, port }) => ({ server, connection: await connect(port) })));
  try {
    for (const ask of scenario.asks) {
      const answers = await Promise.all(
        connections.map(async ({ server, connection }) => ({ name: server.name, body: await bodyOf(connection, { server, scenario, ask }) })),
      );
      requireEqual(answers, ask);
      const fault = scenario.fault(answers[0]?.body);
      if (fault !== undefined) throw new Error(`${ask.path}: ${fault}.`);
    }
  } finally {
    for (const { connection } of connections) connection.close();
  }
  return scenario.asks.length;
}

interface Given {
  readonly name: string;
  readonly body: unknown;
}

function requireEqual([first, ...others]: readonly Given[], { path, headers }: Ask): void {
  for (const { name, body } of others) {
    const difference = differenceOf(body, first?.body, "");
    if (difference !== undefined) throw new Error(`${name} and ${first?.name} differ at ${difference}\n  ${path} ${JSON.stringify(headers)}`);
  }
}

interface Question {
  readonly server: Server;
  readonly scenario: Scenario;
  readonly ask: Ask;
}

async function bodyOf(connection: Connection, { server, scenario, ask }: Question): Promise<unknown> {
  const { status, body } = await connection.send(server.request(scenario, ask));
  const text = body.toString("utf8");
  if (status !== 200) throw new Error(`${server.name} answers ${status} to ${ask.path}: ${text.slice(0, 500)}`);
  return server.unwrap(scenario, JSON.parse(text));
}

/** Undefined when there is none; the order of an object's keys says nothing. */
function differenceOf(a: unknown, b: unknown, path: string): string | undefined {
  if (Object.is(a, b) || (path.endsWith("/score") && isClose(a, b))) return undefined;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return `${path}: ${shown(a)} and ${shown(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const difference = differenceOf(a[key], b[key], `${path}/${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const isClose = (a: unknown, b: unknown): boolean => typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= scoreTolerance;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null;

const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value).slice(0, 200));
