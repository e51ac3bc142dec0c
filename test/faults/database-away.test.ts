/**
 * PostgreSQL is stopped or killed and comes back, or accepts no changes for some time: the errors meanwhile,
 * and that everything recovers by itself.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { toArrivalKey, type Receiver, startReceiver } from "#soak/webhook-receiver.ts";
import { createAddressWrite, openCart, openShop, type Shop, type Write } from "#soak/shop.ts";
import { askOf } from "#test/exactly-once/ask.ts";
import { expectError } from "#test/support/expect-error.ts";
import type { Answer } from "#test/support/world.ts";
import { type OwnPostgres, startOnOwnPostgres } from "./own-postgres.ts";

describe("a PostgreSQL outage", () => {
  const stack = new AsyncDisposableStack();
  let own: OwnPostgres;
  let receiver: Receiver;
  let shop: Shop;
  beforeAll(async () => {
    receiver = stack.use(await startReceiver({ reply: () => 204 }));
    own = stack.use(await startOnOwnPostgres());
    shop = await openShop(askOf(own.app), own.demo);
    const headers = {
      "content-type": "application/json",
      authorization: `Bearer ${own.demo.keys.full}`,
      "idempotency-key": randomUUID(),
    };
    const body = JSON.stringify({
      url: `${receiver.origin}/hooks`,
      eventTypes: ["cart.address_set"],
      maxPerSecond: 100,
    });
    const made = await askOf(own.app)({
      method: "POST",
      url: "/api/v1/open/webhooks/endpoints",
      headers,
      body,
    });
    receiver.secrets.set(
      "/hooks",
      (JSON.parse(made.text) as { data: { secret: { value: string } } }).data.secret.value,
    );
  });
  afterAll(() => stack.disposeAsync());

  const get = (url: string): Promise<Answer> => send({ method: "GET", url, headers: {}, body: undefined });
  async function send(asked: Write["request"]): Promise<Answer> {
    const answered = await askOf(own.app)(asked);
    return { ...answered, body: JSON.parse(answered.text) as unknown };
  }
  const listeners = async (): Promise<number> =>
    (
      await sql<{ pid: number }>`select pid from pg_stat_activity where query like 'listen %'`.execute(
        own.app.database.db,
      )
    ).rows.length;
  const deliveriesOf = async (cartId: string): Promise<string[]> => {
    const events = own.app.database.db
      .selectFrom("event")
      .select("id")
      .where("subjectId", "=", cartId)
      .where("type", "=", "cart.address_set");
    return (await events.execute()).map(({ id }) => toArrivalKey("/hooks", id));
  };

  it.each(["fast", "immediate"] as const)(
    "is reported as 503 and by /readyz (%s), and everything recovers after it",
    async (mode) => {
      const { id } = await openCart(askOf(own.app), shop);
      const write = createAddressWrite(shop, id);
      await expect.poll(listeners).toBe(1);
      await own.stop(mode);

      const product = "/api/v1/catalog/merchants/lindenhof/products/fjell-2-trekking-tent";
      for (const answer of [await get(product), await send(write.request), await get(product)])
        expectError(answer, { status: 503, code: "service_unavailable", retryAfterSeconds: 2 });
      expect(await get("/readyz")).toMatchObject({
        status: 503,
        body: { checks: { database: "unavailable" } },
      });
      expect(await get("/healthz")).toMatchObject({ status: 200, body: { status: "ok" } });

      await own.startAgain();
      expect(await get("/readyz")).toMatchObject({ status: 200 });
      expect(await get(product)).toMatchObject({ status: 200 });
      const [first, again] = [await send(write.request), await send(write.request)];
      expect([first.status, first.headers["idempotent-replayed"]]).toEqual([200, "false"]);
      expect([again.status, again.headers["idempotent-replayed"], again.text]).toEqual([
        200,
        "true",
        first.text,
      ]);
      // The notice listener and the dispatcher reconnect too.
      await expect.poll(listeners).toBe(1);
      const [arrival] = await deliveriesOf(id);
      await expect.poll(() => [...receiver.accepted]).toContain(arrival);
      expect(receiver.violations).toEqual([]);
    },
  );

  it("without an outage, a server that accepts no changes is reported as 503, until it accepts them", async () => {
    const { id } = await openCart(askOf(own.app), shop);
    const write = createAddressWrite(shop, id);
    // New sessions are read-only, as on a standby, and the service gets new ones.
    const changeDefault = (value: "on" | "off"): Promise<unknown> =>
      own.app.database.script(async (run) => {
        await run("set default_transaction_read_only = off");
        await run(`alter database postgres set default_transaction_read_only = ${value}`);
        await run("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()");
      });
    await changeDefault("on");
    try {
      await expect.poll(listeners).toBe(1);
      for (let count = 0; count < 2; count += 1)
        expectError(await send(write.request), {
          status: 503,
          code: "service_unavailable",
          retryAfterSeconds: 2,
        });
    } finally {
      await changeDefault("off");
    }
    await expect.poll(async () => (await send(write.request)).status).toBe(200);
    expect((await send(write.request)).headers["idempotent-replayed"]).toBe("true");
  });
});
