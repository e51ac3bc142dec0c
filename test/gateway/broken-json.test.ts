/** Bodies that are not JSON: the answer names the place and what is expected there, and quotes nothing. */
import { describe, expect, it } from "vitest";
import { parseJsonBody } from "#http/body.ts";

function messageOf(body: string | Uint8Array): string {
  try {
    parseJsonBody(typeof body === "string" ? new TextEncoder().encode(body) : body);
  } catch (error) {
    expect(error).toMatchObject({ code: "invalid_json", status: 400 });
    return (error as Error).message;
  }
  return expect.unreachable();
}

describe("the answer to broken JSON", () => {
  it.each([
    ["a comma before the end", '{"secret": "A1",}', 1, 17, "without a comma before a closing brace"],
    ["single quotation marks", "{'secret': 'A1'}", 1, 2, "double quotation marks"],
    ["a name without quotation marks", '{\n  secret: "A1"\n}', 2, 3, "double quotation marks"],
    ["a missing comma", '{\n  "a": 1\n  "b": 2\n}', 3, 3, "a comma or the closing bracket"],
    ["a missing colon", '{"a" 1}', 1, 6, "a colon"],
    ["a missing value", '{"a": }', 1, 7, "a value is expected"],
    ["a missing brace", '{"a": 1', 1, 8, "cut off"],
    ["a missing bracket", "[1", 1, 3, "cut off"],
    ["a text that does not end", '{"a": "secret', 1, 7, "must end with a double quotation mark"],
    ["a line break in a text", '{"a": "sec\nret"}', 1, 7, "write a line break as \\n"],
    ["a wrong escape", '{"a": "\\secret"}', 1, 7, "has \\ before"],
    ["a comment", '{ // secret\n"a": 1}', 1, 3, "JSON has no comments"],
    ["a form", "secret=A1&b=2", 1, 1, "double quotation marks"],
    ["text after the end", '{"a": 1} secret', 1, 10, "the end of the body"],
    ["NaN", '{"a": NaN}', 1, 7, "other values are numbers"],
    ["a number with a plus", '{"a": +1}', 1, 7, "other values are numbers"],
  ])("with %s", (_name, body, line, column, expected) => {
    const message = messageOf(body);
    expect(message).toContain(`Line ${line}, column ${column}: `);
    expect(message).toContain(expected);
    expect(message).not.toMatch(/secret|A1/);
  });

  it("that is not UTF-8", () => {
    expect(messageOf(new Uint8Array([0x22, 0xff, 0x22]))).toBe("The body has bytes that are not UTF-8.");
  });

  it("that is nested deeper than the limit has no place", () => {
    expect(messageOf("[".repeat(10_000))).toBe("The body is not valid JSON in UTF-8.");
  });
});
