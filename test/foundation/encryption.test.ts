/**
 * Values encrypted at rest are decrypted only with their key and in their context; every other attempt
 * throws.
 */
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createEncryptionKeyring,
  DecryptionError,
  type EncryptionKey,
  type EncryptionKeyring,
  type EncryptionContext,
  type EncryptedValue,
} from "#foundation/encryption.ts";

const keyNamed = (id: string): EncryptionKey => ({ id, key: randomBytes(32) });
const place: EncryptionContext = { table: "personal_data", column: "sealed", rowId: "psd_1" };
const first = keyNamed("k1");
const second = keyNamed("k2");
const keyring = createEncryptionKeyring([first]);

const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
  bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
const expectRefused = (ring: EncryptionKeyring, sealed: EncryptedValue, at: EncryptionContext): void => {
  expect(() => ring.open(sealed, at)).toThrow(DecryptionError);
};

it("a sealed value decrypts to the original bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (plaintext) => {
      expect(new Uint8Array(keyring.open(keyring.seal(plaintext, place), place))).toEqual(plaintext);
    }),
  );
});

it("a sealed value decrypts to the original text, in UTF-8", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (plaintext) => {
      expect(keyring.open(keyring.seal(plaintext, place), place).toString("utf8")).toBe(plaintext);
    }),
  );
});

it("a sealed value decrypts from byte arrays as databases return them, also from a slice", () => {
  const { sealed, dataKey, keyId } = keyring.seal("plain", place);
  const apart = (bytes: Uint8Array): Uint8Array =>
    new Uint8Array([0, ...bytes, 0]).subarray(1, bytes.length + 1);
  expect(keyring.open({ sealed: apart(sealed), dataKey: apart(dataKey), keyId }, place).toString()).toBe(
    "plain",
  );
});

it("sealing creates a different ciphertext, nonce and data key each time, without the plaintext", () => {
  const plaintext = "Anna Beispiel, Hauptstraße 1";
  const all = Array.from({ length: 50 }, (_, index) =>
    index % 2 === 0
      ? keyring.seal(plaintext, place)
      : keyring.sealWithDigest(plaintext, place, Buffer.from("asked")).encrypted,
  );
  expect(new Set(all.map(({ sealed }) => Buffer.from(sealed).toString("hex"))).size).toBe(50);
  expect(new Set(all.map(({ dataKey }) => Buffer.from(dataKey).toString("hex"))).size).toBe(50);
  const nonces = all.flatMap(({ sealed, dataKey }) =>
    [sealed, dataKey].map((bytes) => Buffer.from(bytes.subarray(0, 12)).toString("hex")),
  );
  expect(new Set(nonces).size).toBe(100);
  for (const { sealed } of all) expect(Buffer.from(sealed).includes("Beispiel")).toBe(false);
});

