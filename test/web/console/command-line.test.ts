/**
 * The sign-in of `commerce login`: the page on which a staff member confirms it, the code, and the session
 * that the command gets for the code.
 */
import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { disableStaffAccount } from "#access/people/staff.ts";
import { runInTransaction } from "#database/transaction.ts";
import { createPerson, type Person } from "#test/oauth/people.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";
import { askAs, cookieOf, fromHere, signInAs, submitSignOut } from "./console-calls.ts";

const world = useWorld();
const path = "/console/command-line";
const redirectUri = "http://127.0.0.1:40123/callback";

interface Login {
  readonly verifier: string;
  readonly parameters: Readonly<Record<string, string>>;
}

function newLogin(parameters: Readonly<Record<string, string>> = { redirect_uri: redirectUri }): Login {
  const verifier = randomBytes(32).toString("base64url");
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const state = randomBytes(16).toString("base64url");
  return {
    verifier,
    parameters: { state, code_challenge: challenge, code_challenge_method: "S256", ...parameters },
  };
}

const show = ({ parameters }: Login, cookie = ""): Promise<Answer> =>
  world().get(`${path}?${new URLSearchParams(parameters).toString()}`, { cookie });

const answer = (
  { parameters }: Login,
  cookie: string,
  {
    decision = "allow",
    headers = fromHere(world()),
  }: { decision?: string; headers?: Record<string, string> } = {},
): Promise<Answer> =>
  world().send({
    method: "POST",
    url: path,
    headers: { "content-type": "application/x-www-form-urlencoded", cookie, ...headers },
    body: new URLSearchParams({ ...parameters, answer: decision }).toString(),
  });

const redeem = (code: string, codeVerifier: string): Promise<Answer> =>
  world().send({ method: "POST", url: `${path}/session`, body: { code, codeVerifier } });

const locationOf = ({ headers }: Answer): URL => new URL(headers["location"] ?? "");

/** Signs a new person in to the console, confirms a login, and returns its code. */
async function confirm(
  login = newLogin(),
): Promise<{ person: Person; cookie: string; code: string; login: Login }> {
  const person = await createPerson(world());
  const cookie = await signInAs(world(), person.email);
  const target = locationOf(await answer(login, cookie));
  return { person, cookie, login, code: target.searchParams.get("code") ?? "" };
}

const whoAmI = async (cookie: string): Promise<unknown> =>
  (await askAs(world(), cookie, "{ viewer { role staff { email } } }")).body;

const refusedCode = { status: 401, body: { error: { code: "credentials_malformed" } } };

