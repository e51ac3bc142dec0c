/**
 * Tests guarantees 8 and 10: the time from the commit of an event to the first byte at the receiver, at a
 * hundred deliveries per second, and the effect of an endpoint that never answers on 99 other endpoints. The
 * times are meaningful only on a machine without other work, so only lost deliveries are violations.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { systemClock } from "#foundation/clock.ts";
import { createDispatchWorld, type DispatchWorld, type Installed } from "#test/webhooks/dispatch-world.ts";
import type { WebhookDispatcher } from "#webhooks/dispatch/dispatcher.ts";
import { createWebhookSender } from "#webhooks/safe-request.ts";
import type { Report } from "./report.ts";
import { toArrivalKey, type Receiver, startReceiver } from "./webhook-receiver.ts";

export interface LatencyPlan {
  /** The URL of PostgreSQL; undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly isOver: () => boolean;
  readonly onStep: (text: string) => void;
}

/** An installation with the URL paths of its endpoints. */
interface Audience extends Installed {
  readonly paths: readonly string[];
}

interface Latency {
  readonly world: DispatchWorld;
  readonly dispatcher: WebhookDispatcher;
  /** The arrival times in milliseconds, by path and event. */
  readonly arrivedAt: ReadonlyMap<string, number>;
  lost: number;
}

const blackHolePath = "/many/0/0";
const deliveriesPerSecond = 100;
const audienceCount = 10;

export async function runWebhookLatency({ databaseUrl, isOver, onStep }: LatencyPlan): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), "commerce-gateway-soak-"));
  const database = await openDatabase(databaseUrl === undefined ? { folder } : { url: databaseUrl });
  const arrivedAt = new Map<string, number>();
  const onArrival = (path: string, eventId: string, atMs: number): void => {
    const arrival = toArrivalKey(path, eventId);
    if (!arrivedAt.has(arrival)) arrivedAt.set(arrival, atMs);
  };
  let isBlackHoleActive = false;
  const receiver = await startReceiver({
    reply: (path) => (isBlackHoleActive && path === blackHolePath ? "nothing" : 204),
    onArrival,
  });
  const sender = createWebhookSender({ isLoopbackAllowed: true });
  try {
    await migrate(database);
    const world = createDispatchWorld(database);
    const dispatcher = world.dispatcher({ clock: systemClock, sender });
    const latency: Latency = { world, dispatcher, arrivedAt, lost: 0 };
    const single = await openAudiences(world, receiver, { prefix: "/single", endpointsEach: 1 });
    const many = await openAudiences(world, receiver, { prefix: "/many", endpointsEach: 10 });
    const figures: Figures = { single: [], without: [], beside: [] };
    dispatcher.start();
    // The first periods warm up the service; their latencies are not counted.
    await runLoadPeriod(latency, single);
    await runLoadPeriod(latency, many);
    do {
      figures.single.push(...(await runLoadPeriod(latency, single)));
      isBlackHoleActive = false;
      figures.without.push(...(await runLoadPeriod(latency, many)));
      isBlackHoleActive = true;
      figures.beside.push(...(await runLoadPeriod(latency, many)));
      onStep(
        `${database.engine}: p99 ${percentile(figures.single, 0.99)} ms; ` +
          `with ten endpoints each ${percentile(figures.without, 0.99)} ms without, ` +
          `${percentile(figures.beside, 0.99)} ms beside an endpoint that never answers`,
      );
    } while (!isOver());
    await receiver[Symbol.asyncDispose]();
    await dispatcher.stop();
    return reportOf(database.engine, figures, latency.lost);
  } finally {
    await sender.close();
    await database.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openAudiences(
  world: DispatchWorld,
  { origin }: Receiver,
  { prefix, endpointsEach }: { readonly prefix: string; readonly endpointsEach: number },
): Promise<Audience[]> {
  const audiences: Audience[] = [];
  for (let index = 0; index < audienceCount; index += 1) {
    const installed = await world.merchant();
    const paths = Array.from({ length: endpointsEach }, (_, endpoint) => `${prefix}/${index}/${endpoint}`);
    for (const path of paths) await world.endpoint(installed, { url: `${origin}${path}`, maxPerSecond: 100 });
    audiences.push({ ...installed, paths });
  }
  return audiences;
}

const periodMs = 5_000;
/** A delivery that is missing this number of milliseconds after the last event counts as lost. */
const arrivalMsMax = 10_000;

interface Written {
  readonly arrivals: readonly string[];
  readonly committedAtMs: number;
}

/**
 * Writes events at a fixed rate, for each installation in turn. Returns the milliseconds from each commit to
 * each arrival, without the endpoint that never answers.
 */
async function runLoadPeriod(latency: Latency, audiences: readonly Audience[]): Promise<number[]> {
  const { arrivedAt } = latency;
  const startedAt = performance.now();
  const writing: Promise<Written>[] = [];
  for (let dueMs = 0; dueMs < periodMs;) {
    const audience = audiences[writing.length % audiences.length];
    if (audience === undefined) break;
    await sleep(Math.max(0, startedAt + dueMs - performance.now()));
    writing.push(write(latency, audience));
    dueMs += (1000 * audience.paths.length) / deliveriesPerSecond;
  }
  const written = await Promise.all(writing);
  const until = performance.now() + arrivalMsMax;
  const hasArrived = (arrival: string): boolean => arrivedAt.has(arrival);
  while (performance.now() < until && !written.every(({ arrivals }) => arrivals.every(hasArrived)))
    await sleep(10);
  latency.lost += written
    .flatMap(({ arrivals }) => arrivals)
    .filter((arrival) => !hasArrived(arrival)).length;
  return written.flatMap(({ arrivals, committedAtMs }) =>
    arrivals.filter(hasArrived).map((arrival) => Math.max(0, (arrivedAt.get(arrival) ?? 0) - committedAtMs)),
  );
}

async function write({ world, dispatcher }: Latency, audience: Audience): Promise<Written> {
  world.clock.at = new Date();
  const eventId = await world.event(audience);
  const committedAtMs = performance.now();
  dispatcher.wake();
  return {
    arrivals: audience.paths
      .filter((path) => path !== blackHolePath)
      .map((path) => toArrivalKey(path, eventId)),
    committedAtMs,
  };
}

interface Figures {
  /** Latencies at a hundred events per second, with one endpoint per installation. */
  readonly single: number[];
  /**
   * Latencies at ten events per second, with ten endpoints per installation: all endpoints answer
   * (`without`), or one endpoint never answers (`beside`).
   */
  readonly without: number[];
  readonly beside: number[];
}

function reportOf(
  engine: OpenedDatabase["engine"],
  { single, without, beside }: Figures,
  lost: number,
): Report {
  return {
    figure: "webhook-latency",
    engine,
    counts: {
      deliveries: single.length + without.length + beside.length,
      "p50 ms": percentile(single, 0.5),
      "p99 ms": percentile(single, 0.99),
      "p99 ms without a black hole": percentile(without, 0.99),
      "p99 ms beside it": percentile(beside, 0.99),
      "p99 ratio": Math.round((100 * percentile(beside, 0.99)) / percentile(without, 0.99)) / 100,
    },
    violations: lost === 0 ? [] : [`${lost} deliveries did not arrive within ${arrivalMsMax / 1000} s.`],
  };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return (
    Math.round(10 * (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN)) /
    10
  );
}
