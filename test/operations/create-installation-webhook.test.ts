/**
 * createInstallationWebhook: creates an endpoint that receives an installation's events, and the secret that
 * signs the deliveries.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { manyConnections } from "#test/support/databases.ts";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { eventsOf, withoutTrace, workOf } from "./cart-calls.ts";
import {
  clearEndpoints,
  createWebhook,
  deliveriesOf,
  endpointsUrl,
  installationOf,
  makeEndpoint,
  receiver,
} from "./webhook-calls.ts";

const conflictOf = ({ status, body }: Answer): unknown => ({
  status,
  code: body.error?.code,
  conflict: body.error?.conflict,
});
const faultsOf = ({ status, body }: Answer): unknown => [
  status,
  body.error?.code,
  ...(body.error?.details ?? []).map(
    ({ field, code }: { field: string; code: string }) => `${field} ${code}`,
  ),
];

describe.each(["pglite", "postgres"] as const)("createInstallationWebhook on %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });
  beforeEach(() => clearEndpoints(world()));

  const create = (body: unknown, headers: Record<string, string> = {}) =>
    createWebhook(world(), { body, headers });

  it("returns the endpoint and, only once, its 32-byte secret in Standard Webhooks form", async () => {
    const url = receiver();
    const answer = await create({ url, eventTypes: ["order.*", "cart.created"] });
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("createInstallationWebhook", 200, answer.body)).toEqual([]);
    const { endpoint, secret } = answer.body.data;
    expect(secret).toEqual({
      version: 1,
      value: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      shownOnce: true,
    });
    const at = world().clock.now().toISOString();
    const expected = {
      id: expect.stringMatching(/^whe_[0-9a-hjkmnp-tv-z]{26}$/),
      url,
      description: null,
      status: "enabled",
      disabledReason: null,
      disabledAt: null,
      eventTypes: ["order.*", "cart.created"],
      payloadMode: "snapshot",
      apiVersion: "v1",
      maxPerSecond: null,
      secrets: [{ version: 1, hint: `…${secret.value.slice(-4)}`, createdAt: at, expiresAt: null }],
      health: {
        state: "unknown",
        consecutiveFailures: 0,
        successRate24h: null,
        lastSuccessAt: null,
        lastFailureAt: null,
        lastFailure: null,
      },
      metadata: {},
      version: 1,
      createdAt: at,
      updatedAt: at,
    };
    expect(endpoint).toEqual(expected);
    expect(Object.keys(endpoint)).toEqual(Object.keys(expected));
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "stable",
    });
  });

  it("stores every field of the request", async () => {
    const settings = {
      description: "Lager.\nZwei Zeilen.",
      payloadMode: "thin",
      maxPerSecond: 100,
      metadata: { team: "ops", "a/b~c": "" },
    };
    const { body } = await create({ url: receiver(), eventTypes: ["*"], enabled: false, ...settings });
    const off = {
      status: "disabled",
      disabledReason: "manual",
      disabledAt: world().clock.now().toISOString(),
    };
    expect(body.data.endpoint).toMatchObject({ ...settings, ...off });
    expect((await world().getWithKey(endpointsUrl)).body.data.endpoints).toEqual([body.data.endpoint]);
  });

  it("queues a ping for the new endpoint only, and none for a disabled endpoint", async () => {
    const other = await makeEndpoint(world(), { eventTypes: ["*"] });
    const { id } = await makeEndpoint(world(), { eventTypes: ["order.*"] });
    const off = await makeEndpoint(world(), { enabled: false });
    const [ping, ...more] = await eventsOf(world(), id);
    expect(more).toEqual([]);
    expect(ping?.snapshot).toMatchObject({
      type: "webhook.ping",
      subject: { type: "webhook_endpoint", id, version: 1 },
      cause: { operationId: "createInstallationWebhook", actor: "api_key" },
    });
    const listed = (await world().getWithKey(endpointsUrl)).body.data.endpoints.find(
      (endpoint: { id: string }) => endpoint.id === id,
    );
    expect(ping?.snapshot.data).toEqual({ object: listed, previous: null, truncated: false });
    expect(await deliveriesOf(world(), id)).toEqual([
      { type: "webhook.ping", status: "pending", nextAttemptAt: world().clock.now() },
    ]);
    expect(await deliveriesOf(world(), other.id)).toHaveLength(1);
    expect([await eventsOf(world(), off.id), await deliveriesOf(world(), off.id)]).toEqual([[], []]);
    const rows = await world()
      .database.db.selectFrom("event")
      .select(["installationId", "fannedOutAt"])
      .where("subjectId", "=", id)
      .execute();
    expect(rows).toEqual([
      { installationId: await installationOf(world()), fannedOutAt: world().clock.now() },
    ]);
  });

  it("replays the first answer byte for byte to a retry, with the same secret", async () => {
    const body = { url: receiver(), eventTypes: ["*"] };
    const headers = { "idempotency-key": "webhook-once" };
    const first = await create(body, headers);
    world().clock.advance(5000);
    const again = await withoutTrace(world(), () => create(body, headers));
    expect([again.status, again.text, again.headers["idempotent-replayed"]]).toEqual([
      200,
      first.text,
      "true",
    ]);
  });

  it("refuses an equivalent URL of the same installation, but accepts it for another one", async () => {
    const { id, url } = await makeEndpoint(world());
    for (const alike of [
      url,
      url.replace("https://r-", "HTTPS://R-"),
      url.replace("/hooks", ":443/hooks"),
      url.replace("/hooks", "/x/../hooks"),
    ]) {
      const answer = await withoutTrace(world(), () => create({ url: alike, eventTypes: ["order.*"] }));
      const conflict = {
        resource: "webhook_endpoint",
        id,
        currentStatus: "enabled",
        currentVersion: 1,
        reason: null,
        data: {},
      };
      expect(conflictOf(answer)).toEqual({ status: 409, code: "webhook_endpoint_duplicate", conflict });
      expect(contract.faultsOf("createInstallationWebhook", 409, answer.body)).toEqual([]);
    }
    expect(
      (await createWebhook(world(), { key: "otherMerchant", body: { url, eventTypes: ["*"] } })).status,
    ).toBe(200);
  });

  it("allows 16 endpoints per installation under concurrent calls, not counting deleted ones", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => createWebhook(world(), { key: "otherMerchant" })),
    );
    const outcomes = Map.groupBy(answers, ({ body }) => body.error?.code ?? "made");
    expect([outcomes.get("made")?.length, outcomes.get("webhook_endpoint_limit_reached")?.length]).toEqual([
      16, 4,
    ]);
    const refused = await withoutTrace(world(), () => createWebhook(world(), { key: "otherMerchant" }));
    const id = await installationOf(world(), "otherMerchant");
    const conflict = {
      resource: "installation",
      id,
      currentStatus: "active",
      currentVersion: 1,
      reason: null,
      data: { limit: 16 },
    };
    expect(conflictOf(refused)).toEqual({ status: 409, code: "webhook_endpoint_limit_reached", conflict });
    expect(refused.body.error.message).toMatch(/16 webhook endpoints.*console.*webhookEndpointDelete\.$/);
    const { data } = (await world().getWithKey(endpointsUrl, "otherMerchant")).body;
    expect([data.endpoints.length, data.total, data.limit]).toEqual([16, 16, 16]);
    await clearEndpoints(world());
    expect((await createWebhook(world(), { key: "otherMerchant" })).status).toBe(200);
  });

  it("creates one endpoint if the same URL is requested twenty times at once", async () => {
    const body = { url: receiver(), eventTypes: ["*"] };
    const answers = await Promise.all(Array.from({ length: 20 }, () => create(body)));
    const outcomes = Map.groupBy(answers, ({ body: { error } }) => error?.code ?? "made");
    expect([outcomes.get("made")?.length, outcomes.get("webhook_endpoint_duplicate")?.length]).toEqual([
      1, 19,
    ]);
  });

  it("runs twelve statements", async () => {
    expect(await workOf(world(), () => create({ url: receiver(), eventTypes: ["*"] }))).toHaveLength(12);
  });

  describe("refuses", () => {
    const url = "https://shop.example.com/hooks";

    it.each([
      ["http://shop.example.com/hooks", "https_required"],
      ["https://10.0.0.1/hooks", "ip_literal_not_allowed"],
      ["https://[::ffff:127.0.0.1]/hooks", "ip_literal_not_allowed"],
      ["https://169.254.169.254/latest", "ip_literal_not_allowed"],
      ["https://shop.internal/hooks", "special_use_name"],
      ["https://shop/hooks", "single_label"],
      ["https://me:secret@shop.example.com/", "userinfo_not_allowed"],
      ["https://shop.example.com/#x", "fragment_not_allowed"],
      ["https://shop.example.com:22/", "port_not_allowed"],
      ["ftp://shop.example.com/", "malformed_url"],
      ["shop.example.com", "malformed_url"],
      ["", "malformed_url"],
    ])("the URL %s with %s", async (bad, why) => {
      const answer = await withoutTrace(world(), () => create({ url: bad, eventTypes: ["*"] }));
      expect(faultsOf(answer)).toEqual([400, "webhook_url_not_allowed", `/url ${why}`]);
      expect(contract.faultsOf("createInstallationWebhook", 400, answer.body)).toEqual([]);
    });

    it("unknown event types, each by its index", async () => {
      const eventTypes = ["order.placed", "order.eaten", "*.placed", "orders.*", "ORDER.PLACED", "order.*"];
      const answer = await withoutTrace(world(), () => create({ url, eventTypes }));
      expect(faultsOf(answer)).toEqual([
        400,
        "unknown_event_type",
        ...[1, 2, 3, 4].map((index) => `/eventTypes/${index} unknown`),
      ]);
      expect(faultsOf(await create({ url, eventTypes: ["order.placed", "*"] }))).toEqual([
        400,
        "invalid_field",
        "/eventTypes/1 not_alone",
      ]);
    });

    it("a body with several faults: the code is that of the first fault", async () => {
      const answer = await create({
        url: "https://10.0.0.1/",
        eventTypes: ["nothing.at_all"],
        metadata: { "a\nb": "x" },
      });
      expect(faultsOf(answer)).toEqual([
        400,
        "webhook_url_not_allowed",
        "/url ip_literal_not_allowed",
        "/eventTypes/0 unknown",
        "/metadata control_character",
      ]);
    });

    const eventTypes = ["*"];
    it.each([
      ["no body", undefined, "missing_body", [" required"]],
      ["an empty object", {}, "missing_field", ["/url required", "/eventTypes required"]],
      ["no event types", { url, eventTypes: [] }, "invalid_field", ["/eventTypes too_short"]],
      [
        "101 event types",
        { url, eventTypes: Array.from({ length: 101 }, (_, at) => `x.${at}`) },
        "invalid_field",
        ["/eventTypes too_long"],
      ],
      [
        "a repeated event type",
        { url, eventTypes: ["order.*", "order.*"] },
        "invalid_field",
        ["/eventTypes duplicate"],
      ],
      [
        "a URL of 2049 characters",
        { url: `${url}/${"x".repeat(2018)}`, eventTypes },
        "invalid_field",
        ["/url too_long"],
      ],
      [
        "a description of 201 characters",
        { url, eventTypes, description: "x".repeat(201) },
        "invalid_field",
        ["/description too_long"],
      ],
      [
        "an unknown payload mode",
        { url, eventTypes, payloadMode: "fat" },
        "invalid_field",
        ["/payloadMode not_allowed"],
      ],
      [
        "0 deliveries a second",
        { url, eventTypes, maxPerSecond: 0 },
        "invalid_field",
        ["/maxPerSecond too_small"],
      ],
      [
        "101 deliveries a second",
        { url, eventTypes, maxPerSecond: 101 },
        "invalid_field",
        ["/maxPerSecond too_large"],
      ],
      [
        "21 metadata keys",
        {
          url,
          eventTypes,
          metadata: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`k${at}`, ""])),
        },
        "invalid_field",
        ["/metadata too_long"],
      ],
      [
        "a metadata key of 41 characters",
        { url, eventTypes, metadata: { ["k".repeat(41)]: "" } },
        "invalid_field",
        ["/metadata too_long"],
      ],
      [
        "a metadata value of 501 characters",
        { url, eventTypes, metadata: { k: "v".repeat(501) } },
        "invalid_field",
        ["/metadata/k too_long"],
      ],
      [
        "a metadata value that is no text",
        { url, eventTypes, metadata: { k: 1 } },
        "invalid_field",
        ["/metadata/k wrong_type"],
      ],
      [
        "NUL in a metadata key",
        { url, eventTypes, metadata: { "k\u0000": "" } },
        "invalid_field",
        ["/metadata control_character"],
      ],
      ["an unknown field", { url, eventTypes, secret: "whsec_mine" }, "unknown_field", ["/secret unknown"]],
    ] as const)("a request with %s", async (_name, body, code, details) => {
      const authorization = `Bearer ${world().demo.keys.full}`;
      const headers = { authorization, "idempotency-key": randomUUID() };
      const answer = await withoutTrace(world(), () =>
        world().send({ method: "POST", url: endpointsUrl, headers, body }),
      );
      expect(faultsOf(answer)).toEqual([400, code, ...details]);
      expect(contract.faultsOf("createInstallationWebhook", 400, answer.body)).toEqual([]);
    });

    it("requests without credentials, with a wrong key and without an Idempotency-Key", async () => {
      const body = { url, eventTypes };
      const send = (headers: Record<string, string>) =>
        withoutTrace(world(), () => world().send({ method: "POST", url: endpointsUrl, headers, body }));
      expectError(await send({ "idempotency-key": "k" }), {
        status: 401,
        code: "credentials_missing",
        headers: { "www-authenticate": challenge },
      });
      expectError(await send({ "idempotency-key": "k", authorization: `Bearer ${unknownKey()}` }), {
        status: 401,
        code: "api_key_invalid",
        headers: { "www-authenticate": challengeInvalid },
      });
      expectError(await send({ authorization: `Bearer ${world().demo.keys.full}` }), {
        status: 400,
        code: "idempotency_key_required",
        details: [{ in: "header", field: "Idempotency-Key", code: "required" }],
      });
    });

    it("keys without webhooks:write before it reads the body; that scope alone is enough", async () => {
      for (const key of ["noScope", "catalogRead", "checkoutQuote", "webhooksRead"] as const)
        expectError(await withoutTrace(world(), () => createWebhook(world(), { key, body: "{ broken" })), {
          status: 403,
          code: "scope_missing",
          details: [
            { in: "header", field: "Authorization", code: "scope_missing", allowed: ["webhooks:write"] },
          ],
        });
      expect((await createWebhook(world(), { key: "webhooksWrite" })).status).toBe(200);
    });
  });
});
