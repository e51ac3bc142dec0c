/** The Authorization header: one header line, a known scheme in any case, one token. */
import { describe, expect, it } from "vitest";
import { parseAuthorizationHeader } from "#http/caller.ts";

describe("the Authorization header", () => {
  it("contains no credential if it is missing", () => {
    expect(parseAuthorizationHeader([])).toBeUndefined();
  });

  it.each([
    ["Bearer abc", "bearer", "abc"],
    ["bearer abc", "bearer", "abc"],
    ["BEARER   abc", "bearer", "abc"],
    ["DPoP a.b-c_d.e~f+g/h==", "dpop", "a.b-c_d.e~f+g/h=="],
    ["dpop abc", "dpop", "abc"],
    ["DPOP abc", "dpop", "abc"],
    ["  DPoP abc ", "dpop", "abc"],
  ])("%j has the scheme %s", (value, scheme, token) => {
    expect(parseAuthorizationHeader([value])).toEqual({ scheme, token });
  });

  it.each([
    "",
    "Bearer",
    "DPoP ",
    "abc",
    "Basic abc",
    "DPoPP abc",
    "DPoP\tabc",
    "DPoP abc def",
    "DPoP abc, DPoP def",
    "DPoP abc,",
    "DPoP =abc",
    "DPoP a=b",
    "DPoP äbc",
    'DPoP token="abc"',
  ])("%j is malformed", (value) => {
    const message = expect.stringMatching(/^The Authorization header (?:must|has) /) as string;
    expect(() => parseAuthorizationHeader([value])).toThrow(
      expect.objectContaining({ code: "credentials_malformed", status: 401, message }),
    );
  });

  it("may occur once", () => {
    const message = "There is more than one Authorization header.";
    for (const second of ["Bearer abc", "DPoP abc", ""])
      expect(() => parseAuthorizationHeader(["Bearer abc", second])).toThrow(
        expect.objectContaining({ code: "credentials_malformed", message }),
      );
  });
});
