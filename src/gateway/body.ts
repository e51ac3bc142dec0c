/**
 * Reads a JSON body: UTF-8, RFC 8259, at most 16 levels deep and 1 000 members of one object wide, without the keys that would reach an object's
 * prototype.
 */
import { fail, failAt } from "#foundation/failure.ts";

const depthMax = 16;
/** No input of ours has a tenth of it. Each member is looked at again by whoever reads the body. */
const membersMax = 1_000;
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
  // Where each item of a long list stands is nobody's question: a path is made for what holds others.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) if (isHolder(value[index])) requireTame(value[index], `${path}/${index}`, depth + 1);
    return;
  }
  const keys = Object.keys(value);
  if (keys.length > membersMax) throw fail("invalid_json", { message: `An object of the body has more than ${membersMax} members.` });
  for (const key of keys) requireTameMember(value as Members, { key, path, depth });
}

type Members = Readonly<Record<string, unknown>>;

const isHolder = (value: unknown): boolean => typeof value === "object" && value !== null;

function requireTameMember(value: Members, { key, path, depth }: { readonly key: string; readonly path: string; readonly depth: number }): void {
  const isTame = key !== "__proto__" && key !== "constructor";
  if (isTame && !isHolder(value[key])) return;
  const field = `${path}/${key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (!isTame) throw failAt("unknown_field", { in: "body", field, code: "unknown", message: `${field} is not known here.` });
  requireTame(value[key], field, depth + 1);
}
