/**
 * The console's session at the graph: usable only by the console's pages, with the rights of the signed-in
 * person, and ended in every process at once.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ServiceApp, createServiceApp } from "#app/app.ts";
import { parseServiceSettings } from "#app/settings.ts";
import { sweeps } from "#app/sweeps.ts";
import { deleteExpiredStaffSessions } from "#access/people/staff-sessions.ts";
import { createLog } from "#foundation/log.ts";
import { createPerson } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createWorld, publicUrl, type World } from "#test/support/world.ts";
import { encryptionKeys } from "#test/support/copies.ts";
import { askAs, cookieName, scriptHeaders, signInAs } from "./console-calls.ts";

const ally = "https://ally.example";
const who = "{ viewer { credential role staff { id email name } merchant { id } apiKey { id } } }";
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

describe("a console session", () => {
  let world: World;
  let other: ServiceApp;
  beforeAll(async () => {
    world = await createWorld("postgres", { environment: { CORS_ORIGINS: ally } });
    // A second process that shares only the database with the first.
    const settings = parseServiceSettings({
      PORT: "4000",
      PUBLIC_URL: publicUrl,
      RATE_LIMIT_SCALE: "0",
      ENCRYPTION_KEYS: encryptionKeys,
    });
    other = await createServiceApp({
      settings,
      log: createLog("silent"),
      clock: world.clock,
      database: world.database,
    });
  });
  afterAll(async () => {
    await other.close();
    await world[Symbol.asyncDispose]();
  });

  /** The statuses in the process where the person signed in, and in the other one. */
  const statuses = async (cookie: string): Promise<number[]> => {
    const elsewhere = await other.server.inject({
      method: "POST",
      url: "/graphql",
      headers: { ...scriptHeaders(world), cookie, "content-type": "application/json" },
      payload: { query: who },
    });
    return [(await askAs(world, cookie, who)).status, elsewhere.statusCode];
  };
  const lastUsed = async (staffId: string): Promise<number> => {
    const row = await world.database.db
      .selectFrom("staffSession")
      .select("lastUsedAt")
      .where("staffId", "=", staffId)
      .executeTakeFirstOrThrow();
    return row.lastUsedAt.getTime();
  };
  const operate = async (mutation: string): Promise<void> => {
    const { body } = await world.graphql(`mutation { ${mutation} }`, { token: "operator" });
    expect(body.errors).toBeUndefined();
  };

  it("has admin rights for the person's merchant, and names the person", async () => {
    const { email, staffId } = await createPerson(world, "second");
    const { status, body, headers } = await askAs(world, await signInAs(world, email), who);
    const { id } = world.demo.merchants.second;
    expect([status, headers["access-control-allow-origin"]]).toEqual([200, undefined]);
    expect(body.data.viewer).toEqual({
      credential: "INTERNAL_TOKEN",
      role: "admin",
      staff: { id: staffId, email, name: expect.stringMatching(/^Person \d+$/) },
      merchant: { id },
      apiKey: null,
    });
    const token = await world.graphql("{ viewer { staff { id } } }");
    expect(token.body.data.viewer.staff).toBeNull();
    expect(world.logged.some((line) => line["staffId"] === staffId && line["route"] === "/graphql")).toBe(
      true,
    );
  });

  it("cannot read or change other merchants or the platform", async () => {
    const { email } = await createPerson(world, "second");
    const cookie = await signInAs(world, email);
    const { id } = world.demo.merchants.first;
    expect((await askAs(world, cookie, `{ merchant(id: "${id}") { id } }`)).body.data.merchant).toBeNull();
    const people = await askAs(
      world,
      cookie,
      "{ staffAccounts(first: 100) { edges { node { merchantId } } } }",
    );
    const merchants = people.body.data.staffAccounts.edges.map(
      ({ node }: { node: { merchantId: string } }) => node.merchantId,
    );
    expect(new Set(merchants)).toEqual(new Set([world.demo.merchants.second.id]));
    const suspend = await askAs(
      world,
      cookie,
      `mutation { merchantSuspend(input: { merchantId: "${id}" }) { id } }`,
    );
    expect(suspend.body.errors[0].extensions.code).toBe("role_not_allowed");
  });

  it("audits changes under the person's name, and has separate idempotency keys", async () => {
    const [one, two] = [await createPerson(world), await createPerson(world)];
    const cookies = [await signInAs(world, one.email), await signInAs(world, two.email)] as const;
    const key = randomUUID();
    const { id: installationId } = await world.database.db
      .selectFrom("installation")
      .select("id")
      .where("merchantId", "=", world.demo.merchants.first.id)
      .executeTakeFirstOrThrow();
    const make = (cookie: string) =>
      askAs(
        world,
        cookie,
        `mutation { apiKeyCreate(idempotencyKey: "${key}", input: { name: "Made at the console",
          installationId: "${installationId}", scopes: [] }) { apiKey { id } } }`,
      );
    const answers = [await make(cookies[0]), await make(cookies[0]), await make(cookies[1])];
    expect(answers.map(({ headers }) => headers["idempotent-replayed"])).toEqual(["false", "true", "false"]);
    const ids = answers.map(({ body }) => body.data.apiKeyCreate.apiKey.id);
    expect([ids[0] === ids[1], ids[0] === ids[2]]).toEqual([true, false]);
    for (const [index, { staffId }] of [one, two].entries()) {
      const rows = await world.database.db
        .selectFrom("auditEntry")
        .select(["action", "actor", "targetId"])
        .where("actorId", "=", staffId)
        .where("action", "<>", "consoleSignIn")
        .execute();
      expect(rows).toEqual([{ action: "apiKeyCreate", actor: "staff", targetId: ids[index * 2] }]);
    }
  });

  it.each([
    ["without the console's header", { origin: publicUrl, "sec-fetch-site": "same-origin" }],
    [
      "with another word in it",
      { origin: publicUrl, "sec-fetch-site": "same-origin", "x-commerce-console": "yes" },
    ],
    [
      "from another site",
      { origin: "https://evil.example", "sec-fetch-site": "cross-site", "x-commerce-console": "1" },
    ],
    ["from another site, by an old browser", { origin: "https://evil.example", "x-commerce-console": "1" }],
    ["from a neighbour", { "sec-fetch-site": "same-site", "x-commerce-console": "1" }],
    ["from an address bar", { "sec-fetch-site": "none", "x-commerce-console": "1" }],
    ["from who does not say where", { "x-commerce-console": "1" }],
    ["from a frame without an origin", { origin: "null", "x-commerce-console": "1" }],
    [
      "from a site that may call with a token",
      { origin: ally, "sec-fetch-site": "cross-site", "x-commerce-console": "1" },
    ],
  ])("is ignored %s", async (_case, headers) => {
    const { email } = await createPerson(world);
    const cookie = await signInAs(world, email);
    const { status, body, headers: answered } = await askAs(world, cookie, who, headers);
    expect([status, body.errors[0].extensions.code]).toEqual([401, "credentials_missing"]);
    expect(answered["access-control-allow-credentials"]).toBeUndefined();
    expect((await askAs(world, cookie, who)).status).toBe(200);
  });

  it("is not available to another origin, not even one that may call with a token", async () => {
    const headers = {
      origin: ally,
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-commerce-console",
    };
    const { headers: answered } = await world.send({ method: "OPTIONS", url: "/graphql", headers });
    expect(answered["access-control-allow-origin"]).toBe(ally);
    expect(answered["access-control-allow-credentials"]).toBeUndefined();
    expect(answered["access-control-allow-headers"]).not.toContain("x-commerce-console");
  });

  it("is ignored if the request has an Authorization header", async () => {
    const { email } = await createPerson(world);
    const cookie = await signInAs(world, email);
    const headers = { ...scriptHeaders(world), authorization: `Bearer ${world.demo.tokens.analyst}` };
    expect((await askAs(world, cookie, who, headers)).body.data.viewer).toMatchObject({
      role: "analyst",
      staff: null,
    });
    const wrong = await askAs(world, cookie, who, {
      ...scriptHeaders(world),
      authorization: "Bearer nothing",
    });
    expect([wrong.status, wrong.body.errors[0].extensions.code]).toEqual([401, "api_key_invalid"]);
  });

  it.each([
    "",
    "console=",
    `${cookieName}=${"A".repeat(43)}`,
    `${cookieName}=short`,
    `a=b; ${cookieName}=%00`,
  ])("does not exist with %j", async (cookie) => {
    const { status, body } = await askAs(world, cookie, who);
    expect([status, body.errors[0].extensions.code, body.errors[0].message]).toEqual([
      401,
      "credentials_missing",
      "The console session has ended. Sign in again.",
    ]);
  });

  it("ends after an hour without use", async () => {
    const { email } = await createPerson(world);
    const [early, late] = [await signInAs(world, email), await signInAs(world, email)];
    world.clock.advance(hourMs - 1);
    expect((await askAs(world, early, who)).status).toBe(200);
    world.clock.advance(1);
    expect(await statuses(late)).toEqual([401, 401]);
    expect((await world.get("/console", { cookie: late })).text).toContain("Sign in");
  });

  it("lasts while it is used, at most twelve hours", async () => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    for (let half = 1; half < 24; half += 1) {
      world.clock.advance(hourMs / 2);
      expect((await askAs(world, cookie, who)).status).toBe(200);
      await expect.poll(() => lastUsed(staffId)).toBe(world.clock.now().getTime());
    }
    world.clock.advance(hourMs / 2 - 1);
    expect(await statuses(cookie)).toEqual([200, 200]);
    world.clock.advance(1);
    expect(await statuses(cookie)).toEqual([401, 401]);
    expect((await world.get("/console", { cookie })).text).toContain("Sign in");
  });

  it.each([
    ["what its page asks by itself", { "x-commerce-console": "background" }],
    ["streams that are asked for again", { accept: "text/event-stream" }],
  ])("is not extended by %s", async (_case, headers) => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    const begun = await lastUsed(staffId);
    for (let time = 1; time < 4; time += 1) {
      world.clock.advance(hourMs / 4);
      const { status, body } = await askAs(world, cookie, who, { ...scriptHeaders(world), ...headers });
      expect([status, body.data.viewer.staff.id]).toEqual([200, staffId]);
    }
    expect(await lastUsed(staffId)).toBe(begun);
    world.clock.advance(hourMs / 4);
    expect(await statuses(cookie)).toEqual([401, 401]);
  });

  it("cannot create internal tokens, which would outlive the account", async () => {
    const { email } = await createPerson(world);
    const { id } = world.demo.merchants.first;
    const { body } = await askAs(
      world,
      await signInAs(world, email),
      `mutation { internalTokenCreate(input: { name: "Mine", role: STOREFRONT, merchantId: "${id}" }) { value
        } }`,
    );
    expect(body.errors[0]).toMatchObject({
      message:
        "A signed-in staff member cannot create internal tokens, because they would outlive the account. " +
        "Use an internal token of the role admin.",
      extensions: { code: "role_not_allowed" },
    });
  });

  it("of an analyst reads reports and data without personal data, and changes nothing", async () => {
    const { email, staffId } = await createPerson(world, "first", "analyst");
    const cookie = await signInAs(world, email);
    const ask = async (query: string) => (await askAs(world, cookie, query)).body;
    const read = await ask(`{
      viewer { role staff { role } }
      orders(first: 5) { edges { node { number buyerEmail } } }
      salesReport(from: "2020-01-01", to: "2020-01-31", timeZone: "UTC", interval: MONTH) { currencies { currency } }
    }`);
    expect(read.data.viewer).toEqual({ role: "analyst", staff: { role: "ANALYST" } });
    expect(read.data.orders.edges.length).toBeGreaterThan(0);
    for (const { node } of read.data.orders.edges)
      expect(node).toEqual({ number: expect.any(String), buyerEmail: null });
    const path = "/reports/sales.csv?from=2020-01-01&to=2020-01-31&timeZone=UTC&interval=MONTH";
    const link = { cookie, "sec-fetch-site": "same-origin" };
    expect((await world.get(path, link)).status).toBe(200);
    const refused = [
      "{ apiKeys(first: 1) { edges { node { id } } } }",
      `mutation { staffRoleSet(input: { staffId: "${staffId}", role: ADMIN }) { role } }`,
    ];
    for (const query of refused)
      expect((await ask(query)).errors[0].extensions.code).toBe("role_not_allowed");
    await operate(`staffRoleSet(input: { staffId: "${staffId}", role: ADMIN }) { role }`);
    const promoted = await askAs(world, await signInAs(world, email), "{ viewer { role } }");
    expect(promoted.body.data.viewer.role).toBe("admin");
  });

  it("is named in the log of CSV reports", async () => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    await world.get("/reports/nothing.csv", { cookie, ...scriptHeaders(world) });
    expect(
      world.logged.some((line) => line["staffId"] === staffId && line["route"] === "/reports/:file"),
    ).toBe(true);
  });

  it("records its last use once a minute", async () => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    const begun = await lastUsed(staffId);
    world.clock.advance(minuteMs);
    world.statements.length = 0;
    for (let time = 0; time < 5; time += 1) await askAs(world, cookie, who);
    await expect.poll(() => lastUsed(staffId)).toBe(begun + minuteMs);
    expect(world.statements.filter((text) => text.startsWith("update staff_session"))).toHaveLength(1);
  });

  it.each([
    [
      "another password",
      (staffId: string) => `staffPasswordSet(input: { staffId: "${staffId}" }) { password }`,
    ],
    [
      "an account that is disabled",
      (staffId: string) => `staffDisable(input: { staffId: "${staffId}" }) { id }`,
    ],
    [
      "another role",
      (staffId: string) => `staffRoleSet(input: { staffId: "${staffId}", role: ANALYST }) { role }`,
    ],
  ])("ends with %s, in every process from the next request on", async (_case, mutation) => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    expect(await statuses(cookie)).toEqual([200, 200]);
    await operate(mutation(staffId));
    expect(await statuses(cookie)).toEqual([401, 401]);
    expect((await world.get("/console", { cookie })).text).toContain("Sign in");
  });

  it("is not restored when an account is enabled again", async () => {
    const { email, staffId } = await createPerson(world);
    const cookie = await signInAs(world, email);
    await operate(`staffDisable(input: { staffId: "${staffId}" }) { id }`);
    await operate(`staffEnable(input: { staffId: "${staffId}" }) { id }`);
    expect(await statuses(cookie)).toEqual([401, 401]);
    expect(await statuses(await signInAs(world, email))).toEqual([200, 200]);
  });

  it("is suspended with its merchant, like every credential of the merchant", async () => {
    const { email } = await createPerson(world, "second");
    const cookie = await signInAs(world, email);
    const { id } = world.demo.merchants.second;
    const { name } = await world.database.db
      .selectFrom("merchant")
      .select("name")
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    await operate(`merchantSuspend(input: { merchantId: "${id}" }) { id }`);
    expect(await statuses(cookie)).toEqual([401, 401]);
    expect((await askAs(world, cookie, who)).body.errors[0].extensions.code).toBe("merchant_suspended");
    const page = await world.get("/console", { cookie });
    expect([page.status, page.text.includes("Your shop is suspended"), page.text.includes(name)]).toEqual([
      403,
      true,
      true,
    ]);
    await operate(`merchantResume(input: { merchantId: "${id}" }) { id }`);
    expect(await statuses(cookie)).toEqual([200, 200]);
  });

  it("is deleted when it expires, and not earlier", async () => {
    const { db } = world.database;
    await deleteExpiredStaffSessions(db, world.clock.now());
    const [first, second] = [await createPerson(world), await createPerson(world)];
    await signInAs(world, first.email);
    world.clock.advance(minuteMs);
    await signInAs(world, second.email);
    const owners = async () =>
      (
        await db
          .selectFrom("staffSession")
          .select("staffId")
          .where("staffId", "in", [first.staffId, second.staffId])
          .execute()
      ).map(({ staffId }) => staffId);
    world.clock.advance(12 * hourMs - minuteMs - 1);
    expect(await owners()).toHaveLength(2);
    await deleteExpiredStaffSessions(db, world.clock.now());
    expect(await owners()).toHaveLength(2);
    world.clock.advance(1);
    const sweep = sweeps.find(({ name }) => name === "delete expired console sessions");
    await sweep?.run(world.app.services, { now: world.clock.now(), signal: new AbortController().signal });
    expect(await owners()).toEqual([second.staffId]);
  });
});

describe("invented session cookies", () => {
  const limited = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1" } });

  it("count as wrong tokens, and do not block signed-in people", async () => {
    const { email } = await createPerson(limited());
    const cookie = await signInAs(limited(), email);
    const ask = async (shown: string): Promise<unknown[]> => {
      const { status, body } = await askAs(limited(), shown, who);
      return [status, body.errors?.[0].extensions.code];
    };
    for (let time = 0; time < 30; time += 1)
      expect(await ask(`${cookieName}=short`)).toEqual([401, "credentials_missing"]);
    const answers = [];
    for (let time = 0; time < 21; time += 1)
      answers.push(await ask(`${cookieName}=${String(time).padStart(43, "A")}`));
    expect(new Set(answers.slice(0, 20).map(([status]) => status))).toEqual(new Set([401]));
    expect(answers[20]).toEqual([429, "too_many_failed_attempts"]);
    expect(await ask(cookie)).toEqual([200, undefined]);
  });
});
