/**
 * GraphQL errors that carry a failure of the registry, and the translation of every other error into one:
 * messages of graphql-js become failures that name the field and the rule, and what the registry does not
 * know is masked as `internal_error`.
 */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from "graphql";
import { orUnavailable } from "#database/database-errors.ts";
import { fail, Failure, toErrorBody, toFailure } from "#foundation/failure.ts";

/** Where an error body takes its request id and its links from. */
export interface ErrorBodyContext {
  readonly requestId: string;
  readonly publicUrl: string;
}

/**
 * Has no `originalError`: Mesh copies the stack of an original error into the answer in development and logs
 * it in production. The original stays in `cause`, which is never sent.
 */
export class PublicError extends GraphQLError {
  readonly failure: Failure;

  constructor(failure: Failure, { requestId, publicUrl }: ErrorBodyContext, raised?: unknown) {
    const { nodes, source, positions, path } = raised instanceof GraphQLError ? raised : {};
    super(failure.message, {
      nodes: nodes ?? null,
      source: source ?? null,
      positions: positions ?? null,
      path: path ?? null,
      extensions: { ...toErrorBody(failure, requestId, publicUrl) },
    });
    this.failure = failure;
    Object.defineProperty(this, "cause", { value: raised, enumerable: false });
  }
}

/** The failure behind an error of a result. */
export const getFailureOfError = (error: GraphQLError | GraphQLFormattedError): Failure =>
  error instanceof PublicError ? error.failure : toFailure(error);

/**
 * Whatever was thrown, as an error of a GraphQL result that is not translated yet. What is thrown is never
 * the client's fault, not even a GraphQL error: faults of a document come as errors of a result.
 */
export function toGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError && thrown.originalError !== undefined) return thrown;
  const isPlain = thrown instanceof Error && !(thrown instanceof GraphQLError);
  return new GraphQLError("", {
    originalError: isPlain ? thrown : new Error("This was thrown.", { cause: thrown }),
  });
}

/**
 * `suggests`: GraphQL may name fields that resemble an unknown one. A storefront token does not get these
 * names, because they would show what other roles can read.
 */
export function getFailuresOfResult(result: ExecutionResult, suggests: boolean): readonly Failure[] {
  return (result.errors ?? []).map((error) => failureOf(error, { isExecuted: "data" in result, suggests }));
}

interface Circumstances {
  /**
   * Whether the result has `data`: a document that cannot be parsed or validated, or whose variables do not
   * fit, has none.
   */
  readonly isExecuted: boolean;
  readonly suggests: boolean;
}

function failureOf(error: unknown, { isExecuted, suggests }: Circumstances): Failure {
  if (error instanceof PublicError) return error.failure;
  const original = error instanceof GraphQLError ? error.originalError : error;
  if (original instanceof Failure) return original;
  const isGraphqlsOwn =
    error instanceof GraphQLError &&
    (original === undefined || original === null || original instanceof GraphQLError);
  if (!isGraphqlsOwn) return orUnavailable(toFailure(original));
  // GraphQL's own message helps a client to mend the document, except for the values that it quotes.
  const isAboutVariable = error.path === undefined && error.message.startsWith("Variable ");
  if (isExecuted && !isAboutVariable) return fail("internal_error", { cause: error });
  const message = removeQuotedValues(error.message);
  return fail("malformed_request", {
    message: suggests ? message : message.replace(/ Did you mean .*$/s, ""),
  });
}

/**
 * GraphQL's own refusals without the values that they quote: what does not fit its type may be a buyer's
 * address. What stays is what the schema has a name for, where it is, and what was expected there.
 */
export function removeQuotedValues(message: string): string {
  return withoutQuotedValues(message.replaceAll(longName, "…"));
}

/** No name of the schema's is as long. A client's own would come back twice in each error. */
const longName = /\w{201,}/g;

function withoutQuotedValues(message: string): string {
  const variable = /^Variable "\$(?<name>\w+)" got invalid value /.exec(message)?.groups?.["name"];
  if (variable !== undefined)
    return `Variable "$${variable}"${placeOf(message, variable)} is not valid${expectationOf(message)}`;
  if (message.startsWith("Syntax Error: "))
    return withoutForeignQuotes(message.replace(foundToken, "$<kind>"));
  return isAboutLiteral(message)
    ? `A value is not valid${expectationOf(message)}`
    : withoutForeignQuotes(message);
}

/** The path is the last thing before the reason; an index or a field's name cannot hold a value. */
function placeOf(message: string, variable: string): string {
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

/** Of those that end the message, each is the reason whole: what was quoted stands before it. */
const reasons: readonly RegExp[] = [
  new RegExp(`Field "[\\w.]+" of required type ${typeName} was not provided\\.$`),
  new RegExp(`Field "[A-Za-z_]\\w*" is not defined by type ${typeName}\\.${suggestion}$`),
  new RegExp(`Expected (?:non-nullable )?type ${typeName} (?:not to be null|to be an object)\\.$`),
  new RegExp(`Exactly one key must be specified for OneOf type ${typeName}\\.$`),
  /Field "[\w.]+" must be non-null\.$/,
  // A scalar of ours says its rule.
  /Expected type "(?<type>\w+)"\. \k<type>: [^"]*$/,
];

/** These go on with the value; only the type is taken from them. */
const types: readonly RegExp[] = [
  /(?:^|; )(?<type>String|Int|Float|Boolean|ID) cannot represent /g,
  new RegExp(`(?:^|; )Enum "(?<type>\\w+)" cannot represent .*?${suggestion}$`, "gs"),
  new RegExp(`does not exist in "(?<type>\\w+)" enum\\.${suggestion}$`, "g"),
  /^Expected value of type "(?<type>[\w![\]]+)", found /g,
  /; Expected type "?(?<type>\w+)"?\./g,
];

/** With what leads to it, or the full stop alone. */
function expectationOf(message: string): string {
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

function isAboutLiteral(message: string): boolean {
  return /^(?:\w+|Enum "\w+") cannot represent |^Value ".*" does not exist in "\w+" enum\.|^Expected value of type |^Argument "\w+" has invalid value /s.test(
    message,
  );
}

/** A token is told by its kind and its text. */
const foundToken = /(?<kind>(?:found|Unexpected) (?:Name|Int|Float|String|BlockString|Comment)) ".*"/s;

/** A name, a type, a coordinate of the schema, or a sign of the grammar. */
const known = /^(?:[$@]?[A-Za-z_]\w*(?:\.\w+)*|[\w![\]]+|[!$&()[\]{|}:=@.…]{1,3})$/;

/**
 * What is unknown is taken away from its first quotation mark to the last one of all: it may hold such marks
 * itself.
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
