/**
 * Converts every error of a GraphQL execution to a failure of the list in `foundation/failure.ts`, and
 * failures to GraphQL errors. Validation errors of graphql-js become failures that name the field and the
 * broken rule. Unknown errors become `internal_error`.
 */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError, type GraphQLSchema } from "graphql";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { createFailure, Failure, toErrorResponseBody, toFailure } from "#foundation/failure.ts";
import {
  createUnknownEnumValueFailure,
  findPathOfInvalidArgument,
  type InvalidArgumentOrVariable,
  addArgumentNameToFailure,
  getArgumentNameAndJsonPointer,
} from "./argument-errors.ts";

/**
 * The values that an error body needs from the request: the id of the request, and the base URL of links to
 * the error documentation.
 */
export interface RequestIdAndPublicUrl {
  readonly requestId: string;
  readonly publicUrl: string;
}

/**
 * A GraphQL error that contains a `Failure` and the error body that is sent for it. It has no
 * `originalError`, because Mesh copies the stack of an original error into answers in development and logs it
 * in production. The original error is in `cause`, which is never sent.
 */
export class PublicGraphqlError extends GraphQLError {
  readonly failure: Failure;

  constructor(failure: Failure, { requestId, publicUrl }: RequestIdAndPublicUrl, raised?: unknown) {
    const { nodes, source, positions, path } = raised instanceof GraphQLError ? raised : {};
    super(failure.message, {
      nodes: nodes ?? null,
      source: source ?? null,
      positions: positions ?? null,
      path: path ?? null,
      extensions: { ...toErrorResponseBody(failure, requestId, publicUrl) },
    });
    this.failure = failure;
    Object.defineProperty(this, "cause", { value: raised, enumerable: false });
  }
}

/**
 * Returns the failure (of the list in `foundation/failure.ts`) to which an error of a GraphQL result is
 * converted.
 */
export const getFailureOfGraphqlError = (error: GraphQLError | GraphQLFormattedError): Failure =>
  error instanceof PublicGraphqlError ? error.failure : toFailure(error);

/**
 * Wraps a thrown value in a GraphQL error, which `getFailuresOfGraphqlResult` later converts to a failure. A
 * thrown value is never the client's fault: faults in the client's document are returned as errors of a
 * result, not thrown.
 */
export function toGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError && thrown.originalError !== undefined) return thrown;
  const isPlain = thrown instanceof Error && !(thrown instanceof GraphQLError);
  return new GraphQLError("", {
    originalError: isPlain
      ? thrown
      : new Error("The execution threw a value that is not a plain error.", { cause: thrown }),
  });
}

export interface SchemaSuggestionOptions {
  /**
   * True if messages may name similar fields for an unknown field, and the allowed values for an invalid enum
   * value. False for storefronts and for callers without an internal token, so that they do not learn names
   * that only other roles may read.
   */
  readonly suggests: boolean;
  readonly schema: GraphQLSchema;
}

/** Returns the failures for all errors of a GraphQL result. */
export function getFailuresOfGraphqlResult(
  result: ExecutionResult,
  suggestions: SchemaSuggestionOptions,
): readonly Failure[] {
  return (result.errors ?? []).map((error) =>
    toResultFailure(error, { isExecuted: "data" in result, ...suggestions }),
  );
}

interface ErrorConversionOptions extends SchemaSuggestionOptions {
  /**
   * True if the document was executed; the result then has `data`. False if the document could not be parsed
   * or validated, or if its variables were not valid.
   */
  readonly isExecuted: boolean;
}

function toResultFailure(error: unknown, options: ErrorConversionOptions): Failure {
  if (error instanceof PublicGraphqlError) return error.failure;
  const original = error instanceof GraphQLError ? error.originalError : error;
  if (original instanceof Failure) return withArgumentName(original, error);
  const isRaisedByGraphql =
    error instanceof GraphQLError &&
    (original === undefined || original === null || original instanceof GraphQLError);
  if (!isRaisedByGraphql) return toServiceUnavailableIfTemporary(toFailure(original));
  // For an error in the client's document, the failure has the message of graphql-js, which helps the client
  // to correct the document. The quoted values are removed from the message.
  const isAboutVariable = error.path === undefined && error.message.startsWith("Variable ");
  if (options.isExecuted && !isAboutVariable) return createFailure("internal_error", { cause: error });
  return toDocumentFailure(error, options);
}

