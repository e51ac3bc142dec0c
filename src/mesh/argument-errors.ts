/**
 * Names the argument that an error of graphql-js is about, with the values that it allows. graphql-js reports
 * an invalid value in a document without the name of its argument, so the name is read from the tokens before
 * the value.
 */
import { type GraphQLError, type GraphQLSchema, isEnumType, Kind, type Token, TokenKind } from "graphql";
import { fail, type Failure, failWithDetail } from "#foundation/failure.ts";

const valueKinds: ReadonlySet<string> = new Set([
  Kind.INT,
  Kind.FLOAT,
  Kind.STRING,
  Kind.BOOLEAN,
  Kind.NULL,
  Kind.ENUM,
  Kind.LIST,
  Kind.OBJECT,
]);

/**
 * Returns the path of the argument with the value that an error is about, such as `["input", "lines"]`;
 * undefined if the error is not about a value of an argument in the document.
 */
export function findArgumentPath({ nodes }: Pick<GraphQLError, "nodes">): readonly string[] | undefined {
  const node = nodes?.[0];
  if (node === undefined || !valueKinds.has(node.kind)) return undefined;
  return node.loc === undefined ? undefined : findPathBefore(node.loc.startToken);
}

/** Returns the names of the argument and the input fields that contain a token of a value. */
function findPathBefore(start: Token): readonly string[] | undefined {
  const path: string[] = [];
  let token: Token | undefined = start;
  while (token !== undefined && token.kind !== TokenKind.PAREN_L) {
    const before = previousOf(token);
    // The value is the default of a variable, which has no argument.
    if (before?.kind === TokenKind.EQUALS) return undefined;
    const isNamed: boolean = before?.kind === TokenKind.COLON;
    if (before !== undefined && isNamed) path.unshift(previousOf(before)?.value ?? "");
    token = findOpener(isNamed ? before : token);
  }
  return token === undefined ? undefined : path;
}

function previousOf(token: Token): Token | undefined {
  let before = token.prev;
  while (before?.kind === TokenKind.COMMENT) before = before.prev;
  return before ?? undefined;
}

const openers: ReadonlySet<string> = new Set([TokenKind.PAREN_L, TokenKind.BRACKET_L, TokenKind.BRACE_L]);
const closers: ReadonlySet<string> = new Set([TokenKind.PAREN_R, TokenKind.BRACKET_R, TokenKind.BRACE_R]);

/** Returns the opening bracket of the list, object or argument list that contains a token. */
function findOpener(inside: Token | undefined): Token | undefined {
  let depth = 0;
  for (
    let token = inside === undefined ? undefined : previousOf(inside);
    token !== undefined;
    token = previousOf(token)
  ) {
    if (closers.has(token.kind)) depth += 1;
    else if (openers.has(token.kind) && depth-- === 0) return token;
  }
  return undefined;
}

/** Writes the path of an argument as the details of failures name it: without the argument `input`. */
const withoutInput = (path: readonly string[]): readonly string[] =>
  path.length > 1 && path[0] === "input" ? path.slice(1) : path;

/** Returns the failure of a custom scalar (`graph/scalars.ts`) with the name of the argument. */
export function nameArgument(failure: Failure, path: readonly string[]): Failure {
  const [detail] = failure.parts.details ?? [];
  if (detail === undefined || detail.field !== "") return failure;
  const named = withoutInput(path);
  const message = `"${named.join(".")}" ${detail.message.replace(/^\w+: /, "")}`;
  // The scalar of countries has the code of the parameter `market` of the REST API.
  const isOtherCountry = failure.code === "unknown_market" && named.at(-1) !== "market";
  return fail(isOtherCountry ? "invalid_field" : failure.code, {
    message,
    details: [{ ...detail, field: `/${named.join("/")}`, message }],
  });
}

/** Enums with more values are listed only in the details of the failure. */
const listedValuesMax = 20;

const enumPattern = /(?:^|; )Enum "(?<name>\w+)" cannot represent |does not exist in "(?<other>\w+)" enum\./;

/** The argument or the variable with an invalid value: as text, and as a JSON Pointer into the request. */
export interface InvalidSubject {
  readonly text: string;
  readonly pointer: string;
}

export const toArgumentSubject = (path: readonly string[]): InvalidSubject => {
  const named = withoutInput(path);
  return { text: `"${named.join(".")}"`, pointer: `/${named.join("/")}` };
};

/**
 * Returns the failure for a value that an enum does not have, with the allowed values; undefined if the
 * message of graphql-js is not about an enum of the schema.
 */
export function createEnumFailure(
  message: string,
  schema: GraphQLSchema,
  { text, pointer }: InvalidSubject,
): Failure | undefined {
  const groups = enumPattern.exec(message)?.groups;
  const type = schema.getType(groups?.["name"] ?? groups?.["other"] ?? "");
  if (!isEnumType(type)) return undefined;
  const allowed = type.getValues().map(({ name }) => name);
  const rule =
    allowed.length > listedValuesMax
      ? `must be a value of the enum ${type.name}`
      : `must be one of ${allowed.join(", ")}`;
  return failWithDetail("malformed_request", {
    in: "body",
    field: pointer,
    code: "not_allowed",
    message: `${text} ${rule}.`,
    allowed,
  });
}
