/**
 * Tests guarantee 15: the service refuses each hostile GraphQL document within 20 ms. A document is sent ten
 * times, each time with a different comment. The counted time is the smaller of two times: the client's
 * waiting time, which includes work of other processes, and the service's CPU time, which includes other work
 * of the service.
 */
import { type HostileDocument, hostileDocuments } from "#test/attacks/hostile-documents.ts";
import type { Report } from "./report.ts";
import type { Service } from "./service.ts";
import type { HttpAnswer } from "./shop.ts";

const refusedMsMax = 20;

const sendings = 10;
const warmUps = 3;
const repetitions = 3;
const idleReadings = 15;
const shown = 10;

interface HostilePlan {
  readonly isOver: () => boolean;
  readonly onStep: (text: string) => void;
}

interface Measured {
  readonly name: string;
  readonly ms: number;
  readonly cpuMs: number;
  /** The median of the client's waiting times in milliseconds. */
  readonly clientMs: number;
  readonly fault: string | undefined;
}

export async function runHostileDocuments(
  service: Pick<Service, "ask" | "access" | "engine">,
  { isOver, onStep }: HostilePlan,
): Promise<Report> {
  const documents = [...hostileDocuments.values()].flat();
  for (let round = 0; round < warmUps; round += 1)
    for (const document of documents) await send(service, document, `warm ${round}`);
  const readingMs = await costOfReading(service);
  const slowest = new Map<string, Measured>();
  let rounds = 0;
  do {
    for (const document of documents) {
      const measured = await measureRepeatedly(service, document, { round: rounds, readingMs });
      slowest.set(document.name, worse(measured, slowest.get(document.name)));
    }
    rounds += 1;
  } while (!isOver());
  const measured = [...slowest.values()];
  const bySlowness = measured.toSorted((one, other) => other.ms - one.ms);
  for (const { name, cpuMs, clientMs } of bySlowness.slice(0, shown))
    onStep(`${service.engine}: ${cpuMs.toFixed(1)} ms of work, ${clientMs.toFixed(1)} at a client: ${name}`);
  return {
    figure: "hostile-documents",
    engine: service.engine,
    counts: {
      documents: documents.length,
      kinds: hostileDocuments.size,
      rounds,
      "median ms of work": tenths(median(measured.map(({ cpuMs }) => cpuMs))),
      "slowest ms": tenths(bySlowness[0]?.ms ?? 0),
      "median ms at a client": tenths(median(measured.map(({ clientMs }) => clientMs))),
    },
    violations: bySlowness.flatMap(faultsOf),
  };
}

/** Combines two rounds of a document: returns the slower round, and the fault of any round. */
function worse(now: Measured, before: Measured | undefined): Measured {
  if (before === undefined) return now;
  const slower = now.ms > before.ms ? now : before;
  return { ...slower, fault: before.fault ?? now.fault };
}

function faultsOf({ name, ms, fault }: Measured): string[] {
  const slow = ms > refusedMsMax ? [`${name} took ${ms.toFixed(1)} ms.`] : [];
  return fault === undefined ? slow : [...slow, `${name}: ${fault}`];
}

interface Measuring {
  readonly round: number;
  readonly readingMs: number;
}

/** Measures a slow document again, because other work of the machine may have slowed it down. */
async function measureRepeatedly(
  service: Pick<Service, "ask" | "access">,
  document: HostileDocument,
  measuring: Measuring,
): Promise<Measured> {
  let quickest = await measure(service, document, measuring);
  for (let again = 1; again <= repetitions && quickest.ms > refusedMsMax; again += 1) {
    const next = await measure(service, document, { ...measuring, round: measuring.round + again / 10 });
    const fault = quickest.fault ?? next.fault;
    quickest = { ...(next.ms < quickest.ms ? next : quickest), fault };
  }
  return quickest;
}

async function measure(
  service: Pick<Service, "ask" | "access">,
  document: HostileDocument,
  { round, readingMs }: Measuring,
): Promise<Measured> {
  const took: number[] = [];
  let fault: string | undefined;
  const before = await readCpuMs(service);
  for (let sending = 0; sending < sendings; sending += 1) {
    const began = performance.now();
    const answered = await send(service, document, `${round} ${sending}`);
    took.push(performance.now() - began);
    if (!isRefused(answered)) fault = `the answer was ${answered.status}: ${answered.text.slice(0, 200)}`;
  }
  const cpuMs = Math.max(0, (await readCpuMs(service)) - before - readingMs) / sendings;
  const clientMs = median(took);
  return { name: document.name, ms: Math.min(cpuMs, clientMs), cpuMs, clientMs, fault };
}

/** Returns whether the service refused the document, with status 400 and an error code. */
function isRefused({ status, text }: HttpAnswer): boolean {
  if (status !== 400) return false;
  const { errors } = JSON.parse(text) as {
    readonly errors?: readonly { readonly extensions?: { readonly code?: string } }[];
  };
  return errors?.[0]?.extensions?.code !== undefined;
}

/** Reads the service's CPU time since its start, in milliseconds, from its metrics. */
async function readCpuMs({ ask }: Pick<Service, "ask">): Promise<number> {
  const { text } = await ask({ method: "GET", url: "/metrics", headers: {}, body: undefined });
  const seconds = /^process_cpu_seconds_total(?:\{[^}]*\})? (\S+)/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error("The metrics lack process_cpu_seconds_total.");
  return Number(seconds) * 1000;
}

async function costOfReading(service: Pick<Service, "ask">): Promise<number> {
  const costs: number[] = [];
  let last = await readCpuMs(service);
  for (let reading = 0; reading < idleReadings; reading += 1) {
    const now = await readCpuMs(service);
    costs.push(now - last);
    last = now;
  }
  return median(costs);
}

function send(
  { ask, access }: Pick<Service, "ask" | "access">,
  { body, headers }: HostileDocument,
  salt: string,
): Promise<HttpAnswer> {
  const own = {
    "content-type": "application/json",
    authorization: `Bearer ${access.tokens.storefront}`,
    ...headers,
  };
  return ask({ method: "POST", url: "/graphql", headers: own, body: salted(body, salt) });
}

/** Adds a comment to the document, because Yoga caches refused documents by their texts. */
const salted = (body: string, salt: string): string => body.replace(/^\{"query":"/, `{"query":"# ${salt}\\n`);

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
const tenths = (value: number): number => Math.round(value * 10) / 10;
