/**
 * listInstallationWebhookEvents: returns the event catalogue, the recent events, and their deliveries to the
 * key's installation.
 */
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { eventTypes } from "#webhooks/event-types.ts";
import { challenge, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import { type Answer, publicUrl } from "#test/support/world.ts";
import { makeDeliveries, makeDelivery, makeEvent, makeEvents } from "#test/webhooks/delivery-rows.ts";
import { expectShape, id, timestamp } from "./shapes.ts";
import { installationOf, makeEndpoint } from "./webhook-calls.ts";

const url = "/api/v1/open/webhooks/events";
const dayMs = 86_400_000;

const delivery = z.strictObject({
  id: id("whd"),
  endpointId: id("whe"),
  status: z.enum(["pending", "sending", "succeeded", "retrying", "exhausted", "skipped", "canceled"]),
  attemptCount: z.int(),
  nextAttemptAt: timestamp.nullable(),
  lastAttempt: z
    .strictObject({
      id: id("wha"),
      at: timestamp,
      httpStatus: z.int().nullable(),
      errorCode: z
        .enum(["timeout", "dns", "tls", "connection", "http_status", "blocked_address", "redirect"])
        .nullable(),
      durationMs: z.int(),
    })
    .nullable(),
  replayOf: id("whd").nullable(),
  replayable: z.boolean(),
  payloadExpiresAt: timestamp,
});
const eventsAnswer = z.strictObject({
  data: z.strictObject({
    eventTypes: z.array(
      z.strictObject({
        name: z.string(),
        group: z.string(),
        description: z.string().min(1),
        stability: z.enum(["stable", "candidate"]),
        schemaVersion: z.literal(1),
        payloadSchema: z.looseObject({}),
        example: z.looseObject({}),
        deprecated: z.boolean(),
      }),
    ),
    events: z.array(
      z.strictObject({
        id: id("evt"),
        type: z.string(),
        occurredAt: timestamp,
        subject: z.strictObject({ type: z.string(), id: z.string(), version: z.int() }),
        deliveries: z.array(delivery),
      }),
    ),
    retentionDays: z.literal(30),
    truncated: z.boolean(),
    oldestIncludedAt: timestamp.nullable(),
  }),
});

interface Shown {
  readonly id: string;
  readonly type: string;
  readonly deliveries: readonly { readonly id: string }[];
}
const shownIn = ({ body }: Answer): Shown[] => body.data.events as Shown[];
const idsIn = (answer: Answer): string[] => shownIn(answer).map((event) => event.id);

describe.each(["pglite", "postgres"] as const)("listInstallationWebhookEvents on %s", (engine) => {
  const world = useWorld(engine);
  let contract: Contract;
  let endpointId: string;
  beforeAll(async () => {
    contract = await readContract(world());
    ({ id: endpointId } = await makeEndpoint(world()));
  });

  it("returns every event type with a schema and an example that matches the schema", async () => {
    const { body } = await world().getWithKey(url);
    expect(body.data.eventTypes.map(({ name }: { name: string }) => name)).toEqual(Object.keys(eventTypes));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ ...contract.document }, `${publicUrl}/openapi.json`);
    for (const { name, group, description, payloadSchema, example } of body.data.eventTypes) {
      const check = ajv.compile(payloadSchema);
      check(example);
      expect({ name, faults: check.errors }).toEqual({ name, faults: null });
      expect(check({ ...example, type: "another" })).toBe(false);
      expect(check({ ...example, data: { ...example.data, object: {} } })).toBe(false);
      expect({ group, type: example.type, subject: example.subject.id }).toEqual({
        group: name.split(".")[0],
        type: name,
        subject: example.data.object.id,
      });
      expect(Object.keys(example.data.object).length).toBeGreaterThan(3);
      expect(Buffer.byteLength(JSON.stringify(payloadSchema))).toBeLessThanOrEqual(2048);
      expect(Buffer.byteLength(JSON.stringify(example))).toBeLessThanOrEqual(4096);
      expect(description).toMatch(/^[A-Z].*\.$/);
    }
  });

  it("answers 304 while nothing has changed, and leaves a known catalogue away if the client prefers that", async () => {
    const authorization = `Bearer ${world().demo.keys.full}`;
    const ask = (headers: Record<string, string>): Promise<Answer> =>
      world().get(url, { authorization, ...headers });
    const first = await ask({});
    const { etag = "" } = first.headers as { etag?: string };
    expect(etag).toMatch(/^W\/"[\w-]{16}\.[\w-]{16}"$/);
    expect([first.headers["cache-control"], first.headers["vary"]]).toEqual([
      "no-store",
      "Authorization, Prefer",
    ]);
    for (const known of [etag, etag.slice(2), `"other", ${etag}`, "*"]) {
      const answer = await ask({ "if-none-match": known, prefer: "return=minimal" });
      expect([answer.status, answer.text, answer.headers["etag"]]).toEqual([304, "", etag]);
    }
    const added = await makeEvent(world());
    const whole = await ask({ "if-none-match": etag });
    expect([whole.status, idsIn(whole).includes(added), whole.body.data.eventTypes]).toEqual([
      200,
      true,
      first.body.data.eventTypes,
    ]);
    const minimal = await ask({ "if-none-match": etag, prefer: "wait=1, return=minimal" });
    expect(minimal.body).toEqual({ data: { ...whole.body.data, eventTypes: [] } });
    expect(minimal.headers).toMatchObject({
      "preference-applied": "return=minimal",
      etag: whole.headers["etag"],
    });
    expectShape(eventsAnswer, minimal.body);
    expect(contract.faultsOf("listInstallationWebhookEvents", 200, minimal.body)).toEqual([]);
    const otherCatalogue = etag.replace(/"[\w-]{16}/, `"${"0".repeat(16)}`);
    for (const headers of [
      { prefer: "return=minimal" },
      { prefer: "return=minimal", "if-none-match": otherCatalogue },
    ])
      expect((await ask(headers)).body).toEqual(whole.body);
  });

  it("returns the newest events with their deliveries, without bodies", async () => {
    const older = await makeEvent(world(), { ageMs: 5 });
    const newer = await makeEvent(world(), { type: "cart.created" });
    const exhausted = await makeDelivery(world(), { endpointId, eventId: older, attempts: 2 });
    const waiting = await makeDelivery(world(), {
      endpointId,
      eventId: newer,
      status: "sending",
      attempts: 1,
    });
    const answer = await world().getWithKey(url);
    expect(answer.status).toBe(200);
    expectShape(eventsAnswer, answer.body);
    expect(contract.faultsOf("listInstallationWebhookEvents", 200, answer.body)).toEqual([]);
    const now = world().clock.now().getTime();
    expect(shownIn(answer).find((event) => event.id === older)).toEqual({
      id: older,
      type: "order.placed",
      occurredAt: new Date(now - 5).toISOString(),
      subject: { type: "order", id: expect.any(String) as unknown, version: 1 },
      deliveries: [
        {
          id: exhausted,
          endpointId,
          status: "exhausted",
          attemptCount: 2,
          nextAttemptAt: null,
          lastAttempt: {
            id: expect.any(String) as unknown,
            at: new Date(now).toISOString(),
            httpStatus: 500,
            errorCode: "http_status",
            durationMs: 7,
          },
          replayOf: null,
          replayable: true,
          payloadExpiresAt: new Date(now - 5 + 30 * dayMs).toISOString(),
        },
      ],
    });
    // The lease of a delivery is not returned.
    const sending = { id: waiting, status: "sending", nextAttemptAt: null, replayable: false };
    expect(shownIn(answer).find((event) => event.id === newer)?.deliveries).toMatchObject([sending]);
    expect(answer.text).not.toContain("Grüße");
    expect(answer.headers).toMatchObject({ "cache-control": "no-store", "x-api-stability": "stable" });
  });

  it("returns the newest 100 events, and up to 100 older ones with failed deliveries", async () => {
    const fill = { merchantId: world().demo.merchants.second.id };
    const { id: other } = await makeEndpoint(world(), { key: "otherMerchant" });
    const get = (): Promise<Answer> => world().getWithKey(url, "otherMerchant");
    const before = idsIn(await get()).length;
    const ages = [4 * dayMs, 3 * dayMs, 2 * dayMs, dayMs];
    const [ancient, lost, arrived, skipped] = (await Promise.all(
      ages.map((ageMs) => makeEvent(world(), { ...fill, ageMs })),
    )) as [string, string, string, string];
    await makeDeliveries(world(), [ancient, lost], { endpointId: other, status: "exhausted" });
    await makeDeliveries(world(), [skipped], { endpointId: other, status: "skipped" });
    await makeDeliveries(world(), [arrived], { endpointId: other, status: "succeeded" });
    expect((await get()).body.data).toMatchObject({ truncated: false });
    expect(idsIn(await get())).toHaveLength(before + 4);

    world().clock.advance(1000);
    const newest = await makeEvents(world(), 100, fill);
    const answer = await get();
    expect(idsIn(answer)).toEqual([...newest.toReversed(), skipped, lost, ancient]);
    const oldestAt = new Date(world().clock.now().getTime() - 4 * dayMs - 1000).toISOString();
    expect(answer.body.data).toMatchObject({ truncated: true, oldestIncludedAt: oldestAt });

    const many = await makeEvents(world(), 98, { ...fill, ageMs: dayMs / 2 });
    await makeDeliveries(world(), many, { endpointId: other, status: "retrying" });
    const full = idsIn(await get());
    expect(full).toEqual([...newest.toReversed(), ...many.toReversed(), skipped, lost]);
    expect((await get()).body.data.truncated).toBe(true);
  });

  it("omits events from the millisecond in which they are 30 days old", async () => {
    const [gone, kept] = [
      await makeEvent(world(), { ageMs: 30 * dayMs }),
      await makeEvent(world(), { ageMs: 30 * dayMs - 1 }),
    ];
    await makeDeliveries(world(), [gone, kept], { endpointId });
    const shown = idsIn(await world().getWithKey(url));
    expect([shown.includes(gone), shown.includes(kept)]).toEqual([false, true]);
  });

  it("returns only events that the installation may read, and those about itself", async () => {
    const { database, demo } = world();
    const own = await installationOf(world());
    const cart = await makeEvent(world(), { type: "cart.created" });
    const promotion = await makeEvent(world(), { type: "promotion.started" });
    const about = await makeEvent(world(), { type: "promotion.ended", installationId: own });
    const foreign = await makeEvent(world(), {
      type: "promotion.ended",
      installationId: await installationOf(world(), "otherMerchant"),
    });
    const elsewhere = await makeEvent(world(), { merchantId: demo.merchants.second.id });
    const seen = async (): Promise<boolean[]> => {
      const ids = idsIn(await world().getWithKey(url));
      return [cart, promotion, about, foreign, elsewhere].map((event) => ids.includes(event));
    };
    expect(await seen()).toEqual([true, true, true, false, false]);
    const setScopes = (scopes: string[]): Promise<unknown> =>
      database.db.updateTable("installation").set({ scopes }).where("id", "=", own).execute();
    await setScopes(["webhooks:read", "webhooks:write"]);
    expect(await seen()).toEqual([false, true, true, false, false]);
    await setScopes(["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"]);
  });

  it("runs four statements for any number of events and deliveries", async () => {
    await makeDeliveries(world(), await makeEvents(world(), 20), { endpointId });
    expect(await statementsOf(world(), () => world().getWithKey(url))).toHaveLength(4);
  });

  it("requires a key with webhooks:read", async () => {
    expect((await world().getWithKey(url, "webhooksRead")).status).toBe(200);
    expectError(await world().get(url), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    for (const key of ["noScope", "webhooksWrite", "catalogRead"] as const)
      expectError(await world().getWithKey(url, key), {
        status: 403,
        code: "scope_missing",
        details: [
          { in: "header", field: "Authorization", code: "scope_missing", allowed: ["webhooks:read"] },
        ],
      });
    expectError(await world().getWithKey(`${url}?limit=1`), {
      status: 400,
      code: "unknown_parameter",
      details: [{ in: "query", field: "limit", code: "unknown" }],
    });
  });
});
