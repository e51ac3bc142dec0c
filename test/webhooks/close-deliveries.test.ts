/**
 * Closes deliveries that would wait forever, because their endpoint is deleted, disabled, or may no longer
 * receive the event.
 */
import { beforeAll, expect, it } from "vitest";
import { describeOnBoth } from "#test/support/databases.ts";
import { endUndeliverableWebhookDeliveries } from "#webhooks/sweeps.ts";
import { createDispatchWorld, type DispatchWorld, type Installed, refused } from "./dispatch-world.ts";

describeOnBoth("waiting deliveries that can never be sent", (open) => {
  let world: DispatchWorld;
  beforeAll(async () => {
    world = createDispatchWorld(await open());
  });

  const statusesOf = async (endpointId: string): Promise<string[]> => {
    const { db } = world.database;
    const rows = await db
      .selectFrom("webhookDelivery")
      .select(["status", "nextAttemptAt", "lease"])
      .where("endpointId", "=", endpointId)
      .orderBy("id")
      .execute();
    for (const { status, nextAttemptAt } of rows)
      expect(nextAttemptAt !== null).toBe(["pending", "sending", "retrying"].includes(status));
    return rows.map(({ status }) => status).toSorted();
  };

  /** Inserts one delivery that was tried and waits, one leased by a dispatcher that died, and one new. */
  async function withThree(shop: Installed): Promise<string> {
    const { id } = await world.endpoint(shop, { maxPerSecond: 100 });
    const { db } = world.database;
    await world.event(shop);
    world.answer = () => refused();
    await world.dispatcher().drain();
    await world.event(shop);
    await world.event(shop);
    world.clock.advance(100);
    await world.dispatcher({ sendingMax: 0 }).drain();
    const [dying] = await db
      .selectFrom("webhookDelivery")
      .select("id")
      .where("endpointId", "=", id)
      .where("status", "=", "pending")
      .orderBy("id")
      .execute();
    await db
      .updateTable("webhookDelivery")
      .set({ status: "sending", lease: "of the dead", attemptCount: 1, nextAttemptAt: world.clock.now() })
      .where("id", "=", dying?.id ?? "")
      .execute();
    expect(await statusesOf(id)).toEqual(["pending", "retrying", "sending"]);
    return id;
  }

  it("are kept while they can still be sent", async () => {
    const id = await withThree(await world.merchant());
    await endUndeliverableWebhookDeliveries(world.database.db, world.clock.now());
    expect(await statusesOf(id)).toEqual(["pending", "retrying", "sending"]);
  });

  it("of a disabled endpoint are skipped if never tried, and otherwise wait for the endpoint", async () => {
    const id = await withThree(await world.merchant());
    const off = {
      status: "disabled" as const,
      disabledReason: "manual" as const,
      disabledAt: world.clock.now(),
    };
    await world.database.db.updateTable("webhookEndpoint").set(off).where("id", "=", id).execute();
    await endUndeliverableWebhookDeliveries(world.database.db, world.clock.now());
    expect(await statusesOf(id)).toEqual(["retrying", "retrying", "skipped"]);
  });

  it.each([
    ["an endpoint that is deleted", "endpoint"],
    ["an installation that is uninstalled", "installation"],
    ["what the installation may not read any more", "scopes"],
  ])("of %s are canceled", async (_name, what) => {
    const shop = await world.merchant();
    const id = await withThree(shop);
    const { db } = world.database;
    if (what === "endpoint")
      await db.updateTable("webhookEndpoint").set({ status: "deleted" }).where("id", "=", id).execute();
    const patch = what === "scopes" ? { scopes: [] as string[] } : { status: "uninstalled" as const };
    if (what !== "endpoint")
      await db.updateTable("installation").set(patch).where("id", "=", shop.installationId).execute();
    await endUndeliverableWebhookDeliveries(db, world.clock.now());
    expect(await statusesOf(id)).toEqual(["canceled", "canceled", "canceled"]);
  });

  it("are closed in several statements if they exceed a statement's limit", async () => {
    const shop = await world.merchant();
    for (let count = 0; count < 30; count += 1) await world.endpoint(shop);
    for (let count = 0; count < 200; count += 1) await world.event(shop);
    await world.dispatcher({ sendingMax: 0 }).drain();
    const { db } = world.database;
    const { total } = await db
      .selectFrom("webhookDelivery")
      .select((rows) => rows.fn.countAll<number>().as("total"))
      .where("merchantId", "=", shop.merchantId)
      .executeTakeFirstOrThrow();
    expect(total).toBe(6000);
    await db
      .updateTable("installation")
      .set({ status: "uninstalled" })
      .where("id", "=", shop.installationId)
      .execute();
    expect(await endUndeliverableWebhookDeliveries(db, world.clock.now())).toBe(6000);
  });
});
