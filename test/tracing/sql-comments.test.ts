/**
 * One request id leads from nginx's log through the gateway and the statements in PostgreSQL to the webhook:
 * with DATABASE_COMMENTS=1, every statement of a request contains the id. Statements that are canceled are
 * logged with the id in any case.
 */
import { findFreePort } from "#foundation/free-port.ts";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import fc from "fast-check";
import { sql } from "kysely";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createServiceApp, type ServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { appendRequestIdSqlComment, formatSqlComment } from "#database/sql-comment.ts";
import type { DemoJsonFileContent } from "#demo/demo-file.ts";
import { prepareDemoDataAndFile } from "#demo/prepare-demo.ts";
import { createLog } from "#foundation/log.ts";
import { runWithRequestIdAndRoute } from "#foundation/request-origin.ts";
import { runInSpan } from "#foundation/tracing.ts";
import { createHttpSender } from "#soak/service.ts";
import { createRestWrite, type HttpAnswer, openCart, openShop, type SendRequest } from "#soak/shop.ts";
import { hasNginx, startBalancer } from "#test/support/balancer.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { startPostgres } from "#test/support/postgres.ts";
import { temporaryFolderUntil } from "#test/support/process.ts";
import { noteSpans } from "./noted-spans.ts";

/** The size of shown statements that the shipped configurations set, for example `16kB`. */
const [shownBytes = ""] = ["compose.yaml", "deploy/patroni/patroni.yml"].map(
  (file) =>
    /track_activity_query_size(?:=|: )(\d+kB)/.exec(
      readFileSync(new URL(`../../${file}`, import.meta.url), "utf8"),
    )?.[1],
);

describe("the comment of a statement", () => {
  it("follows the specification of sqlcommenter: sorted, percent-encoded, at the end", () => {
    const origin = { requestId: "req_1", operationId: "getPublicCart", route: "/carts/:cartId" };
    expect(runWithRequestIdAndRoute(origin, () => appendRequestIdSqlComment("select $1"))).toBe(
      "select $1 /*operation='getPublicCart',request_id='req_1'*/",
    );
    const page = { requestId: "req_1", operationId: undefined, route: "/graphql" };
    expect(runWithRequestIdAndRoute(page, () => appendRequestIdSqlComment("select $1"))).toBe(
      "select $1 /*request_id='req_1',route='%2Fgraphql'*/",
    );
    expect(appendRequestIdSqlComment("select $1")).toBe("select $1");
  });

  it("names the trace span of the statement if the request is traced", () => {
    noteSpans();
    const origin = { requestId: "req_1", operationId: "getPublicCart", route: undefined };
    const statement = (): string =>
      runWithRequestIdAndRoute(origin, () => appendRequestIdSqlComment("commit"));
    expect(runInSpan({ name: "commit" }, statement)).toBe(
      "commit /*operation='getPublicCart',request_id='req_1',traceparent='trace%200'*/",
    );
  });

  it("cannot be ended by a value, and contains every value in full", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: "binary" })), (tags) => {
        const comment = formatSqlComment(tags);
        expect(comment).toMatch(/^\/\*(?:[\w.~%-]+='[\w.~%-]*'(?:,(?!\*)|(?=\*\/$)))*\*\/$/);
        const pairs = comment
          .slice(2, -2)
          .split(",")
          .filter((pair) => pair !== "");
        const read = pairs.map((pair): [string, string] => {
          const [name = "", value = ""] = pair.split("=");
          return [decodeURIComponent(name), decodeURIComponent(value)];
        });
        const given = Object.entries(tags).map(
          ([name, value]) => [name, `'${value.toWellFormed()}'`] as const,
        );
        expect(new Map(read)).toEqual(new Map(given));
      }),
    );
    expect(formatSqlComment({ a: "*/ drop table cart; -- '" })).toBe(
      "/*a='%2A%2F%20drop%20table%20cart%3B%20--%20%27'*/",
    );
  });
});

