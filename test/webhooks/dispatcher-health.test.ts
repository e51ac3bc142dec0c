/**
 * A failing endpoint gets fewer attempts, its installation is notified, and finally the endpoint is disabled.
 * One success restores its health.
 */
import { beforeAll, beforeEach, expect, it } from "vitest";
import { describeOnBoth } from "#test/support/databases.ts";
import {
  arrived,
  createDispatchWorld,
  type DispatchWorld,
  type EndpointMade,
  type Installed,
  refused,
} from "./dispatch-world.ts";

const hourMs = 3_600_000;

describeOnBoth("the health of an endpoint", (open) => {
  let world: DispatchWorld;
  beforeAll(async () => {
    world = createDispatchWorld(await open({ poolSize: 10 }));
  });
  beforeEach(async () => {
    // Suspends the installations of earlier tests, so that their deliveries do not count.
    await world.database.db.updateTable("installation").set({ status: "suspended" }).execute();
    world.sent.length = 0;
    world.answer = () => arrived;
  });

  const drain = (): Promise<void> => world.dispatcher().drain();
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
      .orderBy("nextAttemptAt")
      .orderBy("id")
      .execute();
  const statuses = async (endpoint: EndpointMade): Promise<string[]> =>
    (await deliveries(endpoint)).map(({ status }) => status).toSorted();
  const endpointRow = ({ id }: EndpointMade) =>
    world.database.db
      .selectFrom("webhookEndpoint")
      .select(["status", "disabledReason", "disabledAt", "version"])
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
  const setHealth = ({ id }: EndpointMade, health: { failingSince: Date; failedSinceSuccess?: number }) =>
    world.database.db
      .updateTable("webhookEndpointHealth")
      .set({ ...health, consecutiveFailures: 3 })
      .where("endpointId", "=", id)
      .execute();
  /** The event types that the endpoint's receiver got, without orders. */
  const sentTo = ({ url }: EndpointMade): string[] =>
    world.sent
      .filter((request) => request.url === url)
      .map(({ headers }) => headers["webhook-event-type"] ?? "")
      .filter((type) => type !== "order.placed");

  it("pauses after 20 failures, probes once a minute, and sends all deliveries after a success", async () => {
    const shop = await world.merchant();
    const endpoint = await rested(shop);
    world.answer = () => refused();
    await events(shop, 30);
    await drain();
    expect(world.sent).toHaveLength(20);
    world.clock.advance(59_999);
    await drain();
    expect(world.sent).toHaveLength(20);
    for (const probes of [1, 2]) {
      world.clock.advance(probes === 1 ? 1 : 60_000);
      const [oldest] = await deliveries(endpoint);
      await drain();
      expect(world.sent).toHaveLength(20 + probes);
      expect(world.sent.at(-1)?.headers["webhook-delivery-id"]).toBe(oldest?.id);
    }
    world.answer = () => arrived;
    world.clock.advance(60_000);
    await drain();
    world.clock.advance(1000);
    await drain();
    expect(await statuses(endpoint)).toEqual(Array.from({ length: 30 }, () => "succeeded"));
  });

  it("waits as long as Retry-After asks, at most a day", async () => {
    const shop = await world.merchant();
    const endpoint = await rested(shop);
    const waits: number[] = [];
    await world.event(shop);
    for (const retryAfterSeconds of [120, 1, 1_000_000]) {
      world.answer = () => refused(503, retryAfterSeconds);
      await drain();
      const [delivery] = await deliveries(endpoint);
      waits.push(((delivery?.nextAttemptAt?.getTime() ?? 0) - world.clock.now().getTime()) / 1000);
      world.clock.at = delivery?.nextAttemptAt ?? world.clock.at;
    }
    expect(waits).toEqual([120, 300, 86_400]);
  });

  it("disables an endpoint that answers 410, and notifies the installation's other endpoints", async () => {
    const shop = await world.merchant();
    const gone = await rested(shop);
    world.answer = () => refused();
    await world.event(shop);
    await drain();
    const [other, foreign] = [
      await world.endpoint(shop),
      await world.endpoint(await secondInstallation(world, shop)),
    ];
    world.clock.advance(1000);
    world.answer = ({ url }) => (url === gone.url ? refused(410) : arrived);
    await events(shop, 6);
    await drain();
    expect(await endpointRow(gone)).toEqual({
      status: "auto_disabled",
      disabledReason: "gone",
      disabledAt: world.clock.now(),
      version: 2,
    });
    expect(await statuses(gone)).toEqual([
      "exhausted",
      "exhausted",
      "exhausted",
      "exhausted",
      "retrying",
      "skipped",
      "skipped",
    ]);
    expect([sentTo(gone), sentTo(other), sentTo(foreign)]).toEqual([
      [],
      ["webhook_endpoint.auto_disabled"],
      [],
    ]);
    await world.event(shop);
    await drain();
    expect((await statuses(gone)).filter((status) => status === "skipped")).toHaveLength(3);
  });

  it("becomes degraded after a day without a success, and is published once", async () => {
    const shop = await world.merchant();
    const [failing, other] = [await rested(shop), await rested(shop)];
    world.answer = ({ url }) => (url === failing.url ? refused() : arrived);
    await setHealth(failing, { failingSince: new Date(world.clock.now().getTime() - 24 * hourMs + 1) });
    await world.event(shop);
    await drain();
    expect(sentTo(other)).toEqual([]);
    world.clock.advance(1);
    for (let turn = 0; turn < 2; turn += 1) {
      await world.event(shop);
      await drain();
    }
    expect([sentTo(failing), sentTo(other)]).toEqual([[], ["webhook_endpoint.degraded"]]);
    expect(await endpointRow(failing)).toMatchObject({ status: "enabled", version: 1 });
  });

  it.each([
    ["five days, and ten deliveries that failed", 0, 10, "auto_disabled"],
    ["a moment less than five days", 1, 10, "enabled"],
    ["nine deliveries that failed", 0, 9, "enabled"],
  ] as const)("is after %s %#", async (_name, tooEarlyMs, failed, status) => {
    const shop = await world.merchant();
    const [failing, other] = [await rested(shop), await rested(shop)];
    world.answer = ({ url }) => (url === failing.url ? refused() : arrived);
    await world.event(shop);
    await drain();
    const { db } = world.database;
    await db
      .updateTable("webhookDelivery")
      .set({ attemptCount: 9 })
      .where("endpointId", "=", failing.id)
      .execute();
    world.clock.advance(5000);
    const failingSince = new Date(world.clock.now().getTime() - 5 * 24 * hourMs + tooEarlyMs);
    await setHealth(failing, { failingSince, failedSinceSuccess: failed });
    await drain();
    expect(await statuses(failing)).toContain("exhausted");
    expect(await endpointRow(failing)).toMatchObject({
      status,
      disabledReason: status === "enabled" ? null : "failing",
    });
    expect(sentTo(other)).toEqual([
      status === "enabled" ? "webhook_endpoint.degraded" : "webhook_endpoint.auto_disabled",
    ]);
  });

  it.each(["webhookEndpoint", "installation"] as const)(
    "keeps started deliveries waiting while its %s is disabled, and resumes them when it is enabled",
    async (part) => {
      const shop = await world.merchant();
      const endpoint = await rested(shop);
      const { db } = world.database;
      const turn = async (isOn: boolean): Promise<unknown> =>
        part === "webhookEndpoint"
          ? db
              .updateTable("webhookEndpoint")
              .set(
                isOn
                  ? { status: "enabled", disabledReason: null, disabledAt: null }
                  : { status: "disabled", disabledReason: "manual", disabledAt: world.clock.now() },
              )
              .where("id", "=", endpoint.id)
              .execute()
          : db
              .updateTable("installation")
              .set({ status: isOn ? "active" : "suspended" })
              .where("id", "=", shop.installationId)
              .execute();
      world.answer = () => refused();
      await world.event(shop);
      await drain();
      world.answer = () => arrived;
      await turn(false);
      world.clock.advance(hourMs);
      await world.event(shop);
      await drain();
      expect(world.sent).toHaveLength(1);
      expect(await statuses(endpoint)).toEqual(["retrying", "skipped"]);
      await turn(true);
      await drain();
      expect(world.sent.map(({ headers }) => headers["webhook-attempt"])).toEqual(["1", "2"]);
      expect(await statuses(endpoint)).toEqual(["skipped", "succeeded"]);
    },
  );
});

async function secondInstallation(world: DispatchWorld, { merchantId }: Installed): Promise<Installed> {
  const { installationId } = await world.merchant();
  await world.database.db
    .updateTable("installation")
    .set({ merchantId })
    .where("id", "=", installationId)
    .execute();
  return { merchantId, installationId };
}
