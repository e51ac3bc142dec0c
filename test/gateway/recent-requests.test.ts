/**
 * The log of API requests: each request of an installation is stored with its error, for the merchant's
 * staff, without delaying the request.
 */
import { setTimeout } from "node:timers/promises";
import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createApiRequestLog,
  loggedFailuresMax,
  requestRetentionDays,
  type LoggedApiRequest,
  bufferedRequestsMax,
  loggedSuccessesMax,
  deleteExpiredApiRequestLogEntries,
} from "#access/request-log.ts";
import { sweeps } from "#app/sweeps.ts";
import { createId } from "#foundation/ids.ts";
import { createLog } from "#foundation/log.ts";
import { unknownKey, withOtherSecret, withTypo } from "#test/support/keys.ts";
import { createTokenClient } from "#test/support/token-client.ts";
import { createWorld, type World } from "#test/support/world.ts";

const identity = "/api/v1/open/identity";
const dayMs = 86_400_000;
/** The next midnight in UTC, in milliseconds since 1970. */
const getEndOfToday = (): number => (Math.floor(Date.now() / dayMs) + 1) * dayMs;

describe.each(["postgres"] as const)("recent requests on %s", (engine) => {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(engine);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  interface Shown {
    readonly id: string;
    readonly [field: string]: unknown;
  }
  const fields = "id requestId operation method status errorCode docUrl durationMs at credentialId";
  const ask = async (
    installationId: string,
    { args = "first: 50", shown = fields, token = "admin" } = {},
  ) => {
    await world.app.requests.flush();
    const query = `{ installation(id: "${installationId}") { recentRequests(${args}) { totalCount pageInfo {
      endCursor hasNextPage } edges { node { ${shown} } } } } }`;
    return world.graphql(query, { token });
  };
  const nodesOf = ({ body }: Awaited<ReturnType<typeof ask>>): Shown[] =>
    body.data.installation.recentRequests.edges.map(({ node }: { node: Shown }) => node);
  const operate = async (mutation: string) => {
    const { body } = await world.graphql(`mutation { ${mutation} }`, { token: "operator" });
    expect(body.errors).toBeUndefined();
    return body.data[Object.keys(body.data)[0] ?? ""];
  };
  /** Creates an installation of the merchant with a key. */
  const install = async (merchant: "first" | "second" = "first") => {
    const { id: appId } = await operate(`appCreate(input: { name: "Recent" }) { id }`);
    const merchantId = world.demo.merchants[merchant].id;
    const { id } = await operate(
      `installationCreate(input: { merchantId: "${merchantId}", appId: "${appId}", scopes: ` +
        "[CATALOG_READ] }) { id }",
    );
    const made = await operate(
      `apiKeyCreate(input: { installationId: "${id}", name: "Key", scopes: [CATALOG_READ] }) { ` +
        "value apiKey { id } }",
    );
    const send = (url: string, method = "GET") =>
      world.send({ method, url, headers: { authorization: `Bearer ${made.value}` } });
    return { id: id as string, keyId: made.apiKey.id as string, send };
  };

  it("are the app's requests, newest first, with the returned error", async () => {
    const { id, keyId, send } = await install();
    const good = await send(identity);
    const bad = await send("/api/v1/open/webhooks/endpoints");
    expect([good.status, bad.status]).toEqual([200, 403]);
    const nodes = nodesOf(await ask(id));
    const by = {
      method: "GET",
      at: world.clock.now().toISOString(),
      credentialId: keyId,
      durationMs: expect.any(Number),
    };
    const ofIds = (answer: typeof good) => ({
      id: answer.headers["x-request-id"],
      requestId: answer.headers["x-request-id"],
    });
    expect(nodes.toSorted((one, two) => Number(two["status"]) - Number(one["status"]))).toEqual([
      {
        ...by,
        ...ofIds(bad),
        operation: "listInstallationWebhooks",
        status: 403,
        errorCode: "scope_missing",
        docUrl: bad.body.error.docUrl,
      },
      { ...by, ...ofIds(good), operation: "getApiKeyIdentity", status: 200, errorCode: null, docUrl: null },
    ]);
    expect(nodes.map((node) => node.id)).toEqual(
      nodes
        .map((node) => node.id)
        .toSorted()
        .toReversed(),
    );
    const failed = await ask(id, { args: "first: 50, onlyFailed: true", shown: "id apiKey { id }" });
    expect(nodesOf(failed)).toEqual([{ id: bad.headers["x-request-id"], apiKey: { id: keyId } }]);
    expect(failed.body.data.installation.recentRequests.totalCount).toBe(1);
  });

  it("are read page by page, each exactly once", async () => {
    const { id, send } = await install();
    const sent = new Set<unknown>();
    for (let count = 0; count < 7; count += 1) sent.add((await send(identity)).headers["x-request-id"]);
    const seen: string[] = [];
    for (let after = ""; ;) {
      const answer = await ask(id, {
        args: `first: 3${after === "" ? "" : `, after: "${after}"`}`,
        shown: "id",
      });
      seen.push(...nodesOf(answer).map((node) => node.id));
      const { endCursor, hasNextPage } = answer.body.data.installation.recentRequests.pageInfo;
      if (hasNextPage !== true) break;
      after = endCursor;
    }
    expect(seen).toHaveLength(7);
    expect(new Set(seen)).toEqual(sent);
  });

  it("include refusals of known keys: revoked, expired and suspended", async () => {
    const { id, keyId, send } = await install();
    await operate(`installationSuspend(input: { installationId: "${id}" }) { id }`);
    expect((await send("/api/v1/open/catalog/products")).body.error.code).toBe("installation_suspended");
    await operate(`installationResume(input: { installationId: "${id}" }) { id }`);
    await operate(`apiKeyRevoke(input: { apiKeyId: "${keyId}" }) { id }`);
    expect((await send(identity)).body.error.code).toBe("api_key_revoked");
    await send("/api/v1/public/products/search?q=x");
    const nodes = nodesOf(await ask(id, { shown: "status errorCode credentialId" }));
    expect(new Map(nodes.map(({ errorCode, ...node }) => [errorCode, node]))).toEqual(
      new Map([
        ["installation_suspended", { status: 401, credentialId: keyId }],
        ["api_key_revoked", { status: 401, credentialId: keyId }],
      ]),
    );
    expect(nodes).toHaveLength(2);
  });

  it("include requests with an access token, without an API key", async () => {
    const client = await createTokenClient(world);
    const answer = await client.send({ url: identity });
    const [node] = nodesOf(
      await ask(answer.body.data.installation.id, {
        args: "first: 1",
        shown: "id credentialId apiKey { id }",
      }),
    );
    expect(node).toEqual({ id: answer.headers["x-request-id"], credentialId: client.grantId, apiKey: null });
  });

  it("leave out requests without a credential and with an unknown credential", async () => {
    await world.app.requests.flush();
    const { db } = world.database;
    const count = async () => (await db.selectFrom("apiRequest").select("id").execute()).length;
    const before = await count();
    await world.get("/api/v1/public/products/search?q=x");
    await world.get(identity);
    const { full } = world.demo.keys;
    for (const key of [withTypo(full), withOtherSecret(full), unknownKey()])
      expect((await world.get(identity, { authorization: `Bearer ${key}` })).status).toBe(401);
    await world.graphql("{ viewer { role } }");
    await world.app.requests.flush();
    expect(await count()).toBe(before);
  });

  it("are shown to the merchant's staff and analysts, and to no other merchant", async () => {
    const [own, foreign] = [await install("first"), await install("second")];
    await own.send(identity);
    await foreign.send(identity);
    for (const token of ["admin", "analyst"]) {
      expect((await ask(foreign.id, { token })).body.data.installation).toBeNull();
      expect(nodesOf(await ask(own.id, { token, shown: "id credentialId" }))).toMatchObject([
        { credentialId: own.keyId },
      ]);
    }
    expect(nodesOf(await ask(foreign.id, { token: "operator" }))).toMatchObject([
      { credentialId: foreign.keyId },
    ]);
    const refused = await ask(own.id, { token: "analyst", shown: "apiKey { id }" });
    expect(refused.body.errors[0].extensions.code).toBe("role_not_allowed");
    const neighbour = await install("second");
    expect(nodesOf(await ask(neighbour.id, { token: "operator" }))).toEqual([]);
  });

  it("are listed for all apps of a merchant, filtered by status, operation, app and credential", async () => {
    const [one, two, foreign] = [await install(), await install(), await install("second")];
    const urls = { good: identity, refused: "/api/v1/open/webhooks/endpoints" };
    const sent = async ({ send }: typeof one, url: string): Promise<string> =>
      String((await send(url)).headers["x-request-id"]);
    const good = await sent(one, urls.good);
    const refused = await sent(one, urls.refused);
    const other = await sent(two, urls.good);
    const hidden = await sent(foreign, urls.good);
    await world.app.requests.flush();
    const known = new Set([good, refused, other, hidden]);
    const list = async (args: string, token = "admin"): Promise<string[]> => {
      const query = `{ apiRequests(first: 100${args}) { edges { node { id installation { id } } } } }`;
      const { body } = await world.graphql(query, { token });
      return body.data.apiRequests.edges
        .map(({ node }: { node: { id: string } }) => node.id)
        .filter((id: string) => known.has(id))
        .toSorted();
    };
    const sorted = (...ids: string[]): string[] => ids.toSorted();
    expect(await list("")).toEqual(sorted(good, refused, other));
    expect(await list("", "operator")).toEqual(sorted(good, refused, other, hidden));
    expect(await list(", statusFrom: 200, statusTo: 299")).toEqual(sorted(good, other));
    expect(await list(", statusFrom: 400")).toEqual([refused]);
    expect(await list(", statusFrom: 403, statusTo: 403")).toEqual([refused]);
    expect(await list(", statusFrom: 404, statusTo: 404")).toEqual([]);
    expect(await list(', operation: "listInstallationWebhooks"')).toEqual([refused]);
    expect(await list(`, installationId: "${two.id}"`)).toEqual([other]);
    expect(await list(`, credentialId: "${one.keyId}", statusTo: 399`)).toEqual([good]);
    expect(await list(`, credentialId: "${foreign.keyId}"`)).toEqual([]);
    expect(await list(`, installationId: "${foreign.id}"`)).toEqual([]);

    const find = async (id: string, token = "admin"): Promise<unknown> =>
      (await world.graphql(`{ apiRequest(id: "${id}") { id } }`, { token })).body.data.apiRequest;
    expect(await find(good)).toEqual({ id: good });
    expect(await find(hidden)).toBeNull();
    expect(await find(hidden, "operator")).toEqual({ id: hidden });
    expect(await find("req_nothing")).toBeNull();
  });

  it("are deleted after the retention period, and not before", async () => {
    /** Sends a request that does not pass midnight. Returns its installation's id and the end of its day. */
    const sendOnOneDay = async (): Promise<{ id: string; endOfDay: number }> => {
      const endOfDay = getEndOfToday();
      const { id, send } = await install();
      await send(identity);
      return getEndOfToday() === endOfDay ? { id, endOfDay } : sendOnOneDay();
    };
    const { id, endOfDay } = await sendOnOneDay();
    expect(nodesOf(await ask(id))).toHaveLength(1);
    const { db } = world.database;
    await deleteExpiredApiRequestLogEntries(db, new Date(endOfDay + requestRetentionDays * dayMs - 1));
    expect(nodesOf(await ask(id))).toHaveLength(1);
    const sweep = sweeps.find(({ name }) => name === "delete old API requests");
    await sweep?.run(world.app.services, {
      now: new Date(endOfDay + requestRetentionDays * dayMs),
      signal: new AbortController().signal,
    });
    expect(nodesOf(await ask(id))).toEqual([]);
  });

  const noted = (installationId: string, status: number): LoggedApiRequest => ({
    id: createId("request"),
    merchantId: "mer_1",
    installationId,
    credentialId: "key_1",
    operation: "getApiKeyIdentity",
    method: "GET",
    status,
    errorCode: status === 200 ? null : "scope_missing",
    durationMs: 1,
  });

  it("are sampled: at most so many failures and successes per installation and write", async () => {
    const { db } = world.database;
    const log = createApiRequestLog({ db, clock: world.clock, log: createLog("silent") });
    const statusesStored = async (installationId: string) =>
      (
        await db
          .selectFrom("apiRequest")
          .select("status")
          .where("installationId", "=", installationId)
          .execute()
      ).map(({ status }) => status);
    const many = (installationId: string, count: number) => {
      for (let index = 0; index < count; index += 1)
        log.add(noted(installationId, index % 2 === 0 ? 200 : 403));
    };
    many("ins_busy", 400);
    many("ins_quiet", 6);
    await log.flush();
    const busy = await statusesStored("ins_busy");
    expect([
      busy.filter((status) => status === 403).length,
      busy.filter((status) => status === 200).length,
    ]).toEqual([loggedFailuresMax, loggedSuccessesMax]);
    expect(await statusesStored("ins_quiet")).toHaveLength(6);
    many("ins_busy", 2);
    await log.flush();
    expect(await statusesStored("ins_busy")).toHaveLength(loggedFailuresMax + loggedSuccessesMax + 2);
  });

  it("are all written when the log stops, including those added during a write", async () => {
    let written = 0;
    const slowly: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        await setTimeout(20);
        written += 1;
        return result;
      },
    };
    const log = createApiRequestLog({
      db: world.database.db.withPlugin(slowly),
      clock: world.clock,
      log: createLog("silent"),
    });
    log.add(noted("ins_early", 200));
    const first = log.flush();
    log.add(noted("ins_late", 200));
    const second = log.flush();
    await log.stop();
    expect(written).toBe(2);
    await Promise.all([first, second]);
  });

  it("are limited in number over all installations", async () => {
    const { db } = world.database;
    const log = createApiRequestLog({ db, clock: world.clock, log: createLog("silent") });
    for (let index = 0; index < 2 * bufferedRequestsMax; index += 1) log.add(noted(`ins_many_${index}`, 403));
    await log.stop();
    const rows = await db
      .selectFrom("apiRequest")
      .select("id")
      .where("installationId", "like", "ins_many_%")
      .execute();
    expect(rows).toHaveLength(bufferedRequestsMax);
  });
});