describe("a service with DATABASE_COMMENTS=1", () => {
  const stack = new AsyncDisposableStack();
  const logged: Record<string, unknown>[] = [];
  const delivered: { readonly cause: unknown }[] = [];
  let serverLog = "";
  let app: ServiceApp;
  let demo: DemoJsonFileContent;
  let port: number;
  let other: Client;
  let receiver: string;

  beforeAll(async () => {
    const postgres = await startPostgres(
      {
        log_min_duration_statement: "0",
        log_parameter_max_length: "0",
        track_activity_query_size: shownBytes,
      },
      (text) => (serverLog += text),
    );
    stack.defer(() => postgres.stop());
    port = await findFreePort();
    const settings = parseServiceSettings({
      PORT: String(port),
      DATABASE_URL: postgres.url,
      DATABASE_COMMENTS: "1",
      ENCRYPTION_KEYS: encryptionKeys,
      RATE_LIMIT_SCALE: "0",
      WEBHOOK_ALLOW_LOOPBACK: "1",
    });
    const write = (line: string): void => void logged.push(JSON.parse(line) as Record<string, unknown>);
    app = await createServiceApp({ settings, log: createLog("info", { write }) });
    stack.defer(() => app.close());
    const options = {
      ...app.services,
      dataDir: temporaryFolderUntil((end) => stack.defer(end)),
      now: new Date(),
    };
    demo = (await prepareDemoDataAndFile(app.database, options)) as DemoJsonFileContent;
    await app.listen();
    const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      delivered.push((await json(request)) as (typeof delivered)[number]);
      response.writeHead(204).end();
    };
    const server = createServer((request, response) => void receive(request, response));
    stack.use(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    receiver = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    other = new Client({ connectionString: postgres.url });
    await other.connect();
    stack.defer(() => other.end());
  });
  afterAll(() => stack.disposeAsync());

  /** Locks the carts, so that every statement that reads them waits until the lock is released. */
  const lockCarts = async (): Promise<AsyncDisposable & { release: () => Promise<unknown> }> => {
    await other.query("begin; lock table cart in access exclusive mode");
    const release = (): Promise<unknown> => other.query("rollback");
    return { release, [Symbol.asyncDispose]: async () => void (await release()) };
  };
  const requestIdOf = (answer: HttpAnswer): string => String(answer.headers["x-request-id"]);
  const readCart = (ask: SendRequest): Promise<HttpAnswer> =>
    ask({
      method: "GET",
      url: `/api/v1/open/storefront/carts/${demo.carts.active}`,
      headers: { authorization: `Bearer ${demo.keys.full}` },
      body: undefined,
    });

  it("shows the request of a waiting statement in pg_stat_activity", async () => {
    await using lock = await lockCarts();
    const answered = readCart(createHttpSender(port));
    // Read on another connection, because a transaction sees pg_stat_activity as it was at the first read.
    const waiting = async (): Promise<string[]> => {
      const { rows } = await sql<{ query: string }>`select query from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%request_id=%'`.execute(app.database.db);
      return rows.map(({ query }) => /\/\*(?!.*\/\*).*\*\/$/s.exec(query)?.[0] ?? query);
    };
    let comments: string[] = [];
    await expect.poll(async () => (comments = await waiting())).toHaveLength(1);
    await lock.release();
    const answer = await answered;
    expect(answer.status).toBe(200);
    expect(comments).toEqual([`/*operation='getPublicCart',request_id='${requestIdOf(answer)}'*/`]);
  });

  it("sends statements of requests unnamed, and those of background work named and without comment", async () => {
    await readCart(createHttpSender(port));
    await expect.poll(() => serverLog).toMatch(/execute q[0-9a-f]{20}: /);
    for (const line of serverLog.split("\n").filter((text) => text.includes("request_id=")))
      expect(line).not.toMatch(/ execute q[0-9a-f]{20}: /);
    expect(serverLog).toMatch(/ execute <unnamed>: [^]*?\/\*operation='getPublicCart',/);
    const { rows } =
      await sql`select name from pg_prepared_statements where statement like '%request_id=%'`.execute(
        app.database.db,
      );
    expect(rows).toEqual([]);
  });

  it.runIf(hasNginx)("is followed by one id from nginx to the statements and the webhook", async () => {
    await using balancer = await startBalancer([port]);
    const ask = createHttpSender(balancer.port);
    const shop = await openShop(ask, demo);
    const headers = {
      authorization: `Bearer ${demo.keys.full}`,
      "content-type": "application/json",
      "idempotency-key": "endpoint-of-sql-comments",
    };
    const endpoint = JSON.stringify({ url: receiver, eventTypes: ["cart.promotion_applied"] });
    const url = "/api/v1/open/webhooks/endpoints";
    expect((await ask({ method: "POST", url, headers, body: endpoint })).status).toBe(200);
    const { id: cartId } = await openCart(ask, shop);
    const body = { code: shop.codes[0] };
    const write = createRestWrite(shop, { method: "PUT", cartId, path: "/promotion", body });
    const answer = await ask(write.request);
    expect(answer.status).toBe(200);
    const requestId = requestIdOf(answer);

    // nginx writes the line after it has sent the answer.
    const readNginxLines = (): unknown[] =>
      readFileSync(balancer.accessLog, "utf8")
        .split("\n")
        .filter((line) => line.includes("/promotion"))
        .map((line): unknown => JSON.parse(line));
    await expect.poll(readNginxLines).toMatchObject([{ requestId, status: 200 }]);
    expect(logged.filter((line) => line["requestId"] === requestId)).toMatchObject([{ status: 200 }]);
    const comment = `/*operation='applyPublicCartPromotion',request_id='${requestId}'*/`;
    const begin = String.raw`begin; set local commerce.merchant = 'mer_\w+'`;
    for (const statement of [begin, "commit"])
      await expect
        .poll(() => serverLog)
        .toMatch(new RegExp(`statement: ${statement} ${RegExp.escape(comment)}\n`));
    expect(serverLog).toMatch(new RegExp(`insert into (?:"?event"?) [^]*?${RegExp.escape(comment)}`));
    await expect
      .poll(() => delivered.map(({ cause }) => cause))
      .toContainEqual({ actor: "api_key", requestId, operationId: "applyPublicCartPromotion" });
  });

  it("has no statement whose comment pg_stat_activity would cut off", () => {
    const statements = serverLog.split(/ LOG: +duration: /).filter((text) => text.includes("request_id="));
    expect(statements.length).toBeGreaterThan(50);
    const longest = Math.max(...statements.map((text) => Buffer.byteLength(text)));
    expect(longest).toBeLessThan(Number.parseInt(shownBytes, 10) * 1024);
  });

  it("logs the request, the statement and the time of a canceled statement", async () => {
    await using lock = await lockCarts();
    const answer = await readCart(createHttpSender(port));
    await lock.release();
    expect(answer.status).toBe(503);
    // The lock can also cancel statements of the periodic work.
    const lines = logged.filter(
      ({ event, requestId }) => event === "statement_canceled" && requestId === requestIdOf(answer),
    );
    expect(lines).toMatchObject([
      {
        operationId: "getPublicCart",
        statement: expect.stringMatching(/^select /) as string,
      },
    ]);
    expect(lines[0]?.["ms"]).toBeGreaterThanOrEqual(2_499);
  });
});