describe("decryption fails", () => {
  const sealed = keyring.seal("Anna", place);

  it("if any single bit of the payload or of its data key was changed", () => {
    for (const part of ["sealed", "dataKey"] as const)
      for (let bit = 0; bit < sealed[part].length * 8; bit += 1)
        expectRefused(keyring, { ...sealed, [part]: flipped(sealed[part], bit) }, place);
  });

  it("if any part of it was cut off", () => {
    for (const part of ["sealed", "dataKey"] as const)
      for (let length = 0; length < sealed[part].length; length += 1)
        expectRefused(keyring, { ...sealed, [part]: sealed[part].subarray(0, length) }, place);
  });

  it.each([
    [{ ...place, table: "idempotency_record" }],
    [{ ...place, column: "data_key" }],
    [{ ...place, rowId: "psd_2" }],
    // The same characters, divided differently.
    [{ table: "personal_data1", column: "sealed", rowId: "psd_" }],
    [{ table: "personal_datasealed", column: "", rowId: "psd_1" }],
  ])("in another context: %o", (other) => {
    expectRefused(keyring, sealed, other);
  });

  it("with the data key of another row of the same table", () => {
    const other = keyring.seal("Berta", { ...place, rowId: "psd_2" });
    expectRefused(keyring, { ...sealed, dataKey: other.dataKey }, place);
    expectRefused(keyring, { ...other, sealed: sealed.sealed }, place);
  });

  it("with the data key of an earlier value in the same row", () => {
    expectRefused(keyring, { ...sealed, dataKey: keyring.seal("Anna", place).dataKey }, place);
  });

  it("with an error that names the value, with the cipher's error as cause", () => {
    const short = { ...sealed, sealed: sealed.sealed.subarray(0, 27) };
    expect(() => keyring.open(short, place)).toThrow(
      new DecryptionError("personal_data.sealed of psd_1 is too short for an encrypted value.", "k1"),
    );
    const other = { ...place, rowId: "psd_2" };
    expect(() => keyring.open(sealed, other)).toThrow(
      new DecryptionError(
        "personal_data.sealed of psd_2 does not decrypt: the value, its key or its place was changed.",
        "k1",
        { cause: expect.any(Error) },
      ),
    );
  });

  it("with payload and data key swapped", () => {
    expectRefused(keyring, { ...sealed, sealed: sealed.dataKey, dataKey: sealed.sealed }, place);
    expectRefused(keyring, { ...sealed, sealed: sealed.dataKey }, place);
  });

  it("with another key of the same name, and without its key, naming the missing key", () => {
    expectRefused(createEncryptionKeyring([keyNamed("k1")]), sealed, place);
    expect(() => createEncryptionKeyring([second]).open(sealed, place)).toThrow(
      new DecryptionError(
        "personal_data.sealed of psd_1 was encrypted with the key k1, which is not in ENCRYPTION_KEYS.",
        "k1",
      ),
    );
  });
});

describe("key rotation", () => {
  const old = keyring.seal("Anna", place);
  const both = createEncryptionKeyring([second, first]);

  it("decrypts values of an older key, and encrypts with the first", () => {
    expect(both.currentKeyId).toBe("k2");
    expect(both.open(old, place).toString()).toBe("Anna");
    expect(both.seal("Anna", place).keyId).toBe("k2");
  });

  it("wraps the data key with the first key and does not change the payload", () => {
    const moved = both.rewrap(old, place);
    expect(moved.keyId).toBe("k2");
    expect(moved.sealed).toBe(old.sealed);
    expect(moved.dataKey).not.toEqual(old.dataKey);
    expect(createEncryptionKeyring([second]).open(moved, place).toString()).toBe("Anna");
    expect(() => keyring.open(moved, place)).toThrow(DecryptionError);
  });

  it("refuses to rewrap a value that cannot be decrypted", () => {
    expect(() => both.rewrap({ ...old, dataKey: flipped(old.dataKey, 0) }, place)).toThrow(DecryptionError);
    expect(() => both.rewrap(old, { ...place, rowId: "psd_2" })).toThrow(DecryptionError);
  });
});

it.each([
  ["no key", [], "A keyring needs a key."],
  ["an id twice", [first, keyNamed("k1")], "Two keys of a keyring have the same id."],
  ["a short key", [{ id: "k3", key: randomBytes(16) }], "The key k3 has 16 bytes and must have 32."],
])("a keyring cannot be created from %s", (_name, keys, message) => {
  expect(() => createEncryptionKeyring(keys)).toThrow(message);
});

it("a keyring keeps its keys if the caller's bytes are overwritten", () => {
  const key = keyNamed("k1");
  const ring = createEncryptionKeyring([key]);
  const sealed = ring.seal("Anna", place);
  key.key.fill(0);
  expect(ring.open(sealed, place).toString()).toBe("Anna");
  expect(ring.open(ring.seal("Berta", place), place).toString()).toBe("Berta");
});

