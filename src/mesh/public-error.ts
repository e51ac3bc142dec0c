/** A GraphQL error that carries a failure of the registry, with the contract's error body as its extensions. */
import { GraphQLError, type GraphQLFormattedError } from "graphql";
import { type Failure, toErrorBody, toFailure } from "#foundation/failure.ts";

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

/** Whatever was thrown, as an error of a GraphQL result that is not translated yet. */
export function asGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError) return thrown;
  const originalError = thrown instanceof Error ? thrown : new Error("What was thrown is no error.", { cause: thrown });
  return new GraphQLError(originalError.message, { originalError });
}
