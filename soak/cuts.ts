/**
 * Figure 4. Clients write while their database's connections are cut at a commit – before PostgreSQL has it,
 * or before its answer is back – and while PostgreSQL itself is killed in between. Nobody is told more than
 * 503, and the same request sent again settles what became of it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { type CuttingProxy, startCuttingProxy } from "#test/database/cutting-proxy.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import type { Report } from "./report.ts";
import { type Service, startService } from "./service.ts";
import { type Ask, type HttpRequest, readAnswer } from "./shop.ts";

export interface CutsPlan extends Pick<CrashPlan, "isOver" | "onStep"> {
  /** PostgreSQL itself. */
  readonly databaseUrl: string;
  /** Where the service's demo is, if it has one already. */
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly clients: number;
  readonly keysPerCut: number;
  /** Each so many-th fault kills PostgreSQL; Infinity: none does. */
  readonly crashEvery: number;
}

export async function runCuts({
  databaseUrl,
  clients,
  keysPerCut,
  crashEvery,
  isOver,
  onStep,
  ...place
}: CutsPlan): Promise<Report> {
  const proxy = await startCuttingProxy(Number(new URL(databaseUrl).port));
  try {
    await using service = await startService({ ...place, databaseUrl: proxiedUrl(databaseUrl, proxy) });
    const seen: UnavailableCounts = {
      away: 0,
      "503, and done": 0,
      "503, and not done": 0,
      "slowest 503 ms": 0,
    };
    const violations: string[] = [];
    let [faults, crashes] = [0, 0];
    /** A crash takes the place of runCrash's kill of the service: what it does around it is the same. */
    const harm = async (): Promise<void> => {
      faults += 1;
      if (faults % crashEvery !== 0)
        return cutOne(proxy, { cut: faults % 2 === 0 ? "commit" : "answer", service, violations });
      await crash(databaseUrl);
      crashes += 1;
    };
    const killed = {
      ...service,
      ask: countUnavailable(service.ask, seen),
      kill: harm,
      start: () => untilReady(service),
    };
    const plan = { clients, keysPerKill: keysPerCut, isOver, ...(onStep === undefined ? {} : { onStep }) };
    const report = await runCrash(killed, plan);
    const { kills = 0, keys = 0, replays = 0 } = report.counts;
    const counts = { faults: kills, cuts: proxy.cuts(), crashes, keys, replays, ...seen };
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

const lookMs = 2;

/** Far longer than it takes on any machine. */
const patienceMs = 60_000;

interface Cutting {
  readonly cut: "commit" | "answer";
  readonly service: Service;
  readonly violations: string[];
}

/** Somebody commits before long: clients write, and the service notes what it has done. */
async function cutOne(proxy: CuttingProxy, { cut, service, violations }: Cutting): Promise<void> {
  const [before, until] = [proxy.cuts(), performance.now() + patienceMs];
  proxy.cutNext(cut);
  while (proxy.cuts() === before && service.faults.length === 0) {
    if (performance.now() > until)
      return void violations.push(`Nothing was committed within ${patienceMs / 1000} s.`);
    await sleep(lookMs);
  }
}

/**
 * One of PostgreSQL's processes is killed, upon which it ends all others at once and recovers from what it
 * has on disk.
 */
async function crash(databaseUrl: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  const ended = new Promise<void>((done) => client.once("end", () => done()));
  const [row] = rows;
  if (row === undefined) throw new Error("A statement of one row gave none.");
  process.kill(row.pid, "SIGKILL");
  await ended;
}

/** Of itself: it is not started again. */
async function untilReady({ ask, faults }: Service): Promise<void> {
  for (const until = performance.now() + patienceMs; faults.length === 0;) {
    const answered = await ask({ method: "GET", url: "/readyz", headers: {}, body: undefined }).catch(
      () => undefined,
    );
    if (answered?.status === 200) return;
    if (performance.now() > until)
      throw new Error(`The service was not ready again within ${patienceMs / 1000} s.`);
    await sleep(20);
  }
}

interface UnavailableCounts {
  away: number;
  /** Told when it was asked again: the commit was done, or was not. */
  "503, and done": number;
  "503, and not done": number;
  "slowest 503 ms": number;
}

function countUnavailable(ask: Ask, seen: UnavailableCounts): Ask {
  const away = new Set<HttpRequest>();
  return async (asked) => {
    const startedAt = performance.now();
    const answered = await ask(asked);
    const { code, isReplay } = readAnswer(answered);
    if (code === "service_unavailable") {
      away.add(asked);
      seen.away += 1;
      seen["slowest 503 ms"] = Math.max(seen["slowest 503 ms"], Math.round(performance.now() - startedAt));
    } else if (code !== "idempotency_in_progress" && away.delete(asked))
      seen[isReplay ? "503, and done" : "503, and not done"] += 1;
    return answered;
  };
}
