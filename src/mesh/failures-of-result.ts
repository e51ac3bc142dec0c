/** Translates the errors of a GraphQL result into failures of the registry. What the registry does not know is masked as `internal_error`. */
import { type ExecutionResult, GraphQLError } from "graphql";
import { orUnavailable } from "#database/unavailable.ts";
import { Failure, fail, toFailure } from "#foundation/failure.ts";
import { withoutValues } from "./graphql-messages.ts";
import { PublicError } from "./public-error.ts";

/**
 * `suggests`: GraphQL may name fields that resemble an unknown one. A storefront token does not get these names,
 * because they would show what other roles can read.
 */
export function failuresOfResult(result: ExecutionResult, suggests: boolean): readonly Failure[] {
  return (result.errors ?? []).map((error) => failureOf(error, { isExecuted: "data" in result, suggests }));
}

interface Circumstances {
  /** False if the document could not be parsed or validated, or its variables do not fit. */
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
  if (isExecuted && !error.message.startsWith("Variable ")) return fail("internal_error", { cause: error });
  const message = withoutValues(error.message);
  return fail("malformed_request", { message: suggests ? message : message.replace(/ Did you mean .*$/s, "") });
}
