/**
 * `POST /listen`: which events a listener receives, that its cursor misses and repeats none, and who may
 * listen.
 */
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import type { EventType } from "#webhooks/event-types.ts";
import { fanOutEventsToWebhookDeliveries } from "#webhooks/dispatch/fan-out.ts";
import { listenedEventsMax } from "#webhooks/listened-events.ts";
import { getLowestIdAtTime } from "#foundation/ids.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

const world = useWorld();

const send = (body: Readonly<Record<string, unknown>> = {}, key = world().demo.keys.full): Promise<Answer> =>
  world().send({
    method: "POST",
    url: "/listen",
    headers: { authorization: `Bearer ${key}` },
    body: { waitSeconds: 0, ...body },
  });

/** Gives all new events their positions in the event feed, as a worker does. */
const positionEvents = async (): Promise<void> => {
  while ((await fanOutEventsToWebhookDeliveries(world().database.db, world().clock.now())).events > 0);
};

const listen = async (...args: Parameters<typeof send>): Promise<Answer> => {
  await positionEvents();
  return send(...args);
};

interface InsertedEvent {
  readonly at?: Date;
  readonly type?: EventType;
  readonly merchantId?: string;
  readonly installationId?: string | null;
}

let count = 0;

/** Inserts an event as a transaction would that began at the given time. Returns the event's id. */
async function insertEvent({
  at = world().clock.now(),
  type = "cart.updated",
  merchantId = world().demo.merchants.first.id,
  installationId = null,
}: InsertedEvent = {}): Promise<string> {
  count += 1;
  const id = `${getLowestIdAtTime("event", at.getTime()).slice(0, -6)}${String(count).padStart(6, "0")}`;
  const [subjectType = ""] = type.split(".");
  await world()
    .database.db.insertInto("event")
    .values({
      id,
      merchantId,
      installationId,
      type,
      schemaVersion: 1,
      subjectType,
      subjectId: `${subjectType}_1`,
      subjectVersion: 1,
      snapshot: JSON.stringify({ id, type }),
      thin: "{}",
      occurredAt: at,
      fannedOutAt: null,
    })
    .execute();
  return id;
}

const idsOf = ({ body }: Answer): string[] =>
  body.data.requests.map(({ event }: { event: { id: string } }) => event.id);
const later = (ms: number): Date => (world().clock.at = new Date(world().clock.at.getTime() + ms));

