/**
 * Reads request bodies. JSON: UTF-8, RFC 8259, at most 16 levels deep, at most 1 000 members in an object,
 * without keys that would reach an object's prototype. Forms of pages: application/x-www-form-urlencoded,
 * only from pages of this service.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fail, failWithDetail } from "#foundation/failure.ts";

const depthMax = 16;
/** The maximum number of members of one JSON object. Inputs of the API have fewer than a tenth of this number. */
const membersMax = 1_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw fail("missing_body");
  if (bytes.length > quickBodyBytesMax) refuseWideObjects(bytes);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    // The answer does not contain the message of the JSON parser, because that message quotes the body.
    throw fail("invalid_json");
  }
  requireSafeJson(value, "", 1);
  return value;
}

/**
 * Maximum size in bytes of bodies whose members are not counted before parsing. A body up to this size is
 * parsed quickly even if one of its objects has very many members.
 */
const quickBodyBytesMax = 16 * 1024;
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Throws if an object has too many members. This check runs before parsing, because parsing an object with
 * very many members takes ten times as long as parsing other JSON of the same size.
 */
function refuseWideObjects(bytes: Uint8Array): void {
  // The number of members counted so far in the object or list that is open at each nesting depth.
  const members = new Int32Array(depthMax + 1);
  let depth = 0;
  for (let position = 0; position < bytes.length; position += 1) {
    const byte = bytes[position];
    if (byte === quote) position = endOfString(bytes, position);
    else if (byte === openBrace || byte === openBracket) {
      if (depth === depthMax) throw nestingFailure();
      depth += 1;
      members[depth] = 0;
    } else if (byte === closeBrace || byte === closeBracket) depth = Math.max(0, depth - 1);
    else if (byte === colon) {
      const count = (members[depth] ?? 0) + 1;
      if (count > membersMax) throw memberCountFailure();
      members[depth] = count;
    }
  }
}

/**
 * Returns the position of the quotation mark that closes a JSON string, or the end of the body if the string
 * is not closed.
 */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

const nestingFailure = (): Error =>
  fail("invalid_json", { message: `The body is nested deeper than ${depthMax} levels.` });
const memberCountFailure = (): Error =>
  fail("invalid_json", { message: `An object of the body has more than ${membersMax} members.` });

/** Throws if a parsed body is nested too deeply, has too many members, or has a key that reaches a prototype. */
function requireSafeJson(value: unknown, path: string, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > depthMax) throw nestingFailure();
  // Only those items of a list are checked that are objects or lists. Texts and numbers are always safe, and
  // building a JSON Pointer for each of thousands of them would be slow.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      if (isContainer(value[index])) requireSafeJson(value[index], `${path}/${index}`, depth + 1);
    return;
  }
  const keys = Object.keys(value);
  if (keys.length > membersMax) throw memberCountFailure();
  for (const key of keys) requireSafeMember(value as Members, { key, path, depth });
}

type Members = Readonly<Record<string, unknown>>;

const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;

function requireSafeMember(
  value: Members,
  { key, path, depth }: { readonly key: string; readonly path: string; readonly depth: number },
): void {
  const isSafeKey = key !== "__proto__" && key !== "constructor";
  if (isSafeKey && !isContainer(value[key])) return;
  const field = `${path}/${key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (!isSafeKey)
    throw failWithDetail("unknown_field", {
      in: "body",
      field,
      code: "unknown",
      message: `${field} is unknown.`,
    });
  requireSafeJson(value[key], field, depth + 1);
}

const formBytesMax = 16 * 1024;

/**
 * Makes the routes of a server, usually of one Fastify plugin, accept only bodies that are forms.
 * `request.body` is then a URLSearchParams.
 */
export function acceptOnlyForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: formBytesMax },
    (_request, body, parsed) => parsed(null, new URLSearchParams(body.toString())),
  );
}

/** Returns the form of a request; an empty form if the request has no body. */
export const readForm = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();

/**
 * Checks the browser's headers `Sec-Fetch-Site` and `Origin`. Returns true if each of them is absent or names
 * the given origin. This check protects against cross-site request forgery in addition to SameSite cookies.
 */
export function isSameOrigin({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (
    (site === undefined || site === "same-origin") &&
    (headers.origin === undefined || headers.origin === origin)
  );
}
