/**
 * Tests guarantee 21: clients write through two gateways while the primary of a PostgreSQL cluster under
 * Patroni is killed repeatedly. A standby becomes the primary, and the processes of the service continue
 * without a restart. A client that gets 503 repeats the request with the same idempotency key.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "#database/connect.ts";
import { type CrashPlan, runCrash } from "./crash.ts";
import { countUnavailable, noUnavailable, type UnavailableCounts } from "./cuts.ts";
import { type DatabaseCluster, startDatabaseCluster } from "./database-cluster.ts";
import type { DatabaseMember } from "./database-members.ts";
import type { Report } from "./report.ts";
import { type Service, startService } from "./service.ts";
import { type HttpRequest, parseAnswer, type SendRequest } from "./shop.ts";

const killsMax = 20;

interface FailoverOptions {
  /** The maximum number of kills; Infinity for 20. */
  readonly roundsMax: number;
  readonly onStep: (text: string) => void;
}

/** Runs the test on a cluster of its own, with 20 kills. The duration does not depend on `--minutes`. */
export async function runFailoverAtCluster({ roundsMax, onStep }: FailoverOptions): Promise<Report> {
  await using cluster = await startDatabaseCluster();
  const isOver: CrashPlan["isOver"] = ({ kills }) => kills >= Math.min(killsMax, roundsMax);
  return await runFailover(cluster, { clients: 4, keysPerKill: 100, isOver, onStep });
}

async function runFailover(cluster: DatabaseCluster, plan: CrashPlan): Promise<Report> {
  await using stack = new AsyncDisposableStack();
  const processes = await startProcesses(cluster, stack);
  const database = await openDatabase({ url: cluster.url });
  stack.defer(() => database.close());
  const unavailable: UnavailableCounts = { ...noUnavailable };
  const observed = observeWrites(countUnavailable(processes.ask, unavailable));
  const kills = createPrimaryKiller(cluster, { observed, onStep: plan.onStep });
  const report = await runCrash(
    {
      engine: "postgres",
      ask: observed.ask,
      access: processes.access,
      get faults() {
        return [...kills.violations, ...processes.faults()];
      },
      kill: kills.kill,
      start: kills.waitForRecovery,
      inspect: (work) => work(database),
    },
    plan,
  );
  const waiting = processes.faults().length > 0 ? 0 : await waitForWorker(database.db);
  const { kills: killed = 0, ...counts } = report.counts;
  return {
    ...report,
    figure: "failover",
    counts: {
      "killed primaries": killed,
      "of them with Patroni": kills.killedPatronis(),
      ...counts,
      ...unavailable,
      ...summarize(kills.recoveries),
    },
    violations: [
      ...report.violations,
      ...(waiting === 0 ? [] : [`The worker left ${waiting} events without a position in the event feed.`]),
    ],
  };
}

interface Processes {
  readonly access: Service["access"];
  /** Sends a request to one of the two gateways, in turn. A repeated request goes to the other gateway. */
  readonly ask: SendRequest;
  readonly faults: () => readonly string[];
}

/** Starts two gateways and a worker. A process that ends afterwards fills the database with the demo shop. */
async function startProcesses(
  { url, standbysUrl }: DatabaseCluster,
  stack: AsyncDisposableStack,
): Promise<Processes> {
  const seeder = stack.use(await startService({ databaseUrl: url }));
  await seeder.kill();
  const { folder, access } = seeder;
  const environment = { DEMO: "0", DATABASE_READ_URL: standbysUrl };
  const start = async (command: "gateway" | "worker"): Promise<Service> => {
    const options = { command, databaseUrl: url, folder, environment };
    // On a busy machine, a start can exceed its time limit for connecting. A supervisor would start it again.
    return stack.use(await startService(options).catch(() => startService(options)));
  };
  const [first, second, worker] = [await start("gateway"), await start("gateway"), await start("worker")];
  let turn = 0;
  return {
    access,
    ask: (request) => {
      turn += 1;
      return (turn % 2 === 0 ? first : second).ask(request);
    },
    faults: () => [first, second, worker].flatMap(({ faults }) => faults),
  };
}

interface ObservedWrites {
  readonly ask: SendRequest;
  /**
   * Returns the time of the first change that was requested and made after this time, in milliseconds of
   * `performance.now`; undefined if there is none yet. Replayed answers do not count.
   */
  readonly firstChangeAfter: (timeMs: number) => number | undefined;
}

