/**
 * The dispatcher handles changes and internal errors: it sends nothing without permission, and loses no
 * delivery.
 */
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createLog } from "#foundation/log.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import type { EventType } from "#webhooks/event-types.ts";
import {
  arrived,
  createDispatchWorld,
  type DispatchWorld,
  type EndpointMade,
  type Installed,
  refused,
} from "./dispatch-world.ts";

/** `expect.poll` advances fake timers by its interval, so the interval is zero. */
const standing = { interval: 0 };

describeOnPostgres("the dispatcher", (open) => {
  let world: DispatchWorld;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 10 }));
  });
  beforeEach(async () => {
    // Uninstalls the installations of earlier tests, so that their deliveries do not count.
    await world.database.db.updateTable("installation").set({ status: "uninstalled" }).execute();
    world.sent.length = 0;
    world.answer = () => arrived;
  });
  afterEach(() => vi.useRealTimers());

  const drain = (): Promise<void> => world.dispatcher().drain();
  const after = async (ms: number): Promise<void> => {
    world.clock.advance(ms);
    await drain();
  };
  /** Creates an endpoint with a full token bucket. */
  const rested = async (shop: Installed): Promise<EndpointMade> => {
    const endpoint = await world.endpoint(shop);
    world.clock.advance(1000);
    return endpoint;
  };
  const events = async (shop: Installed, count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) await world.event(shop);
  };
  const deliveries = ({ id }: EndpointMade) =>
    world.database.db
      .selectFrom("webhookDelivery")
      .selectAll()
      .where("endpointId", "=", id)
      .orderBy("id")
      .execute();
  const healthOf = ({ id }: EndpointMade) =>
    world.database.db
      .selectFrom("webhookEndpointHealth")
      .select(["consecutiveFailures", "failingSince", "failedSinceSuccess", "lastFailureAt"])
      .where("endpointId", "=", id)
      .executeTakeFirstOrThrow();
  const endpointRow = ({ id }: EndpointMade) =>
    world.database.db
      .selectFrom("webhookEndpoint")
      .select(["status", "disabledReason", "version"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const change = (
    { installationId }: Installed,
    changed: { readonly status?: "active" | "suspended" | "uninstalled"; readonly scopes?: string[] },
  ) => world.database.db.updateTable("installation").set(changed).where("id", "=", installationId).execute();
  /** The endpoints and events that were sent, in order. */
  const sentEvents = (): string[] =>
    world.sent.map(({ url, headers }) => `${url} ${headers["webhook-event-type"]}`);

  describe("with a long queue of events", () => {
    it("creates deliveries of 200 events at a time, and sends them before it creates more", async () => {
      const shop = await world.merchant();
      await rested(shop);
      await events(shop, 450);
      const waiting: number[] = [];
      world.answer = async () => {
        waiting.push(await notFannedOut(world));
        return arrived;
      };
      await drain();
      expect(waiting[0]).toBe(250);
      expect(new Set(waiting)).toEqual(new Set([250, 50, 0]));
      expect(await notFannedOut(world)).toBe(0);
    });

    it("creates the remaining deliveries after one wake-up, without polling", async () => {
      const shop = await world.merchant();
      const endpoint = await rested(shop);
      vi.useFakeTimers({ toFake: ["setInterval"] });
      const dispatcher = world.dispatcher();
      await events(shop, 450);
      dispatcher.start();
      await expect.poll(() => notFannedOut(world), standing).toBe(0);
      await dispatcher.stop();
      expect(await deliveries(endpoint)).toHaveLength(450);
    });
  });

  it.each(["installation", "endpoint"] as const)(
    "counts running attempts as a turn of their %s",
    async (whose) => {
      const shop = await world.merchant();
      const slow = await rested(shop);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      world.answer = async ({ url }) => {
        if (url === slow.url) await end;
        return arrived;
      };
      await events(shop, 3);
      const busy = world.dispatcher({ sendingMax: 2 }).drain();
      await expect.poll(() => world.sent.length).toBe(2);
      // The other endpoint's event is newer than the waiting deliveries of the slow one.
      const other = whose === "installation" ? await world.merchant() : shop;
      const quick = await rested(other);
      await world.event({ merchantId: other.merchantId });
      const next = world.dispatcher({ sendingMax: 1 }).drain();
      await expect.poll(() => world.sent.length).toBeGreaterThan(2);
      expect(world.sent[2]?.url).toBe(quick.url);
      resolve();
      await Promise.all([busy, next]);
    },
  );

  describe("after an internal error", () => {
    it.each([
      ["a secret that cannot be opened", async (endpoint: EndpointMade) => spoilSecret(world, endpoint), 0],
      [
        "an answer that cannot be written",
        () => void (world.answer = () => ({ ...arrived, durationMs: 2 ** 40 })),
        1,
      ],
      [
        "a failure that cannot be written",
        () => void (world.answer = () => ({ ...refused(), durationMs: 2 ** 40 })),
        1,
      ],
    ] as const)(
      "retries as after a failed attempt, and gives up at the end, without harm to the endpoint's health: %s",
      async (_name, spoil, sent) => {
        const shop = await world.merchant();
        const endpoint = await rested(shop);
        await spoil(endpoint);
        await world.event(shop);
        const delays = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
        for (const [index, seconds] of delays.entries()) {
          await drain();
          const nextAttemptAt = new Date(world.clock.now().getTime() + seconds * 1000);
          await after(seconds * 1000 - 1);
          expect(await deliveries(endpoint)).toMatchObject([
            { status: "retrying", attemptCount: index + 1, nextAttemptAt, lease: null },
          ]);
          expect(world.sent).toHaveLength((index + 1) * sent);
          world.clock.advance(1);
        }
        await drain();
        await after(7 * 86_400_000);
        expect(await deliveries(endpoint)).toMatchObject([
          { status: "exhausted", attemptCount: 10, nextAttemptAt: null, lease: null },
        ]);
        expect(world.sent).toHaveLength(10 * sent);
        expect(await healthOf(endpoint)).toEqual({
          consecutiveFailures: 0,
          failingSince: null,
          failedSinceSuccess: 0,
          lastFailureAt: null,
        });
        expect(await endpointRow(endpoint)).toEqual({ status: "enabled", disabledReason: null, version: 1 });
      },
    );
  });

  describe("of an installation that is disabled", () => {
    it.each(["suspended", "uninstalled"] as const)(
      "sends it only the event that it is %s, in however many batches",
      async (status) => {
        const shop = await world.merchant();
        const neighbor = await secondInstallation(world, shop);
        const [own, others] = [await rested(shop), await rested(neighbor)];
        world.answer = ({ url }) => (url === own.url ? refused() : arrived);
        // A delivery waits for a retry when the installation ends.
        await world.event(shop);
        await drain();
        world.sent.length = 0;
        await change(shop, { status });
        const type: EventType = `installation.${status}`;
        const about = {
          subjectType: "installation",
          subjectId: shop.installationId,
          installationId: shop.installationId,
        };
        await world.event(shop, { type, ...about });
        await world.event(shop, { type: "promotion.started", subjectType: "promotion" });
        await drain();
        world.answer = () => arrived;
        await after(5000);
        expect(sentEvents().toSorted()).toEqual(
          [`${own.url} ${type}`, `${own.url} ${type}`, `${others.url} promotion.started`].toSorted(),
        );
      },
    );

    it("resumes waiting deliveries when the installation is active again", async () => {
      const shop = await world.merchant();
      const endpoint = await rested(shop);
      world.answer = () => refused();
      await world.event(shop);
      await drain();
      await change(shop, { status: "suspended" });
      await after(3_600_000);
      expect(world.sent).toHaveLength(1);
      await change(shop, { status: "active" });
      world.answer = () => arrived;
      await drain();
      expect(await deliveries(endpoint)).toMatchObject([{ status: "succeeded", attemptCount: 2 }]);
    });
  });

  it("does not send a waiting delivery that the installation may no longer read", async () => {
    const shop = await world.merchant();
    const endpoint = await rested(shop);
    world.answer = () => refused();
    await world.event(shop);
    await world.event(shop, { type: "promotion.started", subjectType: "promotion" });
    await drain();
    world.sent.length = 0;
    await change(shop, { scopes: [] });
    world.answer = () => arrived;
    await after(5000);
    expect(sentEvents()).toEqual([`${endpoint.url} promotion.started`]);
    await change(shop, { scopes: ["catalog:read"] });
    await after(1000);
    expect(sentEvents().at(-1)).toEqual(`${endpoint.url} order.placed`);
    expect((await deliveries(endpoint)).map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  });

  describe("while an endpoint's URL changes", () => {
    it.each([
      ["410", refused(410), 0],
      ["a failure after five days of them", refused(), 9],
    ] as const)(
      "does not disable the endpoint because of the old URL's answer: %s",
      async (_name, said, failedSinceSuccess) => {
        const shop = await world.merchant();
        const endpoint = await rested(shop);
        const { db } = world.database;
        const failing = {
          failingSince: new Date(world.clock.now().getTime() - 5 * 86_400_000),
          consecutiveFailures: 9,
          failedSinceSuccess,
        };
        if (failedSinceSuccess > 0)
          await db
            .updateTable("webhookEndpointHealth")
            .set(failing)
            .where("endpointId", "=", endpoint.id)
            .execute();
        const moved = {
          url: "https://moved.example.com/",
          urlNormalized: `https://moved.example.com/${endpoint.id}`,
          version: 2,
        };
        world.answer = async () => {
          await db.updateTable("webhookEndpoint").set(moved).where("id", "=", endpoint.id).execute();
          return said;
        };
        await world.event(shop);
        await world.dispatcher({ sendingMax: 1 }).drain();
        expect(sentEvents()).toEqual([`${endpoint.url} order.placed`]);
        expect(await endpointRow(endpoint)).toEqual({ status: "enabled", disabledReason: null, version: 2 });
        world.answer = () => arrived;
        await world.event(shop);
        await after(1000);
        expect(sentEvents().at(-1)).toEqual(`${moved.url} order.placed`);
      },
    );
  });
});

describeOnPostgres("a dispatcher whose database fails", (open) => {
  afterEach(() => vi.useRealTimers());

  it("pauses for a second, however often it is woken, and then continues", async () => {
    const world = createDispatchWorld(await open({ poolSize: 10 }));
    const { db, script } = world.database;
    const shop = await world.merchant();
    await world.endpoint(shop);
    world.clock.advance(1000);
    await world.event(shop);
    const log = createLog("silent");
    const faults = vi.spyOn(log, "error");
    const rename = (from: string, to: string): Promise<unknown> =>
      script((run) => run(`alter table ${from} rename to ${to}`));
    const wakeOften = async (): Promise<void> => {
      for (let times = 0; times < 20; times += 1) {
        dispatcher.wake();
        await db.selectFrom("merchant").select("id").execute();
      }
    };
    await rename("webhook_delivery", "away");
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] });
    const dispatcher = world.dispatcher({ log });
    dispatcher.start();
    await expect.poll(() => dispatchFaults(faults), standing).toBe(1);
    for (const count of [2, 3]) {
      await wakeOften();
      vi.advanceTimersByTime(999);
      await wakeOften();
      expect(dispatchFaults(faults)).toBe(count - 1);
      vi.advanceTimersByTime(1);
      await expect.poll(() => dispatchFaults(faults), standing).toBe(count);
    }
    await rename("away", "webhook_delivery");
    vi.advanceTimersByTime(1000);
    await expect.poll(() => world.sent.length, standing).toBe(1);
    expect(dispatchFaults(faults)).toBe(3);
    await dispatcher.stop();
  });
});

const dispatchFaults = ({
  mock,
}: {
  readonly mock: { readonly calls: readonly (readonly unknown[])[] };
}): number => mock.calls.filter(([, message]) => message === "Webhooks could not be dispatched.").length;

async function notFannedOut({ database }: DispatchWorld): Promise<number> {
  return (await database.db.selectFrom("event").select("id").where("fannedOutAt", "is", null).execute())
    .length;
}

/** Makes the secret unreadable, as after a restore with other encryption keys. */
async function spoilSecret({ database }: DispatchWorld, { id }: EndpointMade): Promise<void> {
  await database.db
    .updateTable("webhookSecret")
    .set({ keyId: "lost" })
    .where("endpointId", "=", id)
    .execute();
}

async function secondInstallation(world: DispatchWorld, { merchantId }: Installed): Promise<Installed> {
  const { installationId } = await world.merchant();
  await world.database.db
    .updateTable("installation")
    .set({ merchantId })
    .where("id", "=", installationId)
    .execute();
  return { merchantId, installationId };
}
