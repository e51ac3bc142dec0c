/** Field filters: an endpoint receives an event only if one of the named fields has changed. */
import { beforeAll, expect, it } from "vitest";
import { describeOnBoth } from "#test/support/databases.ts";
import { createDispatchWorld, type DispatchWorld, type Installed } from "./dispatch-world.ts";

describeOnBoth("endpoints with field filters", (open) => {
  let world: DispatchWorld;
  let shop: Installed;
  beforeAll(async () => {
    world = createDispatchWorld(await open());
    shop = await world.merchant();
  });

  it("receive events in which a named field changed, events without a comparison, and other types", async () => {
    const { db } = world.database;
    const { url } = await world.endpoint(shop);
    const fieldFilters = JSON.stringify({ "order.updated": ["status", "paymentStatus"] });
    await db.updateTable("webhookEndpoint").set({ fieldFilters }).where("url", "=", url).execute();
    const { url: unfiltered } = await world.endpoint(shop);
    const event = async (
      data: object,
      type: "order.updated" | "order.completed" = "order.updated",
    ): Promise<string> => {
      const id = await world.event(shop, { type });
      await db
        .updateTable("event")
        .set({ snapshot: JSON.stringify({ id, data }) })
        .where("id", "=", id)
        .execute();
      return id;
    };
    const wanted = [
      await event({ object: {}, previous: { paymentStatus: "pending", updatedAt: "x" } }),
      await event({ object: {}, previous: { status: null } }),
      await event({ object: {}, previous: null }),
      await event({ object: { id: "x" }, previous: null, truncated: true }),
      await event({ object: {} }),
      await event({ object: {}, previous: { returnStatus: "none" } }, "order.completed"),
    ];
    const unwanted = [
      await event({ object: {}, previous: { returnStatus: "none", updatedAt: "x" } }),
      await event({ object: { status: "placed" }, previous: {} }),
    ];
    // Fills the token buckets of the endpoints.
    world.clock.advance(1_000);
    await world.dispatcher().drain();
    const sentTo = (to: string): string[] =>
      world.sent.filter((request) => request.url === to).map(({ headers }) => headers["webhook-id"] ?? "");
    expect(sentTo(url).toSorted()).toEqual(wanted.toSorted());
    expect(sentTo(unfiltered).toSorted()).toEqual([...wanted, ...unwanted].toSorted());
  });
});
