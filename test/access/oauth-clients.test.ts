/** OAuth clients: their allowed redirect addresses, and that only public keys are stored. */
import { beforeAll, expect, it } from "vitest";
import {
  createOauthClient,
  disableOauthClient,
  enableOauthClient,
  findOauthClient,
  buildOauthClientSqlQuery,
  type NewOauthClient,
} from "#access/oauth/oauth-clients.ts";
import { registerApp } from "#access/installations.ts";
import type { Database } from "#database/connect.ts";
import { runInTransaction, type Transaction } from "#database/transaction.ts";
import { describeOnPostgres } from "#test/support/databases.ts";

const access = { merchantId: null, now: new Date("2026-03-01T12:00:00.000Z") };
const key = { kty: "EC", crv: "P-256", x: "x", y: "y" };

describeOnPostgres("OAuth clients", (open) => {
  let db: Database;
  let appId: string;
  const create = (input: Partial<NewOauthClient>): Promise<string> =>
    runInTransaction(db, (transaction) =>
      createOauthClient(transaction, access, {
        appId,
        redirectUris: ["https://app.example/callback"],
        authMethod: "none",
        jwks: null,
        ...input,
      }),
    );

  beforeAll(async () => {
    ({ db } = await open());
    appId = await runInTransaction(db, (transaction) =>
      registerApp(transaction, access, { name: "App", publisher: "Apps" }),
    );
  });

  it("are found with their app until they are disabled", async () => {
    const jwks = { keys: [key, { kty: "OKP", crv: "Ed25519", x: "x" }] };
    const id = await create({ authMethod: "private_key_jwt", jwks });
    const redirectUris = ["https://app.example/callback"];
    expect(await findOauthClient(db, id)).toEqual({
      id,
      appId,
      registration: "operator",
      redirectUris,
      authMethod: "private_key_jwt",
      jwks,
      appName: "App",
      publisher: "Apps",
    });
    const listed = () => buildOauthClientSqlQuery(db).where("id", "=", id).execute();
    const registered = { registration: "operator", metadataUrl: null, createdAt: access.now };
    const common = { id, appId, redirectUris, authMethod: "private_key_jwt", ...registered };
    expect(await listed()).toEqual([{ ...common, version: 1, disabledAt: null }]);
    const turnOff = (now: Date) =>
      runInTransaction(db, (transaction) => disableOauthClient(transaction, { merchantId: null, now }, id));
    await turnOff(access.now);
    await turnOff(new Date(access.now.getTime() + 1));
    expect(await listed()).toEqual([{ ...common, version: 2, disabledAt: access.now }]);
    expect(await findOauthClient(db, id)).toBeUndefined();
    for (const _ of [1, 2]) await runInTransaction(db, (transaction) => enableOauthClient(transaction, id));
    expect(await listed()).toEqual([{ ...common, version: 3, disabledAt: null }]);
    expect(await findOauthClient(db, id)).toMatchObject({ id });
    for (const turn of [
      disableOauthClient,
      (transaction: Transaction) => enableOauthClient(transaction, "oac_unknown"),
    ])
      await expect(
        runInTransaction(db, (transaction) => turn(transaction, access, "oac_unknown")),
      ).rejects.toMatchObject({
        code: "resource_not_found",
      });
    await expect(create({ appId: "app_00000000000000000000000000" })).rejects.toMatchObject({
      code: "resource_not_found",
    });
  });

  it.each([
    "https://app.example",
    "https://app.example:8443/callback?from=here",
    "http://127.0.0.1/callback",
    "http://[::1]:4000/callback",
    "http://localhost/callback",
    "com.example.app:/callback",
  ])("may have the redirect address %s", async (uri) => {
    await expect(create({ redirectUris: [uri] })).resolves.toMatch(/^oac_/);
  });

  it.each([
    "http://app.example/callback",
    "http://127.0.0.2/callback",
    "https://localhost/callback",
    "https://app.example/callback#here",
    "https://app.example/callback#",
    "https://me:secret@app.example/",
    "https://app.example/ callback",
    "https://app.example/c\u00e4llback",
    "javascript:alert(1)",
    "data:text/html,hello",
    "app:/callback",
    "/callback",
    "",
    `https://app.example/${"a".repeat(2048)}`,
  ])("may not have the redirect address %s", async (uri) => {
    const refused = {
      code: "invalid_field",
      parts: { details: [{ field: "/redirectUris/1", code: "redirect_uri_not_allowed" }] },
    };
    await expect(create({ redirectUris: ["https://app.example/callback", uri] })).rejects.toMatchObject(
      refused,
    );
  });

  it.each([
    [[]],
    [["https://app.example/", "https://app.example/"]],
    [Array.from({ length: 21 }, (_, index) => `https://app.example/${index}`)],
  ])("have one to twenty distinct addresses: %j", async (redirectUris) => {
    await expect(create({ redirectUris })).rejects.toMatchObject({
      code: "invalid_field",
      parts: { details: [{ field: "/redirectUris" }] },
    });
  });

  it.each([
    ["none", { keys: [key] }],
    ["private_key_jwt", null],
    ["private_key_jwt", { keys: [] }],
    ["private_key_jwt", { keys: [{ ...key, d: "secret" }] }],
    ["private_key_jwt", { keys: [{ kty: "oct", k: "secret" }] }],
    ["private_key_jwt", { keys: [{ kty: "RSA", n: "n", e: "AQAB" }] }],
    ["private_key_jwt", { keys: [{ kty: "EC", crv: "P-384", x: "x", y: "y" }] }],
    ["private_key_jwt", { keys: [{ kty: "EC", crv: "P-256", x: "x" }] }],
  ] as const)("of the method %s may not have these keys: %j", async (authMethod, jwks) => {
    await expect(create({ authMethod, jwks })).rejects.toMatchObject({
      code: "invalid_field",
      parts: { details: [{ field: "/jwks" }] },
    });
  });
});
