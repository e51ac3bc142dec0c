/**
 * Signing in to the console and out of it: who can sign in, which cookie the browser gets, and what is
 * audited.
 */
import type { FastifyRequest } from "fastify";
import { describe, expect, it } from "vitest";
import { disableStaffAccount, enableStaffAccount } from "#access/people/staff.ts";
import { runInTransaction } from "#database/transaction.ts";
import { readConsoleSessionCookie } from "#http/staff-session.ts";
import { getPathAfterSignIn } from "#pages/console/plugin.ts";
import { createPerson, password } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  askAs,
  cookieName,
  cookieOf,
  fromHere,
  signInAs,
  submitSignIn,
  submitSignOut,
} from "./console-calls.ts";

const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "1", TRUST_PROXY: "1" } });

let addresses = 0;
/** Uses a separate address, so that tests do not use up each other's attempts. */
const from = (address = `192.0.2.${(addresses += 1)}`) => ({
  ...fromHere(world()),
  "x-forwarded-for": address,
});

const sessions = (staffId: string) =>
  world().database.db.selectFrom("staffSession").selectAll().where("staffId", "=", staffId).execute();

const actions = async (staffId: string) => {
  const rows = await world()
    .database.db.selectFrom("auditEntry")
    .select(["action", "actor", "actorId", "merchantId", "targetType", "targetId", "requestId"])
    .where("actorId", "=", staffId)
    .orderBy("id")
    .execute();
  return rows;
};

describe("a visitor without a session", () => {
  it.each(["/console", "/console/installations/ins_1?tab=requests"])(
    "sees the sign-in page at %s, which returns there",
    async (url) => {
      const page = await world().get(url);
      expect(page.status).toBe(200);
      expect(page.text).toContain("<title>Sign in – Console</title>");
      expect(page.text).toContain(`<input type="hidden" name="next" value="${url}" />`);
      expect(page.text).not.toMatch(/<script|https?:\/\/|\son\w+=/);
      expect(page.headers["content-security-policy"]).toMatch(
        /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; img-src data:; form-action 'self';/,
      );
      expect([
        page.headers["cache-control"],
        page.headers["x-frame-options"],
        page.headers["set-cookie"],
      ]).toEqual(["no-store", "DENY", undefined]);
    },
  );

  it("is redirected once within the site after a link from another site, to get its cookie", async () => {
    const page = await world().get("/console/orders", { "sec-fetch-site": "cross-site" });
    expect(page.text).toContain('<meta http-equiv="refresh" content="0; url=/console/orders" />');
    expect((await world().get("/console/orders", { "sec-fetch-site": "same-origin" })).text).toContain(
      "Sign in",
    );
  });

  it("is redirected to the page by GET on form addresses, and gets an error for other methods", async () => {
    for (const url of ["/console/sign-in", "/console/sign-out"]) {
      const { status, headers } = await world().get(url);
      expect([status, headers["location"]]).toEqual([303, "/console"]);
    }
    expect((await world().send({ method: "POST", url: "/console" })).status).toBe(405);
    expect((await world().send({ method: "DELETE", url: "/console/sign-in" })).headers["allow"]).toBe(
      "GET, HEAD, POST",
    );
  });
});

