/** Races of checkouts in two processes: a short version of `npm run soak`. */
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceApp } from "#app/app.ts";
import { expireCheckoutSessions } from "#commerce/checkout/release-sessions.ts";
import { findCheckoutFaults } from "#soak/checkout-checks.ts";
import {
  createRaceCounts,
  raceCancel,
  raceSingleUse,
  type RaceRun,
  raceSubmits,
} from "#soak/checkout-races.ts";
import {
  type Checkout,
  toCheckout,
  createSessionWrite,
  openCheckout,
  readSession,
  createReadyCart,
  createSubmitWrite,
} from "#soak/checkout-shop.ts";
import { type SendRequest, openShop, parseAnswer, type Shop } from "#soak/shop.ts";
import { manyConnections } from "#test/support/databases.ts";
import { createWorld, type World } from "#test/support/world.ts";
import { askOf, environment, startBeside } from "./ask.ts";

describe.each(["pglite", "postgres"] as const)("racing checkouts on %s", (engine) => {
  let world: World;
  let others: ServiceApp[] = [];
  let shop: Shop;
  let senders: [SendRequest, ...SendRequest[]];

  beforeAll(async () => {
    world = await createWorld(engine, { environment, poolSize: manyConnections });
    // PGlite allows one process; on PostgreSQL two apps share nothing but the database.
    others = engine === "pglite" ? [] : [await startBeside(world, world.database)];
    senders = [askOf(world.app), ...others.map(askOf)];
    shop = await openShop(senders[0], world.demo);
  });
  afterAll(async () => {
    for (const other of others) await other.close();
    await world[Symbol.asyncDispose]();
  });

  /** Runs the payment drivers of every process. */
  const settle = async (): Promise<void> =>
    void (await Promise.all([world.app, ...others].map(({ payments }) => payments.drive())));

  const openRaces = (): RaceRun => ({
    senders,
    shop,
    settle,
    violations: [],
    sessionIds: [],
    counts: createRaceCounts(),
  });

  async function expectKept(sessionIds: readonly string[]): Promise<void> {
    await settle();
    expect(await findCheckoutFaults(world.database.db, sessionIds)).toEqual([]);
  }

  /** The authorizations that the provider received. */
  async function authorizationsOf(sessionIds: readonly string[]): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from test_provider_entry e join payment p on p.id = e.reference
      where e.kind = 'authorize' and p.session_id = any(${sessionIds}::text[])`.execute(world.database.db);
    return rows[0]?.count ?? 0;
  }

  it("redeem a code with one use in one of twenty checkouts, and charge no other buyer", async () => {
    const races = openRaces();
    await raceSingleUse(races, 20);
    expect(races.violations).toEqual([]);
    expect(races.counts["turned away"]).toBe(19);
    expect(await authorizationsOf(races.sessionIds)).toBe(1);
    await expectKept(races.sessionIds);
  });

  it("are either canceled or paid if both happen at once, twenty times", async () => {
    const races = openRaces();
    for (let round = 0; round < 20; round += 1) await raceCancel(races);
    expect(races.violations).toEqual([]);
    expect(races.counts.canceled + races.counts.completed).toBe(20);
    expect(Math.min(races.counts.canceled, races.counts.completed)).toBeGreaterThan(0);
    await expectKept(races.sessionIds);
  });

  it("are paid once if submitted twenty times at once", async () => {
    const races = openRaces();
    for (let round = 0; round < 2; round += 1) await raceSubmits(races, 20);
    expect(races.violations).toEqual([]);
    expect(await authorizationsOf(races.sessionIds)).toBe(2);
    await expectKept(races.sessionIds);
  });

  it("sell the last unit to one of twenty buyers", async () => {
    const cartIds: string[] = [];
    for (let cart = 0; cart < 20; cart += 1) cartIds.push(await createReadyCart(senders[0], shop));
    const [variantId = ""] = shop.variantIds;
    const { db } = world.database;
    const left = async (set: (stock: { onHand: number; reserved: number }) => number): Promise<void> => {
      const stock = await db
        .selectFrom("stockLevel")
        .select(["onHand", "reserved"])
        .where("variantId", "=", variantId)
        .executeTakeFirstOrThrow();
      const delta = set(stock) - stock.onHand;
      await sql`update stock_level set on_hand = on_hand + ${delta} where variant_id = ${variantId}`.execute(
        db,
      );
      await sql`insert into stock_movement (merchant_id, variant_id, delta, on_hand_after, reason, created_at)
        select merchant_id, variant_id, ${delta}, on_hand, 'correction', ${world.clock.now()} from stock_level
        where variant_id = ${variantId}`.execute(db);
    };
    const { onHand: before } = await db
      .selectFrom("stockLevel")
      .select("onHand")
      .where("variantId", "=", variantId)
      .executeTakeFirstOrThrow();
    await sql`update stock_level set backorder_limit = 0 where variant_id = ${variantId}`.execute(db);
    await left(({ reserved }) => reserved + 1);
    const outcomes = await Promise.all(
      cartIds.map(async (cartId, index) =>
        parseAnswer(
          await (senders[index % senders.length] ?? senders[0])(createSessionWrite(shop, cartId).request),
        ),
      ),
    );
    const won = outcomes.filter(({ code }) => code === undefined).map(toCheckout);
    expect(won).toHaveLength(1);
    expect(
      outcomes.filter(({ code }) => code !== undefined).map(({ status, code }) => [status, code]),
    ).toEqual(Array.from({ length: 19 }, () => [409, "invalid_state"]));
    await expectKept(won.map(({ sessionId }) => sessionId));
    await left(() => before);
  });

  it("are either paid or expired if submitted at their expiry", async () => {
    const checkouts: Checkout[] = [];
    for (let round = 0; round < 10; round += 1) checkouts.push(await openCheckout(senders[0], shop));
    const { clock, database, app } = world;
    const { publicUrl, render } = app.services;
    const outcomes = checkouts.map(async (checkout, index) =>
      parseAnswer(
        await (senders[index % senders.length] ?? senders[0])(createSubmitWrite(shop, checkout).request),
      ),
    );
    const expired = Promise.race(outcomes).then(async () => {
      clock.advance(60 * 60_000);
      return expireCheckoutSessions({ db: database.db, publicUrl, render, now: clock.now() });
    });
    await Promise.all([expired, ...outcomes]);
    await settle();
    for (const [index, answered] of (await Promise.all(outcomes)).entries()) {
      const { status, orderId } = await readSession(senders[0], shop, checkouts[index]?.sessionId ?? "");
      const isExpired = status === "EXPIRED";
      // Paid in time, but looked up too late: its session had expired then too.
      expect({ isDecided: isExpired || status === "COMPLETED", isOrdered: orderId !== null }).toEqual({
        isDecided: true,
        isOrdered: !isExpired,
      });
      if (answered.code !== undefined)
        expect([answered.code, status]).toEqual(["checkout_session_expired", "EXPIRED"]);
    }
    await expectKept(checkouts.map(({ sessionId }) => sessionId));
  });
});
