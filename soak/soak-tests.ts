/** The soak tests, each with its engines, its share of the time, and the function that runs the test. */
import { setTimeout as sleep } from "node:timers/promises";
import { startFakeStripe } from "#test/stripe/fake-stripe.ts";
import { startPostgres } from "#test/support/postgres.ts";
import { runBystanders } from "./bystanders.ts";
import { runCheckout } from "./checkout.ts";
import { findCheckoutFaults } from "./checkout-checks.ts";
import { findCodeFaults, runCodes } from "./codes.ts";
import { runContractAtService } from "./contract-service.ts";
import { runCrash } from "./crash.ts";
import { runCuts } from "./cuts.ts";
import { startCluster } from "./cluster.ts";
import { type OpenedDatabase, openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { findMissingPackages } from "./database-cluster.ts";
import { runEventFeed } from "./event-feed.ts";
import { runFailoverAtCluster } from "./failover.ts";
import { findDuplicateFaults, runDuplicates } from "./duplicates.ts";
import { runHostileDocuments } from "./hostile-documents.ts";
import { runMemory } from "./memory.ts";
import { operationSuites } from "./operation-guarantees.ts";
import { runSerializabilityAtServices } from "./serializability/at-services.ts";
import type { Report } from "./report.ts";
import { runScaleOut } from "./scale-out.ts";
import { findStripeFaults } from "./stripe-checks.ts";
import { crashKey, runStripeCrash } from "./stripe-crash.ts";
import { findPlantedFaults, runSimulation } from "./simulation/simulation.ts";
import { startService } from "./service.ts";
import { openShop } from "./shop.ts";
import { runStop } from "./stop.ts";
import { countResponseCacheHits, runUnchanged } from "./unchanged.ts";
import { runFullSuite, runSuite, type suites } from "./suites.ts";
import { runWebhookLatency } from "./webhook-latency.ts";
import { runWebhooks, webhookEnvironment } from "./webhooks.ts";

export interface SoakTestOptions {
  /** The URL of PostgreSQL; undefined for the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly isOver: () => boolean;
  /**
   * The maximum number of codes of `oauth`, of requests of `contract`, of reads of `unchanged`, of operations
   * of `serializability`, of seeds of `simulation`, of seeds of each fault of `planted-faults`, and of runs
   * of `full-suite`; Infinity for no maximum.
   */
  readonly roundsMax: number;
  /** The first seed of `simulation`. */
  readonly firstSeed: number;
  readonly onStep: (text: string) => void;
}

export interface SoakTest {
  readonly name: string;
  readonly engines: readonly Report["engine"][];
  /** The weight of the test when the time is divided between the selected tests. */
  readonly weight: number;
  /** True if the test runs only if `--only` names it. */
  readonly isOnlyByName?: boolean;
  /** The settings of the PostgreSQL server of this test. */
  readonly settings?: Readonly<Record<string, string>>;
  /** True if the test starts PostgreSQL itself. */
  readonly startsOwnDatabase?: boolean;
  /** Returns the Debian packages that the test needs and that are not installed; the test is then skipped. */
  readonly findMissingPackages?: () => readonly string[];
  readonly run: (options: SoakTestOptions) => Promise<Report>;
}

export const soakTests: readonly SoakTest[] = [
  { name: "crash", engines: ["pglite", "postgres"], weight: 5, run: crash },
  { name: "duplicates", engines: ["pglite", "postgres"], weight: 2, run: duplicates },
  { name: "bystanders", engines: ["postgres"], weight: 1, run: bystanders },
  { name: "checkout", engines: ["pglite", "postgres"], weight: 3, run: checkout },
  { name: "stripe-crash", engines: ["pglite", "postgres"], weight: 3, run: stripeCrash },
  { name: "webhooks", engines: ["pglite", "postgres"], weight: 3, run: webhooks },
  { name: "scale-out", engines: ["postgres"], weight: 2, run: scaleOut },
  {
    name: "failover",
    engines: ["postgres"],
    weight: 0,
    startsOwnDatabase: true,
    findMissingPackages,
    run: runFailoverAtCluster,
  },
  { name: "webhook-latency", engines: ["pglite", "postgres"], weight: 1, run: runWebhookLatency },
  { name: "simulation", engines: ["pglite"], weight: 3, run: runSimulation },
  { name: "planted-faults", engines: ["pglite"], weight: 0, run: plantedFaultsOfSimulation },
  { name: "serializability", engines: ["pglite", "postgres"], weight: 3, run: runSerializabilityAtServices },
  { name: "event-feed", engines: ["postgres"], weight: 0, run: eventFeed },
  { name: "unchanged", engines: ["postgres"], weight: 0, run: unchanged },
  { name: "oauth", engines: ["pglite", "postgres"], weight: 1, run: oauth },
  { name: "contract", engines: ["pglite", "postgres"], weight: 2, run: contract },
  { name: "cuts", engines: ["postgres"], weight: 2, settings: { synchronous_commit: "on" }, run: cuts },
  { name: "stop", engines: ["pglite", "postgres"], weight: 2, run: stop },
  { name: "memory", engines: ["pglite", "postgres"], weight: 3, run: memory },
  ...(
    [
      "scopes",
      "receivers",
      "ssrf",
      "dpop",
      "conformance",
      "supply-chain",
      "hostile-tool-calls",
      "tax-histories",
      ...operationSuites,
    ] as const satisfies readonly (keyof typeof suites)[]
  ).map(createSuiteTest),
  { name: "full-suite", engines: ["both"], weight: 1, isOnlyByName: true, run: runFullSuite },
  { name: "hostile-documents", engines: ["pglite"], weight: 1, run: hostileDocuments },
];

async function crash({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  // Without `await`, `using` would stop the service before the test ends.
  return await runCrash(service, { clients: 8, keysPerKill: 200, isOver, onStep });
}

/** Runs `duplicates`. On PostgreSQL, there are two processes, each of which gets half of the copies. */
async function duplicates({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  await using second =
    databaseUrl === undefined ? undefined : await startService({ databaseUrl, folder: service.folder });
  const { engine, ask, access } = service;
  const senders = [ask, ...(second === undefined ? [] : [second.ask])] as const;
  const run = await runDuplicates(await openShop(ask, access), {
    engine,
    senders,
    copies: 50,
    isOver,
    onStep,
  });
  await second?.kill();
  const faults = await service.inspect(({ db }) => findDuplicateFaults(db, run.sent));
  return { ...run, violations: [...run.violations, ...faults, ...service.faults, ...(second?.faults ?? [])] };
}

/**
 * Runs `scale-out` with two gateways behind nginx and two workers. First, 200 writes are sent 50 times each;
 * then one process after another is killed.
 */
async function scaleOut({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This test needs PostgreSQL.");
  await using cluster = await startCluster({ databaseUrl, environment: { RATE_LIMIT_SCALE: "0" } });
  const plan = {
    copies: 50,
    areCopiesOver: ({ keys }: { readonly keys: number }) => keys >= 200 || isOver(),
    clients: 8,
    keysPerKill: 200,
  };
  return await runScaleOut(cluster, { ...plan, isOver, onStep });
}

const stripeKills = 50;
/** Longer than the reservation of a payment operation by a killed process, and a retry after it, in ms. */
const stripeLeaseMs = 100_000;

/** Runs `stripe-crash`: 50 kills, or as many as `--rounds` says, while buyers pay at the fake Stripe. */
async function stripeCrash({ databaseUrl, roundsMax, onStep }: SoakTestOptions): Promise<Report> {
  const account = { id: "acct_crash", name: "Crash test", isLive: false };
  await using stripe = await startFakeStripe({ accounts: { [crashKey]: account }, isLive: false });
  await using service = await startService({ databaseUrl, environment: { STRIPE_API_BASE: stripe.url } });
  const kills = Math.min(stripeKills, roundsMax);
  const result = await runStripeCrash(service, { stripe, buyers: 6, kills, submitsPerKill: 12, onStep });
  // The last operations of killed processes are continued when their reservations have ended.
  await sleep(stripeLeaseMs);
  const faults = await service.inspect(async ({ db }) => [
    ...(await findStripeFaults(db, stripe)),
    ...(await findCheckoutFaults(db, result.sessionIds, "stripe")),
  ]);
  return {
    figure: "stripe-crash",
    engine: service.engine,
    counts: result.counts,
    violations: [...result.violations, ...faults, ...service.faults],
  };
}

async function bystanders({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This test needs PostgreSQL.");
  await using service = await startService({ databaseUrl });
  const shop = await openShop(service.ask, service.access);
  const report = await runBystanders(service.ask, shop, {
    databaseUrl,
    copies: 100,
    periodMs: 5000,
    perSecond: 50,
    isOver,
    onStep,
  });
  return { ...report, violations: [...report.violations, ...service.faults] };
}

/** Runs `checkout`. On PostgreSQL, two processes get requests for the same checkouts. */
async function checkout({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  await using second =
    databaseUrl === undefined ? undefined : await startService({ databaseUrl, folder: service.folder });
  return await runCheckout(service, { otherServices: second === undefined ? [] : [second], isOver, onStep });
}

/** Runs `webhooks`. On PostgreSQL, a gateway receives the requests and a worker sends the webhooks. */
async function webhooks({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  const plan = { writers: 4, aheadMax: 500, arrivalsPerKill: 300, isHurried: false, isOver, onStep };
  await using service = await startService({
    databaseUrl,
    command: databaseUrl === undefined ? "serve" : "gateway",
    environment: webhookEnvironment,
  });
  if (databaseUrl === undefined) return await runWebhooks({ ...plan, services: [service] });
  const environment = { ...webhookEnvironment, DEMO: "0" };
  await using worker = await startService({
    databaseUrl,
    command: "worker",
    folder: service.folder,
    environment,
  });
  return await runWebhooks({ ...plan, services: [service, worker] });
}

/** Runs `event-feed` with a million events. Its duration does not depend on `--minutes`. */
async function eventFeed({ databaseUrl, onStep }: SoakTestOptions): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This test needs PostgreSQL.");
  const database = await openDatabase({ url: databaseUrl });
  await migrate(database).finally(() => database.close());
  const opened: OpenedDatabase[] = [];
  const open = async (name: string): Promise<OpenedDatabase> => {
    const pool = await openDatabase({ url: `${databaseUrl}?application_name=${name}`, poolSize: 24 });
    opened.push(pool);
    return pool;
  };
  const plan = { events: 1_000_000, writers: 16, subjects: 500, delayMsMax: 400 };
  return await runEventFeed({ ...plan, open, onStep }).finally(() =>
    Promise.all(opened.map((pool) => pool.close())),
  );
}

/** Runs `unchanged` with a million reads at two processes. Its duration does not depend on `--minutes`. */
async function unchanged({ databaseUrl, roundsMax, onStep }: SoakTestOptions): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This test needs PostgreSQL.");
  await using service = await startService({ databaseUrl });
  await using second = await startService({ databaseUrl, folder: service.folder });
  const database = await openDatabase({ url: databaseUrl, poolSize: 1 });
  const senders = [service.ask, second.ask];
  const report = await runUnchanged({
    engine: "postgres",
    senders,
    access: service.access,
    countHits: () => countResponseCacheHits(senders),
    database,
    cutEveryMs: 20_000,
    readers: 16,
    writers: 4,
    readsPerChange: 100,
    isOver: ({ reads }) => reads >= Math.min(1_000_000, roundsMax),
    onStep,
  }).finally(() => database.close());
  const { reads = 0, hits = 0 } = report.counts;
  // Without hits, the test would show nothing about the cache.
  const few = hits < reads / 2 ? [`Only ${hits} of ${reads} answers came from the cache.`] : [];
  return { ...report, violations: [...report.violations, ...few, ...service.faults, ...second.faults] };
}

/** Runs `oauth`. On PostgreSQL, there are two processes, each of which gets half of the redemptions. */
async function oauth({ databaseUrl, isOver, roundsMax, onStep }: SoakTestOptions): Promise<Report> {
  const publicUrl = "https://soak.example";
  const environment = { PUBLIC_URL: publicUrl };
  await using service = await startService({ databaseUrl, environment });
  await using second =
    databaseUrl === undefined
      ? undefined
      : await startService({ databaseUrl, folder: service.folder, environment });
  const { engine, ask, access } = service;
  const senders = [ask, ...(second === undefined ? [] : [second.ask])] as const;
  const plan = { engine, senders, publicUrl, access, copies: 20, onStep };
  const report = await runCodes({ ...plan, isOver: ({ codes }) => codes >= roundsMax || isOver() });
  await second?.kill();
  const { clientId } = access.oauthClient;
  const faults = await service.inspect(({ db }) =>
    findCodeFaults(db, { clientId, codes: report.counts["codes"] ?? 0 }),
  );
  return {
    ...report,
    violations: [...report.violations, ...faults, ...service.faults, ...(second?.faults ?? [])],
  };
}

/** Runs `cuts`. PostgreSQL runs with `synchronous_commit`, so that commits survive its kill. */
async function cuts({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This test needs PostgreSQL.");
  return await runCuts({ databaseUrl, clients: 8, keysPerCut: 20, crashEvery: 10, isOver, onStep });
}

async function stop({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  return await runStop(service, { clients: 12, answersPerStop: 400, isOver, onStep });
}

/** Runs `memory`. The load includes webhooks to the demo's endpoint, where no server listens. */
async function memory({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  return await runMemory(service, { clients: 6, isOver, onStep });
}

/** The largest number of seeds for one planted fault. */
const seedsPerFaultMax = 60;

function plantedFaultsOfSimulation({ roundsMax, onStep }: SoakTestOptions): Promise<Report> {
  return findPlantedFaults({ seedsMax: Math.min(roundsMax, seedsPerFaultMax), onStep });
}

/** Creates a soak test that runs test files. Its duration does not depend on `--minutes`. */
function createSuiteTest(name: keyof typeof suites): SoakTest {
  return { name, engines: ["both"], weight: 0, run: () => runSuite(name) };
}

async function hostileDocuments({ databaseUrl, isOver, onStep }: SoakTestOptions): Promise<Report> {
  await using service = await startService({ databaseUrl });
  const report = await runHostileDocuments(service, { isOver, onStep });
  return { ...report, violations: [...report.violations, ...service.faults] };
}

function contract({ roundsMax, ...options }: SoakTestOptions): Promise<Report> {
  return runContractAtService({ ...options, requestsMax: roundsMax });
}

/** Runs a soak test on an engine. Every test on PostgreSQL gets its own PostgreSQL server. */
export async function runSoakTest(
  figure: SoakTest,
  engine: Report["engine"],
  options: Omit<SoakTestOptions, "databaseUrl">,
): Promise<Report> {
  if (engine !== "postgres" || figure.startsOwnDatabase === true)
    return figure.run({ ...options, databaseUrl: undefined });
  const postgres = await startPostgres(figure.settings);
  return figure.run({ ...options, databaseUrl: postgres.url }).finally(() => postgres.stop());
}
