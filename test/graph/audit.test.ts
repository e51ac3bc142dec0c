/**
 * The audit trail records who did what in the same transaction, without secrets and buyers' data. The
 * merchant's staff reads it.
 */
import { refreshRetryMs } from "#oauth/refresh-rotation.ts";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AuditEntryRow } from "#access/audit.ts";
import { berlin, callCart, changeCart, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { makeReadySession, sessionsUrl } from "#test/operations/checkout-calls.ts";
import { replay } from "#test/operations/replay-calls.ts";
import { createWebhook, makeEndpoint } from "#test/operations/webhook-calls.ts";
import { letIn, redeem, refresh } from "#test/oauth/token-requests.ts";
import { fetchIn } from "#test/oauth/people.ts";
import { createWorld, type World } from "#test/support/world.ts";

describe("the audit trail", () => {
  let world: World;
  let keyId: string;
  let adminId: string;
  beforeAll(async () => {
    world = await createWorld();
    const named = async (table: "apiKey" | "internalToken", name: string): Promise<string> =>
      (
        await world.database.db
          .selectFrom(table)
          .select("id")
          .where("name", "=", name)
          .executeTakeFirstOrThrow()
      ).id;
    [keyId, adminId] = [await named("apiKey", "Demo: full"), await named("internalToken", "Demo: admin")];
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** The entries written during the work, in order. */
  const during = async (work: () => Promise<unknown>): Promise<Partial<AuditEntryRow>[]> => {
    const { db } = world.database;
    const before = new Set((await db.selectFrom("auditEntry").select("id").execute()).map(({ id }) => id));
    await work();
    const rows = await db.selectFrom("auditEntry").selectAll().orderBy("at").orderBy("id").execute();
    return rows
      .filter(({ id }) => !before.has(id))
      .map(({ id: _id, at: _at, requestId: _request, ...row }) => row);
  };
  const ask = async (mutation: string, token = "admin") => {
    world.clock.advance(1);
    const { body } = await world.graphql(`mutation { ${mutation} }`, { token });
    return { data: body.data?.[Object.keys(body.data)[0] ?? ""], error: body.errors?.[0]?.extensions };
  };

  it("records changes of an API key over REST under the operation's name", async () => {
    const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    const [code, session] = [await makeCode(world, "AUDIT"), await makeReadySession(world)];
    const merchantId = world.demo.merchants.first.id;
    const by = { merchantId, actor: "api_key", actorId: keyId };
    const headers = { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": randomUUID() };
    const entries = await during(async () => {
      const after = (work: Promise<unknown>): Promise<unknown> => work.finally(() => world.clock.advance(1));
      await after(callCart(world, "setPublicCartAddress", { cartId, body: { address: berlin } }));
      await after(callCart(world, "applyPublicCartPromotion", { cartId, body: { code: "AUDIT" } }));
      await after(
        callCart(world, "removePublicCartPromotion", {
          cartId,
          body: { expectedVersion: 3, reason: "duplicate", note: "Twice." },
        }),
      );
      await after(
        callCart(world, "revokePublicCart", {
          cartId,
          body: { expectedVersion: 4, reason: "test", note: "Kept with the cart." },
        }),
      );
      await after(
        world.send({
          method: "POST",
          url: `${sessionsUrl}/${session.id}/cancel`,
          headers,
          body: { reason: "test" },
        }),
      );
    });
    expect(code).toBeDefined();
    const cart = { ...by, targetType: "cart", targetId: cartId };
    expect(entries).toEqual([
      { ...cart, action: "setPublicCartAddress", details: { fields: ["address"] } },
      { ...cart, action: "applyPublicCartPromotion", details: { fields: ["code"] } },
      { ...cart, action: "removePublicCartPromotion", details: { reason: "duplicate", note: "Twice." } },
      { ...cart, action: "revokePublicCart", details: { reason: "test" } },
      {
        ...by,
        action: "cancelHostedCheckoutSession",
        targetType: "checkout_session",
        targetId: session.id,
        details: { reason: "test" },
      },
    ]);
  });

  it("records webhook endpoints and replays, with the request id", async () => {
    const delivery = world.demo.webhooks.deliveries.exhausted;
    const [answers, entries] = [
      [] as Awaited<ReturnType<typeof createWebhook>>[],
      [] as Partial<AuditEntryRow>[],
    ];
    entries.push(...(await during(async () => void answers.push(await createWebhook(world)))));
    const endpoint = answers[0]?.body.data.endpoint;
    expect(entries).toMatchObject([
      {
        action: "createInstallationWebhook",
        actor: "api_key",
        targetType: "webhook_endpoint",
        targetId: endpoint.id,
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain("https://");
    const { requestId } = await world.database.db
      .selectFrom("auditEntry")
      .select("requestId")
      .where("targetId", "=", endpoint.id)
      .executeTakeFirstOrThrow();
    expect(requestId).toBe(answers[0]?.headers["x-request-id"]);
    const replayed = await during(() =>
      replay(world, delivery, {
        body: { reason: "receiver_bug", note: "Fixed now.", endpointId: endpoint.id },
      }),
    );
    expect(replayed).toMatchObject([
      {
        action: "replayInstallationWebhookDelivery",
        targetType: "webhook_delivery",
        targetId: delivery,
        details: { endpointId: endpoint.id, reason: "receiver_bug" },
      },
    ]);
  });

  it("has one entry for a replayed mutation, and none for a refused one", async () => {
    const key = randomUUID();
    const name = `mutation { webhookEndpointTest(endpointId: "${(await makeEndpoint(world)).id}",
      idempotencyKey: "${key}", input: {}) { id } }`;
    expect(await during(async () => [await world.graphql(name), await world.graphql(name)])).toHaveLength(1);
    const refused = await during(async () => {
      const { error } = await ask(
        `merchantUpdate(input: { merchantId: "${world.demo.merchants.first.id}", expectedVersion: ` +
          `99, name: "X" }) { id }`,
      );
      expect(error.code).toBe("version_conflict");
      await ask('apiKeyRevoke(input: { apiKeyId: "key_00000000000000000000000000" }) { id }');
      await callCart(world, "revokePublicCart", {
        cartId: world.demo.carts.active,
        body: { expectedVersion: 999 },
      });
    });
    expect(refused).toEqual([]);
  });

  it("records nothing that buyers do, and everything that the merchant's staff does", async () => {
    const bought = await during(async () => {
      const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 }, buyer: "audited" });
      await changeCart(world, "cartBuyerSet", {
        cartId,
        buyer: "audited",
        input: { buyerReference: "audited", email: "anna@shop.example" },
      });
    });
    expect(bought).toEqual([]);
    const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    const entries = await during(async () => {
      await changeCart(world, "cartBuyerSet", {
        cartId,
        token: "admin",
        input: { email: "anna@shop.example" },
      });
      world.clock.advance(1);
      await ask(
        'categoryUpsert(input: { slug: "audited", names: [{ locale: "en", text: "Audited" }] }) { id }',
      );
    });
    const by = { actor: "staff", actorId: adminId, merchantId: world.demo.merchants.first.id };
    expect(entries).toEqual([
      { ...by, action: "cartBuyerSet", targetType: "cart", targetId: cartId, details: { fields: ["email"] } },
      {
        ...by,
        action: "categoryUpsert",
        targetType: "category",
        targetId: expect.stringMatching(/^cat_/),
        details: { fields: ["names", "slug"] },
      },
    ]);
  });

  it("records changes of permissions, and shows a merchant what the platform did to it", async () => {
    const merchantId = world.demo.merchants.first.id;
    const secrets: string[] = [];
    const entries = await during(async () => {
      const { data: token } = await ask(
        'internalTokenCreate(input: { name: "Till", role: STOREFRONT }) { value internalToken { id } }',
      );
      const { data: person } = await ask(
        `staffCreate(input: { merchantId: "${merchantId}", email: "eve@shop.example", ` +
          `name: "Eve Adams" }) { password staff { id } }`,
        "operator",
      );
      const password = "a long enough password";
      await ask(
        `staffCreate(input: { email: "bob@shop.example", name: "Bob", password: ` +
          `"${password}" }) { password staff { id } }`,
      );
      await ask(`staffDisable(input: { staffId: "${person.staff.id}" }) { id disabledAt }`, "operator");
      await ask(
        `internalTokenRevoke(input: { internalTokenId: "${token.internalToken.id}" }) { id }`,
        "operator",
      );
      secrets.push(token.value, person.password, password, "shop.example", "Eve");
    });
    expect(
      entries.map(({ action, actor, merchantId: owner, targetType, details }) => [
        action,
        actor,
        owner,
        targetType,
        details,
      ]),
    ).toEqual([
      ["internalTokenCreate", "staff", merchantId, "internal_token", { fields: ["name", "role"] }],
      ["staffCreate", "operator", merchantId, "staff", { fields: ["email", "name", "role"] }],
      ["staffCreate", "staff", merchantId, "staff", { fields: ["email", "name", "password", "role"] }],
      ["staffDisable", "operator", merchantId, "staff", {}],
      ["internalTokenRevoke", "operator", merchantId, "internal_token", {}],
    ]);
    for (const secret of secrets) expect(JSON.stringify(entries)).not.toContain(secret);
  });

  it("records which access a person granted to an app, and how the grant ended", async () => {
    const apps = [await letIn(world), await letIn(world), await letIn(world)] as const;
    const grants = await world.database.db.selectFrom("oauthGrant").selectAll().execute();
    const grantOf = (index: 0 | 1 | 2) =>
      grants.find(({ clientId }) => clientId === apps[index].client.clientId);
    const entries = await during(async () => {
      const { body } = await redeem(world, apps[0]);
      await fetchIn(world)(`${world.app.publicUrl}/oauth/revoke`, {
        method: "POST",
        body: new URLSearchParams({
          token: body["refresh_token"] ?? "",
          client_id: apps[0].client.clientId,
        }).toString(),
        headers: { "content-type": "application/x-www-form-urlencoded" },
      });
      world.clock.advance(1);
      const { body: first } = await redeem(world, apps[1]);
      await refresh(world, apps[1], first["refresh_token"] ?? "");
      // For a minute, a refresh token can be sent again, because the answer may have been lost.
      world.clock.advance(refreshRetryMs + 1_000);
      await refresh(world, apps[1], first["refresh_token"] ?? "");
      world.clock.advance(1);
      await ask(`oauthGrantRevoke(input: { grantId: "${grantOf(2)?.id}" }) { id revokedAt }`);
    });
    expect(
      entries.map(({ action, actor, actorId, targetId, details }) => [
        action,
        actor,
        actorId,
        targetId,
        (details as { reason?: string }).reason,
      ]),
    ).toEqual([
      ["oauthGrantRevoke", "oauth_client", grantOf(0)?.id, grantOf(0)?.id, "given_back"],
      ["oauthGrantRevoke", "system", null, grantOf(1)?.id, "used_twice"],
      ["oauthGrantRevoke", "staff", adminId, grantOf(2)?.id, undefined],
    ]);
    const [consent] = await world.database.db
      .selectFrom("auditEntry")
      .selectAll()
      .where("targetId", "=", grantOf(0)?.id ?? "")
      .where("action", "=", "oauthGrantCreate")
      .execute();
    expect(consent).toMatchObject({
      actor: "staff",
      actorId: apps[0].person.staffId,
      merchantId: world.demo.merchants.first.id,
      details: { clientId: apps[0].client.clientId, scopes: ["catalog:read", "checkout:quote"] },
    });
  });

  it("is read newest first, with filters, by the merchant's own staff only", async () => {
    const { id } = await makeEndpoint(world);
    world.clock.advance(1);
    await world.graphql(
      `mutation { webhookEndpointDisable(endpointId: "${id}", idempotencyKey: "${randomUUID()}", input: {}) {
        id } }`,
    );
    const fields = "id at merchantId actor actorId action targetType targetId requestId details";
    const read = async (args: string, token = "admin") =>
      (await world.graphql(`{ auditEntries${args} { totalCount edges { node { ${fields} } } } }`, { token }))
        .body;
    const actions = async (args: string, token?: string): Promise<string[]> =>
      (await read(args, token)).data.auditEntries.edges.map(
        ({ node }: { node: { action: string } }) => node.action,
      );
    expect(await actions(`(targetId: "${id}")`)).toEqual([
      "webhookEndpointDisable",
      "createInstallationWebhook",
    ]);
    expect(await actions(`(targetId: "${id}", last: 1)`)).toEqual(["createInstallationWebhook"]);
    expect(await actions(`(targetId: "${id}", actor: STAFF)`)).toEqual(["webhookEndpointDisable"]);
    expect(
      await actions(`(targetId: "${id}", actorId: "${keyId}", action: "createInstallationWebhook")`),
    ).toHaveLength(1);
    const at = world.clock.now().toISOString();
    expect(await actions(`(targetId: "${id}", to: "${at}")`)).toEqual(["createInstallationWebhook"]);
    expect(await actions(`(targetId: "${id}", from: "${at}")`)).toEqual(["webhookEndpointDisable"]);
    const { data } = await read(`(targetId: "${id}", first: 1)`);
    expect(data.auditEntries.totalCount).toBe(2);
    expect(data.auditEntries.edges[0].node).toMatchObject({
      at,
      actor: "STAFF",
      actorId: adminId,
      merchantId: world.demo.merchants.first.id,
    });
    const pages = [await actions("(first: 3)"), await actions("(first: 3)", "operator")];
    expect(pages[0]).toHaveLength(3);
    // Another merchant's admin gets no entries.
    const other = await ask(
      `internalTokenCreate(input: { name: "O", role: ADMIN, merchantId: ` +
        `"${world.demo.merchants.second.id}" }) { value }`,
      "operator",
    );
    expect(await actions(`(targetId: "${id}")`, other.data.value)).toEqual([]);
    expect(await actions("", other.data.value)).toEqual(["internalTokenCreate"]);
  });
});
