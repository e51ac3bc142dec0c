/** Spans of single parts: aborted requests, shared reads, statements, and work that belongs to no request. */
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createConnection } from "node:net";
import { fastify, type FastifyRequest } from "fastify";
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  sql,
} from "kysely";
import { expect, it, onTestFinished } from "vitest";
import { createReadCoalescer } from "#database/shared-reads.ts";
import { createTracedKyselyDialect } from "#database/traced-dialect.ts";
import { getCurrentRecordedSpan, runInSpan } from "#foundation/tracing.ts";
import { traceHttpRequests } from "#http/request-spans.ts";
import { createServerSentEventStreamManager } from "#graphql/event-streams.ts";
import { noteSpans } from "./noted-spans.ts";

it("the span of an answered request has its status; that of an aborted one has none and a mark", async () => {
  const noted = noteSpans();
  const server = fastify();
  onTestFinished(() => server.close());
  traceHttpRequests(server, () => undefined);
  const arrived = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<string>();
  server.get("/slow", () => {
    arrived.resolve(undefined);
    return answer.promise;
  });
  server.get("/quick", () => "here");
  await server.listen({ port: 0, host: "127.0.0.1" });
  const { port } = server.server.address() as AddressInfo;
  expect(await (await fetch(`http://127.0.0.1:${port}/quick`)).text()).toBe("here");
  const caller = createConnection(port, "127.0.0.1");
  await once(caller, "connect");
  caller.write("GET /slow HTTP/1.1\r\nhost: here\r\n\r\n");
  await arrived.promise;
  caller.destroy();
  await expect.poll(() => noted.map(({ isEnded }) => isEnded)).toEqual([true, true]);
  answer.resolve("too late");
  const [quick, slow] = noted;
  expect(quick?.attributes).toMatchObject({ "http.route": "/quick", "http.response.status_code": 200 });
  expect(quick?.attributes).not.toHaveProperty("error.type");
  expect(slow).toMatchObject({
    isFailed: false,
    attributes: { "http.route": "/slow", "error.type": "client_closed" },
  });
  expect(slow?.attributes).not.toHaveProperty("http.response.status_code");
});

it("checks of the credentials of open streams belong to no trace", async () => {
  noteSpans();
  const found: string[] = [];
  const streams = createServerSentEventStreamManager({
    clock: { now: () => new Date() },
    recheck: () => Promise.resolve(found.push(getCurrentRecordedSpan()?.traceId ?? "no trace")),
  });
  onTestFinished(() => streams.close());
  for (const authorization of ["a", "b"]) {
    const caller = {
      raw: { socket: new EventEmitter(), headers: { authorization } },
    } as unknown as FastifyRequest;
    runInSpan({ name: authorization, ownTrace: {} }, () =>
      streams.open(caller, { callerId: authorization, merchantId: null }),
    );
  }
  await expect.poll(() => found.length).toBeGreaterThan(1);
  expect(new Set(found)).toEqual(new Set(["no trace"]));
});

it("a request that waits for a shared read has a span; the statement is in a traced request", async () => {
  const noted = noteSpans();
  const { load } = createReadCoalescer({
    nameOf: (key: string) => key,
    find: (keys) =>
      runInSpan({ name: "statement" }, () => Promise.resolve(new Map(keys.map((key) => [key, key])))),
  });
  const ask = (name: string): Promise<unknown> => runInSpan({ name, ownTrace: {} }, () => load("same"));
  await Promise.all([load("same"), ask("first"), ask("second")]);
  const [first, second] = ["first", "second"].map(
    (name) => noted.find((span) => span.name === name)?.traceId,
  );
  const waits = noted.filter(({ name }) => name === "read together");
  expect(waits.map(({ traceId }) => traceId)).toEqual([first, second]);
  expect(waits.map(({ attributes }) => attributes)).toEqual([{ "commerce.read_together": 1 }, {}]);
  expect(noted.find(({ name }) => name === "statement")?.traceId).toBe(first);
});

it.each([
  ['select "id" from "cart" where "id" = $1', "select cart"],
  ['insert into "event" ("id") values ($1)', "insert event"],
  ["select $1::int", "select"],
  [
    "select w.id from json_to_recordset($1::json) as w(id text) join webhook_endpoint e on e.id = w.id",
    "select webhook_endpoint",
  ],
  [
    "/* one of many forms */ with base as (select d.* from search_document d where (d.a = $1)) select * " +
      "from base",
    "select search_document",
  ],
  [
    "with m as (select * from json_to_recordset($1::json) as m(n int)) update inventory_level l set " +
      "on_hand = m.n from m",
    "update inventory_level",
  ],
  [
    "with gone as (delete from stock_hold returning id) insert into movement select * from gone for " +
      "update skip locked",
    "insert movement",
  ],
  [
    'with write_0 as (insert into "event" ("id") values ($1)), write_1 as (insert into "audit_entry" ("id") ' +
      "values ($2)) select 1",
    "insert event",
  ],
  [
    "with recursive tree as (select id from category union all select c.id from tree) select id from tree",
    "select category",
  ],
])("a statement is named by what it does and to which table: %s", async (text, name) => {
  const noted = noteSpans();
  const dialect = createTracedKyselyDialect({
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  });
  await using db = new Kysely<unknown>({ dialect });
  await runInSpan({ name: "request" }, () => sql.raw(text).execute(db));
  expect(noted.map((span) => span.name)).toEqual(["request", name]);
});
