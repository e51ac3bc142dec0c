/**
 * One request is one trace, from its route to its statements and its webhooks. A trace contains no value that
 * a client sent.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { startTracing } from "#observability/tracing.ts";
import { drive, openCheckout, submitted } from "#test/commerce/payments/checkouts.ts";
import { cartsUrl, makeCart, makeCode } from "#test/operations/cart-calls.ts";
import { type CollectedSpan, type Collector, startCollector } from "#test/support/collector.ts";
import { type Answer, createWorld, type World } from "#test/support/world.ts";
import { createLog } from "#foundation/log.ts";

const endpointsUrl = "/api/v1/open/webhooks/endpoints";
const idOf = (length: number): string => randomUUID().replaceAll("-", "").slice(0, length);
const log = createLog("silent");

describe("traces", () => {
  let collector: Collector;
  let world: World;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    collector = await startCollector();
    stop = startTracing({ endpoint: collector.endpoint, environment: {}, log, intervalMs: 20 });
    world = await createWorld("postgres", { environment: { WEBHOOK_ALLOW_LOOPBACK: "1" } });
    await makeCode(world, "TRACED");
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await stop?.();
    await collector?.[Symbol.asyncDispose]();
  });
  beforeEach(() => {
    collector.spans.length = 0;
  });

  const apply = async (code: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const { id } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
    const authorization = `Bearer ${world.demo.keys.full}`;
    const all = { authorization, "idempotency-key": randomUUID(), ...headers };
    return world.send({ method: "PUT", url: `${cartsUrl}/${id}/promotion?`, headers: all, body: { code } });
  };
  /** Returns the request's span once all its child spans have arrived. */
  const spanOf = async ({ headers }: Answer): Promise<CollectedSpan> => {
    const find = (): CollectedSpan | undefined =>
      collector.spans.find(({ attributes }) => attributes["commerce.request.id"] === headers["x-request-id"]);
    await expect.poll(find).toBeDefined();
    return find() as CollectedSpan;
  };
  const within = ({ traceId, spanId }: CollectedSpan): CollectedSpan[] =>
    collector.spans.filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
  const named = (spans: readonly CollectedSpan[], name: string): CollectedSpan => {
    const found = spans.find((span) => span.name === name);
    expect({ name, among: spans.map((span) => span.name), isThere: found !== undefined }).toMatchObject({
      isThere: true,
    });
    return found as CollectedSpan;
  };

  it("show a write: its route, its steps, its transaction and its statements", async () => {
    const answer = await apply("TRACED");
    const root = await spanOf(answer);
    expect(root).toMatchObject({
      name: `PUT ${cartsUrl}/{cartId}/promotion`,
      kind: 2,
      parentSpanId: undefined,
      isFailed: false,
      service: "commerce-gateway",
    });
    expect(root.attributes).toEqual({
      "http.request.method": "PUT",
      "http.route": `${cartsUrl}/{cartId}/promotion`,
      "http.response.status_code": 200,
      "commerce.request.id": answer.headers["x-request-id"],
      "commerce.operation.id": "applyPublicCartPromotion",
      "commerce.installation.id": expect.stringMatching(/^ins_/),
    });
    const executed = named(within(root), "execute");
    expect(within(root).map(({ name }) => name)).toEqual(expect.arrayContaining(["identify", "validate"]));
    const transaction = named(within(executed), "transaction");
    expect(transaction.attributes).toMatchObject({
      "commerce.transaction.outcome": "commit",
      "commerce.db.connection_wait_ms": expect.any(Number),
    });
    const written = named(within(transaction), "update cart");
    expect(written).toMatchObject({ kind: 3 });
    expect(written.attributes["db.query.text"]).toMatch(/insert into "event" .*\s+values \(\$\d+, \$\d+/);
    const looked = within(transaction).filter(
      ({ attributes }) => Number(attributes["db.response.returned_rows"]) > 0,
    );
    expect(looked.length).toBeGreaterThan(2);
    expect(world.logged.find(({ requestId }) => requestId === answer.headers["x-request-id"])).toMatchObject({
      traceId: root.traceId,
    });
  });

  it("show a refusal by its code, as an error only if the service is at fault, and a rollback", async () => {
    const root = await spanOf(await apply("NO-SUCH-CODE"));
    expect(root).toMatchObject({
      isFailed: false,
      attributes: { "error.type": "promotion_code_not_found", "http.response.status_code": 404 },
    });
    const transaction = named(within(named(within(root), "execute")), "transaction");
    expect(transaction.attributes).toMatchObject({ "commerce.transaction.outcome": "rollback" });
    const refused = await spanOf(await world.send({ method: "PUT", url: `${cartsUrl}/x` }));
    expect(refused).toMatchObject({
      name: `PUT ${cartsUrl}/{cartId}`,
      attributes: { "http.route": `${cartsUrl}/{cartId}`, "error.type": "method_not_allowed" },
    });
  });

  it("show reads outside of a transaction, also if one statement reads for several requests", async () => {
    const [product] = world.demo.products;
    const url = `/api/v1/catalog/merchants/${product?.merchantSlug}/products/${product?.productSlug}`;
    const root = await spanOf(await world.get(url));
    const together = named(within(named(within(root), "execute")), "read together");
    expect(together.attributes).toEqual({ "commerce.read_together": 1 });
    const [statement] = within(together);
    expect(statement).toMatchObject({
      kind: 3,
      attributes: { "db.system.name": "postgresql", "db.query.text": expect.stringContaining("$1") },
    });
  });

  it("continue a caller's trace, and are not recorded if the caller's is not", async () => {
    const [traceId, spanId] = [idOf(32), idOf(16)];
    const root = await spanOf(await apply("TRACED", { traceparent: `00-${traceId}-${spanId}-01` }));
    expect(root).toMatchObject({ traceId, parentSpanId: spanId });
    const left = await apply("TRACED", { traceparent: `00-${idOf(32)}-${spanId}-00` });
    await spanOf(await apply("TRACED"));
    expect(left.status).toBe(200);
    expect(
      collector.spans.filter(
        ({ attributes }) => attributes["commerce.request.id"] === left.headers["x-request-id"],
      ),
    ).toEqual([]);
  });

  it.each([
    ["nonsense", "nonsense"],
    ["zeros", `00-${"0".repeat(32)}-${"1".repeat(16)}-01`],
    ["a span of zeros", `00-${"1".repeat(32)}-${"0".repeat(16)}-01`],
    ["a version that is none", `ff-${"1".repeat(32)}-${"1".repeat(16)}-01`],
    ["more than its version has", `00-${"1".repeat(32)}-${"1".repeat(16)}-01-more`],
    ["capital letters", `00-${"A".repeat(32)}-${"1".repeat(16)}-01`],
  ])("start a new trace if the caller's trace header is not valid: %s", async (_name, traceparent) => {
    const answer = await world.get("/api/v1/open/catalog/products", {
      authorization: `Bearer ${world.demo.keys.full}`,
      traceparent,
    });
    expect(answer.status).toBe(200);
    expect((await spanOf(answer)).parentSpanId).toBeUndefined();
  });

  it("name a GraphQL operation by its kind and its fields, without the caller's text", async () => {
    const query = 'query Secretive { someone: viewer { role } cart(id: "cart_secretive") { id } }';
    // Documents are compiled at the third use.
    for (let time = 0; time < 4; time += 1) {
      const root = await spanOf(await world.graphql(query));
      expect(root.name).toBe("POST /graphql");
      expect(named(within(root), "graphql query").attributes).toEqual({
        "graphql.operation.type": "query",
        "commerce.graphql.fields": ["cart", "viewer"],
      });
    }
    expect(collector.texts.join("")).not.toMatch(/secretive|someone/i);
  });

  it("show an internal error at /graphql with its code at execution and request", async () => {
    const query = "{ apps { totalCount } viewer { role } }";
    const ask = async (): Promise<CollectedSpan[]> => {
      const root = await spanOf(await world.graphql(query, { token: "operator" }));
      return [root, named(within(root), "graphql query")];
    };
    for (const { isFailed, attributes } of await ask())
      expect({ isFailed, type: attributes["error.type"] }).toEqual({ isFailed: false, type: undefined });
    await world.database.script((run) => run("alter table app rename to app_gone"));
    onTestFinished(
      async () => void (await world.database.script((run) => run("alter table app_gone rename to app"))),
    );
    // Documents are compiled at the third use.
    for (let time = 0; time < 3; time += 1)
      for (const { isFailed, attributes } of await ask())
        expect({ isFailed, type: attributes["error.type"] }).toEqual({
          isFailed: true,
          type: "internal_error",
        });
  });

  it("show a refusal at /graphql by its code, and not as an error", async () => {
    const root = await spanOf(await world.graphql("{ apps { totalCount } }", { token: "storefront" }));
    for (const { isFailed, attributes } of [root, named(within(root), "graphql query")])
      expect({ isFailed, type: attributes["error.type"] }).toEqual({
        isFailed: false,
        type: "role_not_allowed",
      });
  });

  it("lead from the request that submits a checkout to its payment, and then to the order", async () => {
    const checkout = await openCheckout(world);
    await submitted(world, checkout, "tok_success");
    await drive(world);
    const { db } = world.database;
    const { id } = await db
      .selectFrom("payment")
      .select("id")
      .where("sessionId", "=", checkout.id)
      .executeTakeFirstOrThrow();
    const find = (): CollectedSpan | undefined =>
      collector.spans.find(
        ({ name, attributes }) => name === "payment authorize" && attributes["commerce.payment.id"] === id,
      );
    await expect.poll(find).toBeDefined();
    const { traceId, links } = find() as CollectedSpan;
    expect(links).toHaveLength(1);
    const requests = (): (string | undefined)[] =>
      collector.spans
        .filter((span) => span.traceId === links[0]?.traceId && span.kind === 2)
        .map(({ name }) => name);
    await expect.poll(requests).toEqual(["POST /graphql"]);
    expect(links[0]?.traceId).not.toBe(traceId);
    const { traceparent } = await db
      .selectFrom("event")
      .select("traceparent")
      .where("type", "=", "order.placed")
      .orderBy("id", "desc")
      .executeTakeFirstOrThrow();
    expect(traceparent?.slice(3, 35)).toBe(traceId);
  });

  it("link a request to its webhook attempts, which form one trace per delivery", async () => {
    const received: IncomingHttpHeaders[] = [];
    const receiver = createServer((request, response) => {
      received.push(request.headers);
      request
        .resume()
        .once("end", () => response.writeHead(request.headers["webhook-attempt"] === "1" ? 500 : 204).end());
    });
    onTestFinished(() => void receiver.close());
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;
    const headers = { authorization: `Bearer ${world.demo.keys.full}`, "idempotency-key": randomUUID() };
    // Drains the events from before the endpoint existed.
    await world.app.deliveries.drain();
    const made = await world.send({
      method: "POST",
      url: endpointsUrl,
      headers,
      body: { url, eventTypes: ["cart.promotion_applied"] },
    });
    expect(made.status).toBe(200);
    const root = await spanOf(await apply("TRACED"));
    const arrivals = (): IncomingHttpHeaders[] =>
      received.filter((one) => one["webhook-event-type"] === "cart.promotion_applied");
    const drain = async (): Promise<number> => {
      world.clock.advance(60_000);
      await world.app.deliveries.drain();
      return arrivals().length;
    };
    await expect.poll(drain).toBe(2);
    const ours = arrivals();
    expect(ours.map((one) => one["webhook-attempt"])).toEqual(["1", "2"]);
    const attempts = (): CollectedSpan[] =>
      collector.spans.filter(
        ({ name, attributes }) =>
          name === "webhook attempt" &&
          attributes["commerce.webhook.delivery.id"] === ours[0]?.["webhook-delivery-id"],
      );
    await expect.poll(attempts).toHaveLength(2);
    expect(new Set(attempts().map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`))).toEqual(
      new Set(ours.map((one) => one["traceparent"])),
    );
    expect(new Set(attempts().map(({ traceId }) => traceId)).size).toBe(1);
    const cause = named(within(root), "execute");
    for (const { links, parentSpanId } of attempts()) {
      expect(parentSpanId).toBeUndefined();
      expect(links).toMatchObject([{ traceId: cause.traceId, spanId: cause.spanId }]);
    }
    const seen = attempts().map(
      ({ isFailed, attributes }) =>
        `${isFailed ? "failed" : "arrived"} ${String(attributes["http.response.status_code"])}`,
    );
    expect(new Set(seen)).toEqual(new Set(["failed 500", "arrived 204"]));
    const fanOuts = collector.spans.filter(({ name }) => name === "webhook fan-out");
    expect(fanOuts.flatMap(({ links }) => links)).toContainEqual(
      expect.objectContaining({ traceId: root.traceId }),
    );
  });
});
