/** The audit log names the actor of an entry, but a merchant never reads the name of a platform's token. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { callCart, makeCart } from "#test/operations/cart-calls.ts";
import { insertGrant } from "#test/support/token-client.ts";
import { createWorld, type World } from "#test/support/world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const actors = `actor apiKey { name installation { app { name } } } oauthGrant { staff { email } }
  staff { name } internalToken { name }`;

const read = async (filter: string, token: "admin" | "operator" = "admin") => {
  const query = `{ auditEntries(first: 1, ${filter}) { edges { node { ${actors} } } } }`;
  const { body } = await world.graphql(query, { token });
  expect(body.errors).toBeUndefined();
  return body.data.auditEntries.edges[0].node;
};
const none = { apiKey: null, oauthGrant: null, staff: null, internalToken: null };

it("names the API key and its app", async () => {
  const { id: cartId } = await makeCart(world, { lines: { "KIT-KVERN": 1 } });
  await callCart(world, "revokePublicCart", { cartId, body: { expectedVersion: 1, reason: "test" } });
  expect(await read(`targetId: "${cartId}"`)).toEqual({
    ...none,
    actor: "API_KEY",
    apiKey: { name: "Demo: full", installation: { app: { name: "Demo integration" } } },
  });
});

it("names an internal token to its merchant, and the platform's tokens to the platform only", async () => {
  const add = (token: "admin" | "operator", slug: string) =>
    world.graphql(
      `mutation { staffCreate(input: { merchantId: "${world.demo.merchants.first.id}", name: "Ada",
        email: "${slug}@shop.example" }) { staff { id } } }`,
      { token },
    );
  const { body: own } = await add("admin", "own");
  const { body: platform } = await add("operator", "platform");
  const [ownId, platformId] = [own, platform].map(({ data }) => data.staffCreate.staff.id);
  expect(await read(`targetId: "${ownId}"`)).toEqual({
    ...none,
    actor: "STAFF",
    internalToken: { name: "Demo: admin" },
  });
  expect(await read(`targetId: "${platformId}"`)).toEqual({ ...none, actor: "OPERATOR" });
  expect(await read(`targetId: "${platformId}"`, "operator")).toEqual({
    ...none,
    actor: "OPERATOR",
    internalToken: { name: "Demo: operator" },
  });
});

it("names the staff member, the OAuth grant with its giver, and keeps entries of deleted grants", async () => {
  const { database, demo, clock } = world;
  const { grantId, staffId } = await insertGrant({ database, demo, clock });
  const merchantId = demo.merchants.first.id;
  const shared = { merchantId, at: clock.now(), action: "test", details: "{}" };
  const gone = "grt_00000000000000000000000000";
  await database.db
    .insertInto("auditEntry")
    .values([
      { id: "aud_00000000000000000000000001", actor: "oauth_client", actorId: grantId, ...shared },
      { id: "aud_00000000000000000000000002", actor: "staff", actorId: staffId, ...shared },
      { id: "aud_00000000000000000000000003", actor: "oauth_client", actorId: gone, ...shared },
    ])
    .execute();
  expect(await read(`actorId: "${grantId}"`)).toEqual({
    ...none,
    actor: "OAUTH_CLIENT",
    oauthGrant: { staff: { email: `${staffId}@example.com` } },
  });
  expect((await read(`actorId: "${staffId}", action: "test"`)).staff).toEqual({
    name: expect.stringMatching(/\w/),
  });
  expect(await read(`actorId: "${gone}"`)).toEqual({ ...none, actor: "OAUTH_CLIENT" });
});
