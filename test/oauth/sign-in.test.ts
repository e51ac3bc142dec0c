/** The sign-in page: who can sign in, and the limits of guessing. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  disableStaffAccount,
  enableStaffAccount,
  validateAndHashNewStaffPassword,
  setStaffPassword,
} from "#access/people/staff.ts";
import { runInTransaction } from "#database/transaction.ts";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  createBrowser,
  createClient,
  createPerson,
  password,
  redirectUri,
  type Shown,
  signInAndAllow,
} from "./people.ts";
import { askAuthorization } from "./token-requests.ts";

const world = useWorld("postgres", {
  poolSize: manyConnections,
  environment: { RATE_LIMIT_SCALE: "1", TRUST_PROXY: "1" },
});

const open = async (client?: Awaited<ReturnType<typeof createClient>>) => {
  const browser = createBrowser(world());
  const made = client ?? (await createClient(world()));
  const asked = await askAuthorization(made);
  return { browser, client: made, asked, page: await browser.open(asked.url) };
};

let addresses = 0;
/** Uses a separate address, so that tests do not use up each other's attempts. */
const from = (address = `192.0.2.${(addresses += 1)}`) => ({
  origin: publicUrl,
  "sec-fetch-site": "same-origin",
  "x-forwarded-for": address,
});

it("the sign-in page names the app, has a strict content policy and needs no script", async () => {
  const { page, client } = await open();
  expect(page.status).toBe(200);
  expect(page.text).toContain(`<title>Sign in</title>`);
  expect(page.text).toContain(client.appName.replace("<", "&lt;").replace(">", "&gt;"));
  expect(page.text).toContain("Apps &amp; Co");
  expect(page.text).not.toContain(client.appName);
  expect(page.text).not.toMatch(/<script|https?:\/\/|\son\w+=/);
  const policy = page.headers.get("content-security-policy");
  expect(policy?.replace(/'sha256-[\w+/=]{44}'/, "'sha256-…'").split("; ")).toEqual([
    "default-src 'none'",
    "style-src 'sha256-…'",
    "img-src data:",
    "form-action 'self' https:",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]);
  const style = /<style>([\s\S]*)<\/style>/.exec(page.text)?.[1] ?? "";
  expect(policy).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
  expect(page.headers.get("cache-control")).toBe("no-store");
  expect(page.headers.get("x-frame-options")).toBe("DENY");
  expect(page.headers.get("x-request-id")).toMatch(/^req_/);
});

it.each([
  ["https://app.example/callback", "https:"],
  ["http://[::1]:4010/callback", "http:"],
  ["com.example.app:/callback", "com.example.app:"],
])("the sign-in page may redirect to %s, and further from there", async (uri, places) => {
  const asked = await askAuthorization(await createClient(world(), { redirectUris: [uri] }), {
    redirect_uri: uri,
  });
  const { status, headers } = await createBrowser(world()).open(asked.url);
  expect([status, headers.get("content-security-policy")]).toEqual([
    200,
    expect.stringContaining(`; form-action 'self' ${places};`),
  ]);
});

it("the sign-in page protects its cookies from scripts, other sites and plain connections", async () => {
  const { browser, page } = await open();
  const { email } = await createPerson(world());
  await browser.submit(page, { email, password, action: "sign-in" }, from());
  expect([...browser.cookies.keys()].toSorted()).toContain("oauth_session");
  for (const [name, { attributes, path }] of browser.cookies) {
    expect([name, attributes.toLowerCase()]).toEqual([name, expect.stringMatching(/samesite=lax/)]);
    expect(attributes.toLowerCase()).toMatch(/; secure/);
    expect(attributes.toLowerCase()).toMatch(/httponly/);
    expect(path).toMatch(/^\/oauth/);
  }
});

