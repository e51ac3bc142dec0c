/**
 * Tests the second part of guarantee 16. Clients read and write over reused and new connections, while the
 * test reads the service's resident memory and open file descriptors from Linux's /proc. The results are the
 * growth of both. Descriptors are counted while no client is connected: after the first turn of all clients,
 * when the service has opened its permanent descriptors, and at the end.
 */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { withRetries } from "./checkout-crash.ts";
import type { Report } from "./report.ts";
import { createHttpSender, type Service } from "./service.ts";
import {
  createAddressWrite,
  type SendRequest,
  openCart,
  openShop,
  type Shop,
  createStockWrite,
} from "./shop.ts";

export interface MemoryPlan {
  readonly clients: number;
  readonly isOver: () => boolean;
  readonly onStep?: (text: string) => void;
}

interface Sample {
  readonly minute: number;
  readonly megabytes: number;
  readonly descriptors: number;
}

const sampleMs = 1_000;
const stepEvery = 60;
/** The share of the time that is ignored for the slope, because caches fill and code is compiled. */
const settlingShare = 1 / 3;
/** Milliseconds within which the service closes the connections of disconnected clients. */
const restMs = 2_000;

export async function runMemory(service: Service, { clients, isOver, onStep }: MemoryPlan): Promise<Report> {
  const load: Load = { clients, requests: 0, violations: [], isEnding: false };
  await putUnderLoad(service, load, 1);
  const before = await descriptorsAtRest(service);
  load.requests = 0;
  const running = putUnderLoad(service, load, Infinity);
  const samples = await watch(service, {
    isOver,
    onStep: (text) => onStep?.(`${service.engine}: ${text}, ${load.requests} requests`),
  });
  load.isEnding = true;
  await running;
  const settled = samples.filter(({ minute }) => minute >= (samples.at(-1)?.minute ?? 0) * settlingShare);
  const sizes = settled.map(({ megabytes }) => megabytes);
  const minutes = samples.at(-1)?.minute ?? 0;
  return {
    figure: "memory",
    engine: service.engine,
    counts: {
      requests: load.requests,
      "minutes of load": rounded(minutes),
      "MB at first": rounded(samples[0]?.megabytes ?? 0),
      "MB at least, settled": rounded(Math.min(...sizes)),
      "MB at most, settled": rounded(Math.max(...sizes)),
      "MB a minute": rounded(slopeOf(settled)),
      "descriptors at most": Math.max(...samples.map(({ descriptors }) => descriptors)),
      "descriptors more": Math.max(0, (await descriptorsAtRest(service)) - before),
    },
    violations: [...load.violations, ...service.faults],
  };
}

const rounded = (value: number): number => Math.round(10 * value) / 10;

async function watch(
  service: Service,
  { isOver, onStep }: { isOver: () => boolean; onStep: (text: string) => void },
): Promise<Sample[]> {
  const startedAt = performance.now();
  const samples: Sample[] = [];
  while (!isOver() && service.faults.length === 0) {
    const seen = readSample(service);
    if (seen === undefined) break;
    const sample = { minute: (performance.now() - startedAt) / 60_000, ...seen };
    samples.push(sample);
    if (samples.length % stepEvery === 0)
      onStep(
        `minute ${sample.minute.toFixed(0)}: ${sample.megabytes.toFixed(0)} MB, ${sample.descriptors} descriptors`,
      );
    await sleep(sampleMs);
  }
  return samples;
}

interface Load {
  readonly clients: number;
  requests: number;
  readonly violations: string[];
  isEnding: boolean;
}

/** Runs the clients until they have ended their turns, and then disconnects them. */
async function putUnderLoad(service: Service, load: Load, turnsMax: number): Promise<void> {
  const kept = new Agent({ keepAlive: true });
  const ask = createRetryingSender(service, kept);
  const client = {
    ask,
    askOverNewConnection: createRetryingSender(service, new Agent({ keepAlive: false })),
    shop: await openShop(ask, service.access),
  };
  const runClient = async (index: number): Promise<void> => {
    for (let turn = index; turn < index + turnsMax && !load.isEnding; turn += 1) {
      await sendTurn(client, turn);
      load.requests += 7;
    }
  };
  const reportFailure = (error: unknown): void =>
    void load.violations.push(`A client gave up: ${String(error)}`);
  await Promise.all(
    Array.from({ length: load.clients }, (_, index) => runClient(index).catch(reportFailure)),
  );
  kept.destroy();
}

const createRetryingSender = ({ port, faults }: Service, agent: Agent): SendRequest =>
  withRetries(createHttpSender(port, undefined, agent), { faults });

interface Client {
  readonly ask: SendRequest;
  readonly askOverNewConnection: SendRequest;
  readonly shop: Shop;
}

/** Sends the requests of one turn: creates, changes and reads a cart, changes stock, and reads other data. */
async function sendTurn({ ask, askOverNewConnection, shop }: Client, turn: number): Promise<void> {
  const authorization = `Bearer ${shop.access.keys.full}`;
  const read = (url: string, by = ask): ReturnType<SendRequest> =>
    by({ method: "GET", url, headers: { authorization }, body: undefined });
  const { id } = await openCart(ask, shop);
  await ask(createAddressWrite(shop, id).request);
  await read(`/api/v1/open/storefront/carts/${id}`);
  await ask(createStockWrite(shop, shop.variantIds[turn % shop.variantIds.length] ?? "").request);
  await read("/api/v1/open/identity");
  await read(`/api/v1/open/storefront/carts/cart_${turn}`);
  await read("/api/v1/search?q=&locale=en&market=DE&sort=relevance&page=1&pageSize=20", askOverNewConnection);
}

/** Reads memory and descriptors; returns undefined if the process has ended. */
function readSample(service: Service): Omit<Sample, "minute"> | undefined {
  const pid = service.pid();
  try {
    const kilobytes = Number(
      /^VmRSS:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0,
    );
    return {
      megabytes: kilobytes / 1024,
      descriptors: readdirSync(`/proc/${pid}/fd`).filter(
        (fd) => !isLinkInto(service.folder, `/proc/${pid}/fd/${fd}`),
      ).length,
    };
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a descriptor is a file of the embedded database. These files are not counted, because the
 * database limits their number.
 */
function isLinkInto(folder: string, link: string): boolean {
  try {
    return readlinkSync(link).startsWith(folder);
  } catch {
    // The descriptor was closed after it was listed.
    return true;
  }
}

/** Counts the descriptors while no client is connected, except for the connection of the readiness check. */
async function descriptorsAtRest(service: Service): Promise<number> {
  await sleep(restMs);
  await service.ask({ method: "GET", url: "/healthz", headers: {}, body: undefined }).catch(() => undefined);
  return readSample(service)?.descriptors ?? 0;
}

/** Returns the slope of the memory in megabytes per minute, by least squares. */
function slopeOf(samples: readonly Sample[]): number {
  const [middle, level] = [
    mean(samples.map(({ minute }) => minute)),
    mean(samples.map(({ megabytes }) => megabytes)),
  ];
  const spread = samples.reduce((sum, { minute }) => sum + (minute - middle) ** 2, 0);
  return (
    samples.reduce((sum, { minute, megabytes }) => sum + (minute - middle) * (megabytes - level), 0) / spread
  );
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
