/** Sends load: as fast as possible for the throughput, or at a fixed rate for the latencies. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Connection, openConnection } from "./connection.ts";

/** Starts the sequence of requests of a load. The returned function returns the next request. */
export type StartRequests = () => () => Buffer;

export interface LoadTarget {
  readonly port: number;
  readonly startRequests: StartRequests;
  readonly connections: number;
  /** Called instead of each hundredth request; left out to send only requests. */
  readonly change?: (() => Promise<void>) | undefined;
}

/** The number of requests of which one is replaced by a change. */
const requestsPerChange = 100;

/** Creates the function that sends the next request, or makes a change instead of each hundredth request. */
function createNextStep({ startRequests, change }: LoadTarget): (connection: Connection) => Promise<void> {
  const next = startRequests();
  let count = 0;
  return (connection) => {
    count += 1;
    return change !== undefined && count % requestsPerChange === 0
      ? change()
      : sendRequest(connection, next());
  };
}

export interface Throughput {
  readonly count: number;
  readonly perSecond: number;
}

/** Sends requests as fast as possible: every connection sends the next request after each answer. */
export async function measureThroughput(target: LoadTarget, seconds: number): Promise<Throughput> {
  const connections = await open(target.port, target.connections);
  const step = createNextStep(target);
  let count = 0;
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const work = async (connection: Connection): Promise<void> => {
    while (performance.now() < until) {
      await step(connection);
      count += 1;
    }
  };
  await Promise.all(connections.map(work)).finally(() => close(connections));
  return { count, perSecond: (count * 1000) / (performance.now() - startedAt) };
}

export interface Latencies {
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * Sends requests at a fixed rate, even if earlier requests are not answered yet. If no connection is free, a
 * request waits; the waiting time is part of its latency.
 */
export async function measureLatencies(
  { port, startRequests, connections: size }: LoadTarget,
  rate: number,
  seconds: number,
): Promise<Latencies> {
  const connections = await open(port, size);
  const next = startRequests();
  const idle = [...connections];
  const queue: { request: Buffer; dueAt: number }[] = [];
  const latencies: number[] = [];
  const running = new Set<Promise<void>>();
  const work = async (connection: Connection): Promise<void> => {
    for (let due = queue.shift(); due !== undefined; due = queue.shift()) {
      await sendRequest(connection, due.request);
      latencies.push(performance.now() - due.dueAt);
    }
    idle.push(connection);
  };
  const total = Math.round(rate * seconds);
  const startedAt = performance.now();
  try {
    for (let sent = 0; sent < total;) {
      const now = performance.now();
      const due = Math.min(total, 1 + Math.floor(((now - startedAt) * rate) / 1000));
      // The latency is counted from the current time, not from the planned time, because a late timer of this
      // process is not a delay of the server.
      for (; sent < due; sent += 1) queue.push({ request: next(), dueAt: now });
      for (const connection of idle.splice(0, queue.length)) {
        const run = work(connection).finally(() => running.delete(run));
        running.add(run);
      }
      await sleep(1);
    }
    await Promise.all(running);
  } finally {
    close(connections);
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

async function sendRequest(connection: Connection, request: Buffer): Promise<void> {
  const { status, body } = await connection.send(request);
  if (status !== 200)
    throw new Error(
      `A request under load was answered with ${status}: ${body.toString("utf8").slice(0, 300)}`,
    );
}

const open = (port: number, size: number): Promise<Connection[]> =>
  Promise.all(Array.from({ length: size }, () => openConnection(port)));

function close(connections: readonly Connection[]): void {
  for (const connection of connections) connection.close();
}

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