describe("a keyed digest beside an encrypted value", () => {
  const sealed = keyring.seal("Anna", place);
  const beside = Buffer.from("asked");

  it("is the same each time, also after its key was rewrapped", () => {
    const digest = keyring.digest(sealed, place, beside);
    expect(digest).toHaveLength(32);
    expect(keyring.digest(sealed, place, beside)).toEqual(digest);
    const moved = createEncryptionKeyring([second, first]).rewrap(sealed, place);
    expect(createEncryptionKeyring([second]).digest(moved, place, beside)).toEqual(digest);
  });

  it("is the same if it is computed while the value is encrypted", () => {
    const { encrypted, digest } = keyring.sealWithDigest("Anna", place, beside);
    expect(keyring.digest(encrypted, place, beside)).toEqual(digest);
    expect(keyring.open(encrypted, place).toString()).toBe("Anna");
  });

  it("differs for another input and beside another value, and needs the key", () => {
    const digest = keyring.digest(sealed, place, beside);
    expect(keyring.digest(sealed, place, Buffer.from("asked."))).not.toEqual(digest);
    expect(keyring.digest(keyring.seal("Anna", place), place, beside)).not.toEqual(digest);
    expect(() => createEncryptionKeyring([second]).digest(sealed, place, beside)).toThrow(DecryptionError);
    expect(() => keyring.digest(sealed, { ...place, rowId: "psd_2" }, beside)).toThrow(DecryptionError);
  });
});

describe("a value of an earlier release", () => {
  const ring = createEncryptionKeyring([{ id: "k1", key: Buffer.alloc(32, 7) }]);
  const old: EncryptedValue = {
    sealed: Buffer.from(
      "e2K/BF6Lz/aUInkNxVpyqSO4Al0ptsp+bCPg0eD8u5iySlo0Fj9EKEaczfe40sHgKJrq1sRHVInE",
      "base64",
    ),
    dataKey: Buffer.from(
      "ukRBHH6OMLN9aC94fEIs3CvUAu6EsRKbAVPOeMAWGd+0GjqB3882LjV8QXiXgzf98FnotRkanL+96OKg",
      "base64",
    ),
    keyId: "k1",
  };

  it("can still be decrypted", () => {
    expect(ring.open(old, place).toString()).toBe("Anna Beispiel, Hauptstraße 1");
  });

  it("still has its stored digest: a retry is replayed across a release", () => {
    expect(ring.digest(old, place, Buffer.from("asked")).toString("base64")).toBe(
      "Ld9y64mUpI3+wfW10uG2fS0NdcvRkppyR2cZF3B3bDo=",
    );
  });

  it("was encrypted with keys derived by HKDF with SHA-256 and without a salt", async () => {
    const key = await crypto.subtle.importKey("raw", new Uint8Array(32).fill(7), "HKDF", false, [
      "deriveBits",
    ]);
    const algorithm = {
      name: "HKDF",
      hash: "SHA-256",
      salt: new Uint8Array(),
      info: new TextEncoder().encode("cookies"),
    };
    expect(ring.derive("cookies")).toEqual([
      Buffer.from(await crypto.subtle.deriveBits(algorithm, key, 256)),
    ]);
  });
});

describe("derived keys", () => {
  const both = createEncryptionKeyring([second, first]);

  it("are the same each time, one per encryption key, in order", () => {
    expect(both.derive("cookies")).toEqual([
      ...createEncryptionKeyring([second]).derive("cookies"),
      ...keyring.derive("cookies"),
    ]);
    expect(both.derive("cookies").map((key) => key.length)).toEqual([32, 32]);
  });

  it("differ between purposes, and never equal the encryption keys", () => {
    const made = [...both.derive("cookies"), ...both.derive("tokens"), first.key, second.key].map((key) =>
      Buffer.from(key).toString("hex"),
    );
    expect(new Set(made).size).toBe(6);
  });
});
