/**
 * Webhook deliveries for a merchant's staff: read singly and in pages, replayed singly and up to a thousand
 * at a time.
 */
import { createInProcessEventEmitter } from "#foundation/events.ts";
import { sql } from "kysely";
import { beforeEach, expect, it } from "vitest";
import { runInTransaction } from "#database/transaction.ts";
import { replayDeliveries } from "#webhooks/replay-deliveries.ts";
import { replayDelivery } from "#webhooks/replay-delivery.ts";
import { askGraph } from "#test/operations/cart-calls.ts";
import { replayAsStaff, replayMany, withoutDelivery } from "#test/operations/replay-calls.ts";
import { changeEndpoint, installationOf, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { describeOnPostgres, manyConnections } from "#test/support/databases.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import {
  deliveryRows,
  makeDeliveries,
  makeDelivery,
  makeEvent,
  makeEvents,
} from "#test/webhooks/delivery-rows.ts";

const dayMs = 86_400_000;

describeOnPostgres("webhook deliveries", (_open, engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let endpointId: string;
  beforeEach(async () => {
    await sql`delete from webhook_delivery`.execute(world().database.db);
    await sql`update webhook_endpoint set status = 'deleted', disabled_reason = null, disabled_at =
      null`.execute(world().database.db);
    ({ id: endpointId } = await makeEndpoint(world()));
    await sql`delete from webhook_delivery`.execute(world().database.db);
  });

  const page = `query ($endpointId: ID!, $status: WebhookDeliveryStatus, $first: Int) {
    webhookDeliveries(endpointId: $endpointId, status: $status, first: $first) {
    totalCount pageInfo { hasNextPage } edges { node { id status attempts { number httpStatus } event { id
    type deliveries { id } } installation { id } } } } }`;
  const setStatus = (ids: readonly string[], status: "succeeded" | "exhausted"): Promise<unknown> =>
    world()
      .database.db.updateTable("webhookDelivery")
      .set({ status, nextAttemptAt: null })
      .where("id", "in", ids)
      .execute();
  const replaysIn = async (): Promise<
    { id: string; eventId: string; endpointId: string; replayOf: string | null }[]
  > =>
    world()
      .database.db.selectFrom("webhookDelivery")
      .select(["id", "eventId", "endpointId", "replayOf"])
      .where("replayOf", "is not", null)
      .orderBy("eventId")
      .execute();

  it("are read with attempts and events, with the same number of statements for any number", async () => {
    const events = await makeEvents(world(), 3);
    const [first = ""] = await makeDeliveries(world(), events.slice(0, 1), { endpointId, attempts: 2 });
    const ask = (count: number) =>
      askGraph(world(), page, { endpointId, first: count }, { token: "analyst" });
    // The first request also stores that the token was used.
    await ask(10);
    const one = await statementsOf(world(), () => ask(10));
    world().clock.advance(1);
    await makeDeliveries(world(), events.slice(1), { endpointId, status: "succeeded", attempts: 1 });
    expect(await statementsOf(world(), () => ask(10))).toHaveLength(one.length);
    const { data } = await ask(2);
    expect(data).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: true } });
    expect(data.edges[0].node).toEqual({
      id: first,
      status: "EXHAUSTED",
      attempts: [
        { number: 1, httpStatus: 500 },
        { number: 2, httpStatus: 500 },
      ],
      event: { id: events[0], type: "order.placed", deliveries: [{ id: first }] },
      installation: { id: await installationOf(world()) },
    });
    const arrived = await askGraph(world(), page, { endpointId, status: "SUCCEEDED" }, { token: "admin" });
    expect(arrived.data.totalCount).toBe(2);
  });

  it("of another merchant are not found", async () => {
    const { id: foreign } = await makeEndpoint(world(), { key: "otherMerchant" });
    const eventId = await makeEvent(world(), { merchantId: world().demo.merchants.second.id });
    const deliveryId = await makeDelivery(world(), { endpointId: foreign, eventId });
    const read = "query ($id: ID!) { webhookDelivery(id: $id) { id } }";
    expect((await askGraph(world(), read, { id: deliveryId }, { token: "admin" })).data).toBeNull();
    expect((await askGraph(world(), read, { id: deliveryId }, { token: "operator" })).data).toEqual({
      id: deliveryId,
    });
    expect((await askGraph(world(), read, { id: "\u0000" }, { token: "operator" })).data).toBeNull();
    expect((await askGraph(world(), page, { endpointId: foreign }, { token: "admin" })).data.totalCount).toBe(
      0,
    );
    const refused = await withoutDelivery(world(), () => replayAsStaff(world(), { deliveryId }));
    expect(refused.error.code).toBe("webhook_delivery_not_found");
    const many = await withoutDelivery(world(), () =>
      replayMany(world(), { input: { endpointId: foreign } }),
    );
    expect(many.error.code).toBe("webhook_endpoint_not_found");
    const merchantId = world().demo.merchants.second.id;
    const replayed = await replayAsStaff(world(), {
      deliveryId,
      merchantId,
      token: "operator",
      input: { note: "By hand." },
    });
    expect(replayed.data).toMatchObject({
      delivery: { status: "PENDING", replayOf: deliveryId, replayReason: "TESTING", replayNote: "By hand." },
      original: { id: deliveryId, status: "EXHAUSTED" },
    });
  });

  it("require an idempotencyKey for a replay", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const query = `mutation { webhookDeliveryReplay(deliveryId: "${deliveryId}", input: { reason: TESTING }) {
      delivery { id } } }`;
    const refused = await withoutDelivery(world(), () => askGraph(world(), query, {}, { token: "admin" }));
    expect(refused.error.code).toBe("idempotency_key_required");
  });

  it("are not replayed to a suspended installation", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const installation = world()
      .database.db.updateTable("installation")
      .where("id", "=", await installationOf(world()));
    await installation.set({ status: "suspended" }).execute();
    const refused = await withoutDelivery(world(), () => replayAsStaff(world(), { deliveryId }));
    expect(refused.error).toMatchObject({
      code: "webhook_endpoint_disabled",
      conflict: { reason: "installation_suspended" },
    });
    await installation.set({ status: "active" }).execute();
  });

  it("notify the dispatcher after the commit, not before", async () => {
    const { db } = world().database;
    const deliveryId = await makeDelivery(world(), { endpointId });
    const seen: number[] = [];
    let count = 0;
    const events = createInProcessEventEmitter();
    events.on("deliveriesDue", () => void (count += 1));
    const context = { merchantId: null, installationId: null, now: world().clock.now(), events };
    await runInTransaction(db, async (transaction) => {
      await replayDelivery(transaction, context, { deliveryId, reason: "other" });
      seen.push(count);
    });
    expect([...seen, count]).toEqual([0, 1]);
    const window = {
      since: new Date(world().clock.now().getTime() - dayMs),
      until: new Date(world().clock.now().getTime() + 1),
    };
    const none = await runInTransaction(db, (transaction) =>
      replayDeliveries(transaction, context, { endpointId, ...window, status: "skipped", reason: "other" }),
    );
    expect([none, count]).toEqual([{ replayed: 0, passedOver: [], hasMore: false, endCursor: null }, 1]);
  });

  it("are replayed for a time range by status; refused ones are counted by reason", async () => {
    const ids = await makeDeliveries(world(), await makeEvents(world(), 7, { ageMs: 1000 }), { endpointId });
    const [before, underWay, arrived, often] = ids as [string, string, string, string];
    await makeDeliveries(world(), await makeEvents(world(), 2), { endpointId, status: "skipped" });
    await makeDeliveries(world(), await makeEvents(world(), 1, { ageMs: 2 * dayMs }), { endpointId });
    const replayed = async (deliveryId: string): Promise<string> =>
      (await replayAsStaff(world(), { deliveryId })).data.delivery.id;
    await setStatus([await replayed(before)], "exhausted");
    await replayed(underWay);
    await setStatus([await replayed(arrived)], "succeeded");
    for (let count = 0; count < 10; count += 1) await setStatus([await replayed(often)], "exhausted");
    const made = await replaysIn();

    const since = new Date(world().clock.now().getTime() - dayMs).toISOString();
    const { data } = await replayMany(world(), { input: { endpointId, since, note: "After the outage." } });
    expect(data).toMatchObject({ replayed: 4, hasMore: false });
    expect(
      data.skipped.toSorted((one: { reason: string }, other: { reason: string }) =>
        one.reason.localeCompare(other.reason),
      ),
    ).toEqual([
      { reason: "DELIVERY_ALREADY_SUCCEEDED", count: 1 },
      { reason: "DELIVERY_IN_PROGRESS", count: 1 },
      { reason: "DELIVERY_REPLAY_LIMIT_REACHED", count: 1 },
    ]);
    const known = new Set(made.map(({ id }) => id));
    const added = (await replaysIn()).filter(({ id }) => !known.has(id));
    expect(new Set(added.map(({ replayOf }) => replayOf))).toEqual(new Set([before, ...ids.slice(4)]));

    // The deliveries replayed before are still in progress.
    expect((await replayMany(world(), { input: { endpointId, since } })).data).toMatchObject({ replayed: 0 });
  });

  it("are replayed a thousand at a time, with a cursor", async () => {
    const events = await makeEvents(world(), 1001);
    await makeDeliveries(world(), events, { endpointId, status: "skipped" });
    const input = { installationId: await installationOf(world()), status: "SKIPPED" };
    world().statements.length = 0;
    const { data } = await replayMany(world(), { input });
    expect(data).toMatchObject({ replayed: 1000, skipped: [], hasMore: true });
    expect(world().statements.length).toBeLessThan(20);
    const rest = await replayMany(world(), { input: { ...input, after: data.endCursor } });
    expect(rest.data).toMatchObject({ replayed: 1, skipped: [], hasMore: false });
    expect((await replaysIn()).map(({ eventId }) => eventId)).toEqual(events);
  });

  it("that were canceled with their endpoint are replayed to another one", async () => {
    const { id: other } = await makeEndpoint(world());
    await makeDeliveries(world(), await makeEvents(world(), 3), { endpointId, status: "canceled" });
    await changeEndpoint(world(), "webhookEndpointDelete", { endpointId });
    const input = { endpointId, status: "CANCELED" };
    const refused = await withoutDelivery(world(), () => replayMany(world(), { input }));
    expect(refused.data).toMatchObject({
      replayed: 0,
      skipped: [{ reason: "WEBHOOK_ENDPOINT_NOT_FOUND", count: 3 }],
    });
    expect((await replayMany(world(), { input: { ...input, toEndpointId: other } })).data).toMatchObject({
      replayed: 3,
      skipped: [],
    });
    expect(new Set((await replaysIn()).map((row) => row.endpointId))).toEqual(new Set([other]));
  });

  it("of a disabled endpoint are not replayed", async () => {
    await makeDeliveries(world(), await makeEvents(world(), 2), { endpointId });
    await changeEndpoint(world(), "webhookEndpointDisable", { endpointId });
    const { data } = await withoutDelivery(world(), () => replayMany(world(), { input: { endpointId } }));
    expect(data).toMatchObject({ replayed: 0, skipped: [{ reason: "WEBHOOK_ENDPOINT_DISABLED", count: 2 }] });
  });

  it("are replayed once each under concurrent calls", async () => {
    await makeDeliveries(world(), await makeEvents(world(), 30), { endpointId });
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => replayMany(world(), { input: { endpointId } })),
    );
    expect(answers.map(({ data }) => data.replayed).toSorted((one, other) => one - other)).toEqual([
      0, 0, 0, 0, 30,
    ]);
    expect(await deliveryRows(world())).toHaveLength(60);
  });

  it.each([
    ["neither endpoint nor installation", {}, ["/endpointId required"]],
    [
      "a window of more than 30 days",
      { endpointId: "whe_x", since: "2026-01-01T00:00:00Z", until: "2026-01-31T00:00:00.001Z" },
      ["/until too_large"],
    ],
    [
      "an empty window",
      { endpointId: "whe_x", since: "2026-01-01T00:00:00Z", until: "2026-01-01T00:00:00Z" },
      ["/until too_small"],
    ],
    ["no cursor", { endpointId: "whe_x", after: "nonsense" }, ["/after pattern_mismatch"]],
    ["a long note", { endpointId: "whe_x", note: "x".repeat(201) }, ["/note too_long"]],
  ] as const)("are not replayed with %s", async (_name, input, fields) => {
    const { error } = await withoutDelivery(world(), () => replayMany(world(), { input }));
    expect(error.code).toBe("invalid_field");
    expect(
      error.details.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`),
    ).toEqual(fields);
  });
});
