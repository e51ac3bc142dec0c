/**
 * A disabled client is refused everywhere at once, for all merchants. Enabling it restores none of its
 * tokens.
 */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { useWorld } from "#test/support/use-world.ts";
import { publicUrl } from "#test/support/world.ts";
import { createBrowser, createPerson, password } from "./people.ts";
import { askAuthorization, type LetIn, letIn, redeem, refresh } from "./token-requests.ts";

describe.each(["postgres"] as const)("a disabled client, %s", (engine) => {
  const world = useWorld(engine);
  const path = "/api/v1/open/catalog/products";

  // Proofs are judged by the real time.
  beforeEach(() => {
    world().clock.at = new Date();
  });

  const read = async (app: LetIn, token: string): Promise<number> => {
    const proof = await app.key.prove("GET", publicUrl + path, {
      ath: createHash("sha256").update(token).digest("base64url"),
    });
    return (await world().get(path, { authorization: `DPoP ${token}`, dpop: proof })).status;
  };
  const turn = (field: "oauthClientDisable" | "oauthClientEnable", clientId: string, token = "operator") =>
    world().graphql(`mutation { ${field}(input: { clientId: "${clientId}" }) { id disabledAt version } }`, {
      token,
    });

  it("gets no tokens for its codes and refresh tokens, and no new authorization", async () => {
    const app = await letIn(world());
    const { clientId } = app.client;
    const { body } = await redeem(world(), app);
    const { access_token: access = "", refresh_token: renewing = "" } = body;
    const waiting = await letIn(world(), { client: app.client });
    const asked = (await askAuthorization(app.client)).url;
    const browser = createBrowser(world());
    const { email } = await createPerson(world());
    const consent = await browser.submit(await browser.open(asked), { email, password, action: "sign-in" });
    expect(await read(app, access)).toBe(200);

    const disabledAt = world().clock.now().toISOString();
    expect((await turn("oauthClientDisable", clientId)).body.data.oauthClientDisable).toEqual({
      id: clientId,
      disabledAt,
      version: 2,
    });
    expect(await read(app, access)).toBe(401);
    expect(await refresh(world(), app, renewing)).toMatchObject({
      status: 401,
      body: { error: "invalid_client" },
    });
    expect(await redeem(world(), waiting)).toMatchObject({ status: 401, body: { error: "invalid_client" } });
    const late = await browser.submit(consent, { action: "allow", scope: "catalog:read" });
    expect([late.status, late.text.includes("This sign-in has ended")]).toEqual([400, true]);
    expect(await createBrowser(world()).open(asked)).toMatchObject({ url: asked, status: 400 });

    expect((await turn("oauthClientEnable", clientId)).body.data.oauthClientEnable).toEqual({
      id: clientId,
      disabledAt: null,
      version: 3,
    });
    expect(await read(app, access)).toBe(401);
    expect(await refresh(world(), app, renewing)).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    const back = await letIn(world(), { client: app.client, person: app.person });
    expect((await redeem(world(), back)).status).toBe(200);
  });

  it("can be disabled only by the platform, which is audited and shown in the list", async () => {
    const { client } = await letIn(world());
    const refused = await turn("oauthClientDisable", client.clientId, "admin");
    expect(refused.body.errors[0].extensions.code).toBe("role_not_allowed");
    const unknown = await turn("oauthClientDisable", "oac_00000000000000000000000000");
    expect(unknown.body.errors[0].extensions.code).toBe("resource_not_found");
    await turn("oauthClientDisable", client.clientId);
    await turn("oauthClientDisable", client.clientId);
    const fields = "id authMethod redirectUris disabledAt version app { id name }";
    const { body } = await world().graphql(
      `{ oauthClients(last: 1) { totalCount edges { node { ${fields} } } } }`,
    );
    expect(body.data.oauthClients.edges).toEqual([
      {
        node: {
          id: client.clientId,
          authMethod: "NONE",
          redirectUris: ["https://app.example/callback"],
          disabledAt: world().clock.now().toISOString(),
          version: 2,
          app: { id: client.appId, name: client.appName },
        },
      },
    ]);
    const entries = await world()
      .database.db.selectFrom("auditEntry")
      .select(["action", "actor", "targetType", "merchantId"])
      .where("targetId", "=", client.clientId)
      .orderBy("id")
      .execute();
    const entry = {
      action: "oauthClientDisable",
      actor: "operator",
      targetType: "oauth_client",
      merchantId: null,
    };
    expect(entries).toEqual([entry, entry]);
    // The merchant's audit log contains the end of its grants.
    const ended = await world()
      .database.db.selectFrom("auditEntry")
      .innerJoin("oauthGrant", "oauthGrant.id", "auditEntry.targetId")
      .select(["action", "actor", "auditEntry.merchantId", "details"])
      .where("oauthGrant.clientId", "=", client.clientId)
      .where("action", "=", "oauthGrantRevoke")
      .execute();
    expect(ended).toMatchObject([
      {
        actor: "system",
        merchantId: world().demo.merchants.first.id,
        details: { clientId: client.clientId, reason: "client_disabled" },
      },
    ]);
  });
});