describe("a listener", () => {
  it("receives new events with a signature that receivers verify", async () => {
    later(1);
    world().clock.at = new Date();
    const { body: begun } = await listen();
    const id = await insertEvent();
    const answer = await listen({ cursor: begun.data.cursor });
    expect(idsOf(answer)).toEqual([id]);
    const [{ headers, body }] = answer.body.data.requests;
    expect(new Webhook(begun.data.secret).verify(body, headers)).toEqual({ id, type: "cart.updated" });
    expect(headers).toMatchObject({
      "webhook-id": id,
      "webhook-installation-id": begun.data.installation.id,
    });
    expect(answer.body.data.secret).toBe(begun.data.secret);
    expect((await listen({}, world().demo.keys.webhooksWrite)).body.data.secret).not.toBe(begun.data.secret);
  });

  it("receives an event whose transaction committed after newer events, and no event twice", async () => {
    const start = later(1_000);
    const { cursor } = (await listen()).body.data;
    const newer = await insertEvent({ at: later(60_000) });
    const first = await listen({ cursor });
    expect(idsOf(first)).toEqual([newer]);
    // The transaction has taken longer than any earlier event is remembered.
    later(3_600_000);
    const late = await insertEvent({ at: new Date(start.getTime() + 1) });
    const second = await listen({ cursor: first.body.data.cursor });
    expect(idsOf(second)).toEqual([late]);
    expect(idsOf(await listen({ cursor: second.body.data.cursor }))).toEqual([]);
    expect(idsOf(await listen({ since: start.toISOString() }))).toEqual([newer, late]);
    expect(idsOf(await listen({ since: new Date(start.getTime() + 60_000).toISOString() }))).toEqual([
      newer,
      late,
    ]);
  });

  it("waits for the positions of events that have occurred already", async () => {
    const { cursor } = (await listen()).body.data;
    const id = await insertEvent();
    const { statements } = world();
    statements.length = 0;
    const waiting = send({ cursor, waitSeconds: 0 });
    await expect.poll(() => statements.some((text) => text.includes("has_waiting_events"))).toBe(true);
    await positionEvents();
    expect(idsOf(await waiting)).toEqual([id]);
  });

  it("continues after events that it does not want", async () => {
    const { cursor } = (await listen()).body.data;
    await insertEvent();
    const skipped = (await listen({ cursor, eventTypes: ["order.*"] })).body.data;
    expect(skipped).toMatchObject({ requests: [], cursor: { position: cursor.position + 1 } });
  });

  it("receives more events than fit into one answer, oldest first", async () => {
    later(300_000);
    const { cursor } = (await listen()).body.data;
    const ids: string[] = [];
    for (let index = 0; index < listenedEventsMax + 10; index += 1) ids.push(await insertEvent());
    const first = await listen({ cursor });
    const second = await listen({ cursor: first.body.data.cursor });
    expect([...idsOf(first), ...idsOf(second)]).toEqual(ids);
  });

  it("receives only events that an endpoint of its installation would receive", async () => {
    later(300_000);
    const { cursor, installation } = (await listen()).body.data;
    const { first, second } = world().demo.merchants;
    const other = await world()
      .database.db.selectFrom("installation")
      .select("id")
      .where("merchantId", "=", second.id)
      .executeTakeFirstOrThrow();
    await insertEvent({ merchantId: second.id });
    await insertEvent({ merchantId: second.id, installationId: other.id, type: "api_key.created" });
    const own = await insertEvent({ installationId: installation.id, type: "api_key.created" });
    const cart = await insertEvent();
    expect(idsOf(await listen({ cursor }))).toEqual([own, cart]);
    expect(idsOf(await listen({ cursor, eventTypes: ["cart.*"] }))).toEqual([cart]);
    expect(idsOf(await listen({ cursor, eventTypes: ["api_key.created", "order.*"] }))).toEqual([own]);
    const { db } = world().database;
    const scopes = (list: readonly string[]): Promise<unknown> =>
      db
        .updateTable("installation")
        .set({ scopes: [...list] as never })
        .where("id", "=", installation.id)
        .where("merchantId", "=", first.id)
        .execute();
    await scopes(["webhooks:write"]);
    expect(idsOf(await listen({ cursor }))).toEqual([own]);
    await scopes(["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"]);
  });

  it("waits for an event", async () => {
    later(300_000);
    const { cursor } = (await listen()).body.data;
    const waiting = send({ cursor, waitSeconds: 20 });
    const id = await insertEvent();
    await positionEvents();
    expect(idsOf(await waiting)).toEqual([id]);
  });
});

describe("who may listen", () => {
  it("an API key with the scope webhooks:write, and an internal token with the role admin", async () => {
    const { keys, tokens } = world().demo;
    const codes = async (credentials: readonly string[]): Promise<unknown[]> =>
      Promise.all(credentials.map(async (one) => (await listen({}, one)).body.error?.code));
    expect(await codes([keys.full, keys.webhooksWrite, tokens.admin])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await codes([keys.webhooksRead, keys.noScope, keys.revoked, keys.expired])).toEqual([
      "scope_missing",
      "scope_missing",
      "api_key_revoked",
      "api_key_expired",
    ]);
    expect(await codes([tokens.analyst, tokens.storefront, tokens.operator])).toEqual([
      "role_not_allowed",
      "role_not_allowed",
      "missing_field",
    ]);
    const anonymous = await world().send({ method: "POST", url: "/listen", body: {} });
    expect(anonymous).toMatchObject({ status: 401, body: { error: { code: "credentials_missing" } } });
  });

  it("not for the installation of another merchant", async () => {
    const { id } = await world()
      .database.db.selectFrom("installation")
      .select("id")
      .where("merchantId", "=", world().demo.merchants.second.id)
      .executeTakeFirstOrThrow();
    const { tokens, keys } = world().demo;
    expect((await listen({ installationId: id }, tokens.admin)).body.error.code).toBe("resource_not_found");
    expect((await listen({ installationId: id }, tokens.operator)).body.data.installation.id).toBe(id);
    // A key always listens to its own installation.
    expect((await listen({ installationId: id }, keys.full)).body.data.installation.id).not.toBe(id);
  });

  it.each([
    [{ eventTypes: [] }, "invalid_field", "/eventTypes"],
    [{ eventTypes: ["cart.nonsense"] }, "unknown_event_type", "/eventTypes/0"],
    [{ waitSeconds: 21 }, "invalid_field", "/waitSeconds"],
    [{ since: "yesterday" }, "invalid_field", "/since"],
    [{ cursor: "x" }, "invalid_field", "/cursor"],
  ])("with a valid body: %j is refused", async (body, code, field) => {
    const { status, body: answer } = await listen(body);
    expect({ status, error: answer.error }).toMatchObject({
      status: 400,
      error: { code, details: [{ field }] },
    });
  });
});
