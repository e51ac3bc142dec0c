/**
 * Codes can be used once: of many concurrent requests one gets a token, and any second use revokes the grant.
 * A refresh token can be sent again for 60 seconds, which gives the same successor; any later use revokes the
 * grant.
 */
import { decodeJwt } from "jose";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { manyConnections } from "#test/support/databases.ts";
import { useWorld } from "#test/support/use-world.ts";
import {
  askToken,
  createProofKey,
  isRevoked,
  type LetIn,
  letIn,
  redeem,
  refresh,
  refreshFields,
  type TokenAnswer,
  tokenUrl,
} from "./token-requests.ts";

/** `npm run soak -- --only oauth` redeems a thousand codes. */
const rounds = 5;
const atOnce = 20;
/** Milliseconds for which a used refresh token may be sent again, as docs/guides/oauth.md promises. */
const retryMs = 60_000;

/** The claims of an access token that a refresh must not change. */
function claimsOf(body: TokenAnswer["body"]): unknown {
  const { aud, client_id: client, cnf, grant_id: grant, scope, sub } = decodeJwt(body["access_token"] ?? "");
  return { aud, client, cnf, grant, scope, sub };
}

describe.each(["postgres"] as const)("reuse, %s", (engine) => {
  const world = useWorld(engine, { poolSize: manyConnections });

  it(`gives exactly one token for a code that ${atOnce} requests redeem at once, ${rounds}×`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const app = await letIn(world());
      const proofs = await Promise.all(Array.from({ length: atOnce }, () => app.key.prove("POST", tokenUrl)));
      const answers = await Promise.all(proofs.map((proof) => askToken(world(), app.fields, proof)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(
        answers.filter(({ status, body }) => status === 400 && body["error"] === "invalid_grant"),
      ).toHaveLength(atOnce - 1);
      expect(await isRevoked(world(), app.client)).toEqual([true]);
    }
  });

  it(`gives the same successor to ${atOnce} concurrent requests with one refresh token, ${rounds} times`, async () => {
    for (let round = 0; round < rounds; round += 1) {
      const app = await letIn(world());
      const { body } = await redeem(world(), app);
      const proofs = await Promise.all(Array.from({ length: atOnce }, () => app.key.prove("POST", tokenUrl)));
      const answers = await Promise.all(
        proofs.map((proof) => askToken(world(), refreshFields(app, body["refresh_token"] ?? ""), proof)),
      );
      expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: atOnce }, () => 200));
      const successors = new Set(answers.map((answer) => answer.body["refresh_token"]));
      expect(successors.size).toBe(1);
      expect(successors).not.toContain(body["refresh_token"]);
      expect(await isRevoked(world(), app.client)).toEqual([false]);
      expect(await refresh(world(), app, [...successors][0] ?? "")).toMatchObject({ status: 200 });
    }
  });

  it("revokes the grant if a redeemed code is used again", async () => {
    const app = await letIn(world());
    const { body: tokens } = await redeem(world(), app);
    expect(await isRevoked(world(), app.client)).toEqual([false]);
    expect(await redeem(world(), app)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await isRevoked(world(), app.client)).toEqual([true]);
    expect(await refresh(world(), app, tokens["refresh_token"] ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
  });

  it("revokes the grant if a code is used again within ten minutes, then forgets the code", async () => {
    for (const [laterMs, isOver] of [
      [599_000, true],
      [600_000, false],
    ] as const) {
      const app = await letIn(world());
      await redeem(world(), app);
      world().clock.advance(laterMs);
      expect(await redeem(world(), app)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
      expect(await isRevoked(world(), app.client)).toEqual([isOver]);
    }
  });

  it("keeps only a small record of a used refresh token", async () => {
    const app = await letIn(world());
    const { body } = await redeem(world(), app);
    const { db } = world().database;
    const used = () =>
      db
        .selectFrom("oauthItem")
        .innerJoin("oauthGrant", "oauthGrant.id", "oauthItem.grantId")
        .select((row) => [sql<number>`length(sealed)`.as("bytes"), row.ref("consumedAt").as("consumedAt")])
        .where("kind", "=", "RefreshToken")
        .where("oauthGrant.clientId", "=", app.client.clientId)
        .execute();
    const [before] = await used();
    await refresh(world(), app, body["refresh_token"] ?? "");
    const after = (await used()).find(({ consumedAt }) => consumedAt !== null);
    expect(Number(after?.bytes)).toBeLessThan(400);
    expect(Number(after?.bytes)).toBeLessThan(Number(before?.bytes) * 0.75);
  });

  it("repeats the answer for a client whose answer was lost, with the same scopes", async () => {
    const app = await letIn(world());
    const { body: first } = await redeem(world(), app);
    const { body: lost } = await refresh(world(), app, first["refresh_token"] ?? "");
    world().clock.advance(retryMs - 1);
    const { status, body: repeated } = await refresh(world(), app, first["refresh_token"] ?? "");
    expect(status).toBe(200);
    expect(repeated["refresh_token"]).toBe(lost["refresh_token"]);
    expect(repeated["access_token"]).not.toBe(lost["access_token"]);
    expect(claimsOf(repeated)).toEqual(claimsOf(lost));
    expect(await isRevoked(world(), app.client)).toEqual([false]);
    const next = await refresh(world(), app, repeated["refresh_token"] ?? "");
    expect(claimsOf(next.body)).toEqual(claimsOf(lost));
  });

  it("revokes the grant if a refresh token is used after the time for retries", async () => {
    const app = await letIn(world());
    const { body: first } = await redeem(world(), app);
    const { body: second } = await refresh(world(), app, first["refresh_token"] ?? "");
    expect(second["refresh_token"]).not.toBe(first["refresh_token"]);
    world().clock.advance(retryMs);
    await expectGrantEnds(app, first, second);
  });

  it("revokes the grant if a refresh token is used after its successor, also within the time for retries", async () => {
    const app = await letIn(world());
    const { body: first } = await redeem(world(), app);
    const { body: second } = await refresh(world(), app, first["refresh_token"] ?? "");
    const { body: third } = await refresh(world(), app, second["refresh_token"] ?? "");
    await expectGrantEnds(app, first, third);
  });

  it("repeats no answer for another DPoP key, and the grant stays", async () => {
    const app = await letIn(world());
    const thief = { ...app, key: await createProofKey() };
    const { body: first } = await redeem(world(), app);
    const { body: second } = await refresh(world(), app, first["refresh_token"] ?? "");
    expect(await refresh(world(), thief, first["refresh_token"] ?? "")).toMatchObject({
      status: 400,
      body: { error: "invalid_grant" },
    });
    expect(await isRevoked(world(), app.client)).toEqual([false]);
    expect(await refresh(world(), app, second["refresh_token"] ?? "")).toMatchObject({ status: 200 });
  });

  /** Uses an old refresh token, and expects that the grant ends, also for the holder of the current token. */
  async function expectGrantEnds(
    app: LetIn,
    old: TokenAnswer["body"],
    current: TokenAnswer["body"],
  ): Promise<void> {
    expect(await isRevoked(world(), app.client)).toEqual([false]);
    for (const { refresh_token: token = "" } of [old, current])
      expect(await refresh(world(), app, token)).toMatchObject({
        status: 400,
        body: { error: "invalid_grant" },
      });
    expect(await isRevoked(world(), app.client)).toEqual([true]);
  }

  it("accepts a proof once", async () => {
    const one = await letIn(world());
    const other = await letIn(world(), { client: one.client });
    const proof = await one.key.prove("POST", tokenUrl);
    const answers = await Promise.all([one, other].map(({ fields }) => askToken(world(), fields, proof)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(
      await world()
        .database.db.selectFrom("oauthItem")
        .select("kind")
        .where("kind", "=", "ReplayDetection")
        .execute(),
    ).not.toEqual([]);
  });
});
