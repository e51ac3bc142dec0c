/**
 * Request fingerprints recognize a repeated request. They disclose nothing without the encryption keys, and
 * stay valid after key rotation.
 */
import { createHash } from "node:crypto";
import { beforeAll, expect, it } from "vitest";
import type { Database } from "#database/connect.ts";
import {
  createIdempotentRequestRunner,
  getIdempotencyRecordEncryptionContext,
  type StoredIdempotentAnswer,
} from "#database/idempotency.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const first = { id: "k1", key: Buffer.alloc(32, 7) };
const second = { id: "k2", key: Buffer.alloc(32, 8) };
const now = new Date("2026-05-01T10:00:00.000Z");
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
const answer: StoredIdempotentAnswer = { status: 200, contentType: "text/plain", body: "done" };
const asked = { ownerId: "tok_1", merchantId: null, key: "k-1", fingerprint: digest("a password") };

describeOnBoth("the fingerprint", (open) => {
  let db: Database;
  beforeAll(async () => {
    ({ db } = await open());
  });

  it("differs between records of the same request, and is never the plain digest", async () => {
    const doOnce = createIdempotentRequestRunner({
      db,
      keyring: createEncryptionKeyring([first]),
      clock: { now: () => now },
    });
    for (const key of ["k-1", "k-2"]) await doOnce({ ...asked, key }, () => Promise.resolve(answer));
    const rows = await db.selectFrom("idempotencyRecord").select("fingerprint").execute();
    const kept = rows.map(({ fingerprint }) => Buffer.from(fingerprint).toString("hex"));
    expect(kept).toHaveLength(2);
    expect(new Set([...kept, asked.fingerprint.toString("hex")]).size).toBe(3);
  });

  it("is recognized during key rotation, also once the original key is gone", async () => {
    await db.deleteFrom("idempotencyRecord").execute();
    const both = createEncryptionKeyring([second, first]);
    const under = (keyring: typeof both) =>
      createIdempotentRequestRunner({ db, keyring, clock: { now: () => now } });
    const never = (): Promise<StoredIdempotentAnswer> => Promise.reject(new Error("It happened before."));
    await under(createEncryptionKeyring([first]))(asked, () => Promise.resolve(answer));
    expect(await under(both)(asked, never)).toEqual({ recorded: answer, isReplay: true });

    const place = getIdempotencyRecordEncryptionContext({
      ownerId: asked.ownerId,
      digest: digest(asked.key),
    });
    const row = await db.selectFrom("idempotencyRecord").selectAll().executeTakeFirstOrThrow();
    const { dataKey, keyId } = both.rewrap(row, place);
    await db.updateTable("idempotencyRecord").set({ dataKey, keyId }).execute();
    const later = under(createEncryptionKeyring([second]));
    expect(await later(asked, never)).toEqual({ recorded: answer, isReplay: true });
    await expect(later({ ...asked, fingerprint: digest("another") }, never)).rejects.toMatchObject({
      code: "idempotency_key_reused",
    });
  });
});
