/** The platform creates OAuth clients over GraphQL, and a created client gets tokens. */
import { exportJWK, generateKeyPair } from "jose";
import { describe, expect, it } from "vitest";
import { redirectUri } from "#test/oauth/people.ts";
import { letIn, redeem } from "#test/oauth/token-requests.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

describe("oauthClientCreate", () => {
  const world = useWorld();
  const ask = (input: object, { key, token = "operator" }: { key?: string; token?: string } = {}) =>
    world().graphql(
      `mutation ($key: String, $input: OAuthClientCreateInput!) {
        oauthClientCreate(idempotencyKey: $key, input: $input) {
          id app { id name } redirectUris authMethod version createdAt disabledAt } }`,
      { variables: { input, ...(key === undefined ? {} : { key }) }, token },
    );
  const createServiceApp = async (): Promise<string> => {
    const mutation = 'mutation { appCreate(input: { name: "Planner" }) { id } }';
    return (await world().graphql(mutation, { token: "operator" })).body.data.appCreate.id;
  };
  const countClients = async (): Promise<number> =>
    (await world().database.db.selectFrom("oauthClient").select("id").execute()).length;
  const faultOf = ({ body }: Answer): unknown => {
    const { code, details } = body.errors[0].extensions;
    return { code, field: details?.[0]?.field, message: details?.[0]?.message };
  };

  it("creates a public client, to which staff can grant access", async () => {
    const appId = await createServiceApp();
    const { body } = await ask({ appId, redirectUris: [redirectUri] });
    expect(body.data.oauthClientCreate).toEqual({
      id: expect.stringMatching(/^oac_/),
      app: { id: appId, name: "Planner" },
      redirectUris: [redirectUri],
      authMethod: "NONE",
      version: 1,
      createdAt: world().clock.now().toISOString(),
      disabledAt: null,
    });
    world().clock.at = new Date();
    const clientId = body.data.oauthClientCreate.id;
    const app = await letIn(world(), { client: { clientId, appId, appName: "Planner", privateKey: null } });
    expect(await redeem(world(), app)).toMatchObject({
      status: 200,
      body: { token_type: "DPoP", scope: expect.stringContaining("catalog:read") },
    });
  });

  it("stores the public keys of a client that signs, and shows them to nobody", async () => {
    const appId = await createServiceApp();
    const jwks = { keys: [{ ...(await exportJWK((await generateKeyPair("ES256")).publicKey)), kid: "one" }] };
    const { body } = await ask({ appId, redirectUris: [redirectUri], authMethod: "PRIVATE_KEY_JWT", jwks });
    expect(body.data.oauthClientCreate).toMatchObject({ authMethod: "PRIVATE_KEY_JWT", version: 1 });
    const stored = await world()
      .database.db.selectFrom("oauthClient")
      .select("jwks")
      .where("id", "=", body.data.oauthClientCreate.id)
      .executeTakeFirstOrThrow();
    expect(stored.jwks).toEqual(jwks);
  });

  it("happens once per idempotency key, with one audit entry of the platform", async () => {
    const input = { appId: await createServiceApp(), redirectUris: [redirectUri] };
    const before = await countClients();
    const first = await ask(input, { key: "client-1" });
    const second = await ask(input, { key: "client-1" });
    expect(second.body.data).toEqual(first.body.data);
    expect(second.headers["idempotent-replayed"]).toBe("true");
    expect((await countClients()) - before).toBe(1);
    const entries = await world()
      .database.db.selectFrom("auditEntry")
      .select(["actor", "merchantId", "details"])
      .where("action", "=", "oauthClientCreate")
      .where("targetId", "=", first.body.data.oauthClientCreate.id)
      .execute();
    expect(entries).toEqual([
      { actor: "operator", merchantId: null, details: { appId: input.appId, fields: expect.any(Array) } },
    ]);
  });

  it.each(["admin", "analyst", "storefront"])("refuses the role %s and creates nothing", async (token) => {
    const before = await countClients();
    const { status, body } = await ask(
      { appId: await createServiceApp(), redirectUris: [redirectUri] },
      { token },
    );
    expect([status, body.errors[0].extensions.code]).toEqual([403, "role_not_allowed"]);
    expect(await countClients()).toBe(before);
  });

  const listKeys = { keys: [{ kty: "EC", crv: "P-256", x: "x", y: "y" }] };
  it.each([
    [{ redirectUris: [] }, "/redirectUris", /1 to 20 redirect URIs/],
    [{ redirectUris: ["http://app.example/"] }, "/redirectUris/0", /must use https/],
    [{ jwks: listKeys }, "/jwks", /none must not have keys/],
    [{ authMethod: "PRIVATE_KEY_JWT" }, "/jwks", /must have 1 to 10 public keys/],
    [{ authMethod: "PRIVATE_KEY_JWT", jwks: "key" }, "/jwks", /must be a JSON Web Key Set/],
    [{ authMethod: "PRIVATE_KEY_JWT", jwks: { keys: ["key"] } }, "/jwks", /must be a JSON Web Key Set/],
    [
      { authMethod: "PRIVATE_KEY_JWT", jwks: { keys: [{ ...listKeys.keys[0], d: "private" }] } },
      "/jwks",
      /must be public keys on P-256 or Ed25519/,
    ],
  ])("refuses %j", async (changed, field, message) => {
    const before = await countClients();
    const answer = await ask({ appId: await createServiceApp(), redirectUris: [redirectUri], ...changed });
    expect(faultOf(answer)).toEqual({
      code: "invalid_field",
      field,
      message: expect.stringMatching(message),
    });
    expect(await countClients()).toBe(before);
  });

  it("refuses an unknown app", async () => {
    const { body } = await ask({ appId: "app_00000000000000000000000000", redirectUris: [redirectUri] });
    expect(body.errors[0]).toMatchObject({
      message: "There is no app with this id.",
      extensions: { code: "resource_not_found" },
    });
  });
});
