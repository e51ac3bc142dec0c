/**
 * GraphQL errors that carry a failure of the registry, and the translation of every other error into one. What the
 * registry does not know is masked as `internal_error`.
 */
import { type ExecutionResult, GraphQLError, type GraphQLFormattedError } from "graphql";
import { orUnavailable } from "#database/database-errors.ts";
import { Failure, fail, toErrorBody, toFailure } from "#foundation/failure.ts";
import { withoutValues } from "./graphql-messages.ts";

/** Where an error body takes its request id and its links from. */
export interface ErrorOrigin {
  readonly requestId: string;
  readonly publicUrl: string;
}

/**
 * Has no `originalError`: Mesh copies the stack of an original error into the answer in development and logs it in
 * production. The original stays in `cause`, which is never sent.
 */
export class PublicError extends GraphQLError {
  readonly failure: Failure;

  constructor(failure: Failure, { requestId, publicUrl }: ErrorOrigin, raised?: unknown) {
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
export const failureOfError = (error: GraphQLError | GraphQLFormattedError): Failure =>
  error instanceof PublicError ? error.failure : toFailure(error);

/**
 * Whatever was thrown, as an error of a GraphQL result that is not translated yet. What is thrown is never the client's
 * fault, not even a GraphQL error: faults of a document come as errors of a result.
 */
export function asGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError && thrown.originalError !== undefined) return thrown;
  const isPlain = thrown instanceof Error && !(thrown instanceof GraphQLError);
  return new GraphQLError("", { originalError: isPlain ? thrown : new Error("This was thrown.", { cause: thrown }) });
}

/**
 * `suggests`: GraphQL may name fields that resemble an unknown one. A storefront token does not get these names,
 * because they would show what other roles can read.
 */
export function failuresOfResult(result: ExecutionResult, suggests: boolean): readonly Failure[] {
  return (result.errors ?? []).map((error) => failureOf(error, { isExecuted: "data" in result, suggests }));
}

interface Circumstances {
  /** Whether the result has `data`: a document that cannot be parsed or validated, or whose variables do not fit, has none. */
  readonly isExecuted: boolean;
  readonly suggests: boolean;
}

function failureOf(error: unknown, { isExecuted, suggests }: Circumstances): Failure {
  if (error instanceof PublicError) return error.failure;
  const original = error instanceof GraphQLError ? error.originalError : error;
  if (original instanceof Failure) return original;
  const isGraphqlsOwn = error instanceof GraphQLError && (original === undefined || original === null || original instanceof GraphQLError);
  if (!isGraphqlsOwn) return orUnavailable(toFailure(original));
  // GraphQL's own message helps a client to mend the document, except for the values that it quotes.
  const isAboutVariable = error.path === undefined && error.message.startsWith("Variable ");
  if (isExecuted && !isAboutVariable) return fail("internal_error", { cause: error });
  const message = withoutValues(error.message);
  return fail("malformed_request", { message: suggests ? message : message.replace(/ Did you mean .*$/s, "") });
}
