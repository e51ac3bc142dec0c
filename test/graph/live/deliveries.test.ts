/**
 * Subscriptions of an endpoint's deliveries: they send every delivery whose state changes in any process, and
 * group many changes into one message.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { sql } from "kysely";
import { startReceiver } from "#soak/webhook-receiver.ts";
import { makeCart } from "#test/operations/cart-calls.ts";
import { makeEndpoint } from "#test/operations/webhook-calls.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createChangedDeliveryIdsFinder, endpointsPerQuery } from "#webhooks/watch-deliveries.ts";
import { makeDeliveries, makeEvents } from "#test/webhooks/delivery-rows.ts";
import { anotherProcess, type Followed, useStreams } from "./streams.ts";

const deliveryChanged = `subscription ($endpointId: ID!) { deliveryChanged(endpointId: $endpointId) {
  deliveries { id status attemptCount lastAttempt { httpStatus } event { type } } readAnew } }`;
interface Delivery {
  readonly id: string;
  readonly status: string;
  readonly attemptCount: number;
}

describe.each(["pglite", "postgres"] as const)("subscriptions of deliveries on %s", (engine) => {
  // Only the tests' own workers send deliveries: this world's process does not.
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
  /** Collects the states of each delivery, in order, until the condition holds. */
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
  /** Creates an endpoint without the deliveries of its creation. */
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

  it("read some endpoints per query, so that no subscriber waits for long", async () => {
    const look = createChangedDeliveryIdsFinder(world().database.db);
    const id = await quietEndpoint();
    const ids = [...Array.from({ length: 2 * endpointsPerQuery }, (_, index) => `whe_none_${index}`), id];
    await look(ids);
    const [made] = await makeDeliveries(world(), await makeEvents(world(), 1), { endpointId: id });
    world().statements.length = 0;
    const found = await look(ids);
    expect(world().statements.filter((text) => text.includes("as of_status"))).toHaveLength(3);
    expect([found.size, found.get(id)?.changed]).toEqual([ids.length, [made]]);
  });

  it("send the newest deliveries first, and then changes", async () => {
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

  it("send the end of an old delivery that is no longer among the newest", async () => {
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

  it("send the states of deliveries that a worker sends", async () => {
    // The receiver compares the time of a signature with its own clock.
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
    // The endpoint's rate limit refills with time, so the test clock advances.
    const passing = setInterval(() => world().clock.advance(100), 100);
    const states = await until(
      stream,
      (all) => [...all.values()].filter((list) => list.at(-1) === "SUCCEEDED 1").length > carts.length,
    );
    clearInterval(passing);
    // The endpoint's ping is delivered as well.
    expect(states.size).toBe(carts.length + 1);
    expect(receiver.violations).toEqual([]);
  });

  it("group many changes into one message, and say that there are more", async () => {
    const endpointId = await quietEndpoint();
    const stream = await follow(endpointId);
    expect(await nextOf(stream)).toEqual({ deliveries: [], readAnew: false });
    const events = await makeEvents(world(), 3_000);
    const ids = await makeDeliveries(world(), events, { endpointId, status: "pending" });
    const seen = new Set<string>();
    let isMore = false;
    while (!isMore) {
      const { deliveries, readAnew } = await nextOf(stream);
      expect(deliveries.length).toBeLessThanOrEqual(50);
      for (const { id } of deliveries) seen.add(id);
      isMore = readAnew;
    }
    expect(seen.size).toBeGreaterThan(0);
    // Later changes are sent as usual.
    const waiting = ids.toSorted().at(0) ?? "";
    await sql`update webhook_delivery set next_attempt_at = next_attempt_at - interval '1 minute'
      where id = ${waiting}`.execute(world().database.db);
    await set(waiting, "succeeded", 1);
    const states = await until(stream, (all) => all.get(waiting)?.at(-1) === "SUCCEEDED 1");
    expect(states.get(waiting)?.at(-1)).toBe("SUCCEEDED 1");
  });

  it("are open to callers that may read the merchant's deliveries", async () => {
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
