/**
 * The command `npm run bench:sizing [-- --changes N] [--record]`: measures the bytes, the CPU time, the
 * memory and the connections that changes need, with a gateway, a worker and a temporary PostgreSQL. With
 * `--record`, writes docs/sizing.json, from which `npm run generate` writes docs/sizing.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { createReadyCart, createSessionWrite, createSubmitWrite, toCheckout } from "#soak/checkout-shop.ts";
import { type Service, startService } from "#soak/service.ts";
import {
  createAddressWrite,
  createRestWrite,
  createStockWrite,
  openCart,
  openShop,
  parseAnswer,
  requireData,
  type Shop,
  type Write,
} from "#soak/shop.ts";
import { startReceiver } from "#soak/webhook-receiver.ts";
import { startPostgres } from "#test/support/postgres.ts";
import { describeMachine, processCpuMicros, processTreeCpuMicros, residentMegabytes } from "./machine.ts";
import { type ChangeCost, changeNames, renderSizing, type SizingRecord } from "./sizing-page.ts";

const { values } = parseArgs({
  options: { changes: { type: "string", default: "400" }, record: { type: "boolean", default: false } },
});
const changesPerStep = Number(values.changes);
if (!Number.isInteger(changesPerStep) || changesPerStep < 1) {
  process.stderr.write("Usage: npm run bench:sizing [-- --changes 400] [--record]\n");
  process.exit(2);
}

const clients = 4;
const warmUpChanges = 40;
/** Longer than the time until the service has stored logged requests. */
const settleMs = 4_000;
const waitMsMax = 60_000;

interface Measuring {
  readonly client: Client;
  readonly postgresPid: number;
  readonly gateway: Service;
  readonly worker: Service;
  readonly shop: Shop;
}

/** Returns the bytes of each table with its indexes and partitions. */
async function readTableBytes(client: Client): Promise<ReadonlyMap<string, number>> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select coalesce(parent.relname, stored.relname) as name, sum(pg_total_relation_size(stored.oid)) as bytes
      from pg_class stored left join pg_inherits on inhrelid = stored.oid
        left join pg_class parent on parent.oid = inhparent
      where stored.relnamespace = 'public'::regnamespace and stored.relkind in ('r', 'p') group by 1`,
  );
  return new Map(rows.map(({ name, bytes }) => [name, Number(bytes)]));
}

async function readNumber(client: Client, expression: string): Promise<number> {
  const { rows } = await client.query<{ value: string }>(`select ${expression} as value`);
  return Number(rows[0]?.value);
}

const readLogBytes = (client: Client): Promise<number> =>
  readNumber(client, "pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
const countDeliveries = (client: Client): Promise<number> =>
  readNumber(client, "(select count(*) from webhook_delivery where status = 'succeeded')");

/** Waits until no event, no payment operation and no delivery waits for background work. */
async function waitForBackgroundWork(client: Client): Promise<void> {
  const waiting = `(select count(*) from event where position is null)
    + (select count(*) from payment_operation
      where status = 'pending' and due_at < now() + interval '1 minute')
    + (select count(*) from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
      where d.next_attempt_at is not null and e.status = 'enabled')`;
  const until = performance.now() + waitMsMax;
  while ((await readNumber(client, waiting)) > 0) {
    if (performance.now() > until) throw new Error(`Background work did not end in ${waitMsMax / 1000} s.`);
    await sleep(50);
  }
  await sleep(settleMs);
}

/** Runs a function for each item, for four items at a time. */
async function forEach<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      results[next[0]] = await run(next[1]);
  };
  await Promise.all(Array.from({ length: clients }, work));
  return results;
}

interface Step<Item, Result> {
  readonly name: string;
  readonly requests: number;
  readonly items: readonly Item[];
  readonly run: (item: Item) => Promise<Result>;
}

/** Runs the changes of a step, and measures what they add, with their background work. */
async function measureStep<Item, Result>(
  { client, postgresPid, gateway, worker }: Measuring,
  { name, requests, items, run }: Step<Item, Result>,
): Promise<{ readonly cost: ChangeCost; readonly results: readonly Result[] }> {
  await client.query("checkpoint");
  const readAll = async (): Promise<readonly number[]> => [
    await readLogBytes(client),
    await countDeliveries(client),
    processCpuMicros(gateway.pid()),
    processCpuMicros(worker.pid()),
    processTreeCpuMicros(postgresPid),
  ];
  const bytesBefore = await readTableBytes(client);
  const before = await readAll();
  const results = await forEach(items, run);
  await waitForBackgroundWork(client);
  const after = await readAll();
  const each = (index: number): number => ((after[index] ?? 0) - (before[index] ?? 0)) / items.length;
  const bytesAfter = await readTableBytes(client);
  const added = [...bytesAfter].map(
    ([table, bytes]) => [table, Math.round((bytes - (bytesBefore.get(table) ?? 0)) / items.length)] as const,
  );
  process.stderr.write(`· ${name}\n`);
  const cost = {
    name,
    requests,
    deliveries: Math.round(each(1) * 10) / 10,
    gatewayCpuMs: Math.round(each(2)) / 1000,
    workerCpuMs: Math.round(each(3)) / 1000,
    postgresCpuMs: Math.round(each(4)) / 1000,
    logBytes: Math.round(each(0)),
    tableBytes: Object.fromEntries(added.filter(([, bytes]) => bytes > 0)),
  };
  return { cost, results };
}

async function measureChanges(measuring: Measuring): Promise<ChangeCost[]> {
  const { gateway, shop } = measuring;
  const { ask } = gateway;
  const send = async ({ request }: Write): Promise<void> => void requireData(parseAnswer(await ask(request)));
  const order = async (): Promise<void> => {
    const cartId = await createReadyCart(ask, shop);
    const session = toCheckout(parseAnswer(await ask(createSessionWrite(shop, cartId).request)));
    await send(createSubmitWrite(shop, session));
  };
  // Compiles the documents and opens the connections before the measurement.
  await forEach(Array.from({ length: warmUpChanges }), order);
  await waitForBackgroundWork(measuring.client);
  const items = Array.from({ length: changesPerStep });
  const measure = <Item, Result>(step: Step<Item, Result>): ReturnType<typeof measureStep<Item, Result>> =>
    measureStep(measuring, step);
  const cart = await measure({
    name: changeNames.cart,
    requests: 1,
    items,
    run: () => openCart(ask, shop),
  });
  const address = await measure({
    name: changeNames.address,
    requests: 1,
    items: cart.results,
    run: ({ id }) => send(createAddressWrite(shop, id)),
  });
  const [code] = shop.codes;
  const promotion = await measure({
    name: changeNames.promotion,
    requests: 1,
    items: cart.results,
    run: ({ id }) =>
      send(createRestWrite(shop, { method: "PUT", cartId: id, path: "/promotion", body: { code } })),
  });
  const stock = await measure({
    name: changeNames.stock,
    requests: 1,
    items,
    run: () => send(createStockWrite(shop, shop.variantIds[0] ?? "")),
  });
  const ordered = await measure({ name: changeNames.order, requests: 6, items, run: order });
  return [cart, address, promotion, stock, ordered].map(({ cost }) => cost);
}

/** Registers an endpoint for all events, and disables the endpoint of the demo, at which no server listens. */
async function openEndpoint({ ask, access }: Service, client: Client, origin: string): Promise<void> {
  await client.query(
    "update webhook_endpoint set status = 'disabled', disabled_reason = 'manual', disabled_at = now()",
  );
  const body = JSON.stringify({ url: `${origin}/hook`, eventTypes: ["*"], maxPerSecond: 100 });
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${access.keys.full}`,
    "idempotency-key": "sizing-endpoint",
  };
  const url = "/api/v1/open/webhooks/endpoints";
  requireData(parseAnswer(await ask({ method: "POST", url, headers, body })));
}