it("a failed write of the request log drops its rows, logs one warning, and is tried again", async () => {
  await using world = await createWorld();
  const { db, script } = world.database;
  const warned = () =>
    world.logged.filter(({ msg }) => String(msg).startsWith("The log of API requests cannot be written"))
      .length;
  await script((run) => run("alter table api_request rename to api_request_gone"));
  for (let time = 0; time < 3; time += 1) {
    expect((await world.getWithKey(identity)).status).toBe(200);
    await world.app.requests.flush();
  }
  expect(warned()).toBe(1);
  await script((run) => run("alter table api_request_gone rename to api_request"));
  expect((await world.getWithKey(identity)).status).toBe(200);
  await world.app.requests.flush();
  expect(await db.selectFrom("apiRequest").select("operation").execute()).toEqual([
    { operation: "getApiKeyIdentity" },
  ]);
});

it("the request log is written periodically while the service listens, and when it closes", async () => {
  await using world = await createWorld("postgres", { environment: { PORT: "0" } });
  const { db } = world.database;
  const count = async () => (await db.selectFrom("apiRequest").select("id").execute()).length;
  await world.app.listen();
  await world.getWithKey(identity);
  await expect.poll(count).toBe(1);
  await world.getWithKey(identity);
  await world.app.close();
  expect(await count()).toBe(2);
});
