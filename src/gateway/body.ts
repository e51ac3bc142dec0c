/** Reads a JSON body: UTF-8, RFC 8259, at most 16 levels deep, without the keys that would reach an object's prototype. */
import { fail, failAt } from "#foundation/failure.ts";

const depthMax = 16;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw fail("missing_body");
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    // What the parser says quotes the body; it stays here.
    throw fail("invalid_json");
  }
  requireTame(value, "", 1);
  return value;
}

function requireTame(value: unknown, path: string, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > depthMax) throw fail("invalid_json", { message: `The body is nested deeper than ${depthMax} levels.` });
  for (const [key, item] of Object.entries(value)) {
    const field = `${path}/${key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
    if (key === "__proto__" || key === "constructor")
      throw failAt("unknown_field", { in: "body", field, code: "unknown", message: `${field} is not known here.` });
    requireTame(item, field, depth + 1);
  }
}
