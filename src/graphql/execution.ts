/** Executes the GraphQL documents of `/graphql` with Mesh, which applies the policies of `.meshrc.yaml`. */
import type { DocumentNode, ExecutionResult } from "graphql";
import { toServiceUnavailableIfTemporary } from "#database/database-errors.ts";
import { toFailure } from "#foundation/failure.ts";
import type { GraphqlContext } from "#graph/context.ts";
import type { RateLimiter } from "#http/rate-limiter.ts";
import type { OpenedMesh } from "#mesh/open-mesh.ts";
import { PublicGraphqlError } from "#mesh/public-error.ts";
import type { GraphqlDocumentRunOptions } from "#mesh/run.ts";
import { executeWithPromotionCodeAttemptLimit } from "./browser-callers.ts";

/**
 * A function that executes a valid GraphQL document with the rights of the context's caller. Failures become
 * errors of the result.
 */
export type GraphqlDocumentExecutionFunction = (
  document: DocumentNode,
  context: GraphqlContext,
  options: GraphqlDocumentRunOptions,
) => Promise<ExecutionResult>;

export const createGraphqlDocumentExecutor =
  (run: OpenedMesh["run"], limiter: RateLimiter): GraphqlDocumentExecutionFunction =>
  async (document, context, options) => {
    try {
      return await executeWithPromotionCodeAttemptLimit(limiter, { document, context }, async () =>
        run(document, context, options),
      );
    } catch (error) {
      // Execution normally returns errors in the result. Only two kinds of errors are thrown: `rate_limited`
      // after too many wrong promotion codes, and errors of hooks of additional Mesh plugins. A thrown error
      // becomes the failure of the whole answer.
      return {
        errors: [new PublicGraphqlError(toServiceUnavailableIfTemporary(toFailure(error)), context)],
      };
    }
  };
