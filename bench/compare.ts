/**
 * Checks that all servers answer the requests of a scenario with equal bodies. Runs before the scenario is
 * measured, because a comparison of servers with different answers would be unfair.
 */
import { type Connection, openConnection } from "./connection.ts";
import { withNewIdempotencyKey } from "./idempotency-keys.ts";
import type { BenchRequest, WriteEffect, Scenario } from "./scenario.ts";
import type { BenchServer } from "./servers.ts";

interface Running {
  readonly server: BenchServer;
  readonly port: number;
}

/**
 * The maximum difference of two scores. Scores are floating-point numbers, and servers may add their parts in
 * different orders. All other values must be equal, because all servers use the same database and public
 * URL.
 */
const scoreTolerance = 1e-6;

export async function requireEqualBodies(scenario: Scenario, running: readonly Running[]): Promise<number> {
  const connections = await Promise.all(
    running.map(async ({ server, port }) => ({ server, connection: await openConnection(port) })),
  );
  try {
    if (scenario.effect === null)
      for (const request of scenario.requests) await compareAnswers(scenario, request, connections);
    else await compareEffects(scenario, scenario.effect, connections);
  } finally {
    for (const { connection } of connections) connection.close();
  }
  return scenario.requests.length;
}

interface Connected {
  readonly server: BenchServer;
  readonly connection: Connection;
}

async function compareAnswers(
  scenario: Scenario,
  request: BenchRequest,
  connections: readonly Connected[],
): Promise<void> {
  const answers = await Promise.all(
    connections.map(async ({ server, connection }) => ({
      name: server.name,
      body: await requestBody(connection, { server, scenario, request }),
    })),
  );
  requireEqual(answers, request);
  requireFairAnswer(scenario, request, answers[0]?.body);
}

/**
 * Compares changes, one cart after another. Each server in turn makes all changes of a cart, so that all
 * servers start from the same state. The version must increase by one with each change, which shows that no
 * change was left out.
 */
async function compareEffects(
  scenario: Scenario,
  effect: WriteEffect,
  connections: readonly Connected[],
): Promise<void> {
  const [first] = connections;
  if (first === undefined) return;
  for (const requests of Map.groupBy(scenario.requests, ({ path }) => path).values()) {
    // The answers of the first run are not compared, because they depend on the earlier state of the cart.
    await sendAllChanges(first, { scenario, effect, requests });
    const byServer: { readonly name: string; readonly bodies: readonly unknown[] }[] = [];
    for (const each of connections)
      byServer.push({
        name: each.server.name,
        bodies: await sendAllChanges(each, { scenario, effect, requests }),
      });
    for (const [index, request] of requests.entries())
      requireEqual(
        byServer.map(({ name, bodies }) => ({ name, body: bodies[index] })),
        request,
      );
  }
}

interface ChangeSequence {
  readonly scenario: Scenario;
  readonly effect: WriteEffect;
  readonly requests: readonly BenchRequest[];
}

/** Sends all changes and returns the answers without their versions. */
async function sendAllChanges(
  { server, connection }: Connected,
  { scenario, effect, requests }: ChangeSequence,
): Promise<unknown[]> {
  const bodies: unknown[] = [];
  let version: number | undefined;
  for (const request of requests) {
    const body = await requestBody(connection, { server, scenario, request });
    requireFairAnswer(scenario, request, body);
    const next = effect.versionOf(body);
    if (version !== undefined && next !== version + 1)
      throw new Error(`${request.path}: ${server.name} went from version ${version} to ${next}.`);
    version = next;
    bodies.push(effect.withoutVersion(body));
  }
  return bodies;
}

function requireFairAnswer({ fault }: Scenario, { path }: BenchRequest, body: unknown): void {
  const found = fault(body);
  if (found !== undefined) throw new Error(`${path}: ${found}.`);
}

interface NamedBody {
  readonly name: string;
  readonly body: unknown;
}

function requireEqual([first, ...others]: readonly NamedBody[], { path, headers }: BenchRequest): void {
  for (const { name, body } of others) {
    const difference = findDifference(body, first?.body, "");
    if (difference !== undefined)
      throw new Error(
        `${name} and ${first?.name} differ at ${difference}\n  ${path} ${JSON.stringify(headers)}`,
      );
  }
}

interface BodyRequest {
  readonly server: BenchServer;
  readonly scenario: Scenario;
  readonly request: BenchRequest;
}

async function requestBody(
  connection: Connection,
  { server, scenario, request }: BodyRequest,
): Promise<unknown> {
  const { status, body } = await connection.send(withNewIdempotencyKey(server.request(scenario, request)));
  const text = body.toString("utf8");
  if (status !== 200)
    throw new Error(`${server.name} answers ${status} to ${request.path}: ${text.slice(0, 500)}`);
  return server.unwrap(scenario, JSON.parse(text));
}

/** Returns the first difference of two values; undefined if they are equal. The order of keys is ignored. */
function findDifference(a: unknown, b: unknown, path: string): string | undefined {
  if (Object.is(a, b) || (path.endsWith("/score") && isClose(a, b))) return undefined;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b))
    return `${path}: ${formatValue(a)} and ${formatValue(b)}`;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    const difference = findDifference(a[key], b[key], `${path}/${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const isClose = (a: unknown, b: unknown): boolean =>
  typeof a === "number" && typeof b === "number" && Math.abs(a - b) <= scoreTolerance;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const formatValue = (value: unknown): string =>
  value === undefined ? "nothing" : JSON.stringify(value).slice(0, 200);
