/**
 * Reads request bodies. A JSON body must be UTF-8 and valid by RFC 8259, at most 16 levels deep, with at most
 * 1 000 members in an object; no object may have two members with the same name, or a name that would reach
 * the object's prototype. A form (application/x-www-form-urlencoded) is accepted only from a page of this
 * service.
 */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createFailure, type Failure, createFailureWithDetail } from "#foundation/failure.ts";
import { describeJsonSyntaxFault, findDuplicateJsonMemberPath } from "./json-position.ts";

const depthMax = 16;
/** The maximum number of members of one JSON object. Inputs of the API have fewer than a tenth of this number. */
const membersMax = 1_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw createFailure("missing_body");
  const members = bytes.length > quickBodyBytesMax ? countMembers(bytes) : undefined;
  const text = decodeUtf8(bytes);
  const value = parseJsonText(text);
  // If an object has several members with the same name, JSON.parse uses the last one. Other programs, for
  // example a proxy that checks requests, may use the first one.
  const distinctMembers = requireSafeJson(value, "", 1);
  if ((members ?? countMembersIfAbove(distinctMembers, bytes)) > distinctMembers)
    throw duplicateMemberFailure(text);
  return value;
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalidJson("The body has bytes that are not UTF-8.");
  }
}

function parseJsonText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // The error answer does not contain the message of the JSON parser, because that message quotes the body.
    const place = describeJsonSyntaxFault(text, depthMax);
    throw place === undefined
      ? createFailure("invalid_json")
      : invalidJson(`The body is not valid JSON. ${place}`);
  }
}

const invalidJson = (message: string): Failure =>
  createFailureWithDetail("invalid_json", { in: "body", field: "", code: "invalid_json", message });

/**
 * Maximum size in bytes of a body whose members are not counted before parsing. Parsing such a small body is
 * quick even if one of its objects has very many members.
 */
const quickBodyBytesMax = 16 * 1024;
const [quote, backslash, colon] = [0x22, 0x5c, 0x3a];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Returns the number of members that all objects of a JSON text have together; two members with the same name
 * count as two. Throws if an object has too many members. Large bodies are checked before they are parsed:
 * parsing an object with very many members takes ten times as long as parsing other JSON of the same size.
 */
function countMembers(bytes: Uint8Array): number {
  let total = 0;
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
      total += 1;
    }
  }
  return total;
}

/**
 * Returns the position of the quotation mark that closes a JSON string; the end of the body if the string is
 * not closed.
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
  createFailure("invalid_json", { message: `The body is nested deeper than ${depthMax} levels.` });
const memberCountFailure = (): Error =>
  createFailure("invalid_json", { message: `An object of the body has more than ${membersMax} members.` });

/**
 * Counts the members of a valid JSON body. Every member has a colon, and counting colons is faster. So if the
 * body has at most `least` colons, returns `least` without counting the members.
 */
function countMembersIfAbove(least: number, bytes: Uint8Array): number {
  let colons = 0;
  for (let position = 0; position < bytes.length; position += 1)
    if (bytes[position] === colon) {
      colons += 1;
      if (colons > least) return countMembers(bytes);
    }
  return least;
}

/** Returns the failure of a valid JSON body in which an object has two members with one name. */
function duplicateMemberFailure(text: string): Error {
  const path = findDuplicateJsonMemberPath(text);
  if (path === undefined) return createFailure("invalid_json");
  const name = JSON.stringify(String(path.at(-1)).slice(0, memberNameLengthMax));
  return createFailureWithDetail("invalid_json", {
    in: "body",
    field: path.map((step) => `/${toPointerStep(String(step))}`).join(""),
    code: "duplicate",
    message: `An object of the body has more than one member ${name}.`,
  });
}

/** The maximum length of a member's name in the pointer and the message of a fault; a longer name is cut off. */
const memberNameLengthMax = 100;

const toPointerStep = (name: string): string =>
  name.slice(0, memberNameLengthMax).replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * Returns the number of members of all objects of a parsed body. Throws if the body is nested too deeply, has
 * too many members, or has a key that reaches a prototype.
 */
function requireSafeJson(value: unknown, path: string, depth: number): number {
  if (typeof value !== "object" || value === null) return 0;
  if (depth > depthMax) throw nestingFailure();
  // Only list items that are objects or lists are checked. Texts and numbers are always safe, and building a
  // JSON Pointer for each of thousands of them would be slow.
  if (Array.isArray(value)) {
    let count = 0;
    for (let index = 0; index < value.length; index += 1)
      if (isContainer(value[index])) count += requireSafeJson(value[index], `${path}/${index}`, depth + 1);
    return count;
  }
  const keys = Object.keys(value);
  if (keys.length > membersMax) throw memberCountFailure();
  let count = keys.length;
  for (const key of keys) count += requireSafeMember(value as Members, { key, path, depth });
  return count;
}

type Members = Readonly<Record<string, unknown>>;

const isContainer = (value: unknown): boolean => typeof value === "object" && value !== null;

/**
 * Throws if the name or the value of one object member is not allowed. Returns the number of members inside
 * the value.
 */
function requireSafeMember(
  value: Members,
  { key, path, depth }: { readonly key: string; readonly path: string; readonly depth: number },
): number {
  const isSafeKey = key !== "__proto__" && key !== "constructor";
  if (isSafeKey && !isContainer(value[key])) return 0;
  const field = `${path}/${toPointerStep(key)}`;
  if (!isSafeKey)
    throw createFailureWithDetail("unknown_field", {
      in: "body",
      field,
      code: "unknown",
      message: `${field} is unknown.`,
    });
  return requireSafeJson(value[key], field, depth + 1);
}

const formBytesMax = 16 * 1024;

/**
 * Makes all routes of a server, usually of one Fastify plugin, accept only bodies that are HTML forms.
 * `request.body` is then a URLSearchParams.
 */
export function acceptOnlyFormBodies(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    "application/x-www-form-urlencoded",
    { parseAs: "string", bodyLimit: formBytesMax },
    (_request, body, parsed) => parsed(null, new URLSearchParams(body.toString())),
  );
}

/** Returns the submitted HTML form of a request; an empty form if the request has no body. */
export const getSubmittedForm = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();

/**
 * Checks the browser's headers `Sec-Fetch-Site` and `Origin`. Returns true if each of them is absent or names
 * the given origin. This check protects against cross-site request forgery in addition to SameSite cookies.
 */
export function isSameOriginRequest({ headers }: FastifyRequest, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  return (
    (site === undefined || site === "same-origin") &&
    (headers.origin === undefined || headers.origin === origin)
  );
}
