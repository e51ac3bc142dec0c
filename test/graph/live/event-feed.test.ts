/**
 * The event feed over GraphQL: pages with bodies, refused arguments, and the subscription that waits for
 * events.
 */
import { beforeAll, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";
import { makeEvents } from "#test/webhooks/delivery-rows.ts";
import { useStreams } from "./streams.ts";

describe.each(["pglite", "postgres"] as const)("the event feed over GraphQL on %s", (engine) => {
  const world = useWorld(engine, { environment: { PORT: "0" }, role: "gateway" });
  beforeAll(async () => {
    await world().app.listen();
    await position();
  });
  const followed = useStreams(world);
  const position = async (): Promise<void> => {
    while ((await fanOutEventsToWebhookDeliveries(world().database.db, world().clock.now())).events > 0);
  };
  const ask = async (args: string, token = "admin") => {
    const query = `{ feed: eventFeed(${args}) { events { id type body } cursor hasMore } }`;
    const { body } = await world().graphql(query, { token });
    return body.errors?.[0]?.extensions ?? body.data.feed;
  };
  const endCursor = async (): Promise<string> => (await ask("start: END, first: 1")).cursor;

  it("continues after a cursor, with bodies that analysts do not get", async () => {
    const after = await endCursor();
    const ids = await makeEvents(world(), 3);
    const [foreign = ""] = await makeEvents(world(), 1, { merchantId: world().demo.merchants.second.id });
    await position();
    const first = await ask(`after: "${after}", first: 2`);
    expect(first).toMatchObject({ events: ids.slice(0, 2).map((id) => ({ id })), hasMore: true });
    expect(JSON.parse(first.events[0].body)).toMatchObject({
      id: ids[0],
      data: { object: { note: "Grüße" } },
    });
    const rest = await ask(`after: "${first.cursor}", types: ["order.placed"]`);
    expect(rest).toMatchObject({ events: [{ id: ids[2] }], hasMore: false, cursor: await endCursor() });
    const seen = await ask(`after: "${first.cursor}"`, "analyst");
    expect(seen.events).toEqual([{ id: ids[2], type: "order.placed", body: null }]);
    const all = await ask(`after: "${first.cursor}"`, "operator");
    expect(all.events.map(({ id }: { id: string }) => id)).toEqual([ids[2], foreign]);
  });

  it("refuses wrong arguments, and names what is allowed", async () => {
    expect(await ask("first: 101")).toMatchObject({
      details: [{ field: "/first", code: "too_large", message: '"first" must be an integer from 1 to 100.' }],
    });
    expect(await ask("first: 0")).toMatchObject({ details: [{ field: "/first", code: "too_small" }] });
    expect(await ask('types: ["order.placed", "order.update"]')).toMatchObject({
      details: [
        {
          field: "/types/1",
          code: "not_allowed",
          message: '"order.update" is not an allowed event type; the nearest is order.updated.',
          allowed: expect.arrayContaining(["order.updated"]),
        },
      ],
    });
    expect(await ask('after: "x"')).toMatchObject({
      code: "invalid_field",
      details: [{ field: "/after", code: "invalid_format" }],
    });
  });

  it("is followed by a subscription, which sends the missed events and then waits for new ones", async () => {
    const after = await endCursor();
    const missed = await makeEvents(world(), 3);
    await position();
    const query = `subscription ($after: String) { page: eventFeedChanged(after: $after, first: 2) {
      events { id } cursor hasMore } }`;
    const stream = await followed({ query, variables: { after } });
    const nextIds = async (): Promise<[string[], boolean]> => {
      const { events, hasMore } = (await stream.next()).data.page;
      return [events.map(({ id }: { id: string }) => id), hasMore];
    };
    expect(await nextIds()).toEqual([missed.slice(0, 2), true]);
    expect(await nextIds()).toEqual([missed.slice(2), false]);
    const added = await makeEvents(world(), 1);
    await position();
    expect(await nextIds()).toEqual([added, false]);
    const refused = await followed({ query, variables: { after: "x" } });
    expect((await refused.next()).errors[0].extensions).toMatchObject({ code: "invalid_field" });
    expect(await refused.next()).toBe("complete");
  });
});