describe("the confirmation page", () => {
  it("asks a visitor to sign in first, and returns to itself", async () => {
    const page = await show(newLogin());
    expect(page.text).toContain("<title>Sign in – Console</title>");
    expect(page.text).toMatch(/name="next" value="\/console\/command-line\?state=/);
  });

  it("names the account and the shop, and may redirect only over http to this machine", async () => {
    const { email } = await createPerson(world());
    const page = await show(newLogin(), await signInAs(world(), email));
    expect(page.status).toBe(200);
    expect(page.text).toContain(email);
    expect(page.headers["content-security-policy"]).toContain("form-action 'self' http:;");
    expect(page.headers["x-frame-options"]).toBe("DENY");
  });

  it.each([
    ["another host", { redirect_uri: "http://attacker.example/callback" }],
    ["https on this machine's name", { redirect_uri: "https://localhost:1/callback" }],
    ["another path", { redirect_uri: "http://127.0.0.1:1/other" }],
    ["a user name in the address", { redirect_uri: "http://127.0.0.1:1@attacker.example/callback" }],
    ["no challenge", { code_challenge: "" }],
    ["a plain challenge", { code_challenge_method: "plain" }],
    ["a short state", { state: "x" }],
  ])("refuses %s", async (_name, parameters: Record<string, string>) => {
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    const login = newLogin({ redirect_uri: redirectUri, ...parameters });
    expect((await show(login, cookie)).status).toBe(400);
    expect((await answer(login, cookie)).status).toBe(400);
  });

  it("refuses a form from another site, and a form without a session", async () => {
    const { email } = await createPerson(world());
    const cookie = await signInAs(world(), email);
    const headers = { origin: "https://attacker.example", "sec-fetch-site": "cross-site" };
    expect((await answer(newLogin(), cookie, { headers })).status).toBe(403);
    expect((await answer(newLogin(), "")).status).toBe(400);
  });
});

describe("the code", () => {
  it("becomes a session with the rights of the account, and is in the audit log", async () => {
    const { person, code, login } = await confirm();
    const { status, body, headers } = await redeem(code, login.verifier);
    expect({ status, control: headers["cache-control"] }).toEqual({ status: 200, control: "no-store" });
    expect(await whoAmI(body.data.cookie)).toMatchObject({
      data: { viewer: { role: "admin", staff: { email: person.email } } },
    });
    const { rows } = {
      rows: await world()
        .database.db.selectFrom("auditEntry")
        .select("action")
        .where("actorId", "=", person.staffId)
        .orderBy("id")
        .execute(),
    };
    expect(rows.map(({ action }) => action)).toEqual(["consoleSignIn", "commandLineSignIn"]);
    await submitSignOut(world(), body.data.cookie);
    expect(await whoAmI(body.data.cookie)).toMatchObject({
      errors: [{ extensions: { code: "credentials_missing" } }],
    });
  });

  it("is shown on the page if the command cannot receive a redirect", async () => {
    const { email } = await createPerson(world());
    const login = newLogin({});
    const page = await answer(login, await signInAs(world(), email));
    expect(page.status).toBe(200);
    const [, code = ""] = /<code>([\w.-]+)<\/code>/.exec(page.text) ?? [];
    expect((await redeem(code, login.verifier)).status).toBe(200);
  });

  it("is refused at its second use", async () => {
    const { code, login } = await confirm();
    expect((await redeem(code, login.verifier)).status).toBe(200);
    expect(await redeem(code, login.verifier)).toMatchObject(refusedCode);
  });

  it("is refused without the verifier of the command that asked for it", async () => {
    const { code } = await confirm();
    expect(await redeem(code, newLogin().verifier)).toMatchObject(refusedCode);
  });

  it("is refused if it was changed, and after five minutes", async () => {
    const { code, login } = await confirm();
    const [text = "", signature = ""] = code.split(".");
    const content = JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
    const changed = Buffer.from(JSON.stringify({ ...content, staffId: "stf_other" })).toString("base64url");
    for (const wrong of [
      "",
      ".",
      text,
      `${changed}.${signature}`,
      `${text}.`,
      `${text}.${signature.slice(1)}`,
    ])
      expect(await redeem(wrong, login.verifier)).toMatchObject(refusedCode);
    world().clock.at = new Date(world().clock.at.getTime() + 300_000);
    expect(await redeem(code, login.verifier)).toMatchObject(refusedCode);
  });

  it("does not work after the account was disabled", async () => {
    const { person, code, login } = await confirm();
    const access = { merchantId: null, now: world().clock.now() };
    await runInTransaction(world().database.db, (transaction) =>
      disableStaffAccount(transaction, access, person.staffId),
    );
    expect(await redeem(code, login.verifier)).toMatchObject(refusedCode);
  });

  it("is not created if the staff member refuses", async () => {
    const { email } = await createPerson(world());
    const login = newLogin();
    const target = locationOf(await answer(login, await signInAs(world(), email), { decision: "deny" }));
    expect(Object.fromEntries(target.searchParams)).toEqual({
      state: login.parameters["state"],
      error: "access_denied",
    });
  });

  it("gives an analyst the rights of an analyst", async () => {
    const { email } = await createPerson(world(), "first", "analyst");
    const login = newLogin();
    const target = locationOf(await answer(login, await signInAs(world(), email)));
    const { body } = await redeem(target.searchParams.get("code") ?? "", login.verifier);
    expect(await whoAmI(body.data.cookie)).toMatchObject({ data: { viewer: { role: "analyst" } } });
    const listening = await world().send({
      method: "POST",
      url: "/listen",
      headers: { cookie: body.data.cookie, "x-commerce-console": "1", ...fromHere(world()) },
      body: { waitSeconds: 0 },
    });
    expect(listening).toMatchObject({ status: 403, body: { error: { code: "role_not_allowed" } } });
    expect(cookieOf(listening)).toBe("");
  });
});
