/** The format of idempotency keys, and that requests with the same meaning have the same digest. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  createRequestFingerprint,
  idempotencyHeaderPattern,
  parseIdempotencyKey,
} from "#database/idempotency.ts";

const header = new RegExp(idempotencyHeaderPattern);

describe("an idempotency key", () => {
  it.each([
    ["abc", "abc"],
    ['"abc"', "abc"],
    ["!#+-:<[]~", "!#+-:<[]~"],
    ["8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"],
    ["k".repeat(255), "k".repeat(255)],
    [`"${"k".repeat(255)}"`, "k".repeat(255)],
  ])("is accepted as %s", (text, key) => {
    expect(parseIdempotencyKey(text)).toBe(key);
    expect(header.test(text)).toBe(true);
  });

  it.each([
    "",
    '"',
    '""',
    '"abc',
    'abc"',
    'a"b',
    '""abc""',
    "a b",
    " abc",
    "abc ",
    "a\\b",
    "a,b",
    "a;b",
    "a\tb",
    "abc\n",
    "\u007f",
    "schlüssel",
    "k".repeat(256),
    `"${"k".repeat(256)}"`,
  ])("is refused as %j", (text) => {
    expect(parseIdempotencyKey(text)).toBeUndefined();
    expect(header.test(text)).toBe(false);
  });

  it("may contain every printable ASCII character that has no meaning in a structured header", () => {
    const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    expect(
      printable.filter((character) => parseIdempotencyKey(`a${character}b`) === undefined).join(""),
    ).toBe(' ",;\\');
  });
});

describe("the digest of a request", () => {
  it("is SHA-256 over the canonical JSON, which every client can compute", () => {
    const digest = createHash("sha256").update('{"a":[1,{"x":null,"y":"ü"}],"b":true}').digest();
    expect(createRequestFingerprint({ b: true, a: [1, { y: "ü", x: null }] })).toEqual(digest);
  });

  it("differs for any other request", () => {
    const asked = [{ a: 1 }, { a: "1" }, { a: null }, { a: [1] }, { b: 1 }, {}, { a: { a: 1 } }];
    expect(new Set(asked.map((one) => createRequestFingerprint(one).toString("hex"))).size).toBe(
      asked.length,
    );
  });
});
