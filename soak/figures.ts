/** The figures, on each engine that they are promised for: how each is started, and how much of the time it gets. */
import { startPostgres } from "#test/support/postgres.ts";
import { runBystanders } from "./bystanders.ts";
import { runCheckout } from "./checkout.ts";
import { codeFaults, runCodes } from "./codes.ts";
import { runCrash } from "./crash.ts";
import { duplicateFaults, runDuplicates } from "./duplicates.ts";
import { runHistories } from "./histories.ts";
import { checkHistories } from "./history-checks.ts";
import type { Report } from "./report.ts";
import { startService } from "./service.ts";
import { openShop } from "./shop.ts";
import { runWebhookLatency } from "./webhook-latency.ts";
import { runWebhooks, webhookEnvironment } from "./webhooks.ts";

export interface Circumstances {
  /** PostgreSQL; undefined: the embedded database. */
  readonly databaseUrl: string | undefined;
  readonly isOver: () => boolean;
  /** Of `oauth`: the end comes with so many, where that is told. */
  readonly roundsMax: number;
  readonly onStep: (text: string) => void;
}

export interface Figure {
  readonly name: string;
  readonly engines: readonly Report["engine"][];
  /** Of the time, against the others. */
  readonly weight: number;
  readonly run: (circumstances: Circumstances) => Promise<Report>;
}

export const figures: readonly Figure[] = [
  { name: "crash", engines: ["pglite", "postgres"], weight: 5, run: crash },
  { name: "duplicates", engines: ["pglite", "postgres"], weight: 2, run: duplicates },
  { name: "bystanders", engines: ["postgres"], weight: 1, run: bystanders },
  { name: "checkout", engines: ["pglite", "postgres"], weight: 3, run: checkout },
  { name: "webhooks", engines: ["pglite", "postgres"], weight: 3, run: webhooks },
  { name: "webhook-latency", engines: ["pglite", "postgres"], weight: 1, run: runWebhookLatency },
  { name: "histories", engines: ["pglite", "postgres"], weight: 3, run: histories },
  { name: "oauth", engines: ["pglite", "postgres"], weight: 1, run: oauth },
];

async function crash({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  await using service = await startService({ databaseUrl });
  // Awaited here: returned as it is, it would find the service gone.
  return await runCrash(service, { clients: 8, keysPerKill: 400, isOver, onStep });
}

/** On PostgreSQL there are two processes, and each gets half of the copies. */
async function duplicates({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  await using service = await startService({ databaseUrl });
  await using beside = databaseUrl === undefined ? undefined : await startService({ databaseUrl, folder: service.folder });
  const { engine, ask, access } = service;
  const doors = [ask, ...(beside === undefined ? [] : [beside.ask])] as const;
  const run = await runDuplicates(await openShop(ask, access), { engine, doors, copies: 50, isOver, onStep });
  await beside?.kill();
  const faults = await service.inspect(({ db }) => duplicateFaults(db, run.sent));
  return { ...run, violations: [...run.violations, ...faults, ...service.faults, ...(beside?.faults ?? [])] };
}

async function bystanders({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  if (databaseUrl === undefined) throw new Error("This figure is of PostgreSQL.");
  await using service = await startService({ databaseUrl });
  const shop = await openShop(service.ask, service.access);
  const report = await runBystanders(service.ask, shop, { databaseUrl, copies: 100, spellMs: 5000, perSecond: 50, isOver, onStep });
  return { ...report, violations: [...report.violations, ...service.faults] };
}

/** On PostgreSQL there are two processes, which race each other and are killed together. */
async function checkout({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  await using service = await startService({ databaseUrl });
  await using beside = databaseUrl === undefined ? undefined : await startService({ databaseUrl, folder: service.folder });
  return await runCheckout(service, { beside: beside === undefined ? [] : [beside], isOver, onStep });
}

/** On PostgreSQL one process is asked and another sends. */
async function webhooks({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  const plan = { writers: 4, arrivalsPerKill: 300, isHurried: false, isOver, onStep };
  await using service = await startService({
    databaseUrl,
    command: databaseUrl === undefined ? "serve" : "gateway",
    environment: webhookEnvironment,
  });
  if (databaseUrl === undefined) return await runWebhooks({ ...plan, services: [service] });
  const environment = { ...webhookEnvironment, DEMO: "0" };
  await using worker = await startService({ databaseUrl, command: "worker", folder: service.folder, environment });
  return await runWebhooks({ ...plan, services: [service, worker] });
}

async function histories({ databaseUrl, isOver, onStep }: Circumstances): Promise<Report> {
  await using service = await startService({ databaseUrl });
  const { ask, access, engine } = service;
  const shop = await openShop(ask, access);
  const history = await runHistories(ask, shop, { engine, writers: 8, carts: 4, isOver, onStep });
  const report = await service.inspect(({ db }) => checkHistories(db, history));
  return { ...report, violations: [...report.violations, ...service.faults] };
}

/** On PostgreSQL there are two processes, and each gets half of the redemptions. */
async function oauth({ databaseUrl, isOver, roundsMax, onStep }: Circumstances): Promise<Report> {
  const publicUrl = "https://soak.example";
  const environment = { PUBLIC_URL: publicUrl };
  await using service = await startService({ databaseUrl, environment });
  await using beside = databaseUrl === undefined ? undefined : await startService({ databaseUrl, folder: service.folder, environment });
  const { engine, ask, access } = service;
  const doors = [ask, ...(beside === undefined ? [] : [beside.ask])] as const;
  const plan = { engine, doors, publicUrl, access, copies: 20, onStep };
  const report = await runCodes({ ...plan, isOver: ({ codes }) => codes >= roundsMax || isOver() });
  await beside?.kill();
  const { clientId } = access.oauthClient;
  const faults = await service.inspect(({ db }) => codeFaults(db, { clientId, codes: report.counts["codes"] ?? 0 }));
  return { ...report, violations: [...report.violations, ...faults, ...service.faults, ...(beside?.faults ?? [])] };
}

/** On a PostgreSQL of its own, where it needs one. */
export async function runFigure(figure: Figure, engine: Report["engine"], circumstances: Omit<Circumstances, "databaseUrl">): Promise<Report> {
  if (engine === "pglite") return figure.run({ ...circumstances, databaseUrl: undefined });
  const postgres = await startPostgres();
  return figure.run({ ...circumstances, databaseUrl: postgres.url }).finally(() => postgres.stop());
}
