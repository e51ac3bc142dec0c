/**
 * The command `npm run bench:deliveries`, described in README.md of this folder: measures how many webhook
 * deliveries one worker process creates and sends per second.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { openDatabase } from "#database/connect.ts";
import { migrate } from "#database/migrate.ts";
import { noticeChannel } from "#database/notices.ts";
import { createId } from "#foundation/ids.ts";
import { startPostgres } from "#test/support/postgres.ts";
import { createDispatchWorld } from "#test/webhooks/dispatch-world.ts";
import { startServer } from "./children.ts";
import {
  describeMachine,
  findCores,
  pinThisProcess,
  processCpuMicros,
  processTreeCpuMicros,
} from "./machine.ts";
import { createServiceEnvironment, encodeRequest } from "./servers.ts";

const { values } = parseArgs({
  options: {
    merchants: { type: "string", default: "20" },
    endpoints: { type: "string", default: "4" },
    events: { type: "string", default: "100" },
    rounds: { type: "string", default: "3" },
    profile: { type: "string" },
  },
});
const { merchants, endpoints, events, rounds } = {
  merchants: Number(values.merchants),
  endpoints: Number(values.endpoints),
  events: Number(values.events),
  rounds: Number(values.rounds),
};
if (![merchants, endpoints, events, rounds].every((count) => Number.isInteger(count) && count > 0)) {
  process.stderr.write(
    "Usage: npm run bench:deliveries -- [--merchants 20] [--endpoints 4] [--events 100] [--rounds 3]\n" +
      "         [--profile FOLDER]\n" +
      "--endpoints and --events are numbers for each merchant.\n",
  );
  process.exit(2);
}

/** The length of the text in an event's object, which gives the event a body of a common size (2 kB). */
const noteLength = 1_800;
/** A round fails if its deliveries have not ended after this number of milliseconds. */
const roundMsMax = 120_000;
const pollMs = 20;
/** Marks the SQL statements of this file, which are not counted. */
const mark = "/* benchmark */";

/** Inserts the events of all merchants in one statement, so that the worker finds all of them at once. */
async function insertEvents(client: Client, merchantIds: readonly string[]): Promise<void> {
  const rows = Array.from({ length: events * merchants }, (_, index) => {
    const [id, subjectId] = [createId("event"), createId("order")];
    const body = (object: object): string =>
      JSON.stringify({ id, type: "order.placed", data: { object: { id: subjectId, ...object } } });
    return {
      id,
      merchant_id: merchantIds[index % merchants],
      subject_id: subjectId,
      snapshot: body({ note: "n".repeat(noteLength) }),
      thin: body({}),
    };
  });
  await client.query(
    `insert into event (id, merchant_id, type, schema_version, subject_type, subject_id, subject_version,
        snapshot, thin, occurred_at)
      select id, merchant_id, 'order.placed', 1, 'order', subject_id, 1, snapshot, thin, now()
      from json_to_recordset($1) as e(id text, merchant_id text, subject_id text, snapshot text, thin text)`,
    [JSON.stringify(rows)],
  );
}

interface Durations {
  /** Milliseconds until all events had their deliveries. */
  readonly fanOutMs: number;
  /** Milliseconds until the results of all deliveries were recorded. */
  readonly deliveryMs: number;
}

async function waitForDeliveries(client: Client): Promise<Durations> {
  const startedAt = performance.now();
  let fanOutMs: number | undefined;
  for (;;) {
    const { rows } = await client.query<{ areEventsWaiting: boolean; areDeliveriesWaiting: boolean }>(
      `${mark} select exists (select from event where position is null) as "areEventsWaiting",
        exists (select from webhook_delivery where next_attempt_at is not null) as "areDeliveriesWaiting"`,
    );
    const ms = performance.now() - startedAt;
    if (rows[0]?.areEventsWaiting === false) fanOutMs ??= ms;
    if (fanOutMs !== undefined && rows[0]?.areDeliveriesWaiting === false)
      return { fanOutMs, deliveryMs: ms };
    if (ms > roundMsMax) throw new Error(`The deliveries did not end in ${roundMsMax / 1000} s.`);
    await sleep(pollMs);
  }
}

interface Bench {
  readonly client: Client;
  readonly postgresPid: number;
  readonly merchantIds: readonly string[];
}

interface Round {
  readonly fannedOutPerSecond: number;
  readonly deliveriesPerSecond: number;
  readonly statementsPerDelivery: number;
  readonly serverCpuMicros: number;
  readonly postgresCpuMicros: number;
}

async function measureRound({ client, postgresPid, merchantIds }: Bench, workerPid: number): Promise<Round> {
  await insertEvents(client, merchantIds);
  await client.query("vacuum analyze");
  await client.query("select pg_stat_statements_reset()");
  const before = [processCpuMicros(workerPid), processTreeCpuMicros(postgresPid)] as const;
  // An empty notice makes the worker search for due work of all kinds.
  await client.query(`${mark} select pg_notify('${noticeChannel}', '')`);
  const { fanOutMs, deliveryMs } = await waitForDeliveries(client);
  const after = [processCpuMicros(workerPid), processTreeCpuMicros(postgresPid)] as const;
  const { rows } = await client.query<{ calls: number; failed: number }>(
    `${mark} select (select sum(calls)::int from pg_stat_statements
        where query not like '%${mark}%' and query not like '%pg_stat_statements_reset%') as calls,
      (select count(*)::int from webhook_delivery where status <> 'succeeded' or attempt_count > 1) as failed`,
  );
  const [{ calls, failed } = { calls: 0, failed: 0 }] = rows;
  if (failed > 0) throw new Error(`${failed} deliveries did not succeed at the first attempt.`);
  const deliveries = events * merchants * endpoints;
  return {
    fannedOutPerSecond: (1000 * events * merchants) / fanOutMs,
    deliveriesPerSecond: (1000 * deliveries) / deliveryMs,
    statementsPerDelivery: calls / deliveries,
    serverCpuMicros: (after[0] - before[0]) / deliveries,
    postgresCpuMicros: (after[1] - before[1]) / deliveries,
  };
}

