/**
 * Finds the argument to which an error of graphql-js refers, and the values that the argument allows. For an
 * invalid value in a document, graphql-js does not report the name of the argument. This file therefore reads
 * the name from the tokens of the document before the value.
 */
import { type GraphQLError, type GraphQLSchema, isEnumType, Kind, type Token, TokenKind } from "graphql";
import { createFailure, type Failure, createFailureWithDetail } from "#foundation/failure.ts";

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
 * Returns the path of the argument or input field that has the invalid value of a graphql-js error, for
 * example `["input", "lines"]`. Returns undefined if the error is not about the value of an argument in the
 * document.
 */
export function findPathOfInvalidArgument({
  nodes,
}: Pick<GraphQLError, "nodes">): readonly string[] | undefined {
  const node = nodes?.[0];
  if (node === undefined || !valueKinds.has(node.kind)) return undefined;
  return node.loc === undefined ? undefined : findPathBefore(node.loc.startToken);
}

/**
 * Returns the names of the argument and of the input fields around a value, given the first token of the
 * value.
 */
function findPathBefore(start: Token): readonly string[] | undefined {
  const path: string[] = [];
  let token: Token | undefined = start;
  while (token !== undefined && token.kind !== TokenKind.PAREN_L) {
    const before = previousOf(token);
    // In a GraphQL document, a value after an equals sign is the default value of a variable and not the
    // value of an argument.
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

/** Returns the opening bracket of the innermost list, object or argument list that contains a token. */
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

/**
 * Removes a leading `input` from the path of an argument, because the details of failures name the fields of
 * the input without it.
 */
const withoutInput = (path: readonly string[]): readonly string[] =>
  path.length > 1 && path[0] === "input" ? path.slice(1) : path;

/** Adds the name of the argument to the failure that a custom scalar (`graph/scalars.ts`) has thrown. */
export function addArgumentNameToFailure(failure: Failure, path: readonly string[]): Failure {
  const [detail] = failure.parts.details ?? [];
  if (detail === undefined || detail.field !== "") return failure;
  const named = withoutInput(path);
  const message = `"${named.join(".")}" ${detail.message.replace(/^\w+: /, "")}`;
  // The scalar type throws `unknown_market` for every invalid country. This failure code is right only for an
  // argument with the name `market`. For other arguments, it becomes `invalid_field`.
  const isOtherCountry = failure.code === "unknown_market" && named.at(-1) !== "market";
  return createFailure(isOtherCountry ? "invalid_field" : failure.code, {
    message,
    details: [{ ...detail, field: `/${named.join("/")}`, message }],
  });
}

/**
 * Maximum number of allowed values that an error message lists. The values of a larger enum are listed only
 * in the details of the failure.
 */
const listedValuesMax = 20;

const enumPattern = /(?:^|; )Enum "(?<name>\w+)" cannot represent |does not exist in "(?<other>\w+)" enum\./;

/**
 * The argument or the variable that has an invalid value. `text` is its name for messages, and `pointer` is
 * its JSON Pointer into the request.
 */
export interface InvalidArgumentOrVariable {
  readonly text: string;
  readonly pointer: string;
}

export const getArgumentNameAndJsonPointer = (path: readonly string[]): InvalidArgumentOrVariable => {
  const named = withoutInput(path);
  return { text: `"${named.join(".")}"`, pointer: `/${named.join("/")}` };
};

/**
 * Creates the failure for a value that is not a value of the expected enum; the failure lists the allowed
 * values. Returns undefined if the message of graphql-js is not about an enum of the schema.
 */
export function createUnknownEnumValueFailure(
  message: string,
  schema: GraphQLSchema,
  { text, pointer }: InvalidArgumentOrVariable,
): Failure | undefined {
  const groups = enumPattern.exec(message)?.groups;
  const type = schema.getType(groups?.["name"] ?? groups?.["other"] ?? "");
  if (!isEnumType(type)) return undefined;
  const allowed = type.getValues().map(({ name }) => name);
  const rule =
    allowed.length > listedValuesMax
      ? `must be a value of the enum ${type.name}`
      : `must be one of ${allowed.join(", ")}`;
  return createFailureWithDetail("malformed_request", {
    in: "body",
    field: pointer,
    code: "not_allowed",
    message: `${text} ${rule}.`,
    allowed,
  });
}
