/**
 * Sets the clock an hour forward or back while the service runs: nothing happens twice, nobody stays refused,
 * and new events are delivered at once. Work that was scheduled before the clock was set back waits until its
 * time.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMemoryRateLimiter } from "#http/rate-limiter.ts";
import { createAddressWrite, openCart, openShop, parseAnswer, type Shop } from "#soak/shop.ts";
import { askOf, environment } from "#test/exactly-once/ask.ts";
import { describeOnBoth } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { createDispatchWorld, type DispatchWorld, type Installed } from "#test/webhooks/dispatch-world.ts";

const hourMs = 3_600_000;

const jumps = [
  ["back", -hourMs],
  ["forward", hourMs],
] as const;

it.each(jumps)(
  "a clock that is set an hour %s refuses nobody for longer than a rate limit window",
  async (_name, jumpMs) => {
    let now = 10 * hourMs;
    const limiter = createMemoryRateLimiter(1, () => now);
    for (let count = 0; count <= 20; count += 1) void limiter.consume("auth-fail", "x");
    expect(limiter.peek("auth-fail", "x")).toMatchObject({ remaining: 0, resetSeconds: 300 });
    now += jumpMs;
    expect(limiter.consume("auth-fail", "x")).toMatchObject({
      isExceeded: false,
      remaining: 19,
      resetSeconds: 300,
    });
  },
);

describe("a service whose clock is set", () => {
  let world: World;
  let shop: Shop;
  beforeAll(async () => {
    world = await createWorld("postgres", { environment });
    shop = await openShop(askOf(world.app), world.demo);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each(jumps)(
    "an hour %s finds idempotency records, reads existing data, and continues",
    async (_name, jumpMs) => {
      const ask = askOf(world.app);
      const { id } = await openCart(ask, shop);
      const write = createAddressWrite(shop, id);
      const first = await ask(write.request);
      world.clock.advance(jumpMs);

      const again = parseAnswer(await ask(write.request));
      expect([again.status, again.isReplay, again.text]).toEqual([200, true, first.text]);
      const next = parseAnswer(await ask(createAddressWrite(shop, id).request));
      expect([next.status, next.isReplay]).toEqual([200, false]);
      const { db } = world.database;
      const events = await db
        .selectFrom("event")
        .select("subjectVersion")
        .where("subjectId", "=", id)
        .orderBy("subjectVersion")
        .execute();
      expect(events.map(({ subjectVersion }) => subjectVersion)).toEqual([1, 2, 3]);
    },
  );
});

describeOnBoth("webhooks after the clock is set an hour back", (open) => {
  let world: DispatchWorld;
  let shop: Installed;
  beforeAll(async () => {
    world = createDispatchWorld(await open());
    shop = await world.merchant();
  });
  const sentTo = (url: string): number => world.sent.filter((request) => request.url === url).length;

  it("deliver new events, though the endpoint's burst limit was used up", async () => {
    const { url } = await world.endpoint(shop, { maxPerSecond: 1 });
    world.clock.advance(1000);
    await world.event(shop);
    await world.dispatcher().drain();
    expect(sentTo(url)).toBe(1);
    world.clock.advance(-hourMs);
    await world.event(shop);
    await world.dispatcher().drain();
    expect(sentTo(url)).toBe(2);
  });

  it("deliver new events, though a dispatcher died with all slots of the receiver in use", async () => {
    const { id, url } = await world.endpoint(shop);
    world.clock.advance(1000);
    for (let count = 0; count < 4; count += 1) await world.event(shop);
    await world.dispatcher().drain();
    const leasedUntil = new Date(world.clock.now().getTime() + 20_000);
    const taken = { status: "sending", lease: "of one that died", nextAttemptAt: leasedUntil } as const;
    await world.database.db.updateTable("webhookDelivery").set(taken).where("endpointId", "=", id).execute();
    const before = sentTo(url);
    world.clock.advance(-hourMs);
    await world.event(shop);
    await world.dispatcher().drain();
    expect(sentTo(url)).toBe(before + 1);
  });
});
