/**
 * Reads request bodies. JSON: UTF-8, RFC 8259, at most 16 levels deep, at most 1 000 members in an object,
 * without keys that would reach an object's prototype. Forms of pages: application/x-www-form-urlencoded,
 * only from pages of this service.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { fail, failAt } from "#foundation/failure.ts";

const depthMax = 16;
/** The API's inputs have less than a tenth of it. Validation looks at each member again. */
const membersMax = 1_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw fail("missing_body");
  if (bytes.length > unlookedBytesMax) refuseWide(bytes);
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch {
    // The parser's message quotes the body, so the answer does not contain it.
    throw fail("invalid_json");
  }
  requireTame(value, "", 1);
  return value;
}

/** Bodies up to this size are parsed quickly, whatever they contain. */
const unlookedBytesMax = 16 * 1024;
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Finds an object with too many members before parsing, because such an object takes ten times as long to
 * parse as other JSON.
 */
function refuseWide(bytes: Uint8Array): void {
  // The number of members so far, for each open object or list.
  const members = new Int32Array(depthMax + 1);
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfString(bytes, at);
    else if (byte === openBrace || byte === openBracket) {
      if (depth === depthMax) throw tooDeep();
      depth += 1;
      members[depth] = 0;
    } else if (byte === closeBrace || byte === closeBracket) depth = Math.max(0, depth - 1);
    else if (byte === colon) {
      const count = (members[depth] ?? 0) + 1;
      if (count > membersMax) throw tooWide();
      members[depth] = count;
    }
  }
}

/** The position of the closing quotation mark, or the end of the body if there is none. */
function endOfString(bytes: Uint8Array, start: number): number {
  for (let end = bytes.indexOf(quote, start + 1); end !== -1; end = bytes.indexOf(quote, end + 1)) {
    let escapes = 0;
    while (bytes[end - 1 - escapes] === backslash) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return bytes.length;
}

const tooDeep = (): Error =>
  fail("invalid_json", { message: `The body is nested deeper than ${depthMax} levels.` });
const tooWide = (): Error =>
  fail("invalid_json", { message: `An object of the body has more than ${membersMax} members.` });

function requireTame(value: unknown, path: string, depth: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depth > depthMax) throw tooDeep();
  // Paths are built only for objects and lists, not for each plain item of a long list.
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1)
      if (isHolder(value[index])) requireTame(value[index], `${path}/${index}`, depth + 1);
    return;
  }
  const keys = Object.keys(value);
  if (keys.length > membersMax) throw tooWide();
  for (const key of keys) requireTameMember(value as Members, { key, path, depth });
}

type Members = Readonly<Record<string, unknown>>;

const isHolder = (value: unknown): boolean => typeof value === "object" && value !== null;

function requireTameMember(
  value: Members,
  { key, path, depth }: { readonly key: string; readonly path: string; readonly depth: number },
): void {
  const isTame = key !== "__proto__" && key !== "constructor";
  if (isTame && !isHolder(value[key])) return;
  const field = `${path}/${key.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
  if (!isTame)
    throw failAt("unknown_field", {
      in: "body",
      field,
      code: "unknown",
      message: `${field} is not known here.`,
    });
  requireTame(value[key], field, depth + 1);
}

const formBytesMax = 16 * 1024;

/**
 * Lets the routes of this encapsulated server take forms and nothing else; `request.body` is a
 * URLSearchParams.
 */
export function takeForms(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: formBytesMax },
    (_request, body, parsed) => parsed(null, new URLSearchParams(body.toString())),
  );
}

export const formOf = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();

/**
 * Checks the browser's headers on where a form came from. It is the second protection, after SameSite
 * cookies.
 */
export function isFromHere({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (
    (site === undefined || site === "same-origin") &&
    (headers.origin === undefined || headers.origin === origin)
  );
}
