/**
 * Tests guarantee 4. Clients write while a proxy cuts connections to the database at a commit: before
 * PostgreSQL receives the commit, or before the service receives the result. In between, PostgreSQL itself is
 * killed. The service may then fail only with status 503, and the repeated request must return the true
 * result.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type CuttingProxy, startCuttingProxy } from "#test/database/cutting-proxy.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import type { Report } from "./report.ts";
import { type Service, startService } from "./service.ts";
import { type SendRequest, type HttpRequest, parseAnswer } from "./shop.ts";

export interface CutsPlan extends Pick<CrashPlan, "isOver" | "onStep"> {
  /** The URL of PostgreSQL, without the proxy. */
  readonly databaseUrl: string;
  /** The data folder of the service; left out if the demo is not seeded yet. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clients: number;
  readonly keysPerCut: number;
  /** Every n-th fault kills PostgreSQL; Infinity for no kills. */
  readonly crashEvery: number;
}

export async function runCuts({
  databaseUrl,
  clients,
  keysPerCut,
  crashEvery,
  isOver,
  onStep,
  ...serviceOptions
}: CutsPlan): Promise<Report> {
  const proxy = await startCuttingProxy(Number(new URL(databaseUrl).port));
  try {
    await using service = await startService({
      ...serviceOptions,
      databaseUrl: proxiedUrl(databaseUrl, proxy),
    });
    const unavailable: UnavailableCounts = { ...noUnavailable };
    const violations: string[] = [];
    let [faults, crashes] = [0, 0];
    /** Cuts a connection or kills PostgreSQL. `runCrash` calls this function instead of a kill. */
    const injectFault = async (): Promise<void> => {
      faults += 1;
      if (faults % crashEvery !== 0)
        return cutOne(proxy, { cut: faults % 2 === 0 ? "commit" : "answer", service, violations });
      await crash(databaseUrl);
      crashes += 1;
    };
    const killed = {
      ...service,
      ask: countUnavailable(service.ask, unavailable),
      kill: injectFault,
      start: () => waitUntilReady(service),
    };
    const plan = { clients, keysPerKill: keysPerCut, isOver, ...(onStep === undefined ? {} : { onStep }) };
    const report = await runCrash(killed, plan);
    const { kills = 0, keys = 0, replays = 0 } = report.counts;
    const counts = { faults: kills, cuts: proxy.cuts(), crashes, keys, replays, ...unavailable };
    return { ...report, figure: "cuts", counts, violations: [...violations, ...report.violations] };
  } finally {
    await proxy.stop();
  }
}

function proxiedUrl(databaseUrl: string, { port }: CuttingProxy): string {
  const url = new URL(databaseUrl);
  url.port = String(port);
  return url.href;
}

const pollMs = 2;

/** The maximum number of milliseconds to wait for an expected event. */
const waitMsMax = 60_000;

interface Cutting {
  readonly cut: "commit" | "answer";
  readonly service: Service;
  readonly violations: string[];
}

/** Cuts the next connection that commits, and waits for this commit. */
async function cutOne(proxy: CuttingProxy, { cut, service, violations }: Cutting): Promise<void> {
  const [before, until] = [proxy.cuts(), performance.now() + waitMsMax];
  proxy.cutNext(cut);
  while (proxy.cuts() === before && service.faults.length === 0) {
    if (performance.now() > until)
      return void violations.push(`Nothing was committed within ${waitMsMax / 1000} s.`);
    await sleep(pollMs);
  }
}

/** Kills one process of PostgreSQL. PostgreSQL then ends all its other processes and recovers. */
async function crash(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const ended = new Promise<void>((done) => client.once("end", () => done()));
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL returned no process id.");
  process.kill(row.pid, "SIGKILL");
  await ended;
}

/** Waits until the service, which is not restarted, is ready again. */
async function waitUntilReady({ ask, faults }: Service): Promise<void> {
  for (const until = performance.now() + waitMsMax; faults.length === 0;) {
    const answered = await ask({ method: "GET", url: "/readyz", headers: {}, body: undefined }).catch(
      () => undefined,
    );
    if (answered?.status === 200) return;
    if (performance.now() > until)
      throw new Error(`The service was not ready again within ${waitMsMax / 1000} s.`);
    await sleep(20);
  }
}

export interface UnavailableCounts extends Record<string, number> {
  away: number;
  /**
   * The number of repeated requests whose first commit, answered with 503, had succeeded. The next count is
   * of those whose commit had not.
   */
  "503, and done": number;
  "503, and not done": number;
  "slowest 503 ms": number;
}

export const noUnavailable: Readonly<UnavailableCounts> = {
  away: 0,
  "503, and done": 0,
  "503, and not done": 0,
  "slowest 503 ms": 0,
};

/** Returns a sender that counts the answers 503, and whether their changes were made nevertheless. */
export function countUnavailable(ask: SendRequest, unavailable: UnavailableCounts): SendRequest {
  const repeatable = new Set<HttpRequest>();
  return async (request) => {
    const startedAt = performance.now();
    const answered = await ask(request);
    const { code, isReplay } = parseAnswer(answered);
    if (code === "service_unavailable") {
      repeatable.add(request);
      unavailable.away += 1;
      unavailable["slowest 503 ms"] = Math.max(
        unavailable["slowest 503 ms"],
        Math.round(performance.now() - startedAt),
      );
    } else if (code !== "idempotency_in_progress" && repeatable.delete(request))
      unavailable[isReplay ? "503, and done" : "503, and not done"] += 1;
    return answered;
  };
}