describe("signing in", () => {
  it("sets a cookie unreadable for scripts and other sites, and returns to the first page", async () => {
    const { email, staffId } = await createPerson(world());
    const answer = await submitSignIn(world(), { email, next: "/console/orders?page=2", headers: from() });
    expect([answer.status, answer.headers["location"]]).toEqual([303, "/console/orders?page=2"]);
    expect(String(answer.headers["set-cookie"])).toMatch(
      /^__Host-console-[0-9a-f]{8}=[\w-]{43}; path=\/; httponly; samesite=strict; secure$/,
    );
    const [row] = await sessions(staffId);
    const secret = cookieOf(answer).slice(cookieName.length + 1);
    expect(JSON.stringify(row)).not.toContain(secret);
    expect(JSON.stringify(world().logged)).not.toContain(secret);
  });

  it("shows the console page with the person and the merchant, escaped", async () => {
    const { email, staffId } = await createPerson(world());
    const { db } = world().database;
    const { name } = await db
      .selectFrom("merchant")
      .select("name")
      .where("id", "=", world().demo.merchants.first.id)
      .executeTakeFirstOrThrow();
    await db.updateTable("staffAccount").set({ name: 'Eve "<b>"' }).where("id", "=", staffId).execute();
    const page = await world().get("/console/anything", { cookie: await signInAs(world(), email) });
    expect(page.status).toBe(200);
    expect(page.text).toContain('data-staff-name="Eve &quot;&lt;b&gt;&quot;"');
    expect(page.text).toContain(`data-staff-email="${email}"`);
    expect(page.text).toContain(`data-merchant-name="${name}"`);
    expect(page.text).toMatch(/<script type="module" src="\/assets\/console-[\w-]+\.js"><\/script>/);
    expect(page.headers["content-security-policy"]).toContain("script-src 'self'; connect-src 'self'");
    expect(page.headers["cache-control"]).toBe("no-store");
  });

  it("shows the same error for a wrong password, unknown address and disabled account", async () => {
    const { email, staffId } = await createPerson(world());
    const tries = [{ email, password: "a wrong password" }, { email: "nobody@shop.example" }];
    const texts: string[] = [];
    const attempt = async (typed: (typeof tries)[number]): Promise<void> => {
      const answer = await submitSignIn(world(), { ...typed, next: "/console/orders", headers: from() });
      expect([answer.status, answer.headers["set-cookie"]]).toEqual([400, undefined]);
      expect(answer.text).toContain('value="/console/orders"');
      texts.push(answer.text.replaceAll(typed.email, "…"));
    };
    for (const typed of tries) await attempt(typed);
    const access = { merchantId: null, now: world().clock.now() };
    await runInTransaction(world().database.db, (transaction) =>
      disableStaffAccount(transaction, access, staffId),
    );
    await attempt({ email });
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toContain("The e-mail address or the password is wrong.");
    expect(texts[0]).not.toContain("a wrong password");
    await runInTransaction(world().database.db, (transaction) =>
      enableStaffAccount(transaction, access, staffId),
    );
    expect((await submitSignIn(world(), { email, headers: from() })).status).toBe(303);
    const empty = await submitSignIn(world(), { email, password: "", headers: from() });
    expect([empty.status, empty.text.includes("Enter your e-mail address and your password.")]).toEqual([
      400,
      true,
    ]);
  });

  it("limits guessing, together with the sign-in of the authorization server", async () => {
    const { email } = await createPerson(world());
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(
        (await submitSignIn(world(), { email, password: "a wrong password", headers: from() })).status,
      ).toBe(400);
    const late = await submitSignIn(world(), { email, headers: from() });
    expect([late.status, late.headers["retry-after"], late.headers["set-cookie"]]).toEqual([
      429,
      "600",
      undefined,
    ]);
    expect(late.text).toContain("There were too many failed attempts. Try again in 10 min.");
    const { email: other } = await createPerson(world());
    expect((await submitSignIn(world(), { email: other, headers: from() })).status).toBe(303);
  });

  it("starts a new session: a session that the browser had before is ignored or ended", async () => {
    const { email, staffId } = await createPerson(world());
    const planted = `${cookieName}=${"A".repeat(43)}`;
    const first = cookieOf(await submitSignIn(world(), { email, headers: { ...from(), cookie: planted } }));
    expect(first).not.toBe(planted);
    const second = cookieOf(await submitSignIn(world(), { email, headers: { ...from(), cookie: first } }));
    expect(second).not.toBe(first);
    expect(await sessions(staffId)).toHaveLength(1);
    expect((await askAs(world(), first, "{ viewer { role } }")).status).toBe(401);
    expect((await askAs(world(), second, "{ viewer { role } }")).status).toBe(200);
  });

  it.each([
    [{ origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
    [{ "sec-fetch-site": "same-site" }],
    [{ origin: "https://evil.example" }],
    [{ origin: "null" }],
  ])("refuses forms of another site: %o", async (headers) => {
    const { email, staffId } = await createPerson(world());
    const answer = await submitSignIn(world(), { email, headers });
    expect([answer.status, answer.headers["set-cookie"]]).toEqual([403, undefined]);
    expect(answer.text).toContain(`<a href="${publicUrl}/console">`);
    expect(await sessions(staffId)).toEqual([]);
    const cookie = await signInAs(world(), email);
    expect((await submitSignOut(world(), cookie, headers)).status).toBe(403);
    expect(await sessions(staffId)).toHaveLength(1);
  });

  it("accepts only forms", async () => {
    const { status, text } = await world().send({
      method: "POST",
      url: "/console/sign-in",
      headers: fromHere(world()),
      body: {},
    });
    expect([status, text.includes("The request failed")]).toEqual([400, true]);
  });

  it.each([
    ["/console", "/console"],
    ["/console/orders/ord_1?x=1", "/console/orders/ord_1?x=1"],
    ["/consoleer", "/console"],
    ["//evil.example/console", "/console"],
    ["/\\evil.example/console", "/console"],
    ["https://evil.example/console", "/console"],
    ["/console/../oauth/authorize", "/console"],
    ["/console/%2e%2e/oauth/authorize", "/console"],
    ["/console\n/x", "/console/x"],
    ["/console/sign-out", "/console"],
    ["javascript:alert(1)", "/console"],
    ["", "/console"],
  ])("redirects only within the console: %j", (next, place) => {
    expect(getPathAfterSignIn(next)).toBe(place);
    expect(new URL(getPathAfterSignIn(next), publicUrl).origin).toBe(publicUrl);
  });
});

describe("signing out", () => {
  it("ends the session, not only the cookie, and can be repeated", async () => {
    const { email, staffId } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    const answer = await submitSignOut(world(), cookie);
    expect([answer.status, answer.headers["location"]]).toEqual([303, "/console"]);
    expect(String(answer.headers["set-cookie"])).toMatch(
      /^__Host-console-[0-9a-f]{8}=; expires=Thu, 01 Jan 1970 00:00:00 GMT; path=\/;/,
    );
    expect((await world().get("/console", { cookie })).text).toContain("Sign in");
    expect((await askAs(world(), cookie, "{ viewer { role } }")).status).toBe(401);
    expect((await submitSignOut(world(), cookie)).status).toBe(303);
    expect((await actions(staffId)).map(({ action }) => action)).toEqual(["consoleSignIn", "consoleSignOut"]);
  });

  it("is audited like signing in, with the person and the request", async () => {
    const { email, staffId } = await createPerson(world());
    const signedIn = await submitSignIn(world(), { email, headers: from() });
    const signedOut = await submitSignOut(world(), cookieOf(signedIn));
    const by = {
      actor: "staff",
      actorId: staffId,
      merchantId: world().demo.merchants.first.id,
      targetType: "staff",
      targetId: staffId,
    };
    expect(await actions(staffId)).toEqual([
      { ...by, action: "consoleSignIn", requestId: signedIn.headers["x-request-id"] },
      { ...by, action: "consoleSignOut", requestId: signedOut.headers["x-request-id"] },
    ]);
    expect(JSON.stringify(world().logged)).not.toContain(email);
    expect(JSON.stringify(world().logged)).not.toContain(password);
  });
});

describe("a service without https, below a path", () => {
  const plain = useWorld("postgres", { environment: { PUBLIC_URL: "http://localhost:4000/shop" } });

  it("has a cookie that browsers accept there, and redirects below its path", async () => {
    const { email } = await createPerson(plain());
    const answer = await submitSignIn(plain(), { email, next: "/console/orders" });
    expect(String(answer.headers["set-cookie"])).toMatch(
      /^console-[0-9a-f]{8}=[\w-]{43}; path=\/; httponly; samesite=strict$/,
    );
    expect(answer.headers["location"]).toBe("/shop/console/orders");
    expect((await plain().get("/console")).text).toContain('action="/shop/console/sign-in"');
    const page = await plain().get("/console", { cookie: cookieOf(answer) });
    expect(page.text).toContain('data-base-path="/shop"');
  });

  it("has another cookie name than another service on the host, because cookies ignore ports", async () => {
    const { email } = await createPerson(plain());
    const cookie = cookieOf(await submitSignIn(plain(), { email }));
    const at = (url: string): string | undefined =>
      readConsoleSessionCookie({ headers: { cookie } } as FastifyRequest, url);
    expect(at(plain().app.publicUrl)).toBe(cookie.split("=")[1]);
    expect(at("http://localhost:4001/shop")).toBeUndefined();
    expect(at("http://localhost:4000/other")).toBeUndefined();
  });
});
