/**
 * Webhook endpoints for a merchant's staff: enabling and disabling, secrets, deletion, and the effect on
 * waiting deliveries.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { createId } from "#foundation/ids.ts";
import { askGraph, eventsOf, withoutTrace } from "#test/operations/cart-calls.ts";
import {
  changeEndpoint,
  clearEndpoints,
  createWebhook,
  deliveriesOf,
  endpointFields,
  type EndpointMutation,
  installationOf,
  makeEndpoint,
  readEndpoint,
  receiver,
  tryEndpoint,
} from "#test/operations/webhook-calls.ts";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";

const hourMs = 3_600_000;
const changes = [
  "webhookEndpointUpdate",
  "webhookEndpointEnable",
  "webhookEndpointDisable",
  "webhookEndpointTest",
  "webhookEndpointDelete",
  "webhookSecretRotate",
] as const satisfies readonly EndpointMutation[];

describe("a webhook endpoint", () => {
  const world = useWorld("postgres", { poolSize: manyConnections });
  beforeEach(() => clearEndpoints(world()));

  const change = (field: EndpointMutation, endpointId: string, input: Record<string, unknown> = {}) =>
    changeEndpoint(world(), field, { endpointId, input });
  const conflict = (
    id: string,
    currentStatus: string,
    currentVersion: number,
    reason: string | null = null,
  ) => ({
    resource: "webhook_endpoint",
    id,
    currentStatus,
    currentVersion,
    reason,
    data: {},
  });

  /** Inserts a delivery in the state in which a dispatcher would leave it. */
  async function queue(endpointId: string, status: "retrying" | "sending" | "succeeded"): Promise<void> {
    const { db } = world().database;
    const { merchantId, installationId } = await db
      .selectFrom("webhookEndpoint")
      .selectAll()
      .where("id", "=", endpointId)
      .executeTakeFirstOrThrow();
    const at = world().clock.now();
    const eventId = createId("event", at.getTime());
    const event = {
      type: "order.placed",
      schemaVersion: 1,
      subjectType: "order",
      subjectId: "ord_x",
      subjectVersion: 1,
      snapshot: "{}",
      thin: "{}",
    };
    await db
      .insertInto("event")
      .values({ id: eventId, merchantId, installationId, ...event, occurredAt: at, fannedOutAt: at })
      .execute();
    const state = {
      status,
      nextAttemptAt: status === "succeeded" ? null : new Date(at.getTime() - 1000),
      lease: status === "sending" ? "mine" : null,
    };
    const none = { replayOf: null, replayReason: null, replayNote: null, finishedAt: null };
    await db
      .insertInto("webhookDelivery")
      .values({
        id: createId("webhookDelivery", at.getTime()),
        merchantId,
        installationId,
        eventId,
        endpointId,
        ...state,
        ...none,
        createdAt: at,
      })
      .execute();
  }
  const statusesOf = async (id: string): Promise<string[]> =>
    (await deliveriesOf(world(), id)).map(({ type, status }) => `${type} ${status}`).toSorted();

  it("is created by staff for a named installation only", async () => {
    const installationId = await installationOf(world());
    const { data } = await tryEndpoint(world(), { installationId, input: { payloadMode: "THIN" } });
    expect(data).toMatchObject({
      endpoint: { status: "ENABLED", payloadMode: "THIN", version: 1 },
      secret: { version: 1, shownOnce: true },
    });
    const [ping] = await eventsOf(world(), data.endpoint.id);
    expect(ping?.snapshot).toMatchObject({ cause: { operationId: null, actor: "staff" } });
    const merchantId = world().demo.merchants.first.id;
    expect(
      (await tryEndpoint(world(), { installationId, merchantId, token: "operator" })).error,
    ).toBeUndefined();
    expect((await tryEndpoint(world(), {})).error).toMatchObject({
      code: "missing_field",
      details: [{ field: "/installationId" }],
    });
    const foreign = await installationOf(world(), "otherMerchant");
    for (const other of [foreign, "ins_00000000000000000000000000", "\u0000"])
      expect(
        (await withoutTrace(world(), () => tryEndpoint(world(), { installationId: other }))).error,
      ).toMatchObject({
        code: other === "\u0000" ? "invalid_field" : "resource_not_found",
      });
  });

  it("requires an idempotencyKey, and an installation that is not uninstalled", async () => {
    const installationId = await installationOf(world());
    const query = `mutation ($input: PublicWebhookCreateRequest!) {
      webhookEndpointCreate(installationId: "${installationId}", input: $input) { endpoint { id } } }`;
    const input = { url: receiver(), eventTypes: ["*"] };
    const keyless = await withoutTrace(world(), () =>
      askGraph(world(), query, { input }, { token: "admin" }),
    );
    expect(keyless.error).toMatchObject({ code: "idempotency_key_required" });
    const { db } = world().database;
    const set = (status: "active" | "uninstalled") =>
      db.updateTable("installation").set({ status }).where("id", "=", installationId).execute();
    await set("uninstalled");
    const refused = await withoutTrace(world(), () => tryEndpoint(world(), { installationId }));
    await set("active");
    expect(refused.error).toMatchObject({
      code: "invalid_state",
      conflict: { resource: "installation", reason: "installation_uninstalled" },
    });
  });

  it("changes only the given fields, and keeps its version if nothing changes", async () => {
    const { id } = await makeEndpoint(world(), {
      description: "Old",
      metadata: { b: "2", a: "1" },
      maxPerSecond: 5,
    });
    const same = await change("webhookEndpointUpdate", id, {
      description: "Old",
      metadata: { a: "1", b: "2" },
      eventTypes: ["*"],
    });
    expect(same.data.version).toBe(1);
    world().clock.advance(1000);
    const url = receiver();
    const input = {
      url,
      eventTypes: ["order.*"],
      description: null,
      maxPerSecond: null,
      metadata: null,
      payloadMode: "THIN",
      expectedVersion: 1,
    };
    const { data } = await change("webhookEndpointUpdate", id, input);
    const now = world().clock.now().toISOString();
    const changed = {
      url,
      eventTypes: ["order.*"],
      description: null,
      maxPerSecond: null,
      metadata: {},
      payloadMode: "THIN",
    };
    expect(data).toEqual({ ...same.data, ...changed, version: 2, updatedAt: now });
    expect(
      (await change("webhookEndpointUpdate", id, { description: "New", url: null, eventTypes: null })).data,
    ).toMatchObject({
      description: "New",
      url,
      eventTypes: ["order.*"],
      version: 3,
    });
    expect((await readEndpoint(world(), id, "analyst")).data).toMatchObject({ url, version: 3 });
  });

  it("refuses a taken URL, also under concurrent requests, and forbidden URLs", async () => {
    const [one, two] = [await makeEndpoint(world()), await makeEndpoint(world())];
    const taken = await withoutTrace(world(), () =>
      change("webhookEndpointUpdate", two.id, { url: one.url }),
    );
    expect(taken.error).toMatchObject({
      code: "webhook_endpoint_duplicate",
      conflict: conflict(one.id, "enabled", 1),
    });
    const url = receiver();
    const answers = await Promise.all(
      [one, two].map(({ id }) => change("webhookEndpointUpdate", id, { url })),
    );
    expect(answers.map(({ error }): string => error?.code ?? "changed").toSorted()).toEqual([
      "changed",
      "webhook_endpoint_duplicate",
    ]);
    const bad = await withoutTrace(world(), () =>
      change("webhookEndpointUpdate", one.id, { url: "https://10.0.0.1/", eventTypes: ["nothing"] }),
    );
    expect(bad.error).toMatchObject({
      code: "webhook_url_not_allowed",
      details: [{ field: "/url" }, { field: "/eventTypes/0", code: "unknown" }],
    });
  });

  it("is disabled: untried deliveries are skipped, retried ones wait", async () => {
    const { id } = await makeEndpoint(world());
    await queue(id, "retrying");
    await queue(id, "sending");
    const { data } = await change("webhookEndpointDisable", id, { expectedVersion: 1 });
    const disabledAt = world().clock.now().toISOString();
    expect(data).toMatchObject({ status: "DISABLED", disabledReason: "MANUAL", disabledAt, version: 2 });
    expect(await statusesOf(id)).toEqual([
      "order.placed retrying",
      "order.placed sending",
      "webhook.ping skipped",
    ]);
    const again = await withoutTrace(world(), () =>
      change("webhookEndpointDisable", id, { expectedVersion: 9 }),
    );
    expect(again.error).toMatchObject({
      code: "invalid_state",
      conflict: conflict(id, "disabled", 2, "not_enabled"),
    });
  });

  it.each([
    ["disabled", "manual"],
    ["auto_disabled", "failing"],
  ] as const)(
    "that is %s is enabled: a ping goes before waiting deliveries, failures are reset",
    async (status, disabledReason) => {
      const { id } = await makeEndpoint(world(), { enabled: false });
      await queue(id, "retrying");
      const { db } = world().database;
      const at = world().clock.now();
      await db
        .updateTable("webhookEndpoint")
        .set({ status, disabledReason, disabledAt: at })
        .where("id", "=", id)
        .execute();
      const failing = {
        consecutiveFailures: 30,
        failingSince: at,
        failedSinceSuccess: 12,
        degradedAt: at,
        probeAt: at,
        lastFailureAt: at,
      };
      await db.updateTable("webhookEndpointHealth").set(failing).where("endpointId", "=", id).execute();
      const { data } = await change("webhookEndpointEnable", id, { expectedVersion: 1 });
      expect(data).toMatchObject({ status: "ENABLED", disabledReason: null, disabledAt: null, version: 2 });
      expect(data.health).toMatchObject({
        state: "UNKNOWN",
        consecutiveFailures: 0,
        lastFailureAt: at.toISOString(),
      });
      const [ping, waiting] = (await deliveriesOf(world(), id)).toSorted(
        (a, b) => Number(a.nextAttemptAt) - Number(b.nextAttemptAt),
      );
      expect([ping?.type, ping?.status, waiting?.type]).toEqual(["webhook.ping", "pending", "order.placed"]);
      expect(Number(ping?.nextAttemptAt)).toBeLessThan(Number(waiting?.nextAttemptAt));
      const health = await db
        .selectFrom("webhookEndpointHealth")
        .selectAll()
        .where("endpointId", "=", id)
        .executeTakeFirstOrThrow();
      expect(health).toMatchObject({
        failingSince: null,
        failedSinceSuccess: 0,
        degradedAt: null,
        probeAt: null,
      });
      const again = await withoutTrace(world(), () => change("webhookEndpointEnable", id));
      expect(again.error).toMatchObject({
        code: "invalid_state",
        conflict: conflict(id, "enabled", 2, "already_enabled"),
      });
    },
  );

  it("is tested by a ping while it is enabled", async () => {
    const { id } = await makeEndpoint(world(), { eventTypes: ["cart.*"] });
    expect((await change("webhookEndpointTest", id)).data).toMatchObject({ id, version: 1 });
    expect(await statusesOf(id)).toEqual(["webhook.ping pending", "webhook.ping pending"]);
    await change("webhookEndpointDisable", id);
    const refused = await withoutTrace(world(), () =>
      change("webhookEndpointTest", id, { expectedVersion: 9 }),
    );
    expect(refused.error).toMatchObject({
      code: "webhook_endpoint_disabled",
      conflict: conflict(id, "disabled", 2),
    });
  });

  it("is deleted: open deliveries are canceled, its secrets are erased, it is not found", async () => {
    const { id, url } = await makeEndpoint(world());
    for (const status of ["retrying", "sending", "succeeded"] as const) await queue(id, status);
    expect((await change("webhookEndpointDelete", id, { expectedVersion: 1 })).data).toEqual({
      endpointId: id,
    });
    expect(await statusesOf(id)).toEqual([
      "order.placed canceled",
      "order.placed canceled",
      "order.placed succeeded",
      "webhook.ping canceled",
    ]);
    expect(
      await world()
        .database.db.selectFrom("webhookSecret")
        .selectAll()
        .where("endpointId", "=", id)
        .execute(),
    ).toEqual([]);
    expect((await readEndpoint(world(), id)).data).toBeNull();
    for (const field of changes)
      expect((await withoutTrace(world(), () => change(field, id))).error).toMatchObject({
        code: "webhook_endpoint_not_found",
        conflict: null,
      });
    expect((await createWebhook(world(), { body: { url, eventTypes: ["*"] } })).status).toBe(200);
  });

  it("has two secrets at most: a third ends the oldest; without overlap one remains", async () => {
    const { id, secret } = await makeEndpoint(world());
    const rotate = async (
      input: Record<string, unknown> = {},
    ): Promise<{ value: string; secrets: unknown[] }> => {
      const { data, error } = await change("webhookSecretRotate", id, input);
      expect(error).toBeUndefined();
      return {
        value: data.secret.value,
        secrets: data.endpoint.secrets.map(({ version, expiresAt }: Record<string, unknown>) => [
          version,
          expiresAt,
        ]),
      };
    };
    const inHours = (hours: number): string =>
      new Date(world().clock.now().getTime() + hours * hourMs).toISOString();
    const second = await rotate();
    expect(second.secrets).toEqual([
      [2, null],
      [1, inHours(24)],
    ]);
    world().clock.advance(hourMs);
    const third = await rotate({ overlapHours: 168 });
    expect(third.secrets).toEqual([
      [3, null],
      [2, inHours(168)],
    ]);
    const fourth = await rotate({ overlapHours: 0 });
    expect(fourth.secrets).toEqual([[4, null]]);
    expect(new Set([secret, second.value, third.value, fourth.value]).size).toBe(4);
    expect(
      await world()
        .database.db.selectFrom("webhookSecret")
        .select("version")
        .where("endpointId", "=", id)
        .execute(),
    ).toEqual([{ version: 4 }]);
    for (const overlapHours of [-1, 169])
      expect(
        (await withoutTrace(world(), () => change("webhookSecretRotate", id, { overlapHours }))).error,
      ).toMatchObject({
        code: "invalid_field",
        details: [{ field: "/overlapHours" }],
      });
    const rotated = (await eventsOf(world(), id)).filter(
      ({ type }) => type === "webhook_endpoint.secret_rotated",
    );
    expect(
      rotated.map(({ version, snapshot }) => [
        version,
        Object.keys(snapshot.data.previous as object).toSorted(),
      ]),
    ).toEqual([
      [2, ["secrets", "version"]],
      [3, ["secrets", "updatedAt", "version"]],
      [4, ["secrets", "version"]],
    ]);
    const rows = await world()
      .database.db.selectFrom("event")
      .select(["installationId", "fannedOutAt"])
      .where("subjectId", "=", id)
      .where("type", "<>", "webhook.ping")
      .execute();
    expect(rows).toEqual(
      Array.from({ length: 3 }, () => ({ installationId: rows[0]?.installationId, fannedOutAt: null })),
    );
    expect(rows[0]?.installationId).toBe(await installationOf(world()));
  });

  it("that is rotated concurrently always has one current and one previous secret", async () => {
    const { id } = await makeEndpoint(world());
    await Promise.all(Array.from({ length: 8 }, () => change("webhookSecretRotate", id)));
    expect((await readEndpoint(world(), id)).data).toMatchObject({
      version: 9,
      secrets: [{ version: 9, expiresAt: null }, { version: 8 }],
    });
  });

  it("refuses a version that is not its current version", async () => {
    const { id } = await makeEndpoint(world());
    for (const field of [
      "webhookEndpointUpdate",
      "webhookEndpointDisable",
      "webhookEndpointTest",
      "webhookEndpointDelete",
      "webhookSecretRotate",
    ] as const) {
      const refused = await withoutTrace(world(), () => change(field, id, { expectedVersion: 2 }));
      expect([field, refused.error]).toMatchObject([
        field,
        { code: "version_conflict", conflict: conflict(id, "enabled", 1) },
      ]);
    }
  });

  it("of another merchant is not found by any role and mutation", async () => {
    const { id } = await makeEndpoint(world(), { key: "otherMerchant" });
    for (const token of ["admin", "analyst"] as const)
      expect((await readEndpoint(world(), id, token)).data).toBeNull();
    expect((await readEndpoint(world(), id, "operator")).data).toMatchObject({ id });
    expect((await readEndpoint(world(), id, "storefront")).error).toMatchObject({ code: "role_not_allowed" });
    for (const field of changes)
      for (const endpointId of [id, "whe_00000000000000000000000000"]) {
        const refused = await withoutTrace(world(), () => change(field, endpointId));
        expect([field, refused.error]).toMatchObject([field, { code: "webhook_endpoint_not_found" }]);
      }
    const query = `query ($id: ID!) { installation(id: $id) { webhookEndpointList { total
      limit endpoints { ${endpointFields} } } } }`;
    const variables = { id: await installationOf(world(), "otherMerchant") };
    expect((await askGraph(world(), query, variables, { token: "analyst" })).data).toBeNull();
    const seen = await askGraph(world(), query, variables, { token: "operator" });
    expect(seen.data.webhookEndpointList).toMatchObject({ total: 1, limit: 16, endpoints: [{ id }] });
  });
});
