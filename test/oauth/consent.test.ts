/** The consent page grants exactly the ticked scopes and installs the app in the same transaction. */
import { describe, expect, it } from "vitest";
import type { PermissionScope } from "#access/viewer.ts";
import { updateInstallation, createInstallation } from "#access/installations.ts";
import { updateMerchant } from "#access/merchants.ts";
import { runInTransaction } from "#database/transaction.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import {
  type ClientMade,
  createBrowser,
  createClient,
  createPerson,
  password,
  redirectUri,
} from "./people.ts";
import { askAuthorization, createProofKey, letIn, redeem, refresh } from "./token-requests.ts";

describe.each(["postgres"] as const)("consent, %s", (engine) => {
  const world = useWorld(engine);
  const access = () => ({ merchantId: null, now: world().clock.now() });

  /** Signs in and opens the consent page. */
  const ask = async (
    options: { client?: ClientMade; scope?: string | undefined; merchant?: "first" | "second" } = {},
  ) => {
    const person = await createPerson(world(), options.merchant);
    const client = options.client ?? (await createClient(world()));
    const asked = await askAuthorization(client, "scope" in options ? { scope: options.scope } : {});
    const browser = createBrowser(world());
    const page = await browser.submit(await browser.open(asked.url), {
      email: person.email,
      password,
      action: "sign-in",
    });
    return { person, client, asked, browser, page };
  };
  const installationsOf = (client: ClientMade) =>
    world()
      .database.db.selectFrom("installation")
      .select(["id", "merchantId", "status", "scopes", "version"])
      .where("appId", "=", client.appId)
      .execute();
  const grantsOf = (client: ClientMade) =>
    world()
      .database.db.selectFrom("oauthGrant")
      .selectAll()
      .where("clientId", "=", client.clientId)
      .execute();
  const eventsOf = (installationId: string) =>
    world()
      .database.db.selectFrom("event")
      .select(["type"])
      .where("subjectId", "=", installationId)
      .execute();

  it("names the app, its publisher, the shop, the person and each requested scope", async () => {
    const { page, person, client } = await ask({ scope: "webhooks:read catalog:read" });
    const merchant = await world()
      .database.db.selectFrom("merchant")
      .select("name")
      .where("id", "=", world().demo.merchants.first.id)
      .executeTakeFirstOrThrow();
    expect(page.status).toBe(200);
    expect(page.text).toContain(
      `Allow ${client.appName.replace("<", "&lt;").replace(">", "&gt;")} to access ${merchant.name}?</h1>`,
    );
    for (const part of [
      "Apps &amp; Co",
      person.email,
      "Read webhook endpoints, events and signature fixtures.",
    ])
      expect(page.text).toContain(part);
    expect(
      [...page.text.matchAll(/type="checkbox"[^>]*value="([^"]+)"[^>]*>/g)].map(([, value]) => value),
    ).toEqual(["webhooks:read", "catalog:read"]);
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self' https:;");
  });

  it("offers all scopes to an app that requests none in particular", async () => {
    const { page } = await ask({ scope: undefined });
    expect([...page.text.matchAll(/type="checkbox"/g)]).toHaveLength(4);
  });

  it("grants the ticked ones of the requested scopes", async () => {
    const { browser, page, client, person, asked } = await ask();
    const { url } = await browser.submit(page, {
      action: "allow",
      scope: ["catalog:read", "webhooks:write", "nonsense"],
    });
    const answer = new URL(url);
    expect(Object.fromEntries(answer.searchParams)).toEqual({
      code: expect.any(String) as string,
      iss: publicUrl,
      state: asked.state,
    });
    const [installation] = await installationsOf(client);
    expect(await installationsOf(client)).toMatchObject([
      { merchantId: world().demo.merchants.first.id, status: "active", scopes: ["catalog:read"], version: 1 },
    ]);
    const now = world().clock.now();
    expect(await grantsOf(client)).toMatchObject([
      {
        merchantId: world().demo.merchants.first.id,
        installationId: installation?.id,
        staffId: person.staffId,
        scopes: ["catalog:read"],
        issuedAt: now,
        expiresAt: new Date(now.getTime() + 90 * 86_400_000),
        revokedAt: null,
      },
    ]);
    const fields = {
      grant_type: "authorization_code",
      client_id: client.clientId,
      code: answer.searchParams.get("code") ?? "",
      redirect_uri: redirectUri,
    };
    const { body } = await redeem(world(), {
      fields: { ...fields, code_verifier: asked.verifier },
      key: await createProofKey(),
    });
    expect(body["scope"]).toBe("catalog:read");
  });

  it("shows the page again if nothing is ticked", async () => {
    const { browser, page, client } = await ask();
    const again = await browser.submit(page, { action: "allow" });
    expect([again.status, again.url, again.text.includes("Choose at least one permission")]).toEqual([
      400,
      page.url,
      true,
    ]);
    expect(await grantsOf(client)).toEqual([]);
    expect(await installationsOf(client)).toEqual([]);
  });

  it("denies: the app gets an error, and nothing is installed", async () => {
    const { browser, page, client, asked } = await ask();
    const { url } = await browser.submit(page, { action: "deny" });
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      error: "access_denied",
      error_description: "access was not granted",
      iss: publicUrl,
      state: asked.state,
    });
    expect(await grantsOf(client)).toEqual([]);
    expect(await installationsOf(client)).toEqual([]);
  });

  it("grants once if the form is sent twice", async () => {
    const { browser, page, client } = await ask();
    const answers = await Promise.all(
      [1, 2, 3].map(() =>
        browser.submit(page, { action: "allow", scope: "catalog:read" }).catch(() => undefined),
      ),
    );
    expect(answers.some((answer) => answer?.url.includes("code=") === true)).toBe(true);
    expect(await grantsOf(client)).toHaveLength(1);
  });

  it("installs an app once if two people consent at the same time", async () => {
    const client = await createClient(world());
    const people = [await ask({ client }), await ask({ client }), await ask({ client, merchant: "second" })];
    const answers = await Promise.all(
      people.map(({ browser, page }) =>
        browser.submit(page, { action: "allow", scope: ["catalog:read", "checkout:quote"] }),
      ),
    );
    expect(answers.filter(({ url }) => url.includes("code="))).toHaveLength(3);
    expect(new Set((await installationsOf(client)).map(({ merchantId }) => merchantId)).size).toBe(2);
    expect(await installationsOf(client)).toHaveLength(2);
    expect(await grantsOf(client)).toHaveLength(3);
  });

  describe("an app that is already installed", () => {
    const install = (client: ClientMade, scopes: readonly PermissionScope[]) =>
      runInTransaction(world().database.db, (transaction) =>
        createInstallation(transaction, access(), {
          merchantId: world().demo.merchants.first.id,
          appId: client.appId,
          scopes,
        }),
      );

    it("gets the scopes of its installation, and the page says that it requests more", async () => {
      const client = await createClient(world());
      const id = await install(client, ["webhooks:read", "catalog:read"]);
      const { browser, page } = await ask({ client, scope: undefined });
      expect(
        [...page.text.matchAll(/type="checkbox"[^>]*value="([^"]+)"[^>]*>/g)].map(([, value]) => value),
      ).toEqual(["catalog:read", "webhooks:read"]);
      expect(page.text.replaceAll(/\s+/g, " ")).toContain(
        "The app also asks for <code>checkout:quote</code>, <code>webhooks:write</code>, which your shop " +
          "does not allow.",
      );
      const forged = await browser.submit(page, {
        action: "allow",
        scope: ["catalog:read", "webhooks:write"],
      });
      expect([forged.status, forged.text.includes("have changed meanwhile")]).toEqual([409, true]);
      expect(await grantsOf(client)).toEqual([]);
      const { url } = await browser.submit(forged, { action: "allow", scope: "catalog:read" });
      expect(url).toContain("code=");
      expect(await grantsOf(client)).toMatchObject([{ installationId: id, scopes: ["catalog:read"] }]);
      expect(await installationsOf(client)).toEqual([
        {
          id,
          merchantId: world().demo.merchants.first.id,
          status: "active",
          scopes: ["catalog:read", "webhooks:read"],
          version: 1,
        },
      ]);
      expect(await eventsOf(id)).toEqual([]);
    });

    it("gets no grant if its installation lacks all scopes, until an admin extends it", async () => {
      const client = await createClient(world());
      const id = await install(client, ["webhooks:read"]);
      const { browser, page } = await ask({ client });
      expect([
        page.status,
        page.text.includes("has none of the permissions that it asks for"),
        page.text.includes(`value="allow"`),
      ]).toEqual([200, true, false]);
      const scopes = ["webhooks:read", "checkout:quote"] as const;
      await runInTransaction(world().database.db, (transaction) =>
        updateInstallation(transaction, access(), { installationId: id, scopes }),
      );
      const again = await browser.open(page.url);
      const { url } = await browser.submit(again, { action: "allow", scope: "checkout:quote" });
      expect(url).toContain("code=");
    });

    it("has one grant per person: a new grant replaces the earlier one, which is audited", async () => {
      const client = await createClient(world());
      const person = await createPerson(world());
      const colleague = await letIn(world(), { client, scopes: ["catalog:read", "checkout:quote"] });
      const first = await letIn(world(), { client, person });
      const tokens = await redeem(world(), first);
      const second = await letIn(world(), { client, person, scopes: ["catalog:read"] });
      expect(await refresh(world(), first, tokens.body["refresh_token"] ?? "")).toMatchObject({
        status: 400,
        body: { error: "invalid_grant" },
      });
      expect([(await redeem(world(), second)).status, (await redeem(world(), colleague)).status]).toEqual([
        200, 200,
      ]);
      const grants = (await grantsOf(client)).filter(({ staffId }) => staffId === person.staffId);
      expect(grants.map(({ scopes, revokedAt }) => [scopes, revokedAt])).toEqual([
        [["catalog:read", "checkout:quote"], world().clock.now()],
        [["catalog:read"], null],
      ]);
      const entries = await world()
        .database.db.selectFrom("auditEntry")
        .select(["action", "actor", "actorId", "targetId", "details"])
        .where("targetId", "=", grants[0]?.id ?? "")
        .orderBy("id")
        .execute();
      const by = { actor: "staff", actorId: person.staffId, targetId: grants[0]?.id };
      const { installationId } = grants[0] ?? {};
      const details = { clientId: client.clientId, installationId };
      expect(entries).toEqual([
        {
          ...by,
          action: "oauthGrantCreate",
          details: { ...details, scopes: ["catalog:read", "checkout:quote"] },
        },
        { ...by, action: "oauthGrantRevoke", details: { ...details, reason: "replaced" } },
      ]);
    });

    it("keeps its installation unchanged if the installation has the granted scopes", async () => {
      const client = await createClient(world());
      const id = await install(client, ["webhooks:read", "catalog:read"]);
      const { browser, page } = await ask({ client });
      await browser.submit(page, { action: "allow", scope: "catalog:read" });
      expect(await installationsOf(client)).toMatchObject([{ id, version: 1 }]);
      expect(await eventsOf(id)).toEqual([]);
    });

    it("gets no consent while its installation is suspended, before or after opening the page", async () => {
      const client = await createClient(world());
      const id = await install(client, ["catalog:read"]);
      const before = await ask({ client });
      const change = (status: "suspended" | "active") =>
        runInTransaction(world().database.db, (transaction) =>
          updateInstallation(transaction, access(), { installationId: id, status }),
        );
      await change("suspended");
      const refused = await before.browser.submit(before.page, { action: "allow", scope: "catalog:read" });
      expect([refused.status, refused.text.includes("This app is suspended for your shop")]).toEqual([
        409,
        true,
      ]);
      expect(refused.text).not.toContain(`value="allow"`);
      const after = await ask({ client });
      expect([after.page.status, after.page.text.includes("This app is suspended for your shop")]).toEqual([
        200,
        true,
      ]);
      expect(await grantsOf(client)).toEqual([]);
      expect(await installationsOf(client)).toMatchObject([
        { status: "suspended", scopes: ["catalog:read"] },
      ]);
      await change("active");
      const { url } = await before.browser.submit(refused, { action: "allow", scope: "catalog:read" });
      expect(url).toContain("code=");
    });

    it("is installed again after it was uninstalled", async () => {
      const client = await createClient(world());
      const id = await install(client, ["webhooks:read"]);
      await runInTransaction(world().database.db, (transaction) =>
        updateInstallation(transaction, access(), { installationId: id, status: "uninstalled" }),
      );
      const { browser, page } = await ask({ client });
      await browser.submit(page, { action: "allow", scope: "catalog:read" });
      expect((await installationsOf(client)).map(({ status, scopes }) => [status, scopes])).toEqual([
        ["uninstalled", ["webhooks:read"]],
        ["active", ["catalog:read"]],
      ]);
    });
  });

  it("an analyst cannot consent", async () => {
    const analyst = await createPerson(world(), "first", "analyst");
    const client = await createClient(world());
    const { url } = await askAuthorization(client, {});
    const browser = createBrowser(world());
    const signedIn = { email: analyst.email, password, action: "sign-in" };
    const page = await browser.submit(await browser.open(url), signedIn);
    expect([page.status, page.text.includes("Your account has the role Analyst")]).toEqual([200, true]);
    expect(page.text).not.toContain(`value="allow"`);
    const forced = await browser.submit(page, { action: "allow", scope: "catalog:read" });
    expect([forced.status, forced.text.includes("Your account has the role Analyst")]).toEqual([403, true]);
    expect([await grantsOf(client), await installationsOf(client)]).toEqual([[], []]);
  });

  it("nobody can consent for a suspended shop", async () => {
    const { browser, page, client } = await ask({ merchant: "second" });
    const suspend = (status: "suspended" | "active") =>
      runInTransaction(world().database.db, (transaction) =>
        updateMerchant(transaction, access(), { merchantId: world().demo.merchants.second.id, status }),
      );
    await suspend("suspended");
    const refused = await browser.submit(page, { action: "allow", scope: "catalog:read" });
    expect([refused.status, refused.text.includes("Your shop is suspended")]).toEqual([409, true]);
    expect(await grantsOf(client)).toEqual([]);
    await suspend("active");
  });
});