describe("a wrong password", () => {
  it("shows the same error as an unknown address, and escapes the typed text", async () => {
    const { browser, page } = await open();
    const { email } = await createPerson(world());
    const texts: string[] = [];
    for (const typed of [email, '"><b>nobody@shop.example']) {
      const again = await browser.submit(
        page,
        { email: typed, password: "a wrong password", action: "sign-in" },
        from(),
      );
      expect([again.status, again.url]).toEqual([400, page.url]);
      expect(again.text).toContain("<title>Error: Sign in</title>");
      expect(again.text).toContain("The e-mail address or the password is wrong.");
      expect(again.text).not.toContain("a wrong password");
      texts.push(again.text.replace(/value="[^"]*"/, ""));
    }
    expect(texts[0]).toBe(texts[1]);
    expect(
      (await browser.submit(page, { email: "", password: "", action: "sign-in" }, from())).text,
    ).toContain("Enter your e-mail address and your password.");
  });

  it("can be tried ten times in ten minutes on one account, from any addresses and at once", async () => {
    const { email } = await createPerson(world());
    const rooms: Awaited<ReturnType<typeof open>>[] = [];
    while (rooms.length < 14) rooms.push(await open());
    const answers = await Promise.all(
      rooms.map(({ browser, page }) =>
        browser.submit(page, { email, password: "a wrong one", action: "sign-in" }, from()),
      ),
    );
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(4);
    const { browser, page } = await open();
    const right: Shown = await browser.submit(
      page,
      { email: email.toUpperCase(), password, action: "sign-in" },
      from(),
    );
    expect([right.status, right.headers.get("retry-after")]).toEqual([429, "600"]);
    expect(right.text).toContain("Try again in 10 min.");
    world().clock.advance(600_000);
    const later = await open();
    expect(
      await later.browser.submit(later.page, { email, password, action: "sign-in" }, from()),
    ).toMatchObject({ status: 200 });
  });

  it("can be tried thirty times from one address", async () => {
    const { browser, page } = await open();
    for (let time = 0; time < 30; time += 1) {
      const answer = await browser.submit(
        page,
        { email: `guess.${time}@shop.example`, password: "a wrong one", action: "sign-in" },
        from("198.51.100.7"),
      );
      expect(answer.status).toBe(400);
    }
    const { email } = await createPerson(world());
    expect(
      (await browser.submit(page, { email, password, action: "sign-in" }, from("198.51.100.7"))).status,
    ).toBe(429);
    expect(
      (await browser.submit(page, { email, password, action: "sign-in" }, from("198.51.100.8"))).status,
    ).toBe(200);
  });
});

it("the sign-in page accepts only forms of its own page", async () => {
  const { browser, page } = await open();
  const { email } = await createPerson(world());
  const fields = { email, password, action: "sign-in" };
  const foreign = [
    { origin: "https://other.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];
  for (const headers of foreign)
    expect(await browser.submit(page, fields, headers)).toMatchObject({ status: 400, url: page.url });
  const stranger = createBrowser(world());
  expect(await stranger.submit(page, fields, from())).toMatchObject({ status: 400, url: page.url });
  expect((await stranger.open(page.url)).text).toContain("This sign-in has ended");
  expect((await browser.submit(page, fields, from())).text).toContain("Allow App");
});

it("the sign-in page expires after half an hour", async () => {
  const { browser, page } = await open();
  world().clock.advance(30 * 60_000);
  expect(await browser.open(page.url)).toMatchObject({ status: 400 });
});

it("the sign-in page has a way back to the app without access", async () => {
  const { browser, page, asked } = await open();
  const { url } = await browser.submit(page, { action: "deny" }, from());
  const answer = new URL(url);
  expect([answer.origin + answer.pathname, Object.fromEntries(answer.searchParams)]).toEqual([
    redirectUri,
    {
      error: "access_denied",
      error_description: "access was not granted",
      iss: publicUrl,
      state: asked.state,
    },
  ]);
});

describe("a signed-in person", () => {
  it("is not asked to sign in for the next app, and can switch to another account", async () => {
    const [one, other] = [await createPerson(world()), await createPerson(world())];
    const { browser, page } = await open();
    await browser.submit(page, { email: one.email, password, action: "sign-in" }, from());
    const next = await browser.open((await askAuthorization(await createClient(world()))).url);
    expect(next.text).toContain(one.email);
    const again = await browser.submit(next, { action: "switch" }, from());
    expect(again.text).toContain("<title>Sign in</title>");
    const consent = await browser.submit(again, { email: other.email, password, action: "sign-in" }, from());
    expect(consent.text).toContain(other.email);
    const third = await browser.open((await askAuthorization(await createClient(world()))).url);
    expect(third.text).toContain(other.email);
  });

  it("is asked again if the app requires it, and can then switch to another account", async () => {
    const [one, other] = [await createPerson(world()), await createPerson(world())];
    const { browser, page } = await open();
    await browser.submit(page, { email: one.email, password, action: "sign-in" }, from());
    const asked = await askAuthorization(await createClient(world()), { prompt: "login" });
    const answer = await signInAndAllow(browser, asked.url, { email: other.email, scopes: ["catalog:read"] });
    expect(answer.searchParams.get("code")).not.toBeNull();
  });

  it.each([
    ["has got another password", false],
    ["was disabled and enabled again", true],
  ])("is asked again once the account %s, on every open page", async (_how, isDisabled) => {
    const { email, staffId } = await createPerson(world());
    const { browser, page } = await open();
    const consent = await browser.submit(page, { email, password, action: "sign-in" }, from());
    const access = { merchantId: null, now: world().clock.now() };
    const passwordHash = await validateAndHashNewStaffPassword("another password");
    await runInTransaction(world().database.db, async (transaction) => {
      if (!isDisabled)
        return setStaffPassword(transaction, access, { staffId, passwordHash, isRevokingGrants: false });
      await disableStaffAccount(transaction, access, staffId);
      return enableStaffAccount(transaction, access, staffId);
    });
    expect(
      (await browser.submit(consent, { action: "allow", scope: "catalog:read" }, from())).text,
    ).toContain("<title>Sign in</title>");
    const asked = await askAuthorization(await createClient(world()));
    const next = await browser.open(asked.url);
    expect(next.text).toContain("<title>Sign in</title>");
    if (!isDisabled)
      expect(await browser.submit(next, { email, password, action: "sign-in" }, from())).toMatchObject({
        status: 400,
      });
    const again = await browser.submit(
      next,
      { email, password: isDisabled ? password : "another password", action: "sign-in" },
      from(),
    );
    const allowed = await browser.submit(again, { action: "allow", scope: "catalog:read" }, from());
    expect(new URL(allowed.url).searchParams.get("code")).not.toBeNull();
    const grants = await world()
      .database.db.selectFrom("oauthGrant")
      .select("clientId")
      .where("staffId", "=", staffId)
      .execute();
    expect(grants).toHaveLength(1);
  });

  it("cannot continue once the account is disabled", async () => {
    const { email, staffId } = await createPerson(world());
    const { browser, page } = await open();
    const consent = await browser.submit(page, { email, password, action: "sign-in" }, from());
    expect(consent.text).toContain("Allow App");
    const access = { merchantId: null, now: world().clock.now() };
    await runInTransaction(world().database.db, (transaction) =>
      disableStaffAccount(transaction, access, staffId),
    );
    const allowed = await browser.submit(consent, { action: "allow", scope: "catalog:read" }, from());
    expect(allowed.text).toContain("<title>Sign in</title>");
    const next = await browser.open((await askAuthorization(await createClient(world()))).url);
    expect(next.text).toContain("<title>Sign in</title>");
    const refused = await browser.submit(next, { email, password, action: "sign-in" }, from());
    expect([refused.status, refused.text.includes("The e-mail address or the password is wrong.")]).toEqual([
      400,
      true,
    ]);
    expect(
      await world()
        .database.db.selectFrom("oauthGrant")
        .select("id")
        .where("staffId", "=", staffId)
        .execute(),
    ).toEqual([]);
  });
});
