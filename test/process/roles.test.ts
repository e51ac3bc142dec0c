/**
 * The roles `gateway` and `worker` share one PostgreSQL: the worker sends at once what the gateway writes,
 * and serves no API requests.
 */
import { sql } from "kysely";
import { afterEach, expect, inject, it, vi } from "vitest";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { createLog } from "#foundation/log.ts";
import { toArrivalKey, startReceiver } from "#soak/webhook-receiver.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { databaseUrl } from "#test/support/postgres.ts";
import { runHere, temporaryFolder } from "#test/support/process.ts";
import { createWorld, type World } from "#test/support/world.ts";

afterEach(() => vi.useRealTimers());

const environment = {
  ENCRYPTION_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  WEBHOOK_ALLOW_LOOPBACK: "1",
};

it.each(["gateway", "worker"])("%s exits with 1 and the reason without a PostgreSQL", async (role) => {
  const line =
    `Setting DATABASE_URL is required: ${role} shares its database with other processes, ` +
    "but the embedded database allows only one process.\n";
  const ended = await runHere([role], { DATA_DIR: temporaryFolder() });
  expect(ended).toEqual({ code: 1, stdout: "", stderr: line });
});

it("a worker is woken by a gateway's writes without polling, also after its connection broke", async () => {
  await using gateway = await createWorld("postgres", { environment, role: "gateway" });
  await using receiver = await startReceiver({ reply: () => 204 });
  // A signature is valid for five minutes of the receiver's clock, and the copied demo may be older.
  gateway.clock.at = new Date();
  // Disables polling.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const worker = await startWorker(gateway);
  try {
    await expect.poll(() => listeners(gateway)).toHaveLength(1);
    const { secret } = await makeEndpoint(gateway, {
      url: `${receiver.origin}/hooks`,
      eventTypes: ["cart.created"],
    });
    receiver.secrets.set("/hooks", secret);
    const first = await createCart(gateway);
    await expect.poll(() => [...receiver.accepted]).toContain(first);

    const [before] = await listeners(gateway);
    await gateway.database.script((run) => run(`select pg_terminate_backend(${before})`));
    const meanwhile = await createCart(gateway);
    await expect.poll(async () => (await listeners(gateway)).filter((pid) => pid !== before)).toHaveLength(1);
    await expect.poll(() => [...receiver.accepted]).toContain(meanwhile);
    const afterwards = await createCart(gateway);
    await expect.poll(() => [...receiver.accepted]).toContain(afterwards);
    expect(receiver.violations).toEqual([]);
  } finally {
    await worker.close();
  }
});

it("a worker serves its health and nothing else", async () => {
  await using gateway = await createWorld("postgres", { environment, role: "gateway" });
  const worker = await startWorker(gateway);
  try {
    const statuses = ["/healthz", "/readyz", "/openapi.json", "/graphql", "/", "/api/v1/open/identity"].map(
      async (url) => (await worker.server.inject({ method: "GET", url })).statusCode,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 404, 404, 404, 404]);
    expect(
      (await worker.server.inject({ method: "POST", url: "/graphql", payload: { query: "{ __typename }" } }))
        .statusCode,
    ).toBe(404);
  } finally {
    await worker.close();
  }
});

/** Starts a worker on the gateway's database and clock. */
async function startWorker({ database, clock }: World): Promise<ServiceApp> {
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.db);
  const url = databaseUrl(inject("postgresUrl"), rows[0]?.name ?? "");
  const settings = parseServiceSettings({
    ...environment,
    DATABASE_URL: url,
    PORT: "0",
    DATA_DIR: temporaryFolder(),
  });
  const worker = await createServiceApp({ settings, log: createLog("silent"), role: "worker", clock });
  await worker.listen();
  return worker;
}

async function listeners({ database }: World): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and query like 'listen %'`.execute(
    database.db,
  );
  return rows.map(({ pid }) => pid);
}

/** Creates a cart and returns the delivery that will have arrived. */
async function createCart(gateway: World): Promise<string> {
  // The token bucket refills.
  gateway.clock.advance(1000);
  const query = 'mutation { cartCreate(input: { market: "DE", lines: [] }) { id } }';
  const { body } = await gateway.graphql(query, { token: "storefront" });
  expect(body.errors).toBeUndefined();
  const { db } = gateway.database;
  const event = db
    .selectFrom("event")
    .select("id")
    .where("subjectId", "=", body.data.cartCreate.id)
    .where("type", "=", "cart.created");
  return toArrivalKey("/hooks", (await event.executeTakeFirstOrThrow()).id);
}
