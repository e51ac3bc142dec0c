/** The format of clients' secrets: recognized only as a whole, and recognized again by a digest. */
import { describe, expect, it } from "vitest";
import {
  sha256Digest,
  matchesSecretDigest,
  generateCredentialSecret,
  parseCredentialSecret,
} from "#access/keys/verify-keys.ts";
import { checksumOf, unknownKey, withOtherSecret, withTypo } from "#test/support/keys.ts";

describe("an API key", () => {
  const minted = Array.from({ length: 1000 }, () => generateCredentialSecret("cpk", "test"));

  it("has the documented format, and a checksum that everyone can compute", () => {
    for (const { id, value, prefix, lastFour } of minted) {
      expect(value).toMatch(/^cpk_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$/);
      expect(value.slice(-6)).toBe(checksumOf(value.slice(0, -6)));
      expect(prefix).toBe(`cpk_test_${id}`);
      expect(value.startsWith(`${prefix}_`)).toBe(true);
      expect(lastFour).toBe(value.slice(-4));
      expect(parseCredentialSecret("cpk", value)).toEqual({ id, label: "test" });
    }
  });

  it("is unique", () => {
    expect(new Set(minted.map(({ id }) => id)).size).toBe(1000);
    expect(new Set(minted.map(({ value }) => value.split("_")[3])).size).toBe(1000);
  });

  it("has a random secret, independent of its id and its checksum", () => {
    const secrets = minted.map(({ value }) => value.split("_")[3]?.slice(0, -6) ?? "");
    expect(new Set(secrets).size).toBe(1000);
    // 256 bits are 43 digits; the first digit has fewer values.
    for (let place = 1; place < 43; place += 1)
      expect(new Set(secrets.map((secret) => secret.charAt(place))).size).toBeGreaterThan(50);
  });

  it("is recognized only as a whole", () => {
    const { value } = generateCredentialSecret("cpk", "live");
    const spoilt = [
      withTypo(value),
      value.slice(1),
      `${value}0`,
      value.toUpperCase(),
      ` ${value}`,
      `${value}\n`,
      value.replace("live", "test"),
      "",
    ];
    for (const text of spoilt) expect(parseCredentialSecret("cpk", text)).toBeUndefined();
    expect(parseCredentialSecret("cit", value)).toBeUndefined();
    expect(parseCredentialSecret("cpk", withOtherSecret(value))).toEqual({
      id: value.split("_")[2],
      label: "live",
    });
    expect(parseCredentialSecret("cpk", unknownKey())).toEqual({ id: "Z".repeat(12), label: "test" });
  });

  it("matches the digest of the whole key, and a missing digest matches nothing", () => {
    const { value, digest } = generateCredentialSecret("cpk", "test");
    expect(matchesSecretDigest(value, digest)).toBe(true);
    expect(matchesSecretDigest(withOtherSecret(value), digest)).toBe(false);
    expect(matchesSecretDigest(value, undefined)).toBe(false);
    expect(matchesSecretDigest("nobody", undefined)).toBe(false);
    expect(matchesSecretDigest(value, sha256Digest(value))).toBe(true);
  });
});

describe("a secret", () => {
  it("of each kind has that kind's prefix, and leading zeros if the random number is small", () => {
    for (const kind of ["cpk", "cit"] as const) {
      const { value, id } = generateCredentialSecret(kind, "admin");
      expect(value).toMatch(new RegExp(`^${kind}_admin_${id}_[0-9A-Za-z]{49}$`));
      expect(parseCredentialSecret(kind, value)).toEqual({ id, label: "admin" });
    }
  });

  it("uses every letter and digit of the alphabet", () => {
    const used = new Set(
      Array.from({ length: 200 }, () =>
        generateCredentialSecret("cpk", "test").value.split("_").slice(2).join(""),
      ).join(""),
    );
    expect([...used].toSorted().join("")).toBe(
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    );
  });

  it("of an earlier version is still valid: its checksum and its digest do not change", () => {
    const value = `cpk_test_${"Z".repeat(12)}_${"a".repeat(43)}`;
    const whole = value + checksumOf(value);
    expect(parseCredentialSecret("cpk", whole)).toEqual({ id: "Z".repeat(12), label: "test" });
    expect(sha256Digest("abc").toString("hex")).toBe(
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    );
  });
});