/** Adds the name of the argument to the failure that a custom scalar type threw for the argument's value. */
function withArgumentName(failure: Failure, error: unknown): Failure {
  const path = error instanceof GraphQLError ? findPathOfInvalidArgument(error) : undefined;
  return path === undefined ? failure : addArgumentNameToFailure(failure, path);
}

/** Converts an error that graphql-js has found in the client's document or variables to a failure. */
function toDocumentFailure(error: GraphQLError, { suggests, schema }: SchemaSuggestionOptions): Failure {
  const subject = findInvalidSubject(error);
  const enumFailure =
    suggests && subject !== undefined
      ? createUnknownEnumValueFailure(error.message, schema, subject)
      : undefined;
  if (enumFailure !== undefined) return enumFailure;
  const removed = removeQuotedValuesFromMessage(error.message);
  const message =
    subject === undefined
      ? removed
      : removed.replace(/^A value is not valid/, `${subject.text} is not valid`);
  return createFailure("malformed_request", {
    message: suggests ? message : message.replace(/ Did you mean .*$/s, ""),
  });
}

/**
 * Returns the argument or the variable to whose value an error refers. Returns undefined for errors that do
 * not refer to such a value.
 */
function findInvalidSubject(error: GraphQLError): InvalidArgumentOrVariable | undefined {
  const variable = findVariableName(error.message);
  if (variable !== undefined) {
    const path = describePath(error.message, variable);
    return { text: `Variable "$${variable}"${path}`, pointer: `/variables/${variable}` };
  }
  const path = isAboutLiteral(error.message) ? findPathOfInvalidArgument(error) : undefined;
  return path === undefined ? undefined : getArgumentNameAndJsonPointer(path);
}

const findVariableName = (message: string): string | undefined =>
  /^Variable "\$(?<name>\w+)" got invalid value /.exec(message)?.groups?.["name"];

/**
 * Removes the quoted values from an error message of graphql-js, because an invalid value may be a buyer's
 * address. The message keeps names of the schema, the path and the expected type.
 */
export function removeQuotedValuesFromMessage(message: string): string {
  return withoutQuotedValues(message.replaceAll(longName, "…"));
}

/**
 * Matches names that are longer than every name of the schema, so that they are shortened in error messages.
 * Only a client can have written such a name, and graphql-js would repeat it twice in each message.
 */
const longName = /\w{201,}/g;

function withoutQuotedValues(message: string): string {
  const variable = findVariableName(message);
  if (variable !== undefined)
    return (
      `Variable "$${variable}"${describePath(message, variable)} is not ` +
      `valid${describeExpectation(message)}`
    );
  if (message.startsWith("Syntax Error: "))
    return withoutForeignQuotes(message.replace(foundToken, "$<kind>"));
  return isAboutLiteral(message)
    ? `A value is not valid${describeExpectation(message)}`
    : withoutForeignQuotes(message);
}

/**
 * Returns the path to the invalid part of a variable's value, taken from the error message of graphql-js. The
 * path consists of field names and list indexes, so it contains no value of the client.
 */
function describePath(message: string, variable: string): string {
  const paths = [...message.matchAll(/ at "(?<path>\w+(?:\.\w+|\[\d+\])*)"; /g)].flatMap(
    ({ groups }) => groups?.["path"] ?? [],
  );
  const path = paths.findLast(
    (found) => found === variable || found.startsWith(`${variable}.`) || found.startsWith(`${variable}[`),
  );
  return path === undefined ? "" : ` at "${path}"`;
}

const typeName = String.raw`"?(?<type>[\w![\]]+)"?`;
const suggestion = String.raw`(?<suggestion> Did you mean [^"]*"\w+"(?:(?:, | or |, or )"\w+")*\?)?`;

