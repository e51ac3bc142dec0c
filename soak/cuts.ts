/**
 * Guarantee 4. Clients write while connections to the database are cut at a commit: before PostgreSQL
 * receives the commit, or before its answer returns. In between, PostgreSQL itself is killed. The service may
 * answer only 503 then, and the same request sent again must return the true result.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type CuttingProxy, startCuttingProxy } from "#test/database/cutting-proxy.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import type { Report } from "./report.ts";
import { type Service, startService } from "./service.ts";
import { type Ask, type HttpRequest, readAnswer } from "./shop.ts";

export interface CutsPlan extends Pick<CrashPlan, "isOver" | "onStep"> {
  /** The URL of PostgreSQL, without the proxy. */
  readonly databaseUrl: string;
  /** The service's data folder, if its demo is already seeded. */
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
    const unavailable: UnavailableCounts = {
      away: 0,
      "503, and done": 0,
      "503, and not done": 0,
      "slowest 503 ms": 0,
    };
    const violations: string[] = [];
    let [faults, crashes] = [0, 0];
    /** Takes the place of the kill in `runCrash`: cuts a connection, or kills PostgreSQL. */
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
      start: () => untilReady(service),
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

/** Milliseconds to wait for an expected event: much longer than it takes on any machine. */
const waitMsMax = 60_000;

interface Cutting {
  readonly cut: "commit" | "answer";
  readonly service: Service;
  readonly violations: string[];
}

/** Cuts the next connection that commits. Commits are frequent, because clients write all the time. */
async function cutOne(proxy: CuttingProxy, { cut, service, violations }: Cutting): Promise<void> {
  const [before, until] = [proxy.cuts(), performance.now() + waitMsMax];
  proxy.cutNext(cut);
  while (proxy.cuts() === before && service.faults.length === 0) {
    if (performance.now() > until)
      return void violations.push(`Nothing was committed within ${waitMsMax / 1000} s.`);
    await sleep(pollMs);
  }
}

/** Kills one process of PostgreSQL. The server then ends all its other processes and recovers from its files. */
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
async function untilReady({ ask, faults }: Service): Promise<void> {
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

interface UnavailableCounts {
  away: number;
  /** Results of requests that were repeated after a 503: the first commit had succeeded, or had not. */
  "503, and done": number;
  "503, and not done": number;
  "slowest 503 ms": number;
}

function countUnavailable(ask: Ask, unavailable: UnavailableCounts): Ask {
  const repeatable = new Set<HttpRequest>();
  return async (request) => {
    const startedAt = performance.now();
    const answered = await ask(request);
    const { code, isReplay } = readAnswer(answered);
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
