/**
 * Used DPoP proofs are stored. A caller without a valid token stores none, and no caller stores more than its
 * rate limit allows requests.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { expectError } from "#test/support/expect-error.ts";
import { createTokenClient, type TokenClient } from "#test/support/token-client.ts";
import { useWorld } from "#test/support/use-world.ts";
import type { Answer } from "#test/support/world.ts";

/** A twentieth of the quotas: 30 reads and 3 searches a minute, one failed credential in five minutes. */
const world = useWorld("postgres", { environment: { RATE_LIMIT_SCALE: "0.05", TRUST_PROXY: "1" } });
const productsUrl = "/api/v1/open/catalog/products";
const searchUrl = "/api/v1/search?q=tent&locale=en&market=DE&sort=relevance&page=1&pageSize=1";

let address = 0;
beforeEach(() => {
  address += 1;
});
const from = (): Record<string, string> => ({ "x-forwarded-for": `203.0.113.${address}` });
const proofs = async (): Promise<number> =>
  (await world().database.db.selectFrom("dpopProof").select("digest").execute()).length;
/** Sends requests. Returns the answers and the number of proofs stored meanwhile. */
async function send(
  client: TokenClient,
  url: string,
  times: number,
): Promise<{ answers: Answer[]; noted: number }> {
  const before = await proofs();
  const answers: Answer[] = [];
  for (let count = 0; count < times; count += 1) answers.push(await client.send({ url, headers: from() }));
  return { answers, noted: (await proofs()) - before };
}

describe("a DPoP proof", () => {
  it.each([productsUrl, searchUrl])(
    "is stored for as many requests of %s as the grant's limit allows, and not beyond",
    async (url) => {
      const client = await createTokenClient(world());
      const { answers, noted } = await send(client, url, 40);
      expect(answers.map(({ status }) => status)).toEqual([
        ...Array.from({ length: 30 }, () => 200),
        ...Array.from({ length: 10 }, () => 429),
      ]);
      expect(noted).toBe(30);
      for (const answer of answers.slice(30))
        expectError(answer, {
          status: 429,
          code: "rate_limited",
          retryAfterSeconds: 60,
          details: [{ in: "limit", field: "default", code: "quota_exceeded" }],
          headers: { ratelimit: '"default";r=0;t=60', "ratelimit-policy": '"default";q=30;w=60' },
        });
      world().clock.advance(60_000);
      expect(await send(client, url, 1)).toMatchObject({ answers: [{ status: 200 }], noted: 1 });
    },
  );

  it("of a revoked or expired grant is not stored, and counts as a failed attempt", async () => {
    const { db } = world().database;
    for (const change of [
      { revokedAt: world().clock.now() },
      { expiresAt: world().clock.now(), issuedAt: new Date(0) },
    ]) {
      const client = await createTokenClient(world());
      await db.updateTable("oauthGrant").set(change).where("id", "=", client.grantId).execute();
      address += 1;
      const { answers, noted } = await send(client, productsUrl, 5);
      expect(answers.map(({ body }) => body.error.code)).toEqual([
        "oauth_token_invalid",
        ...Array.from({ length: 4 }, () => "too_many_failed_attempts"),
      ]);
      expect(noted).toBe(0);
      expect((await send(client, searchUrl, 2)).noted).toBe(0);
    }
  });

  it("of a suspended installation is stored only for operations that still answer", async () => {
    const client = await createTokenClient(world(), { merchant: "second" });
    const setStatus = (status: "active" | "suspended"): Promise<unknown> =>
      world()
        .database.db.updateTable("installation")
        .set({ status })
        .where("id", "=", client.installationId)
        .execute();
    await setStatus("suspended");
    const { answers, noted } = await send(client, productsUrl, 5);
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual(
      answers.map(() => [401, "installation_suspended"]),
    );
    expect(noted).toBe(0);
    expect(await send(client, searchUrl, 2)).toMatchObject({
      answers: [{ status: 200 }, { status: 200 }],
      noted: 0,
    });
    expect(await send(client, "/api/v1/open/identity", 2)).toMatchObject({
      answers: [{ status: 200 }, { status: 200 }],
      noted: 2,
    });
    await setStatus("active");
  });

  it("is never stored without valid credentials, and no other row is written", async () => {
    const client = await createTokenClient(world());
    const token = await client.token();
    const junk = [
      { authorization: "DPoP x", dpop: "y" },
      { authorization: `DPoP ${token}` },
      { authorization: `DPoP ${token}`, dpop: await client.proof({ url: "/elsewhere" }, token) },
      { authorization: `Bearer ${token}` },
      { authorization: "Bearer cpk_test_x" },
    ];
    world().statements.length = 0;
    for (const url of [productsUrl, searchUrl, "/api/v1/oauth/authorize"])
      for (const headers of junk) {
        address += 1;
        await world().get(url, { ...from(), ...headers });
      }
    expect(
      world().statements.filter(
        (text) => /^\s*(?:insert|update|delete|with)\b/i.test(text) && !/from "?product|search/i.test(text),
      ),
    ).toEqual([]);
  });
});