/**
 * Patterns that match the end of a graphql-js message about a variable: the reason why its value is invalid.
 * The matched part never contains a value of the client, so it is sent unchanged.
 */
const reasons: readonly RegExp[] = [
  new RegExp(`Field "[\\w.]+" of required type ${typeName} was not provided\\.$`),
  new RegExp(`Field "[A-Za-z_]\\w*" is not defined by type ${typeName}\\.${suggestion}$`),
  new RegExp(`Expected (?:non-nullable )?type ${typeName} (?:not to be null|to be an object)\\.$`),
  new RegExp(`Exactly one key must be specified for OneOf type ${typeName}\\.$`),
  /Field "[\w.]+" must be non-null\.$/,
  // Matches the explanation of a custom scalar (`graph/scalars.ts`) in an error message. The explanation
  // describes the valid values of the scalar and contains no value of the client.
  /Expected type "(?<type>\w+)"\. \k<type>: [^"]*$/,
];

/**
 * Patterns that match the end of a graphql-js message about a variable, for messages that contain a value of
 * the client. Only the group `type` of the pattern, the name of the expected type, is sent.
 */
const types: readonly RegExp[] = [
  /(?:^|; )(?<type>String|Int|Float|Boolean|ID) cannot represent /g,
  new RegExp(`(?:^|; )Enum "(?<type>\\w+)" cannot represent .*?${suggestion}$`, "gs"),
  new RegExp(`does not exist in "(?<type>\\w+)" enum\\.${suggestion}$`, "g"),
  /^Expected value of type "(?<type>[\w![\]]+)", found /g,
  /; Expected type "?(?<type>\w+)"?\./g,
];

/**
 * Returns the end of an error message: a colon and the expected type or rule, as found in the graphql-js
 * message; only a full stop if that message names neither.
 */
function describeExpectation(message: string): string {
  const expectation = findExpectation(message);
  return expectation === undefined ? "." : `: ${expectation}`;
}

function findExpectation(message: string): string | undefined {
  for (const reason of reasons) {
    const found = reason.exec(message);
    if (found !== null) return found[0];
  }
  for (const type of types) {
    const groups = [...message.matchAll(type)].at(-1)?.groups;
    if (groups?.["type"] !== undefined)
      return `expected type ${groups["type"]}.${groups["suggestion"] ?? ""}`;
  }
  const owner = new RegExp(`is not defined by type ${typeName}\\.`).exec(message)?.groups?.["type"];
  return owner === undefined ? undefined : `a field is not defined by type "${owner}".`;
}

const messagesAboutLiterals: readonly RegExp[] = [
  /^(?:\w+|Enum "\w+") cannot represent /,
  /^Value ".*" does not exist in "\w+" enum\./s,
  /^Expected value of type /,
  /^Argument "\w+" has invalid value /,
];

const isAboutLiteral = (message: string): boolean =>
  messagesAboutLiterals.some((pattern) => pattern.test(message));

/**
 * Matches the part of a syntax error's message that names the unexpected token, with the token's kind and
 * text. The text is removed before the message is sent.
 */
const foundToken = /(?<kind>(?:found|Unexpected) (?:Name|Int|Float|String|BlockString|Comment)) ".*"/s;

/**
 * Matches quoted texts of an error message that are never values of a client. These are names, types, schema
 * coordinates, fields whose selection is left out, and punctuation.
 */
const known = /^(?:[$@]?[A-Za-z_]\w*(?:\.\w+)*|[A-Za-z_]\w* \{ \.\.\. \}|[\w![\]]+|[!$&()[\]{|}:=@.…]{1,3})$/;

/**
 * Removes the text from the first quoted value to the last quotation mark of the message, because a value may
 * itself contain quotation marks.
 */
function withoutForeignQuotes(message: string): string {
  if (message.startsWith("Unknown operation named ")) return "Unknown operation.";
  const foreign = [...message.matchAll(/"(?<text>[^"]*)"/g)].find(
    ({ groups }) => !known.test(groups?.["text"] ?? ""),
  );
  return foreign === undefined
    ? message
    : `${message.slice(0, foreign.index)}"…"${message.slice(message.lastIndexOf('"') + 1)}`;
}
