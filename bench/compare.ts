/**
 * Before anything is measured: every server must answer a scenario's requests with the same bodies as the
 * yardstick.
 */
import { type Connection, connect } from "./connection.ts";
import { withFreshKey } from "./idempotency-keys.ts";
import type { Ask, Effect, Scenario } from "./scenario.ts";
import type { Server } from "./servers.ts";

interface Running {
  readonly server: Server;
  readonly port: number;
}

/**
 * Scores are floats that may be computed in another order. Nothing else may differ: all servers read one
 * database and know one address.
 */
const scoreTolerance = 1e-6;

export async function requireEqualBodies(scenario: Scenario, running: readonly Running[]): Promise<number> {
  const connections = await Promise.all(
    running.map(async ({ server, port }) => ({ server, connection: await connect(port) })),
  );
  try {
    if (scenario.effect === null)
      for (const ask of scenario.asks) await compareAnswers(scenario, ask, connections);
    else await compareEffects(scenario, scenario.effect, connections);
  } finally {
    for (const { connection } of connections) connection.close();
  }
  return scenario.asks.length;
}

interface Connected {
  readonly server: Server;
  readonly connection: Connection;
}

async function compareAnswers(
  scenario: Scenario,
  ask: Ask,
  connections: readonly Connected[],
): Promise<void> {
  const answers = await Promise.all(
    connections.map(async ({ server, connection }) => ({
      name: server.name,
      body: await bodyOf(connection, { server, scenario, ask }),
    })),
  );
  requireEqual(answers, ask);
  requireFair(scenario, ask, answers[0]?.body);
}

/**
 * One server after another, with one thing at a time: each makes all of its changes, beginning with what they
 * leave. So all find the same, and that every change is one more version shows that none was left out.
 */
async function compareEffects(
  scenario: Scenario,
  effect: Effect,
  connections: readonly Connected[],
): Promise<void> {
  const [first] = connections;
  if (first === undefined) return;
  for (const asks of Map.groupBy(scenario.asks, ({ path }) => path).values()) {
    // Once uncounted: whatever was there before.
    await changeAll(first, { scenario, effect, asks });
    const byServer: { readonly name: string; readonly bodies: readonly unknown[] }[] = [];
    for (const each of connections)
      byServer.push({ name: each.server.name, bodies: await changeAll(each, { scenario, effect, asks }) });
    for (const [index, ask] of asks.entries())
      requireEqual(
        byServer.map(({ name, bodies }) => ({ name, body: bodies[index] })),
        ask,
      );
  }
}

interface Changes {
  readonly scenario: Scenario;
  readonly effect: Effect;
  readonly asks: readonly Ask[];
}

/** Gives the answers without their versions. */
async function changeAll(
  { server, connection }: Connected,
  { scenario, effect, asks }: Changes,
): Promise<unknown[]> {
  const bodies: unknown[] = [];
  let version: number | undefined;
  for (const ask of asks) {
    const body = await bodyOf(connection, { server, scenario, ask });
    requireFair(scenario, ask, body);
    const next = effect.versionOf(body);
    if (version !== undefined && next !== version + 1)
      throw new Error(`${ask.path}: ${server.name} went from version ${version} to ${next}.`);
    version = next;
    bodies.push(effect.withoutVersion(body));
  }
  return bodies;
}

function requireFair({ fault }: Scenario, { path }: Ask, body: unknown): void {
  const found = fault(body);
  if (found !== undefined) throw new Error(`${path}: ${found}.`);
}

interface Given {
  readonly name: string;
  readonly body: unknown;
}

function requireEqual([first, ...others]: readonly Given[], { path, headers }: Ask): void {
  for (const { name, body } of others) {
    const difference = differenceOf(body, first?.body, "");
    if (difference !== undefined)
      throw new Error(
        `${name} and ${first?.name} differ at ${difference}\n  ${path} ${JSON.stringify(headers)}`,
      );
  }
}

interface Question {
  readonly server: Server;
  readonly scenario: Scenario;
  readonly ask: Ask;
}

async function bodyOf(connection: Connection, { server, scenario, ask }: Question): Promise<unknown> {
  const { status, body } = await connection.send(withFreshKey(server.request(scenario, ask)));
  const text = body.toString("utf8");
  if (status !== 200)
    throw new Error(`${server.name} answers ${status} to ${ask.path}: ${text.slice(0, 500)}`);
  return server.unwrap(scenario, JSON.parse(text));
}

/** Undefined when there is none; the order of an object's keys says nothing. */
function differenceOf(a: unknown, b: unknown, path: string): string | undefined {
  if (Object.is(a, b) || (path.endsWith("/score") && isClose(a, b))) return undefined;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b))
    return `${path}: ${shown(a)} and ${shown(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const difference = differenceOf(a[key], b[key], `${path}/${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const isClose = (a: unknown, b: unknown): boolean =>
  typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= scoreTolerance;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const shown = (value: unknown): string =>
  value === undefined ? "nothing" : JSON.stringify(value).slice(0, 200);
