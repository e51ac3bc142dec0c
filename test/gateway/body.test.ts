/** JSON bodies: depth, size and names of members are checked, and valid bodies are accepted. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseJsonBody } from "#http/body.ts";

const parse = (text: string): unknown => parseJsonBody(Buffer.from(text));
const refusal = (text: string): unknown => {
  try {
    return parse(text);
  } catch (error) {
    return (error as Error).message;
  }
};
const objectOf = (members: number): string =>
  `{${Array.from({ length: members }, (_, index) => `"v${index}":"${"x".repeat(20)}"`).join(",")}}`;
const padding = JSON.stringify("y".repeat(20_000));
const tooWide = "An object of the body has more than 1000 members.";
const tooDeep = "The body is nested deeper than 16 levels.";

describe("a body", () => {
  it("may have a thousand members per object, and not one more in any", () => {
    expect(parse(`[${objectOf(1_000)},${objectOf(1_000)},${padding}]`)).toHaveLength(3);
    expect(refusal(objectOf(1_001))).toBe(tooWide);
    expect(refusal(`{"a":[${padding},{"b":${objectOf(1_001)}}]}`)).toBe(tooWide);
    // The body is refused at the excess member, before the invalid rest is read.
    expect(refusal(`{"a":${objectOf(1_001)}, and no JSON`)).toBe(tooWide);
  });

  it("may have sixteen levels", () => {
    const nested = (levels: number): string =>
      `${"[".repeat(levels - 1)}[${padding}]${"]".repeat(levels - 1)}`;
    expect(parse(nested(16))).toHaveLength(1);
    expect(refusal(nested(17))).toBe(tooDeep);
  });

  it("may contain any characters in texts", () => {
    const texts = [
      '":'.repeat(5_000),
      "\\".repeat(5_001),
      `${"{[".repeat(3_000)}"`,
      '\\":'.repeat(5_000),
      padding,
    ];
    expect(parse(JSON.stringify(texts))).toEqual(texts);
    expect(parse(JSON.stringify({ [texts[0] ?? ""]: texts }))).toEqual({ [texts[0] ?? ""]: texts });
  });

  it("is parsed to the same value as by JSON.parse", () => {
    const json = fc
      .jsonValue({ maxDepth: 8 })
      .filter((value) => !/__proto__|constructor/.test(JSON.stringify(value)));
    fc.assert(
      fc.property(json, (value) => {
        for (const text of [`[${padding},${JSON.stringify(value)}]`, JSON.stringify(value)])
          expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it("is refused if an object has two members with one name, whatever their values and spelling", () => {
    for (const [text, name, path] of [
      ['{"a":1,"a":1}', "a", "/a"],
      ['{"x":{"a":{"b":":"},"city":1,"\\u0063ity":2}}', "city", "/x/city"],
      ['[{"a":1},{"a":1,"b":{"a":2},"b":{}}]', "b", "/1/b"],
      ['{"":"\\"","":0}', "", "/"],
      ['{"a/b~":{"c":[0,{"d":1,"d":2}]},"a/b~":1}', "d", "/a~1b~0/c/1/d"],
    ] as const) {
      const message = `An object of the body has more than one member "${name}".`;
      expect(refusal(text)).toBe(message);
      for (const [body, field] of [
        [text, path],
        [`[${padding},${text}]`, `/1${path}`],
      ] as const)
        expect(() => parse(body)).toThrow(
          expect.objectContaining({
            parts: expect.objectContaining({ details: [{ in: "body", field, code: "duplicate", message }] }),
          }),
        );
    }
    const same = '[{"a":{"a":[{"a":1},{"a":1}]}},{"a":"{\\"a\\":1,\\"a\\":1}"}]';
    expect(parse(same)).toEqual(JSON.parse(same));
  });

  it("is refused with the place of the fault if it is not JSON", () => {
    for (const text of [`"${padding}`, `${padding}}}]]`, `{"a":${padding}`, `\\${padding}`])
      expect(refusal(text)).toMatch(/^The body is not valid JSON\. Line 1, column \d+: /);
  });
});
