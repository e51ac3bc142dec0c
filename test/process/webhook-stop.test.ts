/**
 * A process that is stopped while receivers do not answer ends in order and releases its deliveries, and the
 * next process sends them.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "#database/connect.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { type Reply, startReceiver } from "#soak/webhook-receiver.ts";
import { demoPlace } from "#test/support/copies.ts";
import { type Running, startService } from "#test/support/process.ts";

/** Two cold starts and the grace period of a stop. */
const startsMsMax = 300_000;

it(
  "SIGTERM releases deliveries that wait for their answer",
  async () => {
    const { folder: dataDir } = await demoPlace("pglite");
    let reply: Reply = "nothing";
    await using receiver = await startReceiver({ reply: () => reply });
    const first = await startService({ DATA_DIR: dataDir });
    const { keys, tokens } = JSON.parse(
      readFileSync(join(dataDir, "demo.json"), "utf8"),
    ) as DemoJsonFileContent;
    const endpoint = { url: `${receiver.origin}/hooks`, eventTypes: ["cart.created"] };
    await post(first, { path: "/api/v1/open/webhooks/endpoints", bearer: keys.full, body: endpoint });
    const query = 'mutation { cartCreate(input: { market: "DE", lines: [] }) { id } }';
    await post(first, { path: "/graphql", bearer: tokens.storefront, body: { query } });
    // The endpoint's welcome event, and the cart's.
    await expect.poll(() => receiver.counts.requests).toBe(2);
    expect(await first.stop("SIGTERM")).toEqual({ code: 0, signal: null });

    const database = await openDatabase({ folder: dataDir });
    const deliveries = await database.db
      .selectFrom("webhookDelivery as d")
      .innerJoin("webhookEndpoint as w", "w.id", "d.endpointId")
      .select(["d.status", "d.attemptCount", "d.lease"])
      .where("w.url", "=", endpoint.url)
      .execute();
    await database.close();
    const givenBack = { status: "pending", attemptCount: 0, lease: null };
    expect(deliveries).toEqual([givenBack, givenBack]);

    reply = 204;
    const second = await startService({ DATA_DIR: dataDir });
    await expect.poll(() => receiver.accepted.size).toBe(2);
    await second.stop();
  },
  startsMsMax,
);

interface Post {
  readonly path: string;
  readonly bearer: string;
  readonly body: unknown;
}

async function post({ address }: Running, { path, bearer, body }: Post): Promise<void> {
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${bearer}`,
    "idempotency-key": randomUUID(),
  };
  const answered = await fetch(`${address}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answered.text();
  expect({ status: answered.status, hasErrors: text.includes('"errors"'), text }).toMatchObject({
    status: 200,
    hasErrors: false,
  });
}
