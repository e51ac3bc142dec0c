/**
 * A process ends after the commit of a grant but before the redirect to the app. The person's next request
 * continues with that grant instead of asking again.
 */
import { Provider } from "oidc-provider";
import { afterEach, describe, expect, it, vi } from "vitest";
import { revokeOauthGrant } from "#access/oauth/grants.ts";
import { runInTransaction } from "#database/transaction.ts";
import { useWorld } from "#test/support/use-world.ts";
import { createBrowser, createClient, createPerson, password, redirectUri, type Shown } from "./people.ts";
import { askAuthorization, createProofKey, redeem } from "./token-requests.ts";

describe.each(["postgres"] as const)("an interrupted consent, %s", (engine) => {
  const world = useWorld(engine);
  afterEach(() => vi.restoreAllMocks());

  /** Commits the grant without recording it in the interaction. */
  const cutShort = async () => {
    const [person, client] = [await createPerson(world()), await createClient(world())];
    const asked = await askAuthorization(client);
    const browser = createBrowser(world());
    const page = await browser.submit(await browser.open(asked.url), {
      email: person.email,
      password,
      action: "sign-in",
    });
    vi.spyOn(Provider.prototype, "interactionResult").mockRejectedValueOnce(new Error("The process ends."));
    const allow = (scope: string): Promise<Shown> => browser.submit(page, { action: "allow", scope });
    expect((await allow("catalog:read")).status).toBe(500);
    const grants = () =>
      world()
        .database.db.selectFrom("oauthGrant")
        .select(["id", "scopes"])
        .where("clientId", "=", client.clientId)
        .execute();
    expect(await grants()).toHaveLength(1);
    const tokenOf = async ({ url }: Shown) => {
      const code = new URL(url).searchParams.get("code") ?? "";
      const fields = {
        grant_type: "authorization_code",
        client_id: client.clientId,
        code,
        redirect_uri: redirectUri,
        code_verifier: asked.verifier,
      };
      return redeem(world(), { fields, key: await createProofKey() });
    };
    return { browser, page, allow, grants, tokenOf };
  };

  it("continues when its page is opened again", async () => {
    const { browser, page, grants, tokenOf } = await cutShort();
    expect(await tokenOf(await browser.open(page.url))).toMatchObject({
      status: 200,
      body: { scope: "catalog:read" },
    });
    expect(await grants()).toHaveLength(1);
    expect((await browser.open(page.url)).text).toContain("This sign-in has ended");
  });

  it("continues with the committed scopes when its form is sent again with other scopes", async () => {
    const { allow, grants, tokenOf } = await cutShort();
    expect(await tokenOf(await allow("checkout:quote"))).toMatchObject({
      status: 200,
      body: { scope: "catalog:read" },
    });
    expect(await grants()).toMatchObject([{ scopes: ["catalog:read"] }]);
  });

  it("is withdrawn when the person then denies", async () => {
    const { browser, page, grants } = await cutShort();
    const [grant] = await grants();
    const { url } = await browser.submit(page, { action: "deny" });
    expect(new URL(url).searchParams.get("error")).toBe("access_denied");
    const { db } = world().database;
    const [row] = await db
      .selectFrom("oauthGrant")
      .select("revokedAt")
      .where("id", "=", grant?.id ?? "")
      .execute();
    expect(row?.revokedAt).toEqual(world().clock.now());
    const entries = await db
      .selectFrom("auditEntry")
      .select(["action", "details"])
      .where("targetId", "=", grant?.id ?? "")
      .orderBy("id")
      .execute();
    expect(entries).toMatchObject([
      { action: "oauthGrantCreate" },
      { action: "oauthGrantRevoke", details: { reason: "denied" } },
    ]);
  });

  it("ends if its grant was revoked meanwhile", async () => {
    const { browser, page, grants } = await cutShort();
    const [grant] = await grants();
    const access = { merchantId: null, now: world().clock.now() };
    await runInTransaction(world().database.db, (transaction) =>
      revokeOauthGrant(transaction, access, grant?.id ?? ""),
    );
    const shown = await browser.open(page.url);
    expect([shown.status, shown.text.includes("This sign-in has ended")]).toEqual([400, true]);
    expect(await grants()).toHaveLength(1);
  });
});
