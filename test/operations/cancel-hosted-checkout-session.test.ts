/**
 * cancelHostedCheckoutSession: cancels a checkout session that was not submitted, releases its stock and
 * unlocks its cart.
 */
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { manyConnections } from "#test/support/databases.ts";
import { challenge, challengeInvalid, expectError } from "#test/support/expect-error.ts";
import { unknownKey } from "#test/support/keys.ts";
import { type Contract, readContract } from "#test/support/openapi.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { callCart, eur, eventsOf, makeForeignCart, withoutTrace, workOf } from "./cart-calls.ts";
import {
  cancelSession,
  changeSession,
  holdsOf,
  makeSession,
  readSession,
  returnUrls,
  sessionConflict,
  sessionsUrl,
  stockOf,
  sweepSessions,
  trySession,
} from "./checkout-calls.ts";

const hourMs = 3_600_000;

describe.each(["pglite", "postgres"] as const)("cancelHostedCheckoutSession on %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });
  let contract: Contract;
  beforeAll(async () => {
    contract = await readContract(world());
  });

  const open = async (): Promise<string> => (await makeSession(world())).id;
  const cancel = (sessionId: string, body: unknown) => cancelSession(world(), { sessionId, body });
  const conflictOf = ({ status, body }: Answer): unknown => ({
    status,
    code: body.error?.code,
    conflict: body.error?.conflict,
  });

  it("returns the canceled session, unlocks its cart and releases its stock", async () => {
    const before = await stockOf(world(), "KIT-KVERN");
    const session = await makeSession(world());
    const { id: sessionId, cartId, createdAt, expiresAt } = session;
    expect(await stockOf(world(), "KIT-KVERN")).toEqual({ ...before, reserved: before.reserved + 1 });
    world().clock.advance(1000);
    const at = world().clock.now().toISOString();
    const answer = await cancel(sessionId, {
      reason: "buyer_changed_mind",
      note: "Too dear.\nSorry.",
      expectedVersion: 1,
    });
    expect(answer.status).toBe(200);
    expect(contract.faultsOf("cancelHostedCheckoutSession", 200, answer.body)).toEqual([]);
    const { id, slug } = world().demo.merchants.first;
    const expected = {
      id: sessionId,
      version: 2,
      status: "canceled",
      cartId,
      cartVersion: 3,
      orderId: null,
      merchant: { id, slug, name: "Lindenhof" },
      market: "DE",
      currency: "EUR",
      locale: "de",
      amountTotal: eur(8490),
      paymentStatus: "unpaid",
      url: null,
      ...returnUrls,
      expiresAt,
      createdAt,
      completedAt: null,
      canceledAt: at,
      cancellation: { reason: "buyer_changed_mind", note: "Too dear.\nSorry.", actor: "api_key" },
      cartStatus: "active",
    };
    expect(answer.body).toEqual({ data: expected });
    expect(Object.keys(answer.body.data)).toEqual(Object.keys(expected));
    expect(answer.headers).toMatchObject({
      "idempotent-replayed": "false",
      "cache-control": "no-store",
      "x-api-stability": "stable",
    });
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data).toMatchObject({
      version: 3,
      status: "active",
      checkout: null,
    });
    expect(await stockOf(world(), "KIT-KVERN")).toEqual(before);
    expect(await holdsOf(world(), "KIT-KVERN")).toEqual([]);
  });

  it("never returns the page's URL or personal data over REST", async () => {
    const { id, url } = await makeSession(world());
    const { text } = await cancel(id, { reason: "test" });
    expect(url).toMatch(/\/checkout\/[\w-]{43}$/);
    expect(text).not.toContain(url);
    expect(text).not.toContain("url_");
    expect(JSON.parse(text).data.url).toBeNull();
    expect((await readSession(world(), id)).data.url).toBeNull();
  });

  it.each([
    "buyer_abandoned",
    "buyer_changed_mind",
    "merchant_request",
    "price_changed",
    "out_of_stock",
    "fraud_suspected",
    "duplicate",
    "test",
    "other",
  ])("stores the reason %s", async (reason) => {
    const { body } = await cancel(await open(), { reason });
    expect(body.data.cancellation).toEqual({ reason, note: null, actor: "api_key" });
  });

  it.each([
    ["storefront", "BUYER"],
    ["admin", "STAFF"],
    ["operator", "STAFF"],
  ] as const)("records over GraphQL who canceled the session: %s is %s", async (token, actor) => {
    const merchantId = token === "operator" ? world().demo.merchants.first.id : undefined;
    const { data } = await changeSession(world(), "hostedCheckoutSessionCancel", {
      sessionId: await open(),
      input: { reason: "OTHER" },
      token,
      ...(merchantId === undefined ? {} : { merchantId }),
    });
    expect(data).toMatchObject({
      status: "CANCELED",
      cancellation: { reason: "OTHER", actor },
      cart: { status: "ACTIVE", version: 3 },
    });
  });

  it("replays the first answer byte for byte for the same Idempotency-Key", async () => {
    const sessionId = await open();
    const headers = { "idempotency-key": "cancel-once" };
    const first = await cancelSession(world(), { sessionId, headers });
    world().clock.advance(5000);
    const second = await withoutTrace(world(), () => cancelSession(world(), { sessionId, headers }));
    expect([second.status, second.text, second.headers["idempotent-replayed"]]).toEqual([
      200,
      first.text,
      "true",
    ]);
  });

  it("refuses a second cancellation with another key, whatever version it expects", async () => {
    const sessionId = await open();
    await cancel(sessionId, { reason: "test" });
    for (const expectedVersion of [1, 2, 9]) {
      const answer = await withoutTrace(world(), () =>
        cancel(sessionId, { reason: "other", expectedVersion }),
      );
      const conflict = sessionConflict({ id: sessionId, status: "canceled", version: 2 });
      expect(conflictOf(answer)).toEqual({ status: 409, code: "checkout_session_canceled", conflict });
      expect(contract.faultsOf("cancelHostedCheckoutSession", 409, answer.body)).toEqual([]);
      expect(answer.body.error).toMatchObject({ retryable: false, retryAfterSeconds: null });
    }
  });

  it("cancels once if 50 requests arrive at the same time", async () => {
    const before = await stockOf(world(), "KIT-KVERN");
    const { id: sessionId, cartId } = await makeSession(world());
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => cancel(sessionId, { reason: "duplicate" })),
    );
    expect(Map.groupBy(answers, ({ status, body }) => body.error?.code ?? status).get(200)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.error?.code === "checkout_session_canceled")).toHaveLength(49);
    expect(await stockOf(world(), "KIT-KVERN")).toEqual(before);
    expect((await eventsOf(world(), sessionId)).map(({ type }) => type)).toEqual([
      "checkout_session.created",
      "checkout_session.canceled",
    ]);
    expect((await callCart(world(), "getPublicCart", { cartId })).body.data.version).toBe(3);
  });

  it("refuses with a retryable error while a payment is being processed", async () => {
    const sessionId = await open();
    await sql`update hosted_checkout_session set status = 'processing', submitted_at = ${world().clock.now()}
      where id = ${sessionId}`.execute(world().database.db);
    world().clock.advance(2 * hourMs);
    const answer = await withoutTrace(world(), () =>
      cancel(sessionId, { reason: "test", expectedVersion: 7 }),
    );
    const conflict = sessionConflict({ id: sessionId, status: "processing", version: 1 });
    expect(conflictOf(answer)).toEqual({ status: 409, code: "checkout_session_processing", conflict });
    expect(answer.body.error).toMatchObject({ retryable: true, retryAfterSeconds: 1 });
    expect(answer.headers["retry-after"]).toBe("1");
    expect(contract.faultsOf("cancelHostedCheckoutSession", 409, answer.body)).toEqual([]);
  });

  it("refuses for a completed session", async () => {
    const sessionId = await open();
    const { db } = world().database;
    await sql`update hosted_checkout_session set status = 'completed', completed_at = ${world().clock.now()}
      where id = ${sessionId}`.execute(db);
    const answer = await withoutTrace(world(), () => cancel(sessionId, { reason: "test" }));
    const conflict = sessionConflict({ id: sessionId, status: "completed", version: 1 });
    expect(conflictOf(answer)).toEqual({ status: 409, code: "checkout_session_completed", conflict });
  });

  it("refuses from the moment the session expires, before and after the sweep writes it", async () => {
    const sessionId = await open();
    world().clock.advance(hourMs);
    const byClock = await withoutTrace(world(), () => cancel(sessionId, { reason: "test" }));
    const expected = { status: 409, code: "checkout_session_expired" };
    expect(conflictOf(byClock)).toEqual({
      ...expected,
      conflict: sessionConflict({ id: sessionId, status: "expired", version: 1 }),
    });
    await sweepSessions(world());
    const written = await withoutTrace(world(), () => cancel(sessionId, { reason: "test" }));
    expect(conflictOf(written)).toEqual({
      ...expected,
      conflict: sessionConflict({ id: sessionId, status: "expired", version: 2 }),
    });
  });

  it("refuses a version that is not the session's current version", async () => {
    const sessionId = await open();
    const answer = await withoutTrace(world(), () =>
      cancel(sessionId, { reason: "test", expectedVersion: 2 }),
    );
    const conflict = sessionConflict({ id: sessionId, status: "open", version: 1 });
    expect(conflictOf(answer)).toEqual({ status: 409, code: "checkout_session_version_conflict", conflict });
    expect(contract.faultsOf("cancelHostedCheckoutSession", 409, answer.body)).toEqual([]);
    expect(JSON.stringify(contract.document.components.responses)).toContain(
      "`checkout_session_version_conflict`",
    );
  });

  it("publishes events of the session and of its cart", async () => {
    const { id: sessionId, cartId } = await makeSession(world());
    const { body } = await cancel(sessionId, { reason: "out_of_stock" });
    const canceledEvent = (await eventsOf(world(), sessionId)).find(
      ({ type }) => type === "checkout_session.canceled",
    );
    expect(canceledEvent?.snapshot).toMatchObject({
      subject: { type: "checkout_session", id: sessionId, version: 2 },
      cause: { actor: "api_key" },
    });
    expect(canceledEvent?.snapshot.data.object).toEqual(body.data);
    expect(canceledEvent?.snapshot.data.previous).toEqual({
      version: 1,
      status: "open",
      canceledAt: null,
      cancellation: null,
      cartVersion: 2,
      cartStatus: "locked",
    });
    const events = await eventsOf(world(), cartId);
    expect(events.map(({ type, version }) => [type, version])).toEqual([
      ["cart.created", 1],
      ["cart.locked", 2],
      ["cart.unlocked", 3],
    ]);
    expect(events[2]?.snapshot.data.previous).toMatchObject({
      status: "locked",
      checkout: { sessionId, status: "open" },
    });
  });

  it("runs fourteen statements", async () => {
    // Uses a product without an expired hold of another test: an expired hold would also queue the product
    // for reindexing.
    const { id } = await makeSession(world(), { lines: { "KIT-EMALJE-WHITE": 1 } });
    expect(await workOf(world(), () => cancel(id, { reason: "test" }))).toHaveLength(14);
  });

  describe("refuses", () => {
    const url = async (): Promise<string> => `${sessionsUrl}/${await open()}/cancel`;
    const body = { reason: "test" };

    it("requests without credentials and with a wrong key", async () => {
      const headers = { "idempotency-key": "k" };
      const send = async (more: Record<string, string>) => {
        const address = await url();
        return withoutTrace(world(), () =>
          world().send({ method: "POST", url: address, body, headers: { ...headers, ...more } }),
        );
      };
      expectError(await send({}), {
        status: 401,
        code: "credentials_missing",
        headers: { "www-authenticate": challenge },
      });
      expectError(await send({ authorization: `Bearer ${unknownKey()}` }), {
        status: 401,
        code: "api_key_invalid",
        headers: { "www-authenticate": challengeInvalid },
      });
    });

    it("every key without catalog:read before it reads the body; catalog:read alone is enough", async () => {
      const sessionId = await open();
      for (const key of ["noScope", "checkoutQuote", "webhooksRead", "webhooksWrite"] as const)
        expectError(
          await withoutTrace(world(), () => cancelSession(world(), { sessionId, key, body: "{ broken" })),
          {
            status: 403,
            code: "scope_missing",
            details: [
              { in: "header", field: "Authorization", code: "scope_missing", allowed: ["catalog:read"] },
            ],
          },
        );
      expect((await cancelSession(world(), { sessionId, key: "catalogRead" })).status).toBe(200);
    });

    it('foreign, missing and malformed session ids with "not found"', async () => {
      const own = await open();
      const foreign = await trySession(world(), {
        cartId: await makeForeignCart(world()),
        token: "operator",
        merchantId: world().demo.merchants.second.id,
      });
      const ids = [
        foreign.data.id,
        "chs_00000000000000000000000000",
        own.toUpperCase(),
        own.slice(0, -1),
        "1",
        "%00",
      ];
      for (const sessionId of ids) {
        const answer = await withoutTrace(world(), () => cancelSession(world(), { sessionId }));
        expect([sessionId, answer.status, answer.body.error.code]).toEqual([
          sessionId,
          404,
          "checkout_session_not_found",
        ]);
      }
      expectError(await cancelSession(world(), { sessionId: own, key: "otherMerchant" }), {
        status: 404,
        code: "checkout_session_not_found",
      });
    });

    it("requests without an Idempotency-Key and with a query parameter", async () => {
      const authorization = `Bearer ${world().demo.keys.full}`;
      const address = await url();
      expectError(
        await withoutTrace(world(), () =>
          world().send({ method: "POST", url: address, body, headers: { authorization } }),
        ),
        {
          status: 400,
          code: "idempotency_key_required",
          details: [{ in: "header", field: "Idempotency-Key", code: "required" }],
        },
      );
      const headers = { authorization, "idempotency-key": "p" };
      expectError(
        await withoutTrace(world(), () =>
          world().send({ method: "POST", url: `${address}?force=1`, body, headers }),
        ),
        {
          status: 400,
          code: "unknown_parameter",
          details: [{ in: "query", field: "force", code: "unknown" }],
        },
      );
    });

    it.each([
      ["no body", undefined, "missing_body", [" required"]],
      ["no reason", {}, "missing_field", ["/reason required"]],
      ["an unknown reason", { reason: "whim" }, "invalid_field", ["/reason not_allowed"]],
      [
        "a note of 501 characters",
        { reason: "test", note: "x".repeat(501) },
        "invalid_field",
        ["/note too_long"],
      ],
      [
        "a control character in the note",
        { reason: "test", note: "\u0001" },
        "invalid_field",
        ["/note control_character"],
      ],
      ["version 0", { reason: "test", expectedVersion: 0 }, "invalid_field", ["/expectedVersion too_small"]],
      ["an unknown field", { reason: "test", surprise: 1 }, "unknown_field", ["/surprise unknown"]],
    ] as const)("a request with %s", async (_name, sent, code, details) => {
      const sessionId = await open();
      const authorization = `Bearer ${world().demo.keys.full}`;
      const headers = { authorization, "idempotency-key": "form" };
      const answer = await withoutTrace(world(), () =>
        world().send({ method: "POST", url: `${sessionsUrl}/${sessionId}/cancel`, headers, body: sent }),
      );
      expect([answer.status, answer.body.error.code]).toEqual([400, code]);
      expect(
        answer.body.error.details.map(
          (detail: { field: string; code: string }) => `${detail.field} ${detail.code}`,
        ),
      ).toEqual(details);
    });
  });
});