/** Writes the SQL statements of the last round to a file, those with the longest time first. */
async function writeStatements(client: Client, path: string): Promise<void> {
  const { rows } = await client.query<{ line: string }>(
    `${mark} select format(E'%s calls, %s ms, %s rows\\n%s\\n', calls, round(total_exec_time), rows, query) as line
      from pg_stat_statements where query not like '%${mark}%' order by total_exec_time desc`,
  );
  writeFileSync(path, rows.map(({ line }) => line).join("\n"));
}

const request = (path: string): Buffer =>
  encodeRequest({ method: "GET", path, headers: {}, body: undefined });
const cores = findCores();
/** The code of the workers: this checkout, and the checkout that the environment variable BENCH_BEFORE names. */
const { BENCH_BEFORE: beforeFolder } = process.env;
const programs = [
  { name: "ours", main: "src/main.ts" },
  ...(beforeFolder === undefined ? [] : [{ name: "before", main: resolve(beforeFolder, "src/main.ts") }]),
];

/** Starts a worker, warms it up with as many events as in a measured round, and measures one round. */
async function measureWorker(
  bench: Bench,
  { name, main }: { readonly name: string; readonly main: string },
  environment: Readonly<Record<string, string>>,
): Promise<Round> {
  const { profile } = values;
  const worker = await startServer(
    { command: [main, "worker"], environment, firstRequest: request("/healthz") },
    { cores, nodeOptions: profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${resolve(profile)}`] },
  );
  try {
    await measureRound(bench, worker.pid);
    const round = await measureRound(bench, worker.pid);
    if (profile !== undefined) await writeStatements(bench.client, join(profile, `statements-${name}.txt`));
    return round;
  } finally {
    await worker.stop();
  }
}

const cell = (measured: readonly Round[], name: keyof Round, digits: number): string => {
  const sorted = measured.map((round) => round[name]).toSorted((one, other) => one - other);
  const shown = (value: number | undefined): string => (value ?? Number.NaN).toFixed(digits);
  return `${shown(sorted[sorted.length >> 1])} (${shown(sorted[0])}–${shown(sorted.at(-1))})`;
};

function printTable(measured: ReadonlyMap<string, readonly Round[]>): void {
  process.stdout.write(
    "| worker | events/s | deliveries/s | SQL statements | worker CPU µs | PostgreSQL CPU µs |\n" +
      "| --- | ---: | ---: | ---: | ---: | ---: |\n",
  );
  for (const [name, all] of measured) {
    const cells = [
      cell(all, "fannedOutPerSecond", 0),
      cell(all, "deliveriesPerSecond", 0),
      cell(all, "statementsPerDelivery", 3),
      cell(all, "serverCpuMicros", 0),
      cell(all, "postgresCpuMicros", 0),
    ];
    process.stdout.write(`| ${[name, ...cells].join(" | ")} |\n`);
  }
}

if (cores !== undefined) pinThisProcess(cores);
process.stderr.write(`· ${describeMachine(cores)}\n`);
const postgres = await startPostgres({
  shared_buffers: "512MB",
  autovacuum: "off",
  shared_preload_libraries: "pg_stat_statements",
});
const client = new Client({ connectionString: postgres.url });
const receiver = await startServer(
  { command: ["bench/servers/receiver.ts"], environment: {}, firstRequest: request("/") },
  { cores: cores === undefined ? undefined : { ...cores, server: cores.rest }, nodeOptions: [] },
);
try {
  await client.connect();
  await client.query("create extension pg_stat_statements");
  const database = await openDatabase({ url: postgres.url });
  await migrate(database);
  const world = createDispatchWorld(database);
  world.clock.at = new Date();
  const merchantIds: string[] = [];
  for (let merchant = 0; merchant < merchants; merchant += 1) {
    const installed = await world.merchant();
    merchantIds.push(installed.merchantId);
    for (let endpoint = 0; endpoint < endpoints; endpoint += 1)
      await world.endpoint(installed, { url: `http://127.0.0.1:${receiver.port}/${merchant}/${endpoint}` });
  }
  await database.close();
  const [pid] = readFileSync(join(postgres.folder, "data", "postmaster.pid"), "utf8").split("\n");
  const bench = { client, postgresPid: Number(pid), merchantIds };
  const environment = {
    ...createServiceEnvironment({ databaseUrl: postgres.url, dataFolder: postgres.folder }),
    ENCRYPTION_KEYS: world.encryptionKeys,
    WEBHOOK_ALLOW_LOOPBACK: "1",
  };
  const measured = new Map<string, Round[]>(programs.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const program of programs)
      measured.get(program.name)?.push(await measureWorker(bench, program, environment));
  printTable(measured);
} finally {
  await client.end();
  await receiver.stop();
  await postgres.stop();
}