/** Counts the database connections of a process. */
async function countConnections(client: Client, processes: readonly Service[]): Promise<number[]> {
  const count = (): Promise<number> =>
    readNumber(
      client,
      "(select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())",
    );
  const [gateway, worker] = processes;
  const both = await count();
  await gateway?.stop();
  const workerOnly = await count();
  await worker?.stop();
  return [both - workerOnly, workerOnly];
}

async function measureSizing(): Promise<SizingRecord> {
  await using stack = new AsyncDisposableStack();
  const postgres = await startPostgres({ full_page_writes: "on", shared_buffers: "512MB" });
  stack.defer(() => postgres.stop());
  const receiver = stack.use(await startReceiver({ reply: () => 204 }));
  const environment = { WEBHOOK_ALLOW_LOOPBACK: "1", GRAPHQL_QUOTA_SCALE: "0" };
  const place = { databaseUrl: postgres.url, environment };
  const gateway = stack.use(await startService({ ...place, command: "gateway" }));
  const client = new Client({ connectionString: postgres.url });
  await client.connect();
  stack.defer(() => client.end());
  await openEndpoint(gateway, client, receiver.origin);
  const worker = stack.use(
    await startService({
      ...place,
      command: "worker",
      folder: gateway.folder,
      environment: { ...environment, DEMO: "0" },
    }),
  );
  const [pid] = readFileSync(join(postgres.folder, "data", "postmaster.pid"), "utf8").split("\n");
  const shop = await openShop(gateway.ask, gateway.access);
  const changes = await measureChanges({ client, postgresPid: Number(pid), gateway, worker, shop });
  const megabytes = [gateway, worker].map((service) => Math.round(residentMegabytes(service.pid())));
  const connections = await countConnections(client, [gateway, worker]);
  const faults = [...receiver.violations, ...gateway.faults, ...worker.faults];
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(undefined),
    changesPerStep,
    gatewayMegabytes: megabytes[0] ?? 0,
    workerMegabytes: megabytes[1] ?? 0,
    gatewayConnections: connections[0] ?? 0,
    workerConnections: connections[1] ?? 0,
    changes,
  };
}

const record = await measureSizing();
process.stdout.write(renderSizing(record));
if (values.record)
  writeFileSync(new URL("../docs/sizing.json", import.meta.url), `${JSON.stringify(record, undefined, 2)}\n`);
