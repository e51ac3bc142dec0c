/**
 * Signing keys are created once, published before they sign, accepted until their last token expires, and
 * stored encrypted.
 */
import { importJWK, type JWK, jwtVerify, SignJWT } from "jose";
import { expect, it } from "vitest";
import {
  createOauthSigningKeyProvider,
  type OauthSigningKeyProvider,
  deleteExpiredOauthSigningKeys,
} from "#access/oauth/signing-keys.ts";
import type { Database } from "#database/connect.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { createLog } from "#foundation/log.ts";
import { describeOnPostgres } from "#test/support/databases.ts";
import { TestClock } from "#test/support/test-clock.ts";

const keyring = createEncryptionKeyring([{ id: "k1", key: new Uint8Array(32).fill(1) }]);
const kidsOf = ({ keys }: { readonly keys: readonly JWK[] }): unknown[] => keys.map(({ kid }) => kid);

describeOnPostgres("signing keys", (open) => {
  const create = async (
    count = 1,
  ): Promise<{ db: Database; clock: TestClock; processes: OauthSigningKeyProvider[] }> => {
    const { db } = await open();
    const clock = new TestClock(new Date("2026-03-01T12:00:00.000Z"));
    return {
      db,
      clock,
      processes: Array.from({ length: count }, () => createOauthSigningKeyProvider({ db, keyring, clock })),
    };
  };

  it("are created once by many processes that start at once", async () => {
    const { db, processes } = await create(8);
    const seen = await Promise.all(processes.map((keys) => keys.publicJwks()));
    expect(new Set(seen.map((set) => kidsOf(set).join())).size).toBe(1);
    expect(
      await db.selectFrom("oauthSigningKey").select("algorithm").orderBy("algorithm", "desc").execute(),
    ).toHaveLength(2);
    expect(seen[0]?.keys.map(({ alg, kty, crv, use }) => [alg, kty, crv, use])).toEqual([
      ["ES256", "EC", "P-256", "sig"],
      ["EdDSA", "OKP", "Ed25519", "sig"],
    ]);
  });

  it("sign at once after creation, though time passes during it", async () => {
    const { db } = await open();
    let at = Date.parse("2026-03-01T12:00:00.000Z");
    const keys = createOauthSigningKeyProvider({ db, keyring, clock: { now: () => new Date((at += 5)) } });
    expect((await keys.signing()).map(({ alg }) => alg)).toEqual(["ES256", "EdDSA"]);
  });

  it("verify their signatures, and are stored encrypted", async () => {
    const { db, processes } = await create();
    const [keys] = processes as [OauthSigningKeyProvider];
    const [privateJwk] = await keys.signing();
    if (privateJwk === undefined) throw new Error("There is no key.");
    const token = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: privateJwk.kid })
      .sign(await importJWK(privateJwk));
    const { keys: publicKeys } = await keys.publicJwks(privateJwk.kid);
    const publicJwk = publicKeys.find(({ kid }) => kid === privateJwk.kid);
    expect(publicJwk).not.toHaveProperty("d");
    await expect(jwtVerify(token, await importJWK(publicJwk ?? {}))).resolves.toBeDefined();
    const rows = await db.selectFrom("oauthSigningKey").selectAll().execute();
    for (const row of rows)
      expect(Buffer.from(row.sealed).toString("latin1") + JSON.stringify(row.publicJwk)).not.toContain(
        String(privateJwk.d),
      );
  });

  it("verify in a process without the encryption key, which cannot sign and logs that", async () => {
    const { db, clock, processes } = await create();
    const [first] = (await processes[0]?.signing()) ?? [];
    const logged: Record<string, unknown>[] = [];
    const log = createLog("info", {
      write: (line: string) => void logged.push(JSON.parse(line) as Record<string, unknown>),
    });
    const later = createEncryptionKeyring([{ id: "k2", key: new Uint8Array(32).fill(2) }]);
    const keys = createOauthSigningKeyProvider({ db, keyring: later, clock, log });
    expect((await keys.publicJwks(first?.kid)).keys.map(({ alg }) => alg)).toEqual(["ES256", "EdDSA"]);
    // Verifying decrypts no key.
    expect(logged).toEqual([]);
    expect([await keys.signing(), await keys.signing()]).toEqual([[], []]);
    expect(logged.map(({ level, kid, encryptionKey }) => [level, kid, encryptionKey])).toEqual(
      (await keys.publicJwks()).keys.map(({ kid }) => ["error", kid, "k1"]),
    );
    expect(JSON.stringify(logged)).not.toContain(String(first?.d));

    await keys.rotate();
    clock.advance(61_000);
    // The process has a key that it can decrypt, and accepts the other process's key.
    const own = await keys.signing();
    expect(own.map(({ alg }) => alg)).toEqual(["ES256", "EdDSA"]);
    expect(kidsOf(await keys.publicJwks())).toEqual(
      expect.arrayContaining([...kidsOf({ keys: [...own] }), first?.kid]),
    );
    // The process that does not know the new key verifies its signatures too.
    expect(kidsOf((await processes[0]?.publicJwks(own[0]?.kid)) ?? { keys: [] })).toContain(own[0]?.kid);
  });

  it("change in all processes a minute after a rotation, and old keys verify old tokens", async () => {
    const { db, clock, processes } = await create(2);
    const [one, other] = processes as [OauthSigningKeyProvider, OauthSigningKeyProvider];
    const first = kidsOf({ keys: [...(await one.signing())] });
    await other.signing();
    const kid = await one.rotate();
    // The new key is published before it signs. The other process reloads the keys when it meets an unknown
    // id.
    clock.advance(1_000);
    expect(kidsOf(await one.publicJwks())).toHaveLength(4);
    expect(kidsOf(await other.publicJwks(kid))).toContain(kid);
    for (const keys of processes) expect(kidsOf({ keys: [...(await keys.signing())] })).toEqual(first);
    clock.advance(60_000);
    for (const keys of processes) expect((await keys.signing()).map((key) => key.kid)[0]).toBe(kid);
    for (const keys of processes)
      expect((await keys.signing()).map(({ alg }) => alg)).toEqual(["ES256", "EdDSA"]);
    clock.advance(600_000);
    for (const keys of processes)
      expect(kidsOf(await keys.publicJwks())).toEqual(expect.arrayContaining(first));
    await deleteExpiredOauthSigningKeys(db, clock.now());
    expect(await db.selectFrom("oauthSigningKey").select("id").execute()).toHaveLength(4);
    clock.advance(120_000);
    for (const keys of processes) expect(kidsOf(await keys.publicJwks())).toHaveLength(2);
    await deleteExpiredOauthSigningKeys(db, clock.now());
    expect(await db.selectFrom("oauthSigningKey").select("id").execute()).toHaveLength(2);
  });

  it("are reloaded at most once a second, whatever ids callers invent", async () => {
    const { open: _, ...made } = { open, ...(await create()) };
    const [keys] = made.processes as [OauthSigningKeyProvider];
    await keys.publicJwks();
    await made.db.deleteFrom("oauthSigningKey").execute();
    for (let time = 0; time < 50; time += 1)
      expect(kidsOf(await keys.publicJwks(`made-up-${time}`))).toHaveLength(2);
    expect(await made.db.selectFrom("oauthSigningKey").select("id").execute()).toEqual([]);
    made.clock.advance(1_000);
    await keys.publicJwks("made-up");
    expect(await made.db.selectFrom("oauthSigningKey").select("id").execute()).toHaveLength(2);
  });

  it("are rotated in turn: two concurrent rotations create two pairs, and one pair signs", async () => {
    const { clock, processes } = await create(2);
    await Promise.all(processes.map((keys) => keys.rotate()));
    clock.advance(61_000);
    const signing = await Promise.all(
      processes.map(async (keys) => (await keys.signing()).map(({ kid }) => kid).join()),
    );
    expect(new Set(signing).size).toBe(1);
    expect(signing[0]?.split(",")).toHaveLength(2);
  });
});
