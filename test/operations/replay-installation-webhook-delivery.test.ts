/**
 * replayInstallationWebhookDelivery: sends an earlier delivery once more. The original delivery does not
 * change.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { manyConnections } from "#test/support/databases.ts";
import { challenge, expectError } from "#test/support/expect-error.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { statementsOf, useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { deliveryRows, makeDelivery, makeEvent } from "#test/webhooks/delivery-rows.ts";
import { replay, replayUrl, withoutDelivery } from "./replay-calls.ts";
import { expectShape, id, timestamp } from "./shapes.ts";
import { changeEndpoint, installationOf, makeEndpoint } from "./webhook-calls.ts";

const dayMs = 86_400_000;

const replayAnswer = z.strictObject({
  data: z.strictObject({
    delivery: z.strictObject({
      id: id("whd"),
      endpointId: id("whe"),
      status: z.literal("pending"),
      attemptCount: z.literal(0),
      nextAttemptAt: timestamp,
      lastAttempt: z.null(),
      replayOf: id("whd"),
      replayable: z.literal(false),
      payloadExpiresAt: timestamp,
    }),
    original: z.strictObject({ id: id("whd"), status: z.string() }),
  }),
});

describe("replays", () => {
  const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0.05" } });

  it("are rate-limited per installation, in a separate bucket", async () => {
    const { id: endpointId } = await makeEndpoint(world());
    const deliveryId = await makeDelivery(world(), { endpointId });
    const answers: Answer[] = [];
    for (const key of ["full", "webhooksWrite", "full", "webhooksWrite"] as const)
      answers.push(await replay(world(), deliveryId, { key }));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers["ratelimit-policy"])).toEqual(
      Array(4).fill('"replay";q=3;w=60'),
    );
    const refused = answers.at(-1);
    expect(refused?.body.error).toMatchObject({
      code: "rate_limited",
      details: [{ in: "limit", field: "replay" }],
    });
    expect((await replay(world(), deliveryId, { key: "otherMerchant" })).status).toBe(404);
  });
});

describe.each(["pglite", "postgres"] as const)("replayInstallationWebhookDelivery on %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let contract: Contract;
  let endpointId: string;
  beforeAll(async () => {
    contract = await readContract(world());
  });
  beforeEach(async () => {
    await world().database.db.deleteFrom("webhookDelivery").execute();
    await world()
      .database.db.updateTable("webhookEndpoint")
      .set({ status: "deleted", disabledReason: null, disabledAt: null })
      .execute();
    ({ id: endpointId } = await makeEndpoint(world()));
    await world().database.db.deleteFrom("webhookDelivery").execute();
  });

  const rowOf = async (deliveryId: string) =>
    world()
      .database.db.selectFrom("webhookDelivery")
      .selectAll()
      .where("id", "=", deliveryId)
      .executeTakeFirstOrThrow();
  const setStatus = (deliveryId: string, status: "exhausted" | "succeeded"): Promise<unknown> =>
    world()
      .database.db.updateTable("webhookDelivery")
      .set({ status, nextAttemptAt: null })
      .where("id", "=", deliveryId)
      .execute();
  const conflictOf = ({ status, body }: Answer): unknown => ({
    status,
    code: body.error?.code,
    conflict: body.error?.conflict,
  });
  const conflict = (code: string, deliveryId: string, currentStatus: string, data: object = {}): unknown => ({
    status: 409,
    code,
    conflict: {
      resource: "webhook_delivery",
      id: deliveryId,
      currentStatus,
      currentVersion: null,
      reason: null,
      data,
    },
  });

  it.each(["exhausted", "skipped"] as const)(
    "creates a new delivery of the same event for an %s one, which does not change",
    async (status) => {
      const deliveryId = await makeDelivery(world(), {
        endpointId,
        status,
        attempts: status === "exhausted" ? 2 : 0,
      });
      const before = await rowOf(deliveryId);
      const answer = await replay(world(), deliveryId, {
        body: { reason: "receiver_bug", note: "Fixed in 2.1." },
      });
      expect(answer.status).toBe(200);
      expectShape(replayAnswer, answer.body);
      expect(contract.faultsOf("replayInstallationWebhookDelivery", 200, answer.body)).toEqual([]);
      const now = world().clock.now();
      const { delivery, original } = answer.body.data;
      expect(delivery).toMatchObject({ endpointId, nextAttemptAt: now.toISOString(), replayOf: deliveryId });
      expect(original).toEqual({ id: deliveryId, status });
      expect(await rowOf(deliveryId)).toEqual(before);
      const { merchantId, installationId, eventId } = before;
      expect(await rowOf(delivery.id)).toEqual({
        id: delivery.id,
        merchantId,
        installationId,
        eventId,
        endpointId,
        replayNo: 1,
        replayOf: deliveryId,
        replayReason: "receiver_bug",
        replayNote: "Fixed in 2.1.",
        status: "pending",
        attemptCount: 0,
        nextAttemptAt: now,
        lease: null,
        createdAt: now,
        finishedAt: null,
        orderedPosition: null,
        orderedSubjectId: null,
      });
    },
  );

  it('replays a succeeded delivery only with "force"', async () => {
    const deliveryId = await makeDelivery(world(), { endpointId, status: "succeeded" });
    const refused = await withoutDelivery(world(), () => replay(world(), deliveryId));
    expect(conflictOf(refused)).toEqual(conflict("delivery_already_succeeded", deliveryId, "succeeded"));
    expect((await replay(world(), deliveryId, { body: { reason: "testing", force: true } })).status).toBe(
      200,
    );
  });

  it.each(["pending", "sending", "retrying"] as const)(
    "refuses with a retryable error while the delivery is %s",
    async (status) => {
      const deliveryId = await makeDelivery(world(), { endpointId, status, attempts: 2 });
      // The attempt of another process ends 12.3 seconds from now; a waiting delivery has its next attempt then.
      const nextAttemptAt = new Date(world().clock.now().getTime() + 12_300);
      await world()
        .database.db.updateTable("webhookDelivery")
        .set({ nextAttemptAt })
        .where("id", "=", deliveryId)
        .execute();
      const answer = await withoutDelivery(world(), () =>
        replay(world(), deliveryId, { body: { reason: "testing", force: true } }),
      );
      const data = {
        attemptCount: 2,
        nextAttemptAt: status === "sending" ? null : nextAttemptAt.toISOString(),
      };
      expect(conflictOf(answer)).toEqual(conflict("delivery_in_progress", deliveryId, status, data));
      expect(answer.body.error).toMatchObject({
        retryable: true,
        retryAfterSeconds: 13,
        message: expect.stringMatching(
          status === "sending" ? /ends in at most 13 s/ : /attempt 3 is due at .*webhookDeliveryRetry/,
        ),
      });
      expect(answer.headers["retry-after"]).toBe("13");
    },
  );

  it("names the probe of a paused endpoint, and the endpoint that must be enabled", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId, status: "retrying" });
    const { db } = world().database;
    const probeAt = new Date(world().clock.now().getTime() + 7_200_000);
    const setProbe = (at: Date | null) =>
      db
        .updateTable("webhookEndpointHealth")
        .set({ probeAt: at })
        .where("endpointId", "=", endpointId)
        .execute();
    await setProbe(probeAt);
    const paused = await replay(world(), deliveryId);
    await setProbe(null);
    expect(paused.body.error).toMatchObject({
      retryAfterSeconds: 7_200,
      conflict: { data: { nextAttemptAt: probeAt.toISOString() } },
    });
    const setEndpointStatus = (change: object) =>
      db.updateTable("webhookEndpoint").set(change).where("id", "=", endpointId).execute();
    await setEndpointStatus({ status: "disabled", disabledReason: "manual", disabledAt: new Date() });
    const stopped = await replay(world(), deliveryId);
    await setEndpointStatus({ status: "enabled", disabledReason: null, disabledAt: null });
    expect(stopped.body.error).toMatchObject({
      message: "The delivery waits until its endpoint is enabled. Enable the endpoint first.",
      retryAfterSeconds: 3_600,
      conflict: { data: { nextAttemptAt: null } },
    });
  });

  it("refuses from the millisecond in which the body is 30 days old", async () => {
    const [old, kept] = [
      await makeEvent(world(), { ageMs: 30 * dayMs }),
      await makeEvent(world(), { ageMs: 30 * dayMs - 1 }),
    ];
    const expired = await makeDelivery(world(), { endpointId, eventId: old });
    const answer = await withoutDelivery(world(), () => replay(world(), expired));
    expect(conflictOf(answer)).toEqual(conflict("delivery_payload_expired", expired, "exhausted"));
    expect((await replay(world(), await makeDelivery(world(), { endpointId, eventId: kept }))).status).toBe(
      200,
    );
  });

  it("numbers the replays of the first delivery, and allows ten under concurrent calls", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const first = (await replay(world(), deliveryId)).body.data.delivery.id as string;
    expect(conflictOf(await replay(world(), first))).toMatchObject({
      status: 409,
      code: "delivery_in_progress",
    });
    await setStatus(first, "exhausted");
    const second = await replay(world(), first);
    expect(second.body.data).toMatchObject({
      delivery: { replayOf: deliveryId },
      original: { id: deliveryId, status: "exhausted" },
    });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_none, index) => replay(world(), index % 2 === 0 ? deliveryId : first)),
    );
    const codes = answers.map(({ body }) => (body.error?.code as string | undefined) ?? "done").toSorted();
    expect(codes).toEqual([
      ...Array<string>(12).fill("delivery_replay_limit_reached"),
      ...Array<string>(8).fill("done"),
    ]);
    const limit = await withoutDelivery(world(), () => replay(world(), deliveryId));
    expect(conflictOf(limit)).toEqual(
      conflict("delivery_replay_limit_reached", deliveryId, "exhausted", { limit: 10 }),
    );
    const rows = await world()
      .database.db.selectFrom("webhookDelivery")
      .select(["replayNo", "replayOf"])
      .orderBy("replayNo")
      .execute();
    expect(rows.map(({ replayNo }) => replayNo)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(new Set(rows.slice(1).map(({ replayOf }) => replayOf))).toEqual(new Set([deliveryId]));
  });

  it("replays to another endpoint of the installation, with separate numbers", async () => {
    const { id: other } = await makeEndpoint(world());
    const eventId = await makeEvent(world());
    const deliveryId = await makeDelivery(world(), { endpointId, eventId });
    await replay(world(), deliveryId);
    const moved = await replay(world(), deliveryId, { body: { reason: "other", endpointId: other } });
    expect(moved.body.data.delivery).toMatchObject({ endpointId: other, replayOf: deliveryId });
    expect(await rowOf(moved.body.data.delivery.id)).toMatchObject({
      replayNo: 1,
      eventId,
      endpointId: other,
    });
  });

  it("answers 404 for a deleted, foreign or unknown endpoint, but accepts another own endpoint", async () => {
    const { id: other } = await makeEndpoint(world());
    const { id: foreign } = await makeEndpoint(world(), { key: "otherMerchant" });
    const deliveryId = await makeDelivery(world(), { endpointId, status: "canceled" });
    await changeEndpoint(world(), "webhookEndpointDelete", { endpointId });
    for (const given of [undefined, endpointId, foreign, "whe_00000000000000000000000000", "1"]) {
      const body = { reason: "testing", ...(given === undefined ? {} : { endpointId: given }) };
      expectError(await withoutDelivery(world(), () => replay(world(), deliveryId, { body })), {
        status: 404,
        code: "webhook_endpoint_not_found",
      });
    }
    expect(
      (await replay(world(), deliveryId, { body: { reason: "testing", endpointId: other } })).status,
    ).toBe(200);
  });

  it("refuses while the endpoint is disabled", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId, status: "skipped" });
    await changeEndpoint(world(), "webhookEndpointDisable", { endpointId });
    expect(conflictOf(await withoutDelivery(world(), () => replay(world(), deliveryId)))).toEqual({
      status: 409,
      code: "webhook_endpoint_disabled",
      conflict: {
        resource: "webhook_endpoint",
        id: endpointId,
        currentStatus: "disabled",
        currentVersion: 2,
        reason: "manual",
        data: {},
      },
    });
    await changeEndpoint(world(), "webhookEndpointEnable", { endpointId });
    expect((await replay(world(), deliveryId)).status).toBe(200);
  });

  it("answers 404 for foreign and missing deliveries, and for events it may no longer read", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const ids = [
      "whd_00000000000000000000000000",
      deliveryId.toUpperCase(),
      deliveryId.slice(0, -1),
      "1",
      "%00",
    ];
    for (const given of ids)
      expectError(await withoutDelivery(world(), () => replay(world(), given)), {
        status: 404,
        code: "webhook_delivery_not_found",
      });
    expectError(await replay(world(), deliveryId, { key: "otherMerchant" }), {
      status: 404,
      code: "webhook_delivery_not_found",
    });
    const installation = world()
      .database.db.updateTable("installation")
      .where("id", "=", await installationOf(world()));
    await installation.set({ scopes: ["webhooks:write"] }).execute();
    expectError(await withoutDelivery(world(), () => replay(world(), deliveryId)), {
      status: 404,
      code: "webhook_delivery_not_found",
    });
    await installation
      .set({ scopes: ["catalog:read", "checkout:quote", "webhooks:read", "webhooks:write"] })
      .execute();
    expect((await replay(world(), deliveryId)).status).toBe(200);
  });

  it("replays the stored answer byte for byte for the same key", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const idempotencyKey = randomUUID();
    const first = await replay(world(), deliveryId, { idempotencyKey });
    const again = await withoutDelivery(world(), () => replay(world(), deliveryId, { idempotencyKey }));
    expect(again.text).toBe(first.text);
    expect([first, again].map(({ headers }) => headers["idempotent-replayed"])).toEqual(["false", "true"]);
    const other = await replay(world(), deliveryId, { idempotencyKey, body: { reason: "other" } });
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
    expect(await deliveryRows(world())).toHaveLength(2);
  });

  it.each([
    ["no body", undefined, "missing_body", [" required"]],
    ["no reason", {}, "missing_field", ["/reason required"]],
    ["an unknown reason", { reason: "whim" }, "invalid_field", ["/reason not_allowed"]],
    [
      "a note of 201 characters",
      { reason: "testing", note: "x".repeat(201) },
      "invalid_field",
      ["/note too_long"],
    ],
    [
      "a control character in the note",
      { reason: "testing", note: "\u0001" },
      "invalid_field",
      ["/note control_character"],
    ],
    [
      "a force that is not a boolean",
      { reason: "testing", force: "yes" },
      "invalid_field",
      ["/force wrong_type"],
    ],
    ["an unknown field", { reason: "testing", surprise: 1 }, "unknown_field", ["/surprise unknown"]],
  ] as const)("refuses %s", async (_name, body, code, details) => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const headers = { authorization: `Bearer ${world().demo.keys.full}`, "idempotency-key": randomUUID() };
    const answer = await withoutDelivery(world(), () =>
      world().send({ method: "POST", url: replayUrl(deliveryId), headers, body }),
    );
    expect([answer.status, answer.body.error.code]).toEqual([400, code]);
    expect(
      answer.body.error.details.map(
        (detail: { field: string; code: string }) => `${detail.field} ${detail.code}`,
      ),
    ).toEqual(details);
  });

  it("requires a key with webhooks:write and an Idempotency-Key", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const [url, body] = [replayUrl(deliveryId), { reason: "testing" }];
    expectError(await world().send({ method: "POST", url, body }), {
      status: 401,
      code: "credentials_missing",
      headers: { "www-authenticate": challenge },
    });
    for (const key of ["noScope", "webhooksRead"] as const)
      expectError(await replay(world(), deliveryId, { key }), {
        status: 403,
        code: "scope_missing",
        details: [
          { in: "header", field: "Authorization", code: "scope_missing", allowed: ["webhooks:write"] },
        ],
      });
    expectError(
      await world().send({
        method: "POST",
        url,
        body,
        headers: { authorization: `Bearer ${world().demo.keys.full}` },
      }),
      {
        status: 400,
        code: "idempotency_key_required",
        details: [{ in: "header", field: "Idempotency-Key", code: "required" }],
      },
    );
    expect((await replay(world(), deliveryId, { key: "webhooksWrite" })).status).toBe(200);
  });

  it("runs the same number of statements for every replay of a delivery", async () => {
    const deliveryId = await makeDelivery(world(), { endpointId });
    const first = await statementsOf(world(), () => replay(world(), deliveryId));
    expect(await statementsOf(world(), () => replay(world(), deliveryId))).toHaveLength(first.length);
    expect(first.filter((text) => /webhook_(delivery|endpoint)/.test(text))).toHaveLength(5);
  });
});
