/** The API accepts an access token exactly as long as its grant is in force. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { disableStaffAccount } from "#access/people/staff.ts";
import { updateInstallation } from "#access/installations.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { type LetIn, letIn, redeem, refresh } from "./token-requests.ts";

describe.each(["postgres"] as const)("a token at the API, %s", (engine) => {
  const world = useWorld(engine);
  // Codes expire after a minute. The test clock may differ from the real time, by which proofs are judged, by
  // more.
  beforeEach(() => {
    world().clock.at = new Date();
  });

  const call = async (app: LetIn, token: string, path = "/api/v1/open/catalog/products") => {
    world().clock.at = new Date();
    const proof = await app.key.prove("GET", publicUrl + path, {
      ath: createHash("sha256").update(token).digest("base64url"),
    });
    return world().get(path, { authorization: `DPoP ${token}`, dpop: proof });
  };
  const tokensOf = async (app: LetIn): Promise<{ access: string; refresh: string }> => {
    world().clock.at = new Date();
    const { body } = await redeem(world(), app);
    return { access: body["access_token"] ?? "", refresh: body["refresh_token"] ?? "" };
  };
  const change = (
    work: (transaction: Transaction, access: { merchantId: null; now: Date }) => Promise<unknown>,
  ): Promise<unknown> =>
    runInTransaction(world().database.db, (transaction) =>
      work(transaction, { merchantId: null, now: world().clock.now() }),
    );

  it("reads what its scopes allow, and shows its grant as the caller", async () => {
    const app = await letIn(world(), { scopes: ["catalog:read"] });
    const { access } = await tokensOf(app);
    expect(await call(app, access)).toMatchObject({ status: 200 });
    const described = await call(app, access, "/api/v1/oauth/authorize");
    expect([described.status, described.body.data?.issuer]).toEqual([200, publicUrl]);
    const { status, body } = await call(app, access, "/api/v1/open/webhooks/endpoints");
    expect([status, body.error?.code]).toEqual([403, "scope_missing"]);
  });

  it.each([
    ["given back by its app", (app: LetIn, refreshToken: string) => giveBack(app, refreshToken)],
    [
      "renewed with a refresh token that was used",
      async (app: LetIn, refreshToken: string) => {
        await refresh(world(), app, refreshToken);
        // For 60 seconds a refresh token can be sent again, because the answer may have been lost.
        world().clock.advance(61_000);
        await refresh(world(), app, refreshToken);
      },
    ],
    ["redeemed once more", async (app: LetIn) => void (await redeem(world(), app))],
    [
      "of a person who was disabled",
      (app: LetIn) =>
        change((transaction, access) => disableStaffAccount(transaction, access, app.person.staffId)),
    ],
    ["of an app that was uninstalled", (app: LetIn) => uninstall(app)],
  ])("is refused once it is %s", async (_when, end) => {
    const app = await letIn(world());
    const tokens = await tokensOf(app);
    expect(await call(app, tokens.access)).toMatchObject({ status: 200 });
    await end(app, tokens.refresh);
    expect((await call(app, tokens.access)).status).toBe(401);
    expect((await refresh(world(), app, tokens.refresh)).status).toBe(400);
  });

  const giveBack = (app: LetIn, token: string) =>
    world().send({
      method: "POST",
      url: "/oauth/revoke",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ client_id: app.client.clientId, token }).toString(),
    });
  const uninstall = (app: LetIn) =>
    change(async (transaction, access) => {
      const { id } = await transaction
        .selectFrom("installation")
        .select("id")
        .where("appId", "=", app.client.appId)
        .executeTakeFirstOrThrow();
      await updateInstallation(transaction, access, { installationId: id, status: "uninstalled" });
    });

  it("is refused while the installation is suspended, can be renewed, and works later", async () => {
    const app = await letIn(world());
    const tokens = await tokensOf(app);
    const { id: installationId } = await world()
      .database.db.selectFrom("installation")
      .select("id")
      .where("appId", "=", app.client.appId)
      .executeTakeFirstOrThrow();
    const turn = (status: "suspended" | "active") =>
      change((transaction, access) => updateInstallation(transaction, access, { installationId, status }));
    await turn("suspended");
    const refused = await call(app, tokens.access);
    expect([refused.status, refused.body.error.code]).toEqual([401, "installation_suspended"]);
    const { body } = await refresh(world(), app, tokens.refresh);
    await turn("active");
    expect(await call(app, body["access_token"] ?? "")).toMatchObject({ status: 200 });
  });
});
