/**
 * What is sent to an endpoint can be followed: every delivery whose state changes is told, whoever sends it,
 * and a flood is told as what it came to.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { startReceiver } from "#soak/webhook-receiver.ts";
import { makeCart } from "#test/operations/cart-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createDeliveryWatcher, endpointsPerQuery } from "#webhooks/watch-deliveries.ts";
import { makeDeliveries, makeEvents } from "#test/webhooks/delivery-rows.ts";
import { anotherProcess, type Followed, useStreams } from "./streams.ts";

const deliveryChanged = `subscription ($endpointId: ID!) { deliveryChanged(endpointId: $endpointId) {
  deliveries { id status attemptCount lastAttempt { httpStatus } event { type } } readAnew } }`;
interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attemptCount: number;
}

describe.each(["pglite", "postgres"] as const)("following deliveries on %s", (engine) => {
  // Nothing is sent here but by whom a test starts.
  const world = useWorld(engine, {
    environment: { PORT: "0", WEBHOOK_ALLOW_LOOPBACK: "1" },
    role: "gateway",
  });
  beforeAll(async () => {
    await world().app.listen();
  });
  const followed = useStreams(world);
  const follow = (endpointId: string, token = "admin"): Promise<Followed> =>
    followed({ query: deliveryChanged, variables: { endpointId }, token });
  const nextOf = async (stream: Followed): Promise<{ deliveries: Delivery[]; readAnew: boolean }> =>
    (await stream.next()).data.deliveryChanged;
  /** What is told until the condition holds, each delivery with its states in order. */
  const until = async (
    stream: Followed,
    isEnough: (states: ReadonlyMap<string, string[]>) => boolean,
  ): Promise<ReadonlyMap<string, string[]>> => {
    const states = new Map<string, string[]>();
    while (!isEnough(states)) {
      for (const { id, status, attemptCount } of (await nextOf(stream)).deliveries) {
        states.set(id, [...(states.get(id) ?? []), `${status} ${attemptCount}`]);
      }
    }
    return states;
  };
  /** With deliveries of its own alone. */
  const quietEndpoint = async (): Promise<string> => {
    const { id } = await makeEndpoint(world());
    await sql`delete from webhook_delivery where endpoint_id = ${id}`.execute(world().database.db);
    return id;
  };
  const set = (
    id: string,
    status: "pending" | "succeeded" | "retrying" | "exhausted",
    attemptCount: number,
  ): Promise<unknown> =>
    world()
      .database.db.updateTable("webhookDelivery")
      .set({
        status,
        attemptCount,
        nextAttemptAt: status === "pending" || status === "retrying" ? world().clock.now() : null,
      })
      .where("id", "=", id)
      .execute();

  it("looks at some endpoints at a time, so that nobody else waits for long", async () => {
    const look = createDeliveryWatcher(world().database.db);
    const id = await quietEndpoint();
    const ids = [...Array.from({ length: 2 * endpointsPerQuery }, (_, index) => `whe_none_${index}`), id];
    await look(ids);
    const [made] = await makeDeliveries(world(), await makeEvents(world(), 1), { endpointId: id });
    world().statements.length = 0;
    const found = await look(ids);
    expect(world().statements.filter((text) => text.includes("as of_status"))).toHaveLength(3);
    expect([found.size, found.get(id)?.changed]).toEqual([ids.length, [made]]);
  });

  it("tells the newest first, and then what changes", async () => {
    const endpointId = await quietEndpoint();
    const [eventId = "", other = ""] = await makeEvents(world(), 2);
    const [first = ""] = await makeDeliveries(world(), [eventId], {
      endpointId,
      status: "retrying",
      attempts: 1,
    });
    const stream = await follow(endpointId);
    expect((await stream.next()).data.deliveryChanged).toEqual({
      deliveries: [
        {
          id: first,
          status: "RETRYING",
          attemptCount: 1,
          lastAttempt: { httpStatus: 500 },
          event: { type: "order.placed" },
        },
      ],
      readAnew: false,
    });
    await set(first, "retrying", 2);
    expect(await nextOf(stream)).toMatchObject({
      deliveries: [{ id: first, status: "RETRYING", attemptCount: 2 }],
      readAnew: false,
    });
    const [second = ""] = await makeDeliveries(world(), [other], { endpointId, status: "pending" });
    expect(await nextOf(stream)).toMatchObject({ deliveries: [{ id: second, status: "PENDING" }] });
    await set(first, "exhausted", 3);
    expect(await nextOf(stream)).toMatchObject({
      deliveries: [{ id: first, status: "EXHAUSTED", attemptCount: 3 }],
    });
    await set(second, "succeeded", 1);
    expect(await nextOf(stream)).toMatchObject({ deliveries: [{ id: second, status: "SUCCEEDED" }] });
  });

  it("tells how an old one ends that has long left the newest", async () => {
    const endpointId = await quietEndpoint();
    const events = await makeEvents(world(), 301);
    const [old = ""] = await makeDeliveries(world(), events.slice(0, 1), {
      endpointId,
      status: "retrying",
      attempts: 1,
    });
    world().clock.advance(1);
    await makeDeliveries(world(), events.slice(1), { endpointId, status: "succeeded" });
    const stream = await follow(endpointId);
    const first = await nextOf(stream);
    expect({ length: first.deliveries.length, readAnew: first.readAnew }).toEqual({
      length: 50,
      readAnew: true,
    });
    expect(first.deliveries.map(({ id }) => id)).toEqual(first.deliveries.map(({ id }) => id).toSorted());
    await set(old, "succeeded", 2);
    expect(await nextOf(stream)).toMatchObject({
      deliveries: [{ id: old, status: "SUCCEEDED", attemptCount: 2 }],
      readAnew: false,
    });
  });

  it("tells what a worker sends", async () => {
    // A receiver compares the time of a signature with its own.
    world().clock.at = new Date();
    await using receiver = await startReceiver({ reply: () => 204 });
    const { id: endpointId, secret } = await makeEndpoint(world(), {
      url: `${receiver.origin}/hooks`,
      eventTypes: ["cart.created"],
    });
    receiver.secrets.set("/hooks", secret);
    const stream = await follow(endpointId);
    await using worker = await anotherProcess(world(), "worker");
    expect(worker.services.watch?.watchers()).toBe(0);
    const carts = [await makeCart(world()), await makeCart(world())];
    // What an endpoint bears comes back to it with time.
    const passing = setInterval(() => world().clock.advance(100), 100);
    const states = await until(
      stream,
      (told) => [...told.values()].filter((all) => all.at(-1) === "SUCCEEDED 1").length > carts.length,
    );
    clearInterval(passing);
    // Its greeting as well.
    expect(states.size).toBe(carts.length + 1);
    expect(receiver.violations).toEqual([]);
  });

  it("tells a flood as what it came to, and that there is more", async () => {
    const endpointId = await quietEndpoint();
    const stream = await follow(endpointId);
    expect(await nextOf(stream)).toEqual({ deliveries: [], readAnew: false });
    const events = await makeEvents(world(), 3_000);
    const ids = await makeDeliveries(world(), events, { endpointId, status: "pending" });
    const told = new Set<string>();
    let isMore = false;
    while (!isMore) {
      const { deliveries, readAnew } = await nextOf(stream);
      expect(deliveries.length).toBeLessThanOrEqual(50);
      for (const { id } of deliveries) told.add(id);
      isMore = readAnew;
    }
    expect(told.size).toBeGreaterThan(0);
    // What comes after it is told like anything else.
    const waiting = ids.toSorted().at(0) ?? "";
    await sql`update webhook_delivery set next_attempt_at = next_attempt_at - interval '1 minute' where id = ${waiting}`.execute(
      world().database.db,
    );
    await set(waiting, "succeeded", 1);
    const states = await until(stream, (seen) => seen.get(waiting)?.at(-1) === "SUCCEEDED 1");
    expect(states.get(waiting)?.at(-1)).toBe("SUCCEEDED 1");
  });

  it("is for who reads the merchant's deliveries", async () => {
    const endpointId = await quietEndpoint();
    const { id: foreign } = await makeEndpoint(world(), { key: "otherMerchant" });
    for (const token of ["admin", "analyst", "operator"])
      expect(await nextOf(await follow(endpointId, token))).toEqual({ deliveries: [], readAnew: false });
    for (const id of [foreign, "whe_none"]) {
      const stream = await follow(id);
      expect((await stream.rest()).map(({ data }) => data)).toEqual([{ deliveryChanged: null }]);
    }
    const refused = await follow(endpointId, "storefront");
    expect({
      status: refused.response.status,
      code: (await refused.next()).errors[0].extensions.code,
    }).toEqual({
      status: 403,
      code: "role_not_allowed",
    });
  });
});