/** Observes all requests. Reads are not observed, because all requests of the clients are writes. */
function observeWrites(ask: SendRequest): ObservedWrites {
  let observedFromMs = Number.POSITIVE_INFINITY;
  let changedAtMs: number | undefined;
  const askAndObserve = async (request: HttpRequest): ReturnType<SendRequest> => {
    const sentAtMs = performance.now();
    const answer = await ask(request);
    const { status, code, isReplay } = parseAnswer(answer);
    if (status === 200 && code === undefined && !isReplay && sentAtMs >= observedFromMs)
      changedAtMs ??= performance.now();
    return answer;
  };
  return {
    ask: askAndObserve,
    firstChangeAfter: (timeMs) => {
      if (timeMs !== observedFromMs) [observedFromMs, changedAtMs] = [timeMs, undefined];
      return changedAtMs;
    },
  };
}

interface KillerParts {
  readonly observed: ObservedWrites;
  readonly onStep: CrashPlan["onStep"];
}

interface PrimaryKiller {
  /** Kills PostgreSQL of the primary; every second time, also Patroni. */
  readonly kill: () => Promise<void>;
  /**
   * Waits until the service makes changes again, then starts a killed Patroni again and waits until the
   * cluster has two standbys.
   */
  readonly waitForRecovery: () => Promise<void>;
  /** The milliseconds from each kill to the first change after it. */
  readonly recoveries: readonly number[];
  readonly killedPatronis: () => number;
  readonly violations: readonly string[];
}

/** The maximum number of milliseconds to wait for an expected event, which is a violation afterwards. */
const waitMsMax = 180_000;

function createPrimaryKiller(cluster: DatabaseCluster, { observed, onStep }: KillerParts): PrimaryKiller {
  const violations: string[] = [];
  const recoveries: number[] = [];
  let [kills, killedPatronis] = [0, 0];
  /** The member that was killed last, with the times before the kill and when PostgreSQL had ended. */
  let killed:
    | { readonly member: DatabaseMember; readonly atMs: number; readonly endedAtMs: number }
    | undefined;
  const waitFor = async (what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> => {
    for (const until = performance.now() + waitMsMax; !(await isTrue()); await sleep(pollMs))
      if (performance.now() > until) {
        violations.push(`${what} within ${waitMsMax / 1000} s.`);
        return;
      }
  };
  const kill = async (): Promise<void> => {
    const member = await cluster.findPrimary();
    if (member === undefined) return void violations.push("HAProxy leads to no member of the cluster.");
    kills += 1;
    const isPatroniKilled = kills % 2 === 0;
    if (isPatroniKilled) killedPatronis += 1;
    const atMs = performance.now();
    await member.kill({ patroni: isPatroniKilled });
    const endedAtMs = performance.now();
    killed = { member, atMs, endedAtMs };
    observed.firstChangeAfter(endedAtMs);
  };
  const waitForRecovery = async (): Promise<void> => {
    if (killed === undefined) return;
    const { member, atMs, endedAtMs } = killed;
    await waitFor("The service made no change", () => observed.firstChangeAfter(endedAtMs) !== undefined);
    const changedAtMs = observed.firstChangeAfter(endedAtMs);
    if (changedAtMs === undefined) return;
    recoveries.push(changedAtMs - atMs);
    member.start();
    await waitFor(`${member.name} did not become a standby again`, () => cluster.isWhole());
    const [changedS, wholeS] = [changedAtMs, performance.now()].map((end) =>
      ((end - atMs) / 1000).toFixed(1),
    );
    onStep?.(`postgres: ${member.name} killed, a change after ${changedS} s, two standbys after ${wholeS} s`);
  };
  return { kill, waitForRecovery, recoveries, killedPatronis: () => killedPatronis, violations };
}

const pollMs = 50;

/** Returns the median and the maximum of the durations in seconds. */
function summarize(durationsMs: readonly number[]): Record<string, number> {
  const sorted = durationsMs.toSorted((one, other) => one - other);
  const seconds = (index: number): number => Math.round((sorted[index] ?? 0) / 100) / 10;
  return {
    "median recovery s": seconds(Math.floor((sorted.length - 1) / 2)),
    "slowest recovery s": seconds(sorted.length - 1),
  };
}

/** Waits until the worker has given each event a position. Returns the number of events that it left. */
async function waitForWorker(db: Database): Promise<number> {
  for (const until = performance.now() + waitMsMax; ; await sleep(pollMs)) {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from event where position is null`.execute(db);
    const count = rows[0]?.count ?? 0;
    if (count === 0 || performance.now() > until) return count;
  }
}
