/**
 * Idempotency keys belong to their owner: the same text is another key for another owner, and a running
 * request blocks only its own key.
 */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { createIdempotentRequestRunner, type StoredIdempotentAnswer } from "#database/idempotency.ts";
import { createEncryptionKeyring } from "#foundation/encryption.ts";
import { describeOnBoth } from "#test/support/databases.ts";

const keyring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
const fingerprint = createHash("sha256").update("asked").digest();
const answerOf = (body: string): StoredIdempotentAnswer => ({ status: 200, contentType: "text/plain", body });

describeOnBoth("while a request runs under a key", (open) => {
  it("the owner's other keys and other owners' same key work, and a duplicate is refused", async () => {
    const { db, engine } = await open({ poolSize: 5 });
    // Two idempotency stores, as in two processes: neither knows what runs in the other.
    const [here, there] = [
      createIdempotentRequestRunner({ db, keyring, clock: { now: () => new Date() } }),
      createIdempotentRequestRunner({ db, keyring, clock: { now: () => new Date() } }),
    ];
    const gate = Promise.withResolvers<undefined>();
    const began = Promise.withResolvers<undefined>();
    const first = here({ ownerId: "ins_1", merchantId: null, key: "k-1", fingerprint }, async () => {
      began.resolve(undefined);
      await gate.promise;
      return answerOf("first");
    });
    await began.promise;
    const others = Promise.all([
      here({ ownerId: "ins_1", merchantId: null, key: "k-2", fingerprint }, () =>
        Promise.resolve(answerOf("other key")),
      ),
      here({ ownerId: "ins_2", merchantId: null, key: "k-1", fingerprint }, () =>
        Promise.resolve(answerOf("other owner")),
      ),
      there({ ownerId: "ins_3", merchantId: null, key: "k-1", fingerprint }, () =>
        Promise.resolve(answerOf("elsewhere")),
      ),
    ]);
    await expect(
      here({ ownerId: "ins_1", merchantId: null, key: "k-1", fingerprint }, () =>
        Promise.resolve(answerOf("twice")),
      ),
    ).rejects.toMatchObject({
      code: "idempotency_in_progress",
    });
    // The requests wait for the single connection of PGlite.
    try {
      if (engine === "postgres") await others;
    } finally {
      gate.resolve(undefined);
    }
    const done = [await first, ...(await others)];
    expect(done.map(({ recorded, isReplay }) => [recorded.body, isReplay])).toEqual([
      ["first", false],
      ["other key", false],
      ["other owner", false],
      ["elsewhere", false],
    ]);
  });
});
